#include "arch/npu/check/device_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <variant>

#include "arch/base/limit.hpp"
#include "arch/npu/check/device_demand.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "arch/npu/core/stream_kernel_timing.hpp"
#include "arch/npu/dma/address_generator.hpp"
#include "arch/npu/program/program_parts.hpp"

namespace tilesim::arch::npu::check {

namespace {

using program::KernelKind;
using program::TileKind;

// What the DMAs of one kind of tile do.
struct DmaUse {
    bool used = false;
    bool chained = false;
    bool acquires = false;  // a descriptor waits for a lock
    bool goes_on = false;   // a descriptor may follow another at once
};

class DeviceUse {
  public:
    DeviceUse(const program::Program& program, const NpuConfig& config)
        : program_(program), config_(config), demand_(demand_of(program, config)) {
        program::for_each_descriptor(
            program, [this](auto tile, const auto& descriptor) { look_at(tile, descriptor); });
        program::for_each_task(
            program, [this](const auto& channel, const auto& task) { look_at(channel, task); });
        for (const program::SequenceOp& op : program.sequence) {
            std::visit([this](const auto& operation) { look_at(operation); }, op);
        }
        for (const program::Route& route : program.routes) {
            packets_ = packets_ || route.packet_id;
        }
        for (const program::CoreProgram& core : program.cores) {
            look_at(core, core.script);
        }
    }

    std::vector<std::string> unused(const NpuPeaks& peaks) {
        spare("npu.columns", demand_.columns, config_.columns);
        spare("npu.core_rows", demand_.core_rows, config_.core_rows);
        name_dma("npu.core_dma.", TileKind::Core, peaks.core_tasks);
        name_dma("npu.memory_dma.", TileKind::Memory, peaks.memory_tasks);
        name_dma("npu.shim_dma.", TileKind::Shim, peaks.shim_tasks);
        name_tiles();
        name_ways();
        name_processor();
        name_kernels();
        return std::move(names_);
    }

  private:
    DmaUse& dma_of(program::TileCoordinate tile) { return dmas_[config_.kind_of(tile)]; }

    // --- what the program says ---

    void look_at(program::TileCoordinate tile, const program::BufferDescriptor& descriptor) {
        DmaUse& use = dma_of(tile);
        use.used = true;
        use.acquires = use.acquires || descriptor.acquire;
        use.chained = use.chained || descriptor.next;
        if (config_.kind_of(tile) == TileKind::Shim && descriptor.burst_bytes == 0 &&
            descriptor.length > 0) {
            const auto run = dma::AddressGenerator(descriptor, 0).take(descriptor.length);
            longest_run_ = std::max(longest_run_, run.words * kWordBytes);
        }
    }
    void look_at(const program::ChannelId& channel, const program::Task& task) {
        DmaUse& use = dma_of(channel.tile);
        use.goes_on = use.goes_on || task.repeat > 1 || use.chained;
    }
    void look_at(const program::WriteDescriptor&) { writes_descriptors_ = true; }
    void look_at(const program::WaitToken&) { syncs_ = true; }
    void look_at(const program::WaitIdle&) { syncs_ = true; }
    void look_at(const program::CopyToTile&) { copies_ = true; }
    void look_at(const auto&) { writes_registers_ = true; }  // queues, parameters, locks

    void look_at(const program::CoreProgram& core, const std::vector<program::CoreOp>& script) {
        for (const program::CoreOp& op : script) {
            if (const auto* loop = std::get_if<program::LoopOp>(&op.op)) {
                look_at(core, loop->body);
            } else if (const auto* call = std::get_if<program::CallOp>(&op.op)) {
                const auto& kernel = program_.kernels[static_cast<std::size_t>(call->kernel)];
                look_at(kernel);
                if (kernel.kind == program::KernelKind::Multiply && !kernel.cycles) {
                    look_at_banks(core, *call);
                }
            } else {
                gets_words_ = gets_words_ || std::holds_alternative<program::GetStreamOp>(op.op);
                locks_ = locks_ || std::holds_alternative<program::AcquireOp>(op.op) ||
                         std::holds_alternative<program::ReleaseOp>(op.op);
            }
        }
    }
    void look_at(const program::Kernel& kernel) {
        calls_ = calls_ || kernel.kind != program::KernelKind::Inline;
        if (kernel.cycles && !kernel.as_modelled) {
            return;
        }
        feels_slots_ = feels_slots_ || feels_slots(kernel);
        if (kernel.kind == program::KernelKind::Stream) {
            stream_kernels_ = true;
            const core::StreamKernelTiming timing(config_.kernels, config_.stream);
            const auto registers = timing.registers(kernel);
            spills_ = spills_ || registers.spilled > 0;
            vectors_ = std::max(vectors_, registers.vectors);
            modes_.insert(&timing.mode_of(kernel));
        } else {
            stored_kernels_ = true;
        }
        if (kernel.kind == KernelKind::Multiply) {
            modes_.insert(&core::KernelTiming(config_.kernels).mode_of(kernel));
        }
        const bool matvec = kernel.kind == program::KernelKind::Matvec;
        vectors_worked_on_ = vectors_worked_on_ || matvec || kernel.kind == KernelKind::Vector;
        feels_lanes_ = feels_lanes_ || matvec ||
                       (kernel.kind == KernelKind::Vector && kernel.iteration_lanes == 0);
        matvecs_ = matvecs_ || matvec;
        sums_ = sums_ || matvec ||
                (kernel.kind == KernelKind::Vector &&
                 program::reach_of(kernel.operation) == program::Reach::Row);
    }
    // Whether a load slot more or less changes the kernel's time.
    bool feels_slots(const program::Kernel& kernel) const {
        const auto cycles = [this, &kernel](const KernelConfig& kernels) {
            switch (kernel.kind) {
                case KernelKind::Fixed:
                case KernelKind::Inline:
                    return base::Cycles{0};
                case KernelKind::Stream:
                    return core::StreamKernelTiming(kernels, config_.stream).cycles(kernel).total();
                default:
                    return core::KernelTiming(kernels).cycles(kernel).total();
            }
        };
        KernelConfig fewer = config_.kernels;
        fewer.load_slots = std::max<std::int64_t>(1, fewer.load_slots - 1);
        KernelConfig more = config_.kernels;
        ++more.load_slots;
        const base::Cycles now = cycles(config_.kernels);
        return cycles(fewer) != now || cycles(more) != now;
    }
    // Whether A and B are loaded from one memory, where they may meet in a bank.
    void look_at_banks(const program::CoreProgram& core, const program::CallOp& call) {
        const auto buffers = [&](std::size_t operand) {
            const auto rotation = static_cast<std::size_t>(call.operands[operand]);
            return core.rotations[rotation].buffers;
        };
        for (const std::int64_t i : buffers(0)) {
            for (const std::int64_t j : buffers(1)) {
                const program::Buffer& a = program_.buffers[static_cast<std::size_t>(i)];
                const program::Buffer& b = program_.buffers[static_cast<std::size_t>(j)];
                loads_both_ = loads_both_ || a.tile == b.tile;
            }
        }
    }

    // --- which keys that leaves ---

    void name_if(bool unused, std::initializer_list<const char*> keys) {
        if (unused) {
            names_.insert(names_.end(), keys.begin(), keys.end());
        }
    }
    // A limit that the program stays below by a tenth.
    void spare(const std::string& key, std::int64_t need, std::int64_t limit) {
        if (base::spares(limit, need)) {
            names_.push_back(key);
        }
    }

    void name_dma(const std::string& map, TileKind kind, std::int64_t tasks) {
        const DmaConfig& dma = config_.dma_of(kind);
        const DmaUse& use = dmas_[kind];
        const DmaDemand& demand = demand_.dmas[kind];
        spare(map + "channels", demand.channels, dma.channels);
        spare(map + "descriptors", demand.descriptors, dma.descriptors);
        spare(map + "dimensions", demand.dimensions, dma.dimensions);
        spare(map + "length_bits", demand.length_bits(), dma.length_bits);
        spare(map + "step_bits", demand.step_bits(), dma.step_bits);
        spare(map + "wrap_bits", demand.wrap_bits(), dma.wrap_bits);
        names_.push_back(map + "address_bits");  // buffers are checked against the memories' sizes
        spare(map + "task_queue_depth", tasks, dma.task_queue_depth);
        if (!use.used) {
            names_.push_back(map + "descriptor_latency");
        }
        if (!use.goes_on) {
            names_.push_back(map + "boundary_bubble");
        }
        if (!use.acquires) {
            names_.push_back(map + "grant_to_stream");
        }
        if (demand.repeats <= 1 || base::spares(dma.repeats, demand.repeats)) {
            names_.push_back(map + "repeats");
        }
    }

    void name_tiles() {
        const TileDemand& core = demand_.tiles[TileKind::Core];
        // Where a buffer lies takes no time, but where two meet in a bank. In which ones they are
        // put follows from how many there are and from what the stack takes of them.
        if (!loads_both_) {
            spare("npu.core.memory", core.bytes, config_.core.memory.count());
            name_if(true, {"npu.core.stack", "npu.core.bank"});
        }
        spare("npu.core.locks", core.locks, config_.core.locks);
        name_if(!locks_, {"npu.core.lock_cycles", "npu.core.lock_wake"});
        name_if(!calls_, {"npu.core.call_cycles"});
        name_if(!gets_words_, {"npu.core.stream_read_latency"});
        spare("npu.core.stream_inputs", demand_.stream_inputs, config_.core.stream_inputs);
        spare("npu.core.stream_outputs", demand_.stream_outputs, config_.core.stream_outputs);
        const TileDemand& memory = demand_.tiles[TileKind::Memory];
        spare("npu.memory_tile.memory", memory.bytes, config_.memory_tile.memory.count());
        spare("npu.memory_tile.locks", memory.locks, config_.memory_tile.locks);
        spare("npu.memory_tile.neighbour_channels", neighbour_channels(),
              config_.memory_tile.neighbour_channels);
        spare("npu.shim.locks", demand_.tiles[TileKind::Shim].locks, config_.shim.locks);
        name_if(
            !dmas_[TileKind::Shim].used,
            {"npu.shim.outstanding_bursts", "npu.shim.outstanding_writes", "npu.shim.port_width",
             "npu.shim.data_fifo", "npu.shim.task_start", "npu.shim.modifiable"});
        // The next shorter burst is half as long.
        name_if(2 * longest_run_ <= config_.shim.burst.count(), {"npu.shim.burst"});
    }

    // Channels of memory tiles up to the last one that reaches into a neighbour.
    std::int64_t neighbour_channels() const {
        bool crosses = false;
        for (const program::TileDma& dma : program_.dmas) {
            crosses = crosses ||
                      (config_.kind_of(dma.tile) == TileKind::Memory &&
                       std::any_of(
                           dma.descriptors.begin(), dma.descriptors.end(),
                           [&](const program::BufferDescriptor& descriptor) {
                               return program_.buffers[static_cast<std::size_t>(descriptor.buffer)]
                                          .tile != dma.tile;
                           }));
        }
        return crosses ? config_.memory_tile.neighbour_channels : 0;
    }

    void name_ways() {
        name_if(program_.routes.empty(),
                {"npu.stream.width", "npu.stream.hop_latency", "npu.stream.sink_fifo"});
        name_if(!packets_, {"npu.stream.arbiter_fifo"});
        name_if(program_.cascades.empty(),
                {"npu.cascade.width", "npu.cascade.fifo", "npu.cascade.read_latency"});
    }

    void name_processor() {
        name_if(!writes_registers_, {"npu.command_processor.write_cycles"});
        name_if(!writes_descriptors_, {"npu.command_processor.descriptor_cycles"});
        name_if(!syncs_, {"npu.command_processor.sync_cycles"});
        name_if(!writes_registers_ && !writes_descriptors_ && !syncs_,
                {"npu.command_processor.clock"});
        // A launch finds the array configured.
        name_if(std::all_of(program_.then.begin(), program_.then.end(),
                            [](const program::Program& next) { return next.sets_itself_up; }),
                {"npu.command_processor.reconfiguration"});
        name_if(!copies_, {"npu.command_processor.copy_start", "npu.command_processor.copy_word"});
        name_if(program_.logic_streams.empty(), {"npu.programmable_logic.ram"});
    }

    // The device's multiplications that no kernel uses, a list's entry each.
    template <class Mode>
    void name_modes(const char* list, const std::vector<Mode>& modes) {
        for (std::size_t i = 0; i < modes.size(); ++i) {
            if (!modes_.contains(&modes[i])) {
                names_.push_back(fmt::format("{}[{}]", list, i));
            }
        }
    }

    void name_kernels() {
        name_modes("npu.kernels.modes", config_.kernels.modes);
        name_modes("npu.kernels.stream_modes", config_.kernels.stream_modes);
        name_if(!stored_kernels_ && !stream_kernels_, {"npu.kernels.load_width"});
        // Loads of A and B meet in a bank where there are two slots.
        const bool meet = loads_both_ && config_.kernels.load_slots <= 2;
        name_if(!feels_slots_ && !meet, {"npu.kernels.load_slots"});
        name_if(!stored_kernels_ && !spills_, {"npu.kernels.store_width"});
        name_if(!stream_kernels_, {"npu.kernels.stream_read", "npu.kernels.accumulators",
                                   "npu.kernels.accumulator_bits"});
        spare("npu.kernels.vector_registers", vectors_, config_.kernels.vector_registers);
        name_if(!spills_, {"npu.kernels.accumulate_latency"});
        name_if(!stream_kernels_, {"npu.kernels.panel_memory"});
        name_if(!feels_lanes_, {"npu.kernels.vector_lanes"});
        name_if(!vectors_worked_on_, {"npu.kernels.vector_latency", "npu.kernels.load_latency"});
        name_if(!matvecs_, {"npu.kernels.vector_macs"});
        name_if(!sums_, {"npu.kernels.vector_interval"});
    }

    const program::Program& program_;
    const NpuConfig& config_;
    DeviceDemand demand_;
    std::map<TileKind, DmaUse> dmas_;
    std::int64_t vectors_ = 0;
    std::int64_t longest_run_ = 0;  // bytes, of those that the shim's own bursts cut
    bool packets_ = false;
    bool writes_registers_ = false;
    bool writes_descriptors_ = false;
    bool syncs_ = false;
    bool copies_ = false;
    bool locks_ = false;
    bool calls_ = false;
    bool gets_words_ = false;  // from a core's own stream
    bool stored_kernels_ = false;
    bool loads_both_ = false;
    bool feels_slots_ = false;
    bool vectors_worked_on_ = false;
    bool feels_lanes_ = false;
    bool matvecs_ = false;
    bool sums_ = false;
    bool stream_kernels_ = false;
    bool spills_ = false;
    std::set<const void*> modes_;  // of either kind
    std::vector<std::string> names_;
};

}  // namespace

std::vector<std::string> not_exercised(const program::Program& program, const NpuConfig& config,
                                       const NpuPeaks& peaks) {
    return DeviceUse(program, config).unused(peaks);
}

}  // namespace tilesim::arch::npu::check
