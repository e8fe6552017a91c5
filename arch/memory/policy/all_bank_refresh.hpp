// Every tREFI one REF to all banks, which takes them tRFC. Channels refresh one after the other,
// not all at once.
#pragma once

#include <string_view>

#include "arch/memory/device/memory_config.hpp"
#include "arch/memory/policy/refresh_policy.hpp"

namespace tilesim::arch::memory::policy {

class AllBankRefresh final : public RefreshPolicy {
  public:
    static constexpr std::string_view kName = "all_bank";
    AllBankRefresh(const device::MemoryConfig& config, std::size_t channel)
        : first_(config.timing.tREFI.count() * static_cast<std::int64_t>(channel + 1) /
                 config.channels),
          round_{config.all_banks(), config.timing.tRFC.count(), config.timing.tREFI.count()} {}

    std::int64_t first() const override { return first_; }
    RefreshRound round() const override { return round_; }
    void advance(std::int64_t) override {}

  private:
    std::int64_t first_;
    RefreshRound round_;
};

}  // namespace tilesim::arch::memory::policy
