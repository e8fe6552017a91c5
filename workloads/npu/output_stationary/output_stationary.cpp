#include "workloads/npu/output_stationary/output_stationary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "arch/npu/core/kernel_timing.hpp"
#include "arch/npu/core/vector_kernel_timing.hpp"
#include "workloads/npu/object_fifo.hpp"
#include "workloads/npu/output_stationary/buffer_plan.hpp"
#include "workloads/npu/output_stationary/output_stationary_routes.hpp"
#include "workloads/npu/output_stationary/output_stationary_sequence.hpp"

namespace tilesim::workloads::npu::output_stationary {

using namespace arch::npu;
using arch::base::ceil_div;

namespace {

using Size = std::size_t;

// The blocks of one operand in a column's memory tile, for one row of cores or several.
struct Operand {
    std::string name;
    const std::vector<BufferPlace>& places;  // one a block
    std::int64_t buffers;                    // blocks of a row
    std::int64_t rows;
    std::int64_t streams;  // they come in on
    std::int64_t in_channel, out_channel;
    program::BufferDescriptor in, out;  // length and dimensions

    // Where several rows share the streams, each comes on one; one row's blocks take them in turn.
    std::int64_t lanes() const { return rows > 1 ? rows : streams; }
    std::int64_t lane(std::int64_t row, std::int64_t block) const {
        return rows > 1 ? row : block % streams;
    }
    std::int64_t stream(std::int64_t row, std::int64_t block) const {
        return rows > 1 ? row * streams / rows : block % streams;
    }
};

class Lowering {
  public:
    Lowering(const GemmProblem& problem, const OutputStationaryMapping& mapping,
             const NpuConfig& config)
        : stated_problem_(problem),
          stated_map_(mapping),
          view_(view_of(problem, mapping)),
          config_(config),
          mode_(*core::KernelTiming(config.kernels)
                     .find_mode(problem.a, problem.b, sum_type(problem, mapping), mapping.mode)),
          mmul_rows_(view_.mmul_rows(mode_)),
          mmul_columns_(view_.mmul_columns(mode_)) {
        shape_ = shape_of(view_, config);
        const PaddedGemm size = padded(view_, config);
        result_.m = view_.transposed ? size.n : size.m;
        result_.k = size.k;
        result_.n = view_.transposed ? size.m : size.n;
        result_.c_column_major = mapping.c_column_major;
        result_.output_tiles =
            size.m / (map_.m_ct * shape_.rows) * (size.n / (map_.n_ct * shape_.columns));
        result_.calls_per_tile = size.k / map_.k_ct;
        const BufferSizes sizes = buffer_sizes(view_, config);
        core_plan_ = plan_core(sizes, map_, config).value();  // `problems_of` has found none
        memory_plans_ = plan_memory_tiles(sizes, shape_, map_, config).value();
    }

    LoweredGemm lower() {
        program_.name =
            fmt::format("gemm_{}x{}x{}_{}_{}", stated_problem_.m, problem_.k, stated_problem_.n,
                        name_of(stated_problem_.a), name_of(problem_.c));
        const GemmProblem& gemm = stated_problem_;
        place_arguments(program_, {{"A", result_.m * result_.k * bytes_of(gemm.a)},
                                   {"B", result_.k * result_.n * bytes_of(gemm.b)},
                                   {"C", result_.m * result_.n * bytes_of(gemm.c)}});
        program_.kernels = {kernel("zero", program::KernelKind::Zero),
                            multiply_kernel(gemm, stated_map_)};
        if (map_.sums_apart) {
            program_.kernels.push_back(cast_kernel());
        }
        for (std::int64_t column = 0; column < shape_.columns; ++column) {
            lower_memory_tiles(column);
        }
        for (std::int64_t column = 0; column < shape_.columns; ++column) {
            for (std::int64_t row = 0; row < shape_.rows; ++row) {
                lower_core(column, row);
            }
        }
        add_routes(program_, shape_, map_);
        add_sequence(result_, view_, config_, go_locks_, packet_channels_);
        return std::move(result_);
    }

  private:
    static std::int64_t words(std::int64_t elements, DataType type) {
        return elements * bytes_of(type) / kWordBytes;
    }
    std::int64_t words_a(std::int64_t elements) const { return words(elements, problem_.a); }
    std::int64_t words_b(std::int64_t elements) const { return words(elements, problem_.b); }
    std::int64_t words_c(std::int64_t elements) const { return words(elements, problem_.c); }

    program::Kernel kernel(const char* name, program::KernelKind kind) const {
        program::Kernel kernel = multiply_kernel(stated_problem_, stated_map_);
        kernel.name = name;
        kernel.kind = kind;
        kernel.mode.clear();
        kernel.c_column_major = false;
        return kernel;
    }

    program::Kernel cast_kernel() const {
        program::Kernel cast = kernel("cast", program::KernelKind::Vector);
        cast.operation = program::VectorOperation::Cast;
        cast.a = cast.b = DataType::F32;
        cast.c = problem_.c;
        if (map_.cast_lanes > 0) {
            cast.cycles = arch::npu::core::VectorKernelTiming(config_.kernels)
                              .without_overlap(cast.m * cast.n, map_.cast_lanes)
                              .count();
        }
        return cast;
    }

    // An operand's blocks come in stream by stream and leave row by row. Every lane has locks of
    // its own: with common ones a fast stream could take a slow one's place.
    void add_operand(TileRings& tile, const Operand& operand) {
        const auto buffers =
            add_buffers(program_, operand.name, operand.places, operand.in.length * kWordBytes);
        std::vector<FifoLocks> locks;
        for (std::int64_t lane = 0; lane < operand.lanes(); ++lane) {
            const std::string name =
                operand.lanes() == 1 ? operand.name : fmt::format("{}_{}", operand.name, lane);
            locks.push_back(add_fifo(program_, name, tile.tile(),
                                     operand.buffers * operand.rows / operand.lanes()));
        }
        std::vector<std::vector<RingEntry>> in(static_cast<Size>(operand.streams));
        std::vector<std::vector<RingEntry>> out(static_cast<Size>(operand.rows));
        for (std::int64_t block = 0; block < operand.buffers; ++block) {
            for (std::int64_t row = 0; row < operand.rows; ++row) {
                const auto buffer = buffers[static_cast<Size>(block * operand.rows + row)];
                const FifoLocks& lock = locks[static_cast<Size>(operand.lane(row, block))];
                in[static_cast<Size>(operand.stream(row, block))].push_back(
                    {buffer, lock.take_free(), lock.give_full()});
                out[static_cast<Size>(row)].push_back({buffer, lock.take_full(), lock.give_free()});
            }
        }
        for (Size i = 0; i < in.size(); ++i) {
            tile.add_ring(program::Direction::S2MM,
                          operand.in_channel + static_cast<std::int64_t>(i), operand.in, in[i]);
        }
        for (Size i = 0; i < out.size(); ++i) {
            tile.add_ring(program::Direction::MM2S,
                          operand.out_channel + static_cast<std::int64_t>(i), operand.out, out[i]);
        }
    }

    using Shapes = std::pair<program::BufferDescriptor, program::BufferDescriptor>;

    // A block of `outer` rows (m_ct of A or n_ct of B) by `block_k` arrives in rows and is cut into
    // core tiles; it leaves as strips of `outer` x s.
    Shapes strip_shapes(std::int64_t outer, std::int64_t block_k, DataType type) const {
        const std::int64_t k = words(map_.k_ct, type);
        const std::int64_t s = words(mode_.s, type);
        const std::int64_t tiles = block_k / map_.k_ct;
        const std::int64_t length = outer * k * tiles;
        return {shaped(length, {{k, 1}, {tiles, outer * k}, {outer, k}}),
                shaped(length, {{s, 1}, {outer, k}, {k / s, s}, {tiles, outer * k}})};
    }

    // What is row-major along the other dimension: block_k x `outer` arrives in rows of `outer` and
    // leaves as sub-tiles of s x `inner`.
    Shapes row_major_shapes(std::int64_t outer, std::int64_t inner, std::int64_t block_k,
                            DataType type) const {
        const std::int64_t n = words(outer, type);
        const std::int64_t t = words(inner, type);
        const std::int64_t length = n * block_k;
        return {
            shaped(length, {}),
            shaped(length, {{t, 1}, {mode_.s, n}, {n / t, t}, {block_k / mode_.s, mode_.s * n}})};
    }

    Shapes a_shapes() const {
        return view_.a_by_k ? strip_shapes(map_.m_ct, view_.a_block_k, problem_.a)
                            : row_major_shapes(map_.m_ct, mmul_rows_, view_.a_block_k, problem_.a);
    }

    Shapes b_shapes() const {
        return problem_.b_column_major
                   ? strip_shapes(map_.n_ct, view_.b_block_k, problem_.b)
                   : row_major_shapes(map_.n_ct, mmul_columns_, view_.b_block_k, problem_.b);
    }

    void add_a(TileRings& tile, std::int64_t column) {
        const auto [in, out] = a_shapes();
        add_operand(
            tile, {fmt::format("{}_mt{}", view_.name_a(), column), plan_of(column).a, map_.a_blocks,
                   shape_.rows_of_a(column).count, shape_.a_streams(column, map_),
                   shape_.a_in_channel(), shape_.a_out_channel(), in, out});
    }

    void add_b(TileRings& tile, std::int64_t column) {
        const auto [in, out] = b_shapes();
        add_operand(
            tile, {fmt::format("{}_mt{}", view_.name_b(), column), plan_of(column).b, map_.b_blocks,
                   1, shape_.b_in, shape_.b_in_channel(), shape_.b_out_channel(), in, out});
    }

    // The C tiles of the column's cores join here and leave as rows, one core's part after the
    // other. Every part has locks of its own, as the lanes of an operand.
    void add_c_join(TileRings& tile, std::int64_t column) {
        const std::string name = fmt::format("c_mt{}", column);
        const std::int64_t part = words_c(map_.m_ct * map_.n_ct);
        const auto buffers =
            add_buffers(program_, name, plan_of(column).c, shape_.rows * part * kWordBytes);
        std::vector<FifoLocks> locks;
        for (std::int64_t row = 0; row < shape_.rows; ++row) {
            locks.push_back(
                add_fifo(program_, fmt::format("{}_{}", name, row), tile.tile(), shape_.joins));
        }
        for (std::int64_t i = 0; i < shape_.c_in; ++i) {
            std::vector<RingEntry> entries;
            const RowSpan rows = shape_.rows_in(i);
            for (std::int64_t row = rows.first; row < rows.first + rows.count; ++row) {
                const FifoLocks& lock = locks[static_cast<Size>(row)];
                for (const std::int64_t buffer : buffers) {
                    entries.push_back(
                        {buffer, lock.take_free(), lock.give_full(), row * part * kWordBytes});
                }
            }
            add_c_in(tile, column, i, shaped(part, {}), entries);
        }
        for (std::int64_t i = 0; i < shape_.c_out; ++i) {
            std::vector<RingEntry> entries;
            const RowSpan rows = shape_.rows_out(i);
            for (const std::int64_t buffer : buffers) {
                for (std::int64_t row = rows.first; row < rows.first + rows.count; ++row) {
                    const FifoLocks& lock = locks[static_cast<Size>(row)];
                    entries.push_back(
                        {buffer, lock.take_full(), lock.give_free(), row * part * kWordBytes});
                }
            }
            tile.add_ring(program::Direction::MM2S, shape_.c_out_channel() + i, c_out_shape(part),
                          entries);
        }
    }

    // A stream of one row is a ring; one of several takes packets, which name their descriptors.
    void add_c_in(TileRings& tile, std::int64_t column, std::int64_t stream,
                  const program::BufferDescriptor& shape, const std::vector<RingEntry>& entries) {
        const std::int64_t channel = shape_.c_in_channel() + stream;
        const RowSpan rows = shape_.rows_in(stream);
        if (rows.count == 1) {
            tile.add_ring(program::Direction::S2MM, channel, shape, entries);
            return;
        }
        const std::int64_t first = tile.add_descriptors(channel, shape, entries);
        packet_channels_.push_back(
            {{tile.tile(), program::Direction::S2MM, channel}, first, rows.count});
        for (std::int64_t i = 0; i < rows.count; ++i) {
            packet_descriptors_[{column, rows.first + i}] = first + i * shape_.joins;
        }
    }

    // Sub-tiles become rows of C, or columns.
    program::BufferDescriptor c_out_shape(std::int64_t part) const {
        const bool columns = view_.c_by_columns;
        const std::int64_t run =
            columns ? mmul_rows_ : mmul_columns_;  // elements next to each other
        const std::int64_t lines = columns ? mmul_columns_ : mmul_rows_;
        const std::int64_t length = columns ? map_.m_ct : map_.n_ct;  // of a row or column
        const std::int64_t count = columns ? map_.n_ct : map_.m_ct;
        return shaped(part, {{words_c(run), 1},
                             {length / run, lines * words_c(run)},
                             {lines, words_c(run)},
                             {count / lines, words_c(length) * lines}});
    }

    const MemoryTilePlan& plan_of(std::int64_t column) const {
        return memory_plans_[static_cast<Size>(column)];
    }

    void lower_memory_tiles(std::int64_t column) {
        for (std::int64_t row = 1; row <= config_.memory_rows; ++row) {
            TileRings tile({column, row}, config_.memory_dma);
            if (shape_.a_home == row && shape_.rows_of_a(column).count > 0) {
                add_a(tile, column);
            }
            if (shape_.b_home == row) {
                add_b(tile, column);
            }
            if (shape_.c_home == row) {
                add_c_join(tile, column);
            }
            program_.dmas.push_back(tile.take());
        }
        result_.memory_tile_bytes = std::max(result_.memory_tile_bytes, plan_of(column).used);
    }

    Fifo add_core_operand(const std::string& name, program::TileCoordinate tile,
                          const std::vector<std::int64_t>& addresses, std::int64_t words) {
        std::vector<BufferPlace> places;
        for (const std::int64_t address : addresses) {
            places.push_back({tile, address});
        }
        return {add_buffers(program_, name, places, words * kWordBytes), {}};
    }

    // C leaves tile by tile; as packets, each names the next place of its row in the memory tile.
    std::vector<RingEntry> emptying(const Fifo& c, std::int64_t column, std::int64_t row) const {
        const auto place = packet_descriptors_.find({column, row});
        const bool packets = place != packet_descriptors_.end();
        const std::int64_t count = packets ? shape_.joins : map_.c_buffers;
        std::vector<RingEntry> entries;
        for (std::int64_t i = 0; i < count; ++i) {
            RingEntry entry{c.buffers[static_cast<Size>(i % map_.c_buffers)], c.locks.take_full(),
                            c.locks.give_free()};
            if (packets) {
                entry.packet = program::Packet{row, 0, place->second + i};
            }
            entries.push_back(entry);
        }
        return entries;
    }

    void lower_core(std::int64_t column, std::int64_t row) {
        const program::TileCoordinate tile = shape_.core_tile(column, row);
        const std::string suffix = fmt::format("_{}_{}", tile.column, tile.row);
        const std::int64_t a_words = words_a(map_.m_ct * map_.k_ct);
        const std::int64_t b_words = words_b(map_.k_ct * map_.n_ct);
        const std::int64_t c_words = words_c(map_.m_ct * map_.n_ct);
        Fifo a = add_core_operand(view_.name_a() + suffix, tile, core_plan_.a, a_words);
        Fifo b = add_core_operand(view_.name_b() + suffix, tile, core_plan_.b, b_words);
        Fifo c = add_core_operand("c" + suffix, tile, core_plan_.c, c_words);
        const Fifo sums = add_core_operand("sum" + suffix, tile, core_plan_.sum,
                                           words(map_.m_ct * map_.n_ct, DataType::F32));
        result_.core_bytes = core_plan_.used;
        a.locks = add_fifo(program_, view_.name_a() + suffix, tile, map_.a_buffers);
        b.locks = add_fifo(program_, view_.name_b() + suffix, tile, map_.b_buffers);
        c.locks = add_fifo(program_, "c" + suffix, tile, map_.c_buffers);
        const std::int64_t go = add_lock(program_, "go" + suffix, tile, 0);
        go_locks_.push_back(go);

        TileRings rings(tile, config_.core_dma);
        rings.add_ring(program::Direction::S2MM, kCoreA,
                       view_.a_by_k
                           ? strips_to_sub_tiles(a_words, map_.m_ct, mmul_rows_, problem_.a)
                           : shaped(a_words, {}),
                       a.filling());
        rings.add_ring(program::Direction::S2MM, kCoreB,
                       problem_.b_column_major
                           ? strips_to_sub_tiles(b_words, map_.n_ct, mmul_columns_, problem_.b)
                           : shaped(b_words, {}),
                       b.filling());
        rings.add_ring(program::Direction::MM2S, kCoreC, shaped(c_words, {}),
                       emptying(c, column, row));
        program_.dmas.push_back(rings.take());
        const bool swapped = view_.transposed;
        program_.cores.push_back(
            core_program(tile, {swapped ? b : a, swapped ? a : b, c, sums}, go));
    }

    // Strips of `outer` x s become sub-tiles of h x s, row-major over sub-tiles.
    program::BufferDescriptor strips_to_sub_tiles(std::int64_t length, std::int64_t outer,
                                                  std::int64_t h, DataType type) const {
        const std::int64_t sub_tile = words(h * mode_.s, type);
        const std::int64_t strips = map_.k_ct / mode_.s;
        return shaped(length, {{sub_tile, 1}, {outer / h, strips * sub_tile}, {strips, sub_tile}});
    }

    // As the kernels know them.
    struct CoreOperands {
        const Fifo& a;
        const Fifo& b;
        const Fifo& c;
        const Fifo& sums;
    };

    program::CoreProgram core_program(program::TileCoordinate tile, const CoreOperands& core_data,
                                      std::int64_t go) const {
        constexpr std::int64_t kA = 0, kB = 1, kSums = 2, kZeroed = 3, kCast = 4;
        const auto& [a, b, c, sums] = core_data;
        program::CoreProgram core;
        core.tile = tile;
        core.rotations = {{"a", a.buffers}, {"b", b.buffers}};
        if (map_.sums_apart) {
            core.rotations.push_back({"sums", sums.buffers});
            core.rotations.push_back({"zeroed", sums.buffers});
            core.rotations.push_back({"c", c.buffers});
        } else {
            // Each zeroing moves both C rotations on: the multiplies after it use the buffer it
            // cleared.
            std::vector<std::int64_t> c_before = c.buffers;
            std::rotate(c_before.begin(), c_before.end() - 1, c_before.end());
            core.rotations.push_back({"c", c_before});
            core.rotations.push_back({"zeroed", c.buffers});
        }
        program::LoopOp calls;
        calls.parameter = kCallsParameter;
        calls.body = {{program::AcquireOp{a.locks.take_full()}},
                      {program::AcquireOp{b.locks.take_full()}},
                      {program::CallOp{1, {kA, kB, kSums}, {kA, kB}}},
                      {program::ReleaseOp{a.locks.give_free()}},
                      {program::ReleaseOp{b.locks.give_free()}}};
        program::LoopOp tiles;
        tiles.parameter = kTilesParameter;
        const program::CoreOp zero{program::CallOp{0, {kZeroed}, {kSums, kZeroed}}};
        const program::CoreOp take{program::AcquireOp{c.locks.take_free()}};
        const program::CoreOp give{program::ReleaseOp{c.locks.give_full()}};
        if (map_.sums_apart) {
            tiles.body = {zero, {calls}, take, {program::CallOp{2, {kSums, kCast}, {kCast}}}, give};
        } else {
            tiles.body = {take, zero, {calls}, give};
        }
        core.script = {{program::AcquireOp{{go, -1}}}, {tiles}};
        return core;
    }

    const GemmProblem& stated_problem_;
    const OutputStationaryMapping& stated_map_;
    const GemmView view_;
    const GemmProblem& problem_ = view_.problem;
    const OutputStationaryMapping& map_ = view_.map;
    const NpuConfig& config_;
    MultiplyMode mode_;
    std::int64_t mmul_rows_, mmul_columns_;
    CorePlan core_plan_;
    std::vector<MemoryTilePlan> memory_plans_;
    LoweredGemm result_;
    ArrayShape& shape_ = result_.shape;
    program::Program& program_ = result_.program;
    std::vector<std::int64_t> go_locks_;
    std::vector<PacketChannel> packet_channels_;
    // By column and row of cores: the descriptor its first packet names.
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> packet_descriptors_;
};

// What of the kernel and of the counts the mapping asks for cannot be; further checks need these.
std::vector<std::string> basic_problems(const GemmProblem& problem,
                                        const OutputStationaryMapping& map,
                                        const NpuConfig& config) {
    if (map.sums_apart && !is_float(problem.c)) {
        return {fmt::format("sums: f32 are cast to floats, not to {}; use sums: in_c",
                            name_of(problem.c))};
    }
    const program::Kernel kernel = multiply_kernel(problem, map);
    if (std::string reason = core::KernelTiming(config.kernels).check(kernel); !reason.empty()) {
        return {reason};
    }
    if (problem.a == DataType::Bfp16) {
        return {"bfp16 has no layout in words: eight elements are nine bytes"};
    }
    std::vector<std::string> problems;
    if (map.k_mt % map.k_ct != 0) {
        problems.push_back(
            fmt::format("k_mt ({}) must be a multiple of k_ct ({})", map.k_mt, map.k_ct));
    }
    if (map.b_k_mt % map.k_ct != 0) {
        problems.push_back(
            fmt::format("b_k_mt ({}) must be a multiple of k_ct ({})", map.b_k_mt, map.k_ct));
    }
    if (map.columns > config.columns || map.rows > config.core_rows) {
        problems.push_back(fmt::format(
            "the mapping uses {} columns and {} rows of cores; the array has {} columns and {} "
            "rows",
            map.columns_of(config), map.rows_of(config), config.columns, config.core_rows));
    }
    // What the run-time sequence holds for every round would fill the host's memory.
    constexpr std::int64_t kMostRounds = std::int64_t{1} << 18;
    const std::int64_t rounds =
        ceil_div(problem.m, map.m_ct * std::max<std::int64_t>(1, map.rows_of(config))) *
        ceil_div(problem.n, map.n_ct * std::max<std::int64_t>(1, map.columns_of(config)));
    if (rounds > kMostRounds) {
        problems.push_back(fmt::format(
            "{} x {} of C are {} rounds of the array with tiles of {} x {}; at most {} are "
            "simulated",
            problem.m, problem.n, rounds, map.m_ct, map.n_ct, kMostRounds));
    }
    if (config.memory_rows == 0) {
        problems.push_back(
            "the dataflow keeps blocks of A and B in memory tiles; the array has none");
    }
    return problems;
}

}  // namespace

std::vector<std::string> problems_of(const GemmProblem& problem, const OutputStationaryMapping& map,
                                     const NpuConfig& config) {
    std::vector<std::string> problems = basic_problems(problem, map, config);
    if (!problems.empty()) {
        return problems;
    }
    const GemmView view = view_of(problem, map);
    const ArrayShape shape = shape_of(view, config);
    problems = shape_problems(shape, view, config);
    const BufferSizes sizes = buffer_sizes(view, config);
    if (!plan_core(sizes, view.map, config)) {
        const std::int64_t core = config.core.stack.count() + view.map.a_buffers * sizes.a_core +
                                  view.map.b_buffers * sizes.b_core + map.c_buffers * sizes.c_core +
                                  sizes.sum_core;
        const auto [a, b] = view.transposed ? std::pair{sizes.b_core, sizes.a_core}
                                            : std::pair{sizes.a_core, sizes.b_core};
        problems.push_back(fmt::format(
            "the core tile needs {} B (stack {} + {} x A {} + {} x B {} + {} x C {}{}), "
            "a core has {} "
            "B",
            core, config.core.stack.count(), map.a_buffers, a, map.b_buffers, b, map.c_buffers,
            sizes.c_core, map.sums_apart ? fmt::format(" + sums {}", sizes.sum_core) : "",
            config.core.memory.count()));
    }
    if (!plan_memory_tiles(sizes, shape, view.map, config)) {
        problems.push_back(fmt::format(
            "the memory tiles of a column need {} B, they have {} B and their neighbours have not "
            "enough left; reduce k_mt",
            shape.a_rows * view.map.a_blocks * sizes.a_block + view.map.b_blocks * sizes.b_block +
                shape.joins * sizes.c_join,
            config.memory_rows * config.memory_tile.memory.count()));
    }
    return problems;
}

SumOrder sum_order(const GemmProblem& problem, const OutputStationaryMapping& mapping) {
    return {mapping.sums_apart ? problem.k : mapping.k_ct};
}

program::Kernel multiply_kernel(const GemmProblem& problem,
                                const OutputStationaryMapping& mapping) {
    program::Kernel kernel;
    kernel.name = "multiply";
    kernel.kind = program::KernelKind::Multiply;
    kernel.m = mapping.m_ct;
    kernel.k = mapping.k_ct;
    kernel.n = mapping.n_ct;
    kernel.a = problem.a;
    kernel.b = problem.b;
    kernel.c = sum_type(problem, mapping);
    kernel.b_column_major = problem.b_column_major;
    kernel.mode = mapping.mode;
    kernel.c_column_major = mapping.c_column_major;
    return kernel;
}

LoweredGemm lower(const GemmProblem& problem, const OutputStationaryMapping& mapping,
                  const NpuConfig& config) {
    const auto problems = problems_of(problem, mapping, config);
    if (!problems.empty()) {
        throw arch::base::config::ConfigError(
            fmt::format("mapping.output_stationary: {}", fmt::join(problems, "; ")));
    }
    return Lowering(problem, mapping, config).lower();
}

}  // namespace tilesim::workloads::npu::output_stationary
