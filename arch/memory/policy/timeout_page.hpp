// A row closes when it has not been used for a fixed time.
#pragma once

#include <string_view>

#include "arch/memory/device/memory_config.hpp"
#include "arch/memory/policy/page_policy.hpp"

namespace tilesim::arch::memory::policy {

class TimeoutPage final : public PagePolicy {
  public:
    static constexpr std::string_view kName = "timeout";
    static constexpr std::string_view kKeys[] = {"page_timeout"};
    explicit TimeoutPage(const device::ControllerConfig& config)
        : limit_(config.page_timeout.count()) {}

    std::int64_t idle_limit(std::size_t) const override { return limit_; }

  private:
    std::int64_t limit_;
};

}  // namespace tilesim::arch::memory::policy
