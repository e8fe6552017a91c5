#include "arch/npu/npu_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "arch/base/check.hpp"
#include "arch/base/config.hpp"

namespace tilesim::arch::npu {

using base::config::Node;
using base::config::Range;

namespace {

constexpr Range kCycles{0, 1'000'000};
constexpr std::int64_t kFemtosecondsPerSecond = 1'000'000'000'000'000;

void read_dma(Node node, DmaConfig& dma) {
    const Range bits{1, 48};
    node.optional("channels", dma.channels, {1, 16}, "DMA channels per direction");
    node.optional("descriptors", dma.descriptors, {1, 64}, "buffer descriptors of the tile");
    node.optional("dimensions", dma.dimensions, {0, 4},
                  "dimensions with a step of their own; 0: linear transfers only");
    node.optional("length_bits", dma.length_bits, bits, "width of the length field (words)");
    node.optional("step_bits", dma.step_bits, bits, "width of a step field (words, stored - 1)");
    node.optional("wrap_bits", dma.wrap_bits, bits, "width of a wrap field");
    node.optional("address_bits", dma.address_bits, bits, "width of the base address (words)");
    node.optional("task_queue_depth", dma.task_queue_depth, {1, 64}, "tasks a channel can queue");
    node.optional("descriptor_latency", dma.descriptor_latency, kCycles,
                  "from a task's start to its first lock request");
    node.optional("boundary_bubble", dma.boundary_bubble, kCycles,
                  "cycles without a word between descriptors");
    node.optional("grant_to_stream", dma.grant_to_stream, kCycles,
                  "from a lock that was waited for to the first word");
    node.optional("parity_bound_descriptors", dma.parity_bound_descriptors,
                  "even channels use the lower half of the descriptors, odd ones the upper");
    node.optional("padding", dma.padding, "MM2S can insert zero words");
    node.optional("repeats", dma.repeats, {1, 256}, "most runs of a chain in one task");
    node.optional("iteration", dma.iteration, "an offset advances with every execution");
    node.optional("tokens", dma.tokens, "tasks can send completion tokens");
    node.optional("double_buffer", dma.double_buffer,
                  "a descriptor can alternate between two buffers and their locks");
    node.done();
}

void read_core(Node node, CoreConfig& core) {
    node.optional("memory", core.memory, {1024, 1 << 24}, "data memory of a core");
    node.optional("stack", core.stack, {0, 1 << 20}, "part of it the stack takes");
    node.optional("bank", core.bank, {1024, 1 << 24},
                  "logical bank: buffers in use together are "
                  "kept apart where they fit");
    node.optional("locks", core.locks, {1, 64}, "locks of a core tile");
    node.optional("lock_cycles", core.lock_cycles, kCycles, "a lock operation occupies the core");
    node.optional("lock_wake", core.lock_wake, kCycles,
                  "from the release that ends a wait to the "
                  "core going on");
    node.optional("call_cycles", core.call_cycles, kCycles, "call of and return from a kernel");
    node.optional("stream_inputs", core.stream_inputs, {0, 8}, "stream ports the core reads");
    node.optional("stream_outputs", core.stream_outputs, {0, 8}, "stream ports the core writes");
    node.optional("stream_read_latency", core.stream_read_latency, {1, 1000},
                  "from the read of a stream's word to its use");
    node.optional("alternating_sides", core.alternating_sides,
                  "a core reaches the memory east of its own in even rows, west in odd ones");
    if (core.stack >= core.memory) {
        node.error("stack", fmt::format("must be smaller than memory, {} B, got {} B",
                                        core.memory.count(), core.stack.count()));
    }
    node.done();
}

void read_shim(Node node, ShimConfig& shim) {
    node.optional("locks", shim.locks, {1, 64}, "locks of a shim tile");
    node.optional("burst", shim.burst, {64, 4096},
                  "largest AXI burst; those of longer runs end at multiples of it");
    node.optional("outstanding_bursts", shim.outstanding_bursts, {1, 1024},
                  "read bursts a channel keeps under way");
    node.optional("outstanding_writes", shim.outstanding_writes, {1, 1024},
                  "write bursts a channel keeps under way");
    node.optional("port_width", shim.port_width, {4, 64},
                  "AXI data port of a column, each direction");
    node.optional("data_fifo", shim.data_fifo, {64, 1 << 20},
                  "a channel's buffer between AXI and stream");
    node.optional("task_start", shim.task_start, {0, 100'000},
                  "from a task's start to its first AXI request");
    node.optional("modifiable", shim.modifiable,
                  "descriptors mark their requests so (AxCache 2; mlir-aie's default since "
                  "September 2025): the NoC may join them");
    if (!std::has_single_bit(static_cast<std::uint64_t>(shim.burst.count()))) {
        node.error("burst", fmt::format("must be a power of two, got {} B", shim.burst.count()));
    }
    if (shim.data_fifo < shim.burst) {
        node.error("data_fifo", "must hold a burst");
    }
    node.done();
}

void read_stream(Node node, StreamConfig& stream) {
    node.optional("width", stream.width, {4, 64}, "moved in a cycle by every port and DMA channel");
    node.optional("hop_latency", stream.hop_latency, {1, 100}, "cycles per stream switch");
    node.optional("sink_fifo", stream.sink_fifo, {1, 1024},
                  "words that still enter when a receiver has stopped");
    node.optional("arbiter_fifo", stream.arbiter_fifo, {0, 1024},
                  "of these, words of a packet that fit behind its last arbiter");
    if (stream.arbiter_fifo > stream.sink_fifo) {
        node.error("arbiter_fifo", fmt::format("must not exceed sink_fifo, {}, got {}",
                                               stream.sink_fifo, stream.arbiter_fifo));
    }
    if (stream.width.count() % kWordBytes != 0) {
        node.error("width", "must be a multiple of 4 B/cycle");
    }
    node.done();
}

void read_cascade(Node node, CascadeConfig& cascade) {
    node.optional("width", cascade.width, {4, 1024}, "a word, moved in a cycle");
    node.optional("fifo", cascade.fifo, {1, 64}, "words at each end");
    node.optional("read_latency", cascade.read_latency, {1, 1000},
                  "from the read of a word to its use");
    if (cascade.width.count() % 4 != 0) {
        node.error("width", "must be a multiple of 4 B");
    }
    node.done();
}

void read_command_processor(Node node, CommandProcessorConfig& processor) {
    const Range time{0, kFemtosecondsPerSecond};
    const Range cycles{0, 10'000'000};
    node.optional("clock", processor.clock, {1'000'000, 10'000'000'000},
                  "of the processor; its cycles below are of this clock");
    node.optional("write_cycles", processor.write_cycles, cycles, "one 32-bit register write");
    node.optional("descriptor_cycles", processor.descriptor_cycles, cycles,
                  "block write of a descriptor and its address patch");
    node.optional("sync_cycles", processor.sync_cycles, cycles, "taking a token that is there");
    node.optional("dispatch", processor.dispatch, time, "fixed cost of a launch");
    node.optional("reconfiguration", processor.reconfiguration, time,
                  "loading a full array configuration");
    node.optional("copy_start", processor.copy_start, time,
                  "host copy into tile memory: until its first word");
    node.optional("copy_word", processor.copy_word, time,
                  "host copy into tile memory: every 32-bit word");
    node.done();
}

MultiplyMode read_mode(Node node) {
    MultiplyMode mode;
    const Range shape{1, 64};
    node.optional("name", mode.name,
                  "what a kernel calls it by, where several have the same types");
    node.required("a", mode.a, kDataTypes, "type of A");
    node.required("b", mode.b, kDataTypes, "type of B");
    node.required("c", mode.c, kDataTypes, "type of C");
    node.required("r", mode.r, shape, "rows of C of one mmul");
    node.required("s", mode.s, shape, "reduced elements of one mmul");
    node.required("t", mode.t, shape, "columns of C of one mmul");
    node.optional("block_rows", mode.block_rows, {1, 16}, "mmuls of a register block, down");
    node.optional("block_columns", mode.block_columns, {1, 16},
                  "mmuls of a register block, across");
    node.optional("issue_slots", mode.issue_slots, {1, 64}, "vector slots one mmul takes");
    node.optional("accumulate_interval", mode.accumulate_interval, {1, 64},
                  "between dependent accumulations");
    node.optional("extra_every", mode.extra_every, {0, 1024},
                  "one slot is lost every so many mmuls; 0: none");
    node.optional("converting_load", mode.converting_load,
                  "C is up-shifted on load, which one slot can");
    node.optional("fill_drain", mode.fill_drain, {0, 1000},
                  "software-pipeline fill and drain of a C block");
    node.done();
    return mode;
}

StreamMode read_stream_mode(Node node) {
    StreamMode mode;
    node.required("a", mode.a, kDataTypes, "type of A, read from a stream");
    node.required("b", mode.b, kDataTypes, "type of B, in the core's memory");
    node.required("c", mode.c, kDataTypes, "type of C, read from and written to streams");
    node.required("macs", mode.macs, {1, 4096}, "multiply-accumulates of a vector instruction");
    node.optional("lane_bits", mode.lane_bits, {8, 128}, "bits of an accumulator lane");
    node.optional("steps", mode.steps, {1, 64}, "k steps of a loop body");
    node.optional("fill_drain", mode.fill_drain, {0, 1000},
                  "software-pipeline fill and drain of a call");
    node.done();
    return mode;
}

void read_kernels(Node node, KernelConfig& kernels) {
    node.optional("load_width", kernels.load_width, {4, 1024}, "vector load");
    node.optional("load_slots", kernels.load_slots, {1, 8}, "loads a cycle");
    node.optional("store_width", kernels.store_width, {4, 1024}, "vector store, one a cycle");
    node.optional("vector_lanes", kernels.vector_lanes, {0, 1024},
                  "f32 elements of a vector instruction; 0: no matrix-vector or element kernels");
    node.optional("vector_macs", kernels.vector_macs, {1, 4096},
                  "multiply-accumulates of a vector instruction on 16-bit operands");
    node.optional("vector_interval", kernels.vector_interval, {1, 64},
                  "between dependent sums of float vectors");
    node.optional("vector_latency", kernels.vector_latency, {1, 64},
                  "from a float vector instruction to its result");
    node.optional("load_latency", kernels.load_latency, {1, 64}, "from a vector load to its use");
    for (const Node& entry : node.list("modes", "matrix-multiply modes by data type")) {
        kernels.modes.push_back(read_mode(entry));
    }
    node.optional("stream_read", kernels.stream_read, {4, 64},
                  "taken from a stream port by one instruction");
    node.optional("accumulators", kernels.accumulators, {1, 64}, "accumulator registers");
    node.optional("accumulator_bits", kernels.accumulator_bits, {64, 4096},
                  "bits of an accumulator register; each half is a register of its own");
    node.optional("vector_registers", kernels.vector_registers, {1, 256},
                  "vector registers, each as wide as a load");
    node.optional("accumulate_latency", kernels.accumulate_latency, {1, 64},
                  "from a multiplication to its accumulator's value");
    node.optional("panel_memory", kernels.panel_memory, {0, 1 << 24},
                  "memory of a core for both halves of B; 0: what the stack leaves");
    for (const Node& entry : node.list("stream_modes", "multiplications fed by a stream")) {
        kernels.stream_modes.push_back(read_stream_mode(entry));
        if (kernels.accumulator_bits % (2 * kernels.stream_modes.back().lane_bits) != 0) {
            node.error(
                "accumulator_bits",
                fmt::format("each half must hold whole lanes of {} bits, got {}",
                            kernels.stream_modes.back().lane_bits, kernels.accumulator_bits));
        }
    }
    node.done();
}

DmaConfig memory_tile_dma() {
    DmaConfig dma;
    dma.channels = 6;
    dma.descriptors = 48;
    dma.dimensions = 4;
    dma.length_bits = 17;
    dma.step_bits = 17;
    dma.wrap_bits = 10;
    dma.address_bits = 19;
    dma.parity_bound_descriptors = true;
    dma.padding = true;
    return dma;
}

DmaConfig shim_tile_dma() {
    DmaConfig dma;
    dma.length_bits = 32;
    dma.step_bits = 20;
    dma.wrap_bits = 10;
    dma.address_bits = 46;
    return dma;
}

}  // namespace

program::TileKind NpuConfig::kind_of(program::TileCoordinate tile) const {
    return tile.row == 0             ? program::TileKind::Shim
           : tile.row <= memory_rows ? program::TileKind::Memory
                                     : program::TileKind::Core;
}

bool NpuConfig::contains(program::TileCoordinate tile) const {
    return tile.column >= 0 && tile.column < columns && tile.row >= 0 && tile.row < rows();
}

bool NpuConfig::has_shim_dma(std::int64_t column) const {
    return shim_columns.empty() ||
           std::find(shim_columns.begin(), shim_columns.end(), column) != shim_columns.end();
}

NpuConfig NpuConfig::first_columns(std::int64_t count) const {
    NpuConfig part = *this;
    part.columns = count > 0 ? std::min(count, columns) : columns;
    return part;
}

std::int64_t NpuConfig::most_lock_value() const {
    constexpr std::int64_t kSixBits = 63;
    return lock_kind == LockKind::Binary ? 1 : kSixBits;
}

std::int64_t NpuConfig::locks_of(program::TileKind kind) const {
    return kind == program::TileKind::Core     ? core.locks
           : kind == program::TileKind::Memory ? memory_tile.locks
                                               : shim.locks;
}

const DmaConfig& NpuConfig::dma_of(program::TileKind kind) const {
    switch (kind) {
        case program::TileKind::Shim:
            return shim_dma;
        case program::TileKind::Memory:
            return memory_dma;
        case program::TileKind::Core:
            return core_dma;
    }
    return core_dma;
}

NpuConfig read_npu_config(Node node) {
    NpuConfig config;
    config.memory_dma = memory_tile_dma();
    config.shim_dma = shim_tile_dma();
    constexpr std::int64_t kMega = 1'000'000;
    node.optional("clock", config.clock, {kMega, 10'000 * kMega}, "clock of the array");
    node.optional("columns", config.columns, {1, 64}, "columns of the array");
    node.optional("memory_rows", config.memory_rows, {0, 2}, "rows of memory tiles");
    node.optional("core_rows", config.core_rows, {1, 16}, "rows of cores");
    for (Node& entry : node.list("shim_columns", "columns with a shim DMA; left out: all")) {
        config.shim_columns.push_back(entry.integer({0, config.columns - 1}));
    }
    std::set<std::int64_t> once(config.shim_columns.begin(), config.shim_columns.end());
    if (once.size() < config.shim_columns.size()) {
        node.error("shim_columns", "names a column twice");
    }
    node.optional("lock_kind", config.lock_kind,
                  {{"counting", LockKind::Counting}, {"binary", LockKind::Binary}},
                  "what the locks of the array are");
    read_dma(node.child("core_dma", "DMA of core tiles"), config.core_dma);
    read_dma(node.child("memory_dma", "DMA of memory tiles"), config.memory_dma);
    read_dma(node.child("shim_dma", "DMA of shim tiles"), config.shim_dma);
    read_core(node.child("core", "core tiles"), config.core);
    Node tile = node.child("memory_tile", "memory tiles");
    tile.optional("memory", config.memory_tile.memory, {1024, 1 << 26}, "memory of the tile");
    tile.optional("locks", config.memory_tile.locks, {1, 64}, "locks of the tile");
    tile.optional("neighbour_channels", config.memory_tile.neighbour_channels, {0, 16},
                  "channels that reach the east and west neighbours");
    tile.done();
    read_shim(node.child("shim", "shim tiles"), config.shim);
    read_stream(node.child("stream", "stream switches"), config.stream);
    read_cascade(node.child("cascade", "core to core, one word a cycle"), config.cascade);
    read_command_processor(node.child("command_processor", "run-time sequence"),
                           config.command_processor);
    Node logic = node.child("programmable_logic", "next to the array");
    logic.optional("ram", config.programmable_logic.ram, {0, std::int64_t{1} << 40},
                   "its block and ultra RAM");
    logic.done();
    read_kernels(node.child("kernels", "core kernels"), config.kernels);
    if (config.lock_kind == LockKind::Binary && config.memory_rows > 0) {
        node.error("lock_kind",
                   "must be counting with memory tiles: AIE1, which has binary locks, has none");
    }
    node.done();
    return config;
}

}  // namespace tilesim::arch::npu
