#include "workloads/npu/output_stationary/output_stationary_sequence.hpp"

#include <utility>

#include "workloads/npu/object_fifo.hpp"
#include "workloads/npu/run_time_sequence.hpp"
#include "workloads/npu/stream_route.hpp"
#include "workloads/npu/transfer_length.hpp"

namespace tilesim::workloads::npu::output_stationary {

using namespace arch::npu;

namespace {

constexpr std::int64_t kArgumentC = 2;

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
    Sequence(LoweredGemm& lowered, const GemmView& view, const NpuConfig& config,
             const std::vector<PacketChannel>& packet_channels)
        : lowered_(lowered),
          shape_(lowered.shape),
          view_(view),
          size_(padded(view, config)),
          across_(size_.n / (map_.n_ct * shape_.columns)),
          reach_(reach_steps(view, shape_, config)),
          pace_(pace_of(view, shape_, config)),
          packet_channels_(packet_channels),
          steps_(lowered.program.sequence) {
        for (std::int64_t column = 0; column < shape_.columns; ++column) {
            add_first_ids(config);
        }
    }

    void move_tiles() {
        const bool overlapped =
            map_.shim_bds == OutputStationaryMapping::ShimDescriptors::Overlapped;
        std::int64_t finished = 0;
        const std::int64_t rounds = lowered_.output_tiles / reach_.tiles;
        for (std::int64_t round = 0; round < rounds; ++round) {
            const std::vector<Transfer> transfers = transfers_of(round);
            const bool full = round - finished == pace_.in_flight;
            const bool ahead = full && pace_.ahead;
            if (ahead) {
                write(transfers);
            }
            const std::int64_t wait = !full ? 0 : overlapped ? 1 : pace_.in_flight;
            for (std::int64_t i = 0; i < wait; ++i, ++finished) {
                wait_for_round();
            }
            expect_packets();
            start(transfers, !ahead);
        }
        for (; finished < rounds; ++finished) {
            wait_for_round();
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

    // Blocks are counted through all output tiles, so that each finds its buffer free in turn.
    static Share share_of(std::int64_t stream, std::int64_t streams, std::int64_t tile,
                          std::int64_t blocks) {
        const std::int64_t past = tile * blocks % streams;
        const std::int64_t first = (stream - past + streams) % streams;
        return {first, streams, first < blocks ? (blocks - first - 1) / streams + 1 : 0};
    }

    // A or B of the view.
    struct Operand {
        std::int64_t argument;
        DataType type;
        bool by_k;             // K elements follow each other, else `outer` do
        std::int64_t outer;    // of the matrix, as padded
        std::int64_t block_k;  // elements along K of a block
    };
    Operand a() const {
        return {view_.argument_a(), problem_.a, view_.a_by_k, size_.m, view_.a_block_k};
    }
    Operand b() const {
        return {view_.argument_b(), problem_.b, problem_.b_column_major, size_.n, view_.b_block_k};
    }

    // A panel of `count` rows or columns of K elements as a sequence of count x block_k blocks.
    program::BufferDescriptor panel(std::int64_t id, const Operand& of, std::int64_t first,
                                    std::int64_t count, const Share& share) const {
        if (of.by_k) {
            const std::int64_t k = whole_words(size_.k, of.type);
            const std::int64_t block = whole_words(of.block_k, of.type);
            return shim_descriptor(id, of.argument, first * k + share.first * block,
                                   count * block * share.count,
                                   {{block, 1}, {count, k}, {share.count, share.step * block}});
        }
        const std::int64_t pitch = whole_words(of.outer, of.type);
        const std::int64_t run = whole_words(count, of.type);
        const std::int64_t block = of.block_k * pitch;
        return shim_descriptor(id, of.argument, whole_words(first, of.type) + share.first * block,
                               of.block_k * share.count * run,
                               {{run, 1}, {of.block_k, pitch}, {share.count, share.step * block}});
    }

    // What the cores of a span of rows, of one column, have of C: one core's tile after the other,
    // or a line of all of them after the other.
    program::BufferDescriptor c_tiles(std::int64_t id, std::int64_t first_row, std::int64_t rows,
                                      std::int64_t first_column) const {
        const std::int64_t row = first_row * map_.m_ct;
        if (!view_.c_by_columns) {
            const std::int64_t n = whole_words(size_.n, problem_.c);
            const std::int64_t run = whole_words(map_.n_ct, problem_.c);
            return shim_descriptor(id, kArgumentC, row * n + whole_words(first_column, problem_.c),
                                   rows * map_.m_ct * run, {{run, 1}, {rows * map_.m_ct, n}});
        }
        const std::int64_t m = whole_words(size_.m, problem_.c);
        const std::int64_t run = whole_words(map_.m_ct, problem_.c);
        const std::int64_t offset = first_column * m + whole_words(row, problem_.c);
        const std::int64_t length = rows * map_.n_ct * run;
        return map_.c_by_line ? shim_descriptor(id, kArgumentC, offset, length,
                                                {{rows * run, 1}, {map_.n_ct, m}})
                              : shim_descriptor(id, kArgumentC, offset, length,
                                                {{run, 1}, {map_.n_ct, m}, {rows, run}});
    }

    // `step`: words from one run of a descriptor that reaches over several output tiles to the
    // next.
    void add_transfer(std::vector<Transfer>& transfers, std::int64_t column,
                      program::Direction direction, std::int64_t channel,
                      program::BufferDescriptor descriptor, std::int64_t step) const {
        if (reach_.tiles > 1 && step > 0) {
            descriptor.iteration = program::Iteration{reach_.tiles, step, 0};
        }
        if (descriptor.length > 0) {  // fewer blocks than streams leave one without
            transfers.push_back({{shape_.tile(column, 0), direction, channel},
                                 std::move(descriptor),
                                 direction == program::Direction::S2MM});
        }
    }

    // The transfers of one output tile of every core, or of a row of them, column by column.
    std::vector<Transfer> transfers_of(std::int64_t round) const {
        const std::int64_t slot = round % shape_.slots;
        const std::int64_t tile = round * reach_.tiles;
        const std::int64_t block_row = tile / across_ * shape_.rows;
        const std::int64_t block_column = tile % across_ * shape_.columns;
        std::vector<Transfer> transfers;
        for (std::int64_t column = 0; column < shape_.columns; ++column) {
            const FirstIds& ids = first_ids_[static_cast<std::size_t>(column)];
            const std::int64_t first_column = (block_column + column) * map_.n_ct;
            add_a(transfers, column, round, block_row, ids);
            for (std::int64_t i = 0; i < shape_.b_in; ++i) {
                add_transfer(
                    transfers, column, program::Direction::MM2S, shape_.b_shim_channel() + i,
                    panel(ids.b[static_cast<std::size_t>(i)] + slot, b(), first_column, map_.n_ct,
                          share_of(i, shape_.b_in, tile, size_.k / view_.b_block_k)),
                    reach_.b);
            }
            for (std::int64_t i = 0; i < shape_.c_out; ++i) {
                const RowSpan rows = shape_.rows_out(i);
                add_transfer(transfers, column, program::Direction::S2MM,
                             shape_.c_shim_channel() + i,
                             c_tiles(ids.c[static_cast<std::size_t>(i)] + slot,
                                     block_row + rows.first, rows.count, first_column),
                             reach_.c);
            }
        }
        return transfers;
    }

    void add_a(std::vector<Transfer>& transfers, std::int64_t column, std::int64_t round,
               std::int64_t block_row, const FirstIds& ids) const {
        const RowSpan held = shape_.rows_of_a(column);
        const std::int64_t streams = held.count == 0 ? 0 : shape_.a_streams(column, map_);
        const std::int64_t blocks = size_.k / view_.a_block_k;
        for (std::int64_t i = 0; i < streams; ++i) {
            const RowSpan rows = shape_.a_rows_in(column, i, streams);
            const Share share = held.count > 1 ? Share{0, 1, blocks}
                                               : share_of(i, streams, round * reach_.tiles, blocks);
            add_transfer(transfers, column, program::Direction::MM2S, shape_.a_shim_channel() + i,
                         panel(ids.a[static_cast<std::size_t>(i)] + round % shape_.slots, a(),
                               (block_row + rows.first) * map_.m_ct, rows.count * map_.m_ct, share),
                         reach_.a);
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
            steps_.push_back(program::PushTask{
                transfer.channel, {transfer.descriptor.id, reach_.tiles, transfer.token}});
        }
    }

    // The C tiles rows send as packets: a task takes one of each row.
    void expect_packets() {
        for (const PacketChannel& each : packet_channels_) {
            steps_.push_back(program::PushTask{each.channel,
                                               {each.first_descriptor, each.packets, false, true}});
        }
    }

    void wait_for_round() {
        for (std::int64_t column = 0; column < shape_.columns; ++column) {
            for (std::int64_t i = 0; i < shape_.c_out; ++i) {
                steps_.push_back(
                    program::WaitToken{takes(shape_.tile(column, 0), shape_.c_shim_channel() + i)});
            }
        }
    }

    const LoweredGemm& lowered_;
    const ArrayShape& shape_;
    const GemmView& view_;
    const GemmProblem& problem_ = view_.problem;
    const OutputStationaryMapping& map_ = view_.map;
    const PaddedGemm size_;
    const std::int64_t across_;  // output tiles of a row of them
    const ReachSteps reach_;
    const Pace pace_;
    const std::vector<PacketChannel>& packet_channels_;
    std::vector<program::SequenceOp>& steps_;
    std::vector<FirstIds> first_ids_;  // by column
};

}  // namespace

void add_sequence(LoweredGemm& lowered, const GemmView& view, const NpuConfig& config,
                  const std::vector<std::int64_t>& go_locks,
                  const std::vector<PacketChannel>& packet_channels) {
    start_cores(lowered.program, {lowered.calls_per_tile, lowered.output_tiles}, go_locks);
    Sequence sequence(lowered, view, config, packet_channels);
    sequence.move_tiles();
}

}  // namespace tilesim::workloads::npu::output_stationary
