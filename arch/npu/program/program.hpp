// A program: everything an AI Engine array executes, as plain data.
//
// The contract between `workloads/` (which lower a problem to a program), program files (which say
// the same in YAML) and the array (which runs it). Fields follow the hardware registers (Xilinx
// aie-rt, AMD AM020); lengths, sizes and strides count 32-bit words as the registers do, addresses
// count bytes.
//
// `where`: the entry or operation of a file that a part was read from, for messages.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "arch/base/file_place.hpp"
#include "arch/npu/program/kernel.hpp"
#include "arch/npu/program/switch_port.hpp"

namespace tilesim::arch::npu {

inline constexpr std::int64_t kWordBytes = 4;  // of streams, descriptors and registers

}  // namespace tilesim::arch::npu

namespace tilesim::arch::npu::program {

// Column 0 is the westernmost; row 0 the shim row, row 1 the memory tiles where the array has them,
// cores above.
struct TileCoordinate {
    std::int64_t column = 0;
    std::int64_t row = 0;
    auto operator<=>(const TileCoordinate&) const = default;
};

enum class TileKind { Shim, Memory, Core };
enum class Direction { S2MM, MM2S };  // stream to memory, memory to stream

enum class PortKind { Dma, Core };

// A DMA channel, or a stream port of the core itself (MM2S: it writes, S2MM: it reads).
struct ChannelId {
    TileCoordinate tile;
    Direction direction = Direction::MM2S;
    std::int64_t index = 0;
    PortKind port = PortKind::Dma;
    auto operator<=>(const ChannelId&) const = default;
};
// "mm2s0", "s2mm1", "core_out0", "core_in1".
std::string name_of(const ChannelId& channel);

// A counting semaphore and its value at start, 0..63; or a binary lock and its state, 0 or 1.
struct Lock {
    std::string name;
    TileCoordinate tile;
    std::int64_t id = 0;
    std::int64_t initial = 0;
    base::FilePlace where = {};
};

// The address of a buffer that is still to be placed (buffer_placement.hpp).
inline constexpr std::int64_t kUnplaced = -1;

// A named range of a core's or memory tile's data memory.
struct Buffer {
    std::string name;
    TileCoordinate tile;
    std::int64_t address = 0;  // bytes from the start of the tile's own memory; or kUnplaced
    std::int64_t bytes = 0;
    base::FilePlace where = {};
};

// A named range of DRAM, the program's argument ("A", "B", "C").
struct ExternalBuffer {
    std::string name;
    std::int64_t address = 0;  // bytes, physical
    std::int64_t bytes = 0;
    base::FilePlace where = {};
};

// A lock operation. Acquire: value < 0 waits for state >= |value| and subtracts |value|;
// value >= 0 waits for state == value. Release: adds value.
// Binary locks: acquire waits until the lock is free in state `value`, release frees it in state
// `value`. `lock` indexes Program::locks.
struct LockAction {
    std::int64_t lock = 0;
    std::int64_t value = 0;
};

struct Dimension {
    std::int64_t size = 1;    // steps (the "wrap" register)
    std::int64_t stride = 1;  // words
    bool operator==(const Dimension&) const = default;
};

struct Padding {
    std::int64_t before = 0;  // words for D0, steps for D1 and D2
    std::int64_t after = 0;
};

// An address offset that advances once per execution of the descriptor.
struct Iteration {
    std::int64_t size = 1;     // executions before the offset starts again at 0
    std::int64_t stride = 0;   // words
    std::int64_t current = 0;  // of the first execution, 0..size - 1
};

struct Packet {
    std::int64_t id = 0;    // 5 bits
    std::int64_t type = 0;  // 3 bits
    // The receiver's descriptor, where its channel takes packets out of order; 6 bits.
    std::int64_t descriptor = 0;
    // The header is the first word of the data: the channel adds none.
    bool in_data = false;
};

// The other half of a descriptor that alternates between two buffers (AIE1's A/B mode): every
// second execution uses these instead.
struct Alternate {
    std::int64_t buffer = 0;
    std::int64_t offset = 0;  // bytes
    std::optional<LockAction> acquire;
    std::optional<LockAction> release;
};

// Where a descriptor's addresses start: in a buffer of its tile (or, for memory tiles, of a
// neighbour), or in a DRAM argument for shim tiles. Indexes Program::buffers / ::external_buffers.
struct BufferDescriptor {
    std::int64_t id = 0;
    std::int64_t buffer = 0;            // index into Program::buffers (shim: ::external_buffers)
    std::int64_t offset = 0;            // bytes into the buffer, a multiple of 4
    std::int64_t length = 0;            // words moved from or to memory, padding not counted
    std::vector<Dimension> dimensions;  // D0 (innermost) first; empty is linear
    std::optional<Iteration> iteration;
    std::vector<Padding> padding;  // D0 first; memory tile MM2S only
    std::optional<LockAction> acquire;
    std::optional<LockAction> release;
    std::optional<std::int64_t> next;  // descriptor id
    std::optional<Packet> packet;
    std::int64_t burst_bytes = 0;  // shim only; 0 is the device's largest
    std::optional<Alternate> alternate;
    base::FilePlace where = {};
};

// What is pushed on a channel's task queue.
struct Task {
    std::int64_t descriptor = 0;  // id of the first descriptor of the chain
    std::int64_t repeat = 1;      // 1..256 runs of the chain
    bool token = false;           // send a task-complete token at the end
    // S2MM: the header of each packet, which the channel takes off, names its descriptor;
    // `descriptor` and the chain behind it do not count, and `repeat` counts packets.
    bool out_of_order = false;
    base::FilePlace where = {};
};

// Descriptors and tasks of one tile's DMA at configuration time. Shim descriptors are usually
// written by the run-time sequence instead.
struct TileDma {
    TileCoordinate tile;
    std::vector<BufferDescriptor> descriptors;
    struct Start {
        Direction direction = Direction::MM2S;
        std::int64_t channel = 0;
        Task task;
    };
    std::vector<Start> starts;
    base::FilePlace where = {};
};

inline constexpr std::int64_t kPacketIds = 32;  // 5 bits of a packet's header

// A stream from one DMA channel to one or several. Circuit-switched without `packet_id`.
// `path`: the switches it crosses; filled in by the router when empty.
struct Hop {
    TileCoordinate tile;
    SwitchPort in;
    SwitchPort out;
    // Packet-switched: which of the switch's arbiters passes it; left out: one of its own per port.
    std::optional<std::int64_t> arbiter = {};
};
struct Route {
    std::string name;
    ChannelId source;                     // MM2S
    std::vector<ChannelId> destinations;  // S2MM; more than one is a broadcast
    std::optional<std::int64_t> packet_id;
    bool keep_header = false;
    std::vector<Hop> path;
    // Of a route that keeps headers: destinations whose port drops them.
    std::vector<ChannelId> without_header = {};
    base::FilePlace where = {};
};
// Whether a packet's header reaches the receiver.
bool keeps_header(const Route& route, const ChannelId& destination);

// An arbiter that passes the packets of its switch's inputs in a fixed order ("deterministic
// merge"): so many of the first turn's input, then of the next one's, and again from the first.
// Packets that come in by other ports never pass it.
struct Merge {
    TileCoordinate tile;
    std::int64_t arbiter = 0;
    struct Turn {
        SwitchPort in;
        std::int64_t packets = 1;
        bool operator==(const Turn&) const = default;
    };
    std::vector<Turn> turns;
    base::FilePlace where = {};
};

// The 512-bit way from a core to the one east or south of it. A core has one in, one out.
struct Cascade {
    std::string name;
    TileCoordinate from;
    TileCoordinate to;
    base::FilePlace where = {};
};

// The buffers an operand takes in turn: double buffering is two entries. Each call that uses the
// rotation moves on by one; `rotation` indexes CoreProgram::rotations.
struct Rotation {
    std::string name;
    std::vector<std::int64_t> buffers;  // indexes Program::buffers
    std::int64_t parts = 1;  // each buffer is taken in so many equal parts, one after the other
    // A walk, where `length` is not 0: through the only buffer, so many words at a time, from
    // `offset` (words) on, and with every turn a step further: D0 first, again from its beginning
    // when all have been made.
    std::int64_t length = 0;
    std::int64_t offset = 0;
    std::vector<Dimension> dimensions = {};
};
// Words from its buffer's beginning that a walk has come to at a turn, counted from 0.
std::int64_t place_of_turn(const Rotation& walk, std::int64_t turn);

// Core script. `Loop` counts may come from a run-time parameter.
struct CoreOp;
struct AcquireOp {
    LockAction action;
};
struct ReleaseOp {
    LockAction action;
};
struct CallOp {
    std::int64_t kernel = 0;  // index into Program::kernels
    // Indexes CoreProgram::rotations: Multiply, Matvec and Add A, B, C; AddValue A, C; Zero C;
    // Vector A, B where it reads one, C.
    std::vector<std::int64_t> operands;
    std::vector<std::int64_t> advance;  // rotations that move on after this call
};
// Where the words of a cascade or stream operation come from or go to. With nothing of it zeros are
// put, and what is got is dropped: only their time counts.
struct WordPlace {
    std::optional<std::int64_t> operand = {};      // indexes CoreProgram::rotations
    bool advance = false;                          // it moves on behind the operation
    std::optional<std::int64_t> in_register = {};  // a number: put what a get left there
    std::optional<std::int64_t> value = {};        // of a word that is put, 32 bits
    bool operator==(const WordPlace&) const = default;
};
// Words of 512 bits to the core's outgoing cascade, or from its incoming one.
struct PutCascadeOp {
    std::int64_t words = 1;
    WordPlace place = {};
};
struct GetCascadeOp {
    std::int64_t words = 1;
    WordPlace place = {};
};
// Words of 32 bits to the core's own stream output `port`, or from its stream input.
struct PutStreamOp {
    std::int64_t port = 0;
    std::int64_t words = 1;
    WordPlace place = {};
    // Of a port whose routes are packets': the id in the header, which is the first of the words
    // where no packet is under way.
    std::optional<std::int64_t> packet = {};
    bool ends_packet = false;  // with its last word (TLAST)
};
struct GetStreamOp {
    std::int64_t port = 0;
    std::int64_t words = 1;
    WordPlace place = {};
};
struct LoopOp {
    std::int64_t count = 1;                 // when `parameter` is not set; -1 is for ever
    std::optional<std::int64_t> parameter;  // index of the core's run-time parameter
    std::vector<CoreOp> body;
};
struct CoreOp {
    std::variant<AcquireOp, ReleaseOp, CallOp, LoopOp, PutCascadeOp, GetCascadeOp, PutStreamOp,
                 GetStreamOp>
        op;
    base::FilePlace where = {};
};

// A memory of the programmable logic playing its contents on a core's stream input 0: passes in
// order, each `repeat` times from front to back. The bytes are those of an external buffer.
struct LogicStream {
    std::string name;
    TileCoordinate tile;
    std::int64_t buffer = 0;           // index into Program::external_buffers
    std::int64_t bytes_per_cycle = 0;  // 0: as fast as the core reads
    struct Pass {
        std::int64_t offset = 0;  // bytes
        std::int64_t bytes = 0;
        std::int64_t repeat = 1;
    };
    std::vector<Pass> passes;
    base::FilePlace where = {};
};

struct CoreProgram {
    TileCoordinate tile;
    std::vector<Rotation> rotations;
    std::vector<CoreOp> script;
    std::vector<std::int64_t> parameters = {};  // at start, by their indexes; the others: 0
    // Cycles from the array's start until the loader has enabled the core: it enables one after
    // the other.
    std::int64_t enabled = 0;
    base::FilePlace where = {};
};

// The run-time sequence the command processor executes, in order.
struct WriteDescriptor {  // block write + address patch of a descriptor
    TileCoordinate tile;
    BufferDescriptor descriptor;
    base::FilePlace where = {};
};
struct PushTask {  // write to a channel's start-queue register
    ChannelId channel;
    Task task;
    base::FilePlace where = {};
};
struct WaitToken {  // sync: waits for and takes one completion token of the channel
    ChannelId channel;
    base::FilePlace where = {};
};
struct WriteParameter {  // run-time parameter of a core
    TileCoordinate tile;
    std::int64_t index = 0;
    std::int64_t value = 0;
    base::FilePlace where = {};
};
struct SetLock {
    std::int64_t lock = 0;  // index into Program::locks
    std::int64_t value = 0;
    base::FilePlace where = {};
};
struct WaitIdle {  // polls a channel's status until it has no task left
    ChannelId channel;
    std::optional<std::int64_t> queued = {};  // or so many wait in its queue at most
    base::FilePlace where = {};
};
struct AcquireLock {
    LockAction action;
    base::FilePlace where = {};
};
struct CopyToTile {           // the host writes a tile's data memory, word by word
    std::int64_t from = 0;    // index into Program::external_buffers
    std::int64_t offset = 0;  // bytes into it
    std::int64_t bytes = 0;
    std::int64_t to = 0;  // index into Program::buffers, filled from its start
    base::FilePlace where = {};
};
struct ResetChannel {  // drops a channel's queue and task; memory and descriptors stay
    ChannelId channel;
    base::FilePlace where = {};
};
struct ResetCore {  // a core begins its script again; locks and memory stay
    TileCoordinate tile;
    base::FilePlace where = {};
};
struct WriteRegisters {  // of which nothing here depends: switches, programs, trace units
    std::int64_t writes = 0;
    base::FilePlace where = {};
};
using SequenceOp =
    std::variant<WriteDescriptor, PushTask, WaitToken, WriteParameter, SetLock, WaitIdle,
                 AcquireLock, CopyToTile, ResetChannel, ResetCore, WriteRegisters>;
base::FilePlace where(const SequenceOp& op);
// Operations from the `first` on were read from there, unless they say where.
void set_where(std::vector<SequenceOp>& sequence, std::size_t first, base::FilePlace where);

struct Program {
    std::string name;
    std::string file = {};  // that every `where` is a place in; empty where none was read
    // The array's first columns, beyond which nothing lies and no stream goes: the partition it is
    // for. 0: all.
    std::int64_t columns = 0;
    std::vector<Lock> locks;
    std::vector<Buffer> buffers;
    std::vector<ExternalBuffer> external_buffers;
    std::vector<TileDma> dmas;
    std::vector<Route> routes;
    std::vector<Merge> merges = {};
    std::vector<ChannelId> traced = {};  // trace units feed them: here nothing arrives
    std::vector<LogicStream> logic_streams;
    std::vector<Cascade> cascades;
    std::vector<Kernel> kernels;
    std::vector<CoreProgram> cores;
    std::vector<SequenceOp> sequence;
    // The host waits for the sequence alone: transfers that never end are left behind, not a
    // deadlock.
    bool ends_with_sequence = false;
    // The sequence writes the configuration itself, register by register (WriteRegisters, at its
    // beginning): where it stands in `then`, the firmware loads none.
    bool sets_itself_up = false;
    // Configurations loaded one after the other when the sequence has ended and the shim tiles are
    // quiet: each begins with its own locks, descriptors and scripts. They name the same external
    // buffers, in the same order, and have none behind them.
    std::vector<Program> then = {};
};

}  // namespace tilesim::arch::npu::program
