#include "workloads/npu/output_stationary/memory_tile_lowering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "workloads/npu/object_fifo.hpp"
#include "workloads/npu/transfer_length.hpp"

namespace tilesim::workloads::npu::output_stationary {

using namespace arch::npu;

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

class MemoryTileLowering {
  public:
    MemoryTileLowering(LoweredGemm& lowered, const GemmView& view, const MultiplyMode& mode,
                       const NpuConfig& config, const std::vector<MemoryTilePlan>& plans)
        : view_(view),
          mode_(mode),
          mmul_rows_(view.mmul_rows(mode)),
          mmul_columns_(view.mmul_columns(mode)),
          config_(config),
          plans_(plans),
          shape_(lowered.shape),
          program_(lowered.program) {}

    void add_column(std::int64_t column) {
        for (std::int64_t row = 1; row <= config_.memory_rows; ++row) {
            TileRings tile(shape_.tile(column, row), config_.memory_dma);
            if (shape_.a_home == row && shape_.rows_of_a(column).count > 0) {
                add_a(tile, column);
            }
            if (shape_.b_home == row) {
                add_b(tile, column);
            }
            if (shape_.c_home == row) {
                map_.c_by_line ? add_c_by_line(tile, column) : add_c_by_tile(tile, column);
            }
            program_.dmas.push_back(tile.take());
        }
    }

    CPackets take_packets() { return std::move(packets_); }

  private:
    // An operand's blocks come in stream by stream and leave row by row. Every lane has locks of
    // its own: with common ones a fast stream could take a slow one's place.
    void add_operand(TileRings& tile, const Operand& operand) {
        const auto buffers =
            add_buffers(program_, operand.name, operand.places, operand.in.length * kWordBytes);
        std::vector<FifoLocks> locks;
        for (std::int64_t lane = 0; lane < operand.lanes(); ++lane) {
            const std::string name =
                operand.lanes() == 1 ? operand.name : fmt::format("{}_{}", operand.name, lane);
            locks.push_back(add_fifo_locks(program_, name, tile.tile(),
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
        const std::int64_t k = whole_words(map_.k_ct, type);
        const std::int64_t s = whole_words(mode_.s, type);
        const std::int64_t tiles = block_k / map_.k_ct;
        const std::int64_t length = outer * k * tiles;
        return {shaped(length, {{k, 1}, {tiles, outer * k}, {outer, k}}),
                shaped(length, {{s, 1}, {outer, k}, {k / s, s}, {tiles, outer * k}})};
    }

    // What is row-major along the other dimension: block_k x `outer` arrives in rows of `outer` and
    // leaves as sub-tiles of s x `inner`.
    Shapes row_major_shapes(std::int64_t outer, std::int64_t inner, std::int64_t block_k,
                            DataType type) const {
        const std::int64_t n = whole_words(outer, type);
        const std::int64_t t = whole_words(inner, type);
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

    std::int64_t words_of_c(std::int64_t elements) const {
        return whole_words(elements, problem_.c);
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
    void add_c_by_tile(TileRings& tile, std::int64_t column) {
        const std::string name = fmt::format("c_mt{}", column);
        const std::int64_t part = words_of_c(map_.m_ct * map_.n_ct);
        const auto buffers =
            add_buffers(program_, name, plan_of(column).c, shape_.rows * part * kWordBytes);
        std::vector<FifoLocks> locks;
        for (std::int64_t row = 0; row < shape_.rows; ++row) {
            locks.push_back(add_fifo_locks(program_, fmt::format("{}_{}", name, row), tile.tile(),
                                           shape_.joins));
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

    // Every core's tile is laid between its neighbours' as it comes, so that the buffer is lines of
    // all of them; it leaves as it lies, once all have come. The locks of a buffer are common to
    // its cores: none can come twice, as its channel waits for the buffer to have left.
    void add_c_by_line(TileRings& tile, std::int64_t column) {
        const std::string name = fmt::format("c_mt{}", column);
        const std::int64_t part = words_of_c(map_.m_ct * map_.n_ct);
        const auto buffers =
            add_buffers(program_, name, plan_of(column).c, shape_.rows * part * kWordBytes);
        for (std::int64_t i = 0; i < shape_.c_out; ++i) {
            const RowSpan rows = shape_.rows_out(i);
            std::vector<FifoLocks> locks;
            std::vector<RingEntry> out;
            for (const std::int64_t buffer : buffers) {
                const FifoLocks& lock = locks.emplace_back(
                    add_fifo_locks(program_, fmt::format("{}_{}_{}", name, i, locks.size()),
                                   tile.tile(), rows.count));
                out.push_back({buffer,
                               {lock.full, -rows.count},
                               {lock.free, rows.count},
                               rows.first * part * kWordBytes});
            }
            for (std::int64_t row = 0; row < rows.count; ++row) {
                std::vector<RingEntry> in;
                for (Size j = 0; j < buffers.size(); ++j) {
                    in.push_back({buffers[j], locks[j].take_free(), locks[j].give_full(),
                                  (rows.first * part + row * words_of_c(map_.m_ct)) * kWordBytes});
                }
                tile.add_ring(program::Direction::S2MM, shape_.c_in_channel() + rows.first + row,
                              c_line_shape(part, rows.count), in);
            }
            tile.add_ring(program::Direction::MM2S, shape_.c_out_channel() + i,
                          shaped(rows.count * part, {}), out);
        }
    }

    // A tile, sub-tile by sub-tile as it comes from its core, among the lines of `tiles` of them.
    program::BufferDescriptor c_line_shape(std::int64_t part, std::int64_t tiles) const {
        const std::int64_t line = tiles * words_of_c(map_.m_ct);
        return shaped(part, {{words_of_c(mmul_rows_), 1},
                             {mmul_columns_, line},
                             {map_.m_ct / mmul_rows_, words_of_c(mmul_rows_)},
                             {map_.n_ct / mmul_columns_, mmul_columns_ * line}});
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
        packets_.channels.push_back(
            {{tile.tile(), program::Direction::S2MM, channel}, first, rows.count});
        for (std::int64_t i = 0; i < rows.count; ++i) {
            packets_.descriptors[{column, rows.first + i}] = first + i * shape_.joins;
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
        return shaped(part, {{words_of_c(run), 1},
                             {length / run, lines * words_of_c(run)},
                             {lines, words_of_c(run)},
                             {count / lines, words_of_c(length) * lines}});
    }

    const MemoryTilePlan& plan_of(std::int64_t column) const {
        return plans_[static_cast<Size>(column)];
    }

    const GemmView& view_;
    const GemmProblem& problem_ = view_.problem;
    const OutputStationaryMapping& map_ = view_.map;
    const MultiplyMode& mode_;
    const std::int64_t mmul_rows_, mmul_columns_;
    const NpuConfig& config_;
    const std::vector<MemoryTilePlan>& plans_;  // by column
    const ArrayShape& shape_;
    program::Program& program_;
    CPackets packets_;
};

}  // namespace

CPackets add_memory_tiles(LoweredGemm& lowered, const GemmView& view, const MultiplyMode& mode,
                          const NpuConfig& config, const std::vector<MemoryTilePlan>& plans) {
    MemoryTileLowering tiles(lowered, view, mode, config, plans);
    for (std::int64_t column = 0; column < lowered.shape.columns; ++column) {
        tiles.add_column(column);
    }
    return tiles.take_packets();
}

}  // namespace tilesim::workloads::npu::output_stationary
