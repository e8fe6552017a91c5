// Numbers of an AI Engine array: XDNA, XDNA2 and Versal are files over this one structure.
//
// Every member is a key of the device file's `npu` map, read by `read_npu_config`, where units,
// ranges and meanings stand. Sources: docs/modelling.md and the comments of configs/devices/*.yaml.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/base/units.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::base::config {
class Node;
}

namespace tilesim::arch::npu {

// DMA engine and descriptors of one kind of tile.
struct DmaConfig {
    std::int64_t channels = 2;  // per direction
    std::int64_t descriptors = 16;
    std::int64_t dimensions = 3;  // with a step of their own
    std::int64_t length_bits = 14;
    std::int64_t step_bits = 13;
    std::int64_t wrap_bits = 8;      // of all but the outermost dimension
    std::int64_t address_bits = 14;  // words
    std::int64_t task_queue_depth = 4;
    base::Cycles descriptor_latency{4};     // from task or previous descriptor to lock request
    base::Cycles boundary_bubble{1};        // port not ready at each descriptor boundary
    base::Cycles grant_to_stream{12};       // from a lock that was waited for to the first beat
    bool parity_bound_descriptors = false;  // even channels use the lower half, odd the upper
    bool padding = false;                   // MM2S can insert zeros
    std::int64_t repeats = 256;             // most runs of a chain in one task
    bool iteration = true;                  // an offset that advances with every execution
    bool tokens = true;                     // completion tokens
    bool double_buffer = false;             // a descriptor can alternate between two buffers
};

enum class LockKind { Counting, Binary };  // lock_unit.hpp

struct CoreConfig {
    base::Bytes memory{65536};
    base::Bytes stack{1024};
    base::Bytes bank{16384};  // allocation unit
    std::int64_t locks = 16;
    base::Cycles lock_cycles{4};          // an acquire or release occupies the core
    base::Cycles lock_wake{9};            // from the release elsewhere to the core moving on
    base::Cycles call_cycles{10};         // call and return of a kernel
    std::int64_t stream_inputs = 1;       // stream ports the core itself reads,
    std::int64_t stream_outputs = 1;      // and writes, a word a cycle each
    base::Cycles stream_read_latency{7};  // from the read of a stream's word to its use
    // AIE1: the core lies east of its memory in even rows and west of it in odd ones, and the
    // cascade runs the other way in every other row.
    bool alternating_sides = false;
};

struct MemoryTileConfig {
    base::Bytes memory{524288};
    std::int64_t locks = 64;
    std::int64_t neighbour_channels = 4;  // channels that reach east and west neighbours
};

struct ShimConfig {
    std::int64_t locks = 16;
    base::Bytes burst{256};               // largest AXI burst
    std::int64_t outstanding_bursts = 4;  // per channel, reads
    std::int64_t outstanding_writes = 4;  // per channel
    base::BytesPerCycle port_width{8};    // AXI data port of a column, each direction
    base::Bytes data_fifo{2048};          // per channel, between AXI and stream
    base::Cycles task_start{250};         // from a task's start to its first AXI request
    bool modifiable = false;  // requests are marked so (AxCache 2): the NoC may join them
};

struct StreamConfig {
    base::BytesPerCycle width{4};   // of every port of a switch and of a DMA channel
    base::Cycles hop_latency{3};    // per switch crossed
    std::int64_t sink_fifo = 8;     // words behind the last fork
    std::int64_t arbiter_fifo = 5;  // of these, words behind the last arbiter of a packet

    std::int64_t words_per_cycle() const { return width.count() / kWordBytes; }
};

// The 512-bit way between neighbouring cores.
struct CascadeConfig {
    base::Bytes width{64};         // one word, moved in a cycle
    std::int64_t fifo = 2;         // words at each end
    base::Cycles read_latency{7};  // from the read of a word to its use
};

struct CommandProcessorConfig {
    base::Hertz clock{1'000'000'000};      // its own; the cycles below are of this clock
    base::Cycles write_cycles{100};        // one 32-bit register write
    base::Cycles descriptor_cycles{200};   // one block write of a descriptor
    base::Cycles sync_cycles{100};         // taking a token that is there
    base::Femtoseconds dispatch{};         // fixed cost of one launch
    base::Femtoseconds reconfiguration{};  // loading a full array configuration
    base::Femtoseconds copy_start{};       // a copy into tile memory: until its first word
    base::Femtoseconds copy_word{};        // and every 32-bit word of it

    // A descriptor written and its task pushed.
    base::Cycles task_cycles() const { return descriptor_cycles + write_cycles; }
};

// The memory next to the array in the programmable logic.
struct ProgrammableLogicConfig {
    base::Bytes ram{0};  // 0: there is none
};

// One row of the device's matrix-multiply instruction table; see kernel_timing.hpp.
struct MultiplyMode {
    std::string name;  // where several have the same types: what a kernel calls it by
    DataType a = DataType::Int8, b = DataType::Int8, c = DataType::Int8;
    std::int64_t r = 4, s = 8, t = 8;     // mmul shape: C is r x t, s is reduced
    std::int64_t block_rows = 2;          // register blocking: mmuls per C block, vertically
    std::int64_t block_columns = 2;       // and horizontally
    std::int64_t issue_slots = 1;         // vector slots one mmul takes, conversions included
    base::Cycles accumulate_interval{2};  // dependent accumulations on one accumulator
    std::int64_t extra_every = 0;         // one slot is lost every so many mmuls; 0 is none
    bool converting_load = false;         // C loads go through the one up-shifting load slot
    base::Cycles fill_drain{8};           // software-pipeline fill and drain per C block
};

// One row of the device's table of multiplications fed by a stream; see stream_kernel_timing.hpp.
struct StreamMode {
    DataType a = DataType::Int16, b = DataType::Int16, c = DataType::Int16;
    std::int64_t macs = 32;       // multiply-accumulates of one vector instruction
    std::int64_t lane_bits = 48;  // of an accumulator
    std::int64_t steps = 4;       // k steps of a loop body
    base::Cycles fill_drain{22};  // software-pipeline fill and drain of a call
};

struct KernelConfig {
    base::BytesPerCycle load_width{32};  // per load slot
    std::int64_t load_slots = 2;
    base::BytesPerCycle store_width{32};
    std::int64_t vector_lanes = 0;    // f32 elements of a vector instruction; 0: no such kernels
    std::int64_t vector_macs = 32;    // multiply-accumulates of one, on 16-bit operands
    base::Cycles vector_interval{4};  // between dependent sums of floats
    base::Cycles vector_latency{6};   // from a float instruction to its result
    base::Cycles load_latency{7};     // from a vector load to its use
    std::vector<MultiplyMode> modes;
    base::BytesPerCycle stream_read{16};  // the core takes from its stream port in one instruction
    std::int64_t accumulators = 4;        // registers
    std::int64_t accumulator_bits = 768;  // of one register; halves are registers of their own
    std::int64_t vector_registers = 8;    // of load_width each
    base::Cycles accumulate_latency{4};   // from a multiplication to its accumulator
    base::Bytes panel_memory{0};          // of a core, for B; 0: what the stack leaves
    std::vector<StreamMode> stream_modes;
};

struct NpuConfig {
    base::Hertz clock{1'000'000'000};
    std::int64_t columns = 4;
    std::int64_t memory_rows = 1;
    std::int64_t core_rows = 4;
    std::vector<std::int64_t> shim_columns;  // with a shim DMA; empty: all
    LockKind lock_kind = LockKind::Counting;
    DmaConfig core_dma;
    DmaConfig memory_dma;
    DmaConfig shim_dma;
    CoreConfig core;
    MemoryTileConfig memory_tile;
    ShimConfig shim;
    StreamConfig stream;
    CascadeConfig cascade;
    CommandProcessorConfig command_processor;
    ProgrammableLogicConfig programmable_logic;
    KernelConfig kernels;

    std::int64_t rows() const { return 1 + memory_rows + core_rows; }
    program::TileKind kind_of(program::TileCoordinate tile) const;
    bool contains(program::TileCoordinate tile) const;
    bool has_shim_dma(std::int64_t column) const;
    // The first columns alone, as a partition has them; 0: all.
    NpuConfig first_columns(std::int64_t count) const;
    std::int64_t most_lock_value() const;
    const DmaConfig& dma_of(program::TileKind kind) const;
    std::int64_t locks_of(program::TileKind kind) const;  // of such a tile
};

NpuConfig read_npu_config(base::config::Node node);

}  // namespace tilesim::arch::npu
