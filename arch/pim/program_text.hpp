// The text form of PIM programs: a command a line, comments from `#` on.
//
//     mode_visit 4                      visit of the mode registers: 4 writes; also mode_write,
//                                       read_banks N, close; `mode enter|leave|on|off` stands for
//                                       the device's steps
//     write_input 8 k 0                 8 input registers, elements of K from 0 on; `load`: what
//                                       sums begin with instead
//     mac row 3 columns 0-63            a word each; or `mac 100 row 3 column 60` across rows;
//                                       `banks even|odd|N` where not all, `block B k K` for bytes
//     alu 28 fold                       also scale, load, or nothing
//     load row 9 columns 0-1
//     spill 2 row 9 column 0            without a row: to the open one; also spill_visit
//     read_result 4                     registers, by the host
//     read_bank 5 row 3 columns 0-7     ordinary access to bank 5; also write_bank
//     barrier
//     wait 150 ns                       or cycle, as `yield`
//     repeat 32                         until `end`; `row 3 step 1` goes on by one a round
#pragma once

#include <string>

#include "arch/base/clock.hpp"
#include "arch/pim/pim_config.hpp"
#include "arch/pim/pim_program.hpp"

namespace tilesim::arch::pim {

// What a text is read for.
struct ProgramTarget {
    const PimConfig& pim;
    const memory::device::MemoryConfig& memory;

    std::int64_t words_per_row() const { return memory.row.count() * 8 / pim.register_bits; }
};

// All mistakes are reported at once, as "file:line:column: ...". Throws ConfigError. `begin`: of
// the text in its file, each of whose lines begins at that column.
PimProgram read_program(const std::string& text, const std::string& file, base::FilePlace begin,
                        const ProgramTarget& target);

// Traces of the AiM simulator (aim_simulator, test/*.trace) in the same terms. Instructions the
// units here do not have are refused by name.
PimProgram read_aim_trace(const std::string& text, const std::string& file,
                          const ProgramTarget& target);

// Reads back as the same program. `most`: commands shown, of all.
std::string print(const PimProgram& program, std::size_t most = SIZE_MAX);

// What is not legal on such a device, a line each, with the rule; empty: nothing.
std::string violations(const PimProgram& program, const std::string& file,
                       const ProgramTarget& target);

}  // namespace tilesim::arch::pim
