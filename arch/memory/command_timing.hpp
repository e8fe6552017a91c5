// The timing state of one channel: when each command may go to each bank.
//
// Models:  every constraint of DramTiming between ACT, RD, WR, PRE and REF of one channel and rank:
//          per bank, per bank group, per channel, the four-activate window, the data bus; one
//          command a CK.
// Ignores: ranks beyond one; power-down; per-bank refresh.
// `earliest` asks and changes nothing; `issue` does, and doing what `earliest` forbids is a bug.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "arch/memory/memory_config.hpp"

namespace tilesim::arch::memory {

enum class Command { Activate, Read, Write, Precharge, Refresh };

inline constexpr std::int64_t kNoRow = -1;

class CommandTiming {
  public:
    explicit CommandTiming(const MemoryConfig& config);

    std::int64_t open_row(std::size_t bank) const { return banks_[bank].row; }
    bool all_closed() const { return open_banks_ == 0; }
    // The first CK in which the command may go to the bank (any bank for Refresh), row state aside.
    std::int64_t earliest(Command command, std::size_t bank) const;
    void issue(Command command, std::size_t bank, std::int64_t row, std::int64_t now);

  private:
    struct Bank {
        std::int64_t row = kNoRow;
        std::int64_t activate = 0;  // earliest CK of each command
        std::int64_t read = 0;
        std::int64_t write = 0;
        std::int64_t precharge = 0;
    };
    struct Group {
        std::int64_t activate = 0;
        std::int64_t read = 0;
        std::int64_t write = 0;
    };
    std::size_t group_of(std::size_t bank) const { return bank / banks_per_group_; }
    void raise(std::int64_t& bound, std::int64_t to) { bound = bound < to ? to : bound; }

    DramTiming t_;
    std::size_t banks_per_group_;
    std::vector<Bank> banks_;
    std::vector<Group> groups_;
    Group channel_;                            // the same bounds for all bank groups
    std::array<std::int64_t, 4> activates_{};  // CKs of the last four
    std::size_t oldest_activate_ = 0;
    std::int64_t command_bus_ = 0;
    std::int64_t open_banks_ = 0;
};

}  // namespace tilesim::arch::memory
