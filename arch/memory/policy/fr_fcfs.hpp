// First ready, first come first served (Rixner et al., ISCA 2000): of the commands that can go
// first the oldest burst's, row hits before older bursts of their bank, but only so often.
//
// It plans the next column and the next row command and keeps both plans while nothing changes
// them. Bursts of the direction not being served go too where a row has been opened for them.
#pragma once

#include <algorithm>
#include <string_view>

#include "arch/memory/device/bank_set.hpp"
#include "arch/memory/policy/bursts.hpp"
#include "arch/memory/policy/choice.hpp"

namespace tilesim::arch::memory::policy {

class FrFcfs {
  public:
    static constexpr std::string_view kName = "fr_fcfs";

    explicit FrFcfs(const device::ControllerConfig& config) : cap_(config.starvation_cap) {}

    bool overtakes(const Lane& lane) const { return lane.overtaken < cap_; }
    const Choice& choose(const Bursts& bursts, const device::CommandTiming& timing,
                         std::int64_t now);
    void on_turn() {
        column_plan_.drop();
        row_plan_.drop();
    }
    void on_step(const Step& step, const Bursts& bursts, const device::CommandTiming& timing,
                 std::int64_t now);
    void on_row_command() { row_plan_.drop(); }
    void on_column_command(bool passive) {
        column_plan_.drop();
        if (passive) {
            row_plan_.drop();  // the active direction may close the row now
        }
    }

  private:
    // A further command may be the one to go next.
    static void offer(Choice& plan, device::Command command, Age age,
                      const device::CommandTiming& timing, std::int64_t now) {
        plan.consider({command, {std::max(now, timing.earliest(command, age.bank())), age}});
    }
    void plan_column(const Bursts& bursts, const device::CommandTiming& timing, std::int64_t now);
    void plan_row(const Bursts& bursts, const device::CommandTiming& timing, std::int64_t now);
    void consider_columns(const BurstQueue& queue, std::uint64_t banks, device::Command column,
                          const device::CommandTiming& timing, std::int64_t now);

    std::int64_t cap_;
    Choice column_plan_;  // the next RD or WR
    Choice row_plan_;     // the next ACT or PRE
};

inline const Choice& FrFcfs::choose(const Bursts& bursts, const device::CommandTiming& timing,
                                    std::int64_t now) {
    // One that was ready earlier but had to give way competes anew with those ready by now.
    if (column_plan_.rank.when < std::max(now, timing.bus().free_for_columns())) {
        plan_column(bursts, timing, now);
    }
    if (column_plan_.rank.when > now) {
        if (row_plan_.rank.when < std::max(now, timing.bus().free_for_rows())) {
            plan_row(bursts, timing, now);
        }
        if (row_plan_.rank.when < column_plan_.rank.when) {  // at equal times columns come first
            return row_plan_;
        }
    }
    return column_plan_;
}

inline void FrFcfs::on_step(const Step& step, const Bursts& bursts,
                            const device::CommandTiming& timing, std::int64_t now) {
    if (step.was_hit) {
        column_plan_.drop();
    }
    if (!step.active) {
        return;
    }
    if (step.is_hit) {
        offer(column_plan_, column_command(bursts.draining()), step.age, timing, now);
        if (row_plan_.rank.age.bank() == step.bank) {
            row_plan_.drop();
        }
    } else if (step.waits && (bursts.passive().owed >> step.bank & 1) == 0) {
        const bool open = (timing.open_banks() >> step.bank & 1) != 0;
        offer(row_plan_, open ? device::Command::Precharge : device::Command::Activate, step.age,
              timing, now);
    }
}

inline void FrFcfs::plan_column(const Bursts& bursts, const device::CommandTiming& timing,
                                std::int64_t now) {
    const BurstQueue& active = bursts.active();
    const BurstQueue& passive = bursts.passive();
    column_plan_ = Choice{};
    consider_columns(active, active.hits, column_command(bursts.draining()), timing, now);
    consider_columns(passive, passive.hits & passive.owed, column_command(!bursts.draining()),
                     timing, now);
}

// Takes the banks' column command that can go first; of those ready by `now`, the oldest burst's.
inline void FrFcfs::consider_columns(const BurstQueue& queue, std::uint64_t banks,
                                     device::Command column, const device::CommandTiming& timing,
                                     std::int64_t now) {
    if (banks == 0) {
        return;
    }
    FirstRank first(std::max(now, timing.earliest(column)));
    device::for_each_bank(banks, [&](std::size_t bank) {
        first.consider(timing.bank_earliest(column, bank), queue.ages[bank]);
    });
    column_plan_.consider({column, first.rank()});
}

// The same among banks that have a row to open or to close.
inline void FrFcfs::plan_row(const Bursts& bursts, const device::CommandTiming& timing,
                             std::int64_t now) {
    const BurstQueue& queue = bursts.active();
    const std::uint64_t banks = queue.banks & ~queue.hits & ~bursts.passive().owed;
    row_plan_ = Choice{};
    if (banks == 0) {
        return;
    }
    const std::uint64_t open = timing.open_banks();
    FirstRank first(std::max(now, timing.bus().free_for_rows()));
    const auto consider = [&](std::uint64_t of, device::Command command) {
        if (of == 0) {
            return;
        }
        const std::int64_t at_least = timing.earliest(command);
        device::for_each_bank(of, [&](std::size_t bank) {
            first.consider(std::max(at_least, timing.bank_earliest(command, bank)),
                           queue.ages[bank]);
        });
    };
    consider(banks & ~open, device::Command::Activate);
    consider(banks & open, device::Command::Precharge);
    const Rank rank = first.rank();
    const bool closes = ((open >> rank.age.bank()) & 1) != 0;
    row_plan_ = {closes ? device::Command::Precharge : device::Command::Activate, rank};
}

}  // namespace tilesim::arch::memory::policy
