// First ready, first come first served (Rixner et al., ISCA 2000): of the commands that can go
// first the oldest burst's, row hits before older bursts of their bank, but only so often.
//
// It plans the next column command, ACT and PRE and keeps each plan while nothing changes it. One
// that has been carried out lies behind the end of its own command on the bus: it is made anew.
// Bursts of the direction not being served go too where a row has been opened for them: reads
// before a write whose data come later than theirs, even if its command could go first, for behind
// it they would wait for the next turn of the bus.
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
    static constexpr std::string_view kKeys[] = {"starvation_cap"};

    explicit FrFcfs(const device::ControllerConfig& config) : cap_(config.starvation_cap) {}

    bool overtakes(const Lane& lane) const { return lane.overtaken < cap_; }
    const Choice& choose(const Bursts& bursts, const device::CommandTiming& timing,
                         std::int64_t now);
    void on_turn() {
        column_plan_.drop();
        drop_row_plans();
    }
    void on_step(const Step& step, const Bursts& bursts, const device::CommandTiming& timing,
                 std::int64_t now);
    void on_precharge(std::size_t bank, const Bursts& bursts, const device::CommandTiming& timing,
                      std::int64_t now) {
        precharge_plan_.drop();  // which comes tPPD later, whoever wanted this row closed
        if ((row_banks(bursts) >> bank & 1) != 0) {
            offer(activate_plan_, device::Command::Activate, bursts.active().ages[bank], timing,
                  now);
        }
    }
    void on_refresh() { drop_row_plans(); }
    void on_passive_column() { drop_row_plans(); }  // the active direction may close the row now

  private:
    // A further command may be the one to go next.
    static void offer(Choice& plan, device::Command command, Age age,
                      const device::CommandTiming& timing, std::int64_t now) {
        plan.consider({command, {std::max(now, timing.earliest(command, age.bank())), age}});
    }
    template <bool write>  // known when compiled: whose times to look at
    void plan_column(const Bursts& bursts, const device::CommandTiming& timing, std::int64_t now);
    // Banks that have a row to open or to close.
    static std::uint64_t row_banks(const Bursts& bursts) {
        const BurstQueue& queue = bursts.active();
        return queue.banks & ~queue.hits & ~bursts.passive().owed;
    }
    void drop_row_plans() {
        activate_plan_.drop();
        precharge_plan_.drop();
    }
    static Choice first_of(device::Command command, std::uint64_t banks, const BankAges& ages,
                           const device::CommandTiming& timing, std::int64_t now);

    std::int64_t cap_;
    Choice column_plan_;  // the next RD or WR
    Choice activate_plan_;
    Choice precharge_plan_;
};

inline const Choice& FrFcfs::choose(const Bursts& bursts, const device::CommandTiming& timing,
                                    std::int64_t now) {
    // One that was ready earlier but had to give way competes anew with those ready by now.
    if (column_plan_.rank.when < std::max(now, timing.bus().free_for_columns())) {
        bursts.draining() ? plan_column<true>(bursts, timing, now)
                          : plan_column<false>(bursts, timing, now);
    }
    if (column_plan_.rank.when > now) {
        const std::int64_t from = std::max(now, timing.bus().free_for_rows());
        if (activate_plan_.rank.when < from) {
            activate_plan_ =
                first_of(device::Command::Activate, row_banks(bursts) & ~timing.open_banks(),
                         bursts.active().ages, timing, now);
        }
        if (precharge_plan_.rank.when < from) {
            precharge_plan_ =
                first_of(device::Command::Precharge, row_banks(bursts) & timing.open_banks(),
                         bursts.active().ages, timing, now);
        }
        const Choice& row =
            precharge_plan_.rank.before(activate_plan_.rank) ? precharge_plan_ : activate_plan_;
        if (row.rank.when < column_plan_.rank.when) {  // at equal times columns come first
            return row;
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
        if (column_plan_.command == column_command(!bursts.draining())) {
            column_plan_.drop();  // the two directions are compared when it is made
        }
        offer(column_plan_, column_command(bursts.draining()), step.age, timing, now);
        for (Choice* const plan : {&activate_plan_, &precharge_plan_}) {
            if (plan->rank.age.bank() == step.bank) {
                plan->drop();
            }
        }
    } else if (step.waits && (bursts.passive().owed >> step.bank & 1) == 0) {
        const bool open = (timing.open_banks() >> step.bank & 1) != 0;
        offer(open ? precharge_plan_ : activate_plan_,
              open ? device::Command::Precharge : device::Command::Activate, step.age, timing, now);
    }
}

template <bool write>
void FrFcfs::plan_column(const Bursts& bursts, const device::CommandTiming& timing,
                         std::int64_t now) {
    const BurstQueue& active = bursts.active();
    const BurstQueue& passive = bursts.passive();
    column_plan_ = first_of(column_command(write), active.hits, active.ages, timing, now);
    const std::uint64_t owed = passive.hits & passive.owed;
    if (owed != 0) [[unlikely]] {
        const Choice other = first_of(column_command(!write), owed, passive.ages, timing, now);
        if (write && other.rank.when + timing.read_lag() <= column_plan_.rank.when) {
            column_plan_ = other;
        } else {
            column_plan_.consider(other);
        }
    }
}

// Of these banks' commands the one that can go first; of those ready by `now`, the oldest burst's.
inline Choice FrFcfs::first_of(device::Command command, std::uint64_t banks, const BankAges& ages,
                               const device::CommandTiming& timing, std::int64_t now) {
    if (banks == 0) {
        return {};
    }
    FirstRank first(std::max(now, timing.earliest(command)));
    const device::BankTimes& earliest = timing.banks_earliest(command);
    device::for_each_bank(banks,
                          [&](std::size_t bank) { first.consider(earliest[bank], ages[bank]); });
    return {command, first.rank()};
}

}  // namespace tilesim::arch::memory::policy
