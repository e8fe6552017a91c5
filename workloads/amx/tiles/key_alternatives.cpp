#include "workloads/amx/tiles/key_alternatives.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include "arch/amx/program/tile_config.hpp"
#include "arch/base/units.hpp"
#include "workloads/amx/tiles/block_shapes.hpp"
#include "workloads/amx/tiles/whole_socket.hpp"

namespace tilesim::workloads::amx::tiles {

namespace {

using Map = AmxMapping;
using arch::amx::program::kMaxRows;

class Alternatives {
  public:
    Alternatives(const GemmProblem& gemm, const arch::amx::AmxConfig& socket,
                 const arch::memory::device::MemoryConfig& memory, const Map& mapping)
        : gemm_(gemm),
          socket_(socket),
          memory_(memory),
          from_(mapping),
          k_tiles_(arch::base::ceil_div(gemm.k, k_tile_of(gemm))) {}

    std::vector<std::vector<Map>> all() {
        const bool streams_b = gemm_.m < kMaxRows;  // A is next to nothing
        if (streams_b) {
            prefetches_of_b();
        }
        blocks();
        decompressions();
        key(&Map::post, {Map::Post::Interleaved, Map::Post::Fused}, has_post_operations(gemm_));
        // In front of everything: the more lines, the longer the products wait for them.
        constexpr std::int64_t kManyTiles = 16;
        const bool long_wait = k_tiles_ > kManyTiles;
        if (long_wait) {
            prefetches_of_first_block();
        }
        key(&Map::a_nontemporal, {true, false});
        prefetches_of_a();
        if (!long_wait) {
            prefetches_of_first_block();
        }
        key(&Map::order, {Map::Order::Preloaded, Map::Order::Interleaved, Map::Order::Switched,
                          Map::Order::KInnermost, Map::Order::Reference});
        key(&Map::remainder, {Map::Remainder::Smaller, Map::Remainder::Pad},
            gemm_.m % kMaxRows != 0 || gemm_.n % kMaxRows != 0);
        if (!streams_b) {
            prefetches_of_b();
        }
        key(&Map::b_nontemporal, {true, false});
        layouts();
        key(&Map::c_padding, {0, kLine});
        threads();
        blocks_of_k();
        key(&Map::nc, {0, 128, 256, 512, 1024});
        key(&Map::outer, {Map::Outer::N, Map::Outer::M});
        return std::move(lists_);
    }

  private:
    static constexpr std::int64_t kLine = 64;

    void next_key() { lists_.emplace_back(); }
    void add(const Map& map) {
        if (map != from_) {
            lists_.back().push_back(map);
        }
    }
    template <class Value>
    void values(Value Map::*member, std::initializer_list<std::type_identity_t<Value>> values) {
        for (const Value value : values) {
            Map map = from_;
            map.*member = value;
            add(map);
        }
    }
    template <class Value>
    void key(Value Map::*member, std::initializer_list<std::type_identity_t<Value>> list,
             bool matters = true) {
        next_key();
        if (matters) {
            values(member, list);
        }
    }

    // What is as its own shape asks becomes what the other asks; what is otherwise stays.
    void block(const BlockShape& shape) {
        Map map = from_;
        map.m_acc = shape.m_acc;
        map.n_acc = shape.n_acc;
        const Map own = whole_socket(gemm_, from_.m_acc, from_.n_acc, socket_);
        const Map other = whole_socket(gemm_, shape.m_acc, shape.n_acc, socket_);
        const auto follow = [&](const auto... members) {
            ((map.*members = from_.*members == own.*members ? other.*members : from_.*members),
             ...);
        };
        follow(&Map::order, &Map::kc, &Map::prefetch_a, &Map::decompress, &Map::decompress_steps,
               &Map::a_nontemporal);
        if (from_.partition == own.partition) {
            follow(&Map::threads);
        }
        if (map.decompress == Map::Decompress::Interleaved) {
            map.prefetch_b = 0;  // no tile of B lies ready
        }
        if (registers_of(map) > arch::amx::program::kTiles) {
            map.order = Map::Order::Switched;
        }
        if (registers_of(map) > arch::amx::program::kTiles) {
            map.order = Map::Order::Interleaved;
        }
        add(map);
    }

    // Decompression ahead of the products, whose lines are then prefetched ahead of it, or among
    // them, and so many k steps before them.
    void decompressions() {
        next_key();
        if (!decompresses(gemm_, from_)) {
            return;
        }
        const auto decompress = [&](Map::Decompress place, std::int64_t prefetch_b) {
            Map map = from_;
            map.decompress = place;
            map.prefetch_b = prefetch_b;
            add(map);
        };
        constexpr std::int64_t kLinesAhead = 2;
        if (from_.decompress == Map::Decompress::Interleaved) {
            decompress(Map::Decompress::Ahead, kLinesAhead);
            values(&Map::decompress_steps, {1, 2, 3});
            decompress(Map::Decompress::Ahead, 0);
        } else {
            decompress(Map::Decompress::Interleaved, 0);
        }
    }

    void blocks() {
        next_key();
        std::vector<BlockShape> shapes =
            shapes_by_expectation(gemm_, socket_, memory_, from_.data_in);
        for (const auto& [m, n] : {std::pair{-1, 0}, {1, 0}, {0, -1}, {0, 1}}) {
            const BlockShape beside{from_.m_acc + m, from_.n_acc + n};
            if (std::min(beside.m_acc, beside.n_acc) > 0 && fits(beside, gemm_) &&
                std::find(shapes.begin(), shapes.end(), beside) == shapes.end()) {
                shapes.push_back(beside);
            }
        }
        for (const BlockShape& shape : shapes) {
            block(shape);
        }
    }

    // With the first block of columns and into the L2; then not at all, then into the L1.
    void prefetches_of_a() {
        next_key();
        const auto prefetch = [&](std::int64_t steps, bool once, bool into_l1) {
            Map map = from_;
            map.prefetch_a = steps;
            map.prefetch_a_once = once;
            map.prefetch_l1 = into_l1;
            add(map);
        };
        for (const std::int64_t steps : {std::int64_t{2}, std::int64_t{4}, std::int64_t{8},
                                         std::int64_t{1}, from_.m_acc * k_tiles_}) {
            prefetch(steps, true, false);
        }
        prefetch(0, false, true);
        for (const std::int64_t steps : {1, 2, 4}) {
            prefetch(steps, false, true);
        }
        if (from_.prefetch_a > 0) {
            prefetch(from_.prefetch_a, false, from_.prefetch_l1);
        }
    }

    // In front of everything, a few steps ahead of its products, or not at all.
    void prefetches_of_first_block() {
        constexpr std::int64_t kSteps = 4;
        next_key();
        const auto prefetch = [&](bool next, bool first, std::int64_t steps) {
            Map map = from_;
            map.prefetch_next = next;
            map.prefetch_first = first;
            map.prefetch_b = steps;
            add(map);
        };
        prefetch(true, true, from_.prefetch_b);
        prefetch(true, false, kSteps);
        prefetch(true, false, from_.prefetch_b);
        prefetch(false, false, from_.prefetch_b);
    }

    // Equal parts: one more or less than they are, twice, four times and half as many.
    void blocks_of_k() {
        next_key();
        const std::int64_t tile = k_tile_of(gemm_);
        const std::int64_t part =
            from_.kc == 0 ? k_tiles_ : std::max<std::int64_t>(from_.kc / tile, 1);
        const std::int64_t parts = arch::base::ceil_div(k_tiles_, part);
        for (const std::int64_t other : {parts + 1, parts - 1, 2 * parts, 4 * parts, parts / 2}) {
            if (other < 1 || other > k_tiles_) {
                continue;
            }
            Map map = from_;
            map.kc = other == 1 ? 0 : arch::base::ceil_div(k_tiles_, other) * tile;
            add(map);
        }
    }

    void prefetches_of_b() {
        next_key();
        if (from_.prefetch_b > 0) {
            values(&Map::prefetch_b, {0});
        }
        if (decompresses(gemm_, from_)) {  // lines of the panel, which come ahead of its stores
            values(&Map::prefetch_b, {1, 2, 4, 8});
        } else {
            values(&Map::prefetch_b, {8, 4, 2, 1});
        }
    }

    // Sparse weights stay sparse, compressed ones packed. Packed tiles alone can be fetched ahead.
    void layouts() {
        next_key();
        if (decompresses(gemm_, from_)) {
            return;
        }
        for (const Map::BLayout layout :
             {Map::BLayout::Vnni, Map::BLayout::Packed, Map::BLayout::RowMajor}) {
            Map map = from_;
            map.b_layout = layout;
            map.prefetch_next = layout == Map::BLayout::Packed && gemm_.a != DataType::F32;
            map.prefetch_first = map.prefetch_next && from_.prefetch_first;
            if (layout != from_.b_layout) {
                add(map);
            }
        }
    }

    void threads() {
        next_key();
        if (from_.threads == 1) {
            return;
        }
        if (from_.partition == Map::Partition::MN) {  // the grid, a share of n more or less
            const std::int64_t across = shares_of_n(gemm_, from_);
            values(&Map::threads_n, {across + 1, std::max<std::int64_t>(across - 1, 1)});
        }
        values(&Map::threads, {socket_.cores, socket_.cores / 2, from_.threads / 2});
        values(&Map::partition, {Map::Partition::M, Map::Partition::N, Map::Partition::MN});
    }

    const GemmProblem& gemm_;
    const arch::amx::AmxConfig& socket_;
    const arch::memory::device::MemoryConfig& memory_;
    const Map& from_;
    const std::int64_t k_tiles_;
    std::vector<std::vector<Map>> lists_;
};

}  // namespace

std::vector<std::vector<AmxMapping>> alternatives_of(
    const GemmProblem& gemm, const arch::amx::AmxConfig& socket,
    const arch::memory::device::MemoryConfig& memory, const AmxMapping& mapping) {
    return Alternatives(gemm, socket, memory, mapping).all();
}

}  // namespace tilesim::workloads::amx::tiles
