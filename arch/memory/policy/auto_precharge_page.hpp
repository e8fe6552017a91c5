// Column commands that close their row themselves: the last for which a burst waits, or the so
// manieth. A row never stays open for nobody.
#pragma once

#include <string_view>

#include "arch/memory/device/memory_config.hpp"
#include "arch/memory/policy/page_policy.hpp"

namespace tilesim::arch::memory::policy {

class ClosedAdaptivePage final : public PagePolicy {
  public:
    static constexpr std::string_view kName = "closed_adaptive";
    explicit ClosedAdaptivePage(const device::ControllerConfig&) {}

    bool always_open() const override { return true; }
    std::int64_t idle_limit(std::size_t) const override { return kNever; }
    bool may_auto_precharge() const override { return true; }
    bool auto_precharge(std::int64_t, bool others_wait) const override { return !others_wait; }
};

class CapPage final : public PagePolicy {
  public:
    static constexpr std::string_view kName = "cap";
    static constexpr std::string_view kKeys[] = {"page_cap"};
    explicit CapPage(const device::ControllerConfig& config) : cap_(config.page_cap) {}

    bool always_open() const override { return true; }
    std::int64_t idle_limit(std::size_t) const override { return kNever; }
    bool may_auto_precharge() const override { return true; }
    bool auto_precharge(std::int64_t columns, bool) const override { return columns >= cap_; }

  private:
    std::int64_t cap_;
};

}  // namespace tilesim::arch::memory::policy
