#include "arch/amx/socket/barrier.hpp"

#include <algorithm>
#include <numeric>

namespace tilesim::arch::amx::socket {

using base::Femtoseconds;

std::vector<Femtoseconds> barrier_ends(const std::vector<Femtoseconds>& arrivals,
                                       Femtoseconds transfer) {
    if (arrivals.size() <= 1) {
        return arrivals;
    }
    std::vector<std::size_t> order(arrivals.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&arrivals](std::size_t a, std::size_t b) {
        return arrivals[a] < arrivals[b];
    });
    Femtoseconds counted = arrivals[order.front()];
    for (const std::size_t core : order) {
        counted = std::max(counted, arrivals[core]) + transfer;
    }
    std::vector<Femtoseconds> ends(arrivals.size(), counted + transfer);
    ends[order.back()] = counted;
    return ends;
}

}  // namespace tilesim::arch::amx::socket
