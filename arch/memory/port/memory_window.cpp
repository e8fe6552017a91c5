#include "arch/memory/port/memory_window.hpp"

namespace tilesim::arch::memory::port {

void MemoryWindow::submit(const MemoryRequest& request) {
    const std::uint64_t slot = flights_.take();
    flights_[slot] = {request.client, request.tag, request.arrival, request.write};
    (request.write ? counts_.writes : counts_.reads) += 1;
    (request.write ? counts_.bytes_written : counts_.bytes_read) += request.bytes;
    const MemoryRequest shifted{request.address + base_,  request.bytes, request.write, this, slot,
                                request.arrival + origin_};
    if (listener_ != nullptr) {
        listener_->on_request(shifted);
    }
    memory_.submit(shifted);
}

void MemoryWindow::on_memory_complete(std::uint64_t slot, base::Femtoseconds when) {
    const Flight flight = flights_[slot];
    flights_.give_back(slot);
    const base::Femtoseconds own = when - origin_;
    last_ = std::max(last_, own);
    if (!flight.write) {
        const base::Femtoseconds latency = own - flight.arrival;
        counts_.read_latency += latency;
        counts_.longest_read = std::max(counts_.longest_read, latency);
    }
    if (!closed_) {
        flight.client->on_memory_complete(flight.tag, own);
    }
}

}  // namespace tilesim::arch::memory::port
