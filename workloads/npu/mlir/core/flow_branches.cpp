// Which way a core's control flow goes at the end of a block.
#include <fmt/format.h>

#include <algorithm>

#include "arch/npu/program/script_walk.hpp"
#include "workloads/npu/mlir/control_flow/loop_count.hpp"
#include "workloads/npu/mlir/core/flow_walker.hpp"
#include "workloads/npu/mlir/syntax/constant_folding.hpp"

namespace tilesim::workloads::npu::mlir::core {

using control_flow::Loop;
using control_flow::negated;
using control_flow::times_passed;
using syntax::kBehindBuffer;

namespace {

// `counts`: the loop has one test, whose runs can be stated.
std::string unknown_runs(Location where, bool counts = true) {
    return "how often this loop runs depends on data, which is not modelled" +
           (counts ? fmt::format("; state it as design.loops.{}", where.line) : "");
}

}  // namespace

FlowWalker::Edge FlowWalker::choose(const FlatBlock& block, std::size_t number, Frame& frame,
                                    Script& ops) {
    if (block.jumps.empty()) {
        return {};
    }
    if (block.jumps.size() == 1) {
        return edge_of(block.jumps.front());
    }
    const Loop* loop = frame.loop ? &flow_.loops()[*frame.loop] : nullptr;
    const bool counts = loop != nullptr && loop->test && loop->test->block == number;
    if (counts && frame.entry != nullptr) {
        return test(*loop->test, block, frame);
    }
    const Value* value = scope_.find(block.condition);
    if (value == nullptr || value->kind != Value::Kind::Constant) {
        return branch_by_data(number, frame, ops);
    }
    if (value->computed && !counts) {
        writer_.spend_branch();
    }
    if (block.cases.empty()) {
        return edge_of(block.jumps[value->index != 0 ? 0 : 1]);
    }
    const auto place = std::find(block.cases.begin(), block.cases.end(), value->index);
    const bool listed = place != block.cases.end();
    return edge_of(
        block.jumps[listed ? static_cast<std::size_t>(place - block.cases.begin()) + 1 : 0]);
}

// The loop's own test: how often it stays is the number of runs.
FlowWalker::Edge FlowWalker::test(const CountedTest& test, const FlatBlock& block, Frame& frame) {
    const Loop& loop = flow_.loops()[*frame.loop];
    const auto& start = (*frame.entry)[test.argument];
    const auto step = scope_.constant(loop.steps[test.argument]);
    const Value* bound = scope_.find(test.bound);
    const std::size_t staying = test.stays_when_true ? 0 : 1;
    const auto stated = lowering_.options.loops.find(static_cast<std::int64_t>(block.where.line));
    if (stated != lowering_.options.loops.end()) {
        frame.runs = Runs{stated->second, {}};
        return edge_of(block.jumps[frame.leaving ? 1 - staying : staying]);
    }
    if (!start || start->kind != Value::Kind::Constant || !step || bound == nullptr) {
        throw DependsOnData(block.where, unknown_runs(block.where));
    }
    const std::string predicate = test.stays_when_true ? test.predicate : negated(test.predicate);
    const std::int64_t first = start->index + (test.next_value ? *step : 0);
    Runs runs;
    if (bound->kind == Value::Kind::Parameter && bound->index == kBehindBuffer) {
        throw BehindBuffer(block.where,
                           "how often this loop runs is read from behind a buffer's end");
    }
    if (bound->kind == Value::Kind::Parameter) {
        const bool plain =
            first == 0 && *step == 1 && (predicate.ends_with("lt") || predicate == "ne");
        runs.parameter =
            plain ? bound->index : lowering_.loop_parameter(bound->index, predicate, first, *step);
    } else if (bound->kind == Value::Kind::Constant) {
        runs.count = times_passed(predicate, first, *step, bound->index);
    } else {
        throw DependsOnData(block.where, unknown_runs(block.where));
    }
    frame.runs = runs;
    return edge_of(block.jumps[frame.leaving ? 1 - staying : staying]);
}

std::string FlowWalker::block_name(const FlatBlock& block) const {
    return block.label.empty() ? "" : fmt::format(" (block ^{})", block.label);
}

void FlowWalker::refuse_branch(const FlatBlock& block, const char* reason) const {
    throw DependsOnData(block.where, fmt::format("which way this branch goes depends on data, {}{}",
                                                 reason, block_name(block)));
}

// Data decides: the longer way's time, and the events of each way where these are the same; a way
// out of a counted loop is not taken.
FlowWalker::Edge FlowWalker::branch_by_data(std::size_t number, Frame& frame, Script& ops) {
    const FlatBlock& block = flow_.blocks()[number];
    const Loop* loop = frame.loop ? &flow_.loops()[*frame.loop] : nullptr;
    const auto stays = [loop](const Jump& jump) { return loop->blocks.contains(jump.to); };
    if (loop != nullptr && !std::all_of(block.jumps.begin(), block.jumps.end(), stays)) {
        const auto way = std::find_if(block.jumps.begin(), block.jumps.end(), stays);
        if (loop->events || !loop->test || way == block.jumps.end()) {
            throw DependsOnData(
                block.where, unknown_runs(block.where, loop->test.has_value()) + block_name(block));
        }
        lowering_.note("ways out of a loop that data decides about are taken as never taken");
        writer_.spend_branch();
        return edge_of(*way);
    }
    const InlineClock outside = writer_.clock();
    const HeldElements held = held_;
    std::optional<Edge> meeting;
    HeldElements left;
    Script longest;
    for (const Jump& jump : block.jumps) {
        writer_.begin_piece();
        held_ = held;
        Script arm;
        Frame inner{frame.loop, flow_.join_of(number)};
        Edge edge = edge_of(jump);
        if (!ends(inner, edge.to)) {
            values_.bind(*edge.to, edge.values, false);
            edge = follow(*edge.to, inner, arm);
        }
        writer_.flush(arm);
        if (program::moves_words(arm)) {  // which words they are depends on the way
            refuse_branch(block, "which is not modelled");
        }
        if (!meeting) {
            meeting = std::move(edge);
            left = held_;
            longest = std::move(arm);
            continue;
        }
        if (meeting->to != edge.to) {
            refuse_branch(block, "and the ways do not meet again");
        }
        if (left != held_ || !same(writer_.events_of(arm), writer_.events_of(longest))) {
            refuse_branch(block, "which is not modelled");
        }
        for (std::size_t i = 0; i < edge.values.size(); ++i) {
            auto& value = meeting->values[i];
            if (value && (!edge.values[i] || !value->same_as(*edge.values[i]))) {
                value.reset();
            }
        }
        if (writer_.work_in(arm) > writer_.work_in(longest)) {
            longest = std::move(arm);
        }
    }
    writer_.clock() = outside;
    if (writer_.events_of(longest).empty()) {
        writer_.clock().spend(writer_.work_in(longest));
        writer_.spend_branch();
    } else {
        writer_.spend_branch();
        writer_.append(longest, block.where, ops);
    }
    return *meeting;
}

}  // namespace tilesim::workloads::npu::mlir::core
