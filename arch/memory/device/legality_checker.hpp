// Checks DRAM commands against the data sheet's rules, from nothing but the list of past commands:
// it shares no code and no state with the model's bank machines. One channel, one rank.
//
// Commands may go to one bank or to all banks at once (processing in memory). All-bank ones break
// tRRD and tFAW by design and are exempt; every other rule is the same. Column commands that close
// their row do so as soon as a precharge might, off the command bus. Ignores refreshes of some
// banks.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "arch/memory/device/command_timing.hpp"
#include "arch/memory/device/memory_config.hpp"

namespace tilesim::arch::memory::device {

inline constexpr std::size_t kAllBanks = SIZE_MAX;

struct HeardCommand {
    Command command = Command::Activate;
    std::size_t bank = 0;  // or kAllBanks
    std::int64_t row = kNoRow;
    std::int64_t when = 0;                      // CK
    bool in_array = true;                       // false: registers only, no row is needed
    base::Cycles read_to_precharge{INT64_MAX};  // in place of tRTP, where the data stay in the bank
    bool by_itself = false;                     // a precharge that no command on the bus asks for
};

class LegalityChecker {
  public:
    explicit LegalityChecker(const MemoryConfig& config);

    void hear(const HeardCommand& heard);
    std::int64_t commands() const { return commands_; }
    // "rule broken at CK", in order; empty: all was legal.
    const std::vector<std::string>& violations() const { return violations_; }

  private:
    void check_pair(const HeardCommand& old, const HeardCommand& now);
    void check_column(const HeardCommand& old, const HeardCommand& now, bool same_group);
    void check_rows(const HeardCommand& now);
    void remember(const HeardCommand& command);
    std::int64_t earliest_close(std::size_t bank) const;
    void require(bool holds, const char* rule, const HeardCommand& now);

    MemoryConfig config_;
    std::deque<HeardCommand> past_;  // the latest
    std::vector<std::int64_t> open_rows_;
    std::int64_t commands_ = 0;
    std::vector<std::string> violations_;
};

}  // namespace tilesim::arch::memory::device
