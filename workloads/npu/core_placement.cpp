#include "workloads/npu/core_placement.hpp"

#include <algorithm>
#include <numeric>

namespace tilesim::workloads::npu {

namespace {

using Size = std::size_t;

std::vector<Size> largest_first(const std::vector<std::int64_t>& bytes) {
    std::vector<Size> order(bytes.size());
    std::iota(order.begin(), order.end(), Size{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](Size a, Size b) { return bytes[a] > bytes[b]; });
    return order;
}

// Each whole buffer in one bank; nothing where that cannot be.
std::optional<std::vector<std::int64_t>> place_by_banks(const std::vector<std::int64_t>& bytes,
                                                        const arch::npu::CoreConfig& core) {
    const std::int64_t bank = core.bank.count();
    std::vector<std::int64_t> next;  // free address of each bank
    for (std::int64_t begin = 0; begin + bank <= core.memory.count(); begin += bank) {
        next.push_back(std::max(begin, std::min(begin + bank, core.stack.count())));
    }
    std::vector<std::int64_t> places(bytes.size());
    Size turn = 0;
    for (const Size i : largest_first(bytes)) {
        Size tried = 0;
        for (; tried < next.size(); ++tried) {
            const Size place = (turn + tried) % next.size();
            if (next[place] + bytes[i] <= static_cast<std::int64_t>(place + 1) * bank) {
                places[i] = next[place];
                next[place] += bytes[i];
                turn = (place + 1) % next.size();
                break;
            }
        }
        if (tried == next.size()) {
            return std::nullopt;
        }
    }
    return places;
}

}  // namespace

std::optional<std::vector<std::int64_t>> place_in_core(const std::vector<std::int64_t>& bytes,
                                                       const arch::npu::CoreConfig& core) {
    const std::int64_t all = std::accumulate(bytes.begin(), bytes.end(), core.stack.count());
    if (all > core.memory.count()) {
        return std::nullopt;
    }
    if (auto places = place_by_banks(bytes, core)) {
        return places;
    }
    std::vector<std::int64_t> places(bytes.size());
    std::int64_t address = core.stack.count();
    for (const Size i : largest_first(bytes)) {
        places[i] = address;
        address += bytes[i];
    }
    return places;
}

}  // namespace tilesim::workloads::npu
