#include "workloads/npu/mlir/core/bodyless_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "arch/npu/program/descriptor_chain.hpp"
#include "arch/npu/program/script_walk.hpp"
#include "workloads/npu/mlir/chosen_sequence.hpp"
#include "workloads/npu/mlir/core/core_body.hpp"
#include "workloads/npu/mlir/core/kernel_costs.hpp"
#include "workloads/npu/mlir/syntax/attributes.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::core {

namespace {

constexpr std::int64_t kMostRounds = 64;  // unrolled until the chains begin again together

void add_released(const std::vector<program::CoreOp>& script, std::set<std::int64_t>& released) {
    for (const program::CoreOp& op : script) {
        if (const auto* release = std::get_if<program::ReleaseOp>(&op.op)) {
            released.insert(release->action.lock);
        } else if (const auto* loop = std::get_if<program::LoopOp>(&op.op)) {
            add_released(loop->body, released);
        }
    }
}

void add_released(const program::BufferDescriptor& descriptor, std::set<std::int64_t>& released) {
    if (descriptor.release) {
        released.insert(descriptor.release->lock);
    }
}

// Locks that something in the program gives.
std::set<std::int64_t> released_locks(const program::Program& program) {
    std::set<std::int64_t> released;
    for (const program::CoreProgram& core : program.cores) {
        add_released(core.script, released);
    }
    for (const program::TileDma& dma : program.dmas) {
        for (const program::BufferDescriptor& descriptor : dma.descriptors) {
            add_released(descriptor, released);
        }
    }
    std::set<program::TileCoordinate> started;
    for (const program::TileDma& dma : program.dmas) {
        started.insert(dma.tile);
    }
    for (const program::SequenceOp& operation : program.sequence) {
        if (const auto* set = std::get_if<program::SetLock>(&operation)) {
            const program::Lock& lock = program.locks[static_cast<std::size_t>(set->lock)];
            if (set->value != 0 && started.contains(lock.tile)) {  // before: where it begins
                released.insert(set->lock);
            }
        } else if (const auto* write = std::get_if<program::WriteDescriptor>(&operation)) {
            add_released(write->descriptor, released);
        } else if (const auto* push = std::get_if<program::PushTask>(&operation)) {
            started.insert(push->channel.tile);
        }
    }
    return released;
}

// The tiles' channels with the descriptors they are started with: at configuration, or by a
// sequence that sets the array up itself (as `aiecc --expand-load-pdis` writes it). Of several
// starts the first counts: the core is enabled behind it.
std::vector<program::TileDma> started_dmas(const program::Program& program) {
    std::vector<program::TileDma> dmas = program.dmas;
    const auto of = [&dmas](program::TileCoordinate tile) -> program::TileDma& {
        const auto place = std::find_if(dmas.begin(), dmas.end(),
                                        [tile](const auto& dma) { return dma.tile == tile; });
        return place != dmas.end() ? *place : dmas.emplace_back(program::TileDma{tile, {}, {}});
    };
    for (const program::SequenceOp& operation : program.sequence) {
        if (const auto* write = std::get_if<program::WriteDescriptor>(&operation)) {
            program::TileDma& dma = of(write->tile);
            const auto place =
                std::find_if(dma.descriptors.begin(), dma.descriptors.end(),
                             [write](const auto& each) { return each.id == write->descriptor.id; });
            if (place == dma.descriptors.end()) {
                dma.descriptors.push_back(write->descriptor);
            } else if (dma.starts.empty()) {
                *place = write->descriptor;
            }
        } else if (const auto* push = std::get_if<program::PushTask>(&operation)) {
            std::vector<program::TileDma::Start>& starts = of(push->channel.tile).starts;
            const bool known = std::any_of(starts.begin(), starts.end(), [push](const auto& each) {
                return each.direction == push->channel.direction &&
                       each.channel == push->channel.index;
            });
            if (!known) {
                starts.push_back({push->channel.direction, push->channel.index, push->task});
            }
        }
    }
    return dmas;
}

// A run of descriptors from one that acquires to one that releases: what the core hands over whole.
struct HandOver {
    program::LockAction taken;  // by the channel
    program::LockAction given;
    std::int64_t words = 0;
};
struct CorePort {  // a channel as the core sees it
    bool input = false;
    std::vector<HandOver> chain;
};

std::vector<CorePort> ports_of(const program::TileDma& dma) {
    std::vector<CorePort> ports;
    for (const program::TileDma::Start& start : dma.starts) {
        CorePort port{start.direction == program::Direction::S2MM, {}};
        std::optional<program::LockAction> taken;
        std::int64_t words = 0;
        const auto chain = program::chain_from(start.task.descriptor, dma);
        for (const program::BufferDescriptor* descriptor : chain.descriptors) {
            taken = descriptor->acquire ? descriptor->acquire : taken;
            words += descriptor->length;
            if (taken && descriptor->release) {
                port.chain.push_back({*taken, *descriptor->release, std::exchange(words, 0)});
                taken.reset();
            }
        }
        if (!port.chain.empty()) {
            ports.push_back(std::move(port));
        }
    }
    return ports;
}

// What a core does of which nothing is stated: it reads a block of every input once, through its
// load ports.
BodylessCore assumed(const Lowering& lowering, const std::vector<CorePort>& ports) {
    std::int64_t bytes = 0;
    for (const CorePort& port : ports) {
        bytes += port.input ? port.chain.front().words * kWordBytes : 0;
    }
    return {std::max<std::int64_t>(1, through_load_ports(lowering, bytes)), 1};
}

program::CoreOp take(const program::LockAction& given) {
    return {program::AcquireOp{{given.lock, -std::abs(given.value)}}};
}
program::CoreOp give(const program::LockAction& taken) {
    return {program::ReleaseOp{{taken.lock, std::abs(taken.value)}}};
}

program::CoreProgram script_of(program::TileCoordinate tile, const std::vector<CorePort>& ports,
                               const BodylessCore& core, std::int64_t kernel) {
    std::int64_t rounds = 1;
    for (const CorePort& port : ports) {
        rounds =
            std::min(kMostRounds, std::lcm(rounds, static_cast<std::int64_t>(port.chain.size())));
    }
    const auto at = [](const CorePort& port, std::int64_t number) -> const HandOver& {
        return port.chain[static_cast<std::size_t>(number) % port.chain.size()];
    };
    program::LoopOp loop;
    loop.count = -1;
    for (std::int64_t round = 0; round < rounds; ++round) {
        for (const CorePort& port : ports) {
            if (!port.input) {
                loop.body.push_back(take(at(port, round).given));
            }
        }
        for (std::int64_t input = 0; input < core.inputs_per_output; ++input) {
            const std::int64_t number = round * core.inputs_per_output + input;
            for (const CorePort& port : ports) {
                if (port.input) {
                    loop.body.push_back(take(at(port, number).given));
                }
            }
            loop.body.push_back({program::CallOp{kernel, {}, {}}});
            for (const CorePort& port : ports) {
                if (port.input) {
                    loop.body.push_back(give(at(port, number).taken));
                }
            }
        }
        for (const CorePort& port : ports) {
            if (!port.input) {
                loop.body.push_back(give(at(port, round).taken));
            }
        }
    }
    program::CoreProgram program;
    program.tile = tile;
    program.script.push_back({std::move(loop)});
    return program;
}

const Operation* core_at(const Lowering& lowering, program::TileCoordinate tile) {
    for (const Operation& operation : lowering.body()) {
        if (operation.name == "aie.core" && tile_of(lowering, operation) == tile) {
            return &operation;
        }
    }
    return nullptr;
}

// Without a sequence and without a core on the tile, its locks are the host's.
bool host_serves(Lowering& lowering, const Operation* core) {
    return sequence_of(lowering) == nullptr && !is_configuration(lowering) && core == nullptr;
}

// One kernel for all cores that work as long.
std::int64_t kernel_of(Lowering& lowering, std::int64_t cycles) {
    auto& kernels = lowering.program.kernels;
    const std::string name = "default_core";
    const auto place = std::find_if(kernels.begin(), kernels.end(), [&](const auto& kernel) {
        return kernel.name.starts_with(name) && kernel.cycles == cycles;
    });
    if (place != kernels.end()) {
        return place - kernels.begin();
    }
    program::Kernel fixed;
    fixed.name = unique_name(kernels, name);
    fixed.cycles = cycles;
    kernels.push_back(fixed);
    return static_cast<std::int64_t>(kernels.size()) - 1;
}

// Whether a core leaves its channels' locks to functions whose code is elsewhere: it calls some,
// and does nothing with a lock or a stream itself.
bool leaves_locks_to_functions(const Lowering& lowering, const Operation& core,
                               const std::vector<program::CoreOp>& script) {
    if (program::holds_any_of<program::AcquireOp, program::ReleaseOp>(script) ||
        program::moves_words(script)) {
        return false;
    }
    std::set<std::string> without_code;
    for (const Operation& each : lowering.body()) {
        if (each.name == "func.func" && each.regions().empty()) {
            without_code.insert(symbol_of(each));
        }
    }
    bool calls = false;
    walk({core}, [&](const Operation& each) {
        calls = calls || (each.name == "func.call" && without_code.contains(symbol_of(each)));
    });
    return calls;
}

std::string what_is_missing(bool has_core, bool calls, program::TileCoordinate tile) {
    if (calls) {
        return fmt::format(
            "the core of tile {},{} uses no locks, and its channels wait for them: "
            "left to the functions it calls, once for each block",
            tile.column, tile.row);
    }
    return has_core
               ? fmt::format("the core of tile {},{} has no body in this file", tile.column,
                             tile.row)
               : fmt::format("tile {},{} has no core in this file, and its channels wait for one",
                             tile.column, tile.row);
}

}  // namespace

void add_bodyless_cores(Lowering& lowering) {
    const auto released = released_locks(lowering.program);
    auto& cores = lowering.program.cores;
    const bool stated = lowering.options.costs.default_core.has_value();
    const bool others_have_cores =
        std::any_of(lowering.body().begin(), lowering.body().end(),
                    [](const Operation& each) { return each.name == "aie.core"; });
    for (const program::TileDma& dma : started_dmas(lowering.program)) {
        const bool at_core = lowering.config.kind_of(dma.tile) == program::TileKind::Core;
        const bool waits =
            std::any_of(dma.descriptors.begin(), dma.descriptors.end(), [&](const auto& each) {
                return each.acquire && !released.contains(each.acquire->lock);
            });
        if (!at_core || !waits) {
            continue;
        }
        const Operation* const core = core_at(lowering, dma.tile);
        const auto script =
            std::find_if(cores.begin(), cores.end(),
                         [&](const program::CoreProgram& each) { return each.tile == dma.tile; });
        const bool calls = core != nullptr && script != cores.end() &&
                           leaves_locks_to_functions(lowering, *core, script->script);
        const bool has_own = script != cores.end() || (core != nullptr && has_body(*core));
        if ((has_own && !calls) || (!stated && host_serves(lowering, core))) {
            continue;
        }
        const std::vector<CorePort> ports = ports_of(dma);
        if (ports.empty()) {
            continue;
        }
        if (!stated && core == nullptr && others_have_cores) {
            lowering.note(
                fmt::format("tile {},{} has no core, as others have: what its channels "
                            "wait for comes from nobody; default_core gives it one",
                            dma.tile.column, dma.tile.row));
            continue;
        }
        const BodylessCore does =
            stated ? *lowering.options.costs.default_core : assumed(lowering, ports);
        if (calls) {
            cores.erase(script);
        }
        cores.push_back(script_of(dma.tile, ports, does, kernel_of(lowering, does.cycles)));
        lowering.note(
            stated ? std::string{"cores without a body follow default_core: they take every "
                                 "input's block, work, and give every output's"}
                   : fmt::format("{}; assumed: it takes a block of every input, reads them once "
                                 "through its load port ({} cycles), and gives a block of every "
                                 "output; state what it does as default_core: {{cycles: {} cycle, "
                                 "inputs_per_output: 1}}",
                                 what_is_missing(core != nullptr, calls, dma.tile), does.cycles,
                                 does.cycles));
    }
}

}  // namespace tilesim::workloads::npu::mlir::core
