// The timing state of one channel: when each command may go to each bank.
//
// Models:  every constraint of DramTiming between ACT, RD, WR, PRE and REF of one channel: per
//          bank, per bank group, per rank, the four-activate window, the data bus, which needs a
//          gap between ranks; the command bus, which ACT, RD and WR may hold for several CK; column
//          commands that close their row; refreshes of some banks beside the others' work.
// Ignores: power-down.
// `earliest` asks and changes nothing; `issue` does, and doing what `earliest` forbids is a bug.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "arch/base/check.hpp"
#include "arch/base/name_table.hpp"
#include "arch/memory/device/command_bus.hpp"
#include "arch/memory/device/memory_config.hpp"

namespace tilesim::arch::memory::device {

enum class Command {
    Activate,
    Read,
    Write,
    Precharge,
    PrechargeAll,   // of all banks of a rank (PREab)
    Refresh,        // of all banks of a rank (REFab)
    RefreshBank,    // of one bank or a pair (REFpb, REFp2b)
    RefreshSame,    // of the same bank of every group (REFsb)
    ReadPrecharge,  // RD and WR that close their row (RDA, WRA)
    WritePrecharge
};
inline constexpr base::NameTable<Command> kCommandNames{{
    {"ACT", Command::Activate},
    {"RD", Command::Read},
    {"WR", Command::Write},
    {"PREpb", Command::Precharge},
    {"PREab", Command::PrechargeAll},
    {"REFab", Command::Refresh},
    {"REFpb", Command::RefreshBank},
    {"REFsb", Command::RefreshSame},
    {"RDA", Command::ReadPrecharge},
    {"WRA", Command::WritePrecharge},
}};

// What RDA and WRA are before their row closes.
inline Command column_of(Command command) {
    return command == Command::ReadPrecharge    ? Command::Read
           : command == Command::WritePrecharge ? Command::Write
                                                : command;
}

inline constexpr std::int64_t kNoRow = -1;

// A CK for each bank; those of a group lie side by side and are raised together.
using BankTimes = std::array<std::int64_t, kMaxBanks>;

class CommandTiming {
  public:
    explicit CommandTiming(const MemoryConfig& config);

    std::int64_t open_row(std::size_t bank) const { return rows_[bank]; }
    // Pseudo-channels hand it to the one that goes next.
    CommandBus& bus() { return bus_; }
    const CommandBus& bus() const { return bus_; }
    std::uint64_t open_banks() const { return open_; }  // bit set where a row is open
    // The first CK in which the command may go to the bank, row state aside. Not for
    // PrechargeAll and the refreshes.
    std::int64_t earliest(Command command, std::size_t bank) const {
        return std::max(earliest(command), banks_earliest(command)[bank]);
    }
    // The banks of a rank that has one of these.
    std::uint64_t rank_with(std::uint64_t banks) const {
        return (~std::uint64_t{0} >> (kMaxBanks - rank_size_)) << (rank_of(banks) * rank_size_);
    }
    // Whether a row is open in the rank that has one of these banks, and in how many ranks one is.
    bool rank_open(std::uint64_t banks) const {
        return (open_ & (ranks_ == 1 ? ~std::uint64_t{0} : rank_with(banks))) != 0;
    }
    std::int64_t open_ranks() const;
    // The first CK in which one PRE can close every row of a rank's banks.
    std::int64_t earliest_precharge_all(std::uint64_t banks) const;
    // The first CK in which these banks, all closed, can be refreshed together.
    std::int64_t earliest_refresh(std::uint64_t banks) const;
    // The same in two steps, for asking about many banks: what holds for every bank, and the bank's
    // and its group's share.
    std::int64_t earliest(Command command) const {
        switch (command) {
            case Command::Activate:
                return std::max({bus_.free_for_rows(), channel_.activate,
                                 activates_[oldest_activate_] + t_.tFAW.count()});
            case Command::Read:
                return std::max(bus_.free_for_columns(), channel_.read);
            case Command::Write:
                return std::max(bus_.free_for_columns(), channel_.write);
            default:
                return std::max(bus_.free_for_rows(), channel_.precharge);
        }
    }
    const BankTimes& banks_earliest(Command command) const {
        switch (command) {
            case Command::Activate:
                return banks_.activate;
            case Command::Read:
                return banks_.read;
            case Command::Write:
                return banks_.write;
            default:
                return banks_.precharge;
        }
    }
    // CK by which a RD's data come later than those of a WR that goes at the same time.
    std::int64_t read_lag() const { return (t_.read_latency - t_.write_latency).count(); }
    // ACT, RD, WR or PRE.
    void issue(Command command, std::size_t bank, std::int64_t row, std::int64_t now);
    void precharge_all(std::uint64_t banks, std::int64_t now);
    // REF to these banks, which takes them until CK `until`.
    void refresh(std::uint64_t banks, std::int64_t now, std::int64_t until);
    // The row of a bank closes by itself after the RD or WR that has just gone to it.
    void precharge_after_column(std::size_t bank);
    // Keeps these banks of a rank for a refresh beside the others' work: only a PRE may go to them
    // until then.
    void hold_back(std::uint64_t banks, std::int64_t now);
    // The first CK in which banks held back, by now closed, can be refreshed.
    std::int64_t earliest_partial_refresh(std::uint64_t banks) const;
    // From this CK on an ACT elsewhere in their rank may put that off.
    std::int64_t activates_delay_refresh_from(std::uint64_t banks) const {
        return refresh_ready(banks) - t_.tRRD_L.count();
    }
    // No ACT in the rank of these banks before they are refreshed in CK `when`.
    void keep_activates_back(std::uint64_t banks, std::int64_t when);
    void partial_refresh(std::uint64_t banks, std::int64_t now, std::int64_t until);

  private:
    static void raise(std::int64_t& bound, std::int64_t to) { bound = bound < to ? to : bound; }
    // For every bank of this bank's group. Most devices have four: a loop of which the compiler
    // knows that has no counter and no branches, and for which hosts have vectors.
    void raise_group(std::size_t bank, BankTimes& bounds, std::int64_t to) {
        std::int64_t* const group = &bounds[bank & ~(group_size_ - 1)];
        if (group_size_ == 4) [[likely]] {
            for (std::size_t i = 0; i < 4; ++i) {
                raise(group[i], to);
            }
            return;
        }
        for (std::size_t i = 0; i < group_size_; ++i) {
            raise(group[i], to);
        }
    }

    // For every bank of this bank's rank, or of the others.
    template <class Action>
    void for_rank(std::size_t bank, bool own, Action action) {
        const std::size_t rank = bank / rank_size_;
        for (std::size_t i = 0; i < ranks_ * rank_size_; ++i) {
            if ((i / rank_size_ == rank) == own) {
                action(i);
            }
        }
    }
    void activate_in_rank(std::size_t bank, std::int64_t now);
    // The same as earliest_partial_refresh but for ACTs elsewhere.
    std::int64_t refresh_ready(std::uint64_t banks) const;
    std::size_t rank_of(std::uint64_t banks) const {
        return static_cast<std::size_t>(std::countr_zero(banks)) / rank_size_;
    }
    void column_in_rank(bool write, std::size_t bank, std::int64_t now);

    DramTiming t_;
    std::size_t group_size_;  // banks, a power of two
    std::size_t rank_size_;   // banks
    std::size_t ranks_;
    std::array<std::int64_t, kMaxBanks> rows_;  // open in each bank
    // Earliest CK of each command: for each bank, with what its group shares, and for the channel.
    static constexpr std::size_t kVector = 32;  // bytes of a host's vector: a group is in one
    template <class Time>
    struct Bounds {
        alignas(kVector) Time activate{};
        alignas(kVector) Time read{};
        alignas(kVector) Time write{};
        alignas(kVector) Time precharge{};
    };
    Bounds<BankTimes> banks_;
    Bounds<std::int64_t> channel_;
    // CKs of the last four of the channel's only rank, or of each.
    std::array<std::int64_t, 4> activates_{};
    std::size_t oldest_activate_ = 0;
    struct Window {
        std::array<std::int64_t, 4> activates{};
        std::size_t oldest = 0;
    };
    std::array<Window, 8> windows_{};
    std::array<std::int64_t, kMaxBanks> closed_{};  // CK of each bank's last precharge
    std::array<std::int64_t, kMaxBanks> opened_{};  // and of its last ACT
    CommandBus bus_;
    std::uint64_t open_ = 0;
    std::int64_t to_write_;                        // ACT to WR
    std::array<std::int64_t, 8> partial_refresh_;  // CK of each rank's last
};

// Here, not in the .cpp: the scheduler knows which command it issues, and the rest folds away. A
// bound that has passed, or else the command could not go, is set; others are raised.
inline void CommandTiming::issue(Command command, std::size_t bank, std::int64_t row,
                                 std::int64_t now) {
    SIM_DCHECK(now >= earliest(command, bank), "DRAM command {} to bank {} at {} is too early",
               static_cast<int>(command), bank, now);
    const std::uint64_t bit = std::uint64_t{1} << bank;
    switch (command) {
        case Command::Activate:
            bus_.carry_row(now + t_.activate_command.count());
            rows_[bank] = row;
            open_ |= bit;
            raise(banks_.read[bank], now + t_.tRCD.count());
            raise(banks_.write[bank], now + to_write_);
            opened_[bank] = now;
            banks_.precharge[bank] = now + t_.tRAS.count();
            raise_group(bank, banks_.activate, now + t_.tRRD_L.count());
            raise(banks_.activate[bank], now + t_.tRC.count());
            if (ranks_ == 1) {
                channel_.activate = now + t_.tRRD_S.count();
                activates_[oldest_activate_] = now;
                oldest_activate_ = (oldest_activate_ + 1) % activates_.size();
            } else {
                activate_in_rank(bank, now);
            }
            break;
        case Command::Read: {
            // Write data may follow read data after the bus has turned.
            const std::int64_t write =
                now + (t_.read_latency + t_.burst + t_.tRTW).count() - t_.write_latency.count();
            bus_.carry_column(now + t_.column_command.count());
            raise(banks_.precharge[bank], now + t_.tRTP.count());
            raise_group(bank, banks_.read, now + t_.tCCD_L.count());
            if (ranks_ == 1) {
                channel_.read = now + t_.tCCD_S.count();
                raise(channel_.write, write);
            } else {
                column_in_rank(false, bank, now);
            }
            break;
        }
        case Command::Write: {
            const std::int64_t data_end = now + (t_.write_latency + t_.burst).count();
            bus_.carry_column(now + t_.column_command.count());
            raise(banks_.precharge[bank], data_end + t_.tWR.count());
            raise_group(bank, banks_.write, now + t_.tCCD_L_WR.count());
            raise_group(bank, banks_.read, data_end + t_.tWTR_L.count());
            if (ranks_ == 1) {
                channel_.write = now + t_.tCCD_S.count();
                raise(channel_.read, data_end + t_.tWTR_S.count());
            } else {
                column_in_rank(true, bank, now);
            }
            break;
        }
        case Command::Precharge:
            bus_.carry_row(now + t_.precharge_command.count());
            rows_[bank] = kNoRow;
            open_ &= ~bit;
            raise(banks_.activate[bank], now + t_.tRP.count());
            channel_.precharge = now + t_.tPPD.count();
            closed_[bank] = now;
            break;
        default:
            SIM_CHECK(false, "command {} is not issued to a bank", static_cast<int>(command));
    }
}

}  // namespace tilesim::arch::memory::device
