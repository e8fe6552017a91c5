#include "workloads/amx/tiles/block_shapes.hpp"

#include <algorithm>
#include <utility>

#include "arch/amx/program/tile_config.hpp"
#include "arch/base/data_type.hpp"
#include "arch/base/units.hpp"
#include "workloads/amx/tiles/whole_socket.hpp"

namespace tilesim::workloads::amx::tiles {

using arch::amx::AmxConfig;
using arch::amx::program::kMaxRows;
using arch::base::ceil_div;
using arch::memory::device::MemoryConfig;
using DataIn = AmxMapping::DataIn;

namespace {

// Tiles that a block of the shape loads for each of its products.
double loads_of(const BlockShape& shape) {
    return static_cast<double>(shape.m_acc + shape.n_acc) /
           static_cast<double>(shape.m_acc * shape.n_acc);
}

// What a core does with a block of accumulators, k tile after k tile: of f32 each is three parts of
// A and of B, which make six products.
class BlockOfTiles {
  public:
    BlockOfTiles(const GemmProblem& gemm, const AmxMapping& map, const AmxConfig& socket)
        : parts_(gemm.a == DataType::F32 ? 3 : 1),
          panels_(decompresses(gemm, map) && gemm.m > map.m_acc * kMaxRows),
          ring_(decompresses(gemm, map) && !panels_),
          cuts_k_(!has_post_operations(gemm) && !decompresses(gemm, map)),
          m_acc_(map.m_acc),
          n_acc_(map.n_acc),
          k_tiles_(ceil_div(gemm.k, k_tile_of(gemm))),
          rows_of_a_(std::min<std::int64_t>(gemm.m, kMaxRows)),
          l1_bytes_(socket.caches.l1.size.count()),
          nontemporal_line_(static_cast<double>(socket.access.nontemporal_line.count())) {
        const BusiestShare share = busiest_share(gemm, map, shares_of_n(gemm, map));
        rows_ = share.m / kMaxRows;
        columns_ = share.n / kMaxRows;
        most_k_tiles_ = most_k_tiles(gemm, socket.caches.l2.size.count() / 2);
    }

    std::int64_t k_tiles() const { return k_tiles_; }
    std::int64_t parts() const { return parts_; }
    // Of a tile of C and a k tile.
    double product_cycles() const {
        constexpr double kProduct = 16;
        return static_cast<double>(parts_ > 1 ? 6 : 1) * kProduct;
    }

    // Cycles in which so many tiles down and across are multiplied in blocks, those of the last
    // ones as they are: of a k tile, whose A is loaded for each block of columns and B for each of
    // rows, and in which C is loaded and stored for every block of k but one.
    double load_cycles(const L1Use& use, std::int64_t rows, std::int64_t columns) const {
        constexpr double kLineOfC = 4.5;  // out of the L2, and back
        const bool a_near = columns_ > n_acc_ && a_stays(use);
        const bool b_near =
            ring_ || ((panels_ || rows_ > m_acc_) && (b_stays(use) || a_stays(use)));
        const double far_a = use.a_nontemporal ? std::max(kFromL2, nontemporal_line_) : kFromL2;
        const auto moved = static_cast<double>((ceil_div(k_tiles_, use.k_tiles) - 1) * rows *
                                               columns * rows_of_a_);
        return static_cast<double>(rows * ceil_div(columns, n_acc_) * rows_of_a_) *
                   line(a_near ? kFromL1 : far_a) +
               static_cast<double>(columns * ceil_div(rows, m_acc_) * kMaxRows) *
                   line(b_near ? kFromL1 : kFromL2) +
               moved * kLineOfC / static_cast<double>(k_tiles_);
    }

    // Cycles in which the lines of a tile that is decompressed in front of its products leave the
    // L1 before these come to it.
    double spill_cycles(const L1Use& use) const {
        constexpr double kLineToL2 = 3;
        return panels_ && !b_stays(use) ? static_cast<double>(kMaxRows) * kLineToL2 : 0;
    }

    // With which the loads hold the products up least: as much of k as may be, or so that tiles are
    // still in the L1 when they are read again, B's by the next block of rows, A's by that of
    // columns. The first block of columns waits for memory anyhow.
    L1Use best_use() const {
        L1Use best{most_k_tiles_, false};
        const bool read_again = columns_ > n_acc_;
        for (const bool nontemporal : {false, true}) {
            for (const std::int64_t staying : {most_k_tiles_, most_of(kOfB, m_acc_, nontemporal),
                                               most_of(kOfBoth, rows_, nontemporal)}) {
                const L1Use use{
                    cuts_k_ ? std::clamp<std::int64_t>(staying, 1, most_k_tiles_) : k_tiles_,
                    nontemporal};
                if ((read_again || panels_) && cycles(use) < cycles(best)) {
                    best = use;
                }
            }
        }
        return best;
    }

  private:
    static constexpr std::int64_t kLine = 64;
    static constexpr double kFromL2 = 1 / 0.75;  // cycles of a line at 48 B/cycle
    static constexpr double kFromL1 = 0.75;      // of two a cycle, had no others to be put there

    // Of three parts each is read twice.
    double line(double cycles) const {
        return (cycles + (parts_ > 1 ? kFromL1 : 0)) * static_cast<double>(parts_);
    }

    // Of a block of k. Each block of columns reads a core's rows of A again: they, its own columns
    // and those prefetched stay in half of the L2. Of one block of columns nothing is read again.
    // Of one block of rows lines of C, which nothing prefetches, come while the next block of k
    // multiplies: of several tiles of C at a time they are more, and pay sooner.
    std::int64_t most_k_tiles(const GemmProblem& gemm, std::int64_t half_l2) const {
        // Bytes of a row: shorter ones move C too often.
        constexpr std::int64_t kLeast = 1024;
        constexpr std::int64_t kLeastOfSeveral = 704;
        const bool one_block_of_rows = rows_ <= m_acc_;
        const bool one_block_of_columns = columns_ <= n_acc_;
        if (!cuts_k_ || (one_block_of_columns && !one_block_of_rows)) {
            return k_tiles_;
        }
        const std::int64_t most =
            !one_block_of_rows    ? std::max(half_l2 / ((rows_ + 2 * n_acc_) * kMaxRows), kLeast)
            : m_acc_ * n_acc_ > 1 ? kLeastOfSeveral
                                  : kLeast;
        return std::clamp<std::int64_t>(most / bytes_of(gemm.a) / k_tile_of(gemm), 1, k_tiles_);
    }
    // Of a k tile: a block's tiles of B and so many of A.
    std::int64_t bytes_beside_b(std::int64_t tiles_of_a, bool a_nontemporal) const {
        return (n_acc_ * kMaxRows + (a_nontemporal ? 0 : tiles_of_a * rows_of_a_)) * parts_ * kLine;
    }
    // Percent of the L1 in which tiles stay: B's while other rows of A pass through it and displace
    // some by chance, or both, when nothing passes but C.
    static constexpr std::int64_t kOfB = 75;
    static constexpr std::int64_t kOfBoth = 87;
    // K tiles of a block of k, of which so many of A are to stay beside B's.
    std::int64_t most_of(std::int64_t percent, std::int64_t tiles_of_a, bool a_nontemporal) const {
        return l1_bytes_ * percent / 100 / bytes_beside_b(tiles_of_a, a_nontemporal);
    }
    // A block's tiles of B while the next block of rows brings its own of A.
    bool b_stays(const L1Use& use) const {
        return use.k_tiles <= most_of(kOfB, m_acc_, use.a_nontemporal);
    }
    // A core's rows of A.
    bool a_stays(const L1Use& use) const {
        return !use.a_nontemporal && use.k_tiles <= most_of(kOfBoth, rows_, false);
    }
    double cycles(const L1Use& use) const {
        const auto row_blocks = static_cast<double>(std::max<std::int64_t>(rows_ / m_acc_, 1));
        return std::max(static_cast<double>(m_acc_ * n_acc_) * product_cycles(),
                        load_cycles(use, m_acc_, n_acc_)) +
               static_cast<double>(n_acc_) * spill_cycles(use) / row_blocks;
    }

    std::int64_t parts_;
    bool panels_, ring_;  // compressed B in front of its products, or among them
    bool cuts_k_;
    std::int64_t m_acc_, n_acc_, k_tiles_;
    std::int64_t most_k_tiles_ = 0;  // of a block of k
    std::int64_t rows_of_a_;         // of a tile
    std::int64_t l1_bytes_;
    double nontemporal_line_;
    std::int64_t rows_ = 0, columns_ = 0;  // of tiles, of the core
};

// Cycles of ports or of stores in which AVX-512 makes a tile of compressed B; 0: it is not.
double decompression_cycles(const GemmProblem& gemm) {
    constexpr double kTileOfBf16 = 72;
    constexpr double kTileOfInt8 = 16;  // a line a cycle
    if (!decompresses(gemm, AmxMapping{})) {
        return 0;
    }
    return gemm.b == DataType::Int4 ? kTileOfInt8 : kTileOfBf16;
}

// By which a line of A comes later for every core that reads it, too: its slice of the L3 gives it
// to one after the other, beneath as many others as a core has under way.
double cycles_of_a_sharer(const AmxConfig& socket) {
    constexpr double kLine = 64;
    const double uncore_cycle = static_cast<double>(socket.clock.count()) /
                                static_cast<double>(socket.uncore.clock.count());
    return kLine / static_cast<double>(socket.uncore.link_width.count()) * uncore_cycle /
           static_cast<double>(socket.caches.l2_outstanding);
}

// What a line costs that is as far away as the operands are at the start: its latency, beneath as
// many others as the core has under way meanwhile. Cycles.
struct LineCycles {
    double of_a = 0;        // prefetched a few k tiles ahead
    double of_first_b = 0;  // prefetched in front of everything, where nothing hides it
    double of_next_b = 0;   // prefetched a block ahead
    double of_c = 0;        // prefetched by nobody
    // What each run of lines of a row of C costs besides: other rows of its bank lie between.
    double of_run = 0;
};

double latency_of(const AmxConfig& socket, const MemoryConfig& memory, DataIn data_in) {
    const auto cycles = [&socket](double ns) {
        return ns * static_cast<double>(socket.clock.count()) / arch::base::kNanosecondsPerSecond;
    };
    double ns = 0;
    if (data_in == DataIn::L3 || data_in == DataIn::Memory) {
        ns += arch::base::ns_of(socket.uncore.lookup + socket.uncore.answer);
    }
    if (data_in == DataIn::Memory) {
        const auto& timing = memory.timing;
        ns += arch::base::ns_of(socket.uncore.to_memory) +
              arch::base::ns_of(timing.tRCD + timing.read_latency + timing.burst, memory.clock);
    }
    return static_cast<double>(socket.caches.l2_latency.count()) + cycles(ns);
}

// How many lines hide each other: with which shapes of products drawn at random stand most nearly
// in the order of their simulated times.
LineCycles line_cycles(const AmxConfig& socket, const MemoryConfig& memory, DataIn data_in) {
    constexpr double kOfFirstB = 1.5;
    constexpr double kOfNextB = 0.5;
    constexpr double kOfC = 1 / 1.5;
    const double latency = latency_of(socket, memory, data_in);
    const double beneath_misses = latency / static_cast<double>(socket.caches.l2_outstanding);
    const auto buffers = static_cast<double>(socket.caches.fill_buffers);
    LineCycles line{beneath_misses, kOfFirstB * beneath_misses, kOfNextB * beneath_misses,
                    kOfC * latency / buffers, 0};
    if (data_in == DataIn::Memory) {
        line.of_run = static_cast<double>((memory.timing.tRP + memory.timing.tRCD).count()) *
                      static_cast<double>(socket.clock.count()) /
                      static_cast<double>(memory.clock.count()) / buffers;
    }
    return line;
}

// Cycles of a k tile on the busiest core: TMUL's while lines come from far away, or those of the
// loads, beneath which a quarter of these lines come, and a tenth of what is less. Lines of B's
// other blocks were prefetched a block ahead, those of the first in front of everything, where
// nothing hides them, A's few k tiles ahead, by all cores that share its rows at the same time. Of
// f32 nothing prefetches B's. Neither does anything C's, which are read, too, before they are
// written: the fewer k tiles there are, the more of them for each; and the narrower the blocks, the
// more often another row of DRAM is opened for them. Compressed B is decompressed once for all rows
// of a core, in front of their products; where one block has them all, among them.
double expected_cycles(const GemmProblem& gemm, const BlockShape& shape, const AmxConfig& socket,
                       const LineCycles& line) {
    constexpr double kExposed = 0.75;
    constexpr double kBeside = 0.1;
    constexpr double kLine = 64;
    AmxMapping map;
    map.m_acc = shape.m_acc;
    map.n_acc = shape.n_acc;
    map.partition = AmxMapping::Partition::MN;
    map.threads = threads_for(gemm, shape, socket.cores);
    const std::int64_t across = shares_of_n(gemm, map);
    const BusiestShare share = busiest_share(gemm, map, across);
    const BlockOfTiles block(gemm, map, socket);
    // Nobody has more than there are, in blocks that are not whole.
    const std::int64_t down = std::min(share.m / kMaxRows, ceil_div(gemm.m, kMaxRows));
    const std::int64_t wide = std::min(share.n / kMaxRows, ceil_div(gemm.n, kMaxRows));
    const std::int64_t rows = gemm.m < kMaxRows ? gemm.m : down * kMaxRows;  // few: not padded
    const double c_lines = static_cast<double>(rows * wide * kMaxRows * bytes_of(gemm.c)) / kLine;
    const auto runs = static_cast<double>(rows * ceil_div(wide, shape.n_acc));
    const L1Use use = block.best_use();
    const double decompression =
        (decompression_cycles(gemm) + block.spill_cycles(use)) * static_cast<double>(wide);
    const bool among_products = gemm.m <= shape.m_acc * kMaxRows;
    const double share_of_bytes = decompression > 0 ? 0.5 : 1;  // of a line of B
    const std::int64_t first = std::min(wide, shape.n_acc);
    const double lines_of_b =
        static_cast<double>(kMaxRows) *
        (gemm.a == DataType::F32 ? line.of_c * static_cast<double>(wide)
                                 : line.of_first_b * static_cast<double>(first) +
                                       line.of_next_b * static_cast<double>(wide - first));
    const double line_of_a = line.of_a + cycles_of_a_sharer(socket) * static_cast<double>(across);
    const double far =
        static_cast<double>(block.parts()) *
            (line_of_a * static_cast<double>(rows) + share_of_bytes * lines_of_b) +
        (line.of_c * c_lines + line.of_run * runs) / static_cast<double>(block.k_tiles());
    const double products = static_cast<double>(down * wide) * block.product_cycles() + far;
    const double loads = block.load_cycles(use, down, wide) + kExposed * far;
    const double multiplies = std::max(products, loads) + kBeside * std::min(products, loads);
    return among_products ? std::max(multiplies, decompression + kExposed * far)
                          : multiplies + decompression;
}

}  // namespace

bool fits(const BlockShape& shape, const GemmProblem& gemm) {
    return shape.m_acc <= ceil_div(gemm.m, kMaxRows) && shape.n_acc <= ceil_div(gemm.n, kMaxRows);
}

std::int64_t threads_for(const GemmProblem& gemm, const BlockShape& shape, std::int64_t cores) {
    return std::min(
        cores, ceil_div(gemm.m, shape.m_acc * kMaxRows) * ceil_div(gemm.n, shape.n_acc * kMaxRows));
}

L1Use use_of_l1(const GemmProblem& gemm, const AmxMapping& map, const AmxConfig& socket) {
    return BlockOfTiles(gemm, map, socket).best_use();
}

std::vector<BlockShape> shapes_by_expectation(const GemmProblem& gemm, const AmxConfig& socket,
                                              const MemoryConfig& memory, DataIn data_in) {
    std::vector<BlockShape> shapes{{2, 2}, {1, 4}, {4, 1}, {1, 3}, {3, 1}, {1, 2}, {2, 1}, {1, 1}};
    std::erase_if(shapes, [&](const BlockShape& shape) { return !fits(shape, gemm); });
    const LineCycles line = line_cycles(socket, memory, data_in);
    const auto order = [&](const BlockShape& shape) {
        return std::pair{expected_cycles(gemm, shape, socket, line), loads_of(shape)};
    };
    std::stable_sort(shapes.begin(), shapes.end(),
                     [&](const BlockShape& a, const BlockShape& b) { return order(a) < order(b); });
    return shapes;
}

}  // namespace tilesim::workloads::amx::tiles
