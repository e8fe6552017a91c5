#include "workloads/npu/mlir/control_flow/loop_counters.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "workloads/npu/mlir/control_flow/control_flow.hpp"

namespace tilesim::workloads::npu::mlir::control_flow {

using syntax::TokenKind;

namespace {

const Item* operand(const Operation& operation, std::size_t number) {
    for (const Item& item : operation.items) {
        if (item.is(TokenKind::Value) && number-- == 0) {
            return &item;
        }
    }
    return nullptr;
}

std::string mirrored(std::string predicate) {
    if (predicate.size() == 3 && (predicate[1] == 'l' || predicate[1] == 'g')) {
        predicate[1] = predicate[1] == 'l' ? 'g' : 'l';
    }
    return predicate;
}

}  // namespace

const std::string& Loop::first_name(const std::string& name) const {
    const std::string* first = &name;
    for (std::size_t i = 0; i <= other_names.size(); ++i) {
        const auto place = other_names.find(*first);
        if (place == other_names.end()) {
            break;
        }
        first = &place->second;
    }
    return *first;
}

std::set<const Operation*> LoopCounters::find(Loop& loop, const std::set<std::size_t>& own) const {
    std::set<const Operation*> closing;
    find_other_names(loop);
    find_counters(loop);
    find_test(loop, own, closing);
    return closing;
}

void LoopCounters::find_other_names(Loop& loop) const {
    std::map<std::size_t, std::vector<const Jump*>> into;
    for (std::size_t from = 0; from < blocks_.size(); ++from) {
        for (const Jump& jump : blocks_[from].jumps) {
            if (reachable_[from] && jump.to != loop.header && loop.blocks.contains(jump.to)) {
                into[jump.to].push_back(&jump);
            }
        }
    }
    for (const auto& [block, jumps] : into) {
        const auto& arguments = blocks_[block].arguments;
        for (std::size_t i = 0; jumps.size() == 1 && i < arguments.size(); ++i) {
            loop.other_names[arguments[i]] = jumps.front()->operands[i];
        }
    }
}

void LoopCounters::find_counters(Loop& loop) const {
    std::map<std::string, const Operation*> additions;  // in the loop
    std::set<std::string> changing;                     // values the loop computes anew
    for (const std::size_t number : loop.blocks) {
        const FlatBlock& block = blocks_[number];
        changing.insert(block.arguments.begin(), block.arguments.end());
        for (const Operation& operation : block.operations) {
            if (operation.name != "arith.constant") {
                changing.insert(operation.results.begin(), operation.results.end());
            }
            const bool adds = operation.name == "arith.addi" || operation.name == "index.add";
            if (adds && operation.results.size() == 1) {
                additions[operation.results.front()] = &operation;
            }
        }
    }
    const FlatBlock& header = blocks_[loop.header];
    loop.steps.resize(header.arguments.size());
    for (std::size_t i = 0; i < header.arguments.size(); ++i) {
        std::string step;
        bool counts = true;
        for (const std::size_t number : loop.blocks) {
            for (const Jump& jump : blocks_[number].jumps) {
                if (jump.to != loop.header) {
                    continue;
                }
                const auto addition = additions.find(loop.first_name(jump.operands[i]));
                if (addition == additions.end()) {
                    counts = false;
                    continue;
                }
                const Item* a = operand(*addition->second, 0);
                const Item* b = operand(*addition->second, 1);
                const bool first =
                    a != nullptr && loop.first_name(a->token.text) == header.arguments[i];
                const Item* other = first ? b : a;
                const Item* counter = first ? a : b;
                const std::string by = other == nullptr ? "" : loop.first_name(other->token.text);
                counts = counts && counter != nullptr && other != nullptr &&
                         loop.first_name(counter->token.text) == header.arguments[i] &&
                         !changing.contains(by) && (step.empty() || step == by);
                step = counts ? by : "";
                loop.raises.emplace(i, addition->second);
            }
        }
        if (counts && !step.empty()) {
            loop.steps[i] = step;
        }
    }
}

void LoopCounters::find_test(Loop& loop, const std::set<std::size_t>& own,
                             std::set<const Operation*>& closing) const {
    std::optional<CountedTest> found;
    for (const std::size_t number : loop.blocks) {
        const FlatBlock& block = blocks_[number];
        if (block.jumps.size() != 2 || !own.contains(number)) {
            continue;
        }
        const bool first_stays = loop.blocks.contains(block.jumps[0].to);
        const bool second_stays = loop.blocks.contains(block.jumps[1].to);
        if (first_stays == second_stays) {
            continue;
        }
        for (const Operation& operation : block.operations) {
            if (operation.name != "arith.cmpi" || operation.results.size() != 1 ||
                operation.results.front() != block.condition || operation.items.empty()) {
                continue;
            }
            const Item* left = operand(operation, 0);
            const Item* right = operand(operation, 1);
            for (const bool swapped : {false, true}) {
                const Item* counter = swapped ? right : left;
                const Item* bound = swapped ? left : right;
                if (counter == nullptr || bound == nullptr || found) {
                    continue;
                }
                const auto& arguments = blocks_[loop.header].arguments;
                for (std::size_t i = 0; i < arguments.size(); ++i) {
                    const std::string& name = loop.first_name(counter->token.text);
                    const bool now = name == arguments[i];
                    const bool next =
                        std::any_of(loop.blocks.begin(), loop.blocks.end(), [&](std::size_t from) {
                            const auto& jumps = blocks_[from].jumps;
                            return std::any_of(jumps.begin(), jumps.end(), [&](const Jump& jump) {
                                return jump.to == loop.header &&
                                       loop.first_name(jump.operands[i]) == name;
                            });
                        });
                    if (loop.steps[i].empty() || (!now && !next)) {
                        continue;
                    }
                    const std::string& predicate = operation.items.front().token.text;
                    found = CountedTest{number,
                                        i,
                                        !now,
                                        swapped ? mirrored(predicate) : predicate,
                                        loop.first_name(bound->token.text),
                                        first_stays};
                    closing.insert(&operation);
                }
            }
        }
    }
    loop.test = found;
    if (found) {
        const auto [first, last] = loop.raises.equal_range(found->argument);
        for (auto raise = first; raise != last; ++raise) {
            closing.insert(raise->second);
        }
    }
}

}  // namespace tilesim::workloads::npu::mlir::control_flow
