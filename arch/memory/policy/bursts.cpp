#include "arch/memory/policy/bursts.hpp"

namespace tilesim::arch::memory::policy {

Bursts::Bursts(const device::ControllerConfig& config)
    : write_high_(config.write_high),
      write_low_(config.write_low),
      runs_(static_cast<std::size_t>(1 + config.read_queue + config.write_queue)),
      reads_(config.read_queue),
      writes_(config.write_queue) {
    (*this)[kNone].first.order = BurstList{}.order;
    for (auto room = static_cast<std::int32_t>(runs_.size()); --room > kNone;) {
        free_.push_back(room);
    }
}

}  // namespace tilesim::arch::memory::policy
