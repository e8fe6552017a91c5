#include "arch/memory/controller/memory_use.hpp"

#include <algorithm>
#include <initializer_list>

#include "arch/base/limit.hpp"
#include "arch/memory/policy/page_policies.hpp"
#include "arch/memory/policy/refresh_policies.hpp"
#include "arch/memory/policy/schedulers.hpp"

namespace tilesim::arch::memory::controller {

namespace {

using base::spares;
using device::AddressField;

class MemoryUse {
  public:
    MemoryUse(const device::MemoryConfig& config, const port::MemoryTotals& totals, bool guest)
        : config_(config), totals_(totals), guest_(guest) {}

    std::vector<std::string> unused() {
        name_timing();
        name_spacing();
        name_refresh();
        name_mode();
        name_controller();
        name_rows();
        name_shape();
        // Of a time; energy is not one.
        name_if(!config_.power.core.given(), "memory.power.", {"devices", "standby_permille"});
        return std::move(names_);
    }

  private:
    void name_if(bool unused, const char* map, std::initializer_list<const char*> keys) {
        for (const char* key : keys) {
            if (unused) {
                names_.push_back(std::string{map} + key);
            }
        }
    }

    // Of policies that were not chosen.
    void name_unread(const std::vector<std::string_view>& keys) {
        for (const std::string_view key : keys) {
            names_.push_back(kController + std::string{key});
        }
    }

    // What a guest keeps to as well: rows, latencies and the turns of the bus.
    void name_timing() {
        name_if(!any_ && !guest_, kTiming,
                {"burst", "activate_command", "column_command", "tRCD", "tRP", "tRAS", "tRC"});
        name_if(totals_.activates == 0 && !guest_, kTiming, {"precharge_command"});
        name_if(!reads_ && !guest_, kTiming, {"read_latency"});
        name_if(!writes_ && !guest_, kTiming, {"write_latency", "tWR", "tWTR_L", "tRCD_WR"});
        name_if(!(reads_ && writes_) && !guest_, kTiming, {"tRTW"});
    }

    void name_spacing() {
        // A guest that opens rows of single banks keeps their distance; the fifth is the first
        // that the window may hold.
        name_if(totals_.activates < 2 && !guest_, kTiming, {"tRRD_L"});
        name_if(totals_.activates < 5 && !guest_, kTiming, {"tFAW"});
        name_if(totals_.activates < 2, kTiming, {"tPPD"});
        name_if(!any_, kTiming, {"tCCD_S"});
        name_if(!reads_, kTiming, {"tCCD_L", "tRTP"});
        name_if(!writes_, kTiming, {"tCCD_L_WR"});
        // Banks of one group keep the longer distances.
        const bool one_group = config_.bank_groups == 1;
        name_if(one_group || (totals_.activates < 2 && !guest_), kTiming, {"tRRD_S"});
        name_if(one_group || !(reads_ && writes_), kTiming, {"tWTR_S"});
        name_if(config_.ranks == 1, kTiming, {"tRTRS"});
    }

    void name_refresh() {
        name_if(none_, kTiming, {"tREFI"});
        const bool undisturbed = none_ || idle_;  // those of an idle memory are only counted
        name_if(partial_ || undisturbed, kTiming, {"tRFC"});
        // All rows of a rank close at once before all its banks are refreshed, or lent.
        name_if((partial_ || undisturbed) && !guest_, kTiming, {"tRPab"});
        name_if(!partial_ || undisturbed, kTiming, {"tRFC_pb"});
        name_if(!partial_ || idle_ || totals_.refreshes < 2, kTiming,
                {"tREFpb_to_REFpb", "tREFpb_to_ACT"});
        name_if(undisturbed, kController, {"refresh_after_writes"});
        // An early first, or one pulled in or put off less, may come in a run that is over before
        // its own is due.
        const bool may_come = config_.refresh && !idle_;
        const bool puts_off = may_come && config_.controller.refresh_postpone > 0;
        const bool pulls_in = may_come && config_.controller.refresh_pull_in > 0;
        name_if(undisturbed && !puts_off, kController, {"refresh_postpone"});
        name_if(none_ && !pulls_in, kController, {"refresh_pull_in"});
        name_if(none_ && !may_come, kController, {"refresh_first", "refresh_shift"});
    }

    // The chosen mode's own numbers go with those they stand for.
    void name_mode() {
        std::vector<std::string> names;
        for (const std::string& key : config_.of_mode) {
            if (std::find(names_.begin(), names_.end(), kTiming + key) != names_.end()) {
                names.push_back("memory.bank_modes." + config_.bank_mode + ".timing." + key);
            }
        }
        names_.insert(names_.end(), names.begin(), names.end());
        names_.insert(names_.end(), config_.overruled.begin(), config_.overruled.end());
    }

    void name_controller() {
        const device::ControllerConfig& controller = config_.controller;
        const port::QueuePeaks& peaks = totals_.peaks;
        name_unread(policy::PagePolicies::keys_unread_by(any_ ? controller.page_policy : ""));
        name_if(spares(controller.read_queue, peaks.reads), kController, {"read_queue"});
        name_if(spares(controller.write_queue, peaks.writes), kController, {"write_queue"});
        name_if(spares(controller.write_high, peaks.writes_at_turn), kController, {"write_high"});
        name_if(peaks.writes_left == 0, kController, {"write_low"});
        const auto unread = policy::Schedulers::keys_unread_by(controller.scheduler);
        name_unread(unread);
        // One that is reached is patience at its end: the next row hit has to wait.
        const bool read = std::find(unread.begin(), unread.end(), "starvation_cap") == unread.end();
        name_if(read && spares(controller.starvation_cap, peaks.overtaken + 1), kController,
                {"starvation_cap"});
    }

    // With rows on top, addresses of less than half of them have the same places in any number.
    void name_rows() {
        const bool on_top =
            !config_.mapping.empty() && config_.mapping.back().field == AddressField::Row;
        name_if(on_top && !guest_ && 2 * totals_.end <= config_.capacity().count(), "memory.",
                {"rows"});
    }

    // What nobody asks has no places; but its idle cycles are counted, of its clock, its refreshes,
    // and where there are currents it has standby.
    void name_shape() {
        const bool idle = idle_ && !config_.power.core.given();
        name_if(idle, "memory.", {"row", "burst"});
        name_if(idle && (none_ || !partial_), "memory.", {"bank_groups", "banks_per_group"});
        name_if(idle && none_, "memory.", {"channels", "ranks", "pseudo_channels"});
    }

    static constexpr const char* kTiming = "memory.timing.";
    static constexpr const char* kController = "memory.controller.";
    const device::MemoryConfig& config_;
    const port::MemoryTotals& totals_;
    const bool guest_;
    const bool reads_ = totals_.bytes_read > 0;
    const bool writes_ = totals_.bytes_written > 0;
    const bool any_ = totals_.bursts > 0;
    const bool idle_ = !any_ && !guest_;
    const bool none_ = totals_.refreshes == 0;
    const bool partial_ = policy::refreshes_of(config_).command != device::Command::Refresh;
    std::vector<std::string> names_;
};

}  // namespace

std::vector<std::string> not_exercised(const device::MemoryConfig& config,
                                       const port::MemoryTotals& totals, bool guest) {
    return MemoryUse(config, totals, guest).unused();
}

}  // namespace tilesim::arch::memory::controller
