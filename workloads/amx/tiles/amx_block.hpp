// The code of one block of accumulators: C tiles, the k loop in the mapping's order, the stores.
//
// A TileProblem says where operands lie in terms of tile indices; GEMM, convolution and f32
// emulation differ only in that description.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "arch/amx/program/instruction.hpp"
#include "workloads/amx/tiles/amx_among.hpp"
#include "workloads/amx/tiles/amx_loops.hpp"
#include "workloads/amx/tiles/amx_mapping.hpp"
#include "workloads/amx/tiles/amx_post.hpp"
#include "workloads/amx/tiles/amx_registers.hpp"

namespace tilesim::workloads::amx::tiles {

struct TileProblem {
    // A loop around the k loop, as a convolution's filter taps.
    struct Tap {
        std::string name;
        std::int64_t count = 1;
        std::int64_t a_stride = 0;
        std::int64_t b_stride = 0;
    };
    struct Pair {  // a product of one part of A with one part of B
        std::int64_t a_offset = 0;
        std::int64_t b_offset = 0;
    };

    std::int64_t m = 0, n = 0;  // elements
    std::int64_t k_tiles = 0;
    std::int64_t row_groups = 1;  // repetitions of the m loop, as a convolution's output rows
    std::int64_t a_group = 0, c_group = 0;
    std::int64_t a = 0, a_m = 0, a_k = 64, a_row = 0;  // base; bytes a tile down, a k tile, a row
    std::int64_t b = 0, b_n = 0, b_k = 0, b_row = 64;
    std::int64_t b_block = 0;  // bytes a tile, of the first tile of a block: 0 where blocks share
    std::int64_t c = 0, c_m = 0, c_n = 64, c_row = 0;
    std::vector<Tap> taps;
    std::vector<Pair> pairs{{}};
    arch::amx::program::Opcode dot = arch::amx::program::Opcode::Tdpbssd;
    PostOperations post;
    // Code in front of everything: constants.
    std::function<void(arch::amx::program::Program&)> constants;
    // Code in front of a block of columns: re-layout, decompression. Tiles from `first`, `count`.
    std::function<void(arch::amx::program::Program&, const arch::amx::program::Address& first,
                       std::int64_t count)>
        prepare_columns;
    // As that, a line at a time among the products of a k step before: line `line` of the tile
    // that is `across` and k tile `k`. B is then a ring of `slots` k steps, `slot_bytes` apart.
    std::function<void(arch::amx::program::Program&, const arch::amx::program::Address& across,
                       const arch::amx::program::Address& k, std::int64_t line,
                       const arch::amx::program::Address& to)>
        decompress_line;
    // A block's last turn takes the k steps that are left over, too, in slots behind the others.
    std::int64_t slots = 0;
    std::int64_t steps_ahead = 1;  // less than slots
    std::int64_t last_slots() const { return slots + k_tiles % slots; }
    std::int64_t slot_bytes = 0;
    // What is prefetched of the next block of columns: as much of each of its tiles.
    struct Next {
        std::int64_t base = 0, n = 0, k = 0;  // address; bytes a tile across, a k tile
        std::int64_t lines = 0;               // of a tile
    };
    std::vector<Next> next;
};

// A block of accumulators: where it starts, in tiles, and how large it is.
struct AccumulatorBlock {
    arch::amx::program::Address m, n;  // tile indices
    std::int64_t m_count = 0, n_count = 0;
    std::int64_t rows = arch::amx::program::kMaxRows;  // of its tiles
    std::int64_t columns = arch::amx::program::kMaxRows;
    arch::amx::program::Address group;  // of rows
    bool k_first = true;                // C starts at zero
    arch::amx::program::Address k;      // first k tile
    std::int64_t k_tiles = 0;
    // Tiles across of the thread's next block, which are prefetched, or decompressed with the last
    // step; behind its last one lie another thread's, or none.
    std::int64_t next_count = 0;
    bool prefetches_a = true;  // where the mapping does: not where an earlier block has
};

class BlockWriter {
  public:
    // Keeps references to all.
    BlockWriter(arch::amx::program::Program& program, LoopWriter& loops, const TileProblem& problem,
                const AmxMapping& mapping);

    // LDTILECFG for the tiles most blocks have, and beside them for a last block of fewer rows
    // where registers are left; constants of the post-operations.
    void begin();
    // Behind this come blocks whose tiles have so many rows and columns: LDTILECFG, where the
    // configuration that holds is not theirs.
    void configure(std::int64_t rows, std::int64_t columns);
    // The configuration of `begin` again.
    void configure_most();
    void write(const AccumulatorBlock& block);
    // Prefetches of the first block of columns.
    void first_prefetches();
    // The first k steps of the first block of columns, in front of it.
    void first_decompression(const arch::amx::program::Address& n, std::int64_t n_count);
    // Post-operations that wait for products to hide behind.
    void finish_rows() { post_.rest(); }
    void end() { emit(arch::amx::program::Opcode::Tilerelease); }

  private:
    // Byte offsets of a k step: `k` counts tiles, `a` and `b` are what the taps and parts add.
    struct Step {
        arch::amx::program::Address k, a, b;
    };
    void load_configuration();
    void emit(arch::amx::program::Opcode opcode, std::int64_t immediate = 0);
    void tile(arch::amx::program::Opcode opcode, int reg, arch::amx::program::Address address,
              std::int64_t row_stride);
    // Lines `distance` steps ahead, among the products that follow.
    void prefetch(const arch::amx::program::Address& address, std::int64_t row_stride,
                  std::int64_t rows, std::int64_t distance, std::int64_t step);
    void prefetch(const arch::amx::program::Address& address, arch::amx::program::Opcode opcode);
    void load_a(const AccumulatorBlock& block, const Step& step, std::int64_t m);
    void load_b(const AccumulatorBlock& block, const Step& step, std::int64_t n);
    void multiply(std::int64_t m, std::int64_t n);
    arch::amx::program::Address c_address(const AccumulatorBlock& block, std::int64_t m,
                                          std::int64_t n) const;
    void start_c(const AccumulatorBlock& block, std::int64_t m, std::int64_t n);
    void store_c(const AccumulatorBlock& block, std::int64_t m, std::int64_t n);
    // To the parts of A and B that a pair multiplies.
    static Step moved(Step step, const TileProblem::Pair& pair);
    std::int64_t products(const AccumulatorBlock& block) const;
    void each_accumulator_alone(const AccumulatorBlock& block);
    void all_accumulators(const AccumulatorBlock& block, bool interleaves_stores);
    void k_steps(std::int64_t count, const arch::amx::program::Address& from,
                 const std::function<void(const Step&)>& body);
    void taps(std::size_t index, const Step& outer, const std::function<void(const Step&)>& body);
    void products(const AccumulatorBlock& block, const Step& at, bool store);
    // What is to stand among the products of a step, behind each its share.
    void add_prefetches(const AccumulatorBlock& block, const Step& step,
                        const TileProblem::Next& next);
    void add_lines(const arch::amx::program::Address& n, std::int64_t count,
                   const arch::amx::program::Address& k, std::int64_t slot);
    void ring_steps(const AccumulatorBlock& block, bool interleaves_stores);
    void ordered_products(const AccumulatorBlock& block, const Step& step, bool store);
    // Rows of the block's temporary that are to be finished, now or among later products.
    void finish_post(const AccumulatorBlock& block);

    arch::amx::program::Program& program_;
    LoopWriter& loops_;
    const TileProblem& problem_;
    const AmxMapping& map_;
    TileRegisters registers_;
    PostWriter post_;
    std::int64_t products_left_ = 1;
    AmongProducts among_;
};

}  // namespace tilesim::workloads::amx::tiles
