#include "arch/npu/program_verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "arch/npu/core_checks.hpp"
#include "arch/npu/lock_unit.hpp"
#include "arch/npu/tile_reach.hpp"

namespace tilesim::arch::npu {

namespace {

constexpr std::int64_t kMostRepeats = 256;  // 8-bit field, stored - 1
constexpr std::int64_t kWordBytes = 4;
// Fields that are as wide on every kind of tile (aie-rt).
constexpr std::int64_t kMostIterations = 64;             // 6 bits, stored - 1
constexpr std::int64_t kMostPadding[] = {63, 31, 15};    // D0, D1, D2: 6, 5 and 4 bits
constexpr std::int64_t kMostLockValue = 63;              // 7 bits, signed: -64..63
constexpr std::int64_t kPacketIds = 32;                  // 5 bits
constexpr std::int64_t kPacketTypes = 8;                 // 3 bits
constexpr std::int64_t kBursts[] = {64, 128, 256, 512};  // bytes

std::string tile_name(TileCoordinate tile) {
    return fmt::format("tile {},{}", tile.column, tile.row);
}

class Verifier {
  public:
    Verifier(const Program& program, const NpuConfig& config)
        : program_(program), config_(config) {}

    std::vector<std::string> run() {
        check_buffers();
        check_locks();
        check_names();
        std::set<TileCoordinate> dmas;
        for (const TileDma& dma : program_.dmas) {
            require(dmas.insert(dma.tile).second, "{}: its DMA is described twice",
                    tile_name(dma.tile));
            if (config_.contains(dma.tile)) {
                check_dma(dma);
            } else {
                require(false, "{}: outside the array", tile_name(dma.tile));
            }
        }
        for (const SequenceOp& op : program_.sequence) {
            if (const auto* write = std::get_if<WriteDescriptor>(&op)) {
                if (config_.contains(write->tile)) {
                    check_descriptor(write->tile, write->descriptor);
                } else {
                    require(false, "{}: outside the array", tile_name(write->tile));
                }
            } else if (const auto* push = std::get_if<PushTask>(&op)) {
                check_channel(push->channel);
                check_task(push->channel, push->task);
            }
        }
        check_routes();
        for (std::string& problem : check_cores(program_, config_)) {
            problems_.push_back(std::move(problem));
        }
        return std::move(problems_);
    }

  private:
    template <class... Parts>
    void require(bool holds, fmt::format_string<Parts...> text, Parts&&... parts) {
        if (!holds) {
            problems_.push_back(fmt::format(text, std::forward<Parts>(parts)...));
        }
    }

    void check_names() {
        for (const ExternalBuffer& buffer : program_.external_buffers) {
            require(buffer.address % kWordBytes == 0 && buffer.bytes > 0,
                    "external buffer {}: address {} must be a multiple of 4 and its {} bytes more "
                    "than none",
                    buffer.name, buffer.address, buffer.bytes);
        }
    }

    void check_buffers() {
        std::map<TileCoordinate, std::vector<const Buffer*>> by_tile;
        for (const Buffer& buffer : program_.buffers) {
            if (!config_.contains(buffer.tile) || buffer.tile.row == 0) {
                require(false, "buffer {}: {} has no data memory", buffer.name,
                        tile_name(buffer.tile));
                continue;
            }
            const bool core = config_.kind_of(buffer.tile) == TileKind::Core;
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
                      [](const Buffer* a, const Buffer* b) { return a->address < b->address; });
            for (std::size_t i = 1; i < buffers.size(); ++i) {
                require(buffers[i - 1]->address + buffers[i - 1]->bytes <= buffers[i]->address,
                        "buffers {} and {} of {} overlap", buffers[i - 1]->name, buffers[i]->name,
                        tile_name(tile));
            }
        }
    }

    void check_locks() {
        std::set<std::pair<TileCoordinate, std::int64_t>> seen;
        for (const Lock& lock : program_.locks) {
            if (!config_.contains(lock.tile)) {
                require(false, "lock {}: {} is outside the array", lock.name, tile_name(lock.tile));
                continue;
            }
            const TileKind kind = config_.kind_of(lock.tile);
            const std::int64_t count = kind == TileKind::Core     ? config_.core.locks
                                       : kind == TileKind::Memory ? config_.memory_tile.locks
                                                                  : config_.shim.locks;
            require(lock.id >= 0 && lock.id < count, "lock {}: {} has locks 0..{}, not {}",
                    lock.name, tile_name(lock.tile), count - 1, lock.id);
            require(lock.initial >= 0 && lock.initial <= LockUnit::kMost,
                    "lock {}: starts at {}, must be 0..63", lock.name, lock.initial);
            require(seen.insert({lock.tile, lock.id}).second, "lock {}: id {} of {} is taken",
                    lock.name, lock.id, tile_name(lock.tile));
        }
    }

    void check_dma(const TileDma& dma) {
        std::map<std::int64_t, const BufferDescriptor*> by_id;
        for (const BufferDescriptor& descriptor : dma.descriptors) {
            check_descriptor(dma.tile, descriptor);
            require(by_id.emplace(descriptor.id, &descriptor).second,
                    "{}: descriptor {} is written twice", tile_name(dma.tile), descriptor.id);
        }
        std::map<ChannelId, std::int64_t> queued;
        for (const TileDma::Start& start : dma.starts) {
            const ChannelId id{dma.tile, start.direction, start.channel};
            check_channel(id);
            check_task(id, start.task);
            // One task runs at once, the others queue.
            require(++queued[id] <= config_.dma_of(config_.kind_of(dma.tile)).task_queue_depth + 1,
                    "{}: more tasks at start than its queue holds", name(id));
            std::set<std::int64_t> seen;
            std::optional<std::int64_t> next = start.task.descriptor;
            while (next && seen.insert(*next).second) {
                const auto place = by_id.find(*next);
                if (place == by_id.end()) {
                    require(false, "{}: its chain leads to descriptor {}, which does not exist",
                            name(id), *next);
                    break;
                }
                check_use(id, *place->second);
                next = place->second->next;
            }
        }
    }

    static std::string name(const ChannelId& id) {
        return fmt::format("{} {}{}", tile_name(id.tile),
                           id.direction == Direction::S2MM ? "s2mm" : "mm2s", id.index);
    }

    void check_descriptor(TileCoordinate tile, const BufferDescriptor& bd) {
        const TileKind kind = config_.kind_of(tile);
        const DmaConfig& dma = config_.dma_of(kind);
        const std::string who = fmt::format("{} descriptor {}", tile_name(tile), bd.id);
        require(bd.id >= 0 && bd.id < dma.descriptors, "{}: ids are 0..{}", who,
                dma.descriptors - 1);
        require(bd.length > 0 && bd.length < (std::int64_t{1} << dma.length_bits),
                "{}: length {} words does not fit {} bits", who, bd.length, dma.length_bits);
        require(static_cast<std::int64_t>(bd.dimensions.size()) <= dma.dimensions,
                "{}: {} dimensions, the tile has {}", who, bd.dimensions.size(), dma.dimensions);
        for (std::size_t i = 0; i < bd.dimensions.size(); ++i) {
            const Dimension& d = bd.dimensions[i];
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

    void check_fields(TileCoordinate tile, const BufferDescriptor& bd, const std::string& who) {
        const TileKind kind = config_.kind_of(tile);
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
            require(bd.packet->id >= 0 && bd.packet->id < kPacketIds && bd.packet->type >= 0 &&
                        bd.packet->type < kPacketTypes,
                    "{}: packet id {} and type {} must be 0..31 and 0..7", who, bd.packet->id,
                    bd.packet->type);
        }
        require(!bd.next || (*bd.next >= 0 && *bd.next < dma.descriptors),
                "{}: next descriptor {} is not 0..{}", who, bd.next.value_or(0),
                dma.descriptors - 1);
        const bool burst = std::find(std::begin(kBursts), std::end(kBursts), bd.burst_bytes) !=
                               std::end(kBursts) &&
                           bd.burst_bytes <= config_.shim.burst.count();
        require(bd.burst_bytes == 0 || (kind == TileKind::Shim && burst),
                "{}: bursts of {} B; a shim's are 64, 128 ... up to {} B", who, bd.burst_bytes,
                config_.shim.burst.count());
        const auto check_lock = [&](const std::optional<LockAction>& action, const char* what) {
            if (!action) {
                return;
            }
            const Lock& lock = program_.locks[static_cast<std::size_t>(action->lock)];
            require(action->value >= -kMostLockValue - 1 && action->value <= kMostLockValue,
                    "{}: {} value {} is not -64..63", who, what, action->value);
            require(dma_reaches(config_, tile, lock.tile),
                    "{}: {}s lock {} of {}, out of its reach", who, what, lock.name,
                    tile_name(lock.tile));
        };
        check_lock(bd.acquire, "acquire");
        check_lock(bd.release, "release");
    }

    void check_range(TileKind kind, const BufferDescriptor& bd, const std::string& who) {
        const auto count = static_cast<std::int64_t>(
            kind == TileKind::Shim ? program_.external_buffers.size() : program_.buffers.size());
        if (bd.buffer < 0 || bd.buffer >= count) {
            require(false, "{}: names no buffer", who);
            return;
        }
        const auto index = static_cast<std::size_t>(bd.buffer);
        const std::int64_t bytes = kind == TileKind::Shim ? program_.external_buffers[index].bytes
                                                          : program_.buffers[index].bytes;
        std::int64_t last = bd.dimensions.empty() ? bd.length - 1 : 0;  // words
        std::int64_t inner = 1;
        for (std::size_t i = 0; i < bd.dimensions.size(); ++i) {
            const bool outermost = i + 1 == bd.dimensions.size();
            const std::int64_t size =
                outermost ? std::max<std::int64_t>(1, bd.length / inner) : bd.dimensions[i].size;
            last += (size - 1) * bd.dimensions[i].stride;
            inner *= size;
        }
        require(bd.dimensions.empty() || inner == bd.length,
                "{}: length {} is no multiple of its inner dimensions", who, bd.length);
        if (bd.iteration) {
            last += (bd.iteration->size - 1) * bd.iteration->stride;
        }
        require(bd.offset >= 0 && bd.offset % kWordBytes == 0 &&
                    bd.offset + (last + 1) * kWordBytes <= bytes,
                "{}: reaches byte {} of a buffer of {}", who, bd.offset + (last + 1) * kWordBytes,
                bytes);
    }

    void check_channel(const ChannelId& id) {
        if (!config_.contains(id.tile)) {
            require(false, "{}: outside the array", name(id));
            return;
        }
        const std::int64_t channels = config_.dma_of(config_.kind_of(id.tile)).channels;
        require(id.index >= 0 && id.index < channels, "{}: no such channel; it has 0..{}", name(id),
                channels - 1);
    }

    void check_task(const ChannelId& id, const Task& task) {
        require(task.repeat >= 1 && task.repeat <= kMostRepeats, "{}: repeat {} is not 1..256",
                name(id), task.repeat);
    }

    void check_use(const ChannelId& id, const BufferDescriptor& bd) {
        const TileKind kind = config_.kind_of(id.tile);
        const DmaConfig& dma = config_.dma_of(kind);
        const bool upper = bd.id >= dma.descriptors / 2;
        require(!dma.parity_bound_descriptors || upper == (id.index % 2 == 1),
                "{}: may not use descriptor {}; even channels use the lower half, odd the upper",
                name(id), bd.id);
        require(bd.padding.empty() || id.direction == Direction::MM2S,
                "{}: only MM2S pads (descriptor {})", name(id), bd.id);
        if (kind == TileKind::Shim || bd.buffer < 0 ||
            bd.buffer >= static_cast<std::int64_t>(program_.buffers.size())) {
            return;
        }
        const auto reaches = [&](TileCoordinate at) {
            return at == id.tile || (dma_reaches(config_, id.tile, at) &&
                                     id.index < config_.memory_tile.neighbour_channels);
        };
        const TileCoordinate at = program_.buffers[static_cast<std::size_t>(bd.buffer)].tile;
        require(reaches(at), "{}: does not reach the memory of {} (descriptor {})", name(id),
                tile_name(at), bd.id);
        for (const auto& action : {bd.acquire, bd.release}) {
            const auto index = static_cast<std::size_t>(action.value_or(LockAction{}).lock);
            require(!action || reaches(program_.locks[index].tile),
                    "{}: does not reach lock {} (descriptor {})", name(id),
                    action ? program_.locks[index].name : "", bd.id);
        }
    }

    void check_routes() {
        std::map<ChannelId, std::string> circuits;
        std::map<std::pair<ChannelId, std::int64_t>, std::string> sources;
        for (const Route& route : program_.routes) {
            const auto [source, first] =
                sources.emplace(std::pair{route.source, route.packet_id.value_or(-1)}, route.name);
            require(first,
                    "routes {} and {}: both leave {}{}; a broadcast is one route with several "
                    "destinations",
                    source->second, route.name, name(route.source),
                    route.packet_id ? fmt::format(" as packet {}", *route.packet_id) : "");
            require(!route.packet_id || (*route.packet_id >= 0 && *route.packet_id < kPacketIds),
                    "route {}: packet id {} is not 0..31", route.name, route.packet_id.value_or(0));
            require(!route.destinations.empty(), "route {}: has no destination", route.name);
            std::set<ChannelId> ends;
            check_channel(route.source);
            require(route.source.direction == Direction::MM2S, "route {}: must start at an MM2S",
                    route.name);
            for (const ChannelId& to : route.destinations) {
                check_channel(to);
                require(ends.insert(to).second, "route {}: names {} twice", route.name, name(to));
                require(to.direction == Direction::S2MM, "route {}: must end at an S2MM",
                        route.name);
                if (!route.packet_id) {
                    const auto [place, added] = circuits.emplace(to, route.name);
                    require(added, "route {}: {} already receives {}", route.name, name(to),
                            place->second);
                }
            }
        }
    }

    const Program& program_;
    const NpuConfig& config_;
    std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> verify(const Program& program, const NpuConfig& config) {
    return Verifier(program, config).run();
}

}  // namespace tilesim::arch::npu
