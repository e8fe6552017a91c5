#include "workloads/memory/streams/stream_attribution.hpp"

#include <algorithm>
#include <array>

#include "workloads/attribution.hpp"

namespace tilesim::workloads::memory::streams {

using arch::memory::controller::ChannelNeeds;
using arch::memory::controller::MemoryPart;
using arch::memory::controller::MemoryPath;

namespace {

constexpr std::size_t kParts = MemoryPath::kParts;

// What a reader would change.
const char* name_of(MemoryPart part) {
    switch (part) {
        case MemoryPart::DataBus:
            return "DRAM: data bus";
        case MemoryPart::Rows:
            return "DRAM: rows of a bank";
        case MemoryPart::Activates:
            return "DRAM: activates of all banks";
        case MemoryPart::Turns:
            return "DRAM: turns of the data bus";
        case MemoryPart::Refresh:
            return "DRAM: refresh";
        case MemoryPart::CommandBus:
            return "DRAM: command bus";
        case MemoryPart::Requests:
            return "requests under way";
        case MemoryPart::Others:
            return "requests of others";
    }
    return "";
}

// Which part bounds the run however little it waits for others, and for how long.
struct Bound {
    MemoryPart part = MemoryPart::Requests;
    double cycles = 0;
};

// With one part faster by `factor`.
Bound longest(const StreamFindings& findings, MemoryPart faster, double factor) {
    const auto of = [&](MemoryPart part, auto cycles) {
        return static_cast<double>(cycles) * (part == faster ? factor : 1);
    };
    Bound most{MemoryPart::Requests, of(MemoryPart::Requests, findings.requests)};
    for (const ChannelNeeds& each : findings.needs) {
        const double refresh = of(MemoryPart::Refresh, each.refresh);
        const double data = of(MemoryPart::DataBus, each.data_bus);
        const double turns = of(MemoryPart::Turns, each.turns);
        for (const Bound& bound :
             {Bound{turns > data ? MemoryPart::Turns : MemoryPart::DataBus, data + turns},
              Bound{MemoryPart::Rows, of(MemoryPart::Rows, each.rows)},
              Bound{MemoryPart::Activates, of(MemoryPart::Activates, each.activates)},
              Bound{MemoryPart::CommandBus, of(MemoryPart::CommandBus, each.command_bus)}}) {
            if (bound.cycles > 0 && bound.cycles + refresh > most.cycles) {
                most = {bound.part, bound.cycles + refresh};
            }
        }
    }
    return most;
}

}  // namespace

void name_stream_bottlenecks(RunResult& result, const StreamFindings& findings) {
    constexpr double kHalf = 0.5;
    double total = 0;
    for (std::size_t i = 0; i < kParts; ++i) {
        total += static_cast<double>(findings.path.spent(static_cast<MemoryPart>(i)));
    }
    std::vector<Saving> savings;
    for (std::size_t i = 0; i < kParts; ++i) {
        const auto part = static_cast<MemoryPart>(i);
        // More of them under way come sooner, whatever they take.
        const auto path = static_cast<double>(
            part == MemoryPart::Requests ? findings.path.in_turn() : findings.path.spent(part));
        const auto saved = [&](double share, const Bound& bound) {
            return std::clamp(total - bound.cycles, 0.0, share * path);
        };
        const Bound beside = longest(findings, part, 0);
        Saving saving{name_of(part), path, saved(kHalf, longest(findings, part, kHalf)),
                      saved(1, beside)};
        saving.limit = saving.most < path ? name_of(beside.part) : "";
        savings.push_back(saving);
    }
    take_most_saving(result, std::move(savings), total);
}

}  // namespace tilesim::workloads::memory::streams
