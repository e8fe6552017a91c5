// A unit alone with its channel, and what it says on the command bus: for tests of its turns.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "arch/pim/pim_testing.hpp"
#include "arch/pim/pim_unit.hpp"

namespace tilesim::arch::pim {

inline constexpr std::int64_t kStart = 1000;
inline constexpr std::int64_t kWordsPerRow = 100;
// Of prime_memory() and prime_pim(), from the commands' own cycles.
inline constexpr std::int64_t kToWrite =
    23 + 3 + 5 + 17 - 13;                               // MAC to a write or ALU: bus and drain
inline constexpr std::int64_t kToMac = 13 + 3 + 47;     // write to a MAC
inline constexpr std::int64_t kRecovery = 13 + 3 + 41;  // array write to PRE

using Issued = std::pair<AllBankCommand, std::int64_t>;

struct Bench final : AllBankListener {
    explicit Bench(std::vector<PimCommand> commands, const PimConfig& config = prime_pim(),
                   std::int64_t passes = 1)
        : program{kWordsPerRow, std::move(commands), {}, passes},
          unit(prime_memory(), config, program, 0, root, nullptr) {
        unit.listen(this);
    }
    void on_all_bank_command(std::size_t, AllBankCommand command, BankSet, std::int64_t row,
                             std::int64_t now) override {
        issued.emplace_back(command, now - kStart);
        if (command == AllBankCommand::Activate) {
            opened.push_back(row);
        }
    }
    // One turn from kStart on; the CK, from there, at which the banks are quiet again.
    std::int64_t run(std::int64_t until = INT64_MAX) { return unit.run(kStart, until) - kStart; }
    std::int64_t spent(PimState state) const {
        return unit.stats().time.spent(static_cast<std::size_t>(state));
    }
    std::int64_t commands_of(AllBankCommand command) const {
        return std::count_if(issued.begin(), issued.end(),
                             [command](const Issued& each) { return each.first == command; });
    }

    PimProgram program;
    base::stats::Group root{""};
    PimUnit unit;
    std::vector<Issued> issued;
    std::vector<std::int64_t> opened;  // rows
};

}  // namespace tilesim::arch::pim
