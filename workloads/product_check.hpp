// What a functional run's comparison with a reference has found.
#pragma once

#include <cstdint>
#include <string>

namespace tilesim::workloads {

struct ProductCheck {
    std::int64_t checked = 0;  // elements compared one by one
    std::string method;        // how the rest was covered
    bool match = false;
    std::string first_mismatch;  // empty when all match

    // Whether it says anything: a match of nothing does not.
    bool compared() const { return checked > 0 || !match; }
};

}  // namespace tilesim::workloads
