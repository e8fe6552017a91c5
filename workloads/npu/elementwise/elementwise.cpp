#include "workloads/npu/elementwise/elementwise.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "workloads/npu/core_placement.hpp"
#include "workloads/npu/elementwise/mapping_problems.hpp"
#include "workloads/npu/object_fifo.hpp"
#include "workloads/npu/run_time_sequence.hpp"
#include "workloads/npu/stream_route.hpp"
#include "workloads/npu/transfer_length.hpp"

namespace tilesim::workloads::npu::elementwise {

using namespace arch::npu;
using program::Direction;

namespace {

constexpr std::int64_t kCallsParameter = 0;  // of a core

class Lowering {
  public:
    Lowering(const ElementwiseProblem& problem, const ElementwiseMapping& map,
             const NpuConfig& config)
        : problem_(as_called(problem, map)),
          map_(map),
          config_(config),
          columns_(config),
          operands_(problem_.has_b() ? 2 : 1),
          row_(row_bytes(problem_)),
          places_(*place_in_core(core_buffers(problem_, map), config.core)) {
        result_.calls = calls_of(problem_, map, config);
        result_.padded_m = result_.calls * map.rows_per_call * map.cores_of(config);
    }

    LoweredElementwise lower() {
        program_.name =
            fmt::format("{}_{}x{}", name_of(problem_.operation), problem_.m, problem_.n);
        std::vector<Argument> arguments{{"A", result_.padded_m * row_.a}};
        if (problem_.has_b()) {
            const std::int64_t bytes = problem_.b_rows(result_.padded_m) * row_.b;
            arguments.push_back({"B", words_for(bytes) * kWordBytes});
        }
        arguments.push_back({"C", result_.padded_m * row_.c});
        place_arguments(program_, arguments);
        program::Kernel kernel = kernel_of(problem_, map_.rows_per_call);
        kernel.iteration_lanes = map_.cast_lanes;
        program_.kernels = {std::move(kernel)};
        for (std::int64_t column = 0; column < map_.columns_of(config_); ++column) {
            for (std::int64_t index = 0; index < map_.cores; ++index) {
                const program::TileCoordinate core{columns_[column],
                                                   1 + config_.memory_rows + index};
                lower_core(core);
                route({columns_[column], 0}, core, index);
            }
        }
        start_cores(program_, {result_.calls / problem_.heads}, go_locks_);
        for (std::int64_t column = 0; column < map_.columns_of(config_); ++column) {
            move_rows(column);
        }
        for (std::int64_t index = 0; index < map_.cores; ++index) {
            wait_for_columns(program_.sequence, columns_, map_.columns_of(config_), index);
        }
        result_.program = std::move(program_);
        return std::move(result_);
    }

  private:
    Fifo fifo(const char* name, program::TileCoordinate tile, std::int64_t count,
              std::int64_t bytes, std::int64_t& next) {
        const auto places = std::span{places_}.subspan(static_cast<std::size_t>(next),
                                                       static_cast<std::size_t>(count));
        next += count;
        return add_fifo(program_, fmt::format("{}_{}_{}", name, tile.column, tile.row),
                        places_at(tile, places), words_for(bytes) * kWordBytes);
    }

    void lower_core(program::TileCoordinate tile) {
        const std::int64_t rows = map_.rows_per_call;
        const std::int64_t b_bytes = problem_.keeps_b() ? row_.b : rows * row_.b;
        std::int64_t next = 0;
        TileRings rings(tile, config_.core_dma);
        const Fifo a = fifo("a", tile, map_.buffers, rows * row_.a, next);
        rings.add_ring(Direction::S2MM, kCoreA, shaped(words_for(rows * row_.a), {}), a.filling());
        Fifo b;
        if (problem_.has_b()) {
            b = fifo("b", tile, b_buffers(problem_, map_), b_bytes, next);
            rings.add_ring(Direction::S2MM, kCoreB, shaped(words_for(b_bytes), {}), b.filling());
        }
        const Fifo c = fifo("c", tile, map_.buffers, rows * row_.c, next);
        rings.add_ring(Direction::MM2S, kCoreC, shaped(words_for(rows * row_.c), {}), c.emptying());
        program_.dmas.push_back(rings.take());
        go_locks_.push_back(
            add_lock(program_, fmt::format("go_{}_{}", tile.column, tile.row), tile, 0));
        program_.cores.push_back(core_program(tile, a, b, c));
    }

    static std::vector<program::CoreOp> call_with_locks(const program::CallOp& call, const Fifo& a,
                                                        const Fifo& c, const Fifo* b = nullptr) {
        std::vector<program::CoreOp> steps{{program::AcquireOp{c.locks.take_free()}},
                                           {program::AcquireOp{a.locks.take_full()}}};
        if (b != nullptr) {
            steps.push_back({program::AcquireOp{b->locks.take_full()}});
        }
        steps.push_back({call});
        steps.push_back({program::ReleaseOp{a.locks.give_free()}});
        if (b != nullptr) {
            steps.push_back({program::ReleaseOp{b->locks.give_free()}});
        }
        steps.push_back({program::ReleaseOp{c.locks.give_full()}});
        return steps;
    }

    program::CoreProgram core_program(program::TileCoordinate tile, const Fifo& a, const Fifo& b,
                                      const Fifo& c) const {
        program::CoreProgram core;
        core.tile = tile;
        core.rotations = {{"a", a.buffers}, {"c", c.buffers}};
        program::CallOp call{0, {0, 1}, {0, 1}};
        const bool streams_b = problem_.has_b() && !problem_.keeps_b();
        if (problem_.has_b()) {
            core.rotations.push_back({"b", b.buffers});
            call.operands = {0, 2, 1};
        }
        program::LoopOp calls;
        calls.parameter = kCallsParameter;
        if (problem_.heads > 1) {  // all but the last, with which B moves on
            program::LoopOp others;
            others.count = problem_.heads - 1;
            others.body = call_with_locks(call, a, c);
            calls.body = {{program::AcquireOp{b.locks.take_full()}}, {others}};
            call.advance.push_back(2);
            const auto last = call_with_locks(call, a, c);
            calls.body.insert(calls.body.end(), last.begin(), last.end());
            calls.body.push_back({program::ReleaseOp{b.locks.give_free()}});
        } else if (streams_b) {
            call.advance.push_back(2);
            calls.body = call_with_locks(call, a, c, &b);
        } else {
            calls.body = call_with_locks(call, a, c);
        }
        core.script = {{program::AcquireOp{{go_locks_.back(), -1}}}};
        if (problem_.keeps_b()) {
            core.script.push_back({program::AcquireOp{b.locks.take_full()}});
        }
        core.script.push_back({calls});
        return core;
    }

    // Between a shim's channels for the core of that index in its column, and the core.
    void route(program::TileCoordinate shim, program::TileCoordinate core, std::int64_t index) {
        const auto name = [&](const char* operand) {
            return fmt::format("{}_{}_{}", operand, core.column, core.row);
        };
        const std::int64_t first = index * operands_;
        add_route(program_, name("a"), sends(shim, first + kCoreA), {takes(core, kCoreA)});
        if (problem_.has_b()) {
            add_route(program_, name("b"), sends(shim, first + kCoreB), {takes(core, kCoreB)});
        }
        add_route(program_, name("c"), sends(core, kCoreC), {takes(shim, index)});
    }

    void move_rows(std::int64_t column) {
        const program::TileCoordinate shim{columns_[column], 0};
        const std::int64_t rows = result_.calls * map_.rows_per_call;
        std::int64_t id = 0;
        const auto push = [&](program::ChannelId channel, std::int64_t argument, std::int64_t from,
                              std::int64_t bytes) {
            write_and_push(program_.sequence, channel,
                           shim_descriptor(id++, argument, words_for(from), words_for(bytes)));
        };
        for (std::int64_t index = 0; index < map_.cores; ++index) {
            const std::int64_t first = (column * map_.cores + index) * rows;
            const std::int64_t channel = index * operands_;
            if (problem_.has_b()) {
                push(sends(shim, channel + kCoreB), 1,
                     problem_.keeps_b() ? 0 : first / problem_.heads * row_.b,
                     problem_.b_rows(rows) * row_.b);
            }
            push(sends(shim, channel + kCoreA), 0, first * row_.a, rows * row_.a);
            push(takes(shim, index), operands_, first * row_.c, rows * row_.c);
        }
    }

    const ElementwiseProblem problem_;
    const ElementwiseMapping& map_;
    const NpuConfig& config_;
    ShimColumns columns_;  // where they lie on the array
    const std::int64_t operands_;
    RowBytes row_;
    std::vector<std::int64_t> places_;
    LoweredElementwise result_;
    program::Program program_;
    std::vector<std::int64_t> go_locks_;
};

}  // namespace

LoweredElementwise lower(const ElementwiseProblem& problem, const ElementwiseMapping& mapping,
                         const NpuConfig& config) {
    const auto problems = problems_of(problem, mapping, config);
    if (!problems.empty()) {
        throw arch::base::config::ConfigError(
            fmt::format("mapping.elementwise: {}", fmt::join(problems, "; ")));
    }
    return Lowering(problem, mapping, config).lower();
}

}  // namespace tilesim::workloads::npu::elementwise
