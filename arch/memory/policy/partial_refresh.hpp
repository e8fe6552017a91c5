// Some banks are refreshed while the others work: one bank at a time, a pair of banks, or the same
// bank of every group. All have had their turn after tREFI (same_bank: tREFI / 2, as fine-granular
// refresh has it); a round takes tRFC_pb, and others may be activated tREFpb_to_ACT after it.
#pragma once

#include <algorithm>
#include <string_view>

#include "arch/base/units.hpp"
#include "arch/memory/device/memory_config.hpp"
#include "arch/memory/policy/refresh_policy.hpp"

namespace tilesim::arch::memory::policy {

class PartialRefresh : public RefreshPolicy {
  public:
    std::int64_t first() const override { return first_; }
    RefreshRound round() const override {
        RefreshRound round = round_;
        // Ranks take turns: each keeps tREFpb_to_REFpb for itself.
        const std::int64_t rank = next_ % ranks_;
        round.banks <<= static_cast<unsigned>(rank * per_rank_ + next_ / ranks_);
        return round;
    }
    void advance(std::int64_t rounds) override {
        next_ = (next_ + rounds) % (rounds_of_rank_ * ranks_);
    }

  protected:
    // `pattern`: the banks of the first round; the next one's are the banks behind them. All have
    // had their turn so many times a tREFI.
    PartialRefresh(const device::MemoryConfig& config, std::size_t channel, std::uint64_t pattern,
                   std::int64_t rounds_of_rank, std::int64_t turns, device::Command command)
        : rounds_of_rank_(rounds_of_rank),
          ranks_(config.ranks),
          per_rank_(config.banks_per_rank()),
          round_{pattern,
                 config.timing.tRFC_pb.count(),
                 rounds_of_rank * config.ranks * turns,
                 fastest(config.timing, config.ranks, rounds_of_rank),
                 command,
                 false},
          first_(first_round(config, channel, round_.per_tREFI)) {}

  private:
    // Until the rank's next round, and until the same banks' turn comes again.
    static std::int64_t fastest(const device::DramTiming& timing, std::int64_t ranks,
                                std::int64_t rounds_of_rank) {
        return std::max({base::ceil_div(timing.tREFpb_to_REFpb.count(), ranks),
                         base::ceil_div(timing.tRFC_pb.count(), rounds_of_rank * ranks),
                         std::int64_t{1}});
    }

    std::int64_t rounds_of_rank_;
    std::int64_t ranks_;
    std::int64_t per_rank_;
    RefreshRound round_;
    std::int64_t first_;
    std::int64_t next_ = 0;
};

// LPDDR4 and 5, HBM, GDDR6.
class PerBankRefresh final : public PartialRefresh {
  public:
    static constexpr std::string_view kName = "per_bank";
    PerBankRefresh(const device::MemoryConfig& config, std::size_t channel)
        : PartialRefresh(config, channel, 1, config.banks_per_rank(), 1,
                         device::Command::RefreshBank) {}
};

// Banks b and b + half of them.
class PairRefresh final : public PartialRefresh {
  public:
    static constexpr std::string_view kName = "bank_pair";
    PairRefresh(const device::MemoryConfig& config, std::size_t channel)
        : PartialRefresh(config, channel,
                         1 | std::uint64_t{1} << static_cast<unsigned>(config.banks_per_rank() / 2),
                         config.banks_per_rank() / 2, 1, device::Command::RefreshBank) {}
};

// DDR5.
class SameBankRefresh final : public PartialRefresh {
  public:
    static constexpr std::string_view kName = "same_bank";
    SameBankRefresh(const device::MemoryConfig& config, std::size_t channel)
        : PartialRefresh(config, channel, pattern(config), config.banks_per_group, 2,
                         device::Command::RefreshSame) {}

  private:
    static std::uint64_t pattern(const device::MemoryConfig& config) {
        std::uint64_t banks = 0;
        for (std::int64_t group = 0; group < config.bank_groups; ++group) {
            banks |= std::uint64_t{1} << static_cast<unsigned>(group * config.banks_per_group);
        }
        return banks;
    }
};

}  // namespace tilesim::arch::memory::policy
