#include "arch/memory/controller/channel.hpp"

#include <fmt/format.h>

#include "arch/memory/controller/scheduled_channel.hpp"
#include "arch/memory/policy/schedulers.hpp"

namespace tilesim::arch::memory::controller {

Channel::Channel(const device::MemoryConfig& config, std::size_t index, base::stats::Group& parent)
    : index_(index),
      stats_(parent, fmt::format("channel({})", index), "dram_channel"),
      bank_counts_(static_cast<std::size_t>(config.banks())) {}

std::unique_ptr<Channel> make_channel(const device::MemoryConfig& config, std::size_t index,
                                      base::stats::Group& parent, ChannelOwner& owner) {
    using Made = std::unique_ptr<Channel>;
    return policy::Schedulers::make<Made>(
        config.controller.scheduler, [&]<class Scheduler>() -> Made {
            return std::make_unique<ScheduledChannel<Scheduler>>(config, index, parent, owner);
        });
}

}  // namespace tilesim::arch::memory::controller
