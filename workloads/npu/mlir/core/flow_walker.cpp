#include "workloads/npu/mlir/core/flow_walker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "workloads/npu/mlir/control_flow/control_flow.hpp"
#include "workloads/npu/mlir/control_flow/loop_count.hpp"
#include "workloads/npu/mlir/syntax/constant_folding.hpp"

namespace tilesim::workloads::npu::mlir::core {

using control_flow::hash_of;
using control_flow::Loop;
using control_flow::negated;
using control_flow::same_values;
using control_flow::times_passed;
using syntax::kBehindBuffer;

namespace {

constexpr std::size_t kMostUnrolled = 4096;  // runs of a loop laid out one by one

}  // namespace

void FlowWalker::run(Script& ops) {
    Frame frame;
    if (const auto loop = flow_.loop_at(0)) {
        const Edge edge = run_loop(*loop, ops);
        if (!edge.to) {
            writer_.flush(ops);
            return;
        }
        values_.bind(*edge.to, edge.values, false);
        follow(*edge.to, frame, ops);
    } else {
        follow(0, frame, ops);
    }
    writer_.flush(ops);
}

bool FlowWalker::ends(const Frame& frame, std::optional<std::size_t> to) const {
    if (!to || (frame.stop && *to == *frame.stop)) {
        return true;
    }
    return frame.loop && (*to == flow_.loops()[*frame.loop].header ||
                          !flow_.loops()[*frame.loop].blocks.contains(*to));
}

FlowWalker::Edge FlowWalker::follow(std::size_t block, Frame& frame, Script& ops) {
    while (true) {
        const auto inner = flow_.loop_at(block);
        Edge edge =
            inner && inner != frame.loop ? run_loop(*inner, ops) : run_block(block, frame, ops);
        if (ends(frame, edge.to)) {
            return edge;
        }
        values_.bind(*edge.to, edge.values, false);
        block = *edge.to;
    }
}

FlowWalker::Edge FlowWalker::run_block(std::size_t number, Frame& frame, Script& ops) {
    const FlatBlock& block = flow_.blocks()[number];
    for (const Operation& operation : block.operations) {
        if (flow_.closes_loop(operation)) {
            define_constant(operation, scope_);
        } else {
            step_(operation, scope_, ops);
        }
    }
    return choose(block, number, frame, ops);
}

FlowWalker::Edge FlowWalker::edge_of(const Jump& jump) const {
    return {jump.to, values_.handed_by(jump)};
}

FlowWalker::Edge FlowWalker::run_loop(std::size_t number, Script& ops) {
    const Values entry = values_.of(flow_.loops()[number].header);
    const HeldElements held = held_;
    const InlineClock clock = writer_.clock();
    const std::size_t before = ops.size();
    std::optional<Runs> runs;
    try {
        return repeated(number, entry, runs, ops);
    } catch (const BehindBuffer&) {
        throw;  // run by run it is no better known
    } catch (const DependsOnData&) {
        const bool long_run = runs && runs->count > static_cast<std::int64_t>(kMostUnrolled);
        if (long_run || (runs && runs->parameter)) {
            throw;
        }
    }
    held_ = held;
    writer_.clock() = clock;
    ops.resize(before);
    return unrolled(number, entry, ops);
}

FlowWalker::Edge FlowWalker::run_once(std::size_t number, const Values& entry, Frame& frame,
                                      Script& ops) {
    const Loop& loop = flow_.loops()[number];
    const auto& names = flow_.blocks()[loop.header].arguments;
    OpenLoop open{&scope_, {}, &frame.runs};
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto step = loop.steps[i].empty() ? std::nullopt : scope_.constant(loop.steps[i]);
        if (step && entry[i] && entry[i]->kind == Value::Kind::Constant) {
            open.counters.push_back({names[i], entry[i]->index, *step});
        }
    }
    const std::size_t around = open_.size();
    open_.push_back(std::move(open));
    try {
        Edge edge = follow(loop.header, frame, ops);
        open_.resize(around);
        return edge;
    } catch (const ReadError&) {
        open_.resize(around);
        throw;
    }
}

// Runs with the counter unknown, until what is carried from one to the next comes again.
FlowWalker::Edge FlowWalker::repeated(std::size_t number, const Values& entry,
                                      std::optional<Runs>& runs, Script& ops) {
    const Loop& loop = flow_.loops()[number];
    const Location where = flow_.blocks()[loop.header].where;
    const InlineClock outside = writer_.clock();
    std::vector<Script> bodies;
    std::vector<State> states{{values_.carried_of(number, entry), held_}};
    std::size_t first = 0;
    while (true) {
        const State& now = states.back();
        const auto before = std::find_if(states.begin(), states.end() - 1, [&now](const State& s) {
            return same_values(s.carried, now.carried) && s.held == now.held;
        });
        first = static_cast<std::size_t>(before - states.begin());
        const auto laid_out = static_cast<std::int64_t>(bodies.size());
        if (first + 1 < states.size() ||
            (runs && !runs->parameter && runs->count >= 0 && laid_out >= runs->count)) {
            break;
        }
        if (bodies.size() >= kMostUnrolled) {
            throw DependsOnData(where, "what this loop carries from run to run does not repeat");
        }
        writer_.begin_piece();
        held_ = now.held;
        values_.bind(loop.header, now.carried, true);
        Frame frame{number, {}, &entry};
        Script body;
        Edge edge = run_once(number, entry, frame, body);
        if (!frame.runs && loop.test && edge.to == loop.header) {
            throw DependsOnData(where, "not every run of this loop tests its counter");
        }
        runs = frame.runs;
        if (runs && runs->count == 0 && !runs->parameter) {
            held_ = now.held;
            break;
        }
        if (edge.to != loop.header) {  // a way out that is known
            writer_.flush(body);
            writer_.clock() = outside;
            for (const Script& each : bodies) {
                writer_.append(each, where, ops);
            }
            writer_.append(body, where, ops);
            return edge;
        }
        writer_.close_run(body);
        bodies.push_back(writer_.as_body(std::move(body)));
        states.push_back({values_.carried_of(number, edge.values), held_});
    }
    writer_.clock() = outside;
    const Runs all = runs.value_or(Runs{});
    if (all.parameter && !bodies.empty() && all_alike(bodies)) {
        // A loop that tests behind its body reads the parameter when the first run has ended.
        Script last;
        writer_.begin_piece();
        Edge edge = leave(number, entry, states, first, all, last);
        const InlineClock end = writer_.clock();
        writer_.close_run(last);
        const bool alike = same(writer_.as_body(last), bodies.front());
        writer_.clock() = end;
        last = writer_.as_body(std::move(last));
        writer_.clock() = outside;
        if (alike) {
            writer_.append(last, where, ops);
            writer_.lay_out(bodies, first, all, where, ops);
            return edge;
        }
    }
    writer_.lay_out(bodies, first, all, where, ops);
    return leave(number, entry, states, first, all, ops);
}

// The loop's last test, which goes the other way, with what the runs have left.
FlowWalker::Edge FlowWalker::leave(std::size_t number, const Values& entry,
                                   const std::vector<State>& states, std::size_t first,
                                   const Runs& runs, Script& ops) {
    if (runs.count < 0 && !runs.parameter) {
        return {};
    }
    const Loop& loop = flow_.loops()[number];
    const auto period = static_cast<std::int64_t>(states.size() - 1 - first);
    std::int64_t at = runs.parameter ? 0 : runs.count;
    if (at >= static_cast<std::int64_t>(states.size())) {
        at = static_cast<std::int64_t>(first) + (at - static_cast<std::int64_t>(first)) % period;
    }
    const State& last = states[static_cast<std::size_t>(at)];
    Values values = last.carried;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto step = loop.steps[i].empty() ? std::nullopt : scope_.constant(loop.steps[i]);
        std::int64_t raised = 0;
        if (step && entry[i] && entry[i]->kind == Value::Kind::Constant && !runs.parameter &&
            !__builtin_mul_overflow(runs.count, *step, &raised) &&
            !__builtin_add_overflow(raised, entry[i]->index, &raised)) {
            values[i] = Value{Value::Kind::Constant, raised};
        }
    }
    held_ = last.held;
    values_.bind(loop.header, values, true);
    Frame frame{number, {}, &entry, true};
    return follow(loop.header, frame, ops);
}

// Each run by itself, with every value it is given.
FlowWalker::Edge FlowWalker::unrolled(std::size_t number, const Values& entry, Script& ops) {
    const Loop& loop = flow_.loops()[number];
    Values values = entry;
    struct Run {
        State state;
        std::size_t begin = 0;  // in `ops`
    };
    std::unordered_multimap<std::size_t, Run> runs;  // by the hash of what is carried
    for (std::size_t run = 0; run < kMostUnrolled; ++run) {
        writer_.flush(ops);
        const std::size_t hash = hash_of(values);
        const auto [like, end] = runs.equal_range(hash);
        const auto before = std::find_if(like, end, [&](const auto& each) {
            const State& state = each.second.state;
            return same_values(state.carried, values) && state.held == held_;
        });
        if (before != end) {
            const auto from = static_cast<std::ptrdiff_t>(before->second.begin);
            const Script body(ops.begin() + from, ops.end());
            ops.resize(static_cast<std::size_t>(from));
            writer_.repeat(body, -1, {}, ops);
            return {};
        }
        runs.emplace(hash, Run{{values, held_}, ops.size()});
        values_.bind(loop.header, values, true);
        Frame frame{number};
        const std::size_t begin = ops.size();
        try {
            Edge edge = follow(loop.header, frame, ops);
            if (edge.to != loop.header) {
                return edge;
            }
            writer_.close_run(ops);
            values = std::move(edge.values);
        } catch (const BehindBuffer& error) {
            if (run == 0) {
                throw;
            }
            ops.resize(begin);
            lowering_.note(
                fmt::format("a core is taken to end before run {} of its loop at line {}: {}",
                            run + 1, flow_.blocks()[loop.header].where.line, error.what()));
            return {};
        }
    }
    const Location where = flow_.blocks()[loop.header].where;
    throw DependsOnData(
        where, fmt::format(
                   "the runs of this loop differ and are more than {}, which is not "
                   "modelled{}",
                   kMostUnrolled,
                   loop.test ? fmt::format("; state how many it has as design.loops.{}", where.line)
                             : ""));
}

}  // namespace tilesim::workloads::npu::mlir::core
