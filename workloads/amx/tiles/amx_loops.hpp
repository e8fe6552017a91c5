// Affine index arithmetic and loops for generated programs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "arch/amx/program/instruction.hpp"

namespace tilesim::workloads::amx::tiles {

// base + index * stride.
arch::amx::program::Address scaled(const arch::amx::program::Address& index, std::int64_t stride,
                                   std::int64_t base);
// a + b * scale.
arch::amx::program::Address sum(const arch::amx::program::Address& a,
                                const arch::amx::program::Address& b, std::int64_t scale = 1);

class LoopWriter {
  public:
    explicit LoopWriter(arch::amx::program::Program& program) : program_(program) {}

    bool unrolls() const { return unroll_; }
    // From now on iterations are written one after the other instead of as loops.
    void set_unroll(bool unroll) { unroll_ = unroll; }
    // `count` times `body` with the loop's index; without a loop when that is once.
    void loop(const std::string& name, std::int64_t count,
              const std::function<void(const arch::amx::program::Address&)>& body);

  private:
    arch::amx::program::Program& program_;
    bool unroll_ = false;
};

}  // namespace tilesim::workloads::amx::tiles
