#include "workloads/npu/array_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "arch/fabric/fabric_config.hpp"
#include "arch/npu/check/device_use.hpp"

namespace tilesim::workloads::npu {

using arch::memory::port::BackingStore;
using arch::npu::array::Array;
using arch::npu::program::Program;

bool runs_until_quiet(const Program& program) {
    return program.ends_with_sequence && program.sequence.empty() && program.then.empty();
}

ArrayModel::ArrayModel(const Case& a_case, const Program& program, const WorkOfRound& round,
                       Bench& bench, BackingStore* bytes)
    : config_(a_case.device.get<arch::npu::NpuConfig>()),
      program_(program),
      round_(round),
      queue_(bench.queue) {
    add(a_case, program, bench, bytes);
    for (const Program& next : program.then) {
        add(a_case, next, bench, bytes);
    }
}

void ArrayModel::connect(arch::base::ProbeListener* listener) {
    for (const auto& array : arrays_) {
        array->connect(listener);
    }
}

bool ArrayModel::finished() const {
    return last() && present().finished() && !runs_until_quiet(program_);
}

bool ArrayModel::may_rest() const {
    return program_.ends_with_sequence && last() && present().sequence_done();
}

void ArrayModel::finish_statistics() {
    for (const auto& array : arrays_) {
        array->finish_statistics();
    }
}

ArrayFindings ArrayModel::findings() const {
    using arch::npu::program::Direction;
    ArrayFindings all;
    for (std::size_t i = 0; i <= present_; ++i) {
        const Array& array = *arrays_[i];
        const arch::npu::CriticalPath& path = array.critical_path();
        for (std::size_t part = 0; part < all.path.size(); ++part) {
            all.path[part] +=
                static_cast<double>(path.spent(static_cast<arch::npu::PathPart>(part)));
        }
        // One configuration comes behind the other: what they need adds up.
        const auto add = [](ArrayFindings::Need& need, const Array::Use& use) {
            need.from += static_cast<double>(use.from.count());
            need.busy += static_cast<double>(use.busy.count());
        };
        const arch::base::Clock clock{config_.clock};
        const arch::fabric::Fabric::Use way = array.fabric().busiest();
        add(all.shim_in, array.busiest_shim(Direction::MM2S));
        add(all.shim_out, array.busiest_shim(Direction::S2MM));
        add(all.way, {clock.cycle_at(way.from), clock.cycle_at(way.busy)});
        all.first_task += static_cast<double>(array.first_task().count());
    }
    return all;
}

Rounds ArrayModel::rounds() const {
    const Array& array = *arrays_.front();
    const double done = static_cast<double>(array.working_calls()) / round_.calls;
    return {done,
            round_.words > 0 ? static_cast<double>(array.words_written()) / round_.words : done};
}

std::vector<std::string> ArrayModel::not_exercised() const {
    std::vector<std::string> keys = unfelt(*arrays_.front(), program_);
    for (std::size_t i = 1; i < arrays_.size(); ++i) {
        const std::vector<std::string> others = unfelt(*arrays_[i], program_.then[i - 1]);
        std::erase_if(keys, [&](const std::string& key) {
            return std::find(others.begin(), others.end(), key) == others.end();
        });
    }
    return keys;
}

void ArrayModel::add(const Case& a_case, const Program& program, Bench& bench,
                     BackingStore* bytes) {
    const std::size_t number = arrays_.size();
    arrays_.push_back(std::make_unique<Array>(
        config_, a_case.device.get<arch::fabric::FabricConfig>(), program, bench.port, bench.queue,
        bench.root, bytes, number == 0 ? "npu" : fmt::format("npu_configuration{}", number + 1)));
    arrays_.back()->on_finished = [this] {
        if (!last()) {
            const Program& next = program_.then[present_++];
            present().start(next.sets_itself_up ? arch::base::Femtoseconds{0}
                                                : config_.command_processor.reconfiguration);
        } else {
            told_ = true;
            queue_.interrupt();
        }
    };
}

std::vector<std::string> ArrayModel::unfelt(const Array& array, const Program& program) const {
    using arch::npu::program::TileKind;
    std::vector<std::string> keys = arch::npu::check::not_exercised(
        program, config_,
        {array.most_queued(TileKind::Core), array.most_queued(TileKind::Memory),
         array.most_queued(TileKind::Shim)});
    const std::vector<std::string> fabric = array.fabric().not_exercised();
    keys.insert(keys.end(), fabric.begin(), fabric.end());
    // Requests that never wait for their turn or a block go as modifiable ones do.
    const auto named = [&keys](std::string_view key) {
        return std::find(keys.begin(), keys.end(), key) != keys.end();
    };
    if (!config_.shim.modifiable && named("fabric.request_interval") &&
        named("fabric.block_interval") && !named("npu.shim.modifiable")) {
        keys.emplace_back("npu.shim.modifiable");
    }
    return keys;
}

}  // namespace tilesim::workloads::npu
