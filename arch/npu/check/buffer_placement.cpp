#include "arch/npu/check/buffer_placement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/npu/check/problem_list.hpp"

namespace tilesim::arch::npu::check {

namespace {

constexpr std::int64_t kAlignment = 32;  // bytes: a vector load of a core

std::int64_t aligned(std::int64_t address) {
    return base::ceil_div(address, kAlignment) * kAlignment;
}

// The memory of one tile, being filled.
class Memory {
  public:
    Memory(std::int64_t size, std::int64_t reserved, std::int64_t bank)
        : size_(size), bank_(bank), taken_{{0, reserved}} {}

    void take(std::int64_t address, std::int64_t bytes) { taken_.push_back({address, bytes}); }

    // The address of a buffer of `bytes`, in the next bank in turn where one has room.
    std::optional<std::int64_t> place(std::int64_t bytes) {
        const std::int64_t banks = bytes <= bank_ ? size_ / bank_ : 0;
        for (std::int64_t i = 0; i < banks; ++i) {
            const std::int64_t bank = (next_bank_ + i) % banks;
            if (const auto at = gap(bytes, bank * bank_, (bank + 1) * bank_)) {
                next_bank_ = (bank + 1) % banks;
                return at;
            }
        }
        return gap(bytes, 0, size_);
    }

    std::int64_t left() const {
        std::int64_t used = 0;
        for (const auto& [address, bytes] : taken_) {
            used += bytes;
        }
        return size_ - used;
    }

  private:
    // The lowest place between `from` and `to`.
    std::optional<std::int64_t> gap(std::int64_t bytes, std::int64_t from, std::int64_t to) {
        std::sort(taken_.begin(), taken_.end());
        std::int64_t at = aligned(from);
        for (const auto& [address, size] : taken_) {
            if (address + size > at && address < at + bytes) {
                at = aligned(address + size);
            }
        }
        if (at + bytes > to) {
            return std::nullopt;
        }
        take(at, bytes);
        return at;
    }

    std::int64_t size_;
    std::int64_t bank_;
    std::int64_t next_bank_ = 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> taken_;  // address, bytes
};

}  // namespace

void place_buffers(program::Program& program, const NpuConfig& config) {
    std::map<program::TileCoordinate, Memory> memories;
    for (const program::Buffer& buffer : program.buffers) {
        const bool core = config.kind_of(buffer.tile) == program::TileKind::Core;
        const std::int64_t size =
            core ? config.core.memory.count() : config.memory_tile.memory.count();
        auto [place, added] =
            memories.try_emplace(buffer.tile, size, core ? config.core.stack.count() : 0,
                                 core ? std::min(config.core.bank.count(), size) : size);
        if (buffer.address != program::kUnplaced) {
            place->second.take(buffer.address, buffer.bytes);
        }
    }
    for (program::Buffer& buffer : program.buffers) {
        if (buffer.address != program::kUnplaced) {
            continue;
        }
        Memory& memory = memories.at(buffer.tile);
        const auto at = memory.place(buffer.bytes);
        if (!at) {
            throw base::config::ConfigError(fmt::format(
                "{}buffer {}: tile {},{} has no {} bytes in a row left; {} are free in all",
                place_text(program, buffer.where), buffer.name, buffer.tile.column, buffer.tile.row,
                buffer.bytes, memory.left()));
        }
        buffer.address = *at;
    }
}

}  // namespace tilesim::arch::npu::check
