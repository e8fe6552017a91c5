// A row closes as soon as nobody waits for it.
#pragma once

#include <string_view>

#include "arch/memory/device/memory_config.hpp"
#include "arch/memory/policy/page_policy.hpp"

namespace tilesim::arch::memory::policy {

class ClosedPage final : public PagePolicy {
  public:
    static constexpr std::string_view kName = "closed";
    explicit ClosedPage(const device::ControllerConfig&) {}

    std::int64_t idle_limit(std::size_t) const override { return 0; }
};

}  // namespace tilesim::arch::memory::policy
