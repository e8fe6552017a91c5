#include "workloads/npu/mlir/control_flow/flatten.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "workloads/npu/mlir/control_flow/control_flow.hpp"
#include "workloads/npu/mlir/control_flow/flat_builder.hpp"
#include "workloads/npu/mlir/syntax/cursor.hpp"

namespace tilesim::workloads::npu::mlir::control_flow {

using syntax::Block;
using syntax::ReadError;
using syntax::token;
using syntax::TokenKind;

namespace {

class Flattener : private FlatBuilder {
  public:
    std::vector<FlatBlock> run(const Item& region) {
        enter(region, [this](const Operation&) { current().jumps.clear(); });
        return std::move(blocks_);
    }

  private:
    // Blocks of a region. `on_end`: what its terminator means, called in the block it ends.
    // Returns the block it begins with.
    template <class OnEnd>
    std::size_t enter(const Item& region, const OnEnd& on_end) {
        ++depth_;
        std::map<std::string, std::size_t> labels;
        std::vector<std::size_t> numbers;
        for (const Block& block : region.blocks) {
            const Location where =
                block.operations.empty() ? region.token.where : block.operations.back().where;
            numbers.push_back(add_block(block.label, where));
            labels[block.label] = numbers.back();
            for (const std::string& argument : block.arguments) {
                blocks_[numbers.back()].arguments.push_back(defined(argument));
            }
        }
        const auto outside = std::exchange(labels_, std::move(labels));
        for (std::size_t i = 0; i < region.blocks.size(); ++i) {
            at_ = numbers[i];
            fill(region.blocks[i], region.blocks.size() == 1, on_end);
        }
        labels_ = outside;
        --depth_;
        return numbers.front();
    }

    // `alone`: in its region, whose end need not be written then.
    template <class OnEnd>
    void fill(const Block& block, bool alone, const OnEnd& on_end) {
        static constexpr std::array<std::string_view, 7> kEnds{
            "aie.end",      "return",        "func.return",     "scf.yield",
            "affine.yield", "scf.condition", "llvm.unreachable"};
        for (const Operation& operation : block.operations) {
            if (std::find(kEnds.begin(), kEnds.end(), operation.name) != kEnds.end()) {
                current().where = operation.where;
                on_end(operation);
                return;
            }
            step(operation);
        }
        const bool branches = !current().jumps.empty();
        if (!branches && (block.operations.empty() || !is_branch(block.operations.back()))) {
            if (!alone && !block.operations.empty()) {
                throw ReadError(current().where,
                                "this block ends without a branch, and others follow it");
            }
            on_end({{}, "scf.yield", current().where, {}});  // an end that is not written
        }
    }

    static bool is_branch(const Operation& operation) { return operation.name.starts_with("cf."); }

    void step(const Operation& operation) {
        const std::string& name = operation.name;
        if (name == "scf.for" || name == "affine.for") {
            for_loop(operation);
        } else if (name == "scf.if") {
            branch(operation);
        } else if (name == "scf.while") {
            while_loop(operation);
        } else if (name == "scf.index_switch") {
            index_switch(operation);
        } else if (name == "cf.br" || name == "cf.cond_br" || name == "cf.switch") {
            terminator(operation);
        } else {
            copy(operation);
        }
    }

    // The number a bound states, as a constant of its own; or the value it names.
    std::string bound(Cursor& cursor, Location where) {
        if (!cursor.done() && cursor.peek()->is(TokenKind::Value)) {
            return used(cursor.value());
        }
        if (cursor.done() || !cursor.peek()->is(TokenKind::Number)) {
            return std::string{kUnknown};  // a map of an affine loop
        }
        return constant(cursor.take().token.text, where);
    }

    struct ForHead {
        bool is_unsigned = false;
        std::string variable, from, to, step;
        Names carried, initial;
    };
    // %i = %from to %to step %step iter_args(%a = %x) -> (i32)
    ForHead head_of(const Operation& operation) {
        ForHead head;
        Cursor cursor(operation);
        head.is_unsigned = cursor.skip_word("unsigned");
        head.variable = cursor.value();
        cursor.expect("=");
        head.from = bound(cursor, operation.where);
        while (!cursor.done() && !cursor.skip_word("to")) {
            cursor.take();
        }
        head.to = bound(cursor, operation.where);
        while (!cursor.done() && !cursor.peek()->is_word("step") &&
               !cursor.peek()->is_word("iter_args") && cursor.peek()->kind != Item::Kind::Region) {
            cursor.take();
        }
        head.step = cursor.skip_word("step") ? bound(cursor, operation.where)
                                             : constant("1", operation.where);
        while (!cursor.done() && !cursor.skip_word("iter_args")) {
            cursor.take();
        }
        if (!cursor.done()) {
            read_carried(cursor.group("("), head.carried, head.initial);
        }
        return head;
    }
    // (%a = %x, %b = %y)
    void read_carried(const Item& group, Names& carried, Names& initial) {
        Cursor list(group);
        while (!list.done()) {
            carried.push_back(list.value());
            list.expect("=");
            initial.push_back(used(list.value()));
            list.skip(",");
        }
    }

    static const Item& body_of(const Operation& operation) {
        const auto regions = operation.regions();
        if (regions.empty()) {
            throw ReadError(operation.where, fmt::format("{} needs a region", operation.name));
        }
        return *regions.front();
    }

    void for_loop(const Operation& operation) {
        const ForHead head = head_of(operation);
        const Item& region = body_of(operation);
        const Location where = operation.where;
        const std::size_t before = at_;
        const std::size_t header = add_block("", where);
        Names initial{head.from};
        initial.insert(initial.end(), head.initial.begin(), head.initial.end());
        blocks_[before].jumps = {{header, std::move(initial)}};
        blocks_[before].where = where;
        const auto outside = renamed_;
        ++depth_;
        const std::string counter = defined(head.variable);
        Names results;
        for (const std::string& name : head.carried) {
            results.push_back(defined(name));
        }
        --depth_;
        blocks_[header].arguments = {counter};
        blocks_[header].arguments.insert(blocks_[header].arguments.end(), results.begin(),
                                         results.end());
        at_ = header;
        blocks_[header].condition = operate(
            "arith.cmpi", where,
            {token(TokenKind::Word, head.is_unsigned ? "ult" : "slt", where),
             token(TokenKind::Punctuation, ",", where), token(TokenKind::Value, counter, where),
             token(TokenKind::Punctuation, ",", where), token(TokenKind::Value, head.to, where)});
        const std::size_t body = enter(region, [&](const Operation& yield) {
            Names next{operate(
                "arith.addi", where,
                {token(TokenKind::Value, counter, where), token(TokenKind::Punctuation, ",", where),
                 token(TokenKind::Value, head.step, where)})};
            const Names given = operands(yield);
            next.insert(next.end(), given.begin(), given.end());
            current().jumps = {{header, std::move(next)}};
            check_operands(current().jumps.front(), results.size() + 1, yield.where);
        });
        renamed_ = outside;
        const std::size_t behind = add_block("", where);
        blocks_[header].jumps = {{body, {}}, {behind, {}}};
        name_results(operation, results);
        at_ = behind;
    }

    // Results as arguments of the block behind.
    std::size_t add_join(const Operation& operation, std::size_t results) {
        const std::size_t join = add_block("", operation.where);
        for (std::size_t i = 0; i < results; ++i) {
            blocks_[join].arguments.push_back(fresh("result"));
        }
        return join;
    }
    static std::size_t results_of(const Operation& operation, std::size_t yielded) {
        return operation.results.empty() ? 0 : yielded;
    }

    // A region that ends in a yield to `join`. Returns where it begins.
    std::size_t arm(const Item& region, const Operation& operation, std::size_t& join) {
        const auto outside = renamed_;
        constexpr std::size_t kNone = static_cast<std::size_t>(-1);
        const std::size_t begin = enter(region, [&](const Operation& yield) {
            Names given = operands(yield);
            if (join == kNone) {
                const std::size_t here = at_;
                join = add_join(operation, results_of(operation, given.size()));
                at_ = here;
            }
            given.resize(std::min(given.size(), blocks_[join].arguments.size()));
            current().jumps = {{join, std::move(given)}};
            check_operands(current().jumps.front(), blocks_[join].arguments.size(), yield.where);
        });
        renamed_ = outside;
        return begin;
    }

    void branch(const Operation& operation) {
        constexpr std::size_t kNone = static_cast<std::size_t>(-1);
        Cursor cursor(operation);
        const std::size_t before = at_;
        const std::string condition = used(cursor.value());
        std::vector<std::size_t> arms;
        std::size_t join = kNone;
        for (const Item* region : operation.regions()) {
            if (arms.size() < 2) {
                arms.push_back(arm(*region, operation, join));
            }
        }
        if (arms.empty() || join == kNone) {
            throw ReadError(operation.where, "scf.if needs a region that ends in scf.yield");
        }
        if (arms.size() == 1) {
            check_operands({join, {}}, blocks_[join].arguments.size(), operation.where);
            arms.push_back(join);
        }
        blocks_[before].where = operation.where;
        blocks_[before].condition = condition;
        blocks_[before].jumps = {{arms[0], {}}, {arms[1], {}}};
        name_results(operation, blocks_[join].arguments);
        at_ = join;
    }

    // scf.while (%a = %x) : (i32) -> i32 {... scf.condition(%c) %a : i32} do {^bb0(%b: i32): ...}
    void while_loop(const Operation& operation) {
        const auto regions = operation.regions();
        if (regions.size() != 2) {
            throw ReadError(operation.where, "scf.while needs two regions");
        }
        const auto outside = renamed_;
        const std::size_t before = at_;
        Names carried;
        Names initial;
        Cursor cursor(operation);
        if (!cursor.done() && cursor.peek()->opens("(")) {
            read_carried(cursor.take(), carried, initial);
        }
        ++depth_;
        for (std::string& name : carried) {
            name = defined(name);
        }
        --depth_;
        Names forwarded;
        std::size_t test = before;
        const std::size_t header = enter(*regions[0], [&](const Operation& condition) {
            Cursor words(condition);
            Cursor inside(words.group("("));
            test = at_;
            current().condition = used(inside.value());
            forwarded = operands(condition);
        });
        if (test == before) {
            throw ReadError(operation.where, "scf.while needs an scf.condition");
        }
        if (!carried.empty()) {
            blocks_[header].arguments = carried;
        }
        check_operands({header, initial}, blocks_[header].arguments.size(), operation.where);
        blocks_[before].jumps = {{header, initial}};
        blocks_[before].where = operation.where;
        const std::size_t body = enter(*regions[1], [&](const Operation& yield) {
            current().jumps = {{header, operands(yield)}};
            check_operands(current().jumps.front(), blocks_[header].arguments.size(), yield.where);
        });
        const std::size_t behind = add_block("", operation.where);
        blocks_[test].jumps = {{body, forwarded}, {behind, {}}};
        check_operands(blocks_[test].jumps.front(), blocks_[body].arguments.size(),
                       operation.where);
        renamed_ = outside;
        name_results(operation, forwarded);
        at_ = behind;
    }

    // scf.index_switch %v case 2 {...} case 5 {...} default {...}
    void index_switch(const Operation& operation) {
        constexpr std::size_t kNone = static_cast<std::size_t>(-1);
        Cursor cursor(operation);
        const std::size_t before = at_;
        const std::string value = used(cursor.value());
        std::vector<std::int64_t> cases;
        std::vector<Jump> jumps;
        std::size_t join = kNone;
        while (!cursor.done()) {
            if (cursor.skip_word("case")) {
                cases.push_back(cursor.integer());
                jumps.push_back({arm(cursor.take(), operation, join), {}});
            } else if (cursor.skip_word("default")) {
                jumps.insert(jumps.begin(), {arm(cursor.take(), operation, join), {}});
            } else {
                cursor.take();
            }
        }
        if (jumps.size() != cases.size() + 1 || join == kNone) {
            throw ReadError(operation.where, "a switch needs one default");
        }
        blocks_[before].where = operation.where;
        blocks_[before].condition = value;
        blocks_[before].jumps = std::move(jumps);
        blocks_[before].cases = std::move(cases);
        name_results(operation, blocks_[join].arguments);
        at_ = join;
    }
};

}  // namespace

std::vector<FlatBlock> flattened(const Item& region) {
    return Flattener{}.run(region);
}

}  // namespace tilesim::workloads::npu::mlir::control_flow
