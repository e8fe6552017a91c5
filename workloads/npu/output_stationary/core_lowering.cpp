#include "workloads/npu/output_stationary/core_lowering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "arch/npu/program/program.hpp"
#include "workloads/npu/object_fifo.hpp"
#include "workloads/npu/output_stationary/output_stationary_kernels.hpp"
#include "workloads/npu/output_stationary/output_stationary_routes.hpp"
#include "workloads/npu/output_stationary/output_stationary_sequence.hpp"
#include "workloads/npu/transfer_length.hpp"

namespace tilesim::workloads::npu::output_stationary {

using namespace arch::npu;

namespace {

class CoreLowering {
  public:
    CoreLowering(LoweredGemm& lowered, const GemmView& view, const MultiplyMode& mode,
                 const NpuConfig& config, const CorePlan& plan, const CPackets& packets)
        : view_(view),
          mode_(mode),
          config_(config),
          plan_(plan),
          packets_(packets),
          shape_(lowered.shape),
          program_(lowered.program) {}

    void add_core(std::int64_t column, std::int64_t row) {
        const program::TileCoordinate tile = shape_.core_tile(column, row);
        const std::string suffix = fmt::format("_{}_{}", tile.column, tile.row);
        const std::int64_t a_words = words_a(map_.m_ct * map_.k_ct);
        const std::int64_t b_words = words_b(map_.k_ct * map_.n_ct);
        const std::int64_t c_words = words_c(map_.m_ct * map_.n_ct);
        const auto fifo = [&](const char* name, const std::vector<std::int64_t>& addresses,
                              std::int64_t words) {
            return add_fifo(program_, name + suffix, places_at(tile, addresses),
                            words * kWordBytes);
        };
        const Fifo a = fifo(view_.name_a(), plan_.a, a_words);
        const Fifo b = fifo(view_.name_b(), plan_.b, b_words);
        const Fifo c = fifo("c", plan_.c, c_words);
        const std::vector<std::int64_t> sums =
            add_buffers(program_, "sum" + suffix, places_at(tile, plan_.sum),
                        whole_words(map_.m_ct * map_.n_ct, DataType::F32) * kWordBytes);
        const std::int64_t go = add_lock(program_, "go" + suffix, tile, 0);
        go_locks_.push_back(go);

        TileRings rings(tile, config_.core_dma);
        rings.add_ring(program::Direction::S2MM, kCoreA,
                       view_.a_by_k ? strips_to_sub_tiles(a_words, map_.m_ct,
                                                          view_.mmul_rows(mode_), problem_.a)
                                    : shaped(a_words, {}),
                       a.filling());
        rings.add_ring(
            program::Direction::S2MM, kCoreB,
            problem_.b_column_major
                ? strips_to_sub_tiles(b_words, map_.n_ct, view_.mmul_columns(mode_), problem_.b)
                : shaped(b_words, {}),
            b.filling());
        rings.add_ring(program::Direction::MM2S, kCoreC, shaped(c_words, {}),
                       emptying(c, column, row));
        program_.dmas.push_back(rings.take());
        const bool swapped = view_.transposed;
        program_.cores.push_back(
            core_program(tile, {swapped ? b : a, swapped ? a : b, c, sums}, go));
    }

    std::vector<std::int64_t> take_go_locks() { return std::move(go_locks_); }

  private:
    std::int64_t words_a(std::int64_t elements) const { return whole_words(elements, problem_.a); }
    std::int64_t words_b(std::int64_t elements) const { return whole_words(elements, problem_.b); }
    std::int64_t words_c(std::int64_t elements) const { return whole_words(elements, problem_.c); }

    // C leaves tile by tile; as packets, each names the next place of its row in the memory tile.
    std::vector<RingEntry> emptying(const Fifo& c, std::int64_t column, std::int64_t row) const {
        const auto place = packets_.descriptors.find({column, row});
        const bool packets = place != packets_.descriptors.end();
        const std::int64_t count = packets ? shape_.joins : map_.c_buffers;
        std::vector<RingEntry> entries;
        for (std::int64_t i = 0; i < count; ++i) {
            RingEntry entry{c.buffers[static_cast<std::size_t>(i % map_.c_buffers)],
                            c.locks.take_full(), c.locks.give_free()};
            if (packets) {
                entry.packet = program::Packet{row, 0, place->second + i};
            }
            entries.push_back(entry);
        }
        return entries;
    }

    // Strips of `outer` x s become sub-tiles of h x s, row-major over sub-tiles.
    program::BufferDescriptor strips_to_sub_tiles(std::int64_t length, std::int64_t outer,
                                                  std::int64_t h, DataType type) const {
        const std::int64_t sub_tile = whole_words(h * mode_.s, type);
        const std::int64_t strips = map_.k_ct / mode_.s;
        return shaped(length, {{sub_tile, 1}, {outer / h, strips * sub_tile}, {strips, sub_tile}});
    }

    // As the kernels know them.
    struct CoreOperands {
        const Fifo& a;
        const Fifo& b;
        const Fifo& c;
        const std::vector<std::int64_t>& sums;
    };

    program::CoreProgram core_program(program::TileCoordinate tile, const CoreOperands& core_data,
                                      std::int64_t go) const {
        constexpr std::int64_t kA = 0, kB = 1, kSums = 2, kZeroed = 3, kCast = 4;
        const auto& [a, b, c, sums] = core_data;
        program::CoreProgram core;
        core.tile = tile;
        core.rotations = {{"a", a.buffers}, {"b", b.buffers}};
        if (map_.sums_apart) {
            core.rotations.push_back({"sums", sums});
            core.rotations.push_back({"zeroed", sums});
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
                      {program::CallOp{kMultiplyKernel, {kA, kB, kSums}, {kA, kB}}},
                      {program::ReleaseOp{a.locks.give_free()}},
                      {program::ReleaseOp{b.locks.give_free()}}};
        program::LoopOp tiles;
        tiles.parameter = kTilesParameter;
        const program::CoreOp zero{program::CallOp{kZeroKernel, {kZeroed}, {kSums, kZeroed}}};
        const program::CoreOp take{program::AcquireOp{c.locks.take_free()}};
        const program::CoreOp give{program::ReleaseOp{c.locks.give_full()}};
        if (map_.sums_apart) {
            tiles.body = {
                zero, {calls}, take, {program::CallOp{kCastKernel, {kSums, kCast}, {kCast}}}, give};
        } else {
            tiles.body = {take, zero, {calls}, give};
        }
        core.script = {{program::AcquireOp{{go, -1}}}, {tiles}};
        return core;
    }

    const GemmView& view_;
    const GemmProblem& problem_ = view_.problem;
    const OutputStationaryMapping& map_ = view_.map;
    const MultiplyMode& mode_;
    const NpuConfig& config_;
    const CorePlan& plan_;
    const CPackets& packets_;
    const ArrayShape& shape_;
    program::Program& program_;
    std::vector<std::int64_t> go_locks_;
};

}  // namespace

std::vector<std::int64_t> add_cores(LoweredGemm& lowered, const GemmView& view,
                                    const MultiplyMode& mode, const NpuConfig& config,
                                    const CorePlan& plan, const CPackets& packets) {
    CoreLowering cores(lowered, view, mode, config, plan, packets);
    for (std::int64_t column = 0; column < lowered.shape.columns; ++column) {
        for (std::int64_t row = 0; row < lowered.shape.rows; ++row) {
            cores.add_core(column, row);
        }
    }
    return cores.take_go_locks();
}

}  // namespace tilesim::workloads::npu::output_stationary
