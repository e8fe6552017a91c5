#include "arch/host/memory_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "arch/base/config.hpp"

namespace tilesim::arch::host {

namespace {

constexpr std::uint64_t kWriteBack = UINT64_MAX;  // tag; others: core and line
constexpr int kCoreShift = 48;

}  // namespace

MemoryLoopConfig read_memory_loop(base::config::Node node) {
    constexpr std::int64_t kMostBytes = std::int64_t{1} << 34;
    MemoryLoopConfig config;
    node.optional("read", config.read, {0, kMostBytes}, "what the loop reads");
    node.optional("write", config.write, {0, kMostBytes},
                  "what it writes: each line is fetched first");
    node.optional("operations", config.operations, {0, INT64_MAX / 1024},
                  "f32 additions and multiplications in all");
    node.optional("cores", config.cores, {1, 1024}, "that share the lines");
    node.optional("clock", config.clock, {1'000'000, 10'000'000'000}, "of a core");
    node.optional("operations_per_cycle", config.operations_per_cycle, {1, 4096}, "of a core");
    node.optional("streaming_permille", config.streaming_permille, {1, 1000},
                  "of them, what loops that load and store reach in the L1");
    node.optional("line", config.line, {16, 4096}, "of the caches");
    node.optional("fills", config.fills, {1, 1024}, "line fills a core keeps under way");
    node.optional("way", config.way, {1, 1'000'000'000}, "from a core to the memory's controllers");
    if (config.read.count() + config.write.count() == 0) {
        node.error("read", "the loop reads and writes nothing");
    }
    node.done();
    return config;
}

MemoryLoop::MemoryLoop(const MemoryLoopConfig& config, memory::port::MemoryPort& memory,
                       base::stats::Group& parent)
    : config_(config),
      memory_(memory),
      reads_(base::ceil_div(config.read.count(), config.line.count())),
      writes_(base::ceil_div(config.write.count(), config.line.count())),
      cores_(static_cast<std::size_t>(config.cores)) {
    constexpr double kFemtosecondsPerSecond = 1e15;
    const double rate = static_cast<double>(config.clock.count()) *
                        static_cast<double>(config.operations_per_cycle) *
                        static_cast<double>(config.streaming_permille) / 1000;
    line_time_ =
        base::Femtoseconds{std::llround(static_cast<double>(config.operations) / rate /
                                        static_cast<double>(lines()) * kFemtosecondsPerSecond)};
    for (std::int64_t i = 0; i < config.cores; ++i) {
        Core& core = cores_[static_cast<std::size_t>(i)];
        core.next = core.compute = lines() * i / config.cores;
        core.end = lines() * (i + 1) / config.cores;
        core.stats =
            std::make_unique<CoreStats>(parent, fmt::format("host.core({})", i), "host_core");
    }
}

void MemoryLoop::start() {
    open_ = lines() + writes_;
    for (std::size_t i = 0; i < cores_.size(); ++i) {
        for (std::int64_t n = 0; n < config_.fills; ++n) {
            fill(i, base::Femtoseconds{0});
        }
    }
}

// Reads and writes take turns as they stand to each other.
bool MemoryLoop::written(std::int64_t line) const {
    return (line + 1) * writes_ / lines() > line * writes_ / lines();
}

// What is written lies behind what is read.
std::int64_t MemoryLoop::address_of(std::int64_t line) const {
    const std::int64_t before = line * writes_ / lines();  // lines written before this one
    const std::int64_t index = written(line) ? reads_ + before : line - before;
    return index * config_.line.count();
}

void MemoryLoop::fill(std::size_t index, base::Femtoseconds now) {
    Core& core = cores_[index];
    if (core.next == core.end) {
        return;
    }
    const std::int64_t line = core.next++;
    core.answered.push_back(base::kNever);
    memory_.submit(
        {address_of(line), config_.line.count(), false, this,
         static_cast<std::uint64_t>(index) << kCoreShift | static_cast<std::uint64_t>(line),
         now + config_.way});
}

void MemoryLoop::on_memory_complete(std::uint64_t tag, base::Femtoseconds when) {
    if (tag == kWriteBack) {
        --open_;
        finish_ = std::max(finish_, when);
        return;
    }
    const auto index = static_cast<std::size_t>(tag >> kCoreShift);
    const auto line = static_cast<std::int64_t>(tag & ((std::uint64_t{1} << kCoreShift) - 1));
    Core& core = cores_[index];
    core.answered[static_cast<std::size_t>(line - core.compute)] = when;
    compute(index);
}

// Lines in their order, each once it is there; a line that is done makes room for the next fill.
void MemoryLoop::compute(std::size_t index) {
    Core& core = cores_[index];
    while (!core.answered.empty() && core.answered.front() != base::kNever) {
        const base::Femtoseconds begin = std::max(core.free, core.answered.front());
        core.stats->time.charge(LoopState::WaitingForMemory, begin.count());
        core.free = begin + line_time_;
        core.stats->time.charge(LoopState::Computing, core.free.count());
        core.answered.pop_front();
        const std::int64_t line = core.compute++;
        if (written(line)) {
            memory_.submit({address_of(line), config_.line.count(), true, this, kWriteBack,
                            core.free + config_.way});
        }
        --open_;
        finish_ = std::max(finish_, core.free);
        fill(index, core.free);
    }
}

}  // namespace tilesim::arch::host
