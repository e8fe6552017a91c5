#include "workloads/amx/tiles/amx_kernel.hpp"

#include <algorithm>

#include "arch/amx/program/tile_config.hpp"
#include "arch/base/units.hpp"

namespace tilesim::workloads::amx::tiles {

using arch::amx::program::Address;
using arch::amx::program::kMaxRows;
using arch::amx::program::kRowBytes;
using arch::amx::program::Opcode;
using arch::amx::program::Program;

namespace {

constexpr std::size_t kMostUnrolled = 300'000;  // statements of interleaved post-operations

class Generator {
  public:
    Generator(Program& program, const TileProblem& problem, const AmxMapping& mapping)
        : loops_(program),
          writer_(program, loops_, problem, mapping),
          program_(program),
          problem_(problem),
          map_(mapping),
          all_unrolled_(interleaves_post() && statements_unrolled() < kMostUnrolled) {}

    void all(const std::function<void()>& finish) {
        writer_.begin();
        if (map_.prefetch_first) {
            writer_.first_prefetches();
        }
        if (map_.repeat > 1) {
            program_.open_loop("repeat", map_.repeat);
        }
        loops_.set_unroll(all_unrolled_);
        loops_.loop("g", problem_.row_groups, [&](const Address& group) {
            AccumulatorBlock block;
            block.group = group;
            column_blocks(block);
        });
        writer_.finish_rows();
        finish();
        if (map_.repeat > 1) {
            program_.close_loop();
        }
        writer_.end();
    }

  private:
    // Parts of `tiles` tiles from `start`: as many of `width` as fit, then the rest.
    void parts(const std::string& name, const Address& start, std::int64_t tiles,
               std::int64_t width, const std::function<void(const Address&, std::int64_t)>& body) {
        width = std::min(width <= 0 ? tiles : width, tiles);
        if (tiles == 0) {
            return;
        }
        loops_.loop(name, tiles / width,
                    [&](const Address& i) { body(sum(start, i, width), width); });
        if (tiles % width != 0) {
            body(start.plus(tiles / width * width), tiles % width);
        }
    }

    // The same along n; each is told how many tiles the one after it has, the last one of them
    // `behind`. Where these are prefetched or decompressed, one that has another than most of them
    // stands apart.
    void columns_in_order(
        const std::string& name, const Address& start, std::int64_t tiles, std::int64_t width,
        std::int64_t behind,
        const std::function<void(const Address&, std::int64_t, std::int64_t)>& body) {
        width = std::min(width <= 0 ? tiles : width, tiles);
        if (tiles == 0) {
            return;
        }
        const std::int64_t whole = tiles / width;
        const std::int64_t rest = tiles % width;
        const std::int64_t behind_whole = rest > 0 ? rest : behind;
        const bool prepares_next = !problem_.next.empty() || problem_.slots > 0;
        const bool apart = prepares_next && behind_whole != width;
        loops_.loop(name, whole - (apart ? 1 : 0),
                    [&](const Address& i) { body(sum(start, i, width), width, width); });
        if (apart) {
            body(start.plus((whole - 1) * width), width, behind_whole);
        }
        if (rest > 0) {
            body(start.plus(whole * width), rest, behind);
        }
    }

    // As that, the first one apart where A is prefetched with it only; `body` is told whether A is.
    void columns_prefetching_a(
        const std::string& name, const Address& start, std::int64_t tiles, std::int64_t width,
        std::int64_t behind, bool prefetches_a,
        const std::function<void(const Address&, std::int64_t, std::int64_t, bool)>& body) {
        width = std::min(width <= 0 ? tiles : width, tiles);
        const std::int64_t apart = prefetches_a && prefetches_a_once() ? width : 0;
        const std::int64_t left = tiles - apart;
        if (apart > 0) {
            body(start, apart, left > 0 ? std::min(left, width) : behind, true);
        }
        columns_in_order(name, start.plus(apart), left, width, behind,
                         [&](const Address& at, std::int64_t count, std::int64_t next) {
                             body(at, count, next, prefetches_a && apart == 0);
                         });
    }

    bool prefetches_a_once() const { return map_.prefetch_a_once && map_.prefetch_a > 0; }

    // Blocks over a dimension of `elements`, in tiles of 16: full ones, then the partial tile.
    void blocks(const std::string& name, const Address& start, std::int64_t tiles,
                std::int64_t partial, std::int64_t width,
                const std::function<void(const Address&, std::int64_t, std::int64_t)>& body) {
        parts(name, start, tiles, width,
              [&](const Address& at, std::int64_t count) { body(at, count, kMaxRows); });
        if (partial > 0) {
            body(start.plus(tiles), 1, partial);
        }
    }

    struct Extent {
        std::int64_t tiles = 0;    // whole ones
        std::int64_t partial = 0;  // elements of a smaller last tile
    };
    Extent extent(std::int64_t elements) const {
        const std::int64_t partial = elements % kMaxRows;
        if (partial == 0 || map_.remainder == AmxMapping::Remainder::Pad) {
            return {arch::base::ceil_div(elements, kMaxRows), 0};
        }
        return {elements / kMaxRows, partial};
    }

    static std::int64_t tiles_of(std::int64_t elements, std::int64_t per_tile) {
        return elements == 0 ? 0 : std::max<std::int64_t>(1, elements / per_tile);
    }

    // The cache blocks: columns, k, rows; within them the blocks of accumulators.
    void column_blocks(AccumulatorBlock block) {
        const Extent n = extent(problem_.n);
        columns_prefetching_a(
            "jc", {}, n.tiles, columns_of_cache_block(), n.partial > 0 ? 1 : 0, true,
            [&](const Address& j, std::int64_t width, std::int64_t next, bool prefetches_a) {
                block.next_count = std::min(next, map_.n_acc);
                block.prefetches_a = prefetches_a;
                k_blocks(block, j, width);
            });
        block.next_count = 0;
        if (n.partial > 0) {
            block.prefetches_a = n.tiles == 0 || !prefetches_a_once();
            block.k = {};
            block.k_tiles = problem_.k_tiles;
            block.k_first = true;
            row_blocks(block, Address{}.plus(n.tiles), 0, n.partial);
        }
    }

    // In tiles; 0: all. Those in which nothing but whole blocks of columns follow each other have
    // them follow as they would without.
    std::int64_t columns_of_cache_block() const {
        const std::int64_t columns = tiles_of(map_.nc, kMaxRows);
        const std::int64_t rows = tiles_of(map_.mc, kMaxRows);
        const Extent m = extent(problem_.m);
        const bool all_rows = m.partial == 0 && (rows == 0 || rows >= m.tiles);
        const bool nothing_else = map_.outer == AmxMapping::Outer::N && all_rows &&
                                  first_depth() == problem_.k_tiles && problem_.slots == 0;
        return nothing_else && columns % map_.n_acc == 0 ? 0 : columns;
    }

    // K tiles of the first block of k.
    std::int64_t first_depth() const {
        const std::int64_t width = tiles_of(map_.kc, elements_per_k_tile());
        return width > 0 ? std::min(width, problem_.k_tiles) : problem_.k_tiles;
    }

    // Only the first one starts at zero: it stands in front of the loop.
    void k_blocks(AccumulatorBlock block, const Address& n, std::int64_t n_tiles) {
        const std::int64_t depth = first_depth();
        block.k = {};
        block.k_tiles = depth;
        block.k_first = true;
        row_blocks(block, n, n_tiles, 0);
        block.k_first = false;
        parts("pc", Address{}.plus(depth), problem_.k_tiles - depth, depth,
              [&](const Address& p, std::int64_t tiles) {
                  block.k = p;
                  block.k_tiles = tiles;
                  row_blocks(block, n, n_tiles, 0);
              });
    }

    std::int64_t elements_per_k_tile() const {
        return problem_.dot == Opcode::Tdpbf16ps ? kRowBytes / 2 : kRowBytes;
    }

    void row_blocks(const AccumulatorBlock& block, const Address& n, std::int64_t n_tiles,
                    std::int64_t n_partial) {
        const Extent m = extent(problem_.m);
        const std::int64_t columns = n_partial > 0 ? n_partial : kMaxRows;
        if (m.tiles > 0) {
            writer_.configure(kMaxRows, columns);
        }
        parts("ic", {}, m.tiles, tiles_of(map_.mc, kMaxRows),
              [&](const Address& i, std::int64_t height) {
                  accumulators(block, n, n_tiles, n_partial, i, height, 0);
              });
        if (m.partial > 0) {
            writer_.configure(m.partial, columns);
            accumulators(block, n, n_tiles, n_partial, Address{}.plus(m.tiles), 0, m.partial);
        }
        writer_.configure_most();  // loops around this begin with it
    }

    void accumulators(const AccumulatorBlock& block, const Address& n, std::int64_t n_tiles,
                      std::int64_t n_partial, const Address& m, std::int64_t m_tiles,
                      std::int64_t m_partial) {
        const bool among_products = problem_.slots > 0;  // is B decompressed
        const auto columns = [&](const std::function<void(AccumulatorBlock)>& body) {
            const auto part = [&](const Address& at, std::int64_t count, std::int64_t width,
                                  std::int64_t next, bool prefetches_a) {
                AccumulatorBlock inner = block;
                inner.n = at;
                inner.n_count = count;
                inner.columns = width;
                inner.prefetches_a = prefetches_a;
                inner.next_count = next;
                body(inner);
            };
            // Those decompressed among products are of one cache block, the narrow last one alone.
            const std::int64_t behind = among_products ? 0 : block.next_count;
            columns_prefetching_a(
                "n", n, n_tiles, map_.n_acc, behind, block.prefetches_a,
                [&](const Address& at, std::int64_t count, std::int64_t next, bool prefetches_a) {
                    part(at, count, kMaxRows, next, prefetches_a);
                });
            if (n_partial > 0) {
                part(n, 1, n_partial, 0, block.prefetches_a);
            }
        };
        const auto rows = [&](const AccumulatorBlock& outer,
                              const std::function<void(AccumulatorBlock)>& body) {
            blocks("m", m, m_tiles, m_partial, map_.m_acc,
                   [&](const Address& at, std::int64_t count, std::int64_t height) {
                       AccumulatorBlock inner = outer;
                       inner.m = at;
                       inner.m_count = count;
                       inner.rows = height;
                       body(inner);
                   });
        };
        const bool prepares = problem_.prepare_columns != nullptr && !among_products;
        const auto prepare = [&](const AccumulatorBlock& inner) {
            problem_.prepare_columns(program_, inner.n, inner.n_count);
        };
        // Post-operations among products need the products written out: the inner loop at least.
        const auto written_out = [&](const std::function<void()>& body) {
            loops_.set_unroll(interleaves_post());
            body();
            loops_.set_unroll(all_unrolled_);
            if (!all_unrolled_) {
                writer_.finish_rows();
            }
        };
        if (among_products) {
            writer_.first_decompression(n, std::clamp<std::int64_t>(n_tiles, 1, map_.n_acc));
        }
        if (map_.outer == AmxMapping::Outer::N) {
            columns([&](const AccumulatorBlock& outer) {
                if (prepares) {
                    prepare(outer);
                }
                written_out([&] {
                    rows(outer, [&](const AccumulatorBlock& inner) { writer_.write(inner); });
                });
            });
            return;
        }
        if (prepares) {
            columns(prepare);
        }
        rows(block, [&](const AccumulatorBlock& outer) {
            written_out([&] {
                columns([&](AccumulatorBlock inner) {
                    inner.m = outer.m;
                    inner.m_count = outer.m_count;
                    inner.rows = outer.rows;
                    writer_.write(inner);
                });
            });
        });
    }

    bool interleaves_post() const {
        return problem_.post.any && map_.post == AmxMapping::Post::Interleaved;
    }

    std::size_t statements_unrolled() const {
        constexpr std::size_t kPerElementRow = 10;
        const auto rows = static_cast<std::size_t>(problem_.row_groups * problem_.m *
                                                   arch::base::ceil_div(problem_.n, kMaxRows));
        const auto steps = static_cast<std::size_t>(
            problem_.k_tiles * arch::base::ceil_div(problem_.n, kMaxRows) *
            arch::base::ceil_div(problem_.m, kMaxRows) * problem_.row_groups);
        return rows * kPerElementRow + steps * 3;
    }

    LoopWriter loops_;
    BlockWriter writer_;
    Program& program_;
    const TileProblem& problem_;
    const AmxMapping& map_;
    bool all_unrolled_;
};

}  // namespace

void generate(Program& program, const TileProblem& problem, const AmxMapping& mapping,
              const std::function<void()>& finish) {
    Generator(program, problem, mapping).all(finish);
}

}  // namespace tilesim::workloads::amx::tiles
