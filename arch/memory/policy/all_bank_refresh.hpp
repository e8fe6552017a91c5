// Every tREFI one REF to all banks of a rank, which takes them tRFC. Channels, and ranks of a
// channel, refresh one after the other, not all at once.
#pragma once

#include <string_view>

#include "arch/base/units.hpp"
#include "arch/memory/device/memory_config.hpp"
#include "arch/memory/policy/refresh_policy.hpp"

namespace tilesim::arch::memory::policy {

class AllBankRefresh final : public RefreshPolicy {
  public:
    static constexpr std::string_view kName = "all_bank";
    AllBankRefresh(const device::MemoryConfig& config, std::size_t channel)
        : first_(first_round(config, channel, 1)),
          round_{first_rank(config),
                 config.timing.tRFC.count(),
                 config.ranks,
                 base::ceil_div(config.timing.tRFC.count(), config.ranks),
                 device::Command::Refresh,
                 config.ranks == 1},
          ranks_(config.ranks),
          per_rank_(config.banks_per_rank()) {}

    std::int64_t first() const override { return first_; }
    RefreshRound round() const override {
        RefreshRound round = round_;
        round.banks <<= static_cast<unsigned>(rank_ * per_rank_);
        return round;
    }
    void advance(std::int64_t rounds) override { rank_ = (rank_ + rounds) % ranks_; }

  private:
    static std::uint64_t first_rank(const device::MemoryConfig& config) {
        return config.all_banks() >>
               static_cast<unsigned>(config.banks() - config.banks_per_rank());
    }

    std::int64_t first_;
    RefreshRound round_;
    std::int64_t ranks_;
    std::int64_t per_rank_;
    std::int64_t rank_ = 0;
};

}  // namespace tilesim::arch::memory::policy
