#include "workloads/amx/tiles/mapping_problems.hpp"

#include <fmt/format.h>

#include <utility>

#include "arch/amx/program/tile_config.hpp"

namespace tilesim::workloads::amx::tiles {

namespace {

using Map = AmxMapping;

class Problems {
  public:
    Problems(const GemmProblem& gemm, const AmxMapping& map, std::int64_t cores)
        : gemm_(gemm), map_(map), cores_(cores) {}

    std::vector<std::string> all() {
        check_types();
        check_registers();
        check_size();
        check_threads();
        check_post_operations();
        check_layout();
        check_prefetches();
        if (map_.decompress != Map::Decompress::Ahead) {
            check_decompression();
        }
        check_parts();
        check_paddings();
        return std::move(problems_);
    }

  private:
    void check_types() {
        const bool c_ok =
            (int8_ && ((gemm_.c == DataType::Int32 && !int4_) || gemm_.c == DataType::Int8 ||
                       gemm_.c == DataType::F32 || gemm_.c == DataType::Bf16)) ||
            (bf16_ && (gemm_.c == DataType::F32 || gemm_.c == DataType::Bf16)) ||
            (f32_ && gemm_.c == DataType::F32);
        if (!c_ok) {
            problems_.push_back(fmt::format(
                "AMX multiplies int8 (to int32, int8, f32, bf16; B may be int4, but not to int32), "
                "bf16 (to f32, bf16; B may be int8) "
                "and, as three bf16, f32 (to f32); not {} x {} to {}",
                name_of(gemm_.a), name_of(gemm_.b), name_of(gemm_.c)));
        }
    }

    void check_registers() {
        if (registers_of(map_) > arch::amx::program::kTiles) {
            problems_.push_back(fmt::format(
                "{} x {} accumulators and the operands of this order take {} tiles; there are {}",
                map_.m_acc, map_.n_acc, registers_of(map_), arch::amx::program::kTiles));
        }
    }

    void check_size() {
        constexpr double kMostBytes = 137438953472.0;  // what the caches' tags reach, halved
        const double size = int8_ ? 1 : f32_ ? 6 : 2;
        const auto m = static_cast<double>(gemm_.m);
        const auto n = static_cast<double>(gemm_.n);
        const double copies =
            map_.partition == Map::Partition::K ? static_cast<double>(map_.threads) : 1;
        const double bytes = (m + n) * static_cast<double>(gemm_.k) * size + m * n * 4 * copies;
        if (bytes > kMostBytes) {
            problems_.push_back(fmt::format("A, B and C take {:.0f} GiB; at most {:.0f} GiB",
                                            bytes / (1 << 30), kMostBytes / (1 << 30)));
        }
    }

    void check_threads() {
        if (map_.partition == Map::Partition::MN && map_.threads_n > map_.threads) {
            problems_.push_back(fmt::format("threads_n: {} shares of n are more than {} threads",
                                            map_.threads_n, map_.threads));
        }
        if (map_.threads > cores_) {
            problems_.push_back(
                fmt::format("{} threads; the socket has {} cores", map_.threads, cores_));
        }
    }

    void check_post_operations() {
        if (has_post_operations(gemm_) && (map_.kc != 0 || map_.partition == Map::Partition::K)) {
            problems_.push_back("post-operations need all of K: no kc, no partition of k");
        }
    }

    void check_layout() {
        if (map_.b_layout == Map::BLayout::Sparse && (!int8_ || int4_)) {
            problems_.push_back("sparse weights are int8");
        }
        const bool relaid = map_.b_layout == Map::BLayout::RowMajor || decompresses(gemm_, map_);
        if (relaid && (f32_ || map_.kc != 0 || map_.n_acc > 4 ||
                       map_.partition == AmxMapping::Partition::K)) {
            problems_.push_back(
                "B is re-laid at run time for int8 and bf16, for n_acc up to 4, "
                "without kc and partition of k");
        }
        if (decompresses(gemm_, map_) && !keeps_blocks()) {
            problems_.push_back(
                fmt::format("{} weights of a product of {} need b_layout: packed, "
                            "not {}",
                            name_of(gemm_.b), name_of(gemm_.a), name_of(map_.b_layout)));
        }
    }

    void check_prefetches() {
        if (map_.prefetch_next && (!keeps_blocks() || map_.outer != Map::Outer::N)) {
            problems_.push_back("prefetch_next needs b_layout: packed or sparse, and outer: n");
        }
        if (map_.prefetch_first && !map_.prefetch_next) {
            problems_.push_back("prefetch_first needs prefetch_next: on");
        }
        if (map_.prefetch_next && gemm_.a == DataType::F32) {
            problems_.push_back("prefetch_next is for products of one part, not f32 as three bf16");
        }
    }

    // Of decompress: interleaved.
    void check_decompression() {
        if (!decompresses(gemm_, map_)) {
            problems_.push_back(
                "decompress: interleaved needs compressed weights: b_layout: sparse, "
                "int8 ones of a product of bf16, or int4 ones of int8");
        }
        const std::int64_t rows = map_.m_acc * arch::amx::program::kMaxRows;
        const bool two_heights = map_.remainder == Map::Remainder::Smaller &&
                                 gemm_.m > arch::amx::program::kMaxRows &&
                                 gemm_.m % arch::amx::program::kMaxRows != 0;
        if (gemm_.m > rows || two_heights) {
            problems_.push_back(
                fmt::format("decompress: interleaved needs all {} rows in one block of "
                            "accumulators, which has {}",
                            gemm_.m, rows));
        }
        if (map_.outer != Map::Outer::N || map_.order == Map::Order::KInnermost) {
            problems_.push_back(
                "decompress: interleaved needs outer: n and another order than "
                "k_innermost");
        }
        if (gemm_.k <= arch::amx::program::kRowBytes / (gemm_.a == DataType::Int8 ? 1 : 2)) {
            problems_.push_back(fmt::format(
                "decompress: interleaved needs more than one k tile; K is {}", gemm_.k));
        }
        if (map_.prefetch_b > 0) {
            problems_.push_back(
                "decompress: interleaved leaves no tile of B to prefetch with "
                "prefetch_b: see prefetch_next");
        }
    }

    // f32 as three bf16, and shares of K.
    void check_parts() {
        if (f32_ && map_.b_layout != AmxMapping::BLayout::Packed) {
            problems_.push_back("f32 as three bf16 needs b_layout: packed");
        }
        if (map_.partition == AmxMapping::Partition::K && map_.threads > 1 &&
            gemm_.k / map_.threads < (int8_ ? 64 : 32)) {
            problems_.push_back("a partition of k needs a k tile for every thread");
        }
    }

    void check_paddings() {
        if (map_.a_padding % 4 != 0 || map_.c_padding % 4 != 0) {
            problems_.push_back("paddings must be multiples of 4 bytes");
        }
    }

    bool keeps_blocks() const {
        return map_.b_layout == Map::BLayout::Packed || map_.b_layout == Map::BLayout::Sparse;
    }

    const GemmProblem& gemm_;
    const AmxMapping& map_;
    const std::int64_t cores_;
    const bool int4_ = gemm_.a == DataType::Int8 && gemm_.b == DataType::Int4;
    const bool int8_ = gemm_.a == DataType::Int8 && (gemm_.b == DataType::Int8 || int4_);
    const bool bf16_ =
        gemm_.a == DataType::Bf16 && (gemm_.b == DataType::Bf16 || gemm_.b == DataType::Int8);
    const bool f32_ = gemm_.a == DataType::F32 && gemm_.b == DataType::F32;
    std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> problems_of(const GemmProblem& gemm, const AmxMapping& map,
                                     std::int64_t cores) {
    return Problems(gemm, map, cores).all();
}

}  // namespace tilesim::workloads::amx::tiles
