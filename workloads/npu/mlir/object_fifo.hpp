// Object FIFOs of a design: what they state, and the buffers, locks and channels they become.
//
// Source:  mlir-aie's pass AIEObjectFifoStatefulTransform and the operations' definitions
// (AIEOps.td).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir {

constexpr std::int64_t kMostDepth = 1024;  // elements at an end

// What a scenario says about a FIFO in place of the design: `design.object_fifos.NAME`.
struct FifoOverride {
    std::optional<std::int64_t> depth;
    std::optional<bool> via_dma;
    std::optional<program::TileCoordinate> memory;  // of a FIFO two cores share
};

// Locks of a pool's elements, by their index in the program: how many the producer may still fill,
// how many the consumer may take. Binary locks: one of each element, both the same.
struct LockPair {
    std::int64_t producer = 0;
    std::int64_t consumer = 0;
};

// A part of every element of a pool that has its own locks; elements of the memref.
struct FifoSegment {
    std::int64_t offset = 0;
    std::int64_t length = 0;
    std::string name{};  // where it has one
};

// Elements in one tile's memory.
struct FifoPool {
    program::TileCoordinate tile;
    MemrefType element;
    std::vector<std::int64_t> buffers{};  // of the program; at a shim its external ones
    // So many elements in one buffer, through which a descriptor's iteration goes; empty: a buffer
    // and a descriptor each.
    std::optional<std::int64_t> iterated{};
    std::vector<LockPair> locks{};        // one; a branch of a link has its own; empty: none
    std::vector<FifoSegment> segments{};  // where they are stated: a pair of locks each
    std::int64_t repeat = 1;              // times each element is taken
    bool spilled = false;                 // some lie in a neighbour's memory
    std::int64_t depth() const {
        return iterated.value_or(static_cast<std::int64_t>(buffers.size()));
    }
};

struct FifoEnd {
    program::TileCoordinate tile;
    const Item* dimensions = nullptr;  // to or from the stream
    std::optional<std::int64_t> depth{};
    std::vector<std::int64_t> banks{};          // of its elements, where stated
    std::optional<std::int64_t> pinned{};       // DMA channel
    std::optional<std::int64_t> stream_port{};  // the core's own, in place of a pool and a DMA
    std::optional<std::size_t> pool{};          // of Lowering::fifo_pools
    std::optional<program::ChannelId> channel{};
    std::vector<std::int64_t> external{};  // buffers in DRAM registered at a shim's end
    std::vector<std::size_t> segments{};   // of the pool: those it fills or drains, where stated
    std::vector<std::vector<Item>> segment_dimensions{};  // to or from the stream, a segment each
    std::vector<std::vector<Item>> segment_padding{};     // of what is sent, likewise
    std::optional<std::int64_t> passes{};                 // over the ring; without: for ever
    // An end of this FIFO on the same tile has the channel and its descriptors for this one, too.
    std::optional<std::size_t> shares{};
};

struct ObjectFifo {
    std::string name;
    const Operation* operation = nullptr;
    FifoEnd producer;
    std::vector<FifoEnd> consumers{};
    MemrefType element{};
    MemrefType consumer_element{};
    std::int64_t single_depth = 1;  // of ends without one of their own
    bool dma = false;
    bool shared = false;  // asked to be in a memory both ends reach
    std::optional<bool> forced_dma{};
    std::optional<program::TileCoordinate> memory{};  // where two cores share it
    bool synchronized = true;
    std::int64_t repeat = 1;
    std::optional<std::int64_t> iterations{};
    std::int64_t initial_values = 0;
    std::vector<const Item*> contents{};  // of its first elements, as they are written
    bool pads = false;
    bool iterates = false;  // iterate_bds: its elements on a memory tile are one buffer
    bool linked_in = false, linked_out = false;  // by its consumer, by its producer
    bool stated = false;    // its pools are: what the compiler's split leaves, see FifoEndpoints
    bool one_end = false;   // the stream is stated beside it, as a flow
    bool left_out = false;  // no channels: its shim has too few, and the sequence does without it
    bool packets = false;   // its stream, where it has one, is packets of one header
    std::optional<program::Packet> packet{};  // the header, where it is stated or chosen
    std::int64_t packet_type = 0;             // of a header whose id is chosen
    // FIFOs, among them this one, to which the producer's elements go in turn, over one channel.
    std::vector<std::size_t> turns{};
    // Tasks that were started at configuration time, and the locks' beginning, to do it again.
    std::vector<std::pair<program::ChannelId, program::Task>> started{};

    // Whether one of its ends is a core's own stream.
    bool on_a_stream() const;
    // The end a core's acquire and release mean; nullptr where the core has none.
    const FifoEnd* end_at(program::TileCoordinate tile, bool produces) const;
};

struct FifoLink {
    Location where{};
    std::vector<std::size_t> inputs{}, outputs{};  // of Lowering::fifos
    std::vector<std::int64_t> offsets{};           // of the pieces, elements
    bool in_turns = false;  // whole elements, one branch after the other, over one channel
    std::size_t pool = 0;
    const std::vector<std::size_t>& branches() const {
        return inputs.size() > 1 ? inputs : outputs;
    }
};

// From a channel to others.
struct FifoStream {
    program::ChannelId from;
    std::vector<program::ChannelId> to;
    std::optional<program::Packet> packet{};
};

struct Lowering;
// aie.objectfifo.acquire and release: @name(Produce, 1). Throws ReadError.
struct FifoUse {
    std::size_t fifo = 0;  // of Lowering::fifos
    bool produces = false;
    std::int64_t count = 0;
};
FifoUse read_fifo_use(const Lowering& lowering, const Operation& operation);
// The FIFO of this name. Throws ReadError.
const ObjectFifo& fifo_named(const Lowering& lowering, const std::string& name, Location where);

}  // namespace tilesim::workloads::npu::mlir
