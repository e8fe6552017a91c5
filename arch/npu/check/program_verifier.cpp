#include "arch/npu/check/program_verifier.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "arch/npu/check/core_checks.hpp"
#include "arch/npu/check/problem_list.hpp"
#include "arch/npu/check/tile_reach.hpp"
#include "arch/npu/core/stream_kernel_timing.hpp"
#include "arch/npu/program/descriptor_chain.hpp"
#include "arch/npu/program/program_work.hpp"
#include "arch/npu/tile/lock_unit.hpp"

namespace tilesim::arch::npu::check {

namespace {

// Fields that are as wide on every kind of tile (aie-rt).
constexpr std::int64_t kMostIterations = 64;             // 6 bits, stored - 1
constexpr std::int64_t kMostPadding[] = {63, 31, 15};    // D0, D1, D2: 6, 5 and 4 bits
constexpr std::int64_t kMostLockValue = 63;              // 7 bits, signed: -64..63
constexpr std::int64_t kPacketTypes = 8;                 // 3 bits
constexpr std::int64_t kBursts[] = {64, 128, 256, 512};  // bytes

std::string tile_name(program::TileCoordinate tile) {
    return fmt::format("tile {},{}", tile.column, tile.row);
}

class Verifier : private ProblemList {
  public:
    Verifier(const program::Program& program, const NpuConfig& config)
        : program_(program), config_(config) {}

    std::vector<std::string> run() {
        check_buffers();
        check_locks();
        check_names();
        std::set<program::TileCoordinate> dmas;
        for (const program::TileDma& dma : program_.dmas) {
            require(dmas.insert(dma.tile).second, "{}: its DMA is described twice",
                    tile_name(dma.tile));
            if (config_.contains(dma.tile)) {
                check_dma(dma);
            } else {
                require(false, "{}: outside the array", tile_name(dma.tile));
            }
        }
        for (const program::SequenceOp& op : program_.sequence) {
            if (const auto* write = std::get_if<program::WriteDescriptor>(&op)) {
                if (config_.contains(write->tile)) {
                    check_descriptor(write->tile, write->descriptor);
                } else {
                    require(false, "{}: outside the array", tile_name(write->tile));
                }
            } else if (const auto* push = std::get_if<program::PushTask>(&op)) {
                check_channel(push->channel);
                check_task(push->channel, push->task);
            } else if (const auto* idle = std::get_if<program::WaitIdle>(&op)) {
                check_channel(idle->channel);
            } else if (const auto* reset = std::get_if<program::ResetChannel>(&op)) {
                check_channel(reset->channel);
            } else if (const auto* restart = std::get_if<program::ResetCore>(&op)) {
                require(config_.contains(restart->tile), "{}: outside the array",
                        tile_name(restart->tile));
            } else if (const auto* acquire = std::get_if<program::AcquireLock>(&op)) {
                check_action("the sequence", acquire->action);
            } else if (const auto* set = std::get_if<program::SetLock>(&op)) {
                require(set->value >= 0 && set->value <= config_.most_lock_value(),
                        "the sequence sets lock {} to {}, must be 0..{}", lock_name(set->lock),
                        set->value, config_.most_lock_value());
            } else if (const auto* copy = std::get_if<program::CopyToTile>(&op)) {
                check_copy(*copy);
            }
        }
        check_routes();
        check_logic_streams();
        for (const program::CoreProgram& core : program_.cores) {
            check_script(core, core.script);
        }
        add(check_cores(program_, config_));
        return take_problems();
    }

  private:
    static auto name(const program::ChannelId& id) {
        return OnDemand{[&id] { return fmt::format("{} {}", tile_name(id.tile), name_of(id)); }};
    }

    void check_names() {
        for (const program::ExternalBuffer& buffer : program_.external_buffers) {
            require(buffer.address % kWordBytes == 0 && buffer.bytes > 0,
                    "external buffer {}: address {} must be a multiple of 4 and its {} bytes more "
                    "than none",
                    buffer.name, buffer.address, buffer.bytes);
        }
    }

    void check_buffers() {
        std::map<program::TileCoordinate, std::vector<const program::Buffer*>> by_tile;
        for (const program::Buffer& buffer : program_.buffers) {
            if (!config_.contains(buffer.tile) || buffer.tile.row == 0) {
                require(false, "buffer {}: {} has no data memory", buffer.name,
                        tile_name(buffer.tile));
                continue;
            }
            const bool core = config_.kind_of(buffer.tile) == program::TileKind::Core;
            const std::int64_t size =
                core ? config_.core.memory.count() : config_.memory_tile.memory.count();
            require(
                buffer.address >= 0 && buffer.bytes > 0 && buffer.address + buffer.bytes <= size,
                "buffer {}: bytes {}..{} lie outside the {} B of {}", buffer.name, buffer.address,
                buffer.address + buffer.bytes, size, tile_name(buffer.tile));
            require(buffer.address % kWordBytes == 0, "buffer {}: address {} is no multiple of 4",
                    buffer.name, buffer.address);
            by_tile[buffer.tile].push_back(&buffer);
        }
        for (auto& [tile, buffers] : by_tile) {
            std::sort(buffers.begin(), buffers.end(),
                      [](const program::Buffer* a, const program::Buffer* b) {
                          return a->address < b->address;
                      });
            for (std::size_t i = 1; i < buffers.size(); ++i) {
                require(buffers[i - 1]->address + buffers[i - 1]->bytes <= buffers[i]->address,
                        "buffers {} and {} of {} overlap", buffers[i - 1]->name, buffers[i]->name,
                        tile_name(tile));
            }
        }
    }

    void check_locks() {
        std::set<std::pair<program::TileCoordinate, std::int64_t>> seen;
        for (const program::Lock& lock : program_.locks) {
            if (!config_.contains(lock.tile)) {
                require(false, "lock {}: {} is outside the array", lock.name, tile_name(lock.tile));
                continue;
            }
            const std::int64_t count = config_.locks_of(config_.kind_of(lock.tile));
            require(lock.id >= 0 && lock.id < count, "lock {}: {} has locks 0..{}, not {}",
                    lock.name, tile_name(lock.tile), count - 1, lock.id);
            require(lock.initial >= 0 && lock.initial <= config_.most_lock_value(),
                    "lock {}: starts at {}, must be 0..{}", lock.name, lock.initial,
                    config_.most_lock_value());
            require(seen.insert({lock.tile, lock.id}).second, "lock {}: id {} of {} is taken",
                    lock.name, lock.id, tile_name(lock.tile));
        }
    }

    void check_dma(const program::TileDma& dma) {
        std::set<std::int64_t> written;
        for (const program::BufferDescriptor& descriptor : dma.descriptors) {
            check_descriptor(dma.tile, descriptor);
            require(written.insert(descriptor.id).second, "{}: descriptor {} is written twice",
                    tile_name(dma.tile), descriptor.id);
        }
        std::map<program::ChannelId, std::int64_t> queued;
        for (const program::TileDma::Start& start : dma.starts) {
            const program::ChannelId id{dma.tile, start.direction, start.channel};
            check_channel(id);
            check_task(id, start.task);
            // One task runs at once, the others queue.
            require(++queued[id] <= config_.dma_of(config_.kind_of(dma.tile)).task_queue_depth + 1,
                    "{}: more tasks at start than its queue holds", name(id));
            const auto chain = program::chain_from(start.task.descriptor, dma);
            for (const program::BufferDescriptor* descriptor : chain.descriptors) {
                check_use(id, *descriptor);
            }
            require(!chain.missing, "{}: its chain leads to descriptor {}, which does not exist",
                    name(id), chain.missing.value_or(0));
        }
    }

    const std::string& lock_name(std::int64_t lock) const {
        return program_.locks[static_cast<std::size_t>(lock)].name;
    }

    void check_action(const std::string& who, const std::optional<program::LockAction>& action) {
        if (action && config_.lock_kind == LockKind::Binary) {
            require(action->value == 0 || action->value == 1,
                    "{}: lock {} is binary: it is acquired and released in state 0 or 1, not {}",
                    who, lock_name(action->lock), action->value);
        }
    }

    void check_copy(const program::CopyToTile& copy) {
        const auto& from = program_.external_buffers[static_cast<std::size_t>(copy.from)];
        const program::Buffer& to = program_.buffers[static_cast<std::size_t>(copy.to)];
        require(copy.offset >= 0 && copy.offset + copy.bytes <= from.bytes && copy.bytes > 0 &&
                    copy.bytes <= to.bytes,
                "copy of bytes {}..{} of {} ({} B) to {} ({} B) is out of range", copy.offset,
                copy.offset + copy.bytes, from.name, from.bytes, to.name, to.bytes);
    }

    void check_descriptor(program::TileCoordinate tile, const program::BufferDescriptor& bd) {
        const program::TileKind kind = config_.kind_of(tile);
        const DmaConfig& dma = config_.dma_of(kind);
        const std::string who = fmt::format("{} descriptor {}", tile_name(tile), bd.id);
        require(bd.id >= 0 && bd.id < dma.descriptors, "{}: ids are 0..{}", who,
                dma.descriptors - 1);
        check_action(who, bd.acquire);
        check_action(who, bd.release);
        require(config_.lock_kind == LockKind::Counting || !bd.acquire || !bd.release ||
                    bd.acquire->lock == bd.release->lock,
                "{}: acquires one lock and releases another; with binary locks a descriptor has "
                "one",
                who);
        require(!bd.iteration || dma.iteration, "{}: this tile's descriptors do not iterate", who);
        if (bd.alternate) {
            require(dma.double_buffer, "{}: this tile's descriptors do not alternate", who);
            check_action(who, bd.alternate->acquire);
            check_action(who, bd.alternate->release);
            program::BufferDescriptor other = bd;
            other.buffer = bd.alternate->buffer;
            other.offset = bd.alternate->offset;
            check_range(kind, other, who + " (alternate)");
        }
        require(bd.length > 0 && bd.length < (std::int64_t{1} << dma.length_bits),
                "{}: length {} words does not fit {} bits", who, bd.length, dma.length_bits);
        require(bd.dimensions.empty() || dma.dimensions > 0,
                "{}: has dimensions, but this tile's transfers are linear", who);
        require(dma.dimensions == 0 ||
                    static_cast<std::int64_t>(bd.dimensions.size()) <= dma.dimensions,
                "{}: {} dimensions, the tile has {}", who, bd.dimensions.size(), dma.dimensions);
        for (std::size_t i = 0; i < bd.dimensions.size(); ++i) {
            const program::Dimension& d = bd.dimensions[i];
            // Steps are stored minus one; the outermost size follows from the length.
            require(d.stride >= 1 && d.stride <= (std::int64_t{1} << dma.step_bits),
                    "{}: step {} of dimension {} does not fit {} bits", who, d.stride, i,
                    dma.step_bits);
            const bool outermost = i + 1 == bd.dimensions.size();
            require(d.size >= 1 && (outermost || d.size < (std::int64_t{1} << dma.wrap_bits)),
                    "{}: wrap {} of dimension {} does not fit {} bits", who, d.size, i,
                    dma.wrap_bits);
        }
        require(bd.padding.empty() || dma.padding, "{}: this tile cannot pad", who);
        for (std::size_t i = 0; i < bd.padding.size(); ++i) {
            const std::int64_t most = i < std::size(kMostPadding) ? kMostPadding[i] : 0;
            require(bd.padding[i].before >= 0 && bd.padding[i].before <= most &&
                        bd.padding[i].after >= 0 && bd.padding[i].after <= most,
                    "{}: padding {} and {} of dimension {} must be 0..{}", who,
                    bd.padding[i].before, bd.padding[i].after, i, most);
        }
        require(bd.padding.size() <= std::max<std::size_t>(1, bd.dimensions.size()),
                "{}: pads {} dimensions of {}", who, bd.padding.size(), bd.dimensions.size());
        check_fields(tile, bd, who);
        check_range(kind, bd, who);
    }

    void check_fields(program::TileCoordinate tile, const program::BufferDescriptor& bd,
                      const std::string& who) {
        const program::TileKind kind = config_.kind_of(tile);
        const DmaConfig& dma = config_.dma_of(kind);
        if (bd.iteration) {
            require(bd.iteration->size >= 1 && bd.iteration->size <= kMostIterations,
                    "{}: iteration size {} is not 1..{}", who, bd.iteration->size, kMostIterations);
            require(bd.iteration->stride >= 0 &&
                        bd.iteration->stride <= (std::int64_t{1} << dma.step_bits),
                    "{}: iteration step {} does not fit {} bits", who, bd.iteration->stride,
                    dma.step_bits);
        }
        if (bd.packet) {
            require(bd.packet->id >= 0 && bd.packet->id < program::kPacketIds &&
                        bd.packet->type >= 0 && bd.packet->type < kPacketTypes,
                    "{}: packet id {} and type {} must be 0..31 and 0..7", who, bd.packet->id,
                    bd.packet->type);
        }
        require(!bd.next || (*bd.next >= 0 && *bd.next < dma.descriptors),
                "{}: next descriptor {} is not 0..{}", who, bd.next.value_or(0),
                dma.descriptors - 1);
        const bool burst = std::find(std::begin(kBursts), std::end(kBursts), bd.burst_bytes) !=
                               std::end(kBursts) &&
                           bd.burst_bytes <= config_.shim.burst.count();
        require(bd.burst_bytes == 0 || (kind == program::TileKind::Shim && burst),
                "{}: bursts of {} B; a shim's are 64, 128 ... up to {} B", who, bd.burst_bytes,
                config_.shim.burst.count());
        const auto check_lock = [&](const std::optional<program::LockAction>& action,
                                    const char* what) {
            if (!action) {
                return;
            }
            const program::Lock& lock = program_.locks[static_cast<std::size_t>(action->lock)];
            require(action->value >= -kMostLockValue - 1 && action->value <= kMostLockValue,
                    "{}: {} value {} is not -64..63", who, what, action->value);
            require(dma_reaches(config_, tile, lock.tile),
                    "{}: {}s lock {} of {}, out of its reach", who, what, lock.name,
                    tile_name(lock.tile));
        };
        check_lock(bd.acquire, "acquire");
        check_lock(bd.release, "release");
    }

    void check_range(program::TileKind kind, const program::BufferDescriptor& bd,
                     const std::string& who) {
        const auto count = static_cast<std::int64_t>(kind == program::TileKind::Shim
                                                         ? program_.external_buffers.size()
                                                         : program_.buffers.size());
        if (bd.buffer < 0 || bd.buffer >= count) {
            require(false, "{}: names no buffer", who);
            return;
        }
        const auto index = static_cast<std::size_t>(bd.buffer);
        const std::int64_t bytes = kind == program::TileKind::Shim
                                       ? program_.external_buffers[index].bytes
                                       : program_.buffers[index].bytes;
        std::int64_t inner = 1;  // words of a step of the outermost dimension
        for (std::size_t i = 0; i + 1 < bd.dimensions.size(); ++i) {
            inner *= bd.dimensions[i].size;
        }
        require(
            bd.dimensions.empty() || (inner > 0 && bd.length >= inner && bd.length % inner == 0),
            "{}: length {} is no multiple of its inner dimensions", who, bd.length);
        const std::int64_t end = bd.offset + program::span_of(bd);
        require(bd.offset >= 0 && bd.offset % kWordBytes == 0 && end <= bytes,
                "{}: reaches byte {} of a buffer of {}", who, end, bytes);
    }

    void check_channel(const program::ChannelId& id) {
        if (!config_.contains(id.tile)) {
            require(false, "{}: outside the array", name(id));
            return;
        }
        const program::TileKind kind = config_.kind_of(id.tile);
        if (id.port == program::PortKind::Core) {
            const bool in = id.direction == program::Direction::S2MM;
            require(kind == program::TileKind::Core &&
                        id.index < (in ? config_.core.stream_inputs : config_.core.stream_outputs),
                    "{}: no such port; cores have {} stream inputs and {} outputs", name(id),
                    config_.core.stream_inputs, config_.core.stream_outputs);
            require(std::any_of(
                        program_.cores.begin(), program_.cores.end(),
                        [&id](const program::CoreProgram& core) { return core.tile == id.tile; }),
                    "{}: the core has no script", name(id));
            return;
        }
        const std::int64_t channels = config_.dma_of(kind).channels;
        require(id.index >= 0 && id.index < channels, "{}: no such channel; it has 0..{}", name(id),
                channels - 1);
        require(kind != program::TileKind::Shim || config_.has_shim_dma(id.tile.column),
                "{}: column {} has no shim DMA; columns {} have", name(id), id.tile.column,
                fmt::join(config_.shim_columns, ", "));
    }

    void check_task(const program::ChannelId& id, const program::Task& task) {
        const DmaConfig& dma = config_.dma_of(config_.kind_of(id.tile));
        require(task.repeat >= 1 && task.repeat <= dma.repeats, "{}: repeat {} is not 1..{}",
                name(id), task.repeat, dma.repeats);
        require(!task.token || dma.tokens,
                "{}: this device's DMAs send no completion tokens; use wait_idle", name(id));
        if (task.out_of_order) {
            require(id.direction == program::Direction::S2MM,
                    "{}: only S2MM takes packets out of order", name(id));
            for (const program::Route& route : program_.routes) {
                const bool ends_here =
                    std::find(route.destinations.begin(), route.destinations.end(), id) !=
                    route.destinations.end();
                require(!ends_here || (route.packet_id && route.keep_header),
                        "{}: takes packets out of order, but route {} brings it no headers; it "
                        "must be a packet route with keep_header",
                        name(id), route.name);
            }
        }
    }

    void check_use(const program::ChannelId& id, const program::BufferDescriptor& bd) {
        const program::TileKind kind = config_.kind_of(id.tile);
        const DmaConfig& dma = config_.dma_of(kind);
        const bool upper = bd.id >= dma.descriptors / 2;
        require(!dma.parity_bound_descriptors || upper == (id.index % 2 == 1),
                "{}: may not use descriptor {}; even channels use the lower half, odd the upper",
                name(id), bd.id);
        require(bd.padding.empty() || id.direction == program::Direction::MM2S,
                "{}: only MM2S pads (descriptor {})", name(id), bd.id);
        if (kind == program::TileKind::Shim || bd.buffer < 0 ||
            bd.buffer >= static_cast<std::int64_t>(program_.buffers.size())) {
            return;
        }
        const auto reaches = [&](program::TileCoordinate at) {
            return at == id.tile || (dma_reaches(config_, id.tile, at) &&
                                     id.index < config_.memory_tile.neighbour_channels);
        };
        const auto check_reach = [&](std::int64_t buffer) {
            const program::TileCoordinate at =
                program_.buffers[static_cast<std::size_t>(buffer)].tile;
            require(reaches(at), "{}: does not reach the memory of {} (descriptor {})", name(id),
                    tile_name(at), bd.id);
        };
        check_reach(bd.buffer);
        if (bd.alternate) {
            check_reach(bd.alternate->buffer);
        }
        for (const auto& action : {bd.acquire, bd.release}) {
            const auto index =
                static_cast<std::size_t>(action.value_or(program::LockAction{}).lock);
            require(!action || reaches(program_.locks[index].tile),
                    "{}: does not reach lock {} (descriptor {})", name(id),
                    action ? program_.locks[index].name : "", bd.id);
        }
    }

    void check_routes() {
        std::map<program::ChannelId, std::string> circuits;
        std::map<std::pair<program::ChannelId, std::int64_t>, std::string> sources;
        for (const program::Route& route : program_.routes) {
            const auto [source, first] =
                sources.emplace(std::pair{route.source, route.packet_id.value_or(-1)}, route.name);
            require(first,
                    "routes {} and {}: both leave {}{}; a broadcast is one route with several "
                    "destinations",
                    source->second, route.name, name(route.source),
                    route.packet_id ? fmt::format(" as packet {}", *route.packet_id) : "");
            require(!route.packet_id ||
                        (*route.packet_id >= 0 && *route.packet_id < program::kPacketIds),
                    "route {}: packet id {} is not 0..31", route.name, route.packet_id.value_or(0));
            require(!route.destinations.empty(), "route {}: has no destination", route.name);
            std::set<program::ChannelId> ends;
            check_channel(route.source);
            require(route.source.direction == program::Direction::MM2S,
                    "route {}: must start at an MM2S", route.name);
            for (const program::ChannelId& to : route.destinations) {
                check_channel(to);
                require(ends.insert(to).second, "route {}: names {} twice", route.name, name(to));
                require(to.direction == program::Direction::S2MM, "route {}: must end at an S2MM",
                        route.name);
                if (!route.packet_id) {
                    const auto [place, added] = circuits.emplace(to, route.name);
                    require(added, "route {}: {} already receives {}", route.name, name(to),
                            place->second);
                }
            }
        }
    }

    void check_logic_streams() {
        std::set<program::TileCoordinate> fed;
        for (const program::LogicStream& stream : program_.logic_streams) {
            const program::ChannelId port{stream.tile, program::Direction::S2MM, 0,
                                          program::PortKind::Core};
            check_channel(port);
            require(config_.programmable_logic.ram.count() > 0,
                    "stream {}: this device has no programmable logic", stream.name);
            require(fed.insert(stream.tile).second, "stream {}: {} is fed twice", stream.name,
                    name(port));
            const auto& buffer = program_.external_buffers[static_cast<std::size_t>(stream.buffer)];
            for (const program::LogicStream::Pass& pass : stream.passes) {
                require(pass.bytes > 0 && pass.offset + pass.bytes <= buffer.bytes,
                        "stream {}: bytes {}..{} lie outside {} ({} B)", stream.name, pass.offset,
                        pass.offset + pass.bytes, buffer.name, buffer.bytes);
            }
        }
    }

    void check_script(const program::CoreProgram& core,
                      const std::vector<program::CoreOp>& script) {
        for (const program::CoreOp& op : script) {
            if (const auto* loop = std::get_if<program::LoopOp>(&op.op)) {
                check_script(core, loop->body);
            } else if (const auto* acquire = std::get_if<program::AcquireOp>(&op.op)) {
                check_action(tile_name(core.tile) + " core", acquire->action);
            } else if (const auto* release = std::get_if<program::ReleaseOp>(&op.op)) {
                check_action(tile_name(core.tile) + " core", release->action);
            } else if (const auto* call = std::get_if<program::CallOp>(&op.op)) {
                const program::Kernel& kernel =
                    program_.kernels[static_cast<std::size_t>(call->kernel)];
                if (kernel.kind == program::KernelKind::Stream) {
                    check_stream_call(core, kernel, *call);
                }
            }
        }
    }

    void check_stream_call(const program::CoreProgram& core, const program::Kernel& kernel,
                           const program::CallOp& call) {
        const std::string who =
            fmt::format("{} core: kernel {}", tile_name(core.tile), kernel.name);
        require(std::any_of(program_.logic_streams.begin(), program_.logic_streams.end(),
                            [&core](const program::LogicStream& s) { return s.tile == core.tile; }),
                "{} reads A from core_in0, which no logic stream feeds", who);
        const program::ChannelId in{core.tile, program::Direction::S2MM, 1,
                                    program::PortKind::Core};
        const program::ChannelId out{core.tile, program::Direction::MM2S, 0,
                                     program::PortKind::Core};
        const auto routed = [this](auto holds) {
            return std::any_of(program_.routes.begin(), program_.routes.end(), holds);
        };
        require(routed([&in](const program::Route& route) {
                    return std::find(route.destinations.begin(), route.destinations.end(), in) !=
                           route.destinations.end();
                }),
                "{} reads C from core_in1, which no route reaches", who);
        require(routed([&out](const program::Route& route) {
                    return route.source == out && !route.packet_id;
                }),
                "{} writes C to core_out0, which no circuit leaves", who);
        if (call.operands.size() != 1) {
            require(false, "{} takes one operand, B", who);
            return;
        }
        for (const std::int64_t index :
             core.rotations[static_cast<std::size_t>(call.operands[0])].buffers) {
            const program::Buffer& b = program_.buffers[static_cast<std::size_t>(index)];
            require(b.bytes >= core::b_bytes(kernel), "{} needs {} B of B, buffer {} has {}", who,
                    core::b_bytes(kernel), b.name, b.bytes);
        }
    }

    const program::Program& program_;
    const NpuConfig& config_;
};

}  // namespace

std::vector<std::string> verify(const program::Program& program, const NpuConfig& config) {
    return Verifier(program, config).run();
}

}  // namespace tilesim::arch::npu::check
