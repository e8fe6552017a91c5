// The run-time sequence: what the command processor executes.
#include "workloads/npu/mlir/sequence/sequence.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <variant>

#include "workloads/npu/mlir/chosen_sequence.hpp"
#include "workloads/npu/mlir/descriptors/descriptor.hpp"
#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/registers/register_writes.hpp"
#include "workloads/npu/mlir/registers/registers.hpp"
#include "workloads/npu/mlir/registers/sequence_operands.hpp"
#include "workloads/npu/mlir/sequence/argument_views.hpp"
#include "workloads/npu/mlir/sequence/array_commands.hpp"
#include "workloads/npu/mlir/sequence/channel_resets.hpp"
#include "workloads/npu/mlir/sequence/control_packets.hpp"
#include "workloads/npu/mlir/sequence/launch_guards.hpp"
#include "workloads/npu/mlir/sequence/sequence_arguments.hpp"
#include "workloads/npu/mlir/sequence/sequence_tasks.hpp"
#include "workloads/npu/mlir/sequence/settled_sequence.hpp"
#include "workloads/npu/mlir/sequence/shim_transfers.hpp"
#include "workloads/npu/mlir/syntax/attributes.hpp"
#include "workloads/npu/mlir/syntax/constant_folding.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::sequence {

using registers::operation_name;

namespace {

constexpr std::size_t kMostFollowed = 1'000'000;  // unrolled
constexpr int kMostNesting = 32;
constexpr std::string_view kUnnamed = "sequence";  // a sequence without a name of its own

// Arithmetic on numbers, of which define_constant() knows what it can.
bool only_counts(const Operation& operation) {
    return operation.name.starts_with("arith.") || operation.name.starts_with("index.") ||
           operation.name == "emitc.cast";
}

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
        register_writes_.set_arguments(arguments_.read(operation));
        block(region_of(operation), scope_);
        arguments_.check_numbers(operation, errors);
    }

    SequenceNames declare(const Operation& operation) {
        auto buffers = arguments_.read(operation);
        return {arguments_.names(), std::move(buffers)};
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
    using Handler =
        std::variant<Handles<Sequence>, Handles<RegisterWrites>, Handles<ShimTransfers>,
                     Handles<SequenceTasks>, Handles<ArrayCommands>, Handles<ChannelResets>,
                     Handles<ArgumentViews>, Handles<LaunchGuards>>;
    Sequence& part(Handles<Sequence>) { return *this; }
    RegisterWrites& part(Handles<RegisterWrites>) { return register_writes_; }
    ShimTransfers& part(Handles<ShimTransfers>) { return transfers_; }
    SequenceTasks& part(Handles<SequenceTasks>) { return tasks_; }
    ArrayCommands& part(Handles<ArrayCommands>) { return commands_; }
    ChannelResets& part(Handles<ChannelResets>) { return resets_; }
    ArgumentViews& part(Handles<ArgumentViews>) { return views_; }
    LaunchGuards& part(Handles<LaunchGuards>) { return guards_; }

    // Who executes an operation, by its name without the dialect; nullptr for nobody.
    static const Handler* handler_of(std::string_view name) {
        static const std::map<std::string_view, Handler> kHandlers{
            {"dma_memcpy_nd", &ShimTransfers::memcpy_nd},
            {"dma_wait", &ArrayCommands::dma_wait},
            {"sync", &ArrayCommands::sync},
            {"write32", &RegisterWrites::write32},
            {"maskwrite32", &RegisterWrites::maskwrite32},
            {"maskpoll", &RegisterWrites::maskpoll},
            {"read_reg", &RegisterWrites::read_reg},
            {"require", &LaunchGuards::require},
            {"cf.assert", &LaunchGuards::assertion},
            {"assert_bd_field", &LaunchGuards::field},
            {"assert_bd_divisible", &LaunchGuards::divisible},
            {"blockwrite", &RegisterWrites::blockwrite},
            {"blockwrite_values", &RegisterWrites::blockwrite_values},
            {"writebd", &RegisterWrites::writebd},
            {"writebd_shimtile", &RegisterWrites::writebd},
            {"writebd_memtile", &RegisterWrites::writebd},
            {"address_patch", &RegisterWrites::address_patch},
            {"push_queue", &RegisterWrites::push_queue},
            {"shimtile_push_queue", &RegisterWrites::shimtile_push_queue},
            {"rtp_write", &ArrayCommands::rtp_write},
            {"set_lock", &ArrayCommands::set_lock},
            {"buffer_clear", &ArrayCommands::buffer_clear},
            {"control_packet", &ArrayCommands::control_packet},
            {"dma_channel_reset", &ChannelResets::channel_reset},
            {"core_reset", &ChannelResets::core_reset},
            {"dma_channel_reset_for", &ChannelResets::channel_reset_for},
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
            {"memref.get_global", &ArgumentViews::get_global},
            {"memref.subview", &ArgumentViews::view},
            {"memref.reinterpret_cast", &ArgumentViews::view},
            {"memref.view", &ArgumentViews::retyped_view},
            {"memref.cast", &ArgumentViews::view},
            {"arg_slice", &ArgumentViews::view},
            {"scf.for", &Sequence::loop},
            {"scf.index_switch", &Sequence::choose},
            {"scf.yield", &Sequence::yield},
            {"create_scratchpad", &ArrayCommands::scratchpad},
            {"update_from_scratchpad", &ArrayCommands::scratchpad},
            {"sync_scratchpad_parameters_from_host", &ArrayCommands::scratchpad},
        };
        const auto handler = kHandlers.find(name);
        return handler == kHandlers.end() ? nullptr : &handler->second;
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
        static const std::set<std::string_view> kNothing{
            "aie.end", "return",   "func.return",    "memref.assume_alignment",
            "preempt", "load_pdi", "memref.dealloc", "patch_marker"};
        const std::string_view name = operation_name(operation);
        if (const Handler* handler = handler_of(name)) {
            const std::size_t first = lowering_.program.sequence.size();
            std::visit([&](auto handles) { (part(handles).*handles)(operation, scope); }, *handler);
            program::set_where(lowering_.program.sequence, first, operation.where);
        } else if (operation.name.starts_with("aie.trace")) {
            lowering_.note_trace_units();
        } else if (operation.name == "scf.if") {
            branch(operation, scope);
        } else if (!kNothing.contains(name) && !define_constant(operation, scope) &&
                   !only_counts(operation)) {  // unknown: whoever needs it says so
            throw ReadError(operation.where, fmt::format("{} is not modelled in a run-time "
                                                         "sequence",
                                                         operation.name));
        }
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
        Scope inner(&lowering_.names);  // the other one knows nothing of this one's names
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
            const bool left = !given.done();
            const Value* value = left ? scope.find(given.value()) : nullptr;
            const bool number =
                formal.skip(":") && !formal.done() && !formal.peek()->is_word("memref") && left;
            if (value != nullptr) {
                inner.define(name, *value);
            } else if (!number) {  // of the launch: told where it is used
                throw ReadError(at, fmt::format("@{} needs a known value for %{}", symbol, name));
            }
            if (value != nullptr && value->kind == Value::Kind::External) {
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
        take(taken < regions.size() ? regions[taken] : nullptr, operation, scope);
    }

    // scf.index_switch %n -> type case 0 {..} case 3 {..} default {..}
    void choose(const Operation& operation, Scope& scope) {
        Cursor cursor(operation);
        const std::int64_t number = scope.integer(cursor);
        const Item* taken = nullptr;
        while (!cursor.done()) {
            const bool otherwise = cursor.skip_word("default");
            const bool fits = cursor.skip_word("case") && cursor.integer() == number;
            const Item& next = cursor.take();
            if (next.kind == Item::Kind::Region && (fits || (otherwise && taken == nullptr))) {
                taken = &next;
            }
        }
        take(taken, operation, scope);
    }

    // A way through the operation, which may be none.
    void take(const Item* region, const Operation& operation, Scope& scope) {
        yielded_.clear();
        if (region != nullptr) {
            Scope inner(&scope);
            block(*region, inner);
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
    SequenceArguments arguments_{lowering_, scope_};
    Registers registers_;
    DescriptorIds ids_;
    RegisterWrites register_writes_{lowering_, registers_};
    ShimTransfers transfers_{lowering_, registers_};
    SequenceTasks tasks_{lowering_, registers_, ids_};
    ArrayCommands commands_{lowering_, registers_};
    ChannelResets resets_{lowering_};
    ArgumentViews views_{lowering_};
    LaunchGuards guards_;
    std::vector<std::optional<Value>> yielded_;  // by the block read last
    std::size_t steps_ = 0;
    int nesting_ = 0;
};
}  // namespace

SequenceNames declare_arguments(Lowering& lowering, const Operation& sequence) {
    return Sequence(lowering).declare(sequence);
}

bool only_names(const Operation& operation) {
    return only_counts(operation) || operation.name == "memref.subview" ||
           operation.name == "memref.cast" || operation.name == "memref.reinterpret_cast" ||
           operation.name == "memref.view" || operation.name == "aiex.arg_slice";
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
    settle_sequence(lowering);
}

void lower_sequence(Lowering& lowering) {
    const Operation* chosen = sequence_of(lowering);
    if (chosen != nullptr) {
        Sequence(lowering).run(*chosen);
    } else if (lowering.options.host.empty()) {
        lowering.note("the device has no run-time sequence: only what starts by itself runs");
    }
    apply_control_packets(lowering);
    settle_sequence(lowering);
    add_host_steps(lowering);
}

}  // namespace tilesim::workloads::npu::mlir::sequence
