// Where the operands of a product on AMX cores lie.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/amx/program/instruction.hpp"
#include "workloads/amx/tiles/amx_mapping.hpp"
#include "workloads/amx/tiles/lowered_amx.hpp"

namespace tilesim::workloads::amx::tiles {

inline constexpr std::int64_t kResultBytes = 4;  // of an accumulator's element, and of a bias

// Hands out pages, in order.
class Pages {
  public:
    // The address of `bytes` that begin a page of their own.
    std::int64_t take(const std::string& name, std::int64_t bytes);
    const std::vector<arch::amx::program::Buffer>& buffers() const { return buffers_; }

  private:
    std::int64_t next_ = 1 << 20;
    std::vector<arch::amx::program::Buffer> buffers_;
};

// Bytes of an element as the products take it.
std::int64_t stored_bytes(DataType type);
// Whether B is brought into the tile layout at run time.
bool relaid(const GemmProblem& gemm, const AmxMapping& mapping);
// Takes pages for A of `a_bytes` a part, B of `k_tiles` tiles a column of tiles, C, scale and bias,
// and notes them; sizes, rows and `line_masks` are there already.
void place(LoweredAmx& lowered, Pages& pages, const GemmProblem& gemm, const AmxMapping& mapping,
           std::int64_t a_bytes, std::int64_t k_tiles);

}  // namespace tilesim::workloads::amx::tiles
