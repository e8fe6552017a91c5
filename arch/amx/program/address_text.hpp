// Addresses in a program's text: "[A + 64*i - 8]", "[table[i]]", under the loops around them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/amx/program/instruction.hpp"
#include "arch/amx/program/text_line.hpp"

namespace tilesim::arch::amx::program {

struct OpenLoop {
    std::string name;
    int variable = 0;
    std::int64_t line = 0;
    std::int64_t count = 0;
    std::int64_t times = 0;  // with the loops around it
};

// Reads those of `line`, whose names are buffers and tables of `program` and `loops`, the loops
// around it, the innermost last.
class AddressText {
  public:
    AddressText(const TextLine& line, const Program& program, const std::vector<OpenLoop>& loops)
        : line_(line), program_(program), loops_(loops) {}

    struct Place {
        Address address{};
        const Buffer* buffer = nullptr;  // that it names
    };
    // Fails as the line does.
    Place read(Text text) const;
    // Least and most that all turns of the loops make of an address.
    std::pair<std::int64_t, std::int64_t> reach(const Address& address) const;
    // Is it a multiple of so many bytes whatever its loops have come to?
    bool multiple_of(std::int64_t bytes, const Address& address) const;

  private:
    Place indexed(Text text, Text body, std::size_t open) const;
    Place sum_of(Text body) const;
    void add(Place& result, Text term, std::int64_t sign) const;
    void add_buffer(Place& result, Text term, std::int64_t sign) const;

    const TextLine& line_;
    const Program& program_;
    const std::vector<OpenLoop>& loops_;
};

}  // namespace tilesim::arch::amx::program
