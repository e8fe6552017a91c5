#include "workloads/npu/mlir/control_flow/control_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dominator_tree.hpp>
#include <functional>
#include <utility>

#include "workloads/npu/mlir/control_flow/flatten.hpp"
#include "workloads/npu/mlir/control_flow/loop_counters.hpp"
#include "workloads/npu/mlir/control_flow/own_slots.hpp"

namespace tilesim::workloads::npu::mlir::control_flow {

using syntax::ReadError;
using syntax::TokenKind;

namespace {

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;
constexpr std::size_t kNoBlock = static_cast<std::size_t>(-1);

// The immediate dominator of each vertex, seen from `entry`; kNoBlock where there is none.
std::vector<std::size_t> dominators(const Graph& graph, std::size_t entry) {
    std::vector<std::size_t> parents(boost::num_vertices(graph), kNoBlock);
    boost::lengauer_tarjan_dominator_tree(
        graph, entry,
        boost::make_iterator_property_map(parents.begin(), boost::get(boost::vertex_index, graph)));
    return parents;
}

}  // namespace

bool is_event(const Operation& operation) {
    static constexpr std::array<std::string_view, 10> kEvents{
        "aie.use_lock",          "func.call",       "call",
        "func.call_indirect",    "aie.put_cascade", "aie.get_cascade",
        "aie.put_stream",        "aie.get_stream",  "aie.objectfifo.acquire",
        "aie.objectfifo.release"};
    return std::find(kEvents.begin(), kEvents.end(), operation.name) != kEvents.end();
}

ControlFlow::ControlFlow(const Item& region) : blocks_(flattened(region)) {
    hand_on_slots(blocks_);
    thread_empty_blocks();
    find_reachable();
    find_loops();
    nest_loops();
    find_counters();
    find_deciding_values();
    joins_.resize(blocks_.size());
    find_joins(std::nullopt);
    for (std::size_t i = 0; i < loops_.size(); ++i) {
        find_joins(i);
    }
}

bool ControlFlow::dominates(std::size_t above, std::size_t below) const {
    while (below != above && below != kNoBlock) {
        below = dominators_[below];
    }
    return below == above;
}

std::optional<std::size_t> ControlFlow::loop_at(std::size_t header) const {
    for (std::size_t i = 0; i < loops_.size(); ++i) {
        if (loops_[i].header == header) {
            return i;
        }
    }
    return std::nullopt;
}

// What leads to a block that only branches leads to where that branches.
void ControlFlow::thread_empty_blocks() {
    std::map<std::string, std::size_t> uses;  // of values, their own block's branch aside
    const auto count = [&uses](const std::vector<Item>& items, const auto& self) -> void {
        for (const Item& item : items) {
            if (item.is(TokenKind::Value)) {
                ++uses[item.token.text];
            }
            self(item.items, self);
        }
    };
    const auto empty = [](const FlatBlock& block) {
        return block.operations.empty() && block.jumps.size() == 1;
    };
    for (const FlatBlock& block : blocks_) {
        for (const Operation& operation : block.operations) {
            count(operation.items, count);
        }
        ++uses[block.condition];
        for (const Jump& jump : block.jumps) {
            for (const std::string& name : jump.operands) {
                const auto& own = block.arguments;
                const bool passed_on =
                    empty(block) && std::find(own.begin(), own.end(), name) != own.end();
                uses[name] += passed_on ? 0 : 1;
            }
        }
    }
    const auto threads = [&](std::size_t number) {
        const FlatBlock& block = blocks_[number];
        return number != 0 && empty(block) && block.jumps.front().to != number &&
               std::all_of(block.arguments.begin(), block.arguments.end(),
                           [&uses](const std::string& name) { return uses[name] == 0; });
    };
    for (FlatBlock& block : blocks_) {
        for (Jump& jump : block.jumps) {
            for (std::size_t hops = 0; threads(jump.to) && hops < blocks_.size(); ++hops) {
                const FlatBlock& through = blocks_[jump.to];
                Jump onwards = through.jumps.front();
                for (std::string& name : onwards.operands) {
                    const auto argument =
                        std::find(through.arguments.begin(), through.arguments.end(), name);
                    if (argument != through.arguments.end()) {
                        name = jump.operands[static_cast<std::size_t>(argument -
                                                                      through.arguments.begin())];
                    }
                }
                jump = std::move(onwards);
            }
        }
    }
}

void ControlFlow::find_reachable() {
    reachable_.resize(blocks_.size());
    std::vector<std::size_t> open{0};
    while (!open.empty()) {
        const std::size_t block = open.back();
        open.pop_back();
        if (reachable_[block]) {
            continue;
        }
        reachable_[block] = true;
        for (const Jump& jump : blocks_[block].jumps) {
            open.push_back(jump.to);
        }
    }
}

void ControlFlow::find_loops() {
    Graph graph(blocks_.size());
    for (std::size_t from = 0; from < blocks_.size(); ++from) {
        for (const Jump& jump : blocks_[from].jumps) {
            if (reachable_[from]) {
                boost::add_edge(from, jump.to, graph);
            }
        }
    }
    dominators_ = dominators(graph, 0);
    // Depth first: an edge to a block that is still open closes a loop.
    enum class Mark { New, Open, Done };
    std::vector<Mark> marks(blocks_.size(), Mark::New);
    std::vector<std::pair<std::size_t, std::size_t>> stack{{0, 0}};
    marks[0] = Mark::Open;
    std::map<std::size_t, std::vector<std::size_t>> latches;  // by header
    while (!stack.empty()) {
        auto& [block, next] = stack.back();
        if (next == blocks_[block].jumps.size()) {
            marks[block] = Mark::Done;
            stack.pop_back();
            continue;
        }
        const std::size_t to = blocks_[block].jumps[next++].to;
        if (marks[to] == Mark::Open) {
            if (!dominates(to, block)) {
                throw ReadError(blocks_[block].where,
                                fmt::format("the loop through block ^{} has several entries; such "
                                            "control flow is not modelled",
                                            blocks_[to].label));
            }
            latches[to].push_back(block);
        } else if (marks[to] == Mark::New) {
            marks[to] = Mark::Open;
            stack.emplace_back(to, 0);
        }
    }
    for (const auto& [header, ends] : latches) {
        Loop loop;
        loop.header = header;
        loop.blocks.insert(header);
        std::vector<std::size_t> open = ends;
        while (!open.empty()) {
            const std::size_t block = open.back();
            open.pop_back();
            if (!loop.blocks.insert(block).second) {
                continue;
            }
            const auto [first, last] = boost::in_edges(block, graph);
            for (auto edge = first; edge != last; ++edge) {
                open.push_back(boost::source(*edge, graph));
            }
        }
        loops_.push_back(std::move(loop));
    }
}

void ControlFlow::nest_loops() {
    std::stable_sort(loops_.begin(), loops_.end(), [](const Loop& a, const Loop& b) {
        return a.blocks.size() > b.blocks.size();
    });
    innermost_.assign(blocks_.size(), std::nullopt);
    for (std::size_t i = 0; i < loops_.size(); ++i) {
        Loop& loop = loops_[i];
        loop.parent = innermost_[loop.header];
        for (const std::size_t block : loop.blocks) {
            innermost_[block] = i;
            for (const Operation& operation : blocks_[block].operations) {
                loop.events = loop.events || is_event(operation);
            }
        }
    }
}

void ControlFlow::find_counters() {
    const LoopCounters counters(blocks_, reachable_);
    for (std::size_t i = 0; i < loops_.size(); ++i) {
        std::set<std::size_t> own;
        for (const std::size_t block : loops_[i].blocks) {
            if (innermost_[block] == i) {
                own.insert(block);
            }
        }
        closing_.merge(counters.find(loops_[i], own));
    }
}

// Backwards from branches, bounds and lock counts to the values they are made of.
void ControlFlow::find_deciding_values() {
    const auto add_values = [this](const std::vector<Item>& items, const auto& self) -> void {
        for (const Item& item : items) {
            if (item.is(TokenKind::Value)) {
                deciding_.insert(item.token.text);
            }
            self(item.items, self);
        }
    };
    for (const FlatBlock& block : blocks_) {
        if (block.jumps.size() > 1) {
            deciding_.insert(block.condition);
        }
        for (const Operation& operation : block.operations) {
            if (operation.name == "aie.use_lock") {
                add_values(operation.items, add_values);
            }
        }
    }
    for (std::size_t before = 0; before != deciding_.size();) {
        before = deciding_.size();
        for (const FlatBlock& block : blocks_) {
            for (const Operation& operation : block.operations) {
                if (std::any_of(operation.results.begin(), operation.results.end(),
                                [this](const auto& name) { return deciding_.contains(name); })) {
                    add_values(operation.items, add_values);
                }
            }
            for (const Jump& jump : block.jumps) {
                const auto& arguments = blocks_[jump.to].arguments;
                for (std::size_t i = 0; i < arguments.size(); ++i) {
                    if (deciding_.contains(arguments[i])) {
                        deciding_.insert(jump.operands[i]);
                    }
                }
            }
        }
    }
}

bool ControlFlow::leaves(const std::optional<std::size_t>& level, std::size_t to) const {
    return level && (to == loops_[*level].header || !loops_[*level].blocks.contains(to));
}

std::size_t ControlFlow::at_level(const std::optional<std::size_t>& level, std::size_t to) const {
    std::optional<std::size_t> loop = innermost_[to];
    if (loop == level) {
        return to;
    }
    while (loop && loops_[*loop].parent != level) {
        loop = loops_[*loop].parent;
    }
    return loop ? loops_[*loop].header : to;
}

// Blocks of the level that control may go to from a block, or from the inner loop it begins.
std::vector<std::size_t> ControlFlow::successors_at(const std::optional<std::size_t>& level,
                                                    std::size_t block) const {
    std::vector<std::size_t> next;
    const std::set<std::size_t> own{block};
    const std::set<std::size_t>* members = &own;  // the block, or the inner loop's
    for (const Loop& loop : loops_) {
        if (innermost_[block] != level && loop.header == block) {
            members = &loop.blocks;
        }
    }
    for (const std::size_t from : *members) {
        for (const Jump& jump : blocks_[from].jumps) {
            if (members != &own && members->contains(jump.to)) {
                continue;
            }
            next.push_back(leaves(level, jump.to) ? kNoBlock : at_level(level, jump.to));
        }
    }
    if (next.empty()) {
        next.push_back(kNoBlock);  // the body ends, or an inner loop does not
    }
    return next;
}

// Where all ways from a block meet: its dominator with all edges turned round, in its own level,
// where inner loops are one block and the next run of the level's own loop is the end.
void ControlFlow::find_joins(const std::optional<std::size_t>& level) {
    const std::size_t end = blocks_.size();
    Graph graph(blocks_.size() + 1);
    std::vector<std::size_t> members;
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
        const bool inside = !level || loops_[*level].blocks.contains(block);
        if (!reachable_[block] || !inside || at_level(level, block) != block) {
            continue;
        }
        members.push_back(block);
        for (const std::size_t to : successors_at(level, block)) {
            boost::add_edge(to == kNoBlock ? end : to, block, graph);
        }
    }
    const auto parents = dominators(graph, end);
    for (const std::size_t block : members) {
        if (innermost_[block] == level && parents[block] != kNoBlock && parents[block] != end) {
            joins_[block] = parents[block];
        }
    }
}

std::optional<std::size_t> ControlFlow::join_of(std::size_t block) const {
    return joins_[block];
}

}  // namespace tilesim::workloads::npu::mlir::control_flow
