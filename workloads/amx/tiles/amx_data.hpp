// Operands of a functional AMX run, in the layouts the programs read, and the check of C.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "arch/memory/port/backing_store.hpp"
#include "workloads/amx/tiles/amx_gemm.hpp"
#include "workloads/product_check.hpp"

namespace tilesim::workloads::amx::tiles {

class AmxData {
  public:
    // Random operands from a seed: integers take all values, bf16 and f32 lie in [-1, 1).
    AmxData(const GemmProblem& gemm, const AmxMapping& mapping, const LoweredAmx& lowered,
            std::uint64_t seed);
    AmxData(const ConvolutionProblem& convolution, const AmxMapping& mapping,
            const LoweredAmx& lowered, std::uint64_t seed);

    void fill(arch::memory::port::BackingStore& store) const;
    // C against plain loops over the operands: integers modulo 2^32; bf16 in TDPBF16PS's order of
    // additions, tile by tile of k as the programs do. Above 2^28 products, rows spread over C.
    ProductCheck check(const arch::memory::port::BackingStore& store) const;

  private:
    void generate(std::uint64_t seed);
    void drop_from_sparse();
    std::int64_t taps() const { return conv_.kh * conv_.kw; }
    std::int64_t rows() const { return conv_.height * conv_.width; }
    // Index into a_ of output row `m`, tap, channel; beyond the operand: negative.
    std::int64_t a_index(std::int64_t m, std::int64_t tap, std::int64_t k) const;
    std::int64_t b_index(std::int64_t tap, std::int64_t k, std::int64_t n) const {
        return (tap * conv_.channels + k) * conv_.filters + n;
    }
    std::int64_t a_address(std::int64_t y, std::int64_t x, std::int64_t k) const;
    std::int64_t b_address(std::int64_t tap, std::int64_t k, std::int64_t n) const;
    std::int64_t c_address(std::int64_t m, std::int64_t n) const;
    void fill_a(arch::memory::port::BackingStore& store) const;
    void fill_b(arch::memory::port::BackingStore& store) const;
    void for_sparse_bytes(
        const std::function<void(std::size_t, std::int64_t, std::int64_t)>& visit) const;
    void fill_sparse(arch::memory::port::BackingStore& store) const;
    std::uint32_t expected(std::int64_t m, std::int64_t n) const;  // bits of C before post
    std::uint32_t sum_int8(std::int64_t m, std::int64_t n) const;
    float sum_bf16(std::int64_t m, std::int64_t n, std::int64_t first, std::int64_t last) const;
    std::uint32_t finished(std::uint32_t bits, std::int64_t n) const;  // after post, as stored
    std::uint32_t part(float value, std::int64_t index) const;

    GemmProblem gemm_;         // of a convolution: types only
    ConvolutionProblem conv_;  // a product is a convolution of height 1 with one tap
    AmxMapping map_;
    const LoweredAmx& lowered_;
    std::int64_t element_bytes_ = 1;  // of A and B in tiles
    std::int64_t k_tiles_ = 0;
    std::vector<float> a_, b_, bias_;
    float scale_ = 1.0F / 512.0F;
};

}  // namespace tilesim::workloads::amx::tiles
