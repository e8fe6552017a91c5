#include "workloads/npu/weight_stationary/weight_stationary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "arch/npu/core/kernel_timing.hpp"
#include "workloads/npu/object_fifo.hpp"
#include "workloads/npu/run_time_sequence.hpp"
#include "workloads/npu/weight_stationary/tile_layouts.hpp"
#include "workloads/npu/weight_stationary/weight_stationary_routes.hpp"
#include "workloads/npu/weight_stationary/weight_stationary_sequence.hpp"

namespace tilesim::workloads::npu::weight_stationary {

using namespace arch::npu;
using arch::base::ceil_div;

namespace {

constexpr std::int64_t kZero = 0, kMultiply = 1, kAdd = 2;  // kernels

class Lowering {
  public:
    Lowering(const GemmProblem& problem, const WeightStationaryMapping& mapping,
             const NpuConfig& config)
        : problem_(problem),
          map_(mapping),
          config_(config),
          layouts_(problem, mapping,
                   *core::KernelTiming(config.kernels).find_mode(problem.a, problem.b, problem.c)),
          sizes_(tile_sizes(problem, mapping, config)) {
        shape_ = shape_of(problem, mapping, config);
        result_.m = shape_.m_tiles * map_.m_ct;
        result_.k = shape_.rows * map_.k_ct;
        result_.n = shape_.passes * shape_.columns * map_.n_ct;
    }

    LoweredGemm lower() {
        program_.name = fmt::format("gemm_{}x{}x{}_{}_{}_weight_stationary", problem_.m, problem_.k,
                                    problem_.n, name_of(problem_.a), name_of(problem_.c));
        place_arguments(program_, {{"A", result_.m * result_.k * bytes_of(problem_.a)},
                                   {"B", result_.k * result_.n * bytes_of(problem_.b)},
                                   {"C", result_.m * result_.n * bytes_of(problem_.c)}});
        program_.kernels = {kernel("zero", program::KernelKind::Zero),
                            kernel("multiply", program::KernelKind::Multiply)};
        if (shape_.adds) {
            program_.kernels.push_back(kernel("add", program::KernelKind::Add));
        }
        for (std::int64_t column = 0; column < shape_.columns; ++column) {
            lower_memory_tile(column);
        }
        for (std::int64_t column = 0; column < shape_.columns; ++column) {
            for (std::int64_t slice = 0; slice < shape_.rows; ++slice) {
                lower_core(column, slice);
            }
            if (shape_.adds) {
                lower_adder(column);
            } else {
                add_cascades(column);
            }
        }
        add_routes(program_, shape_);
        add_sequence(result_, problem_, map_, config_, go_locks_);
        place_buffers();
        return std::move(result_);
    }

  private:
    program::Kernel kernel(const char* name, program::KernelKind kind) const {
        return {name,        kind,       map_.m_ct,
                map_.k_ct,   map_.n_ct,  problem_.a,
                problem_.b,  problem_.c, problem_.b_column_major,
                std::nullopt};
    }

    Fifo add_fifo_of(const std::string& name, program::TileCoordinate tile, std::int64_t buffers,
                     std::int64_t bytes) {
        const std::vector<BufferPlace> places(static_cast<std::size_t>(buffers),
                                              {tile, program::kUnplaced});
        for (std::int64_t i = 0; i < buffers; ++i) {
            turns_.push_back(i);
        }
        return add_fifo(program_, name, places, bytes);
    }

    // Buffers follow each other without gaps, the first of every FIFO before the second of any: a
    // FIFO's buffers lie in different banks where there is enough between them.
    void place_buffers() {
        std::vector<std::size_t> order(program_.buffers.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(),
                         [this](std::size_t a, std::size_t b) { return turns_[a] < turns_[b]; });
        std::map<program::TileCoordinate, std::int64_t> taken;
        for (const std::size_t i : order) {
            program::Buffer& buffer = program_.buffers[i];
            const bool core = config_.kind_of(buffer.tile) == program::TileKind::Core;
            std::int64_t& end =
                taken.try_emplace(buffer.tile, core ? config_.core.stack.count() : 0).first->second;
            buffer.address = end;
            end += buffer.bytes;
        }
    }

    void lower_memory_tile(std::int64_t column) {
        TileRings tile(shape_.tile(column, 1), config_.memory_dma);
        add_a(tile, column);
        add_b(tile, column);
        if (shape_.adds) {
            add_parts(tile, column);
        }
        const Fifo c =
            add_fifo_of(fmt::format("c_mt{}", column), tile.tile(), map_.c_buffers, sizes_.c);
        tile.add_ring(program::Direction::S2MM, kMemoryInC, shaped(layouts_.c(), {}), c.filling());
        tile.add_ring(program::Direction::MM2S, kMemoryOutC, layouts_.c_leaves_memory_tile(),
                      c.emptying());
        program_.dmas.push_back(tile.take());
    }

    void add_a(TileRings& tile, std::int64_t column) {
        const SliceSpan held = shape_.slices_of(column);
        std::vector<std::vector<RingEntry>> arriving;
        for (std::int64_t i = 0; i < held.count; ++i) {
            const Fifo a = add_fifo_of(fmt::format("a_mt{}_{}", column, held.first + i),
                                       tile.tile(), map_.a_buffers, sizes_.a);
            arriving.push_back(a.filling());
            tile.add_ring(program::Direction::MM2S, shape_.memory_out_a(i),
                          layouts_.a_leaves_memory_tile(), a.emptying());
        }
        if (held.count > 0) {
            tile.add_ring(program::Direction::S2MM, kMemoryInA, shaped(layouts_.a(), {}),
                          in_turn(arriving));
        }
    }

    void add_b(TileRings& tile, std::int64_t column) {
        std::vector<std::vector<RingEntry>> arriving;
        for (std::int64_t stream = 0; stream < shape_.b_streams; ++stream) {
            const SliceSpan span = shape_.slices_on(stream);
            std::vector<std::vector<RingEntry>> leaving;
            for (std::int64_t slice = span.first; slice < span.first + span.count; ++slice) {
                const Fifo b = add_fifo_of(fmt::format("b_mt{}_{}", column, slice), tile.tile(),
                                           kBlocksOfB, sizes_.b);
                arriving.push_back(b.filling());
                leaving.push_back(b.emptying());
                for (RingEntry& entry : leaving.back()) {
                    if (span.count > 1) {
                        entry.packet = program::Packet{slice, 0, 0};
                    }
                }
            }
            tile.add_ring(program::Direction::MM2S, shape_.memory_out_b(stream),
                          layouts_.b_leaves_memory_tile(), in_turn(leaving));
        }
        tile.add_ring(program::Direction::S2MM, kMemoryInB, shaped(layouts_.b(), {}),
                      in_turn(arriving));
    }

    // The parts of a C tile come from the cores, each on a stream, and go to the adding core in
    // order of the slices.
    void add_parts(TileRings& tile, std::int64_t column) {
        std::vector<std::vector<RingEntry>> leaving;
        for (std::int64_t slice = 0; slice < shape_.rows; ++slice) {
            const Fifo part = add_fifo_of(fmt::format("part_mt{}_{}", column, slice), tile.tile(),
                                          map_.c_buffers, sizes_.c);
            tile.add_ring(program::Direction::S2MM, shape_.memory_in_part(slice),
                          shaped(layouts_.c(), {}), part.filling());
            leaving.push_back(part.emptying());
        }
        tile.add_ring(program::Direction::MM2S, shape_.memory_out_parts(), shaped(layouts_.c(), {}),
                      in_turn(leaving));
    }

    bool sends_c(std::int64_t slice) const { return shape_.adds || shape_.last_slice(slice); }

    std::int64_t add_go(const std::string& suffix, program::TileCoordinate tile) {
        go_locks_.push_back(add_lock(program_, "go" + suffix, tile, 0));
        return go_locks_.back();
    }

    void lower_core(std::int64_t column, std::int64_t slice) {
        const program::TileCoordinate tile = shape_.core(column, slice);
        const std::string suffix = fmt::format("_{}_{}", tile.column, tile.row);
        const Fifo b = add_fifo_of("b" + suffix, tile, 1, sizes_.b);
        const Fifo a = add_fifo_of("a" + suffix, tile, map_.a_buffers, sizes_.a);
        const Fifo c =
            add_fifo_of("c" + suffix, tile, sends_c(slice) ? map_.c_buffers : 1, sizes_.c);
        TileRings rings(tile, config_.core_dma);
        rings.add_ring(program::Direction::S2MM, kCoreA, layouts_.a_enters_core(), a.filling());
        rings.add_ring(program::Direction::S2MM, kCoreB, layouts_.b_enters_core(), b.filling());
        if (sends_c(slice)) {
            rings.add_ring(program::Direction::MM2S, kCoreC, shaped(layouts_.c(), {}),
                           c.emptying());
        }
        program_.dmas.push_back(rings.take());
        program_.cores.push_back(core_program(tile, slice, a, b, c, add_go(suffix, tile)));
    }

    program::CoreProgram core_program(program::TileCoordinate tile, std::int64_t slice,
                                      const Fifo& a, const Fifo& b, const Fifo& c,
                                      std::int64_t go) const {
        constexpr std::int64_t kA = 0, kB = 1, kC = 2;
        const std::int64_t words = sizes_.c / config_.cascade.width.count();
        program::CoreProgram core{tile, {{"a", a.buffers}, {"b", b.buffers}, {"c", c.buffers}}, {}};
        program::LoopOp tiles;
        tiles.parameter = kTilesParameter;
        if (sends_c(slice)) {
            tiles.body.push_back({program::AcquireOp{c.locks.take_free()}});
        }
        if (shape_.adds || shape_.first_slice(slice)) {
            tiles.body.push_back({program::CallOp{kZero, {kC}, {}}});
        } else {
            tiles.body.push_back({program::GetCascadeOp{words, {kC}}});
        }
        tiles.body.push_back({program::AcquireOp{a.locks.take_full()}});
        tiles.body.push_back({program::CallOp{kMultiply, {kA, kB, kC}, {kA, kC}}});
        tiles.body.push_back({program::ReleaseOp{a.locks.give_free()}});
        if (sends_c(slice)) {
            tiles.body.push_back({program::ReleaseOp{c.locks.give_full()}});
        } else {
            tiles.body.push_back({program::PutCascadeOp{words, {kC}}});
        }
        program::LoopOp passes;
        passes.parameter = kPassesParameter;
        passes.body = {{program::AcquireOp{b.locks.take_full()}},
                       {tiles},
                       {program::ReleaseOp{b.locks.give_free()}}};
        core.script = {{program::AcquireOp{{go, -1}}}, {passes}};
        return core;
    }

    void lower_adder(std::int64_t column) {
        const program::TileCoordinate tile = shape_.adder(column);
        const std::string suffix = fmt::format("_{}_{}", tile.column, tile.row);
        const Fifo part = add_fifo_of("part" + suffix, tile, kPartsInAdder, sizes_.c);
        const Fifo sum = add_fifo_of("sum" + suffix, tile, map_.c_buffers, sizes_.c);
        TileRings rings(tile, config_.core_dma);
        rings.add_ring(program::Direction::S2MM, kAdderIn, shaped(layouts_.c(), {}),
                       part.filling());
        rings.add_ring(program::Direction::MM2S, kAdderOut, shaped(layouts_.c(), {}),
                       sum.emptying());
        program_.dmas.push_back(rings.take());
        program_.cores.push_back(adder_program(tile, part, sum, add_go(suffix, tile)));
    }

    program::CoreProgram adder_program(program::TileCoordinate tile, const Fifo& part,
                                       const Fifo& sum, std::int64_t go) const {
        constexpr std::int64_t kPart = 0, kSum = 1, kZeroed = 2;
        // Each zeroing moves both rotations of the sum on: what is added after it goes to the
        // buffer it cleared.
        std::vector<std::int64_t> before = sum.buffers;
        std::rotate(before.begin(), before.end() - 1, before.end());
        program::CoreProgram core{
            tile, {{"part", part.buffers}, {"sum", before}, {"zeroed", sum.buffers}}, {}};
        program::LoopOp parts;
        parts.count = shape_.rows;
        parts.body = {{program::AcquireOp{part.locks.take_full()}},
                      {program::CallOp{kAdd, {kPart, kSum, kSum}, {kPart}}},
                      {program::ReleaseOp{part.locks.give_free()}}};
        program::LoopOp tiles;
        tiles.parameter = kTilesParameter;
        tiles.body = {{program::AcquireOp{sum.locks.take_free()}},
                      {program::CallOp{kZero, {kZeroed}, {kSum, kZeroed}}},
                      {parts},
                      {program::ReleaseOp{sum.locks.give_full()}}};
        program::LoopOp passes;
        passes.parameter = kPassesParameter;
        passes.body = {{tiles}};
        core.script = {{program::AcquireOp{{go, -1}}}, {passes}};
        return core;
    }

    void add_cascades(std::int64_t column) {
        for (std::int64_t slice = 0; slice + 1 < shape_.rows; ++slice) {
            program_.cascades.push_back({fmt::format("sum_{}_{}", column, slice),
                                         shape_.core(column, slice),
                                         shape_.core(column, slice + 1)});
        }
    }

    const GemmProblem& problem_;
    const WeightStationaryMapping& map_;
    const NpuConfig& config_;
    TileLayouts layouts_;
    TileSizes sizes_;
    LoweredGemm result_;
    ArrayShape& shape_ = result_.shape;
    program::Program& program_ = result_.program;
    std::vector<std::int64_t> go_locks_;
    std::vector<std::int64_t> turns_;  // of each buffer in its FIFO
};

}  // namespace

SumOrder sum_order(const GemmProblem& problem, const WeightStationaryMapping& mapping) {
    return {mapping.k_ct, mapping.adds() && problem.c == DataType::F32};
}

LoweredGemm lower(const GemmProblem& problem, const WeightStationaryMapping& mapping,
                  const NpuConfig& config) {
    const auto problems = problems_of(problem, mapping, config);
    if (!problems.empty()) {
        throw arch::base::config::ConfigError(
            fmt::format("mapping.weight_stationary: {}", fmt::join(problems, "; ")));
    }
    return Lowering(problem, mapping, config).lower();
}

}  // namespace tilesim::workloads::npu::weight_stationary
