#include "arch/npu/check/device_demand.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "arch/npu/program/program_parts.hpp"

namespace tilesim::arch::npu::check {

namespace {

using program::TileKind;

void raise(std::int64_t& most, std::int64_t to) {
    most = std::max(most, to);
}

std::int64_t bits_for(std::int64_t value) {
    return static_cast<std::int64_t>(
        std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(0, value))));
}

class Reading {
  public:
    Reading(const program::Program& program, const NpuConfig& config) : config_(config) {
        program::for_each_descriptor(
            program, [this](auto tile, const auto& descriptor) { look_at(tile, descriptor); });
        program::for_each_task(
            program, [this](const auto& channel, const auto& task) { look_at(channel, task); });
        for (const program::Route& route : program.routes) {
            look_at(route.source);
            for (const program::ChannelId& to : route.destinations) {
                look_at(to);
            }
        }
        for (const program::Buffer& buffer : program.buffers) {
            TileDemand& tile = demand_.tiles[reach(buffer.tile)];
            if (buffer.address != program::kUnplaced) {
                raise(tile.bytes, buffer.address + buffer.bytes);
            }
        }
        for (const program::Lock& lock : program.locks) {
            raise(demand_.tiles[reach(lock.tile)].locks, lock.id + 1);
        }
        for (const program::CoreProgram& core : program.cores) {
            reach(core.tile);
        }
    }

    DeviceDemand take() { return std::move(demand_); }

  private:
    TileKind reach(program::TileCoordinate tile) {
        raise(demand_.columns, tile.column + 1);
        raise(demand_.core_rows, tile.row - config_.memory_rows);
        return config_.kind_of(tile);
    }
    DmaDemand& dma_of(program::TileCoordinate tile) { return demand_.dmas[reach(tile)]; }

    void look_at(program::TileCoordinate tile, const program::BufferDescriptor& descriptor) {
        DmaDemand& demand = dma_of(tile);
        const std::int64_t last = std::max(descriptor.id, descriptor.next.value_or(0));
        const DmaConfig& dma = config_.dma_of(config_.kind_of(tile));
        // Half of them for even channels, half for odd ones: places count from a half's first.
        const std::int64_t half = std::max<std::int64_t>(1, dma.descriptors / 2);
        raise(demand.descriptors, dma.parity_bound_descriptors ? 2 * (last % half + 1) : last + 1);
        raise(demand.dimensions, std::ssize(descriptor.dimensions));
        raise(demand.length, descriptor.length);
        for (std::size_t i = 0; i < descriptor.dimensions.size(); ++i) {
            raise(demand.step, descriptor.dimensions[i].stride);
            if (i + 1 < descriptor.dimensions.size()) {  // the outermost follows from the length
                raise(demand.wrap, descriptor.dimensions[i].size);
            }
        }
        if (descriptor.iteration) {
            raise(demand.step, descriptor.iteration->stride);
        }
        demand.iteration = demand.iteration || descriptor.iteration;
        demand.padding = demand.padding || !descriptor.padding.empty();
        demand.double_buffer = demand.double_buffer || descriptor.alternate;
    }
    void look_at(const program::ChannelId& channel, const program::Task& task) {
        DmaDemand& demand = dma_of(channel.tile);
        raise(demand.channels, channel.index + 1);
        raise(demand.repeats, task.repeat);
        demand.tokens = demand.tokens || task.token;
    }
    void look_at(const program::ChannelId& channel) {
        if (channel.port == program::PortKind::Dma) {
            raise(dma_of(channel.tile).channels, channel.index + 1);
            return;
        }
        reach(channel.tile);
        raise(channel.direction == program::Direction::S2MM ? demand_.stream_inputs
                                                            : demand_.stream_outputs,
              channel.index + 1);
    }

    const NpuConfig& config_;
    DeviceDemand demand_;
};

class Shortfalls {
  public:
    Shortfalls(const DeviceDemand& demand, const NpuConfig& config)
        : demand_(demand), config_(config) {}

    std::vector<Shortfall> all() {
        require("npu.columns", demand_.columns, config_.columns);
        require("npu.core_rows", demand_.core_rows, config_.core_rows);
        require_dma("npu.core_dma.", TileKind::Core);
        require_dma("npu.memory_dma.", TileKind::Memory);
        require_dma("npu.shim_dma.", TileKind::Shim);
        require("npu.core.locks", locks(TileKind::Core), config_.core.locks);
        require("npu.core.stream_inputs", demand_.stream_inputs, config_.core.stream_inputs);
        require("npu.core.stream_outputs", demand_.stream_outputs, config_.core.stream_outputs);
        require("npu.memory_tile.locks", locks(TileKind::Memory), config_.memory_tile.locks);
        require("npu.shim.locks", locks(TileKind::Shim), config_.shim.locks);
        return std::move(found_);
    }

  private:
    std::int64_t locks(TileKind kind) const {
        const auto tile = demand_.tiles.find(kind);
        return tile == demand_.tiles.end() ? 0 : tile->second.locks;
    }
    void require(const std::string& key, std::int64_t needed, std::int64_t limit,
                 const std::string& why = "") {
        if (needed > limit) {
            found_.push_back({key, fmt::format("at least {}", needed), fmt::to_string(limit), why});
        }
    }
    void require(const std::string& key, bool needed, bool has) {
        if (needed && !has) {
            found_.push_back({key, "on", "off", ""});
        }
    }
    void require_dma(const std::string& map, TileKind kind) {
        const auto entry = demand_.dmas.find(kind);
        if (entry == demand_.dmas.end()) {
            return;
        }
        const DmaDemand& demand = entry->second;
        const DmaConfig& dma = config_.dma_of(kind);
        require(map + "channels", demand.channels, dma.channels);
        require(map + "descriptors", demand.descriptors, dma.descriptors);
        require(map + "dimensions", demand.dimensions, dma.dimensions);
        require(map + "length_bits", demand.length_bits(), dma.length_bits,
                fmt::format("a descriptor moves {} words", demand.length));
        require(map + "step_bits", demand.step_bits(), dma.step_bits,
                fmt::format("a descriptor steps by {} words", demand.step));
        require(map + "wrap_bits", demand.wrap_bits(), dma.wrap_bits,
                fmt::format("a descriptor's dimension has {} steps", demand.wrap));
        require(map + "repeats", demand.repeats, dma.repeats);
        require(map + "iteration", demand.iteration, dma.iteration);
        require(map + "tokens", demand.tokens, dma.tokens);
        require(map + "padding", demand.padding, dma.padding);
        require(map + "double_buffer", demand.double_buffer, dma.double_buffer);
    }

    const DeviceDemand& demand_;
    const NpuConfig& config_;
    std::vector<Shortfall> found_;
};

}  // namespace

std::int64_t DmaDemand::length_bits() const {
    return bits_for(length);
}

std::int64_t DmaDemand::step_bits() const {
    return bits_for(step - 1);
}

std::int64_t DmaDemand::wrap_bits() const {
    return bits_for(wrap);
}

DeviceDemand demand_of(const program::Program& program, const NpuConfig& config) {
    return Reading(program, config).take();
}

std::vector<Shortfall> shortfalls(const program::Program& program, const NpuConfig& config) {
    return Shortfalls(demand_of(program, config), config).all();
}

}  // namespace tilesim::arch::npu::check
