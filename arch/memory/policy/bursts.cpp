#include "arch/memory/policy/bursts.hpp"

namespace tilesim::arch::memory::policy {

Bursts::Bursts(const device::ControllerConfig& config)
    : write_high_(config.write_high),
      write_low_(config.write_low),
      bursts_(static_cast<std::size_t>(config.read_queue + config.write_queue)),
      reads_(config.read_queue),
      writes_(config.write_queue) {
    for (std::size_t room = bursts_.size(); room > 0; --room) {
        free_.push_back(static_cast<std::int32_t>(room - 1));
    }
}

}  // namespace tilesim::arch::memory::policy
