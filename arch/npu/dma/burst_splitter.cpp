#include "arch/npu/dma/burst_splitter.hpp"

#include <algorithm>

namespace tilesim::arch::npu::dma {

namespace {
constexpr std::int64_t kAxiBoundary = 4096;  // bytes; AMBA AXI, IHI 0022
}  // namespace

Burst BurstSplitter::next() {
    if (run_bytes_ == 0) {
        const Run run = addresses_.take(words_left_);
        words_left_ -= run.words;
        run_address_ = base_ + run.offset * kWordBytes;
        run_bytes_ = run.words * kWordBytes;
    }
    const std::int64_t boundary = run_bytes_ > limit_ ? limit_ : kAxiBoundary;
    const Burst burst{run_address_, std::min(run_bytes_, boundary - run_address_ % boundary)};
    run_address_ += burst.bytes;
    run_bytes_ -= burst.bytes;
    return burst;
}

}  // namespace tilesim::arch::npu::dma
