// First come, first served: every command is the oldest burst's of the direction being served. No
// other bank's row is opened or closed meanwhile, and no row hit goes first: the least a controller
// can do, against which others are measured.
#pragma once

#include <algorithm>
#include <string_view>

#include "arch/memory/device/bank_set.hpp"
#include "arch/memory/policy/bursts.hpp"
#include "arch/memory/policy/choice.hpp"

namespace tilesim::arch::memory::policy {

class Fcfs {
  public:
    static constexpr std::string_view kName = "fcfs";

    explicit Fcfs(const device::ControllerConfig&) {}

    bool overtakes(const Lane&) const { return false; }
    const Choice& choose(const Bursts& bursts, const device::CommandTiming& timing,
                         std::int64_t now) {
        const BurstQueue& queue = bursts.active();
        Age oldest;
        device::for_each_bank(
            queue.banks, [&](std::size_t bank) { oldest = std::min(oldest, queue.ages[bank]); });
        choice_ = Choice{};
        if (queue.banks != 0) {
            const std::uint64_t bit = std::uint64_t{1} << oldest.bank();
            const device::Command command =
                (queue.hits & bit) != 0            ? column_command(bursts.draining())
                : (timing.open_banks() & bit) != 0 ? device::Command::Precharge
                                                   : device::Command::Activate;
            choice_ = {command, {std::max(now, timing.earliest(command, oldest.bank())), oldest}};
        }
        return choice_;
    }
    // It keeps no plans.
    void on_turn() {}
    void on_step(const Step&, const Bursts&, const device::CommandTiming&, std::int64_t) {}
    void on_precharge(std::size_t, const Bursts&, const device::CommandTiming&, std::int64_t) {}
    void on_refresh() {}
    void on_passive_column() {}

  private:
    Choice choice_;
};

}  // namespace tilesim::arch::memory::policy
