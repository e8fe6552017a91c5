// Where something stands in a file.
#pragma once

#include <cstdint>

namespace tilesim::arch::base {

struct FilePlace {
    std::int32_t line = 0;  // from 1; 0: in no file
    std::int32_t column = 0;
    bool operator==(const FilePlace&) const = default;
};

}  // namespace tilesim::arch::base
