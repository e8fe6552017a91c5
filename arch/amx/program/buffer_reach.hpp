// Whether what a program's text reads and writes lies in the buffers that its addresses name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "arch/amx/program/instruction.hpp"
#include "arch/amx/program/loaded_config.hpp"
#include "arch/amx/program/text_line.hpp"

namespace tilesim::arch::amx::program {

// Fails as the line of a text does. Only prefetches may run beyond a buffer.
class BufferReach {
  public:
    BufferReach(const TextLine& line, const Program& program) : line_(line), program_(program) {}

    struct Operand {
        TextPlace place{};
        std::string text;
        Buffer buffer{};
    };
    // The program's next instruction, whose addresses lie so. Of a tile it depends on what is
    // loaded where it executes.
    void check(Operand operand, const Instruction& each,
               std::pair<std::int64_t, std::int64_t> addresses);
    // All rows of a tile that is loaded or stored with this configuration.
    void check_tile(std::size_t statement, const LoadedConfig& loaded) const;

  private:
    void check_bytes(const Operand& operand, std::pair<std::int64_t, std::int64_t> addresses,
                     std::int64_t bytes, const std::string& why) const;
    std::int64_t tile_bytes(const Instruction& each, const LoadedConfig& loaded) const;
    std::string why(const LoadedConfig& loaded) const;

    const TextLine& line_;
    const Program& program_;
    std::map<std::size_t, Operand> tiles_;  // by statement
};

}  // namespace tilesim::arch::amx::program
