#include "arch/npu/core/cascade_link.hpp"

#include <algorithm>

namespace tilesim::arch::npu::core {

using base::Cycles;

namespace {

constexpr Cycles kWire{1};  // a word put in one cycle can be got in the next

}  // namespace

CascadeLink::CascadeLink(const program::Cascade& cascade, const CascadeConfig& config,
                         CycleScheduler& scheduler)
    : cascade_(cascade),
      width_(config.width.count()),
      sink_(scheduler, receiver_),
      flow_(cascade.name, scheduler, sender_, {{&sink_, kWire, 2 * config.fifo}}, {}, std::nullopt,
            false, false) {}

void CascadeLink::put(std::int64_t words, Cycles from, std::span<const std::byte> bytes,
                      CascadeClient& client) {
    sender_.client = &client;
    if (!bytes.empty()) {
        const auto wanted = static_cast<std::size_t>(words * width_);
        const std::size_t there = std::min(wanted, bytes.size());
        bytes_.insert(bytes_.end(), bytes.begin(),
                      bytes.begin() + static_cast<std::ptrdiff_t>(there));
        bytes_.insert(bytes_.end(), wanted - there, std::byte{0});
    }
    flow_.begin(words, words, from);
}

void CascadeLink::get(std::int64_t words, Cycles from, CascadeClient& client) {
    receiver_.client = &client;
    sink_.begin(words, from);
}

void CascadeLink::take(std::int64_t words, std::span<std::byte> into) {
    const auto end = bytes_.begin() + words * width_;
    const auto kept =
        std::min<std::ptrdiff_t>(words * width_, static_cast<std::ptrdiff_t>(into.size()));
    std::copy(bytes_.begin(), bytes_.begin() + kept, into.begin());
    bytes_.erase(bytes_.begin(), end);
}

}  // namespace tilesim::arch::npu::core
