#include "arch/npu/check/descriptor_checks.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "arch/npu/check/program_names.hpp"
#include "arch/npu/check/storage_checks.hpp"
#include "arch/npu/check/tile_reach.hpp"
#include "arch/npu/program/program_work.hpp"

namespace tilesim::arch::npu::check {

namespace {

// Fields that are as wide on every kind of tile (aie-rt).
constexpr std::int64_t kMostIterations = 64;             // 6 bits, stored - 1
constexpr std::int64_t kMostPadding[] = {63, 31, 15};    // D0, D1, D2: 6, 5 and 4 bits
constexpr std::int64_t kMostLockValue = 63;              // 7 bits, signed: -64..63
constexpr std::int64_t kPacketTypes = 8;                 // 3 bits
constexpr std::int64_t kBursts[] = {64, 128, 256, 512};  // bytes

class DescriptorChecks : private ProblemList {
  public:
    DescriptorChecks(const program::Program& program, const NpuConfig& config)
        : ProblemList(program), program_(program), config_(config) {}

    std::vector<std::string> run(program::TileCoordinate tile,
                                 const program::BufferDescriptor& descriptor) {
        const auto about = at(descriptor.where);
        check_descriptor(tile, descriptor);
        return take_problems();
    }
    std::vector<std::string> run(const program::ChannelId& channel,
                                 const program::BufferDescriptor& descriptor) {
        const auto about = at(descriptor.where);
        check_use(channel, descriptor);
        return take_problems();
    }

  private:
    void check_descriptor(program::TileCoordinate tile, const program::BufferDescriptor& bd) {
        const program::TileKind kind = config_.kind_of(tile);
        const DmaConfig& dma = config_.dma_of(kind);
        const std::string who = fmt::format("{} descriptor {}", tile_name(tile), bd.id);
        require(bd.id >= 0 && bd.id < dma.descriptors, "{}: ids are 0..{}", who,
                dma.descriptors - 1);
        require_state(*this, program_, config_, who, bd.acquire);
        require_state(*this, program_, config_, who, bd.release);
        require(config_.lock_kind == LockKind::Counting || !bd.acquire || !bd.release ||
                    bd.acquire->lock == bd.release->lock,
                "{}: acquires one lock and releases another; with binary locks a descriptor has "
                "one",
                who);
        require(!bd.iteration || dma.iteration, "{}: this tile's descriptors do not iterate", who);
        if (bd.alternate) {
            require(dma.double_buffer, "{}: this tile's descriptors do not alternate", who);
            require_state(*this, program_, config_, who, bd.alternate->acquire);
            require_state(*this, program_, config_, who, bd.alternate->release);
            program::BufferDescriptor other = bd;
            other.buffer = bd.alternate->buffer;
            other.offset = bd.alternate->offset;
            check_range(kind, other, who + " (alternate)");
        }
        require(bd.length > 0 && bd.length < (std::int64_t{1} << dma.length_bits),
                "{}: length {} words, must be 1..{} ({} bits)", who, bd.length,
                (std::int64_t{1} << dma.length_bits) - 1, dma.length_bits);
        require(bd.dimensions.empty() || dma.dimensions > 0,
                "{}: has dimensions, but this tile's transfers are linear", who);
        require(dma.dimensions == 0 ||
                    static_cast<std::int64_t>(bd.dimensions.size()) <= dma.dimensions,
                "{}: {} dimensions, the tile has {}", who, bd.dimensions.size(), dma.dimensions);
        for (std::size_t i = 0; i < bd.dimensions.size(); ++i) {
            const program::Dimension& d = bd.dimensions[i];
            // Steps are stored minus one; the outermost size follows from the length.
            require(d.stride >= 1 && d.stride <= (std::int64_t{1} << dma.step_bits),
                    "{}: step {} of dimension {}, must be 1..{} ({} bits)", who, d.stride, i,
                    std::int64_t{1} << dma.step_bits, dma.step_bits);
            const bool outermost = i + 1 == bd.dimensions.size();
            require(d.size >= 1 && (outermost || d.size < (std::int64_t{1} << dma.wrap_bits)),
                    "{}: wrap {} of dimension {}, must be 1..{} ({} bits)", who, d.size, i,
                    (std::int64_t{1} << dma.wrap_bits) - 1, dma.wrap_bits);
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
                    "{}: iteration step {}, must be 0..{} ({} bits)", who, bd.iteration->stride,
                    std::int64_t{1} << dma.step_bits, dma.step_bits);
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

    void check_use(const program::ChannelId& id, const program::BufferDescriptor& bd) {
        const program::TileKind kind = config_.kind_of(id.tile);
        const DmaConfig& dma = config_.dma_of(kind);
        const bool upper = bd.id >= dma.descriptors / 2;
        require(!dma.parity_bound_descriptors || upper == (id.index % 2 == 1),
                "{}: may not use descriptor {}; even channels use the lower half, odd the upper",
                channel_name(id), bd.id);
        require(bd.padding.empty() || id.direction == program::Direction::MM2S,
                "{}: only MM2S pads (descriptor {})", channel_name(id), bd.id);
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
            require(reaches(at), "{}: does not reach the memory of {} (descriptor {})",
                    channel_name(id), tile_name(at), bd.id);
        };
        check_reach(bd.buffer);
        if (bd.alternate) {
            check_reach(bd.alternate->buffer);
        }
        for (const auto& action : {bd.acquire, bd.release}) {
            const auto index =
                static_cast<std::size_t>(action.value_or(program::LockAction{}).lock);
            require(!action || reaches(program_.locks[index].tile),
                    "{}: does not reach lock {} (descriptor {})", channel_name(id),
                    action ? program_.locks[index].name : "", bd.id);
        }
    }

    const program::Program& program_;
    const NpuConfig& config_;
};

}  // namespace

std::vector<std::string> check_descriptor(const program::Program& program, const NpuConfig& config,
                                          program::TileCoordinate tile,
                                          const program::BufferDescriptor& descriptor) {
    return DescriptorChecks(program, config).run(tile, descriptor);
}

std::vector<std::string> check_use(const program::Program& program, const NpuConfig& config,
                                   const program::ChannelId& channel,
                                   const program::BufferDescriptor& descriptor) {
    return DescriptorChecks(program, config).run(channel, descriptor);
}

}  // namespace tilesim::arch::npu::check
