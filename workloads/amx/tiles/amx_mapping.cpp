#include "workloads/amx/tiles/amx_mapping.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "arch/amx/program/tile_config.hpp"
#include "arch/base/name_table.hpp"
#include "arch/base/units.hpp"

namespace tilesim::workloads::amx::tiles {

namespace {

using Map = AmxMapping;

constexpr arch::base::NameTable<Map::Order> kOrders{{
    {"reference", Map::Order::Reference},
    {"k_innermost", Map::Order::KInnermost},
    {"preloaded", Map::Order::Preloaded},
    {"switched", Map::Order::Switched},
    {"interleaved", Map::Order::Interleaved},
}};
constexpr arch::base::NameTable<Map::BLayout> kLayouts{{
    {"packed", Map::BLayout::Packed},
    {"vnni", Map::BLayout::Vnni},
    {"row_major", Map::BLayout::RowMajor},
    {"sparse", Map::BLayout::Sparse},
}};
constexpr arch::base::NameTable<Map::DataIn> kLevels{{
    {"registers", Map::DataIn::Registers},
    {"l1", Map::DataIn::L1},
    {"l2", Map::DataIn::L2},
    {"l3", Map::DataIn::L3},
    {"dram", Map::DataIn::Memory},
}};

void read_memory_keys(arch::base::config::Node& node, Map& map) {
    const arch::base::config::Range padding{0, 1 << 16};
    const arch::base::config::Range distance{0, 1024};
    node.optional("b_layout", map.b_layout, kLayouts, "how B lies in memory");
    read_data_in(node, map.data_in);
    node.optional("a_packed", map.a_packed, "A lies in tiles of 1 KiB, in order of k");
    node.optional("a_padding", map.a_padding, padding, "bytes after each row of A");
    node.optional("c_padding", map.c_padding, padding, "bytes after each row of C");
    node.optional("a_nontemporal", map.a_nontemporal, "load A with TILELOADDT1");
    node.optional("b_nontemporal", map.b_nontemporal, "load B with TILELOADDT1");
    node.optional("prefetch_a", map.prefetch_a, distance, "prefetch A so many k steps ahead");
    node.optional("prefetch_a_once", map.prefetch_a_once,
                  "prefetch A with the first block of columns only: the others find it in the L2");
    node.optional("prefetch_b", map.prefetch_b, distance, "prefetch B so many k steps ahead");
    node.optional("prefetch_to", map.prefetch_l1, {{"l1", true}, {"l2", false}},
                  "where prefetches end");
    node.optional(
        "prefetch_next", map.prefetch_next,
        "prefetch B of the next block of columns into the L2, a little behind each product");
    node.optional(
        "prefetch_first", map.prefetch_first,
        "with prefetch_next: B of the first block of columns too, in front of everything");
    node.optional(
        "decompress", map.decompress,
        {{"ahead", Map::Decompress::Ahead}, {"interleaved", Map::Decompress::Interleaved}},
        "compressed B: a block of columns in front of its products, or each k step among "
        "the products of one before");
    node.optional("decompress_steps", map.decompress_steps, {1, 64},
                  "k steps between interleaved decompression and its products; fewer where a block "
                  "has no more");
    node.optional("density_percent", map.density_percent, {1, 100},
                  "bytes of B that are not zero, with sparse weights");
}

}  // namespace

void read_data_in(arch::base::config::Node& node, Map::DataIn& data_in) {
    node.optional("data_in", data_in, kLevels, "where the operands are when the run starts");
}

void read_amx_mapping(arch::base::config::Node& node, AmxMapping& map) {
    const arch::base::config::Range size{0, 1 << 20};
    node.optional("m_acc", map.m_acc, {1, 6}, "accumulator tiles down");
    node.optional("n_acc", map.n_acc, {1, 6}, "accumulator tiles across");
    node.optional("order", map.order, kOrders, "loop order, as examples 20-8 to 20-12");
    read_memory_keys(node, map);
    node.optional("threads", map.threads, {1, 256}, "cores that share the product");
    node.optional("partition", map.partition,
                  {{"m", Map::Partition::M},
                   {"n", Map::Partition::N},
                   {"k", Map::Partition::K},
                   {"mn", Map::Partition::MN}},
                  "the dimension, or two, that are shared out");
    node.optional("threads_n", map.threads_n, {0, 256},
                  "shares of n with partition mn; 0: with which the busiest thread is expected to "
                  "take least for its products and lines, be it that others are left idle");
    node.optional("outer", map.outer, {{"n", Map::Outer::N}, {"m", Map::Outer::M}},
                  "outer loop over blocks of accumulators");
    node.optional("mc", map.mc, size, "rows of a cache block; 0: all");
    node.optional("nc", map.nc, size, "columns of a cache block; 0: all");
    node.optional("kc", map.kc, size, "reduced elements of a cache block; 0: all");
    node.optional("remainder", map.remainder,
                  {{"pad", Map::Remainder::Pad}, {"smaller", Map::Remainder::Smaller}},
                  "rows and columns that fill no tile: padded, or smaller tiles");
    node.optional("output_rows", map.output_rows,
                  {{"apart", Map::OutputRows::Apart}, {"joined", Map::OutputRows::Joined}},
                  "of a convolution: each of whole tiles, or, at stride 1, tiles that run over the "
                  "ends of rows, what lies between two rows computed and stored between them");
    node.optional("post", map.post,
                  {{"fused", Map::Post::Fused}, {"interleaved", Map::Post::Interleaved}},
                  "post-operations: after their block, or among the next one's products");
    node.optional("relu", map.relu,
                  "negative results become zero, where there are post-operations");
    node.optional("a_signed", map.a_signed, "A is signed in products of int8");
    node.optional("b_signed", map.b_signed, "B is signed in products of int8");
    node.optional("repeat", map.repeat, {1, 100'000}, "times the product is computed");
    node.optional("runs", map.runs, {1, 1000},
                  "runs of the whole, one after the other: the last one counts");
    node.done();
}

bool decompresses(const GemmProblem& gemm, const Map& map) {
    return map.b_layout == Map::BLayout::Sparse ||
           (gemm.a == DataType::Bf16 && gemm.b == DataType::Int8) ||
           (gemm.a == DataType::Int8 && gemm.b == DataType::Int4);
}

bool has_post_operations(const GemmProblem& gemm) {
    return gemm.c != (gemm.a == DataType::Int8 ? DataType::Int32 : DataType::F32);
}

std::int64_t registers_of(const Map& map) {
    const std::int64_t accumulators = map.m_acc * map.n_acc;
    switch (map.order) {
        case Map::Order::Reference:
        case Map::Order::KInnermost:
            return accumulators + 2;
        case Map::Order::Switched:
            return accumulators + map.n_acc + 1;
        case Map::Order::Preloaded:
            return accumulators + map.m_acc + 1;
        case Map::Order::Interleaved:
            break;
    }
    // With one column each tile of A is used once: it stays no longer than registers are left.
    const std::int64_t left = arch::amx::program::kTiles - accumulators - 1;
    return accumulators + 1 +
           (map.n_acc == 1 ? std::clamp<std::int64_t>(left, 1, map.m_acc) : map.m_acc);
}

BusiestShare busiest_share(const GemmProblem& gemm, const Map& map, std::int64_t across) {
    const auto extent = [](std::int64_t size, std::int64_t tiles, std::int64_t shares) {
        const std::int64_t width = tiles * arch::amx::program::kMaxRows;
        return arch::base::ceil_div(arch::base::ceil_div(size, width), shares) * width;
    };
    return {extent(gemm.m, map.m_acc, map.threads / across), extent(gemm.n, map.n_acc, across)};
}

namespace {

// What the busiest thread of a grid of m and n has to do, in cycles of a k tile, about.
std::int64_t cycles_of(const GemmProblem& gemm, const Map& map, std::int64_t across,
                       double lines_of_a) {
    const auto [m, n] = busiest_share(gemm, map, across);
    // Of 2 x 2 tiles each product takes sixteen lines at 48 B/cycle, which is more than TMUL's 16.
    // A line of A comes as DRAM gives it to one core, 8 B/cycle; one of B was prefetched, which
    // takes 2 to 4 cycles.
    constexpr std::int64_t kResultsACycle = 12;  // 16 x 16 in 16 lines / (48 B / 64 B)
    constexpr double kLineOfA = 8;
    constexpr std::int64_t kLineOfB = 3;
    const auto cycles_of_a =
        static_cast<std::int64_t>(kLineOfA * lines_of_a * static_cast<double>(m));
    return m * n / kResultsACycle + cycles_of_a + kLineOfB * n;
}

}  // namespace

std::int64_t shares_of_n(const GemmProblem& gemm, const Map& map, double lines_of_a) {
    if (map.threads_n > 0) {
        return map.threads_n;
    }
    std::int64_t best = 1;
    for (std::int64_t across = 2; across <= map.threads; ++across) {
        if (cycles_of(gemm, map, across, lines_of_a) < cycles_of(gemm, map, best, lines_of_a)) {
            best = across;
        }
    }
    return best;
}

std::string name_of(Map::Order order) {
    return std::string{kOrders[order]};
}
std::string name_of(Map::BLayout layout) {
    return std::string{kLayouts[layout]};
}
std::string name_of(Map::DataIn data_in) {
    return std::string{kLevels[data_in]};
}

}  // namespace tilesim::workloads::amx::tiles
