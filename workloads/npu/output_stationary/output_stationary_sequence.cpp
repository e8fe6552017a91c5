#include "workloads/npu/output_stationary/output_stationary_sequence.hpp"

#include <utility>

#include "workloads/npu/object_fifo.hpp"

namespace tilesim::workloads::npu::output_stationary {

using namespace arch::npu;

namespace {

constexpr std::int64_t kWordBytes = 4;

// A transfer between DRAM and a shim's stream.
struct Transfer {
    program::ChannelId channel;
    program::BufferDescriptor descriptor;
    bool token = false;
};

// Of the blocks of a panel that several streams take in turn, those of one stream.
struct Share {
    std::int64_t first = 0;
    std::int64_t step = 1;
    std::int64_t count = 0;
};

class Sequence {
  public:
    Sequence(LoweredGemm& lowered, const GemmProblem& problem, const OutputStationaryMapping& map,
             const NpuConfig& config, const std::vector<PacketChannel>& packet_channels)
        : lowered_(lowered),
          shape_(lowered.shape),
          problem_(problem),
          map_(map),
          packet_channels_(packet_channels),
          steps_(lowered.program.sequence) {
        for (std::int64_t column = 0; column < shape_.columns; ++column) {
            add_first_ids(config);
        }
    }

    void start_cores(const std::vector<std::int64_t>& go_locks) {
        for (const program::CoreProgram& core : lowered_.program.cores) {
            steps_.push_back(
                program::WriteParameter{core.tile, kCallsParameter, lowered_.calls_per_tile});
            steps_.push_back(
                program::WriteParameter{core.tile, kTilesParameter, lowered_.output_tiles});
        }
        for (const std::int64_t lock : go_locks) {
            steps_.push_back(program::SetLock{lock, 1});
        }
    }

    void move_tiles() {
        const bool overlapped =
            map_.shim_bds == OutputStationaryMapping::ShimDescriptors::Overlapped;
        // Descriptors that are not in use are written while there is no room for their tasks.
        const bool spare = overlapped && shape_.slots > shape_.in_flight;
        std::int64_t finished = 0;
        for (std::int64_t tile = 0; tile < lowered_.output_tiles; ++tile) {
            const std::vector<Transfer> transfers = transfers_of(tile);
            const bool full = tile - finished == shape_.in_flight;
            const bool ahead = full && spare;
            if (ahead) {
                write(transfers);
            }
            const std::int64_t wait = !full ? 0 : overlapped ? 1 : shape_.in_flight;
            for (std::int64_t i = 0; i < wait; ++i, ++finished) {
                wait_for_output_tile();
            }
            expect_packets();
            start(transfers, !ahead);
        }
        for (; finished < lowered_.output_tiles; ++finished) {
            wait_for_output_tile();
        }
    }

  private:
    // First descriptor of each stream of a shim.
    struct FirstIds {
        std::vector<std::int64_t> a, b, c;
    };

    void add_first_ids(const NpuConfig& config) {
        DescriptorIds ids(config.shim_dma);
        const auto take = [&](std::int64_t first_channel, std::int64_t streams) {
            std::vector<std::int64_t> first;
            for (std::int64_t i = 0; i < streams; ++i) {
                first.push_back(ids.take(first_channel + i, shape_.slots));
            }
            return first;
        };
        FirstIds first;
        first.a = take(shape_.a_shim_channel(), shape_.a_in);
        first.b = take(shape_.b_shim_channel(), shape_.b_in);
        first.c = take(shape_.c_shim_channel(), shape_.c_out);
        first_ids_.push_back(std::move(first));
    }

    static std::int64_t words(std::int64_t elements, DataType type) {
        return elements * bytes_of(type) / kWordBytes;
    }

    // Along K, what a memory tile holds of B: row-major B needs no long runs along K.
    std::int64_t b_block() const { return problem_.b_column_major ? map_.k_mt : map_.k_ct; }

    // Blocks are counted through all output tiles, so that each finds its buffer free in turn.
    static Share share_of(std::int64_t stream, std::int64_t streams, std::int64_t tile,
                          std::int64_t blocks) {
        const std::int64_t past = tile * blocks % streams;
        const std::int64_t first = (stream - past + streams) % streams;
        return {first, streams, first < blocks ? (blocks - first - 1) / streams + 1 : 0};
    }

    static program::BufferDescriptor shim_descriptor(std::int64_t id, std::int64_t buffer,
                                                     std::int64_t offset, std::int64_t length,
                                                     std::vector<program::Dimension> dimensions) {
        program::BufferDescriptor descriptor;
        descriptor.id = id;
        descriptor.buffer = buffer;
        descriptor.offset = offset;
        descriptor.length = length;
        descriptor.dimensions = std::move(dimensions);
        return descriptor;
    }

    // A panel of `outer` rows of K elements as a sequence of outer x k_mt blocks.
    program::BufferDescriptor k_panel(std::int64_t id, std::int64_t buffer, std::int64_t first_row,
                                      std::int64_t outer, DataType type, const Share& share) const {
        const std::int64_t k = words(lowered_.k, type);
        const std::int64_t block = words(map_.k_mt, type);
        return shim_descriptor(id, buffer, (first_row * k + share.first * block) * kWordBytes,
                               outer * block * share.count,
                               {{block, 1}, {outer, k}, {share.count, share.step * block}});
    }

    program::BufferDescriptor b_panel(std::int64_t id, std::int64_t first_column,
                                      const Share& share) const {
        if (problem_.b_column_major) {
            return k_panel(id, 1, first_column, map_.n_ct, problem_.b, share);
        }
        const std::int64_t n = words(lowered_.n, problem_.b);
        const std::int64_t run = words(map_.n_ct, problem_.b);
        const std::int64_t block = b_block() * n;
        return shim_descriptor(id, 1,
                               (words(first_column, problem_.b) + share.first * block) * kWordBytes,
                               b_block() * share.count * run,
                               {{run, 1}, {b_block(), n}, {share.count, share.step * block}});
    }

    // Rows of C of the cores of a span, of one column.
    program::BufferDescriptor c_rows(std::int64_t id, std::int64_t first_row, std::int64_t rows,
                                     std::int64_t first_column) const {
        const std::int64_t n = words(lowered_.n, problem_.c);
        const std::int64_t run = words(map_.n_ct, problem_.c);
        const std::int64_t offset = first_row * map_.m_ct * n + words(first_column, problem_.c);
        return shim_descriptor(id, 2, offset * kWordBytes, rows * map_.m_ct * run,
                               {{run, 1}, {rows * map_.m_ct, n}});
    }

    void add_transfer(std::vector<Transfer>& transfers, std::int64_t column,
                      program::Direction direction, std::int64_t channel,
                      program::BufferDescriptor descriptor) const {
        if (descriptor.length > 0) {  // fewer blocks than streams leave one without
            transfers.push_back({{{column, 0}, direction, channel},
                                 std::move(descriptor),
                                 direction == program::Direction::S2MM});
        }
    }

    // The transfers of one output tile of every core, column by column.
    std::vector<Transfer> transfers_of(std::int64_t tile) const {
        const std::int64_t slot = tile % shape_.slots;
        const std::int64_t across = lowered_.n / (map_.n_ct * shape_.columns);
        const std::int64_t block_row = tile / across * shape_.rows;
        const std::int64_t block_column = tile % across * shape_.columns;
        std::vector<Transfer> transfers;
        for (std::int64_t column = 0; column < shape_.columns; ++column) {
            const FirstIds& ids = first_ids_[static_cast<std::size_t>(column)];
            const std::int64_t first_column = (block_column + column) * map_.n_ct;
            add_a(transfers, column, tile, block_row, ids);
            for (std::int64_t i = 0; i < shape_.b_in; ++i) {
                add_transfer(transfers, column, program::Direction::MM2S,
                             shape_.b_shim_channel() + i,
                             b_panel(ids.b[static_cast<std::size_t>(i)] + slot, first_column,
                                     share_of(i, shape_.b_in, tile, lowered_.k / b_block())));
            }
            for (std::int64_t i = 0; i < shape_.c_out; ++i) {
                const RowSpan rows = shape_.rows_out(i);
                add_transfer(transfers, column, program::Direction::S2MM,
                             shape_.c_shim_channel() + i,
                             c_rows(ids.c[static_cast<std::size_t>(i)] + slot,
                                    block_row + rows.first, rows.count, first_column));
            }
        }
        return transfers;
    }

    void add_a(std::vector<Transfer>& transfers, std::int64_t column, std::int64_t tile,
               std::int64_t block_row, const FirstIds& ids) const {
        const RowSpan held = shape_.rows_of_a(column);
        const std::int64_t streams = held.count == 0 ? 0 : shape_.a_streams(column, map_);
        const std::int64_t blocks = lowered_.k / map_.k_mt;
        for (std::int64_t i = 0; i < streams; ++i) {
            const RowSpan rows = shape_.a_rows_in(column, i, streams);
            const Share share =
                held.count > 1 ? Share{0, 1, blocks} : share_of(i, streams, tile, blocks);
            add_transfer(transfers, column, program::Direction::MM2S, shape_.a_shim_channel() + i,
                         k_panel(ids.a[static_cast<std::size_t>(i)] + tile % shape_.slots, 0,
                                 (block_row + rows.first) * map_.m_ct, rows.count * map_.m_ct,
                                 problem_.a, share));
        }
    }

    void write(const std::vector<Transfer>& transfers) {
        for (const Transfer& transfer : transfers) {
            steps_.push_back(program::WriteDescriptor{transfer.channel.tile, transfer.descriptor});
        }
    }

    // Each descriptor is written just before its task is pushed where it has not been already.
    void start(const std::vector<Transfer>& transfers, bool write_first) {
        for (const Transfer& transfer : transfers) {
            if (write_first) {
                write({transfer});
            }
            steps_.push_back(
                program::PushTask{transfer.channel, {transfer.descriptor.id, 1, transfer.token}});
        }
    }

    // The C tiles rows send as packets: a task takes one of each row.
    void expect_packets() {
        for (const PacketChannel& each : packet_channels_) {
            steps_.push_back(program::PushTask{each.channel,
                                               {each.first_descriptor, each.packets, false, true}});
        }
    }

    void wait_for_output_tile() {
        for (std::int64_t column = 0; column < shape_.columns; ++column) {
            for (std::int64_t i = 0; i < shape_.c_out; ++i) {
                steps_.push_back(program::WaitToken{
                    {{column, 0}, program::Direction::S2MM, shape_.c_shim_channel() + i}});
            }
        }
    }

    const LoweredGemm& lowered_;
    const ArrayShape& shape_;
    const GemmProblem& problem_;
    const OutputStationaryMapping& map_;
    const std::vector<PacketChannel>& packet_channels_;
    std::vector<program::SequenceOp>& steps_;
    std::vector<FirstIds> first_ids_;  // by column
};

}  // namespace

void add_sequence(LoweredGemm& lowered, const GemmProblem& problem,
                  const OutputStationaryMapping& map, const NpuConfig& config,
                  const std::vector<std::int64_t>& go_locks,
                  const std::vector<PacketChannel>& packet_channels) {
    Sequence sequence(lowered, problem, map, config, packet_channels);
    sequence.start_cores(go_locks);
    sequence.move_tiles();
}

}  // namespace tilesim::workloads::npu::output_stationary
