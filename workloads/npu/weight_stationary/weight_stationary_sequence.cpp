#include "workloads/npu/weight_stationary/weight_stationary_sequence.hpp"

#include <algorithm>
#include <utility>

#include "workloads/npu/run_time_sequence.hpp"
#include "workloads/npu/stream_route.hpp"
#include "workloads/npu/transfer_length.hpp"

namespace tilesim::workloads::npu::weight_stationary {

using namespace arch::npu;

namespace {

constexpr std::int64_t kTransfers = 3;  // A, B and C

// M tiles of a pass that a task of a shim moves.
struct Step {
    std::int64_t pass = 0;
    std::int64_t first = 0;
    std::int64_t count = 0;
};

class Sequence {
  public:
    Sequence(LoweredGemm& lowered, const GemmProblem& problem, const WeightStationaryMapping& map,
             const NpuConfig& config)
        : lowered_(lowered),
          shape_(lowered.shape),
          problem_(problem),
          map_(map),
          slots_(tasks_under_way(config)),
          steps_(lowered.program.sequence) {}

    void move_tiles() {
        std::int64_t started = 0;
        std::int64_t finished = 0;
        for (std::int64_t pass = 0; pass < shape_.passes; ++pass) {
            for (std::int64_t first = 0; first < shape_.m_tiles; first += shape_.m_tiles_a_task) {
                if (started - finished == slots_) {
                    wait();
                    ++finished;
                }
                const std::int64_t left = shape_.m_tiles - first;
                start({pass, first, std::min(left, shape_.m_tiles_a_task)}, started % slots_);
                ++started;
            }
        }
        for (; finished < started; ++finished) {
            wait();
        }
    }

  private:
    std::int64_t id_of(std::int64_t transfer, std::int64_t slot) const {
        return transfer * slots_ + slot;
    }

    void start(const Step& step, std::int64_t slot) {
        for (std::int64_t column = 0; column < shape_.columns; ++column) {
            start_a(column, step, slot);
            if (step.first == 0) {
                write_and_push(steps_, sends(shape_.tile(column, 0), kShimB),
                               b_tiles(column, step.pass, id_of(1, slot)));
            }
            write_and_push(steps_, takes(shape_.tile(column, 0), kShimC),
                           c_rows(column, step, id_of(2, slot)));
        }
    }

    // A slice's rows follow each other; the tiles of several slices come in turn.
    void start_a(std::int64_t column, const Step& step, std::int64_t slot) {
        const SliceSpan held = shape_.slices_of(column);
        if (held.count == 0) {
            return;
        }
        const std::int64_t k = whole_words(lowered_.k, problem_.a);
        const std::int64_t run = whole_words(map_.k_ct, problem_.a);
        const std::int64_t offset = step.first * map_.m_ct * k + held.first * run;
        const program::ChannelId channel = sends(shape_.tile(column, 0), kShimA);
        if (shape_.most_slices() == 1) {
            const std::int64_t rows = step.count * map_.m_ct;
            write_and_push(
                steps_, channel,
                shim_descriptor(id_of(0, slot), 0, offset, rows * run, {{run, 1}, {rows, k}}));
            return;
        }
        program::BufferDescriptor tiles =
            shim_descriptor(id_of(0, slot), 0, offset, held.count * map_.m_ct * run,
                            {{run, 1}, {map_.m_ct, k}, {held.count, run}});
        tiles.iteration = program::Iteration{step.count, map_.m_ct * k, 0};
        write_and_push(steps_, channel, std::move(tiles), step.count);
    }

    // The tiles of a column of cores, in order of the slices.
    program::BufferDescriptor b_tiles(std::int64_t column, std::int64_t pass,
                                      std::int64_t id) const {
        const std::int64_t first = (pass * shape_.columns + column) * map_.n_ct;
        const std::int64_t k = whole_words(lowered_.k, problem_.b);
        const std::int64_t n = whole_words(lowered_.n, problem_.b);
        if (problem_.b_column_major) {
            const std::int64_t run = whole_words(map_.k_ct, problem_.b);
            return shim_descriptor(id, 1, first * k, map_.n_ct * k,
                                   {{run, 1}, {map_.n_ct, k}, {shape_.rows, run}});
        }
        const std::int64_t run = whole_words(map_.n_ct, problem_.b);
        return shim_descriptor(id, 1, whole_words(first, problem_.b), lowered_.k * run,
                               {{run, 1}, {lowered_.k, n}});
    }

    program::BufferDescriptor c_rows(std::int64_t column, const Step& step, std::int64_t id) const {
        const std::int64_t first = (step.pass * shape_.columns + column) * map_.n_ct;
        const std::int64_t n = whole_words(lowered_.n, problem_.c);
        const std::int64_t run = whole_words(map_.n_ct, problem_.c);
        const std::int64_t rows = step.count * map_.m_ct;
        return shim_descriptor(id, 2, step.first * map_.m_ct * n + whole_words(first, problem_.c),
                               rows * run, {{run, 1}, {rows, n}});
    }

    // The oldest step's C is in DRAM: nothing else of it is left, and its slot is free.
    void wait() { wait_for_columns(steps_, shape_.places, shape_.columns, kShimC); }

    const LoweredGemm& lowered_;
    const ArrayShape& shape_;
    const GemmProblem& problem_;
    const WeightStationaryMapping& map_;
    std::int64_t slots_;  // steps under way
    std::vector<program::SequenceOp>& steps_;
};

}  // namespace

std::int64_t tasks_under_way(const NpuConfig& config) {
    return std::min(config.shim_dma.descriptors / kTransfers, config.shim_dma.task_queue_depth + 1);
}

void add_sequence(LoweredGemm& lowered, const GemmProblem& problem,
                  const WeightStationaryMapping& map, const NpuConfig& config,
                  const std::vector<std::int64_t>& go_locks) {
    start_cores(lowered.program, {lowered.shape.passes, lowered.shape.m_tiles}, go_locks);
    Sequence sequence(lowered, problem, map, config);
    sequence.move_tiles();
}

}  // namespace tilesim::workloads::npu::weight_stationary
