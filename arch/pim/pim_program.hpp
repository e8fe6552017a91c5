// What the memory controller of one channel issues for a computation in its banks, as plain data.
//
// Words are register-wide column accesses; word w of a bank's share lies in its row w / (words a
// row), counted from the share's first row. program_text.hpp is its form as text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "arch/base/file_place.hpp"
#include "arch/base/name_table.hpp"
#include "arch/pim/bank_set.hpp"
#include "arch/pim/pim_config.hpp"

namespace tilesim::arch::pim {

enum class PimOp {
    ModeVisit,        // the mode registers' row is opened, `count` writes, closed
    ModeWrite,        // `count` writes to that row, which stays open
    ReadBanks,        // a read of each of `count` banks, one after the other
    Close,            // rows are closed
    WriteInputs,      // `count` input registers, the same for all banks
    WriteBankInputs,  // `count` input registers, each bank its own: not broadcast
    Mac,              // `count` words from `word` times the inputs, into accumulators
    Alu,              // `count` register-to-register commands (folds, scales)
    LoadOutputs,      // `count` words from `word` into output registers
    Spill,            // `count` output registers to the words from `word`, or to the open row
    SpillVisit,       // the same, to a row that is opened for it and closed
    ReadResults,      // `count` reads of result registers by the host, who waits for the last
    ReadBank,         // `count` ordinary reads or writes of one bank by the host
    WriteBank,
    Barrier,  // the host goes on when all data have arrived
    Wait,     // `count` CK
    Yield,    // the channel serves ordinary requests for `count` CK
};

inline constexpr base::NameTable<PimOp> kPimOps{{
    {"mode_visit", PimOp::ModeVisit},
    {"mode_write", PimOp::ModeWrite},
    {"read_banks", PimOp::ReadBanks},
    {"close", PimOp::Close},
    {"write_input", PimOp::WriteInputs},
    {"write_bank_input", PimOp::WriteBankInputs},
    {"mac", PimOp::Mac},
    {"alu", PimOp::Alu},
    {"load", PimOp::LoadOutputs},
    {"spill", PimOp::Spill},
    {"spill_visit", PimOp::SpillVisit},
    {"read_result", PimOp::ReadResults},
    {"read_bank", PimOp::ReadBank},
    {"write_bank", PimOp::WriteBank},
    {"barrier", PimOp::Barrier},
    {"wait", PimOp::Wait},
    {"yield", PimOp::Yield},
}};
std::string_view name_of(PimOp op);
// Its words lie in the array.
bool touches_array(PimOp op);
// It may go to some of the units or their banks: modes and closing are of all.
bool names_banks(PimOp op);

struct PimCommand {
    static constexpr std::int64_t kOpenRow = -1;  // of `word`: whichever row is open

    PimOp op = PimOp::Mac;
    std::int64_t count = 0;
    std::int64_t word = 0;
    // Functional mode: whose outputs, and the first element of K it is about.
    std::int64_t row_block = 0;
    std::int64_t k = 0;
    // Load, of inputs: what sums begin with.
    enum class Purpose { None, Fold, Scale, Load } purpose = Purpose::None;
    BankSet banks = {};
    std::int64_t vector = 0;     // functional mode: of several that a program multiplies
    base::FilePlace place = {};  // in the text it was read from

    bool operator==(const PimCommand& other) const {
        return op == other.op && count == other.count && word == other.word &&
               row_block == other.row_block && k == other.k && purpose == other.purpose &&
               banks == other.banks;
    }
};

// It gives units inputs; what sums begin with goes the same way and is none.
inline bool broadcasts_inputs(const PimCommand& command) {
    return command.op == PimOp::WriteInputs && command.purpose == PimCommand::Purpose::None;
}

struct PimProgram {
    std::int64_t words_per_row = 0;
    std::vector<PimCommand> commands;
    std::vector<std::int64_t> scale_words = {};  // that hold scale factors, one after the other
    // All commands so many times, one after the other: a channel waits for no other.
    std::int64_t passes = 1;

    // How many state machines its channels' banks need: one where all are driven together.
    std::size_t lanes(std::int64_t banks) const;
};

// Appends the commands the steps are made of.
void append(std::vector<PimCommand>& commands, const ModeSteps& steps);

}  // namespace tilesim::arch::pim
