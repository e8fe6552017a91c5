// Cuts a shim descriptor's contiguous runs into AXI bursts.
//
// Models:  no burst crosses a multiple of 4 KiB, and none of a run longer than a burst a multiple
//          of the burst's length, a power of two.
// Ignores: such multiples within shorter runs. The fabric's port chops a request there anyway, so
//          that in two bursts they would take the same turns.
// Source:  Xilinx aie-rt (burst encodings), AMD AM020; AMBA AXI, IHI 0022 (4 KiB).
#pragma once

#include <cstdint>

#include "arch/npu/dma/address_generator.hpp"
#include "arch/npu/dma/descriptor_table.hpp"

namespace tilesim::arch::npu::dma {

// One AXI burst of a descriptor.
struct Burst {
    std::int64_t address = 0;  // bytes
    std::int64_t bytes = 0;
    bool operator==(const Burst&) const = default;
};

class BurstSplitter {
  public:
    BurstSplitter() = default;
    // `base`: physical address of the descriptor's offset 0.
    BurstSplitter(const DescriptorTable::Entry& entry, std::int64_t base, std::int64_t limit)
        : addresses_(entry.descriptor, entry.iteration),
          base_(base),
          limit_(limit),
          words_left_(entry.stream_words) {}

    bool done() const { return words_left_ == 0 && run_bytes_ == 0; }
    Burst next();

  private:
    AddressGenerator addresses_;
    std::int64_t base_ = 0;
    std::int64_t limit_ = 0;
    std::int64_t words_left_ = 0;
    std::int64_t run_address_ = 0;  // what is left of the present run
    std::int64_t run_bytes_ = 0;
};

}  // namespace tilesim::arch::npu::dma
