#include "workloads/npu/gemv/gemv.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "arch/base/config.hpp"
#include "arch/base/data_type.hpp"
#include "arch/base/units.hpp"
#include "arch/npu/check/problem_list.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "workloads/npu/core_placement.hpp"
#include "workloads/npu/gemv/gemv_routes.hpp"
#include "workloads/npu/object_fifo.hpp"

namespace tilesim::workloads::npu::gemv {

using namespace arch::npu;
using arch::base::ceil_div;
using arch::base::kBitsPerByte;

namespace {

constexpr std::int64_t kZero = 0, kMatvec = 1;            // kernels
constexpr std::int64_t kTilesParameter = 0;               // steps of a core
constexpr std::int64_t kA = 0, kX = 1, kY = 2, kAll = 3;  // rotations; all of a Y at once
constexpr std::int64_t kTransfers = 3;                    // of a shim: A, X, Y

std::int64_t words_for(std::int64_t bytes) {
    return ceil_div(bytes, kWordBytes);
}

// Elements a row is padded to: whole words of every operand, whole blocks that share a factor.
std::int64_t row_unit(const MatrixVector& problem) {
    const auto whole = [](DataType type) {
        return std::max<std::int64_t>(1, kWordBytes * kBitsPerByte / bits_of(type));
    };
    // Two bf16 factors are a word.
    const std::int64_t blocks = problem.scale_block > 0 ? 2 * problem.scale_block : 1;
    return std::lcm(std::lcm(whole(problem.a), whole(problem.x)), blocks);
}

std::int64_t slots_of(const GemvMapping& map, const NpuConfig& config) {
    const std::int64_t most =
        std::min(config.shim_dma.descriptors / kTransfers, config.shim_dma.task_queue_depth + 1);
    return map.in_flight > 0 ? std::min(most, map.in_flight) : most;
}

// Words from a column's rows of one step to those of the next, where columns take them in turn.
std::int64_t step_words(const GemvShape& shape) {
    return words_for(shape.step_rows() * shape.row_bytes);
}

// Steps a shim's descriptor can move: its offset advances from run to run, and the vector is
// repeated for every call.
std::int64_t most_reach(const GemvMapping& map, const GemvShape& shape, const NpuConfig& config) {
    const DmaConfig& dma = config.shim_dma;
    const bool advances = dma.iteration && step_words(shape) <= std::int64_t{1} << dma.step_bits;
    const std::int64_t advanced = advances ? std::min(kIterations, dma.repeats) : 1;
    // No call: more rows a call than a core's, which is refused.
    const std::int64_t sent =
        map.vector == GemvMapping::Vector::EachCall ? std::max<std::int64_t>(1, shape.calls()) : 1;
    return std::max<std::int64_t>(1, std::min(advanced, dma.repeats / sent));
}

// Bytes of each buffer of a core, A's first, then X's and Y's.
std::vector<std::int64_t> core_buffers(const MatrixVector& problem, const GemvMapping& map,
                                       const GemvShape& shape) {
    std::vector<std::int64_t> bytes(static_cast<std::size_t>(map.a_buffers),
                                    shape.call_rows * shape.row_bytes);
    bytes.insert(bytes.end(), static_cast<std::size_t>(map.x_buffers),
                 bytes_of(shape.k, problem.x));
    bytes.insert(bytes.end(), static_cast<std::size_t>(map.y_buffers),
                 bytes_of(shape.core_rows, problem.y));
    return bytes;
}

std::int64_t memory_tile_bytes(const MatrixVector& problem, const GemvMapping& map,
                               const GemvShape& shape) {
    return shape.column_rows() *
           (map.panels * shape.row_bytes + map.y_buffers * bytes_of(1, problem.y));
}

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
        start_cores();
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
        std::vector<BufferPlace> places;
        for (std::int64_t i = first; i < first + count; ++i) {
            places.push_back({tile, places_[static_cast<std::size_t>(i)]});
        }
        return {add_buffers(program_, name, places, words * kWordBytes),
                add_fifo(program_, name, tile, count)};
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
        tiles.parameter = kTilesParameter;
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
        TileRings tile({column, 1}, config_.memory_dma);
        std::int64_t address = 0;
        const auto add = [&](const std::string& name, std::int64_t count, std::int64_t words) {
            std::vector<BufferPlace> places;
            for (std::int64_t i = 0; i < count; ++i, address += words * kWordBytes) {
                places.push_back({tile.tile(), address});
            }
            return Fifo{add_buffers(program_, name, places, words * kWordBytes),
                        add_fifo(program_, name, tile.tile(), count)};
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

    void start_cores() {
        for (const program::CoreProgram& core : program_.cores) {
            program_.sequence.push_back(
                program::WriteParameter{core.tile, kTilesParameter, shape_.steps});
        }
        for (const std::int64_t lock : go_locks_) {
            program_.sequence.push_back(program::SetLock{lock, 1});
        }
    }

    void move_rows() {
        const std::int64_t tasks = ceil_div(shape_.steps, shape_.reach);
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
            move({{column, 0}, program::Direction::MM2S, kShimA}, slot, 0, shape_.row_bytes, task,
                 steps);
        }
        const bool each = map_.vector == GemvMapping::Vector::EachCall;
        const std::int64_t senders = map_.one_vector_stream ? 1 : shape_.columns;
        for (std::int64_t column = 0; column < (each || task == 0 ? senders : 0); ++column) {
            push({{column, 0}, program::Direction::MM2S, kShimX},
                 shim_descriptor(shape_.slots + slot, 1, 0, x_words_),
                 each ? steps * shape_.calls() : 1);
        }
        for (std::int64_t column = 0; column < shape_.columns; ++column) {
            move({{column, 0}, program::Direction::S2MM, kShimY}, 2 * shape_.slots + slot, 2,
                 bytes_of(1, problem_.y), task, steps);
        }
    }

    // A column's rows of the argument: all in one piece, or those of a step in each run.
    void move(program::ChannelId channel, std::int64_t id, std::int64_t argument,
              std::int64_t row_bytes, std::int64_t task, std::int64_t steps) {
        const bool apart = map_.order == GemvMapping::Order::Apart;
        const std::int64_t rows = shape_.column_rows() * (apart ? steps : 1);
        const std::int64_t first =
            task * shape_.reach * shape_.step_rows() + channel.tile.column * rows;
        const std::int64_t runs = apart ? 1 : steps;
        auto descriptor = shim_descriptor(id, argument, words_for(first * row_bytes),
                                          words_for(rows * row_bytes));
        if (runs > 1) {
            descriptor.iteration =
                program::Iteration{runs, words_for(shape_.step_rows() * row_bytes), 0};
        }
        push(channel, std::move(descriptor), runs);
    }

    void push(program::ChannelId channel, program::BufferDescriptor descriptor,
              std::int64_t repeat) {
        const std::int64_t id = descriptor.id;
        program_.sequence.push_back(program::WriteDescriptor{channel.tile, std::move(descriptor)});
        program_.sequence.push_back(program::PushTask{
            channel, {id, repeat, channel.direction == program::Direction::S2MM}});
    }

    void wait() {
        for (std::int64_t column = 0; column < shape_.columns; ++column) {
            program_.sequence.push_back(
                program::WaitToken{{{column, 0}, program::Direction::S2MM, kShimY}});
        }
    }

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

class Problems : private arch::npu::check::ProblemList {
  public:
    Problems(const MatrixVector& problem, const GemvMapping& map, const NpuConfig& config)
        : problem_(problem), map_(map), config_(config), shape_(shape_of(problem, map, config)) {}

    std::vector<std::string> all() {
        check_array();
        if (empty()) {
            check_rows();
            check_memory();
            check_descriptors();
        }
        return take_problems();
    }

  private:
    void check_array() {
        const program::Kernel kernel = matvec_kernel(problem_, shape_.call_rows, shape_.k);
        const std::string reason = core::KernelTiming(config_.kernels).check(kernel);
        require(reason.empty(), "{}", reason);
        require(shape_.columns <= config_.columns && shape_.rows <= config_.core_rows,
                "the mapping uses {} columns and {} rows of cores; the array has {} columns and {} "
                "rows",
                shape_.columns, shape_.rows, config_.columns, config_.core_rows);
        require(!map_.direct() || shape_.rows == 1,
                "path direct: a shim's stream of the matrix ends in one core, rows must be 1, got "
                "{}; path memory_tile serves more",
                shape_.rows);
        require(map_.direct() || config_.memory_rows > 0,
                "path memory_tile: the array has no memory tiles; path direct needs none");
        require(config_.shim_dma.channels >= 2 && config_.core_dma.channels >= 2,
                "matrix and vector come on a stream each: shims and cores need 2 channels, they "
                "have {} and {}",
                config_.shim_dma.channels, config_.core_dma.channels);
        const std::int64_t channels = config_.memory_dma.channels;
        require(map_.direct() || shape_.rows + 1 <= channels,
                "a memory tile sends {} streams (the matrix to {} cores, their results), it has {} "
                "channels; rows must be at most {}",
                shape_.rows + 1, shape_.rows, channels, channels - 1);
        for (std::int64_t column = 0; column < std::min(shape_.columns, config_.columns);
             ++column) {
            require(config_.has_shim_dma(column), "column {} has no shim DMA", column);
        }
    }

    void check_rows() {
        require(shape_.core_rows % shape_.call_rows == 0,
                "rows_per_core ({}) must be a multiple of rows_per_call ({}); the nearest is {}",
                shape_.core_rows, shape_.call_rows,
                std::max<std::int64_t>(1, shape_.core_rows / shape_.call_rows) * shape_.call_rows);
        const std::int64_t y_bits = bits_of(problem_.y);
        const std::int64_t unit = std::max<std::int64_t>(1, kWordBytes * kBitsPerByte / y_bits);
        require(shape_.core_rows % unit == 0,
                "a core's results are moved in words of {} B: rows_per_core ({}) must be a "
                "multiple of {}; the nearest is {}",
                kWordBytes, shape_.core_rows, unit, ceil_div(shape_.core_rows, unit) * unit);
        check_reach();
        require(map_.in_flight <= shape_.slots,
                "in_flight must be at most {}: what the {} descriptors and {} queued tasks of a "
                "shim hold, got {}",
                shape_.slots, config_.shim_dma.descriptors, config_.shim_dma.task_queue_depth,
                map_.in_flight);
    }

    // The vector is repeated for every call of what a descriptor moves.
    void check_reach() {
        const bool apart = map_.order == GemvMapping::Order::Apart;
        require(!apart || map_.reach == 0,
                "reach: where order is apart a descriptor moves all rows of a column; leave reach "
                "out or use order: in_turn");
        const std::int64_t most = most_reach(map_, shape_, config_);
        require(apart || map_.reach <= most,
                "reach must be at most {}: a descriptor's offset advances {} times by steps of {} "
                "bits ({} words here), and a task repeats the vector of {} calls a step {} times; "
                "got {}",
                most, config_.shim_dma.iteration ? kIterations : 1, config_.shim_dma.step_bits,
                step_words(shape_), shape_.calls(), config_.shim_dma.repeats, map_.reach);
        const std::int64_t sent =
            map_.vector == GemvMapping::Vector::Once ? 1 : shape_.reach * shape_.calls();
        require(sent <= config_.shim_dma.repeats,
                "a task sends the vector {} times, a shim can repeat one {} times; use vector: "
                "once, order: in_turn or more rows_per_call",
                sent, config_.shim_dma.repeats);
    }

    void check_memory() {
        const auto buffers = core_buffers(problem_, map_, shape_);
        const std::int64_t needed =
            std::accumulate(buffers.begin(), buffers.end(), config_.core.stack.count());
        const std::int64_t row = map_.a_buffers * shape_.row_bytes;
        const std::int64_t left = config_.core.memory.count() - (needed - shape_.call_rows * row);
        require(needed <= config_.core.memory.count(),
                "a core needs {} B (stack {} + {} x A {} + {} x x {} + {} x y {}), it has {} B; {}",
                needed, config_.core.stack.count(), map_.a_buffers,
                shape_.call_rows * shape_.row_bytes, map_.x_buffers, bytes_of(shape_.k, problem_.x),
                map_.y_buffers, bytes_of(shape_.core_rows, problem_.y), config_.core.memory.count(),
                left >= row ? fmt::format("rows_per_call of {} fits", left / row)
                            : std::string{"use fewer buffers"});
        const std::int64_t panel = map_.direct() ? 0 : memory_tile_bytes(problem_, map_, shape_);
        require(panel <= config_.memory_tile.memory.count(),
                "a memory tile needs {} B for {} panels of {} rows and their results, it has {} B; "
                "use fewer rows_per_core or panels",
                panel, map_.panels, shape_.column_rows(), config_.memory_tile.memory.count());
    }

    void check_descriptors() {
        const auto most = [](const DmaConfig& dma) {
            return (std::int64_t{1} << dma.length_bits) - 1;
        };
        const std::int64_t a = words_for(shape_.call_rows * shape_.row_bytes);
        const std::int64_t x = words_for(bytes_of(shape_.k, problem_.x));
        require(std::max(a, x) <= most(config_.core_dma),
                "a core's descriptor moves {} words, at most {}; use fewer rows_per_call",
                std::max(a, x), most(config_.core_dma));
        const std::int64_t part =
            map_.direct() ? 0 : words_for(shape_.core_rows * shape_.row_bytes);
        require(part <= most(config_.memory_dma),
                "a memory tile's descriptor moves {} words, at most {}; use fewer rows_per_core",
                part, most(config_.memory_dma));
        DescriptorIds ids(config_.core_dma);
        ids.take(kCoreA, map_.a_buffers);
        ids.take(kCoreX, map_.x_buffers);
        ids.take(kCoreY, map_.y_buffers);
        require(ids.even() + ids.odd() <= config_.core_dma.descriptors,
                "a core tile needs {} descriptors, it has {}; use fewer buffers",
                ids.even() + ids.odd(), config_.core_dma.descriptors);
        require(map_.direct() || memory_descriptors() <= config_.memory_dma.descriptors / 2,
                "a memory tile needs {} descriptors for its even or its odd channels, it has {}; "
                "use fewer rows or panels",
                memory_descriptors(), config_.memory_dma.descriptors / 2);
    }

    std::int64_t memory_descriptors() const {
        DescriptorIds ids(config_.memory_dma);
        ids.take(kMemoryInA, shape_.rows * map_.panels);
        for (std::int64_t row = 0; row < shape_.rows; ++row) {
            ids.take(row, map_.panels);
            ids.take(shape_.memory_in_y(row), map_.y_buffers);
        }
        ids.take(shape_.memory_out_y(), shape_.rows * map_.y_buffers);
        return std::max(ids.even(), ids.odd());
    }

    const MatrixVector& problem_;
    const GemvMapping& map_;
    const NpuConfig& config_;
    GemvShape shape_;
};

}  // namespace

program::Kernel matvec_kernel(const MatrixVector& problem, std::int64_t rows, std::int64_t k) {
    program::Kernel kernel;
    kernel.name = "matvec";
    kernel.kind = program::KernelKind::Matvec;
    kernel.m = rows;
    kernel.k = k;
    kernel.n = 1;
    kernel.a = problem.a;
    kernel.b = problem.x;
    kernel.c = problem.y;
    kernel.scale_block = problem.scale_block;
    return kernel;
}

GemvShape shape_of(const MatrixVector& problem, const GemvMapping& map, const NpuConfig& config) {
    GemvShape shape;
    shape.columns = map.columns_of(config);
    shape.rows = map.rows;
    shape.first_core_row = 1 + config.memory_rows;
    const std::int64_t unit = row_unit(problem);
    shape.k = ceil_div(problem.k, unit) * unit;
    shape.row_bytes = program::row_bytes(matvec_kernel(problem, 1, shape.k), shape.k);
    shape.call_rows = map.rows_per_call;
    shape.core_rows = map.core_rows();
    shape.steps = ceil_div(problem.m, shape.core_rows * shape.cores());
    shape.reach = shape.steps;
    if (map.order == GemvMapping::Order::InTurn) {
        const std::int64_t reach = map.reach > 0 ? map.reach : most_reach(map, shape, config);
        shape.reach = std::min(reach, shape.steps);
    }
    shape.slots = slots_of(map, config);
    return shape;
}

std::vector<std::string> problems_of(const MatrixVector& problem, const GemvMapping& map,
                                     const NpuConfig& config) {
    return Problems(problem, map, config).all();
}

LoweredGemv lower(const MatrixVector& problem, const GemvMapping& mapping,
                  const NpuConfig& config) {
    const auto problems = problems_of(problem, mapping, config);
    if (!problems.empty()) {
        throw arch::base::config::ConfigError(
            fmt::format("mapping.gemv: {}", fmt::join(problems, "; ")));
    }
    return Lowering(problem, mapping, config).lower();
}

GemmBounds bounds_of(const MatrixVector& problem, const GemvMapping& map, const NpuConfig& config,
                     const MemoryPath& path) {
    const auto stream_bytes = static_cast<double>(config.stream.width.count());
    const GemvShape shape = shape_of(problem, map, config);
    const core::KernelTiming timing(config.kernels);
    const auto call = static_cast<double>(
        timing.cycles(matvec_kernel(problem, shape.call_rows, shape.k)).total().count());
    const double cycle_ns = arch::base::ns_of(arch::base::Cycles{1}, config.clock);
    const auto steps = static_cast<double>(shape.steps);
    GemmBounds bounds;
    bounds.kernel_macs_per_cycle = static_cast<double>(shape.call_rows * shape.k) / call;
    bounds.peak_macs_per_cycle = static_cast<double>(config.kernels.vector_macs);
    bounds.compute_ns = steps * static_cast<double>(shape.calls()) * call * cycle_ns;
    bounds.stream_ns = steps * static_cast<double>(shape.column_rows() * shape.row_bytes) /
                       stream_bytes * cycle_ns;
    const auto rows = static_cast<double>(shape.padded_m());
    const double read = rows * static_cast<double>(shape.row_bytes);
    const double written = rows * static_cast<double>(bytes_of(1, problem.y));
    bounds.dram_bytes = read + written;
    bounds.memory_ns = path.least_ns(config.shim, {read, written, map.columns_of(config)});
    return bounds;
}

}  // namespace tilesim::workloads::npu::gemv
