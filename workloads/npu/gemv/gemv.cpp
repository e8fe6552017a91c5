#include "workloads/npu/gemv/gemv.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/base/units.hpp"
#include "workloads/npu/core_placement.hpp"
#include "workloads/npu/gemv/gemv_routes.hpp"
#include "workloads/npu/gemv/mapping_problems.hpp"
#include "workloads/npu/object_fifo.hpp"
#include "workloads/npu/run_time_sequence.hpp"
#include "workloads/npu/stream_route.hpp"
#include "workloads/npu/transfer_length.hpp"

namespace tilesim::workloads::npu::gemv {

using namespace arch::npu;
using arch::base::ceil_div;

namespace {

constexpr std::int64_t kZero = 0, kMatvec = 1;            // kernels
constexpr std::int64_t kA = 0, kX = 1, kY = 2, kAll = 3;  // rotations; all of a Y at once
constexpr std::int64_t kStepsParameter = 0;               // of a core

class Lowering {
  public:
    Lowering(const MatrixVector& problem, const GemvMapping& mapping, const NpuConfig& config)
        : problem_(problem),
          map_(mapping),
          config_(config),
          shape_(shape_of(problem, mapping, config)),
          a_words_(words_for(shape_.call_rows * shape_.row_bytes)),
          x_words_(words_for(bytes_of(shape_.k, problem.x))),
          y_words_(words_for(bytes_of(shape_.core_rows, problem.y))),
          part_words_(words_for(shape_.core_rows * shape_.row_bytes)),
          places_(*place_in_core(core_buffers(problem, mapping, shape_), config.core)) {}

    LoweredGemv lower() {
        program_.name = fmt::format("gemv_{}x{}_{}_{}", problem_.m, problem_.k, name_of(problem_.a),
                                    name_of(problem_.y));
        place_arguments(program_, {{"A", shape_.padded_m() * shape_.row_bytes},
                                   {"x", x_words_ * kWordBytes},
                                   {"y", bytes_of(shape_.padded_m(), problem_.y)}});
        program::Kernel zero;
        zero.name = "zero";
        zero.kind = program::KernelKind::Zero;
        zero.m = 1;
        zero.n = shape_.core_rows;
        zero.c = problem_.y;
        program_.kernels = {zero, matvec_kernel(problem_, shape_.call_rows, shape_.k)};
        for (std::int64_t column = 0; column < shape_.columns; ++column) {
            if (!map_.direct()) {
                lower_memory_tile(column);
            }
            for (std::int64_t row = 0; row < shape_.rows; ++row) {
                lower_core(shape_.core(column, row));
            }
        }
        add_routes(program_, shape_, map_);
        start_cores(program_, {shape_.steps}, go_locks_);
        move_rows();
        LoweredGemv result;
        result.core_bytes = config_.core.stack.count();
        for (const std::int64_t bytes : core_buffers(problem_, map_, shape_)) {
            result.core_bytes += bytes;
        }
        result.shape = shape_;
        result.program = std::move(program_);
        return result;
    }

  private:
    // Buffers that follow `first` among the places of a core.
    Fifo core_fifo(const std::string& name, program::TileCoordinate tile, std::int64_t first,
                   std::int64_t count, std::int64_t words) {
        const auto places = std::span{places_}.subspan(static_cast<std::size_t>(first),
                                                       static_cast<std::size_t>(count));
        return add_fifo(program_, name, places_at(tile, places), words * kWordBytes);
    }

    void lower_core(program::TileCoordinate tile) {
        const std::string suffix = fmt::format("_{}_{}", tile.column, tile.row);
        const Fifo a = core_fifo("a" + suffix, tile, 0, map_.a_buffers, a_words_);
        const Fifo x = core_fifo("x" + suffix, tile, map_.a_buffers, map_.x_buffers, x_words_);
        const Fifo y = core_fifo("y" + suffix, tile, map_.a_buffers + map_.x_buffers,
                                 map_.y_buffers, y_words_);
        go_locks_.push_back(add_lock(program_, "go" + suffix, tile, 0));
        TileRings rings(tile, config_.core_dma);
        rings.add_ring(program::Direction::S2MM, kCoreA, shaped(a_words_, {}), a.filling());
        rings.add_ring(program::Direction::S2MM, kCoreX, shaped(x_words_, {}), x.filling());
        rings.add_ring(program::Direction::MM2S, kCoreY, shaped(y_words_, {}), y.emptying());
        program_.dmas.push_back(rings.take());
        program_.cores.push_back(core_program(tile, a, x, y));
    }

    program::CoreProgram core_program(program::TileCoordinate tile, const Fifo& a, const Fifo& x,
                                      const Fifo& y) const {
        const bool once = map_.vector == GemvMapping::Vector::Once;
        program::CoreProgram core;
        core.tile = tile;
        core.rotations = {{"a", a.buffers},
                          {"x", x.buffers},
                          {"y", y.buffers, shape_.calls()},
                          {"all", y.buffers}};
        program::LoopOp calls;
        calls.count = shape_.calls();
        if (!once) {
            calls.body.push_back({program::AcquireOp{x.locks.take_full()}});
        }
        calls.body.push_back({program::AcquireOp{a.locks.take_full()}});
        calls.body.push_back({program::CallOp{
            kMatvec, {kA, kX, kY}, once ? std::vector{kA, kY} : std::vector{kA, kX, kY}}});
        calls.body.push_back({program::ReleaseOp{a.locks.give_free()}});
        if (!once) {
            calls.body.push_back({program::ReleaseOp{x.locks.give_free()}});
        }
        program::LoopOp tiles;
        tiles.parameter = kStepsParameter;
        tiles.body = {{program::AcquireOp{y.locks.take_free()}},
                      {program::CallOp{kZero, {kAll}, {kAll}}},
                      {calls},
                      {program::ReleaseOp{y.locks.give_full()}}};
        core.script = {{program::AcquireOp{{go_locks_.back(), -1}}}};
        if (once) {
            core.script.push_back({program::AcquireOp{x.locks.take_full()}});
        }
        core.script.push_back({tiles});
        if (once) {
            core.script.push_back({program::ReleaseOp{x.locks.give_free()}});
        }
        return core;
    }

    // The parts of a panel arrive one core's after the other's; the cores' results leave so.
    void lower_memory_tile(std::int64_t column) {
        TileRings tile(shape_.memory_tile(column), config_.memory_dma);
        std::int64_t address = 0;
        const auto add = [&](const std::string& name, std::int64_t count, std::int64_t words) {
            std::vector<BufferPlace> places;
            for (std::int64_t i = 0; i < count; ++i, address += words * kWordBytes) {
                places.push_back({tile.tile(), address});
            }
            return add_fifo(program_, name, places, words * kWordBytes);
        };
        std::vector<std::vector<RingEntry>> arriving;
        std::vector<std::vector<RingEntry>> leaving;
        for (std::int64_t row = 0; row < shape_.rows; ++row) {
            const Fifo a = add(fmt::format("a_mt{}_{}", column, row), map_.panels, part_words_);
            arriving.push_back(a.filling());
            tile.add_ring(program::Direction::MM2S, row, shaped(part_words_, {}), a.emptying());
            const Fifo y = add(fmt::format("y_mt{}_{}", column, row), map_.y_buffers, y_words_);
            tile.add_ring(program::Direction::S2MM, shape_.memory_in_y(row), shaped(y_words_, {}),
                          y.filling());
            leaving.push_back(y.emptying());
        }
        tile.add_ring(program::Direction::S2MM, kMemoryInA, shaped(part_words_, {}),
                      in_turn(arriving));
        tile.add_ring(program::Direction::MM2S, shape_.memory_out_y(), shaped(y_words_, {}),
                      in_turn(leaving));
        program_.dmas.push_back(tile.take());
    }

    void move_rows() {
        const std::int64_t tasks = shape_.tasks();
        std::int64_t finished = 0;
        for (std::int64_t task = 0; task < tasks; ++task) {
            if (task - finished == shape_.slots) {
                wait();
                ++finished;
            }
            start(task, std::min(shape_.reach, shape_.steps - task * shape_.reach));
        }
        for (; finished < tasks; ++finished) {
            wait();
        }
    }

    // The transfers of `steps` steps: the matrix's first, since all columns wait for the last of
    // what comes, the results' last.
    void start(std::int64_t task, std::int64_t steps) {
        const std::int64_t slot = task % shape_.slots;
        for (std::int64_t column = 0; column < shape_.columns; ++column) {
            move(column, sends(shape_.shim(column), kShimA), slot, 0, shape_.row_bytes, task,
                 steps);
        }
        const bool each = map_.vector == GemvMapping::Vector::EachCall;
        const std::int64_t senders = map_.one_vector_stream ? 1 : shape_.columns;
        for (std::int64_t column = 0; column < (each || task == 0 ? senders : 0); ++column) {
            write_and_push(program_.sequence, sends(shape_.shim(column), kShimX),
                           shim_descriptor(shape_.slots + slot, 1, 0, x_words_),
                           each ? steps * shape_.calls() : 1);
        }
        for (std::int64_t column = 0; column < shape_.columns; ++column) {
            move(column, takes(shape_.shim(column), kShimY), 2 * shape_.slots + slot, 2,
                 bytes_of(1, problem_.y), task, steps);
        }
    }

    // A column's rows of the argument: all in one piece, or those of a step in each run.
    void move(std::int64_t column, program::ChannelId channel, std::int64_t id,
              std::int64_t argument, std::int64_t row_bytes, std::int64_t task,
              std::int64_t steps) {
        const bool apart = map_.order == GemvMapping::Order::Apart;
        const std::int64_t rows = shape_.column_rows() * (apart ? steps : 1);
        const std::int64_t first = task * shape_.reach * shape_.step_rows() + column * rows;
        const std::int64_t runs = apart ? 1 : steps;
        auto descriptor = shim_descriptor(id, argument, words_for(first * row_bytes),
                                          words_for(rows * row_bytes));
        if (runs > 1) {
            descriptor.iteration =
                program::Iteration{runs, words_for(shape_.step_rows() * row_bytes), 0};
        }
        write_and_push(program_.sequence, channel, std::move(descriptor), runs);
    }

    void wait() { wait_for_columns(program_.sequence, shape_.places, shape_.columns, kShimY); }

    const MatrixVector& problem_;
    const GemvMapping& map_;
    const NpuConfig& config_;
    GemvShape shape_;
    std::int64_t a_words_, x_words_, y_words_;  // of a core's buffers
    std::int64_t part_words_;                   // of a core's rows in its memory tile
    std::vector<std::int64_t> places_;
    program::Program program_;
    std::vector<std::int64_t> go_locks_;
};

}  // namespace

LoweredGemv lower(const MatrixVector& problem, const GemvMapping& mapping,
                  const NpuConfig& config) {
    const auto problems = problems_of(problem, mapping, config);
    if (!problems.empty()) {
        throw arch::base::config::ConfigError(
            fmt::format("mapping.gemv: {}", fmt::join(problems, "; ")));
    }
    return Lowering(problem, mapping, config).lower();
}

}  // namespace tilesim::workloads::npu::gemv
