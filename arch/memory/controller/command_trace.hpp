// Turns the commands of the channels into activities for traces: rows open bank by bank, bursts and
// turnarounds on the data bus, refreshes.
//
// "memory.channel(0).bank(3)"  row_open                  from ACT to PRE
// "memory.channel(0).bus"      read, write, turnaround   data; bursts without a gap are one
// "memory.channel(0).refresh"  refresh                   tRFC from REF
// A turnaround is what of the gap before data of the other direction the timing asks for; the rest
// of a gap is nothing. Refreshes of a channel that has been idle for several intervals are not
// seen.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "arch/base/clock.hpp"
#include "arch/base/probe.hpp"
#include "arch/memory/controller/channel.hpp"
#include "arch/memory/device/memory_config.hpp"

namespace tilesim::arch::memory::controller {

// Bursts as one activity where there is no gap, which is told when the next one comes; or each at
// once, before its time.
enum class Bursts { Joined, Apart };

class CommandTrace final : public CommandListener {
  public:
    CommandTrace(const device::MemoryConfig& config, base::ProbeListener& listener,
                 Bursts bursts = Bursts::Joined);

    void on_command(std::size_t channel, device::Command command, std::size_t bank,
                    std::int64_t row, std::int64_t now) override;
    // Ends the bursts still under way; call once, after the run.
    void finish();

  private:
    struct Lanes {
        std::string bus, refresh;
        std::vector<std::string> banks;
        std::uint64_t open = 0;   // banks with a row, as a set
        bool write = false;       // of the bursts under way
        std::int64_t begin = -1;  // CK; -1: no burst yet
        std::int64_t end = 0;
    };
    void close(Lanes& lanes, std::size_t bank, base::Cycles when);
    void burst(Lanes& lanes, bool write, std::int64_t start);
    void activity(const std::string& component, std::string_view name, std::int64_t begin,
                  std::int64_t end);

    device::DramTiming timing_;
    std::size_t banks_per_rank_;
    base::Clock clock_;
    base::ProbeListener& listener_;
    Bursts bursts_;
    std::vector<Lanes> lanes_;  // by channel
};

}  // namespace tilesim::arch::memory::controller
