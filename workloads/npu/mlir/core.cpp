// Core bodies as scripts: lock operations and kernel calls stay, everything between them becomes
// its time.
//
// Models:  loops with constant bounds or a run-time parameter's, branches whose condition is
//          constant, endless loops; scalar instructions in order, one a cycle, waiting for their
//          operands; loops without events as one block of work.
// Ignores: what is computed; vectorisation and software pipelining by the compiler; instruction
//          fetch.
// Source:  latencies in InlineCosts.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir {

namespace {

constexpr std::size_t kMostOperations = 200'000;  // of a script, unrolled parts included
constexpr std::int64_t kMostUnrolled = 4096;      // runs of a loop whose body needs its variable
constexpr int kMostInlining = 32;                 // functions in functions
constexpr std::int64_t kLockWindow = 16;          // locks of one tile as a core sees them
constexpr std::int64_t kMostCycles = std::int64_t{1} << 40;
// A function without a stated cost takes the time its operands need through one load port.
constexpr const char* kEstimate =
    "{}: no cost is stated for this function; taken as {} cycles, each buffer once through the "
    "core's load port. State it under `kernels` of the side file";

// Whether a body cannot be lowered without the value of an outer loop's variable.
class DependsOnData : public ReadError {
    using ReadError::ReadError;
};

bool is_event(const Operation& operation) {
    return operation.name == "aie.use_lock" || operation.name == "func.call" ||
           operation.name == "call" || operation.name == "aie.put_cascade" ||
           operation.name == "aie.get_cascade";
}

bool has_events(const Item& region) {
    bool found = false;
    walk(region, [&found](const Operation& each) { found = found || is_event(each); });
    return found;
}

// Time of straight code: instructions issue one a cycle in order, each when its operands are there.
class InlineClock {
  public:
    explicit InlineClock(const InlineCosts& costs) : costs_(costs) {}

    void issue(const Operation& operation) {
        std::int64_t at = now_;
        for (const Item& item : operation.items) {
            visit(item, at);
        }
        now_ = at + 1;
        for (const std::string& result : operation.results) {
            ready_[result] = at + latency(operation.name);
        }
    }
    void spend(std::int64_t cycles) { now_ = std::min(now_ + cycles, kMostCycles); }
    std::int64_t now() const { return now_; }

  private:
    void visit(const Item& item, std::int64_t& at) const {
        if (item.is(TokenKind::Value)) {
            const auto place = ready_.find(item.token.text);
            at = place == ready_.end() ? at : std::max(at, place->second);
        }
        for (const Item& inner : item.items) {
            visit(inner, at);
        }
    }
    std::int64_t latency(const std::string& name) const {
        if (name.find("load") != std::string::npos || name == "vector.transfer_read") {
            return costs_.load;
        }
        return name.starts_with("arith.mul") ? costs_.multiply : costs_.other;
    }

    InlineCosts costs_;
    std::int64_t now_ = 0;
    std::unordered_map<std::string, std::int64_t> ready_;
};

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
        core_.script = script(region_of(operation_), scope);
        return std::move(core_);
    }

  private:
    using Script = std::vector<program::CoreOp>;

    // The blocks of a region, as control flows through them.
    Script script(const Item& region, Scope& scope) {
        Script ops;
        std::map<const Block*, std::size_t> began;  // where in `ops` a block's code begins
        const Block* block = &region.blocks.front();
        while (block != nullptr) {
            const auto known = began.find(block);
            if (known != began.end() && block->arguments.empty()) {
                flush(ops);
                close_endless(ops, known->second);
                return ops;
            }
            flush(ops);
            began[block] = ops.size();
            target_ = nullptr;
            const Block* here = block;
            for (const Operation& operation : here->operations) {
                step(operation, scope, ops, &region);
            }
            block = target_;
        }
        flush(ops);
        return ops;
    }

    static void close_endless(Script& ops, std::size_t from) {
        program::LoopOp loop;
        loop.count = -1;
        loop.body.assign(ops.begin() + static_cast<std::ptrdiff_t>(from), ops.end());
        ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(from), ops.end());
        add_endless(ops, std::move(loop));
    }

    // A core that only computes for ever is never heard of again: its loop is left out.
    static void add_endless(Script& ops, program::LoopOp loop) {
        if (touches_locks(loop.body)) {
            ops.push_back({std::move(loop)});
        }
    }
    static bool touches_locks(const Script& ops) {
        return std::any_of(ops.begin(), ops.end(), [](const program::CoreOp& entry) {
            const auto* inner = std::get_if<program::LoopOp>(&entry.op);
            return inner != nullptr ? touches_locks(inner->body)
                                    : !std::holds_alternative<program::CallOp>(entry.op);
        });
    }

    void step(const Operation& operation, Scope& scope, Script& ops, const Item* region) {
        if (++steps_ > kMostOperations) {
            throw ReadError(operation.where, fmt::format("this core's script is longer than {} "
                                                         "operations",
                                                         kMostOperations));
        }
        const std::string& name = operation.name;
        if (name == "aie.use_lock") {
            const LockUse use = lock_use(operation, scope);
            flush(ops);
            if (use.acquire) {
                ops.push_back({program::AcquireOp{use.action}});
            } else {
                ops.push_back({program::ReleaseOp{use.action}});
            }
        } else if (name == "func.call") {
            call(operation, scope, ops);
        } else if (name == "aie.put_cascade") {
            flush(ops);
            ops.push_back({program::PutCascadeOp{1, std::nullopt}});
        } else if (name == "aie.get_cascade") {
            name_results(operation, scope);
            flush(ops);
            ops.push_back({program::GetCascadeOp{1, std::nullopt}});
        } else if (name == "scf.for" || name == "affine.for") {
            loop(operation, scope, ops);
        } else if (name == "scf.if" || name == "scf.while") {
            structured(operation, scope, ops);
        } else if (name == "cf.br" || name == "cf.cond_br") {
            branch(operation, scope, *region);
        } else if (!ends(name) && !define_constant(operation, scope)) {
            work(operation, scope);
        }
    }

    static bool ends(const std::string& name) {
        return name == "aie.end" || name == "scf.yield" || name == "affine.yield" ||
               name == "return" || name == "func.return" || name == "scf.condition";
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
                                                 "memref.expand_shape",     "memref.cast",
                                                 "memref.get_global",       "memref.dim"};
        const std::string dialect = operation.name.substr(0, operation.name.find('.'));
        static const std::set<std::string> kDialects{"arith",  "memref",  "math", "vector", "index",
                                                     "affine", "builtin", "llvm", "ub"};
        // An event is one instruction.
        if (!kDialects.contains(dialect) && operation.name != "aie.event") {
            throw ReadError(operation.where,
                            fmt::format("{} is not modelled in a core", operation.name));
        }
        name_results(operation, scope);
        if (!kFree.contains(operation.name)) {
            clock_.issue(operation);
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
            const auto number = static_cast<std::int64_t>(lowering_.parameters.size());
            const auto [place, added] = lowering_.parameters.try_emplace({buffer, *word}, number);
            scope.define(operation.results[0], {Value::Kind::Parameter, place->second});
        }
    }

    void branch(const Operation& operation, Scope& scope, const Item& region) {
        Cursor cursor(operation);
        bool taken = true;
        if (operation.name == "cf.cond_br") {
            const auto condition = scope.constant(cursor.value());
            if (!condition) {
                throw DependsOnData(operation.where,
                                    "which way this branch goes depends on data, which is not "
                                    "modelled");
            }
            taken = *condition != 0;
            cursor.expect(",");
        }
        if (!taken) {
            while (!cursor.skip(",")) {
                cursor.take();
            }
        }
        if (cursor.done() || !cursor.peek()->is(TokenKind::BlockLabel)) {
            cursor.fail("a ^block");
        }
        const Item& label = cursor.take();
        target_ = &block_of_region(region, label);
        bind_arguments(cursor, scope);
        clock_.spend(lowering_.options.costs.inline_code.branch);
    }

    static const Block& block_of_region(const Item& region, const Item& label) {
        for (const Block& block : region.blocks) {
            if (block.label == label.token.text) {
                return block;
            }
        }
        throw ReadError(label.token.where, fmt::format("there is no block ^{}", label.token.text));
    }

    // ^bb1(%a, %b : index, index)
    void bind_arguments(Cursor& cursor, Scope& scope) {
        if (target_->arguments.empty()) {
            return;
        }
        Cursor list(cursor.group("("));
        std::vector<const Value*> values;
        while (!list.done() && list.peek()->is(TokenKind::Value)) {
            values.push_back(scope.find(list.value()));
            list.skip(",");
        }
        std::vector<std::optional<Value>> copies;
        for (const Value* value : values) {
            copies.push_back(value == nullptr ? std::nullopt : std::optional{*value});
        }
        for (std::size_t i = 0; i < target_->arguments.size(); ++i) {
            if (i < copies.size() && copies[i]) {
                scope.define(target_->arguments[i], *copies[i]);
            } else {
                scope.forget(target_->arguments[i]);
            }
        }
    }

    struct Bounds {
        std::string variable;
        std::optional<std::int64_t> from, to, step;
        std::optional<std::int64_t> parameter;  // the upper bound
        std::optional<std::int64_t> runs() const {
            if (!from || !to || !step || *step <= 0) {
                return std::nullopt;
            }
            std::int64_t span = 0;
            if (*to <= *from || __builtin_sub_overflow(*to - 1, *from, &span)) {
                return *to <= *from ? std::optional<std::int64_t>{0} : std::nullopt;
            }
            return span / *step + 1;
        }
    };

    static std::optional<std::int64_t> bound(Cursor& cursor, const Scope& scope) {
        if (!cursor.done() && cursor.peek()->is(TokenKind::Value)) {
            return scope.constant(cursor.value());
        }
        return cursor.integer();
    }

    // %i = %from to %to step %step
    static Bounds bounds_of(const Operation& operation, const Scope& scope) {
        Cursor cursor(operation);
        Bounds bounds;
        cursor.skip_word("unsigned");
        bounds.variable = cursor.value();
        cursor.expect("=");
        bounds.from = bound(cursor, scope);
        if (!cursor.skip_word("to")) {
            cursor.fail("'to'");
        }
        if (!cursor.done() && cursor.peek()->is(TokenKind::Value)) {
            const Value* value = scope.find(cursor.peek()->token.text);
            if (value != nullptr && value->kind == Value::Kind::Parameter) {
                bounds.parameter = value->index;
            }
        }
        bounds.to = bound(cursor, scope);
        bounds.step =
            cursor.skip_word("step") ? bound(cursor, scope) : std::optional<std::int64_t>{1};
        return bounds;
    }

    void loop(const Operation& operation, Scope& scope, Script& ops) {
        const Bounds bounds = bounds_of(operation, scope);
        const Item& region = region_of(operation);
        const auto runs = bounds.runs();
        if (!runs && !bounds.parameter) {
            throw DependsOnData(operation.where,
                                "how often this loop runs depends on data, which is not modelled");
        }
        if (bounds.parameter && bounds.from != 0) {
            throw ReadError(operation.where, "a loop to a run-time parameter must begin at 0");
        }
        if (runs && *runs == 0) {
            return;
        }
        try {
            Scope inner(&scope);
            repeated(region, inner, runs, bounds.parameter, ops);
        } catch (const DependsOnData&) {
            if (!runs || *runs > kMostUnrolled) {
                throw;
            }
            for (std::int64_t run = 0; run < *runs; ++run) {
                Scope inner(&scope);
                inner.define(bounds.variable,
                             {Value::Kind::Constant, *bounds.from + run * *bounds.step});
                append(operation, script(region, inner), ops);
            }
        }
    }

    // The body once, and a count.
    void repeated(const Item& region, Scope& scope, std::optional<std::int64_t> runs,
                  std::optional<std::int64_t> parameter, Script& ops) {
        const InlineClock outside = clock_;
        clock_ = InlineClock(lowering_.options.costs.inline_code);
        try {
            program::LoopOp loop;
            loop.parameter = parameter;
            loop.count = runs.value_or(0);
            loop.body = script_with_branch(region, scope);
            const bool only_work = runs && loop.body.size() == 1 && is_inline(loop.body.front());
            const std::int64_t cycles = only_work ? work_of(loop.body.front()) : 0;
            clock_ = outside;
            if (only_work && cycles <= kMostCycles / *runs) {
                clock_.spend(cycles * *runs);
                return;
            }
            flush(ops);
            if (!loop.body.empty()) {
                ops.push_back({std::move(loop)});
            }
        } catch (...) {
            clock_ = outside;
            throw;
        }
    }

    Script script_with_branch(const Item& region, Scope& scope) {
        Script ops = script(region, scope);
        clock_.spend(lowering_.options.costs.inline_code.branch);
        flush(ops);
        // Work before and behind the loop's events stays apart; without events it is one piece.
        std::int64_t cycles = 0;
        for (const program::CoreOp& op : ops) {
            if (!is_inline(op)) {
                return ops;
            }
            cycles += work_of(op);
        }
        ops.clear();
        ops.push_back(inline_call(cycles));
        return ops;
    }

    void append(const Operation& operation, Script more, Script& ops) {
        if (ops.size() + more.size() > kMostOperations) {
            throw ReadError(operation.where, "this core's script is too long");
        }
        flush(ops);
        std::move(more.begin(), more.end(), std::back_inserter(ops));
    }

    // scf.if, scf.while: by their condition when it is constant. Without events the longer branch's
    // time is taken.
    void structured(const Operation& operation, Scope& scope, Script& ops) {
        const auto regions = operation.regions();
        if (operation.name == "scf.while") {
            endless(operation, regions, scope, ops);
            return;
        }
        Cursor cursor(operation);
        const auto condition = scope.constant(cursor.value());
        const bool events = std::any_of(regions.begin(), regions.end(),
                                        [](const Item* region) { return has_events(*region); });
        if (!condition && events) {
            throw DependsOnData(operation.where,
                                "whether this branch is taken depends on data, which is not "
                                "modelled");
        }
        if (condition) {
            const std::size_t taken = *condition != 0 ? 0 : 1;
            if (taken < regions.size()) {
                Scope inner(&scope);
                append(operation, script(*regions[taken], inner), ops);
            }
            return;
        }
        std::int64_t longest = 0;
        const InlineClock outside = clock_;
        for (const Item* region : regions) {
            clock_ = InlineClock(lowering_.options.costs.inline_code);
            Scope inner(&scope);
            std::int64_t cycles = 0;
            for (const program::CoreOp& op : script(*region, inner)) {
                cycles += is_inline(op) ? work_of(op) : 0;
            }
            longest = std::max(longest, cycles);
        }
        clock_ = outside;
        clock_.spend(longest + lowering_.options.costs.inline_code.branch);
    }

    void endless(const Operation& operation, const std::vector<const Item*>& regions, Scope& scope,
                 Script& ops) {
        std::optional<std::int64_t> condition;
        Scope inner(&scope);
        if (regions.size() == 2) {
            walk(*regions[0], [&](const Operation& each) {
                define_constant(each, inner);
                if (each.name == "scf.condition") {
                    Cursor cursor(each);
                    Cursor value(cursor.group("("));
                    condition = inner.constant(value.value());
                }
            });
        }
        if (condition != 1) {
            throw DependsOnData(operation.where,
                                "how often this loop runs depends on data, which is not modelled");
        }
        flush(ops);
        program::LoopOp loop;
        loop.count = -1;
        loop.body = script(*regions[1], inner);
        add_endless(ops, std::move(loop));
    }

    void call(const Operation& operation, Scope& scope, Script& ops) {
        Cursor cursor(operation);
        const std::string symbol = cursor.symbol();
        const auto function = lowering_.functions.find(symbol);
        const bool stated = lowering_.options.costs.kernels.contains(symbol);
        if (!stated && function != lowering_.functions.end() &&
            !function->second->regions().empty()) {
            inline_function(operation, *function->second, cursor, scope, ops);
            return;
        }
        flush(ops);
        const auto& cascades = lowering_.options.costs.cascade;
        const auto words = cascades.find(symbol);
        const CascadeWords cascade = words == cascades.end() ? CascadeWords{} : words->second;
        if (cascade.get > 0) {
            ops.push_back({program::GetCascadeOp{cascade.get, std::nullopt}});
        }
        program::CallOp op;
        op.kernel = kernel(symbol, operation);
        ops.push_back({op});
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
        while (!formal.done() && !given.done()) {
            if (!formal.peek()->is(TokenKind::Value)) {
                formal.take();
                continue;
            }
            const std::string name = formal.value();
            if (const Value* value = scope.find(given.value())) {
                inner.define(name, *value);
            }
            given.skip(",");
        }
        append(operation, script(region_of(function), inner), ops);
        --inlining_;
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

    bool is_inline(const program::CoreOp& op) const {
        const auto* call = std::get_if<program::CallOp>(&op.op);
        return call != nullptr &&
               lowering_.program.kernels[static_cast<std::size_t>(call->kernel)].kind ==
                   program::KernelKind::Inline;
    }
    std::int64_t work_of(const program::CoreOp& op) const {
        const auto& call = std::get<program::CallOp>(op.op);
        return *lowering_.program.kernels[static_cast<std::size_t>(call.kernel)].cycles;
    }

    // One kernel per number of cycles: "inline_12".
    program::CoreOp inline_call(std::int64_t cycles) {
        program::CallOp call;
        const std::string name = fmt::format("inline_{}", cycles);
        auto& kernels = lowering_.program.kernels;
        const auto place = std::find_if(kernels.begin(), kernels.end(), [&name](const program::Kernel& k) {
            return k.kind == program::KernelKind::Inline && k.name == name;
        });
        call.kernel = place - kernels.begin();
        if (place == kernels.end()) {
            program::Kernel kernel;
            kernel.name = name;
            kernel.kind = program::KernelKind::Inline;
            kernel.cycles = cycles;
            kernels.push_back(kernel);
        }
        return {call};
    }

    // Puts the time spent since the last event into the script.
    void flush(Script& ops) {
        const std::int64_t cycles = clock_.now();
        clock_ = InlineClock(lowering_.options.costs.inline_code);
        if (cycles > 0) {
            ops.push_back(inline_call(cycles));
        }
    }

    Lowering& lowering_;
    const Operation& operation_;
    program::CoreProgram core_;
    InlineClock clock_{lowering_.options.costs.inline_code};
    const Block* target_ = nullptr;
    std::size_t steps_ = 0;
    int inlining_ = 0;
};

}  // namespace

void lower_cores(Lowering& lowering) {
    for (const Operation& operation : lowering.body()) {
        if (operation.name == "aie.core" && !operation.regions().empty()) {
            lowering.attempt([&] {
                program::CoreProgram core = CoreReader(lowering, operation).run();
                if (!core.script.empty()) {
                    lowering.program.cores.push_back(std::move(core));
                }
            });
        }
    }
}

}  // namespace tilesim::workloads::npu::mlir
