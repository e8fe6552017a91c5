// Scripts for cores whose bodies are not in the file (an elf_file, or no aie.core at all): what
// their DMA's locks ask of them.
#include <fmt/format.h>

#include <numeric>

#include "arch/npu/program/descriptor_chain.hpp"
#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir {

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
    for (const program::SequenceOp& operation : program.sequence) {
        if (const auto* set = std::get_if<program::SetLock>(&operation)) {
            released.insert(set->lock);
        } else if (const auto* write = std::get_if<program::WriteDescriptor>(&operation)) {
            add_released(write->descriptor, released);
        }
    }
    return released;
}

// A run of descriptors from one that acquires to one that releases: what the core hands over whole.
struct HandOver {
    program::LockAction taken;  // by the channel
    program::LockAction given;
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
        const auto chain = program::chain_from(start.task.descriptor, dma);
        for (const program::BufferDescriptor* descriptor : chain.descriptors) {
            taken = descriptor->acquire ? descriptor->acquire : taken;
            if (taken && descriptor->release) {
                port.chain.push_back({*taken, *descriptor->release});
                taken.reset();
            }
        }
        if (!port.chain.empty()) {
            ports.push_back(std::move(port));
        }
    }
    return ports;
}

program::CoreOp take(const program::LockAction& given) {
    return {program::AcquireOp{{given.lock, -std::abs(given.value)}}};
}
program::CoreOp give(const program::LockAction& taken) {
    return {program::ReleaseOp{{taken.lock, std::abs(taken.value)}}};
}

program::CoreProgram script_of(const program::TileDma& dma, const BodylessCore& core,
                               std::int64_t kernel) {
    const std::vector<CorePort> ports = ports_of(dma);
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
    program.tile = dma.tile;
    program.script.push_back({std::move(loop)});
    return program;
}

}  // namespace

void add_bodyless_cores(Lowering& lowering) {
    const auto released = released_locks(lowering.program);
    std::set<program::TileCoordinate> with_script;
    for (const program::CoreProgram& core : lowering.program.cores) {
        with_script.insert(core.tile);
    }
    std::optional<std::int64_t> kernel;
    for (const program::TileDma& dma : lowering.program.dmas) {
        const bool core = lowering.config.kind_of(dma.tile) == program::TileKind::Core;
        const program::BufferDescriptor* waiting = nullptr;
        for (const program::BufferDescriptor& descriptor : dma.descriptors) {
            if (descriptor.acquire && !released.contains(descriptor.acquire->lock)) {
                waiting = &descriptor;
            }
        }
        if (!core || waiting == nullptr || with_script.contains(dma.tile)) {
            continue;
        }
        if (!lowering.options.costs.default_core) {
            const auto lock = static_cast<std::size_t>(waiting->acquire->lock);
            lowering.errors.emplace_back(
                lowering.device.where,
                fmt::format("the core of tile {},{} has no body in this file, but its DMA waits "
                            "for lock {} that nobody else gives; state what such cores do in the "
                            "side file: default_core: {{cycles: 1000 cycle, inputs_per_output: 1}}",
                            dma.tile.column, dma.tile.row, lowering.program.locks[lock].name));
            continue;
        }
        const BodylessCore& stated = *lowering.options.costs.default_core;
        if (!kernel) {
            kernel = static_cast<std::int64_t>(lowering.program.kernels.size());
            program::Kernel fixed;
            fixed.name = unique_name(lowering.program.kernels, "default_core");
            fixed.cycles = stated.cycles;
            lowering.program.kernels.push_back(fixed);
        }
        lowering.program.cores.push_back(script_of(dma, stated, *kernel));
        lowering.note(
            "cores without a body follow default_core: they take every input's block, work, and "
            "give every output's");
    }
}

}  // namespace tilesim::workloads::npu::mlir
