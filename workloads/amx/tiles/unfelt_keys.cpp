#include "workloads/amx/tiles/unfelt_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "arch/amx/program/tile_config.hpp"
#include "arch/base/limit.hpp"
#include "arch/base/units.hpp"
#include "workloads/amx/tiles/amx_layout.hpp"
#include "workloads/amx/tiles/whole_socket.hpp"

namespace tilesim::workloads::amx::tiles {

using arch::amx::program::kMaxRows;
using arch::base::ceil_div;

namespace {

using Map = AmxMapping;

// Tiles that one thread has at most, those that are padded included; all of K.
struct MostTiles {
    std::int64_t m = 0, n = 0, k = 0;
};

// Of `tiles`, where `shares` share out blocks of so many.
std::int64_t most_of(std::int64_t tiles, std::int64_t block, std::int64_t shares) {
    return std::min(tiles, ceil_div(ceil_div(tiles, block), shares) * block);
}

MostTiles most_of(const GemmProblem& gemm, const Map& map, std::int64_t down, std::int64_t across) {
    return {most_of(ceil_div(gemm.m, kMaxRows), map.m_acc, down),
            most_of(ceil_div(gemm.n, kMaxRows), map.n_acc, across),
            ceil_div(gemm.k, k_tile_of(gemm))};
}

// A product, or a convolution's that its loops over rows and taps are around.
struct Shared {
    GemmProblem gemm;
    MostTiles most;
    bool alone = true;  // no loops around it
};

Shared shared(const GemmProblem& gemm, const Map& map) {
    const std::int64_t across = map.partition == Map::Partition::N    ? map.threads
                                : map.partition == Map::Partition::MN ? shares_of_n(gemm, map)
                                                                      : 1;
    const std::int64_t down = map.partition == Map::Partition::M    ? map.threads
                              : map.partition == Map::Partition::MN ? map.threads / across
                                                                    : 1;
    return {gemm, most_of(gemm, map, down, across)};
}

Shared shared(const ConvolutionProblem& conv, const Map& map) {
    const bool joined = map.output_rows == Map::OutputRows::Joined;
    const MostTiles most = shared(shared_shape(conv, map), shared_mapping(conv, map)).most;
    const GemmProblem gemm = tap_shape(conv, map);
    const MostTiles whole = most_of(gemm, map, 1, 1);
    // Threads share out output rows, where there are some, and leave them whole.
    const bool rows = !joined && conv.height > 1;
    return {gemm, {rows ? whole.m : std::min(whole.m, most.m), most.n, whole.k}, false};
}

class Unfelt {
  public:
    Unfelt(const Shared& shared, const Map& map, bool functional)
        : gemm_(shared.gemm),
          most_(shared.most),
          no_loops_around_(shared.alone),
          map_(map),
          functional_(functional),
          keys_("mapping.amx.", map) {}

    std::vector<UnfeltKey> all() {
        find_threads();
        find_prefetches();
        find_layouts();
        find_weights();
        find_loops();
        find_cache_blocks();
        find_values();
        return keys_.take();
    }

  private:
    void find_threads() {
        if (map_.threads == 1) {
            keys_.add("partition", &Map::partition, "there is one thread");
        }
        if (map_.partition != Map::Partition::MN || map_.threads == 1) {
            keys_.add("threads_n", &Map::threads_n,
                      map_.threads == 1 ? "there is one thread" : "it is for partition: mn");
        }
    }

    void find_prefetches() {
        if (map_.prefetch_a == 0 && map_.prefetch_b == 0) {
            keys_.add("prefetch_to", &Map::prefetch_l1,
                      "it is of prefetch_a and prefetch_b, which are 0");
        }
        if (map_.prefetch_a == 0) {
            keys_.add("prefetch_a_once", &Map::prefetch_a_once, "prefetch_a is 0");
        } else if (one_block_across()) {
            keys_.add("prefetch_a_once", &Map::prefetch_a_once,
                      "no thread has a second block of columns");
        }
        if (!map_.prefetch_next || map_.prefetch_first) {
            return;
        }
        if (map_.order == Map::Order::KInnermost) {
            keys_.add(
                "prefetch_next", &Map::prefetch_next,
                "order: k_innermost has no products of a block side by side to prefetch among");
        } else if (most_.n <= map_.n_acc) {
            keys_.add("prefetch_next", &Map::prefetch_next,
                      "no thread has a second block of columns");
        }
    }

    void find_layouts() {
        if (map_.a_packed) {
            keys_.add("a_padding", &Map::a_padding, "a_packed: on leaves no rows to pad");
        }
        const bool prefetches = map_.prefetch_a > 0 || map_.prefetch_b > 0 || map_.prefetch_next;
        if (map_.data_in == Map::DataIn::Registers && !prefetches && !relaid(gemm_, map_) &&
            !has_post_operations(gemm_)) {
            const char* reason = "data_in: registers neither loads nor stores";
            keys_.add("a_packed", &Map::a_packed, reason);
            keys_.add("c_padding", &Map::c_padding, reason);
            keys_.add("a_nontemporal", &Map::a_nontemporal, reason);
            keys_.add("b_nontemporal", &Map::b_nontemporal, reason);
            if (!map_.a_packed) {
                keys_.add("a_padding", &Map::a_padding, reason);
            }
        }
    }

    void find_weights() {
        if (map_.decompress != Map::Decompress::Interleaved) {
            keys_.add("decompress_steps", &Map::decompress_steps,
                      "it is for decompress: interleaved");
        } else if (arch::base::spares(map_.decompress_steps, most_.k - 1)) {
            keys_.add("decompress_steps", &Map::decompress_steps,
                      fmt::format("K has {} k tiles, {} behind the first", most_.k, most_.k - 1));
        }
        if (map_.b_layout != Map::BLayout::Sparse) {
            keys_.add("density_percent", &Map::density_percent, "it is for b_layout: sparse");
        }
    }

    void find_loops() {
        const bool alone = one_block_across() || one_block_down();
        if (alone && !relaid(gemm_, map_) && !interleaves_post()) {
            keys_.add("outer", &Map::outer,
                      "no thread has both a second block of rows and one of columns");
        }
        if (gemm_.m % kMaxRows == 0 && gemm_.n % kMaxRows == 0) {
            keys_.add("remainder", &Map::remainder, "all tiles are full");
        }
        if (!has_post_operations(gemm_)) {
            const std::string reason = fmt::format(
                "C is {}, as products are added up: no post-operations follow", name_of(gemm_.c));
            keys_.add("post", &Map::post, reason);
            keys_.add("relu", &Map::relu, reason);
        } else if (no_loops_around_ && one_block_across() && one_block_down()) {
            keys_.add("post", &Map::post,
                      "no thread has a second block among whose products "
                      "post-operations could be");
        }
    }

    void find_cache_blocks() {
        if (holds_all(map_.mc, kMaxRows, most_.m)) {
            keys_.add("mc", &Map::mc, "no thread has more rows");
        }
        if (holds_all(map_.nc, kMaxRows, most_.n)) {
            keys_.add("nc", &Map::nc, "no thread has more columns");
        }
        if (holds_all(map_.kc, k_tile_of(gemm_), most_.k)) {
            keys_.add("kc", &Map::kc, "K is not more");
        }
    }

    void find_values() {
        if (gemm_.a == DataType::Int8 && functional_) {
            return;
        }
        const std::string reason =
            gemm_.a == DataType::Int8
                ? "products take the same time with and without a sign; functional mode heeds it"
                : fmt::format("it is for products of int8, not of {}", name_of(gemm_.a));
        keys_.add("a_signed", &Map::a_signed, reason);
        keys_.add("b_signed", &Map::b_signed, reason);
    }

    bool interleaves_post() const {
        return has_post_operations(gemm_) && map_.post == Map::Post::Interleaved;
    }
    // Smaller last tiles are a block of their own.
    bool one_block(std::int64_t elements, std::int64_t tiles, std::int64_t block) const {
        return tiles <= block &&
               (map_.remainder == Map::Remainder::Pad || elements % kMaxRows == 0);
    }
    bool one_block_down() const { return one_block(gemm_.m, most_.m, map_.m_acc); }
    bool one_block_across() const { return one_block(gemm_.n, most_.n, map_.n_acc); }

    static bool holds_all(std::int64_t cache_block, std::int64_t tile, std::int64_t tiles) {
        return arch::base::spares(cache_block, tiles * tile);
    }

    const GemmProblem& gemm_;
    const MostTiles& most_;
    const bool no_loops_around_;
    const Map& map_;
    const bool functional_;
    UnfeltKeys<Map> keys_;
};

std::vector<std::string> replaced(const Shared& shared, const Map& map) {
    std::vector<std::string> sentences;
    const auto cache_block = [&](const char* key, std::int64_t given, std::int64_t tile) {
        const std::int64_t taken = std::max<std::int64_t>(given / tile, 1) * tile;
        if (given > 0 && taken != given) {
            sentences.push_back(
                fmt::format("mapping.amx.{}: {} is no multiple of a tile's {}: {} are taken", key,
                            given, tile, taken));
        }
    };
    cache_block("mc", map.mc, kMaxRows);
    cache_block("nc", map.nc, kMaxRows);
    cache_block("kc", map.kc, k_tile_of(shared.gemm));
    const auto block = [&](const char* key, std::int64_t given, std::int64_t most) {
        if (given > most) {
            sentences.push_back(fmt::format(
                "mapping.amx.{}: {} tiles are more than the {} of a thread", key, given, most));
        }
    };
    block("m_acc", map.m_acc, shared.most.m);
    block("n_acc", map.n_acc, shared.most.n);
    return sentences;
}

}  // namespace

std::vector<UnfeltKey> unfelt_keys(const GemmProblem& gemm, const Map& map, bool functional) {
    const Shared each_thread = shared(gemm, map);
    UnfeltKeys<GemmProblem> of_problem("workload.gemm.", gemm);
    of_problem.add("b_layout", &GemmProblem::b_column_major,
                   "how B lies on AMX cores mapping.amx.b_layout says");
    return together(Unfelt(each_thread, map, functional).all(), of_problem.take());
}

std::vector<UnfeltKey> unfelt_keys(const ConvolutionProblem& conv, const Map& map,
                                   bool functional) {
    const Shared each_thread = shared(conv, map);
    return Unfelt(each_thread, map, functional).all();
}

std::vector<std::string> replaced_sizes(const GemmProblem& gemm, const Map& map) {
    return replaced(shared(gemm, map), map);
}

std::vector<std::string> replaced_sizes(const ConvolutionProblem& conv, const Map& map) {
    return replaced(shared(conv, map), map);
}

}  // namespace tilesim::workloads::amx::tiles
