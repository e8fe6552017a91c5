// The run-time sequence: what the command processor executes.
#include "workloads/npu/mlir/sequence.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <variant>

#include "arch/base/config.hpp"
#include "workloads/npu/mlir/control_packets.hpp"
#include "workloads/npu/mlir/descriptor.hpp"
#include "workloads/npu/mlir/flow_walker.hpp"
#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/register_writes.hpp"
#include "workloads/npu/mlir/registers.hpp"
#include "workloads/npu/mlir/sequence_operands.hpp"
#include "workloads/npu/mlir/sequence_tasks.hpp"
#include "workloads/npu/mlir/transfer.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir {

namespace {

constexpr std::size_t kMostFollowed = 1'000'000;  // unrolled
constexpr int kMostNesting = 32;
constexpr std::string_view kUnnamed = "sequence";  // a sequence without a name of its own

class Sequence {
  public:
    explicit Sequence(Lowering& lowering)
        : lowering_(lowering), scope_(&lowering.names), registers_(lowering), ids_(lowering) {
        for (const program::TileDma& dma : lowering.program.dmas) {
            for (const program::BufferDescriptor& descriptor : dma.descriptors) {
                ids_.take(dma.tile, descriptor.id);
            }
        }
    }

    void run(const Operation& operation) {
        const std::size_t errors = lowering_.errors.size();
        arguments(operation);
        block(region_of(operation), scope_);
        check_scalars(operation, errors);
    }

    SequenceNames declare(const Operation& operation) {
        arguments(operation);
        return {names_, register_writes_.set_arguments({})};
    }
    void see(const SequenceNames& names) {
        for (const auto& [name, value] : names.values) {
            scope_.define(name, value);
        }
        register_writes_.set_arguments(names.arguments);
    }
    void run(const std::vector<const Operation*>& operations) {
        for (const Operation* operation : operations) {
            lowering_.attempt([&] { step(*operation, scope_); });
        }
    }
    const Scope& names() const { return scope_; }

  private:
    template <class Part>
    using Handles = void (Part::*)(const Operation&, Scope&);
    void call(Handles<Sequence> handles, const Operation& operation, Scope& scope) {
        (this->*handles)(operation, scope);
    }
    void call(Handles<RegisterWrites> handles, const Operation& operation, Scope& scope) {
        (register_writes_.*handles)(operation, scope);
    }
    void call(Handles<SequenceTasks> handles, const Operation& operation, Scope& scope) {
        (tasks_.*handles)(operation, scope);
    }

    // (%a: memref<64xi32>, %n: i32)
    void arguments(const Operation& operation) {
        Cursor cursor(operation);
        while (!cursor.done() && !cursor.peek()->opens("(")) {
            cursor.take();
        }
        Cursor list(cursor.group("("));
        std::vector<RegisterWrites::Argument> buffers;
        while (!list.done()) {
            const std::string name = list.value();
            list.expect(":");
            if (list.peek() != nullptr && list.peek()->is_word("memref")) {
                buffers.push_back({add_buffer(name, read_argument_memref(list)), 0});
            } else {
                scalar(name);
            }
            while (!list.done() && !list.skip(",")) {
                list.take();
            }
        }
        register_writes_.set_arguments(std::move(buffers));
    }

    // A number the host hands over at the launch.
    void scalar(const std::string& name) {
        const auto stated = lowering_.options.arguments.find(name);
        if (stated != lowering_.options.arguments.end()) {
            scope_.define(name, {Value::Kind::Constant, stated->second});
            names_.emplace_back(name, Value{Value::Kind::Constant, stated->second});
            stated_.insert(name);
        } else {
            unstated_.push_back(name);
        }
    }

    // Whatever failed for want of a number the host knows says so.
    void check_scalars(const Operation& operation, std::size_t errors_before) {
        for (const auto& [name, value] : lowering_.options.arguments) {
            if (!stated_.contains(name)) {
                const std::string near = arch::base::config::nearest_name(name, unstated_);
                lowering_.errors.emplace_back(
                    operation.where,
                    fmt::format("design.arguments: the sequence has no number %{}{}", name,
                                near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
            }
        }
        const bool lacks_one = std::any_of(
            lowering_.errors.begin() + static_cast<std::ptrdiff_t>(errors_before),
            lowering_.errors.end(),
            [](const auto& error) { return error.second.find(kNoConstant) != std::string::npos; });
        if (lacks_one && !unstated_.empty()) {
            lowering_.errors.emplace_back(
                operation.where, fmt::format("%{} is given by the host at the launch; state it as "
                                             "design.arguments.{}",
                                             fmt::join(unstated_, ", %"), unstated_.front()));
        }
    }

    // The number of the external buffer that an argument becomes.
    std::int64_t add_buffer(const std::string& name, const MemrefType& type) {
        auto& buffers = lowering_.program.external_buffers;
        const auto number = static_cast<std::int64_t>(buffers.size());
        program::ExternalBuffer buffer;
        buffer.name = unique_name(buffers, name);
        buffer.bytes = (type.bytes() + kWordBytes - 1) / kWordBytes * kWordBytes;
        if (!type.sized) {
            lowering_.note(fmt::format("argument {} has no size: as large as its transfers reach",
                                       buffer.name));
        }
        const Value value{Value::Kind::External, number};
        scope_.define(name, value);
        names_.emplace_back(name, value);
        buffers.push_back(buffer);
        lowering_.external_types.push_back(type);
        return number;
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
        if (++steps_ > kMostFollowed) {
            throw ReadError(operation.where, fmt::format("the run-time sequence is longer than {} "
                                                         "operations",
                                                         kMostFollowed));
        }
        using Handler =
            std::variant<Handles<Sequence>, Handles<RegisterWrites>, Handles<SequenceTasks>>;
        static const std::map<std::string_view, Handler> kHandlers{
            {"dma_memcpy_nd", &Sequence::memcpy_nd},
            {"dma_wait", &Sequence::dma_wait},
            {"sync", &Sequence::sync},
            {"write32", &RegisterWrites::write32},
            {"maskwrite32", &RegisterWrites::maskwrite32},
            {"blockwrite", &RegisterWrites::blockwrite},
            {"writebd", &RegisterWrites::writebd},
            {"writebd_shimtile", &RegisterWrites::writebd},
            {"address_patch", &RegisterWrites::address_patch},
            {"push_queue", &RegisterWrites::push_queue},
            {"rtp_write", &Sequence::rtp_write},
            {"set_lock", &Sequence::set_lock},
            {"buffer_clear", &Sequence::buffer_clear},
            {"control_packet", &Sequence::control_packet},
            {"dma_channel_reset", &Sequence::channel_reset},
            {"core_reset", &Sequence::core_reset},
            {"dma_channel_reset_for", &Sequence::channel_reset_for},
            {"run", &Sequence::run_other},
            {"dma_configure_task", &SequenceTasks::configure_task},
            {"dma_configure_task_for", &SequenceTasks::configure_task},
            {"dma_start_task", &SequenceTasks::start_task},
            {"dma_start_bd_chain", &SequenceTasks::start_bd_chain},
            {"dma_start_bd_chain_for", &SequenceTasks::start_bd_chain},
            {"dma_bd_pool_pop", &SequenceTasks::pool_pop},
            {"dma_bd_pool_push", &SequenceTasks::pool_push},
            {"dma_await_task", &SequenceTasks::await_task},
            {"dma_free_task", &SequenceTasks::free_task},
            {"memref.get_global", &Sequence::get_global},
            {"memref.subview", &Sequence::view},
            {"memref.reinterpret_cast", &Sequence::view},
            {"memref.view", &Sequence::retyped_view},
            {"memref.cast", &Sequence::view},
            {"scf.for", &Sequence::loop},
            {"scf.yield", &Sequence::yield},
            {"create_scratchpad", &Sequence::scratchpad},
            {"update_from_scratchpad", &Sequence::scratchpad},
            {"sync_scratchpad_parameters_from_host", &Sequence::scratchpad},
        };
        static const std::set<std::string_view> kNothing{
            "aie.end",      "return",          "func.return",        "memref.assume_alignment",
            "preempt",      "cf.assert",       "load_pdi",           "memref.dealloc",
            "patch_marker", "assert_bd_field", "assert_bd_divisible"};
        const std::string_view name = operation_name(operation);
        const auto handler = kHandlers.find(name);
        if (handler != kHandlers.end()) {
            std::visit([&](auto handles) { call(handles, operation, scope); }, handler->second);
        } else if (operation.name.starts_with("aie.trace")) {
            lowering_.note("trace set-up is left out");
        } else if (operation.name == "scf.if") {
            branch(operation, scope);
        } else if (!kNothing.contains(name) && !define_constant(operation, scope) &&
                   !operation.name.starts_with("arith.")) {  // unknown: whoever needs it says so
            throw ReadError(operation.where, fmt::format("{} is not modelled in a run-time "
                                                         "sequence",
                                                         operation.name));
        }
    }

    // (%arg[offsets][sizes][strides], packet = <...>) {id, metadata = @x, issue_token}; before 2025
    // the innermost stride was left out.
    void memcpy_nd(const Operation& operation, Scope& scope) {
        Cursor cursor(operation);
        Cursor inside(cursor.group("("));
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
        const program::ChannelId channel =
            allocation(lowering_, text_attribute(operation, "metadata"), operation.where);
        Transfer transfer;
        transfer.type = lowering_.external_types[static_cast<std::size_t>(buffer)];
        transfer.length = 1;
        const Value& view = *scope.find(argument);
        if (view.element_bits != 0) {
            transfer.type.element_bits = view.element_bits;
        }
        transfer.offset = elements_before(view, transfer.type.element_bits, operation.where);
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
        program::WriteDescriptor write{channel.tile, {}};
        write.descriptor.id = integer_attribute(operation, "id").value_or(0);
        write.descriptor.buffer = buffer;
        write.descriptor.burst_bytes = integer_attribute(operation, "burst_length").value_or(0);
        packet_of(operation, inside, write.descriptor);
        send_packet(lowering_, text_attribute(operation, "metadata"), channel, write.descriptor);
        no_padding(operation);
        set_transfer(write.descriptor, transfer, operation.where);
        factor_dimensions(write.descriptor,
                          lowering_.config.dma_of(lowering_.config.kind_of(channel.tile)));
        if (sizes[0] > 1 && strides[0] != 0) {
            write.descriptor.iteration =
                program::Iteration{sizes[0], words_of(strides[0], transfer.type, operation.where)};
        }
        registers_.forget(channel.tile, write.descriptor.id);
        lowering_.program.sequence.push_back(write);
        program::PushTask push{channel, {}};
        push.task.descriptor = write.descriptor.id;
        push.task.repeat = sizes[0];
        // The compiler lets every receiving transfer issue its token.
        push.task.token =
            channel.direction == program::Direction::S2MM || is_true(operation, "issue_token");
        lowering_.program.sequence.push_back(push);
    }

    static void packet_of(const Operation& operation, Cursor& inside,
                          program::BufferDescriptor& descriptor) {
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

    void wait(const program::ChannelId& channel) {
        lowering_.program.sequence.push_back(program::WaitToken{channel});
    }

    // aiex.control_packet {address, opcode, stream_id, data}: a packet that writes registers.
    // Opcodes 0 and 2 write `data`, word after word; 1 reads and changes nothing.
    void control_packet(const Operation& operation, Scope&) {
        const auto address = integer_attribute(operation, "address");
        const std::int64_t opcode = integer_attribute(operation, "opcode").value_or(0);
        const auto data = operation.attribute("data");
        if (!address || (opcode != 1 && !data)) {
            throw ReadError(operation.where, "a control packet needs an address and data");
        }
        lowering_.note(kControlPacketsAct);
        if (opcode == 1) {
            return;
        }
        auto to = static_cast<std::uint64_t>(*address);
        Cursor list(*data, operation.where);
        while (!list.done() && !list.peek()->opens("<")) {
            list.take();
        }
        Cursor words(list.group("<"));
        while (!words.done()) {
            if (!words.peek()->is(TokenKind::Number)) {
                words.take();
                continue;
            }
            registers_.write(to, static_cast<std::uint32_t>(words.integer()), operation.where);
            to += kWordBytes;
        }
    }

    // (%tile, S2MM, 0)
    void channel_reset(const Operation& operation, Scope&) {
        Cursor cursor(operation);
        Cursor inside(cursor.group("("));
        const program::TileCoordinate tile = lowering_.tile(inside);
        inside.expect(",");
        lowering_.program.sequence.push_back(program::ResetChannel{read_channel(inside, tile)});
    }

    // (@fifo): every channel of it that is no shim's begins again, with its locks.
    void channel_reset_for(const Operation& operation, Scope&) {
        Cursor cursor(operation);
        std::string symbol;
        if (!cursor.done() && cursor.peek()->opens("(")) {
            Cursor inside(cursor.take());
            symbol = inside.symbol();
        } else {
            symbol = cursor.symbol();
        }
        const auto fifo = std::find_if(lowering_.fifos.begin(), lowering_.fifos.end(),
                                       [&symbol](const ObjectFifo& f) { return f.name == symbol; });
        for (const Operation& each : lowering_.body()) {
            if (each.name == "aie.objectfifo_rearm_binding" && symbol_of(each) == symbol) {
                rearm(each);
                return;
            }
        }
        if (fifo == lowering_.fifos.end()) {
            throw ReadError(operation.where, fmt::format("no object FIFO is named @{}", symbol));
        }
        auto& sequence = lowering_.program.sequence;
        for (const auto& [channel, task] : fifo->started) {
            sequence.push_back(program::ResetChannel{channel});
        }
        for (const auto* end : ends_of(*fifo)) {
            for (const LockPair& pair : lowering_.fifo_pools[*end->pool].locks) {
                for (const std::int64_t lock : std::set{pair.producer, pair.consumer}) {
                    const auto index = static_cast<std::size_t>(lock);
                    sequence.push_back(
                        program::SetLock{lock, lowering_.program.locks[index].initial});
                }
            }
        }
        for (const auto& [channel, task] : fifo->started) {
            sequence.push_back(program::PushTask{channel, task});
        }
    }

    // What the compiler leaves of a fifo that is reset: its channels, their first descriptors and
    // repeats, its locks and what they begin with.
    void rearm(const Operation& binding) {
        Cursor cursor(binding);
        const std::string symbol = cursor.symbol();
        std::vector<program::TileCoordinate> tiles;
        std::vector<std::int64_t> locks;
        while (!cursor.done() && cursor.peek()->kind == Item::Kind::Token) {
            const std::string of = cursor.word();
            Cursor list(cursor.group("("));
            while (!list.done() && list.peek()->is(TokenKind::Value)) {
                if (of == "channels") {
                    tiles.push_back(lowering_.tile(list));
                } else {
                    locks.push_back(lowering_.names.index_of(list, Value::Kind::Lock));
                }
                list.skip(",");
            }
        }
        const auto directions = array_of(binding, "channel_dirs");
        const auto channels = array_of(binding, "channel_indices");
        const auto values = array_of(binding, "lock_inits");
        auto heads = array_of(binding, "head_bd_ids");
        auto repeats = array_of(binding, "repeat_counts");
        if (directions.size() != tiles.size() || channels.size() != tiles.size() ||
            values.size() != locks.size() || (!heads.empty() && heads.size() != tiles.size()) ||
            (!repeats.empty() && repeats.size() != tiles.size())) {
            throw ReadError(
                binding.where,
                fmt::format("@{}: its lists of channels and locks differ in length", symbol));
        }
        auto& sequence = lowering_.program.sequence;
        std::vector<program::PushTask> pushes;
        for (std::size_t i = 0; i < tiles.size(); ++i) {
            const program::ChannelId channel{
                tiles[i], directions[i] == 0 ? program::Direction::S2MM : program::Direction::MM2S,
                channels[i]};
            sequence.push_back(program::ResetChannel{channel});
            pushes.push_back({channel, heads.empty() || repeats.empty()
                                           ? started_task(channel, binding.where)
                                           : program::Task{heads[i], repeats[i] + 1}});
        }
        for (std::size_t i = 0; i < locks.size(); ++i) {
            sequence.push_back(program::SetLock{locks[i], values[i]});
        }
        sequence.insert(sequence.end(), pushes.begin(), pushes.end());
    }
    // array<i32: 2, 0>
    static std::vector<std::int64_t> array_of(const Operation& operation, std::string_view key) {
        std::vector<std::int64_t> numbers;
        const auto value = operation.attribute(key);
        for (const Item& item : value.value_or(std::vector<Item>{})) {
            for (const Item& inner : item.items) {
                if (inner.is(TokenKind::Number)) {
                    numbers.push_back(to_integer(inner.token.text).value_or(0));
                }
            }
        }
        return numbers;
    }
    program::Task started_task(const program::ChannelId& channel, Location where) {
        for (const auto& start : lowering_.dma_of(channel.tile).starts) {
            if (start.direction == channel.direction && start.channel == channel.index) {
                return start.task;
            }
        }
        throw ReadError(where, "this names a channel that nothing starts");
    }

    static std::vector<const FifoEnd*> ends_of(const ObjectFifo& fifo) {
        std::vector<const FifoEnd*> ends;
        if (fifo.producer.pool) {
            ends.push_back(&fifo.producer);
        }
        for (const FifoEnd& end : fifo.consumers) {
            if (end.pool && end.pool != fifo.producer.pool) {
                ends.push_back(&end);
            }
        }
        return ends;
    }

    void core_reset(const Operation& operation, Scope&) {
        Cursor cursor(operation);
        Cursor inside(cursor.group("("));
        lowering_.program.sequence.push_back(program::ResetCore{lowering_.tile(inside)});
    }

    // aiex.run @sequence(%a, %b) : (types): another sequence of this device, in this place.
    void run_other(const Operation& operation, Scope& scope) {
        Cursor cursor(operation);
        if (!cursor.done() && cursor.peek()->is(TokenKind::Value)) {  // what configured the array
            cursor.take();
            cursor.expect("->");
        }
        const Location where = cursor.where();
        const std::string symbol = cursor.symbol();
        const Operation* other = nullptr;
        for (const Operation& each : lowering_.body()) {
            const std::string name = symbol_of(each);
            if (each.name.ends_with(".runtime_sequence") &&
                (name == symbol || (name.empty() && symbol == kUnnamed))) {
                other = &each;
            }
        }
        if (other == nullptr || ++nesting_ > kMostNesting) {
            throw ReadError(where,
                            other == nullptr
                                ? fmt::format("this device has no run-time sequence @{}", symbol)
                                : "sequences run each other without end");
        }
        Scope inner(&scope);
        std::vector<RegisterWrites::Argument> buffers;
        Cursor given(cursor.group("("));
        Cursor head(*other);
        while (!head.done() && !head.peek()->opens("(")) {
            head.take();
        }
        Cursor formal(head.group("("));
        while (!formal.done()) {
            const std::string name = formal.value();
            const Location at = given.where();
            const Value* value = given.done() ? nullptr : scope.find(given.value());
            if (value == nullptr) {
                throw ReadError(at, fmt::format("@{} needs a known value for %{}", symbol, name));
            }
            inner.define(name, *value);
            if (value->kind == Value::Kind::External) {
                buffers.push_back({value->index, value->offset_bits / 8});
            }
            given.skip(",");
            while (!formal.done() && !formal.skip(",")) {
                formal.take();
            }
        }
        auto outside = register_writes_.set_arguments(std::move(buffers));
        block(region_of(*other), inner);
        register_writes_.set_arguments(std::move(outside));
        --nesting_;
    }

    void dma_wait(const Operation& operation, Scope&) {
        wait(allocation(lowering_, text_attribute(operation, "symbol"), operation.where));
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
                wait(
                    {{values["column"] + column, values["row"] + row},
                     values["direction"] == 0 ? program::Direction::S2MM : program::Direction::MM2S,
                     values["channel"]});
            }
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
    // further on.
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
        const bool moved = std::any_of(offsets.begin(), offsets.end(),
                                       [](std::int64_t offset) { return offset != 0; });
        std::vector<std::int64_t> strides(offsets.size(), 1);
        if (moved && offsets.size() > 1) {
            strides = strides_of_source(operation);
        }
        if (strides.size() != offsets.size() || operation.results.size() != 1) {
            throw ReadError(operation.where,
                            fmt::format("{} of several dimensions with an offset needs the "
                                        "sizes or strides of what it views; put the offset into "
                                        "the transfer",
                                        operation.name));
        }
        constexpr std::int64_t kMostOffset = std::int64_t{1} << 40;  // elements
        std::int64_t offset = 0;
        for (std::size_t i = 0; i < offsets.size(); ++i) {
            std::int64_t step = 0;
            if (__builtin_mul_overflow(offsets[i], strides[i], &step) ||
                __builtin_add_overflow(offset, step, &offset) || offset > kMostOffset ||
                offset < -kMostOffset) {
                throw ReadError(operation.where,
                                fmt::format("an offset is out of range, -{0}..{0}", kMostOffset));
            }
        }
        Value view = *scope.find(source);
        const std::int64_t bits =
            view.element_bits != 0
                ? view.element_bits
                : lowering_.external_types[static_cast<std::size_t>(buffer)].element_bits;
        view.offset_bits += offset * bits;
        check_view(view, operation.where);
        scope.define(operation.results[0], view);
    }

    static void check_view(const Value& view, Location where) {
        constexpr std::int64_t kMostBits = std::int64_t{1} << 52;  // of views of views
        if (view.offset_bits > kMostBits || view.offset_bits < -kMostBits) {
            throw ReadError(where, "a view begins too far from its buffer");
        }
    }

    // memref.view %x[%bytes][] : memref<1024xi8> to memref<128xi16>: other elements, so many bytes
    // further on.
    void retyped_view(const Operation& operation, Scope& scope) {
        Cursor cursor(operation);
        const std::string source = cursor.peek() != nullptr ? cursor.peek()->token.text : "";
        scope.index_of(cursor, Value::Kind::External);
        Cursor shift(cursor.group("["));
        const std::int64_t bytes = scope.integer(shift);
        constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;
        while (!cursor.done() && !cursor.skip_word("to")) {
            cursor.take();
        }
        if (bytes < 0 || bytes > kMostBytes || operation.results.size() != 1) {
            throw ReadError(operation.where, fmt::format("memref.view begins at byte 0..{}, got {}",
                                                         kMostBytes, bytes));
        }
        Value view = *scope.find(source);
        view.offset_bits += bytes * 8;
        check_view(view, operation.where);
        view.element_bits = read_argument_memref(cursor).element_bits;
        scope.define(operation.results[0], view);
    }

    // Behind ":" stands what is viewed: memref<4x64xi32>. Nothing where a size or stride is not
    // known.
    static std::vector<std::int64_t> strides_of_source(const Operation& operation) {
        Cursor cursor(operation);
        while (!cursor.done() && !cursor.peek()->is(":")) {
            cursor.take();
        }
        return cursor.skip(":") ? strides_of_memref(cursor) : std::vector<std::int64_t>{};
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
        const auto place =
            std::find_if(buffers.begin(), buffers.end(),
                         [&name](const program::Buffer& b) { return b.name == plain_name(name); });
        if (place == buffers.end()) {
            throw ReadError(where, fmt::format("no buffer is named '{}'", name));
        }
        if (!lowering_.write_parameter(place - buffers.begin(), index, value)) {
            lowering_.note("run-time parameters that bound no loop are left out");
        }
    }

    void set_lock(const Operation& operation, Scope& scope) {
        Cursor cursor(operation);
        Cursor inside(cursor.group("("));
        program::SetLock set;
        set.lock = scope.index_of(inside, Value::Kind::Lock);
        inside.expect(",");
        const Location where = inside.where();
        set.value = scope.integer(inside);
        if (set.value < 0 || set.value > 63) {
            throw ReadError(where, fmt::format("a lock's value must be 0..63, got {}", set.value));
        }
        lowering_.program.sequence.push_back(set);
    }

    // aiex.buffer_clear(%tile, offset, words): zeros into a core's data memory.
    void buffer_clear(const Operation& operation, Scope& scope) {
        Cursor cursor(operation);
        Cursor inside(cursor.group("("));
        const program::TileCoordinate tile = lowering_.tile(inside);
        inside.expect(",");
        const std::int64_t offset = scope.integer(inside);
        inside.expect(",");
        const std::int64_t words = scope.integer(inside);
        const std::int64_t room = lowering_.config.core.memory.count();
        if (lowering_.config.kind_of(tile) != program::TileKind::Core || offset < 0 || words < 1 ||
            words > room / kWordBytes || offset > room - words * kWordBytes) {
            throw ReadError(operation.where,
                            fmt::format("{} words from byte {} lie outside a core's memory of {} B",
                                        words, offset, room));
        }
        for (std::int64_t i = 0; i < words; ++i) {
            registers_.memory_word(tile, offset + i * kWordBytes, 0);
        }
        lowering_.note("aiex.buffer_clear: zeros that are no run-time parameters are left out");
    }

    static bool counts_runs(const std::vector<program::CoreOp>& script, std::int64_t parameter) {
        return std::any_of(script.begin(), script.end(), [parameter](const program::CoreOp& each) {
            const auto* loop = std::get_if<program::LoopOp>(&each.op);
            return loop != nullptr &&
                   (loop->parameter == parameter || counts_runs(loop->body, parameter));
        });
    }
    bool bounds_a_loop(program::TileCoordinate tile, std::int64_t parameter) const {
        const auto& cores = lowering_.program.cores;
        return std::any_of(cores.begin(), cores.end(), [&](const program::CoreProgram& core) {
            return core.tile == tile && counts_runs(core.script, parameter);
        });
    }

    // What the host hands over besides the arguments: the command processor adds it to words of the
    // array. Where it decides how often a core's loop runs, its value matters.
    void scratchpad(const Operation& operation, Scope&) {
        const std::string name = text_attribute(operation, "buffer");
        const auto& buffers = lowering_.program.buffers;
        for (const auto& [word, number] : lowering_.parameters) {
            const program::Buffer& buffer = buffers[static_cast<std::size_t>(word.first)];
            const bool bounds =
                std::any_of(lowering_.loop_parameters.begin(), lowering_.loop_parameters.end(),
                            [number = number](const auto& each) { return each.bound == number; });
            if (buffer.name == plain_name(name) && (bounds || bounds_a_loop(buffer.tile, number))) {
                throw ReadError(operation.where,
                                fmt::format("buffer @{} bounds a loop of a core, and what the "
                                            "scratchpad adds to it only the host knows",
                                            name));
            }
        }
        lowering_.note(
            "what the command processor takes from the host's scratchpad is left out: values, "
            "offsets of transfers (taken as 0), the time of these operations");
    }

    // scf.yield %a, %b : index, index
    void yield(const Operation& operation, Scope& scope) {
        yielded_.clear();
        Cursor cursor(operation);
        while (!cursor.done() && cursor.peek()->is(TokenKind::Value)) {
            const Value* value = scope.find(cursor.value());
            yielded_.push_back(value == nullptr ? std::nullopt : std::optional{*value});
            cursor.skip(",");
        }
    }

    // Names stand for these values, and for nothing where a value is not known.
    static void define_all(const std::vector<std::string>& names,
                           const std::vector<std::optional<Value>>& values, Scope& scope) {
        const auto define = [&](const std::string& name, const std::optional<Value>& value) {
            if (value) {
                scope.define(name, *value);
            } else {
                scope.forget(name);
            }
        };
        for (std::size_t i = 0; i < names.size(); ++i) {
            define(names[i], i < values.size() ? values[i] : std::nullopt);
        }
        for (std::size_t k = 0; names.size() == 1 && values.size() > 1 && k < values.size(); ++k) {
            define(fmt::format("{}#{}", names[0], k), values[k]);  // %r:2 = ..., used as %r#0
        }
    }

    void branch(const Operation& operation, Scope& scope) {
        Cursor cursor(operation);
        const std::size_t taken = scope.integer(cursor) != 0 ? 0 : 1;
        const auto regions = operation.regions();
        yielded_.clear();
        if (taken < regions.size()) {
            Scope inner(&scope);
            block(*regions[taken], inner);
        }
        define_all(operation.results, yielded_, scope);
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
        std::vector<std::string> carried;
        std::vector<std::optional<Value>> values;
        if (cursor.skip_word("iter_args")) {
            Cursor list(cursor.group("("));
            while (!list.done()) {
                carried.push_back(list.value());
                list.expect("=");
                const Value* value = scope.find(list.value());
                values.push_back(value == nullptr ? std::nullopt : std::optional{*value});
                list.skip(",");
            }
        }
        if (step <= 0 || ++nesting_ > kMostNesting) {
            throw ReadError(operation.where, "a loop's step must be above 0");
        }
        for (std::int64_t i = from; i < to; i += step) {
            Scope inner(&scope);
            inner.define(variable, {Value::Kind::Constant, i});
            define_all(carried, values, inner);
            const std::size_t errors = lowering_.errors.size();
            yielded_.clear();
            block(region_of(operation), inner);
            values = yielded_;
            if (lowering_.errors.size() > errors) {
                break;  // every run would say the same
            }
            if (++steps_ > kMostFollowed) {
                throw ReadError(operation.where, "the run-time sequence is too long");
            }
        }
        define_all(operation.results, values, scope);
        --nesting_;
    }

    Lowering& lowering_;
    Scope scope_;
    std::vector<std::pair<std::string, Value>> names_;  // of the arguments
    Registers registers_;
    DescriptorIds ids_;
    RegisterWrites register_writes_{lowering_, registers_};
    SequenceTasks tasks_{lowering_, registers_, ids_};
    std::vector<std::string> unstated_;  // numbers among the arguments that only the host knows
    std::set<std::string> stated_;
    std::vector<std::optional<Value>> yielded_;  // by the block read last
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

// Channels of the first generation send no tokens: whoever waits polls until they are idle.
void poll_without_tokens(Lowering& lowering) {
    const auto sends = [&lowering](const program::ChannelId& channel) {
        return lowering.config.dma_of(lowering.config.kind_of(channel.tile)).tokens;
    };
    for (program::SequenceOp& operation : lowering.program.sequence) {
        if (auto* push = std::get_if<program::PushTask>(&operation)) {
            push->task.token = push->task.token && sends(push->channel);
        } else if (const auto* wait = std::get_if<program::WaitToken>(&operation);
                   wait != nullptr && !sends(wait->channel)) {
            operation = program::WaitIdle{program::ChannelId{wait->channel}};
        }
    }
}

// An array of parameters of which the sequence writes some: the others hold 0.
void settle_parameters(Lowering& lowering, const std::set<std::int64_t>& zero,
                       std::vector<program::CoreOp>& script) {
    for (program::CoreOp& each : script) {
        auto* loop = std::get_if<program::LoopOp>(&each.op);
        if (loop == nullptr) {
            continue;
        }
        settle_parameters(lowering, zero, loop->body);
        if (!loop->parameter || !zero.contains(*loop->parameter)) {
            continue;
        }
        loop->count = 0;
        for (const Lowering::LoopParameter& counts : lowering.loop_parameters) {
            if (counts.number == *loop->parameter) {
                loop->count = times_passed(counts.predicate, counts.first, counts.step, 0);
            }
        }
        loop->parameter.reset();
        lowering.note(
            "words of a run-time parameter array that the sequence never writes are taken as 0");
    }
}
void settle_parameters(Lowering& lowering) {
    std::set<std::int64_t> written;
    for (const program::SequenceOp& operation : lowering.program.sequence) {
        if (const auto* write = std::get_if<program::WriteParameter>(&operation)) {
            written.insert(write->index);
        }
    }
    std::set<std::int64_t> arrays, zero;  // buffers; parameters
    for (const auto& [word, number] : lowering.parameters) {
        if (written.contains(number)) {
            arrays.insert(word.first);
        }
    }
    for (const auto& [word, number] : lowering.parameters) {
        if (arrays.contains(word.first) && !written.contains(number)) {
            zero.insert(number);
        }
    }
    for (const Lowering::LoopParameter& counts : lowering.loop_parameters) {
        if (zero.contains(counts.bound)) {
            zero.insert(counts.number);
        }
    }
    for (program::CoreProgram& core : lowering.program.cores) {
        settle_parameters(lowering, zero, core.script);
    }
}

void add_host_steps(Lowering& lowering) {
    std::vector<std::string> names;
    for (const program::Lock& lock : lowering.program.locks) {
        names.push_back(lock.name);
    }
    for (const HostStep& step : lowering.options.host) {
        const auto place = std::find(names.begin(), names.end(), step.lock);
        if (place == names.end()) {
            const std::string near = arch::base::config::nearest_name(step.lock, names);
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
                program::AcquireLock{{lock, counting ? -step.value : step.value}});
        } else {
            lowering.program.sequence.push_back(program::SetLock{lock, step.value});
        }
    }
}

}  // namespace

SequenceNames declare_arguments(Lowering& lowering, const Operation& sequence) {
    return Sequence(lowering).declare(sequence);
}

bool only_names(const Operation& operation) {
    return operation.name.starts_with("arith.") || operation.name.starts_with("index.") ||
           operation.name == "memref.subview" || operation.name == "memref.cast" ||
           operation.name == "memref.reinterpret_cast" || operation.name == "memref.view";
}

void add_name(Lowering& lowering, const Operation& operation, SequenceNames& names) {
    Sequence sequence(lowering);
    sequence.see(names);
    sequence.run({&operation});
    for (const std::string& result : operation.results) {
        if (const Value* value = sequence.names().find(result)) {
            names.values.emplace_back(result, *value);
        }
    }
}

void run_operations(Lowering& lowering, const std::vector<const Operation*>& operations,
                    const SequenceNames& names) {
    if (!lowering.options.words.empty()) {
        throw ReadError(lowering.device.where,
                        "design.words: not modelled for a sequence that loads configurations");
    }
    Sequence sequence(lowering);
    sequence.see(names);
    sequence.run(operations);
    poll_without_tokens(lowering);
    settle_parameters(lowering);
}

const Operation* sequence_of(Lowering& lowering) {
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
    if (chosen == nullptr && !lowering.options.sequence.empty()) {
        throw ReadError(
            lowering.device.where,
            fmt::format(
                "no run-time sequence is named @{}{}", lowering.options.sequence,
                others.empty() ? "" : fmt::format("; there are {}", fmt::join(others, ", "))));
    }
    for (const std::string& other : others) {
        lowering.note(fmt::format("run-time sequence {} is left out", other));
    }
    return chosen;
}

void lower_sequence(Lowering& lowering) {
    const Operation* chosen = sequence_of(lowering);
    if (chosen != nullptr) {
        Sequence(lowering).run(*chosen);
    } else if (lowering.options.host.empty()) {
        lowering.note("the device has no run-time sequence: only what starts by itself runs");
    }
    apply_control_packets(lowering);
    poll_without_tokens(lowering);
    settle_parameters(lowering);
    add_host_steps(lowering);
}

}  // namespace tilesim::workloads::npu::mlir
