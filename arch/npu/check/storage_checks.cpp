#include "arch/npu/check/storage_checks.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "arch/npu/check/program_names.hpp"

namespace tilesim::arch::npu::check {

namespace {

class StorageChecks : private ProblemList {
  public:
    StorageChecks(const program::Program& program, const NpuConfig& config)
        : ProblemList(program), program_(program), config_(config) {}

    std::vector<std::string> run() {
        check_buffers();
        check_locks();
        check_external_buffers();
        return take_problems();
    }

  private:
    void check_buffers() {
        std::map<program::TileCoordinate, std::vector<const program::Buffer*>> by_tile;
        for (const program::Buffer& buffer : program_.buffers) {
            const auto about = at(buffer.where);
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
                const auto about = at(buffers[i]->where);
                require(buffers[i - 1]->address + buffers[i - 1]->bytes <= buffers[i]->address,
                        "buffers {} and {} of {} overlap", buffers[i - 1]->name, buffers[i]->name,
                        tile_name(tile));
            }
        }
    }

    void check_locks() {
        std::set<std::pair<program::TileCoordinate, std::int64_t>> seen;
        for (const program::Lock& lock : program_.locks) {
            const auto about = at(lock.where);
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

    void check_external_buffers() {
        for (const program::ExternalBuffer& buffer : program_.external_buffers) {
            const auto about = at(buffer.where);
            require(buffer.address % kWordBytes == 0,
                    "external buffer {}: address {} is no multiple of {}", buffer.name,
                    buffer.address, kWordBytes);
            require(buffer.bytes > 0, "external buffer {}: has no bytes", buffer.name);
        }
    }

    const program::Program& program_;
    const NpuConfig& config_;
};

}  // namespace

std::vector<std::string> check_storage(const program::Program& program, const NpuConfig& config) {
    return StorageChecks(program, config).run();
}

void require_state(ProblemList& problems, const program::Program& program, const NpuConfig& config,
                   const std::string& who, const std::optional<program::LockAction>& action) {
    if (action && config.lock_kind == LockKind::Binary) {
        problems.require(action->value == 0 || action->value == 1,
                         "{}: lock {} is binary: it is acquired and released in state 0 or 1, not "
                         "{}",
                         who, lock_name(program, action->lock), action->value);
    }
}

}  // namespace tilesim::arch::npu::check
