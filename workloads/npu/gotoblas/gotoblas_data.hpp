// Operands of a functional GotoBLAS GEMM and the check of its product.
#pragma once

#include <cstdint>

#include "arch/memory/port/backing_store.hpp"
#include "workloads/npu/gemm_data.hpp"
#include "workloads/npu/gotoblas/gotoblas.hpp"

namespace tilesim::workloads::npu::gotoblas {

// A, B and C as the user has them lie beyond the packed copies the program works on.
class GotoblasData {
  public:
    GotoblasData(const GemmProblem& problem, const GotoblasMapping& mapping,
                 const LoweredGotoblas& lowered);

    // Fills A and B from a seed and packs them; C begins as zeros.
    void fill(std::uint64_t seed, arch::memory::port::BackingStore& store) const;
    // Unpacks C and compares it with a reference product of A and B.
    ProductCheck check(std::uint64_t seed, arch::memory::port::BackingStore& store) const;

  private:
    void pack_a(const GotoblasBlock& block, arch::memory::port::BackingStore& store) const;
    void pack_b(const GotoblasBlock& block, arch::memory::port::BackingStore& store) const;
    void unpack_c(const GotoblasBlock& block, arch::memory::port::BackingStore& store) const;

    GemmProblem problem_;
    GotoblasMapping mapping_;
    const LoweredGotoblas& lowered_;
    GemmMatrices plain_;  // where A, B and C lie as the user has them
};

}  // namespace tilesim::workloads::npu::gotoblas
