#include "arch/memory/controller/command_trace.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tilesim::arch::memory::controller {

namespace {

constexpr std::string_view kRowOpen = "row_open";

std::string_view name_of_burst(bool write) {
    return write ? "write" : "read";
}

}  // namespace

CommandTrace::CommandTrace(const device::MemoryConfig& config, base::ProbeListener& listener,
                           Bursts bursts)
    : timing_(config.timing),
      banks_per_rank_(static_cast<std::size_t>(config.banks_per_rank())),
      clock_(config.clock),
      listener_(listener),
      bursts_(bursts) {
    for (std::int64_t i = 0; i < config.channels; ++i) {
        const std::string channel = fmt::format("memory.channel({})", i);
        Lanes lanes;
        lanes.bus = channel + ".bus";
        lanes.refresh = channel + ".refresh";
        for (std::int64_t bank = 0; bank < config.banks(); ++bank) {
            lanes.banks.push_back(fmt::format("{}.bank({})", channel, bank));
        }
        lanes_.push_back(std::move(lanes));
    }
}

void CommandTrace::activity(const std::string& component, std::string_view name, std::int64_t begin,
                            std::int64_t end) {
    listener_.begin(component, name, clock_.time_of(base::Cycles{begin}));
    listener_.end(component, name, clock_.time_of(base::Cycles{end}));
}

void CommandTrace::close(Lanes& lanes, std::size_t bank, base::Cycles when) {
    lanes.open &= ~(std::uint64_t{1} << bank);
    listener_.end(lanes.banks[bank], kRowOpen, clock_.time_of(when));
}

void CommandTrace::on_command(std::size_t channel, device::Command command, std::size_t bank,
                              std::int64_t, std::int64_t now) {
    Lanes& lanes = lanes_[channel];
    switch (command) {
        case device::Command::Activate:
            lanes.open |= std::uint64_t{1} << bank;
            listener_.begin(lanes.banks[bank], kRowOpen, clock_.time_of(base::Cycles{now}));
            break;
        case device::Command::Precharge:
            close(lanes, bank, base::Cycles{now});
            break;
        case device::Command::PrechargeAll:
            for (std::size_t i = 0; i < banks_per_rank_; ++i) {
                if ((lanes.open >> (bank + i) & 1) != 0) {
                    close(lanes, bank + i, base::Cycles{now});
                }
            }
            break;
        case device::Command::Read:
            burst(lanes, false, now + timing_.read_latency.count());
            break;
        case device::Command::Write:
            burst(lanes, true, now + timing_.write_latency.count());
            break;
        case device::Command::ReadPrecharge:
        case device::Command::WritePrecharge: {
            const bool write = command == device::Command::WritePrecharge;
            const base::Cycles latency = write ? timing_.write_latency : timing_.read_latency;
            burst(lanes, write, now + latency.count());
            const base::Cycles to_close =
                write ? latency + timing_.burst + timing_.tWR : timing_.tRTP;
            close(lanes, bank, base::Cycles{now} + to_close);
            break;
        }
        case device::Command::Refresh:
            activity(lanes.refresh, "refresh", now, now + timing_.tRFC.count());
            break;
        case device::Command::RefreshBank:
        case device::Command::RefreshSame:
            activity(lanes.banks[bank], "refresh", now, now + timing_.tRFC_pb.count());
            break;
    }
}

void CommandTrace::burst(Lanes& lanes, bool write, std::int64_t start) {
    const std::int64_t end = start + timing_.burst.count();
    if (bursts_ == Bursts::Apart) {
        activity(lanes.bus, name_of_burst(write), start, end);
    }
    if (lanes.begin >= 0 && lanes.write == write && start == lanes.end) {
        lanes.end = end;
        return;
    }
    if (lanes.begin >= 0) {
        if (bursts_ == Bursts::Joined) {
            activity(lanes.bus, name_of_burst(lanes.write), lanes.begin, lanes.end);
        }
        if (lanes.write != write) {
            const base::Cycles least = write ? timing_.tRTW : timing_.tWTR_L + timing_.read_latency;
            activity(lanes.bus, "turnaround", std::max(lanes.end, start - least.count()), start);
        }
    }
    lanes.write = write;
    lanes.begin = start;
    lanes.end = end;
}

void CommandTrace::finish() {
    for (const Lanes& lanes : lanes_) {
        if (lanes.begin >= 0 && bursts_ == Bursts::Joined) {
            activity(lanes.bus, name_of_burst(lanes.write), lanes.begin, lanes.end);
        }
    }
}

}  // namespace tilesim::arch::memory::controller
