// Core bodies as scripts: lock operations and kernel calls stay, everything between them becomes
// its time.
//
// Models:  control flow as flow_walker.hpp follows it; scalar instructions in order, one a cycle,
//          waiting for their operands; loops without events as one block of work.
// Ignores: what is computed; vectorisation and software pipelining by the compiler; instruction
//          fetch.
// Source:  latencies in InlineCosts.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "workloads/npu/mlir/flow_walker.hpp"
#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir {

namespace {

constexpr int kMostFailedCores = 4;  // the others would say the same, after as long a walk
constexpr std::size_t kMostSteps = 2'000'000;  // operations followed, unrolled runs included
constexpr int kMostInlining = 32;              // functions in functions
constexpr std::int64_t kLockWindow = 16;       // locks of one tile as a core sees them
// A function without a stated cost takes the time its operands need through one load port.
constexpr const char* kEstimate =
    "{}: no cost is stated for this function; taken as {} cycles, each buffer once through the "
    "core's load port. State it under `kernels` of the side file";

constexpr const char* kZeros =
    "what cores put on their own streams is not computed: zeros in its place, only their time "
    "counts";

class CoreReader {
  public:
    CoreReader(Lowering& lowering, const Operation& operation)
        : lowering_(lowering), operation_(operation) {
        Cursor cursor(operation);
        Cursor inside(cursor.group("("));
        core_.tile = lowering.tile(inside);
    }

    program::CoreProgram run() {
        Scope scope(&lowering_.names);
        const ControlFlow flow(region_of(operation_));
        walk_body(flow, scope, core_.script);
        return std::move(core_);
    }

  private:
    void walk_body(const ControlFlow& flow, Scope& scope, Script& ops) {
        FlowWalker(lowering_, writer_, held_, flow, scope,
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
        if (name == "aie.use_lock") {
            use_lock(operation, scope, ops);
        } else if (name == "func.call" || name == "call" || name == "func.call_indirect") {
            call(operation, scope, ops);
        } else if (name == "func.constant") {
            name_function(operation);
        } else if (name == "aie.put_cascade") {
            writer_.flush(ops);
            ops.push_back({program::PutCascadeOp{1, std::nullopt}});
        } else if (name == "aie.get_cascade") {
            name_results(operation, scope);
            writer_.flush(ops);
            ops.push_back({program::GetCascadeOp{1, std::nullopt}});
        } else if (name == "aie.put_stream") {
            writer_.clock().wait_for_operands(operation);
            writer_.flush(ops);
            const StreamUse use = read_stream_use(operation, scope, lowering_.config.core);
            ops.push_back(
                {program::PutStreamOp{use.port, use.words, std::nullopt, use.packet, false}});
            lowering_.note(kZeros);
        } else if (name == "aie.get_stream") {
            const StreamUse use = read_stream_use(operation, scope, lowering_.config.core);
            name_results(operation, scope);
            writer_.flush(ops);
            ops.push_back({program::GetStreamOp{use.port, use.words, std::nullopt}});
        } else if (name == "aie.buffer" || name == "aie.lock") {
            // As if it stood at the device's level.
        } else if (name == "aie.objectfifo.acquire") {
            acquire_elements(operation, scope, ops);
        } else if (name == "aie.objectfifo.release") {
            release_elements(operation, ops);
        } else if (name == "aie.objectfifo.subview.access") {
            name_results(operation, scope);  // which buffer: known as the core runs
        } else if (!define_constant(operation, scope)) {
            work(operation, scope);
        } else if (is_computed(operation, scope) && !name.starts_with("arith.index_cast")) {
            writer_.clock().issue(operation);
        }
    }

    // Elements of an object FIFO that the core takes: those it does not hold yet.
    void acquire_elements(const Operation& operation, Scope& scope, Script& ops) {
        for (const std::string& result : operation.results) {
            scope.forget(result);
        }
        const FifoUse use = read_fifo_use(lowering_, operation);
        auto& [next, held] = held_of(use);
        const std::int64_t from = held;
        held = std::max(held, use.count);
        move_elements(operation, use, next, from, held, ops);
    }

    // Elements it gives: the first it holds.
    void release_elements(const Operation& operation, Script& ops) {
        const FifoUse use = read_fifo_use(lowering_, operation);
        pool_of(operation, use);  // there are elements at all
        auto& [next, held] = held_of(use);
        if (use.count > held) {
            throw ReadError(operation.where, fmt::format("the core releases {} elements and holds "
                                                         "{}",
                                                         use.count, held));
        }
        held -= use.count;
        give_elements(operation, use, next, ops);
    }

    std::pair<std::int64_t, std::int64_t>& held_of(const FifoUse& use) {
        return held_[static_cast<std::int64_t>(use.fifo) * 2 + (use.produces ? 1 : 0)];
    }

    const FifoPool* pool_of(const Operation& operation, const FifoUse& use) const {
        const ObjectFifo& fifo = lowering_.fifos[use.fifo];
        const FifoEnd* end = fifo.end_at(core_.tile, use.produces);
        if (end != nullptr && end->stream_port) {
            throw ReadError(operation.where,
                            fmt::format("the end of @{} at this core is the core's own stream: it "
                                        "has no elements to acquire or release",
                                        fifo.name));
        }
        if (end == nullptr || !end->pool) {
            throw ReadError(operation.where,
                            fmt::format("this core is no {} of @{}",
                                        use.produces ? "producer" : "consumer", fifo.name));
        }
        const FifoPool& pool = lowering_.fifo_pools[*end->pool];
        return pool.locks.empty() ? nullptr : &pool;
    }

    void move_elements(const Operation& operation, const FifoUse& use, std::int64_t next,
                       std::int64_t from, std::int64_t to, Script& ops) {
        const FifoPool* pool = pool_of(operation, use);
        if (pool == nullptr || to == from) {
            return;
        }
        if (lowering_.config.lock_kind == LockKind::Binary) {
            for (std::int64_t i = from; i < to; ++i) {
                add_lock_operation(
                    program::AcquireOp{{lock_at(*pool, next + i), use.produces ? 0 : 1}}, ops);
            }
            return;
        }
        const LockPair& locks = pool->locks.front();
        add_lock_operation(program::AcquireOp{{use.produces ? locks.producer : locks.consumer,
                                               -(to - from) * repeat_of(*pool, use)}},
                           ops);
    }

    void give_elements(const Operation& operation, const FifoUse& use, std::int64_t& next,
                       Script& ops) {
        const FifoPool* pool = pool_of(operation, use);
        if (pool == nullptr || use.count == 0) {
            return;
        }
        if (lowering_.config.lock_kind == LockKind::Binary) {
            for (std::int64_t i = 0; i < use.count; ++i) {
                add_lock_operation(
                    program::ReleaseOp{{lock_at(*pool, next + i), use.produces ? 1 : 0}}, ops);
            }
            next = (next + use.count) % static_cast<std::int64_t>(pool->buffers.size());
            return;
        }
        const LockPair& locks = pool->locks.front();
        add_lock_operation(program::ReleaseOp{{use.produces ? locks.consumer : locks.producer,
                                               use.count * repeat_of(*pool, use)}},
                           ops);
    }

    static std::int64_t repeat_of(const FifoPool& pool, const FifoUse& use) {
        return use.produces ? pool.repeat : 1;
    }
    static std::int64_t lock_at(const FifoPool& pool, std::int64_t element) {
        return pool.locks[static_cast<std::size_t>(element) % pool.locks.size()].producer;
    }
    template <class LockOp>
    void add_lock_operation(const LockOp& op, Script& ops) {
        writer_.flush(ops);
        ops.push_back({op});
    }

    // A count behind the lock and the kind must be known.
    static void check_count(const Operation& operation, const Scope& scope) {
        const Item* group = operation.items.empty() ? nullptr : &operation.items.front();
        const Item* last = group == nullptr || group->items.size() < 5 ? nullptr : &group->items[4];
        if (last != nullptr && last->is(TokenKind::Value) && !scope.constant(last->token.text)) {
            throw DependsOnData(operation.where,
                                "how much this asks of the lock depends on data, which is not "
                                "modelled");
        }
    }

    void use_lock(const Operation& operation, const Scope& scope, Script& ops) {
        check_count(operation, scope);
        const LockUse use = lock_use(operation, scope);
        if (use.nothing) {
            return;
        }
        writer_.flush(ops);
        if (use.acquire) {
            ops.push_back({program::AcquireOp{use.action}});
        } else {
            ops.push_back({program::ReleaseOp{use.action}});
        }
    }

    // After the compiler's pass localize-locks, locks are numbers as the core sees them: windows of
    // 16 for the tiles south, west, north and east of it, its own at the side its memory is on.
    LockUse lock_use(const Operation& operation, const Scope& scope) {
        Cursor cursor(operation);
        Cursor inside(cursor.group("("));
        const auto number = inside.peek() != nullptr && inside.peek()->is(TokenKind::Value)
                                ? scope.constant(inside.peek()->token.text)
                                : std::nullopt;
        if (!number) {
            return read_lock_use(operation, scope);
        }
        const std::string name = inside.value();
        Scope local(&scope);
        local.define(name, {Value::Kind::Lock, lock_seen_as(*number, operation.where)});
        return read_lock_use(operation, local);
    }

    std::int64_t lock_seen_as(std::int64_t number, Location where) {
        const arch::npu::CoreConfig& core = lowering_.config.core;
        program::TileCoordinate at = core_.tile;
        const bool own_west = core.alternating_sides && at.row % 2 == 0;
        constexpr std::int64_t kSouth = 0, kWest = 1, kNorth = 2, kEast = 3;
        const std::int64_t window = number / kLockWindow;
        at.row += window == kNorth ? 1 : window == kSouth ? -1 : 0;
        at.column += window == kWest && !own_west ? -1 : window == kEast && own_west ? 1 : 0;
        if (number < 0 || window > kEast || !lowering_.config.contains(at)) {
            throw ReadError(where, fmt::format("{} is no lock a core sees; those are 0..{}", number,
                                               4 * kLockWindow - 1));
        }
        auto& locks = lowering_.program.locks;
        const auto place = std::find_if(locks.begin(), locks.end(), [&](const program::Lock& lock) {
            return lock.tile == at && lock.id == number % kLockWindow;
        });
        if (place != locks.end()) {
            return place - locks.begin();
        }
        program::Lock lock;  // every tile has them all, declared or not
        lock.tile = at;
        lock.id = number % kLockWindow;
        lock.name = unique_name(locks, fmt::format("lock_{}_{}_{}", at.column, at.row, lock.id));
        locks.push_back(lock);
        return static_cast<std::int64_t>(locks.size()) - 1;
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
        // An event is one instruction; a scratchpad parameter is loaded from the core's memory.
        const bool parameter = operation.name == "aiex.read_scratchpad_parameter";
        if (parameter) {
            lowering_.note(
                "cores read scratchpad parameters without waiting for the host to hand them over");
        }
        if (!kDialects.contains(dialect) && operation.name != "aie.event" && !parameter) {
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
        writer_.flush(ops);
        const auto& cascades = lowering_.options.costs.cascade;
        const auto words = cascades.find(symbol);
        const CascadeWords cascade = words == cascades.end() ? CascadeWords{} : words->second;
        const auto& streams = lowering_.options.costs.streams;
        const auto accesses = streams.find(symbol);
        const StreamWords stream = accesses == streams.end() ? StreamWords{} : accesses->second;
        if (cascade.get > 0) {
            ops.push_back({program::GetCascadeOp{cascade.get, std::nullopt}});
        }
        if (stream.get > 0) {
            ops.push_back({program::GetStreamOp{stream.get_port, stream.get, std::nullopt}});
        }
        program::CallOp op;
        op.kernel = kernel(symbol, operation);
        ops.push_back({op});
        if (stream.put > 0) {
            ops.push_back({program::PutStreamOp{stream.put_port, stream.put, std::nullopt,
                                                stream.packet, true}});
            lowering_.note(kZeros);
        }
        if (cascade.put > 0) {
            ops.push_back({program::PutCascadeOp{cascade.put, std::nullopt}});
        }
    }

    void inline_function(const Operation& operation, const Operation& function, Cursor& arguments,
                         Scope& scope, Script& ops) {
        if (++inlining_ > kMostInlining) {
            throw ReadError(operation.where, "functions call each other without end");
        }
        Scope inner(&lowering_.names);
        Cursor given(arguments.group("("));
        Cursor head(function);
        while (!head.done() && !head.peek()->opens("(")) {
            head.take();
        }
        Cursor formal(head.group("("));
        std::vector<std::pair<std::string, std::string>> handed;
        while (!formal.done() && !given.done()) {
            if (!formal.peek()->is(TokenKind::Value)) {
                formal.take();
                continue;
            }
            const std::string name = formal.value();
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

    // What a function returns on every way and the reader knows.
    static void name_returned(const Operation& call, const Operation& function, const Scope& inner,
                              Scope& scope) {
        const Operation* last = nullptr;
        int ways = 0;
        walk(region_of(function), [&](const Operation& each) {
            if (each.name == "return" || each.name == "func.return") {
                last = &each;
                ++ways;
            }
        });
        if (ways != 1 || call.results.size() != 1 || last->items.empty() ||
            !last->items.front().is(TokenKind::Value)) {
            return;
        }
        if (const Value* value = inner.find(last->items.front().token.text)) {
            scope.define(call.results.front(), *value);
        }
    }

    std::int64_t kernel(const std::string& symbol, const Operation& call) {
        for (std::size_t i = 0; i < lowering_.program.kernels.size(); ++i) {
            if (lowering_.program.kernels[i].name == plain_name(symbol)) {
                return static_cast<std::int64_t>(i);
            }
        }
        const KernelCosts& costs = lowering_.options.costs;
        const auto stated = costs.kernels.find(symbol);
        program::Kernel kernel;
        kernel.name = plain_name(symbol);
        if (stated != costs.kernels.end()) {
            kernel.cycles = stated->second;
        } else if (costs.default_kernel) {
            kernel.cycles = costs.default_kernel;
        } else {
            kernel.cycles = estimate(call);
            lowering_.note(fmt::format(kEstimate, symbol, *kernel.cycles));
        }
        lowering_.program.kernels.push_back(kernel);
        return static_cast<std::int64_t>(lowering_.program.kernels.size()) - 1;
    }

    // From the types behind the call: (memref<64xi32>, ...) -> ()
    std::int64_t estimate(const Operation& call) const {
        std::int64_t bytes = 0;
        for (const Item& item : call.items) {
            Cursor types(item);
            while (item.opens("(") && !types.done()) {
                bytes += buffer_bytes(types);
            }
        }
        const std::int64_t width = lowering_.config.kernels.load_width.count();
        return (bytes + width - 1) / width;
    }

    // Zero for what is no buffer of known size.
    static std::int64_t buffer_bytes(Cursor& types) {
        if (!types.peek()->is_word("memref")) {
            types.take();
            return 0;
        }
        try {
            return read_memref(types).bytes();
        } catch (const ReadError&) {
            return 0;
        }
    }

    const ControlFlow& flow_of(const Operation& function) {
        std::unique_ptr<ControlFlow>& flow = functions_[&function];
        if (!flow) {
            flow = std::make_unique<ControlFlow>(region_of(function));
        }
        return *flow;
    }

    Lowering& lowering_;
    const Operation& operation_;
    program::CoreProgram core_;
    ScriptWriter writer_{lowering_};
    HeldElements held_;
    std::map<const Operation*, std::unique_ptr<ControlFlow>> functions_;
    std::map<std::string, std::string> pointers_;  // values that are functions
    std::size_t steps_ = 0;
    int inlining_ = 0;
};

}  // namespace

namespace {

// Who a core is, in both files: its tile's name.
std::string tile_name_of(const Operation& core) {
    Cursor cursor(core);
    Cursor inside(cursor.group("("));
    return inside.done() ? "" : inside.peek()->token.text;
}

bool has_body(const Operation& core) {
    const auto regions = core.regions();
    return !regions.empty() && (regions.front()->blocks.size() > 1 ||
                                regions.front()->blocks.front().operations.size() > 1);
}

// The same core in the file with the bodies; nullptr where there is none.
const Operation* body_elsewhere(const Lowering& lowering, const Operation& core) {
    const Operation* found = nullptr;
    if (lowering.options.bodies == nullptr || has_body(core)) {
        return found;
    }
    const std::string device = symbol_of(lowering.device);
    walk(lowering.options.bodies->operations, [&](const Operation& other) {
        if (other.name != "aie.device" || symbol_of(other) != device) {
            return;
        }
        for (const Operation& each : region_of(other).blocks.front().operations) {
            if (each.name == "aie.core" && has_body(each) &&
                tile_name_of(each) == tile_name_of(core)) {
                found = &each;
            }
        }
    });
    return found;
}

}  // namespace

void lower_cores(Lowering& lowering) {
    int failed = 0;
    for (const Operation& operation : lowering.body()) {
        if (operation.name != "aie.core" || failed == kMostFailedCores) {
            continue;
        }
        const bool read = lowering.attempt([&] {
            const Operation* elsewhere = body_elsewhere(lowering, operation);
            if (elsewhere != nullptr) {
                lowering.note(
                    "bodies of cores that are in ELF files are taken from "
                    "input_with_addresses.mlir beside this file");
            } else if (operation.regions().empty()) {
                return;
            }
            program::CoreProgram core =
                CoreReader(lowering, elsewhere != nullptr ? *elsewhere : operation).run();
            if (!core.script.empty()) {
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

}  // namespace tilesim::workloads::npu::mlir
