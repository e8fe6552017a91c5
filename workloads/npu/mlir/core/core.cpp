#include "workloads/npu/mlir/core/core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "arch/npu/check/tile_reach.hpp"
#include "workloads/npu/mlir/control_flow/control_flow.hpp"
#include "workloads/npu/mlir/control_flow/undefined_values.hpp"
#include "workloads/npu/mlir/core/core_body.hpp"
#include "workloads/npu/mlir/core/core_elements.hpp"
#include "workloads/npu/mlir/core/core_locks.hpp"
#include "workloads/npu/mlir/core/core_streams.hpp"
#include "workloads/npu/mlir/core/core_words.hpp"
#include "workloads/npu/mlir/core/flow_walker.hpp"
#include "workloads/npu/mlir/core/kernel_costs.hpp"
#include "workloads/npu/mlir/core/kernel_locks.hpp"
#include "workloads/npu/mlir/core/word_operations.hpp"
#include "workloads/npu/mlir/syntax/attributes.hpp"
#include "workloads/npu/mlir/syntax/constant_folding.hpp"
#include "workloads/npu/mlir/syntax/unknown_name.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::core {

using control_flow::undefined_value;
using syntax::kBehindBuffer;
using syntax::keys_of;
using syntax::unknown_symbol;

namespace {

constexpr int kMostFailedCores = 4;  // the others would say the same, after as long a walk
constexpr std::size_t kMostSteps = 2'000'000;  // operations followed, unrolled runs included
constexpr int kMostInlining = 32;              // functions in functions

class CoreReader {
  public:
    // `follow_words`: of its streams and cascades.
    CoreReader(Lowering& lowering, const Operation& operation, bool follow_words)
        : lowering_(lowering),
          operation_(operation),
          core_{tile_of(lowering, operation), {}, {}},
          words_(lowering, held_, open_, core_, follow_words),
          elements_(lowering, writer_, held_, core_.tile, follow_words) {}

    program::CoreProgram run() {
        Scope scope(&lowering_.names);
        const ControlFlow flow(region_of(operation_));
        check_defined(flow, {});
        walk_body(flow, scope, core_.script);
        words_.settle();
        return std::move(core_);
    }

  private:
    // Values come from the body, its function's arguments or the device.
    void check_defined(const ControlFlow& flow, const std::vector<std::string>& arguments) const {
        const auto undefined = undefined_value(flow, [&](const std::string& name) {
            return lowering_.names.find(name) != nullptr ||
                   std::find(arguments.begin(), arguments.end(), name) != arguments.end();
        });
        if (undefined) {
            throw ReadError(undefined->where,
                            fmt::format("%{} is not defined before this", undefined->name));
        }
    }

    void walk_body(const ControlFlow& flow, Scope& scope, Script& ops) {
        words_.enter(scope);
        FlowWalker(lowering_, writer_, held_, open_, flow, scope,
                   [this](const Operation& operation, Scope& names, Script& script) {
                       step(operation, names, script);
                   })
            .run(ops);
    }

    void step(const Operation& operation, Scope& scope, Script& ops) {
        if (++steps_ > kMostSteps) {
            throw ReadError(
                operation.where,
                fmt::format("following this core takes more than {} operations", kMostSteps));
        }
        const std::string& name = operation.name;
        check_reach(operation.items, scope, operation.where);
        words_.pass(operation, scope, ops);
        if (name == "aie.use_lock") {
            use_lock(operation, scope, ops);
        } else if (name == "func.call" || name == "call" || name == "func.call_indirect") {
            call(operation, scope, ops);
        } else if (name == "func.constant") {
            name_function(operation);
        } else if (name == "aie.put_cascade") {
            const std::int64_t words = lowering_.config.cascade.width.count() / kWordBytes;
            add_event(program::PutCascadeOp{1, words_.put(operation, words, scope)}, ops);
        } else if (name == "aie.get_cascade") {
            const std::int64_t words = lowering_.config.cascade.width.count() / kWordBytes;
            name_results(operation, scope);
            add_event(program::GetCascadeOp{1, words_.get(operation, words)}, ops);
        } else if (name == "aie.put_stream") {
            writer_.clock().wait_for_operands(operation);
            const StreamUse use = read_stream_use(operation, scope, lowering_.config.core);
            add_event(
                program::PutStreamOp{use.port, use.words, words_.put(operation, use.words, scope),
                                     use.packet, false},
                ops);
        } else if (name == "aie.get_stream") {
            const StreamUse use = read_stream_use(operation, scope, lowering_.config.core);
            name_results(operation, scope);
            add_event(program::GetStreamOp{use.port, use.words, words_.get(operation, use.words)},
                      ops);
        } else if (name == "aie.buffer" || name == "aie.lock") {
            // As if it stood at the device's level.
        } else if (name == "aie.objectfifo.acquire") {
            words_.event();
            elements_.acquire(operation, scope, ops);
        } else if (name == "aie.objectfifo.release") {
            words_.event();
            elements_.release(operation, ops);
        } else if (name == "aie.objectfifo.lock") {
            elements_.name_locks(operation, scope);
        } else if (name == "aie.objectfifo.buffer") {
            elements_.name_buffer(operation, scope);
        } else if (name == "aie.objectfifo.subview.access") {
            elements_.access(operation);
            name_results(operation, scope);  // which buffer: known as the core runs
        } else if (!define_constant(operation, scope)) {
            work(operation, scope);
        } else if (is_computed(operation, scope) && !name.starts_with("arith.index_cast")) {
            writer_.clock().issue(operation);
        }
    }

    // A core loads, stores and hands to its functions what it can address.
    void check_reach(const std::vector<Item>& items, const Scope& scope, Location where) const {
        for (const Item& item : items) {
            const Value* value = item.is(TokenKind::Value) ? scope.find(item.token.text) : nullptr;
            if (value != nullptr && value->kind == Value::Kind::Buffer) {
                const program::Buffer& buffer =
                    lowering_.program.buffers[static_cast<std::size_t>(value->index)];
                if (!arch::npu::check::core_reaches(lowering_.config, core_.tile, buffer.tile)) {
                    throw ReadError(where,
                                    fmt::format("the core of tile {},{} does not reach "
                                                "buffer {} of tile {},{}",
                                                core_.tile.column, core_.tile.row, buffer.name,
                                                buffer.tile.column, buffer.tile.row));
                }
            }
            check_reach(item.items, scope, where);
        }
    }

    void use_lock(const Operation& operation, const Scope& scope, Script& ops) {
        const LockUse use = locks_.read(operation, scope);
        if (use.nothing && lowering_.config.lock_kind != LockKind::Binary) {
            return;  // a binary lock is released to a state: 0 is one
        }
        if (use.acquire) {
            add_event(program::AcquireOp{use.action}, ops);
        } else {
            add_event(program::ReleaseOp{use.action}, ops);
        }
    }

    template <class Op>
    void add_event(const Op& op, Script& ops) {
        writer_.flush(ops);
        ops.push_back({op});
        words_.event();
    }

    // Arithmetic, loads and stores: their time. Unknown operations of these dialects count as one
    // instruction; those of others are errors.
    void work(const Operation& operation, Scope& scope) {
        static const std::set<std::string> kFree{"memref.assume_alignment", "memref.subview",
                                                 "memref.reinterpret_cast", "memref.collapse_shape",
                                                 "memref.expand_shape", "memref.cast",
                                                 "memref.get_global", "memref.dim",
                                                 // an index is a 32-bit register
                                                 "arith.index_cast", "arith.index_castui"};
        const std::string dialect = operation.name.substr(0, operation.name.find('.'));
        static const std::set<std::string> kDialects{"arith", "memref", "math",    "vector",
                                                     "index", "affine", "builtin", "llvm",
                                                     "ub",    "aievec", "xllvm"};
        // An event is one instruction, and so is a word for the simulator; a scratchpad parameter
        // is loaded from the core's memory.
        const bool parameter = operation.name == "aiex.read_scratchpad_parameter";
        if (parameter) {
            lowering_.note(
                "cores read scratchpad parameters without waiting for the host to hand them over");
        }
        if (!kDialects.contains(dialect) && !parameter &&
            !is_one_of(operation.name, {"aie.event", "aie.debug"})) {
            throw ReadError(operation.where,
                            fmt::format("{} is not modelled in a core", operation.name));
        }
        name_results(operation, scope);
        if (!kFree.contains(operation.name)) {
            writer_.clock().issue(operation);
        }
    }

    // A view of a buffer stands for the buffer; a load of a constant place for a run-time
    // parameter, should a loop's bound ask for it.
    void name_results(const Operation& operation, Scope& scope) {
        for (const std::string& result : operation.results) {
            scope.forget(result);
        }
        if (operation.results.size() != 1 || operation.items.empty() ||
            !operation.items.front().is(TokenKind::Value)) {
            return;
        }
        const Value* source = scope.find(operation.items.front().token.text);
        if (source == nullptr || source->kind != Value::Kind::Buffer) {
            return;
        }
        if (operation.name != "memref.load") {
            scope.define(operation.results[0], *source);
            return;
        }
        const std::int64_t buffer = source->index;
        if (operation.items.size() < 2 || !operation.items[1].opens("[") ||
            operation.items[1].items.size() != 1) {
            return;
        }
        const Item& index = operation.items[1].items.front();
        const auto word = index.is(TokenKind::Value) ? scope.constant(index.token.text)
                                                     : to_integer(index.token.text);
        if (word) {
            scope.define(
                operation.results[0],
                {Value::Kind::Parameter,
                 lies_behind(buffer, *word) ? kBehindBuffer : lowering_.parameter(buffer, *word)});
        }
    }

    // Behind the buffer's end lies nobody knows what.
    bool lies_behind(std::int64_t buffer, std::int64_t word) const {
        return word < 0 ||
               word >= lowering_.buffer_types[static_cast<std::size_t>(buffer)].elements;
    }

    // %f = func.constant @name : (...) -> ()
    void name_function(const Operation& operation) {
        Cursor cursor(operation);
        const std::string symbol = cursor.symbol();
        for (const std::string& result : operation.results) {
            pointers_[result] = symbol;
        }
    }

    // @name, or of an indirect call a value that stands for one.
    std::string callee(Cursor& cursor) const {
        if (cursor.done() || !cursor.peek()->is(TokenKind::Value)) {
            return cursor.symbol();
        }
        const Location where = cursor.where();
        const auto pointer = pointers_.find(cursor.value());
        if (pointer == pointers_.end()) {
            throw DependsOnData(where,
                                "which function this calls depends on data, which is not "
                                "modelled");
        }
        return pointer->second;
    }

    void call(const Operation& operation, Scope& scope, Script& ops) {
        Cursor cursor(operation);
        const std::string symbol = callee(cursor);
        for (const std::string& result : operation.results) {
            scope.forget(result);
        }
        const auto function = lowering_.functions.find(symbol);
        const bool stated = lowering_.options.costs.kernels.contains(symbol);
        if (!stated && function != lowering_.functions.end() &&
            !function->second->regions().empty()) {
            inline_function(operation, *function->second, cursor, scope, ops);
            return;
        }
        words_.call(operation, symbol, scope);
        words_.event();
        writer_.flush(ops);
        const std::size_t begin = ops.size();
        const auto& cascades = lowering_.options.costs.cascade;
        const auto words = cascades.find(symbol);
        const CascadeWords cascade = words == cascades.end() ? CascadeWords{} : words->second;
        const auto& streams = lowering_.options.costs.streams;
        const auto accesses = streams.find(symbol);
        const StreamWords stream = accesses == streams.end() ? StreamWords{} : accesses->second;
        if (cascade.get > 0) {
            ops.push_back({program::GetCascadeOp{cascade.get}});
        }
        if (stream.get > 0) {
            ops.push_back({program::GetStreamOp{stream.get_port, stream.get}});
        }
        const std::vector<std::int64_t> locks = locks_.given(cursor, scope);
        for (const std::int64_t lock : locks) {
            ops.push_back({program::AcquireOp{{lock, kGivenLock}}});
        }
        program::CallOp op;
        op.kernel = called_kernel(lowering_, symbol, operation);
        ops.push_back({op});
        for (const std::int64_t lock : locks) {
            ops.push_back({program::ReleaseOp{{lock, kGivenLock}}});
        }
        if (open_.empty() && elements_.serves(locks)) {  // its loop is in the kernel
            const Script round(ops.begin() + static_cast<std::ptrdiff_t>(begin), ops.end());
            ops.resize(begin);
            writer_.repeat(round, -1, {}, ops);
            lowering_.note(
                "kernels that are given the locks of object FIFOs and stand in no loop are taken "
                "to go on from element to element");
        }
        if (stream.put > 0) {
            ops.push_back(
                {program::PutStreamOp{stream.put_port, stream.put, {}, stream.packet, true}});
        }
        if (cascade.put > 0) {
            ops.push_back({program::PutCascadeOp{cascade.put}});
        }
        if (stream.put > 0 || cascade.put > 0) {
            words_.put_by(symbol);
        }
    }

    void inline_function(const Operation& operation, const Operation& function, Cursor& arguments,
                         Scope& scope, Script& ops) {
        if (++inlining_ > kMostInlining) {
            throw ReadError(operation.where, "functions call each other without end");
        }
        Scope inner(&lowering_.names);
        Cursor given(arguments.group("("));
        std::vector<std::pair<std::string, std::string>> handed;
        for (const std::string& name : arguments_of(function)) {
            if (given.done()) {
                break;
            }
            const std::string argument = given.value();
            if (const Value* value = scope.find(argument)) {
                inner.define(name, *value);
            }
            handed.emplace_back(argument, name);
            given.skip(",");
        }
        writer_.clock().hand_over(handed);
        walk_body(flow_of(function), inner, ops);
        --inlining_;
        name_returned(operation, function, inner, scope);
    }

    const ControlFlow& flow_of(const Operation& function) {
        std::unique_ptr<ControlFlow>& flow = functions_[&function];
        if (!flow) {
            flow = std::make_unique<ControlFlow>(region_of(function));
            check_defined(*flow, arguments_of(function));
        }
        return *flow;
    }

    Lowering& lowering_;
    const Operation& operation_;
    program::CoreProgram core_;
    ScriptWriter writer_{lowering_};
    HeldElements held_;
    OpenLoops open_;
    CoreWords words_;
    CoreElements elements_;
    CoreLocks locks_{lowering_, core_.tile};
    std::map<const Operation*, std::unique_ptr<ControlFlow>> functions_;
    std::map<std::string, std::string> pointers_;  // values that are functions
    std::size_t steps_ = 0;
    int inlining_ = 0;
};

// Where following words makes a script that cannot be written (the runs of a loop to a run-time
// parameter must be alike), only their time counts.
program::CoreProgram read_core(Lowering& lowering, const Operation& operation) {
    if (!moves_words(lowering, operation)) {
        walk({operation}, [&](const Operation& each) {
            if (stores(each)) {
                note_lost_store(lowering, tile_of(lowering, operation), each);
            }
        });
        return CoreReader(lowering, operation, false).run();
    }
    try {
        return CoreReader(lowering, operation, true).run();
    } catch (const ReadError& error) {
        program::CoreProgram core = CoreReader(lowering, operation, false).run();
        lowering.note(
            fmt::format("core {},{}: zeros travel in place of what it puts on streams "
                        "and cascades: line {}: {}",
                        core.tile.column, core.tile.row, error.where().line, error.what()));
        return core;
    }
}

// Of a design packed beside the one that runs: it stands at its first acquire for ever.
bool waits_for_left_out(const Lowering& lowering, const Operation& core) {
    bool waits = false;
    walk({core}, [&](const Operation& each) {
        waits = waits || (each.name == "aie.objectfifo.acquire" &&
                          lowering.fifos[read_fifo_use(lowering, each).fifo].left_out);
    });
    return waits;
}

// What `design.marked` names must be there.
void check_marked(Lowering& lowering) {
    const auto& marked = lowering.options.costs.marked;
    for (const std::string& name : marked.value_or(std::set<std::string>{})) {
        lowering.attempt([&] {
            if (!lowering.functions.contains(name)) {
                throw unknown_symbol(lowering.device.where, "function", name,
                                     keys_of(lowering.functions));
            }
        });
    }
}

}  // namespace

void lower_cores(Lowering& lowering) {
    check_marked(lowering);
    int failed = 0;
    std::set<program::TileCoordinate> tiles;
    for (const Operation& operation : lowering.body()) {
        if (operation.name != "aie.core" || failed == kMostFailedCores) {
            continue;
        }
        const bool read = lowering.attempt([&] {
            const program::TileCoordinate tile = tile_of(lowering, operation);
            if (!tiles.insert(tile).second) {
                throw ReadError(operation.where, fmt::format("tile {},{} has a core already",
                                                             tile.column, tile.row));
            }
            const Operation* elsewhere = body_elsewhere(lowering, operation);
            if (elsewhere != nullptr) {
                lowering.note(
                    "bodies of cores that are in ELF files are taken from "
                    "input_with_addresses.mlir beside this file");
            } else if (operation.regions().empty() || waits_for_left_out(lowering, operation)) {
                return;
            }
            program::CoreProgram core =
                read_core(lowering, elsewhere != nullptr ? *elsewhere : operation);
            if (!core.script.empty()) {
                core.where = operation.where;
                lowering.program.cores.push_back(std::move(core));
            }
        });
        failed += read ? 0 : 1;
        if (!read && failed == kMostFailedCores) {
            lowering.errors.emplace_back(operation.where,
                                         "the cores behind this one are not read: so many failed");
        }
    }
}

}  // namespace tilesim::workloads::npu::mlir::core
