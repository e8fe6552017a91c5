// The run-time sequence: what the command processor executes.
#include <fmt/format.h>

#include <algorithm>

#include "arch/base/config.hpp"
#include "arch/npu/mlir/descriptor.hpp"
#include "arch/npu/mlir/lowering.hpp"
#include "arch/npu/mlir/registers.hpp"
#include "arch/npu/mlir/sequence_operands.hpp"
#include "arch/npu/mlir/transfer.hpp"

namespace tilesim::arch::npu::mlir {

namespace {

constexpr std::size_t kMostSteps = 1'000'000;  // unrolled
constexpr int kMostNesting = 32;

class Sequence {
  public:
    explicit Sequence(Lowering& lowering)
        : lowering_(lowering), scope_(&lowering.names), registers_(lowering), ids_(lowering) {
        for (const TileDma& dma : lowering.program.dmas) {
            for (const BufferDescriptor& descriptor : dma.descriptors) {
                ids_.take(dma.tile, descriptor.id);
            }
        }
    }

    void run(const Operation& operation) {
        arguments(operation);
        block(region_of(operation), scope_);
    }

  private:
    struct Task {
        ChannelId channel;
        PushTask push;
        std::vector<std::int64_t> descriptors;  // ids, free again when the task is awaited
    };

    // (%a: memref<64xi32>, %n: i32)
    void arguments(const Operation& operation) {
        Cursor cursor(operation);
        while (!cursor.done() && !cursor.peek()->opens("(")) {
            cursor.take();
        }
        Cursor list(cursor.group("("));
        while (!list.done()) {
            const std::string name = list.value();
            list.expect(":");
            if (list.peek() != nullptr && list.peek()->is_word("memref")) {
                add_argument(name, read_memref(list));
            }
            while (!list.done() && !list.skip(",")) {
                list.take();
            }
            order_.push_back(name);
        }
    }

    void add_argument(const std::string& name, const MemrefType& type) {
        auto& buffers = lowering_.program.external_buffers;
        ExternalBuffer buffer;
        buffer.name = unique_name(buffers, name);
        buffer.bytes = (type.bytes() + kWordBytes - 1) / kWordBytes * kWordBytes;
        scope_.define(name, {Value::Kind::External, static_cast<std::int64_t>(buffers.size())});
        buffers.push_back(buffer);
        lowering_.external_types.push_back(type);
    }

    void block(const Item& region, Scope& scope) {
        if (region.blocks.size() > 1) {
            throw ReadError(region.token.where, "blocks in a run-time sequence are not modelled");
        }
        for (const Operation& operation : region.blocks.front().operations) {
            lowering_.attempt([&] { step(operation, scope); });
        }
    }

    void step(const Operation& operation, Scope& scope) {
        if (++steps_ > kMostSteps) {
            throw ReadError(operation.where, fmt::format("the run-time sequence is longer than {} "
                                                         "operations",
                                                         kMostSteps));
        }
        using Handler = void (Sequence::*)(const Operation&, Scope&);
        static const std::map<std::string_view, Handler> kHandlers{
            {"dma_memcpy_nd", &Sequence::memcpy_nd},
            {"dma_wait", &Sequence::dma_wait},
            {"sync", &Sequence::sync},
            {"write32", &Sequence::write32},
            {"maskwrite32", &Sequence::maskwrite32},
            {"blockwrite", &Sequence::blockwrite},
            {"writebd", &Sequence::writebd},
            {"writebd_shimtile", &Sequence::writebd},
            {"address_patch", &Sequence::address_patch},
            {"push_queue", &Sequence::push_queue},
            {"rtp_write", &Sequence::rtp_write},
            {"set_lock", &Sequence::set_lock},
            {"dma_configure_task", &Sequence::configure_task},
            {"dma_configure_task_for", &Sequence::configure_task},
            {"dma_start_task", &Sequence::start_task},
            {"dma_start_bd_chain", &Sequence::start_bd_chain},
            {"dma_start_bd_chain_for", &Sequence::start_bd_chain},
            {"dma_bd_pool_pop", &Sequence::pool_pop},
            {"dma_bd_pool_push", &Sequence::pool_push},
            {"dma_await_task", &Sequence::await_task},
            {"dma_free_task", &Sequence::free_task},
            {"memref.get_global", &Sequence::get_global},
            {"memref.subview", &Sequence::view},
            {"memref.reinterpret_cast", &Sequence::view},
            {"memref.cast", &Sequence::view},
            {"scf.for", &Sequence::loop},
        };
        static const std::set<std::string_view> kNothing{
            "aie.end", "return",   "func.return", "scf.yield", "memref.assume_alignment",
            "preempt", "cf.assert"};
        const std::string_view name = operation_name(operation);
        const auto handler = kHandlers.find(name);
        if (handler != kHandlers.end()) {
            (this->*handler->second)(operation, scope);
        } else if (operation.name.starts_with("aie.trace")) {
            lowering_.note("trace set-up is left out");
        } else if (!kNothing.contains(name) && !define_constant(operation, scope)) {
            throw ReadError(operation.where, fmt::format("{} is not modelled in a run-time "
                                                         "sequence",
                                                         operation.name));
        }
    }

    ChannelId allocation(const std::string& symbol, Location where) const {
        const auto place = lowering_.allocations.find(symbol);
        if (place == lowering_.allocations.end()) {
            std::vector<std::string> known;
            for (const auto& [name, id] : lowering_.allocations) {
                known.push_back(name);
            }
            const std::string near = base::config::nearest_name(symbol, known);
            throw ReadError(
                where, fmt::format("no aie.shim_dma_allocation is named @{}{}", symbol,
                                   near.empty() ? "" : fmt::format("; did you mean @{}?", near)));
        }
        return place->second;
    }

    // (%arg[offsets][sizes][strides], packet = <...>) {id, metadata = @x, issue_token}; before 2025
    // two coordinates stood in front and the innermost stride was left out.
    void memcpy_nd(const Operation& operation, Scope& scope) {
        Cursor cursor(operation);
        Cursor inside(cursor.group("("));
        while (inside.peek() != nullptr && inside.peek()->is(TokenKind::Number)) {
            inside.take();
            inside.expect(",");
        }
        const std::string argument = inside.peek() != nullptr ? inside.peek()->token.text : "";
        const std::int64_t buffer = scope.index_of(inside, Value::Kind::External);
        const auto offsets = numbers(inside, scope);
        const auto sizes = numbers(inside, scope);
        auto strides = numbers(inside, scope);
        if (strides.size() == 3) {
            strides.push_back(1);
        }
        if (offsets.size() != 4 || sizes.size() != 4 || strides.size() != 4) {
            throw ReadError(operation.where, "expected 4 offsets, 4 sizes and 3 or 4 strides");
        }
        const ChannelId channel =
            allocation(text_attribute(operation, "metadata"), operation.where);
        Transfer transfer;
        transfer.type = lowering_.external_types[static_cast<std::size_t>(buffer)];
        transfer.length = 1;
        transfer.offset = scope.find(argument)->offset;
        for (std::size_t i = 0; i < 4; ++i) {
            const bool sane = std::abs(offsets[i]) < (1LL << 31) &&
                              std::abs(sizes[i]) < (1 << 30) && std::abs(strides[i]) < (1LL << 31);
            if (!sane || sizes[i] < 1) {
                throw ReadError(operation.where, fmt::format("size {} is out of range", sizes[i]));
            }
            transfer.offset += offsets[i] * strides[i];
            if (i > 0) {
                transfer.length = std::min<std::int64_t>(transfer.length * sizes[i], 1LL << 40);
                transfer.dimensions.push_back({sizes[i], strides[i]});
            }
        }
        WriteDescriptor write{channel.tile, {}};
        write.descriptor.id = integer_attribute(operation, "id").value_or(0);
        write.descriptor.buffer = buffer;
        write.descriptor.burst_bytes = integer_attribute(operation, "burst_length").value_or(0);
        packet_of(operation, inside, write.descriptor);
        no_padding(operation);
        set_transfer(write.descriptor, transfer, operation.where);
        if (sizes[0] > 1 && strides[0] != 0) {
            write.descriptor.iteration =
                Iteration{sizes[0], words_of(strides[0], transfer.type, operation.where)};
        }
        registers_.forget(channel.tile, write.descriptor.id);
        lowering_.program.sequence.push_back(write);
        PushTask push{channel, {}};
        push.task.descriptor = write.descriptor.id;
        push.task.repeat = sizes[0];
        // The compiler lets every receiving transfer issue its token.
        push.task.token = channel.direction == Direction::S2MM || is_true(operation, "issue_token");
        lowering_.program.sequence.push_back(push);
    }

    static void packet_of(const Operation& operation, Cursor& inside,
                          BufferDescriptor& descriptor) {
        if (inside.skip(",") && inside.skip_word("packet")) {
            inside.expect("=");
            std::vector<Item> items;
            while (!inside.done()) {
                items.push_back(inside.take());
            }
            descriptor.packet = read_packet(items, operation.where);
        } else if (const auto value = operation.attribute("packet")) {
            descriptor.packet = read_packet(*value, operation.where);
        }
    }

    static void no_padding(const Operation& operation) {
        for (const char* key : {"d0_zero_before", "d1_zero_before", "d2_zero_before",
                                "d0_zero_after", "d1_zero_after", "d2_zero_after"}) {
            if (integer_attribute(operation, key).value_or(0) != 0) {
                throw ReadError(operation.where,
                                fmt::format("{}: a shim tile's DMA cannot pad", key));
            }
        }
    }

    static std::vector<std::int64_t> numbers(Cursor& cursor, const Scope& scope) {
        std::vector<std::int64_t> values;
        Cursor list(cursor.group("["));
        while (!list.done()) {
            values.push_back(scope.integer(list));
            list.skip(",");
        }
        return values;
    }

    void wait(const ChannelId& channel) {
        lowering_.program.sequence.push_back(WaitToken{channel});
    }

    void dma_wait(const Operation& operation, Scope&) {
        wait(allocation(text_attribute(operation, "symbol"), operation.where));
    }

    void sync(const Operation& operation, Scope& scope) {
        std::map<std::string_view, std::int64_t> values;
        static constexpr std::string_view kOrder[] = {"column",  "row",        "direction",
                                                      "channel", "column_num", "row_num"};
        Cursor cursor(operation);
        if (cursor.peek() != nullptr && cursor.peek()->opens("(") &&
            operation.attribute("column") == std::nullopt && is_positional(*cursor.peek())) {
            Cursor inside(cursor.group("("));
            for (const std::string_view key : kOrder) {
                values[key] = inside.done() ? 1 : scope.integer(inside);
                inside.skip(",");
            }
        } else {
            for (const std::string_view key : kOrder) {
                const bool count = key.ends_with("_num");
                values[key] = field(operation, scope, key, count ? std::optional{1} : std::nullopt);
            }
        }
        const auto sane = [](std::int64_t first, std::int64_t number, std::int64_t most) {
            return first >= 0 && number >= 1 && first + number <= most;
        };
        if (!sane(values["column"], values["column_num"], lowering_.config.columns) ||
            !sane(values["row"], values["row_num"], lowering_.config.rows())) {
            throw ReadError(operation.where, "this sync waits for tiles outside the array");
        }
        for (std::int64_t column = 0; column < values["column_num"]; ++column) {
            for (std::int64_t row = 0; row < values["row_num"]; ++row) {
                wait({{values["column"] + column, values["row"] + row},
                      values["direction"] == 0 ? Direction::S2MM : Direction::MM2S,
                      values["channel"]});
            }
        }
    }

    // The array's address: absolute, or an offset in a tile that is named beside it.
    std::uint64_t address_of(const Operation& operation, const Scope& scope) const {
        const auto address = static_cast<std::uint64_t>(field(operation, scope, "address"));
        const auto column = integer_attribute(operation, "column");
        const auto row = integer_attribute(operation, "row");
        const std::uint64_t offset = address & 0xFFFFF;
        if (!column || !row || address != offset) {
            return address;
        }
        return (static_cast<std::uint64_t>(*column) << 25) |
               (static_cast<std::uint64_t>(*row) << 20) | offset;
    }

    void write32(const Operation& operation, Scope& scope) {
        // Since 2026 the address may be an index into a buffer: left to field() to refuse.
        registers_.write(address_of(operation, scope),
                         static_cast<std::uint32_t>(field(operation, scope, "value")),
                         operation.where);
    }

    void maskwrite32(const Operation& operation, Scope& scope) {
        registers_.write(address_of(operation, scope),
                         static_cast<std::uint32_t>(field(operation, scope, "value")),
                         static_cast<std::uint32_t>(field(operation, scope, "mask")),
                         operation.where);
    }

    void blockwrite(const Operation& operation, Scope& scope) {
        Cursor cursor(operation);
        Cursor inside(cursor.group("("));
        const auto global = static_cast<std::size_t>(scope.index_of(inside, Value::Kind::Global));
        std::uint64_t address = address_of(operation, scope);
        for (const std::uint32_t word : lowering_.globals[global]) {
            registers_.write(address, word, operation.where);
            address += kWordBytes;
        }
    }

    void get_global(const Operation& operation, Scope& scope) {
        Cursor cursor(operation);
        const Location where = cursor.where();
        const std::string symbol = cursor.symbol();
        const auto place = lowering_.global_symbols.find(symbol);
        if (place == lowering_.global_symbols.end() || operation.results.size() != 1) {
            throw ReadError(where, fmt::format("no memref.global is named @{}", symbol));
        }
        scope.define(operation.results[0], {Value::Kind::Global, place->second});
    }

    // memref.subview %x[o] [s] [1], memref.reinterpret_cast %x to offset: [o], ...: the same buffer
    // further on. Offsets count dimensions of contiguous buffers.
    void view(const Operation& operation, Scope& scope) {
        Cursor cursor(operation);
        const std::string source = cursor.peek() != nullptr ? cursor.peek()->token.text : "";
        const std::int64_t buffer = scope.index_of(cursor, Value::Kind::External);
        std::vector<std::int64_t> offsets;
        for (const Item& item : operation.items) {
            if (item.opens("[") && operation.name != "memref.cast") {
                Cursor list(item);
                while (!list.done()) {
                    offsets.push_back(scope.integer(list));
                    list.skip(",");
                }
                break;
            }
        }
        const bool linear = offsets.size() <= 1;
        const bool moved = std::any_of(offsets.begin(), offsets.end(),
                                       [](std::int64_t offset) { return offset != 0; });
        if ((moved && !linear) || operation.results.size() != 1) {
            throw ReadError(operation.where,
                            fmt::format("{} of several dimensions with an offset is not modelled; "
                                        "put the offset into the transfer",
                                        operation.name));
        }
        const std::int64_t before = scope.find(source)->offset;
        scope.define(operation.results[0],
                     {Value::Kind::External, buffer, before + (moved ? offsets[0] : 0)});
    }

    void address_patch(const Operation& operation, Scope& scope) {
        const auto index = static_cast<std::size_t>(field(operation, scope, "arg_idx"));
        const Value* argument = index < order_.size() ? scope_.find(order_[index]) : nullptr;
        if (argument == nullptr || argument->kind != Value::Kind::External) {
            throw ReadError(operation.where,
                            fmt::format("argument {} of the sequence is no buffer", index));
        }
        registers_.patch(static_cast<std::uint64_t>(field(operation, scope, "addr")),
                         argument->index, field(operation, scope, "arg_plus", 0), operation.where);
    }

    // The descriptor's registers, field by field; put together as the words of a block write.
    void writebd(const Operation& operation, Scope& scope) {
        const auto get = [&](std::string_view key) {
            return static_cast<std::uint32_t>(field(operation, scope, key, 0));
        };
        const TileCoordinate tile{field(operation, scope, "column"),
                                  field(operation, scope, "row", 0)};
        if (!lowering_.config.contains(tile)) {
            throw ReadError(operation.where, "this descriptor's tile is outside the array");
        }
        const std::uint32_t lock = get("lock_rel_val") % 128 << 18 | get("lock_rel_id") << 13 |
                                   get("lock_acq_enable") << 12 | get("lock_acq_val") % 128 << 5 |
                                   get("lock_acq_id");
        const std::uint32_t next =
            get("next_bd") << 27 | get("use_next_bd") << 26 | get("valid_bd") << 25;
        const std::uint32_t packet = get("enable_packet") << 30 | get("out_of_order_id") << 24 |
                                     get("packet_id") << 19 | get("packet_type") << 16;
        std::vector<std::uint32_t> words;
        std::uint64_t base = 0x1D000;
        switch (lowering_.config.kind_of(tile)) {
            case TileKind::Core:
                words = {get("buffer_offset") / 4 << 14 | get("buffer_length"),
                         packet,
                         get("d1_stride") << 13 | get("d0_stride"),
                         get("d1_size") << 21 | get("d0_size") << 13 | get("d2_stride"),
                         get("iteration_size") << 13 | get("iteration_stride"),
                         next | lock};
                break;
            case TileKind::Shim:
                words = {get("buffer_length"),
                         get("buffer_offset"),
                         packet,
                         get("d0_size") << 20 | get("d0_stride"),
                         get("d1_size") << 20 | get("d1_stride"),
                         get("d2_stride"),
                         get("iteration_size") << 20 | get("iteration_stride"),
                         next | lock};
                break;
            case TileKind::Memory:
                base = 0xA0000;
                words = {get("enable_packet") << 31 | get("packet_type") << 28 |
                             get("packet_id") << 23 | get("out_of_order_id") << 17 |
                             get("buffer_length"),
                         get("d0_zero_before") << 26 | get("next_bd") << 20 |
                             get("use_next_bd") << 19 | get("buffer_offset") / 4,
                         get("d0_size") << 17 | get("d0_stride"),
                         get("d1_zero_before") << 27 | get("d1_size") << 17 | get("d1_stride"),
                         get("d2_zero_before") << 27 | get("d2_size") << 17 | get("d2_stride"),
                         get("d2_zero_after") << 28 | get("d1_zero_after") << 23 |
                             get("d0_zero_after") << 17,
                         get("iteration_size") << 17 | get("iteration_stride"),
                         get("valid_bd") << 31 | get("lock_rel_val") % 128 << 24 |
                             get("lock_rel_id") << 16 | get("lock_acq_enable") << 15 |
                             get("lock_acq_val") % 128 << 8 | get("lock_acq_id")};
                break;
        }
        std::uint64_t address = static_cast<std::uint64_t>(tile.column) << 25 |
                                static_cast<std::uint64_t>(tile.row) << 20 |
                                (base + 0x20 * get("bd_id"));
        for (const std::uint32_t word : words) {
            registers_.write(address, word, operation.where);
            address += kWordBytes;
        }
        // Older files name the argument here instead of in an address_patch.
        if (const auto argument = integer_attribute(operation, "ddr_id")) {
            patch_argument(tile, get("bd_id"), *argument, get("buffer_offset"), operation.where);
        }
    }

    void patch_argument(TileCoordinate tile, std::int64_t id, std::int64_t argument,
                        std::int64_t bytes, Location where) {
        const auto index = static_cast<std::size_t>(argument);
        const Value* value = index < order_.size() ? scope_.find(order_[index]) : nullptr;
        if (value == nullptr || value->kind != Value::Kind::External) {
            return;  // a trace buffer behind the arguments
        }
        registers_.patch(static_cast<std::uint64_t>(tile.column) << 25 |
                             static_cast<std::uint64_t>(0x1D004 + 0x20 * id),
                         value->index, bytes, where);
    }

    // (column, row, MM2S : 0) {bd_id, repeat_count, issue_token}
    void push_queue(const Operation& operation, Scope& scope) {
        Cursor cursor(operation);
        Cursor inside(cursor.group("("));
        const TileCoordinate tile = read_coordinate(inside);
        inside.expect(",");
        const Location where = inside.where();
        const std::string direction = inside.word();
        inside.expect(":");
        const std::int64_t channel = inside.integer();
        // Attributes bd_id and repeat_count, or since 2026 words behind: bd_id %a repeat %b.
        const std::int64_t id =
            cursor.skip_word("bd_id") ? scope.integer(cursor) : field(operation, scope, "bd_id");
        const std::int64_t repeat = cursor.skip_word("repeat")
                                        ? scope.integer(cursor)
                                        : field(operation, scope, "repeat_count", 0);
        if (!lowering_.config.contains(tile) || (direction != "MM2S" && direction != "S2MM") ||
            id < 0 || id > 63 || repeat < 0 || repeat > 255 || channel < 0 || channel > 5) {
            throw ReadError(where,
                            "this push names no channel, descriptor 0..63 and repeat_count "
                            "0..255 of the array");
        }
        const bool memory = lowering_.config.kind_of(tile) == TileKind::Memory;
        const std::uint64_t base = memory          ? (direction == "MM2S" ? 0xA0630 : 0xA0600)
                                   : tile.row == 0 ? (direction == "MM2S" ? 0x1D210 : 0x1D200)
                                                   : (direction == "MM2S" ? 0x1DE10 : 0x1DE00);
        const std::uint64_t address = static_cast<std::uint64_t>(tile.column) << 25 |
                                      static_cast<std::uint64_t>(tile.row) << 20 |
                                      (base + 8 * static_cast<std::uint64_t>(channel) + 4);
        const auto word = static_cast<std::uint32_t>(id | repeat << 16);
        registers_.write(address, word | (is_true(operation, "issue_token") ? 1U << 31 : 0U),
                         where);
    }

    // (@buffer, index, value); before 2025 (column, row, index, value) {buffer_sym_name = "x"}
    void rtp_write(const Operation& operation, Scope& scope) {
        Cursor cursor(operation);
        Cursor inside(cursor.group("("));
        const Location where = inside.where();
        std::string name = text_attribute(operation, "buffer_sym_name");
        if (name.empty()) {
            name = inside.peek() != nullptr && inside.peek()->is(TokenKind::Symbol)
                       ? inside.symbol()
                       : inside.word();
        } else {
            inside.integer();
            inside.expect(",");
            inside.integer();
        }
        inside.expect(",");
        const std::int64_t index = scope.integer(inside);
        inside.expect(",");
        const std::int64_t value = scope.integer(inside);
        const auto& buffers = lowering_.program.buffers;
        const auto place = std::find_if(buffers.begin(), buffers.end(), [&name](const Buffer& b) {
            return b.name == plain_name(name);
        });
        if (place == buffers.end()) {
            throw ReadError(where, fmt::format("no buffer is named '{}'", name));
        }
        const auto parameter = lowering_.parameters.find({place - buffers.begin(), index});
        if (parameter == lowering_.parameters.end()) {
            lowering_.note("run-time parameters that bound no loop are left out");
            return;
        }
        lowering_.program.sequence.push_back(WriteParameter{place->tile, parameter->second, value});
    }

    void set_lock(const Operation& operation, Scope& scope) {
        Cursor cursor(operation);
        Cursor inside(cursor.group("("));
        SetLock set;
        set.lock = scope.index_of(inside, Value::Kind::Lock);
        inside.expect(",");
        const Location where = inside.where();
        set.value = scope.integer(inside);
        if (set.value < 0 || set.value > 63) {
            throw ReadError(where, fmt::format("a lock's value must be 0..63, got {}", set.value));
        }
        lowering_.program.sequence.push_back(set);
    }

    // %t = aiex.dma_configure_task(%tile, MM2S, 0) {blocks} {issue_token, repeat_count}
    void configure_task(const Operation& operation, Scope& scope) {
        Cursor cursor(operation);
        add_task(operation, region_of(operation), channel_of(cursor), scope, scope);
    }

    // @allocation, or (%tile, MM2S, 0)
    ChannelId channel_of(Cursor& cursor) const {
        if (cursor.peek() != nullptr && cursor.peek()->is(TokenKind::Symbol)) {
            const Location where = cursor.where();
            return allocation(cursor.symbol(), where);
        }
        Cursor inside(cursor.group("("));
        const TileCoordinate tile = lowering_.tile(inside);
        inside.expect(",");
        return read_channel(inside, tile);
    }

    // Writes the descriptors of a region's blocks. `names`: what the region sees; `results`: where
    // the task is known from now on.
    Task& add_task(const Operation& operation, const Item& region, const ChannelId& channel,
                   const Scope& names, Scope& results) {
        Scope inner(&names);
        walk(region, [&](const Operation& each) {
            define_constant(each, inner);
            if (const auto id = integer_attribute(each, "bd_id"); id && each.name == "aie.dma_bd") {
                ids_.take(channel.tile, *id);
            }
        });
        std::map<const Block*, std::int64_t> by_block;
        const Chain chain =
            read_chain(lowering_, region, region.blocks.front(), channel, inner, ids_, by_block);
        if (chain.descriptors.empty()) {
            throw ReadError(operation.where, "this task has no transfer");
        }
        Task task{channel, {channel, {}}, {}};
        for (const BufferDescriptor& descriptor : chain.descriptors) {
            registers_.forget(channel.tile, descriptor.id);
            lowering_.program.sequence.push_back(WriteDescriptor{channel.tile, descriptor});
            task.descriptors.push_back(descriptor.id);
        }
        task.push.task.descriptor = chain.descriptors.front().id;
        task.push.task.repeat =
            chain.repeat * (integer_attribute(operation, "repeat_count").value_or(0) + 1);
        task.push.task.token = is_true(operation, "issue_token");
        task.push.task.out_of_order = is_out_of_order(operation);
        if (operation.results.size() == 1) {
            results.define(operation.results[0],
                           {Value::Kind::Task, static_cast<std::int64_t>(tasks_.size())});
        }
        tasks_.push_back(std::move(task));
        return tasks_.back();
    }

    // %t = aiex.dma_start_bd_chain @chain(%a, %b) : (types) on (%tile, MM2S, 0), or
    // dma_start_bd_chain_for @chain(...) : (types) for @allocation. The chain's blocks stand in an
    // aie.bd_chain of the device, with names of their own for what is given here.
    void start_bd_chain(const Operation& operation, Scope& scope) {
        Cursor cursor(operation);
        const Location where = cursor.where();
        const std::string symbol = cursor.symbol();
        const Operation* chain = nullptr;
        for (const Operation& each : lowering_.body()) {
            if (each.name == "aie.bd_chain" && Cursor(each).symbol() == symbol) {
                chain = &each;
            }
        }
        if (chain == nullptr) {
            throw ReadError(where, fmt::format("no aie.bd_chain is named @{}", symbol));
        }
        Scope inner(&lowering_.names);
        Cursor given(cursor.group("("));
        Cursor head(*chain);
        head.symbol();
        Cursor formal(head.group("("));
        while (!formal.done() && !given.done()) {
            const std::string name = formal.value();
            const Location at = given.where();
            const Value* value = scope.find(given.value());
            if (value == nullptr) {
                throw ReadError(at, "this argument is no buffer or lock known here");
            }
            inner.define(name, *value);
            given.skip(",");
            while (!formal.done() && !formal.skip(",")) {
                formal.take();
            }
        }
        while (!cursor.done() && !cursor.skip_word("on") && !cursor.skip_word("for")) {
            cursor.take();
        }
        const ChannelId channel = channel_of(cursor);
        lowering_.program.sequence.push_back(
            add_task(operation, region_of(*chain), channel, inner, scope).push);
    }

    // %id = aiex.dma_bd_pool_pop(column, row, channel): a descriptor that is free
    void pool_pop(const Operation& operation, Scope& scope) {
        const ChannelId channel = pool_of(operation, scope);
        if (operation.results.size() != 1) {
            throw ReadError(operation.where, "a descriptor taken from a pool needs a name");
        }
        scope.define(operation.results[0],
                     {Value::Kind::Constant, ids_.next(channel, operation.where)});
    }
    // aiex.dma_bd_pool_push(column, row, channel) bd_id %id : i32
    void pool_push(const Operation& operation, Scope& scope) {
        const ChannelId channel = pool_of(operation, scope);
        Cursor cursor(operation);
        cursor.group("(");
        if (!cursor.skip_word("bd_id")) {
            cursor.fail("'bd_id'");
        }
        ids_.free(channel.tile, scope.integer(cursor));
    }
    ChannelId pool_of(const Operation& operation, const Scope& scope) const {
        Cursor cursor(operation);
        Cursor inside(cursor.group("("));
        ChannelId channel;
        channel.tile.column = scope.integer(inside);
        inside.expect(",");
        channel.tile.row = scope.integer(inside);
        inside.expect(",");
        channel.index = scope.integer(inside);
        if (!lowering_.config.contains(channel.tile)) {
            throw ReadError(operation.where, "this tile is outside the array");
        }
        return channel;
    }

    Task& task(const Operation& operation, const Scope& scope) {
        Cursor cursor(operation);
        Cursor inside(cursor.group("("));
        return tasks_[static_cast<std::size_t>(scope.index_of(inside, Value::Kind::Task))];
    }

    void start_task(const Operation& operation, Scope& scope) {
        lowering_.program.sequence.push_back(task(operation, scope).push);
    }
    void await_task(const Operation& operation, Scope& scope) {
        const Task& awaited = task(operation, scope);
        if (!awaited.push.task.token) {
            throw ReadError(operation.where,
                            "this task issues no token: it needs {issue_token = true}");
        }
        wait(awaited.channel);
        release(awaited);
    }
    void free_task(const Operation& operation, Scope& scope) { release(task(operation, scope)); }
    void release(const Task& finished) {
        for (const std::int64_t id : finished.descriptors) {
            ids_.free(finished.channel.tile, id);
        }
    }

    void loop(const Operation& operation, Scope& scope) {
        Cursor cursor(operation);
        const std::string variable = cursor.value();
        cursor.expect("=");
        const std::int64_t from = scope.integer(cursor);
        if (!cursor.skip_word("to")) {
            cursor.fail("'to'");
        }
        const std::int64_t to = scope.integer(cursor);
        if (!cursor.skip_word("step")) {
            cursor.fail("'step'");
        }
        const std::int64_t step = scope.integer(cursor);
        if (step <= 0 || ++nesting_ > kMostNesting) {
            throw ReadError(operation.where, "a loop's step must be above 0");
        }
        for (std::int64_t i = from; i < to; i += step) {
            Scope inner(&scope);
            inner.define(variable, {Value::Kind::Constant, i});
            const std::size_t errors = lowering_.errors.size();
            block(region_of(operation), inner);
            if (lowering_.errors.size() > errors) {
                break;  // every run would say the same
            }
            if (++steps_ > kMostSteps) {
                throw ReadError(operation.where, "the run-time sequence is too long");
            }
        }
        --nesting_;
    }

    Lowering& lowering_;
    Scope scope_;
    Registers registers_;
    DescriptorIds ids_;
    std::vector<std::string> order_;  // of the arguments
    std::vector<Task> tasks_;
    std::size_t steps_ = 0;
    int nesting_ = 0;
};

bool is_sequence(const Operation& operation) {
    if (operation.name.ends_with(".runtime_sequence")) {
        return true;
    }
    bool commands = false;
    if (operation.name == "func.func") {
        walk({operation}, [&commands](const Operation& each) {
            commands = commands || each.name.starts_with("aiex.npu.") ||
                       each.name.starts_with("aiex.ipu.") || each.name.starts_with("aiex.dma_");
        });
    }
    return commands;
}

std::string symbol_of(const Operation& operation) {
    for (const Item& item : operation.items) {
        if (item.is(TokenKind::Symbol)) {
            return item.token.text;
        }
    }
    return text_attribute(operation, "sym_name");
}

void add_host_steps(Lowering& lowering) {
    std::vector<std::string> names;
    for (const Lock& lock : lowering.program.locks) {
        names.push_back(lock.name);
    }
    for (const HostStep& step : lowering.options.host) {
        const auto place = std::find(names.begin(), names.end(), step.lock);
        if (place == names.end()) {
            const std::string near = base::config::nearest_name(step.lock, names);
            throw ReadError(
                lowering.device.where,
                fmt::format("design.host: no lock is named '{}'{}", step.lock,
                            near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
        }
        const std::int64_t most = lowering.config.most_lock_value();
        if (step.value > most) {
            throw ReadError(lowering.device.where,
                            fmt::format("design.host: lock '{}' holds 0..{}, got {}", step.lock,
                                        most, step.value));
        }
        const std::int64_t lock = place - names.begin();
        const bool counting = lowering.config.lock_kind == LockKind::Counting;
        if (step.wait) {
            lowering.program.sequence.push_back(
                AcquireLock{{lock, counting ? -step.value : step.value}});
        } else {
            lowering.program.sequence.push_back(SetLock{lock, step.value});
        }
    }
}

}  // namespace

void lower_sequence(Lowering& lowering) {
    const Operation* chosen = nullptr;
    std::vector<std::string> others;
    for (const Operation& operation : lowering.body()) {
        if (!is_sequence(operation)) {
            continue;
        }
        const std::string& wanted = lowering.options.sequence;
        const bool fits = wanted.empty() ? chosen == nullptr : symbol_of(operation) == wanted;
        if (fits) {
            chosen = &operation;
        } else {
            others.push_back(fmt::format("@{}", symbol_of(operation)));
        }
    }
    if (chosen == nullptr) {
        if (!lowering.options.sequence.empty()) {
            throw ReadError(lowering.device.where, fmt::format("no run-time sequence is named @{}",
                                                               lowering.options.sequence));
        }
        if (lowering.options.host.empty()) {
            lowering.note("the device has no run-time sequence: only what starts by itself runs");
        }
        add_host_steps(lowering);
        return;
    }
    for (const std::string& other : others) {
        lowering.note(fmt::format("run-time sequence {} is left out", other));
    }
    Sequence(lowering).run(*chosen);
    add_host_steps(lowering);
}

}  // namespace tilesim::arch::npu::mlir
