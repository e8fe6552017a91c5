#include "workloads/npu/mlir/design/storage.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/npu/mlir/descriptors/descriptor_layout.hpp"
#include "workloads/npu/mlir/object_fifo/object_fifos.hpp"
#include "workloads/npu/mlir/object_fifo/placement.hpp"
#include "workloads/npu/mlir/syntax/attributes.hpp"
#include "workloads/npu/mlir/syntax/constant_folding.hpp"
#include "workloads/npu/mlir/syntax/dense_words.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::design {

using descriptors::read_packet;
using object_fifo::place_logical_tiles;
using object_fifo::read_object_fifos;
using syntax::dense_value;
using syntax::dense_words;

namespace {

// Unit of allocation of a memory tile in mlir-aie's target model: 8 banks of 512 KiB.
constexpr std::int64_t kMemoryTileBank = 64 * 1024;
constexpr std::int64_t kUnplaced = -1;
constexpr std::int64_t kBufferAlignment = 32;  // bytes: the widest load of a core

class Storage {
  public:
    explicit Storage(Lowering& lowering) : lowering_(lowering) {}

    void run() {
        for (const Operation& operation : lowering_.body()) {
            define_constant(operation, lowering_.names);
        }
        lowering_.attempt([this] { place_logical_tiles(lowering_); });
        walk(lowering_.body(), [this](const Operation& operation) {
            lowering_.attempt([this, &operation] {
                if (operation.name == "aie.tile") {
                    tile(operation);
                }
            });
        });
        walk(lowering_.body(), [this](const Operation& operation) {
            lowering_.attempt([this, &operation] { declare(operation); });
        });
        if (lowering_.errors.empty()) {
            read_object_fifos(lowering_);
        }
        number_locks();
        place_buffers();
    }

  private:
    void declare(const Operation& operation) {
        const std::string& name = operation.name;
        if (name == "aie.buffer") {
            buffer(operation);
        } else if (name == "aie.lock") {
            lock(operation);
        } else if (name == "aie.external_buffer") {
            external(operation);
        } else if (name == "aie.shim_dma_allocation") {
            allocation(operation);
        } else if (name == "memref.global") {
            global(operation);
        } else if (name == "func.func") {
            function(operation);
        } else if (name == "aie.core") {
            Cursor cursor(operation);
            Cursor inside(cursor.group("("));
            const auto stack = integer_attribute(operation, "stack_size");
            stacks_[lowering_.tile(inside)] = stack.value_or(lowering_.config.core.stack.count());
        }
    }

    static const std::string& result_of(const Operation& operation) {
        if (operation.results.size() != 1) {
            throw ReadError(operation.where,
                            fmt::format("{} needs one result: %name = ...", operation.name));
        }
        return operation.results.front();
    }

    void tile(const Operation& operation) {
        Cursor cursor(operation);
        Cursor inside(cursor.group("("));
        const Location where = inside.where();
        const program::TileCoordinate at = read_coordinate(inside);
        if (!lowering_.config.contains(at)) {
            throw ReadError(
                where,
                fmt::format("tile {},{} is outside the array of this target, columns 0..{} and "
                            "rows 0..{}{}",
                            at.column, at.row, lowering_.config.columns - 1,
                            lowering_.config.rows() - 1,
                            is_configuration(lowering_)
                                ? fmt::format("; a configuration of the whole chip (Phoenix has "
                                              "five columns) runs with --set "
                                              "device.npu.columns={}",
                                              at.column + 1)
                                : ""));
        }
        lowering_.names.define(
            result_of(operation),
            {Value::Kind::Tile, static_cast<std::int64_t>(lowering_.tiles.size())});
        lowering_.tiles.push_back(at);
    }

    static std::string wanted_name(const Operation& operation) {
        const std::string symbol = text_attribute(operation, "sym_name");
        return symbol.empty() ? result_of(operation) : symbol;
    }

    // The type after the last ':' of a declaration.
    static MemrefType type_of(const Operation& operation) {
        Cursor cursor(operation);
        while (!cursor.done() && !cursor.peek()->is_word("memref")) {
            cursor.take();
        }
        return read_memref(cursor);
    }

    void buffer(const Operation& operation) {
        Cursor cursor(operation);
        Cursor inside(cursor.group("("));
        program::Buffer buffer;
        buffer.where = operation.where;
        buffer.tile = lowering_.tile(inside);
        buffer.name = unique_name(lowering_.program.buffers, wanted_name(operation));
        const MemrefType type = type_of(operation);
        buffer.bytes = type.bytes();
        buffer.address = placed(operation, "address");
        if (lowering_.config.kind_of(buffer.tile) == program::TileKind::Shim) {
            throw ReadError(operation.where, "a shim tile has no memory for a buffer");
        }
        lowering_.names.define(
            result_of(operation),
            {Value::Kind::Buffer, static_cast<std::int64_t>(lowering_.program.buffers.size())});
        if (const std::int64_t bank = placed(operation, "mem_bank"); bank != kUnplaced) {
            lowering_.banks[static_cast<std::int64_t>(lowering_.program.buffers.size())] = bank;
        }
        lowering_.program.buffers.push_back(buffer);
        lowering_.buffer_types.push_back(type);
        const auto attribute = operation.attribute("initial_value");
        if (const Item* value = dense_value(attribute ? *attribute : operation.items)) {
            lowering_.set_contents(static_cast<std::int64_t>(lowering_.program.buffers.size()) - 1,
                                   *value, type);
        }
    }

    static std::int64_t not_negative(std::int64_t number, const char* what, Location where) {
        if (number < 0) {
            throw ReadError(where, fmt::format("{} must be 0 or more, got {}", what, number));
        }
        return number;
    }

    // What an attribute states, or that it is to be given.
    static std::int64_t placed(const Operation& operation, const char* attribute) {
        const auto stated = integer_attribute(operation, attribute);
        return stated ? not_negative(*stated, attribute, operation.where) : kUnplaced;
    }

    void lock(const Operation& operation) {
        Cursor cursor(operation);
        Cursor inside(cursor.group("("));
        program::Lock lock;
        lock.where = operation.where;
        lock.tile = lowering_.tile(inside);
        lock.id = kUnplaced;
        if (inside.skip(",")) {
            const Location where = inside.where();
            lock.id = not_negative(inside.integer(), "a lock's id", where);
        }
        lock.initial = integer_attribute(operation, "init").value_or(0);
        lock.name = unique_name(lowering_.program.locks, wanted_name(operation));
        if (!operation.results.empty()) {  // without one, only the host uses it
            lowering_.names.define(
                result_of(operation),
                {Value::Kind::Lock, static_cast<std::int64_t>(lowering_.program.locks.size())});
        }
        lowering_.program.locks.push_back(lock);
    }

    void external(const Operation& operation) {
        const MemrefType type = type_of(operation);
        lowering_.names.define(
            result_of(operation),
            {Value::Kind::External,
             static_cast<std::int64_t>(lowering_.program.external_buffers.size())});
        program::ExternalBuffer buffer;
        buffer.where = operation.where;
        buffer.name = unique_name(lowering_.program.external_buffers, wanted_name(operation));
        buffer.bytes = type.bytes();
        lowering_.program.external_buffers.push_back(buffer);
        lowering_.external_types.push_back(type);
    }

    void allocation(const Operation& operation) {
        Cursor cursor(operation);
        const std::string symbol = cursor.symbol();
        Cursor inside(cursor.group("("));
        program::ChannelId id;
        if (inside.peek() != nullptr && inside.peek()->is(TokenKind::Value)) {
            const program::TileCoordinate tile = lowering_.tile(inside);
            inside.expect(",");
            id = read_channel(inside, tile);
        } else {  // before 2026: direction, channel, column
            id = read_channel(inside, {});
            inside.expect(",");
            id.tile = {inside.integer(), 0};
        }
        while (!inside.done() && !inside.peek()->opens("<")) {
            inside.take();
        }
        if (!inside.done()) {  // <pkt_id = 3>
            lowering_.allocation_packets[symbol] = read_packet({inside.take()}, operation.where);
        } else if (const auto packet = operation.attribute("packet")) {
            lowering_.allocation_packets[symbol] = read_packet(*packet, operation.where);
        }
        lowering_.allocations[symbol] = id;
    }

    // memref.global "private" constant @x : memref<8xi32> = dense<[1, 2]>
    void global(const Operation& operation) {
        Cursor cursor(operation);
        while (!cursor.done() && !cursor.peek()->is(TokenKind::Symbol)) {
            cursor.take();
        }
        const std::string symbol = cursor.symbol();
        std::optional<std::vector<std::uint32_t>> words;
        while (!cursor.done() && !cursor.peek()->is_word("memref")) {
            cursor.take();
        }
        if (const Item* value = dense_value(operation.items); value != nullptr && !cursor.done()) {
            words = dense_words(*value, read_memref(cursor));
        }
        lowering_.global_symbols[symbol] = static_cast<std::int64_t>(lowering_.globals.size());
        lowering_.globals.push_back(words.value_or(std::vector<std::uint32_t>{}));
    }

    void function(const Operation& operation) {
        Cursor cursor(operation);
        cursor.skip_word("private");
        cursor.skip_word("public");
        lowering_.functions[cursor.symbol()] = &operation;
    }

    // Locks without an id get the lowest free one of their tile.
    void number_locks() {
        std::set<std::pair<program::TileCoordinate, std::int64_t>> taken;
        for (const program::Lock& lock : lowering_.program.locks) {
            taken.insert({lock.tile, lock.id});
        }
        for (program::Lock& lock : lowering_.program.locks) {
            if (lock.id == kUnplaced) {
                lock.id = 0;
                while (!taken.insert({lock.tile, lock.id}).second) {
                    ++lock.id;
                }
            }
        }
    }

    // Buffers without an address: those that must lie in one bank, then the largest first, each
    // into the next bank that has room for it; where banks are too small, one after the other.
    void place_buffers() {
        std::map<program::TileCoordinate, std::vector<std::size_t>> by_tile;
        for (std::size_t i = 0; i < lowering_.program.buffers.size(); ++i) {
            by_tile[lowering_.program.buffers[i].tile].push_back(i);
        }
        for (auto& [tile, buffers] : by_tile) {
            std::stable_sort(buffers.begin(), buffers.end(), [this](std::size_t a, std::size_t b) {
                const bool a_pinned = pin_of(a) != kUnplaced, b_pinned = pin_of(b) != kUnplaced;
                return a_pinned != b_pinned ? a_pinned : buffer_at(a).bytes > buffer_at(b).bytes;
            });
            for (const std::size_t index : buffers) {
                check_bank(tile, index);
            }
            if (!place_in_banks(tile, buffers)) {
                place_in_a_row(tile, buffers);
                note_pins(tile, buffers);
            }
        }
    }

    struct Banks {
        std::int64_t bytes = 0;  // of one
        std::int64_t count = 0;
    };
    Banks banks_of(program::TileCoordinate tile) const {
        const bool core = lowering_.config.kind_of(tile) == program::TileKind::Core;
        const std::int64_t memory = core ? lowering_.config.core.memory.count()
                                         : lowering_.config.memory_tile.memory.count();
        const std::int64_t bank =
            core ? lowering_.config.core.bank.count() : std::min(memory, kMemoryTileBank);
        return {bank, memory / bank};
    }

    void check_bank(program::TileCoordinate tile, std::size_t index) {
        const std::int64_t banks = banks_of(tile).count;
        if (pin_of(index) >= banks) {
            lowering_.errors.emplace_back(
                where_of(index),
                fmt::format("buffer {}: tile {},{} has banks 0..{}, not {}", buffer_at(index).name,
                            tile.column, tile.row, banks - 1, pin_of(index)));
        }
    }

    void note_pins(program::TileCoordinate tile, const std::vector<std::size_t>& buffers) {
        const auto pinned = [this](std::size_t index) { return pin_of(index) != kUnplaced; };
        if (std::any_of(buffers.begin(), buffers.end(), pinned)) {
            lowering_.note(
                fmt::format("tile {},{}: the buffers do not fit the banks the design "
                            "states; they lie one behind the other",
                            tile.column, tile.row));
        }
    }

    // The bank the buffer must lie in, or kUnplaced.
    std::int64_t pin_of(std::size_t index) const {
        const auto place = lowering_.banks.find(static_cast<std::int64_t>(index));
        return place == lowering_.banks.end() ? kUnplaced : place->second;
    }
    Location where_of(std::size_t index) const {
        const Location where = lowering_.program.buffers[index].where;
        return where.line > 0 ? where : lowering_.device.where;
    }
    program::Buffer& buffer_at(std::size_t index) { return lowering_.program.buffers[index]; }
    std::int64_t stack_of(program::TileCoordinate tile) const {
        const auto place = stacks_.find(tile);
        return place == stacks_.end() ? 0 : place->second;
    }
    static std::int64_t aligned(std::int64_t address) {
        return (address + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
    }

    // The first address in [from, to) where the buffer overlaps no placed one; to when none.
    std::int64_t gap(program::TileCoordinate tile, std::int64_t bytes, std::int64_t from,
                     std::int64_t to) {
        std::int64_t address = aligned(from);
        bool moved = true;
        while (moved && address + bytes <= to) {
            moved = false;
            for (const program::Buffer& other : lowering_.program.buffers) {
                const bool overlaps = other.tile == tile && other.address != kUnplaced &&
                                      other.address < address + bytes &&
                                      address < other.address + other.bytes;
                if (overlaps) {
                    address = aligned(other.address + other.bytes);
                    moved = true;
                }
            }
        }
        return address + bytes <= to ? address : to;
    }

    bool place_in_banks(program::TileCoordinate tile, const std::vector<std::size_t>& buffers) {
        const auto [bank, banks] = banks_of(tile);
        std::vector<std::size_t> placed;
        std::int64_t next = 0;
        for (const std::size_t index : buffers) {
            if (buffer_at(index).address != kUnplaced) {
                continue;
            }
            const std::int64_t pinned = pin_of(index);
            for (std::int64_t tried = 0; tried < banks; ++tried) {
                const std::int64_t at = pinned != kUnplaced ? pinned : (next + tried) % banks;
                const std::int64_t begin = std::max(at * bank, stack_of(tile));
                const std::int64_t end = (at + 1) * bank;
                const std::int64_t address =
                    at >= banks ? end : gap(tile, buffer_at(index).bytes, begin, end);
                if (address != end) {
                    buffer_at(index).address = address;
                    placed.push_back(index);
                    next = at + 1;
                    break;
                }
            }
            if (buffer_at(index).address == kUnplaced) {
                for (const std::size_t undone : placed) {
                    buffer_at(undone).address = kUnplaced;
                }
                return false;
            }
        }
        return true;
    }

    void place_in_a_row(program::TileCoordinate tile, const std::vector<std::size_t>& buffers) {
        const Banks banks = banks_of(tile);
        const std::int64_t memory = banks.bytes * banks.count;
        for (const std::size_t index : buffers) {
            program::Buffer& buffer = buffer_at(index);
            if (buffer.address != kUnplaced) {
                continue;
            }
            const std::int64_t address = gap(tile, buffer.bytes, stack_of(tile), memory);
            if (address == memory) {
                lowering_.errors.emplace_back(
                    where_of(index),
                    fmt::format("buffer {} of {} B does not fit the memory of tile {},{} any more",
                                buffer.name, buffer.bytes, tile.column, tile.row));
                buffer.address = 0;
                continue;
            }
            buffer.address = address;
        }
    }

    Lowering& lowering_;
    std::map<program::TileCoordinate, std::int64_t> stacks_;
};

}  // namespace

void lower_storage(Lowering& lowering) {
    Storage(lowering).run();
}

}  // namespace tilesim::workloads::npu::mlir::design
