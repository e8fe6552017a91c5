// Rows stay open until another is wanted or the bank is refreshed.
#pragma once

#include <string_view>

#include "arch/memory/device/memory_config.hpp"
#include "arch/memory/policy/page_policy.hpp"

namespace tilesim::arch::memory::policy {

class OpenPage final : public PagePolicy {
  public:
    static constexpr std::string_view kName = "open";
    explicit OpenPage(const device::ControllerConfig&) {}

    bool always_open() const override { return true; }
    std::int64_t idle_limit(std::size_t) const override { return kNever; }
};

}  // namespace tilesim::arch::memory::policy
