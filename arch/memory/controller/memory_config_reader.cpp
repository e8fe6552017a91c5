#include "arch/memory/controller/memory_config_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "arch/base/config.hpp"
#include "arch/memory/policy/page_policies.hpp"
#include "arch/memory/policy/refresh_policies.hpp"
#include "arch/memory/policy/schedulers.hpp"

namespace tilesim::arch::memory::controller {

using base::config::Node;
using base::config::Range;

namespace {

void read_controller(Node node, device::ControllerConfig& controller) {
    const Range queue{1, 1024};
    node.optional("read_queue", controller.read_queue, queue, "bursts a channel can queue");
    node.optional("write_queue", controller.write_queue, queue,
                  "bursts a channel can queue, and the most a drain serves while reads wait");
    node.optional("write_high", controller.write_high, queue, "queued writes that start a drain");
    node.optional("write_low", controller.write_low, {0, 1024}, "queued writes that end a drain");
    node.optional("starvation_cap", controller.starvation_cap, {1, 1'000'000},
                  "row hits that may overtake an older request of their bank");
    node.optional("scheduler", controller.scheduler, policy::Schedulers::names(),
                  "which command goes next");
    node.optional("page_policy", controller.page_policy, policy::PagePolicies::names(),
                  "when an idle row is closed");
    node.optional("refresh_policy", controller.refresh_policy, policy::RefreshPolicies::names(),
                  "which banks are refreshed together");
    node.optional(
        "page_timeout", controller.page_timeout, {1, 1'000'000},
        "idle time after which the timeout policy closes a row; the adaptive one begins there");
    node.optional("page_cap", controller.page_cap, {1, 1'000'000},
                  "column commands to a row after which the cap policy closes it");
    node.optional("refresh_first", controller.refresh_first, {0, 1'000'000},
                  "CK of every channel's first refresh; 0: they are spread over an interval");
    node.optional("refresh_shift", controller.refresh_shift, {0, 1'000'000},
                  "CK by which all refreshes come later, where they are spread around an interval: "
                  "the moment at which a run meets them");
    const Range rounds{0, 8};
    node.optional("refresh_postpone", controller.refresh_postpone, rounds,
                  "refreshes that may be put off while requests wait");
    node.optional("refresh_pull_in", controller.refresh_pull_in, rounds,
                  "refreshes that a channel without requests may do ahead");
    node.optional("refresh_after_writes", controller.refresh_after_writes,
                  "a refresh that is due waits for the end of the writes being served");
    if (controller.write_low >= controller.write_high) {
        node.error("write_low", fmt::format("must be below write_high, {}, got {}",
                                            controller.write_high, controller.write_low));
    }
    if (controller.write_high > controller.write_queue) {
        node.error("write_high", fmt::format("must not exceed write_queue, {}, got {}",
                                             controller.write_queue, controller.write_high));
    }
    node.done();
}

// A policy that refreshes some banks at a time has to be through with all of them in time.
void check_refresh(Node& node, const device::MemoryConfig& config) {
    const std::string& policy = config.controller.refresh_policy;
    if (config.banks() > static_cast<std::int64_t>(device::kMaxBanks)) {
        return;  // an error already
    }
    if (policy == policy::PairRefresh::kName && config.banks_per_rank() < 2) {
        node.error("controller", "bank_pair needs two banks a rank, but there is one");
        return;
    }
    const policy::RefreshRound round = policy::make_refresh(config, 0)->round();
    if (round.command == device::Command::Refresh) {
        return;
    }
    if (config.timing.tRFC_pb.count() == 0) {
        node.error("controller", "this refresh policy needs timing.tRFC_pb above 0");
    }
    // To the next of the same rank; ranks take turns.
    const std::int64_t interval = config.timing.tREFI.count() * config.ranks / round.per_tREFI;
    const std::int64_t least =
        std::max<std::int64_t>(config.ranks, config.timing.tREFpb_to_REFpb.count());
    if (interval < least) {
        node.error("controller",
                   fmt::format("refresh_policy {} has {} cycle from a refresh to the next if all "
                               "banks are to have theirs in time (tREFI), but they are at least "
                               "{} cycle apart (tREFpb_to_REFpb)",
                               policy, interval, least));
    }
}

}  // namespace

device::MemoryConfig read_memory_config(Node node) {
    device::MemoryConfig config = device::read_device(node);
    read_controller(node.child("controller", "queues and policies"), config.controller);
    check_refresh(node, config);
    node.done();
    return config;
}

}  // namespace tilesim::arch::memory::controller
