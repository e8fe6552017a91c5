// The timing state of one channel: when each command may go to each bank.
//
// Models:  every constraint of DramTiming between ACT, RD, WR, PRE and REF of one channel and rank:
//          per bank, per bank group, per channel, the four-activate window, the data bus; the
//          command bus, which ACT, RD and WR may hold for several CK.
// Ignores: ranks beyond one; power-down; per-bank refresh.
// `earliest` asks and changes nothing; `issue` does, and doing what `earliest` forbids is a bug.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "arch/base/check.hpp"
#include "arch/memory/device/memory_config.hpp"

namespace tilesim::arch::memory::device {

enum class Command { Activate, Read, Write, Precharge, Refresh };

inline constexpr std::int64_t kNoRow = -1;

class CommandTiming {
    // Earliest CK of each command for a bank or for the channel.
    struct Scope {
        std::int64_t activate = 0;
        std::int64_t read = 0;
        std::int64_t write = 0;
        std::int64_t precharge = 0;
    };

  public:
    explicit CommandTiming(const MemoryConfig& config);

    std::int64_t open_row(std::size_t bank) const { return rows_[bank]; }
    std::int64_t command_bus_free() const { return command_bus_; }
    bool all_closed() const { return open_banks_ == 0; }
    // The first CK in which the command may go to the bank (any bank for Refresh), row state aside.
    std::int64_t earliest(Command command, std::size_t bank) const {
        return command == Command::Refresh
                   ? earliest_refresh()
                   : std::max(earliest(command), bank_earliest(command, bank));
    }
    // The same in two steps, for asking about many banks: what holds for every bank, and the bank's
    // and its group's share. Not for Refresh.
    std::int64_t earliest(Command command) const {
        switch (command) {
            case Command::Activate:
                return std::max({command_bus_, channel_.activate,
                                 activates_[oldest_activate_] + t_.tFAW.count()});
            case Command::Read:
                return std::max(command_bus_, channel_.read);
            case Command::Write:
                return std::max(command_bus_, channel_.write);
            default:
                return command_bus_;
        }
    }
    std::int64_t bank_earliest(Command command, std::size_t bank) const {
        const Scope& own = banks_[bank];
        switch (command) {
            case Command::Activate:
                return own.activate;
            case Command::Read:
                return own.read;
            case Command::Write:
                return own.write;
            default:
                return own.precharge;
        }
    }
    void issue(Command command, std::size_t bank, std::int64_t row, std::int64_t now);
    // No command before CK `when`; all banks must be closed.
    void quiet_until(std::int64_t when);

  private:
    std::int64_t earliest_refresh() const;
    std::int64_t command_cycles(Command command) const;
    static void raise(std::int64_t& bound, std::int64_t to) { bound = bound < to ? to : bound; }
    // For every bank of this bank's group.
    void raise_group(std::size_t bank, std::int64_t Scope::*bound, std::int64_t to) {
        const std::size_t first = bank & ~(group_size_ - 1);
        for (std::size_t i = first; i < first + group_size_; ++i) {
            raise(banks_[i].*bound, to);
        }
    }

    DramTiming t_;
    std::size_t group_size_;                    // banks, a power of two
    std::array<std::int64_t, kMaxBanks> rows_;  // open in each bank
    std::array<Scope, kMaxBanks> banks_{};      // with what their groups share
    Scope channel_;
    std::array<std::int64_t, 4> activates_{};  // CKs of the last four
    std::size_t oldest_activate_ = 0;
    std::int64_t command_bus_ = 0;
    std::int64_t open_banks_ = 0;
};

// Here, not in the .cpp: the scheduler knows which command it issues, and the rest folds away.
inline std::int64_t CommandTiming::command_cycles(Command command) const {
    switch (command) {
        case Command::Activate:
            return t_.activate_command.count();
        case Command::Read:
        case Command::Write:
            return t_.column_command.count();
        default:
            return 1;
    }
}

inline void CommandTiming::issue(Command command, std::size_t bank, std::int64_t row,
                                 std::int64_t now) {
    SIM_DCHECK(now >= earliest(command, bank), "DRAM command {} to bank {} at {} is too early",
               static_cast<int>(command), bank, now);
    Scope& b = banks_[bank];
    command_bus_ = now + command_cycles(command);
    switch (command) {
        case Command::Activate:
            rows_[bank] = row;
            ++open_banks_;
            raise(b.read, now + t_.tRCD.count());
            raise(b.write, now + t_.tRCD.count());
            raise(b.precharge, now + t_.tRAS.count());
            raise(b.activate, now + t_.tRC.count());
            raise_group(bank, &Scope::activate, now + t_.tRRD_L.count());
            raise(channel_.activate, now + t_.tRRD_S.count());
            activates_[oldest_activate_] = now;
            oldest_activate_ = (oldest_activate_ + 1) % activates_.size();
            break;
        case Command::Read: {
            // Write data may follow read data after the bus has turned.
            const std::int64_t write =
                now + (t_.read_latency + t_.burst + t_.tRTW).count() - t_.write_latency.count();
            raise(b.precharge, now + t_.tRTP.count());
            raise_group(bank, &Scope::read, now + t_.tCCD_L.count());
            raise(channel_.read, now + t_.tCCD_S.count());
            raise(channel_.write, write);
            break;
        }
        case Command::Write: {
            const std::int64_t data_end = now + (t_.write_latency + t_.burst).count();
            raise(b.precharge, data_end + t_.tWR.count());
            raise_group(bank, &Scope::write, now + t_.tCCD_L_WR.count());
            raise(channel_.write, now + t_.tCCD_S.count());
            raise_group(bank, &Scope::read, data_end + t_.tWTR_L.count());
            raise(channel_.read, data_end + t_.tWTR_S.count());
            break;
        }
        case Command::Precharge:
            rows_[bank] = kNoRow;
            --open_banks_;
            raise(b.activate, now + t_.tRP.count());
            break;
        case Command::Refresh:
            for (Scope& each : banks_) {
                raise(each.activate, now + t_.tRFC.count());
            }
            break;
    }
}

}  // namespace tilesim::arch::memory::device
