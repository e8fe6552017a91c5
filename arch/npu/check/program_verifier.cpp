#include "arch/npu/check/program_verifier.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <variant>

#include "arch/npu/check/core_checks.hpp"
#include "arch/npu/check/descriptor_checks.hpp"
#include "arch/npu/check/program_names.hpp"
#include "arch/npu/check/script_checks.hpp"
#include "arch/npu/check/storage_checks.hpp"
#include "arch/npu/program/descriptor_chain.hpp"

namespace tilesim::arch::npu::check {

namespace {

class Verifier : private ProblemList {
  public:
    Verifier(const program::Program& program, const NpuConfig& config)
        : ProblemList(program), program_(program), config_(config) {}

    std::vector<std::string> run() {
        add(check_storage(program_, config_));
        std::set<program::TileCoordinate> dmas;
        for (const program::TileDma& dma : program_.dmas) {
            const auto about = at(dma.where);
            require(dmas.insert(dma.tile).second, "{}: its DMA is described twice",
                    tile_name(dma.tile));
            if (config_.contains(dma.tile)) {
                check_dma(dma);
            } else {
                require(false, "{}: outside the array", tile_name(dma.tile));
            }
        }
        for (const program::SequenceOp& op : program_.sequence) {
            const auto about = at(where(op));
            if (const auto* write = std::get_if<program::WriteDescriptor>(&op)) {
                if (config_.contains(write->tile)) {
                    add(check_descriptor(program_, config_, write->tile, write->descriptor));
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
                require_state(*this, program_, config_, "the sequence", acquire->action);
            } else if (const auto* set = std::get_if<program::SetLock>(&op)) {
                require(set->value >= 0 && set->value <= config_.most_lock_value(),
                        "the sequence sets lock {} to {}, must be 0..{}",
                        lock_name(program_, set->lock), set->value, config_.most_lock_value());
            } else if (const auto* copy = std::get_if<program::CopyToTile>(&op)) {
                check_copy(*copy);
            }
        }
        check_routes();
        check_logic_streams();
        add(check_scripts(program_, config_));
        add(check_cores(program_, config_));
        return take_problems();
    }

  private:
    void check_dma(const program::TileDma& dma) {
        std::set<std::int64_t> written;
        for (const program::BufferDescriptor& descriptor : dma.descriptors) {
            add(check_descriptor(program_, config_, dma.tile, descriptor));
            const auto about = at(descriptor.where);
            require(written.insert(descriptor.id).second, "{}: descriptor {} is written twice",
                    tile_name(dma.tile), descriptor.id);
        }
        std::map<program::ChannelId, std::int64_t> queued;
        for (const program::TileDma::Start& start : dma.starts) {
            const program::ChannelId id{dma.tile, start.direction, start.channel};
            const auto about = at(start.task.where);
            check_channel(id);
            check_task(id, start.task);
            // One task runs at once, the others queue.
            require(++queued[id] <= config_.dma_of(config_.kind_of(dma.tile)).task_queue_depth + 1,
                    "{}: more tasks at start than its queue holds", channel_name(id));
            const auto chain = program::chain_from(start.task.descriptor, dma);
            for (const program::BufferDescriptor* descriptor : chain.descriptors) {
                add(check_use(program_, config_, id, *descriptor));
            }
            require(!chain.missing, "{}: its chain leads to descriptor {}, which does not exist",
                    channel_name(id), chain.missing.value_or(0));
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

    void check_channel(const program::ChannelId& id) {
        if (!config_.contains(id.tile)) {
            require(false, "{}: outside the array", channel_name(id));
            return;
        }
        const program::TileKind kind = config_.kind_of(id.tile);
        if (id.port == program::PortKind::Core) {
            const bool in = id.direction == program::Direction::S2MM;
            require(kind == program::TileKind::Core &&
                        id.index < (in ? config_.core.stream_inputs : config_.core.stream_outputs),
                    "{}: no such port; cores have {} stream inputs and {} outputs",
                    channel_name(id), config_.core.stream_inputs, config_.core.stream_outputs);
            require(std::any_of(
                        program_.cores.begin(), program_.cores.end(),
                        [&id](const program::CoreProgram& core) { return core.tile == id.tile; }),
                    "{}: the core has no script", channel_name(id));
            return;
        }
        const std::int64_t channels = config_.dma_of(kind).channels;
        require(id.index >= 0 && id.index < channels, "{}: no such channel; it has 0..{}",
                channel_name(id), channels - 1);
        require(kind != program::TileKind::Shim || config_.has_shim_dma(id.tile.column),
                "{}: column {} has no shim DMA; columns {} have", channel_name(id), id.tile.column,
                fmt::join(config_.shim_columns, ", "));
    }

    void check_task(const program::ChannelId& id, const program::Task& task) {
        const DmaConfig& dma = config_.dma_of(config_.kind_of(id.tile));
        require(task.repeat >= 1 && task.repeat <= dma.repeats, "{}: repeat {} is not 1..{}",
                channel_name(id), task.repeat, dma.repeats);
        require(!task.token || dma.tokens,
                "{}: this device's DMAs send no completion tokens; use wait_idle",
                channel_name(id));
        if (task.out_of_order) {
            require(id.direction == program::Direction::S2MM,
                    "{}: only S2MM takes packets out of order", channel_name(id));
            for (const program::Route& route : program_.routes) {
                const bool ends_here =
                    std::find(route.destinations.begin(), route.destinations.end(), id) !=
                    route.destinations.end();
                require(!ends_here || (route.packet_id && program::keeps_header(route, id)),
                        "{}: takes packets out of order, but route {} brings it no headers; it "
                        "must be a packet route with keep_header",
                        channel_name(id), route.name);
            }
        }
    }

    void check_routes() {
        std::map<program::ChannelId, std::string> circuits;
        std::map<std::pair<program::ChannelId, std::int64_t>, std::string> sources;
        for (const program::Route& route : program_.routes) {
            const auto about = at(route.where);
            const auto [source, first] =
                sources.emplace(std::pair{route.source, route.packet_id.value_or(-1)}, route.name);
            require(first,
                    "routes {} and {}: both leave {}{}; a broadcast is one route with several "
                    "destinations",
                    source->second, route.name, channel_name(route.source),
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
                require(ends.insert(to).second, "route {}: names {} twice", route.name,
                        channel_name(to));
                require(to.direction == program::Direction::S2MM, "route {}: must end at an S2MM",
                        route.name);
                if (!route.packet_id) {
                    const auto [other, added] = circuits.emplace(to, route.name);
                    require(added, "route {}: {} already receives {}", route.name, channel_name(to),
                            other->second);
                }
            }
        }
    }

    void check_logic_streams() {
        std::set<program::TileCoordinate> fed;
        for (const program::LogicStream& stream : program_.logic_streams) {
            const auto about = at(stream.where);
            const program::ChannelId port{stream.tile, program::Direction::S2MM, 0,
                                          program::PortKind::Core};
            check_channel(port);
            require(config_.programmable_logic.ram.count() > 0,
                    "stream {}: this device has no programmable logic", stream.name);
            require(fed.insert(stream.tile).second, "stream {}: {} is fed twice", stream.name,
                    channel_name(port));
            const auto& buffer = program_.external_buffers[static_cast<std::size_t>(stream.buffer)];
            for (const program::LogicStream::Pass& pass : stream.passes) {
                require(pass.bytes > 0 && pass.offset + pass.bytes <= buffer.bytes,
                        "stream {}: bytes {}..{} lie outside {} ({} B)", stream.name, pass.offset,
                        pass.offset + pass.bytes, buffer.name, buffer.bytes);
            }
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
