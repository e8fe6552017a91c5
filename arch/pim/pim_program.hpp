// What the memory controller of one channel issues for a computation in its banks, as plain data.
//
// Every operation is broadcast to all banks of the channel. Words are register-wide column
// accesses; word w of a bank's share lies in its row w / (words a row), counted from the share's
// first row.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilesim::arch::pim {

enum class PimOp {
    ModeWrite,        // `count` writes to the mode registers' row
    WriteInputs,      // `count` input registers, the same for all banks
    WriteBankInputs,  // `count` input registers, each bank its own: not broadcast
    Mac,              // `count` words from `word` times the inputs, into accumulators
    Alu,              // `count` register-to-register commands (folds, scales)
    LoadOutputs,      // `count` words from `word` into output registers
    Spill,            // `count` output registers to the words from `word`
    Yield,            // the channel serves ordinary requests for `count` CK
};

const char* name_of(PimOp op);

struct PimCommand {
    PimOp op = PimOp::Mac;
    std::int64_t count = 0;
    std::int64_t word = 0;
    // Functional mode: whose outputs, and the first element of K it is about.
    std::int64_t row_block = 0;
    std::int64_t k = 0;
    enum class Purpose { None, Fold, Scale, ScaleWord } purpose = Purpose::None;
};

struct PimProgram {
    std::int64_t words_per_row = 0;
    std::vector<PimCommand> commands;
    std::string print(std::size_t most) const;  // the first `most` commands, one a line
};

}  // namespace tilesim::arch::pim
