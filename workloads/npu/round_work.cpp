#include "workloads/npu/round_work.hpp"

#include <set>
#include <variant>

#include "arch/base/clock.hpp"
#include "arch/npu/program/program_work.hpp"

namespace tilesim::workloads::npu {

using arch::npu::program::Program;

WorkOfRound work_of_round(const Program& program, double rounds) {
    const auto work = rounds > 0 ? arch::npu::program::work_of(program) : std::nullopt;
    if (!work || work->words_written == 0) {
        return {};
    }
    if (static_cast<double>(work->write_runs) < rounds) {  // the shims do not tell rounds apart
        return {static_cast<double>(work->calls) / rounds, 0};
    }
    return {static_cast<double>(work->calls) / rounds,
            static_cast<double>(work->words_written) / rounds};
}

arch::base::Femtoseconds least_leaving(const Program& program, const WorkOfRound& round,
                                       const arch::npu::NpuConfig& config) {
    std::set<arch::npu::program::ChannelId> channels;
    for (const auto& operation : program.sequence) {
        const auto* push = std::get_if<arch::npu::program::PushTask>(&operation);
        if (push != nullptr && push->channel.direction == arch::npu::program::Direction::S2MM) {
            channels.insert(push->channel);
        }
    }
    if (channels.empty()) {
        return {};
    }
    const double cycles = round.words / static_cast<double>(channels.size()) /
                          static_cast<double>(config.stream.words_per_cycle());
    return arch::base::Clock{config.clock}.time_of(
        arch::base::Cycles{static_cast<std::int64_t>(cycles)});
}

}  // namespace tilesim::workloads::npu
