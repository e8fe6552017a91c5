#include "arch/fabric/fabric.hpp"

#include <algorithm>

namespace tilesim::arch::fabric {

Fabric::Fabric(const FabricConfig& config, std::size_t ports, base::Clock port_clock,
               base::BytesPerCycle port_width, memory::MemorySystem& memory,
               base::EventQueue& queue)
    : config_(config),
      clock_(port_clock),
      width_(port_width),
      memory_(memory),
      queue_(queue),
      ports_(ports) {}

base::Femtoseconds Fabric::occupy(base::Cycles& free, std::int64_t bytes, base::Femtoseconds from) {
    const base::Cycles start = std::max(free, clock_.first_cycle_from(from));
    free = start + base::transfer_time(base::Bytes{bytes}, width_);
    return clock_.time_of(free);
}

void Fabric::submit(const FabricRequest& request) {
    std::uint64_t slot = transactions_.size();
    if (free_slots_.empty()) {
        transactions_.push_back({request, false});
    } else {
        slot = free_slots_.back();
        free_slots_.pop_back();
        transactions_[slot] = {request, false};
    }
    const base::Femtoseconds sent =
        request.write ? occupy(ports_[request.port].write_free, request.bytes, queue_.now())
                      : queue_.now();
    queue_.at(sent + config_.request_latency + request.extra_latency, *this, slot);
}

void Fabric::on_event(std::uint64_t slot, base::Femtoseconds now) {
    Transaction& transaction = transactions_[slot];
    if (!transaction.delivered) {
        if (refused_.empty()) {
            send_to_memory(slot);
        } else {
            refused_.push_back(slot);
        }
        return;
    }
    const FabricRequest request = transaction.request;
    free_slots_.push_back(slot);
    request.client->on_fabric_complete(request.tag, now);
}

void Fabric::send_to_memory(std::uint64_t slot) {
    const FabricRequest& request = transactions_[slot].request;
    if (!memory_.submit({request.address, request.bytes, request.write, this, slot})) {
        refused_.push_front(slot);
    }
}

void Fabric::on_memory_complete(std::uint64_t slot, base::Femtoseconds now) {
    Transaction& transaction = transactions_[slot];
    transaction.delivered = true;
    const base::Femtoseconds back = now + config_.response_latency;
    const FabricRequest& request = transaction.request;
    // The data's last beat leaves the port no earlier than it arrives, nor than the port allows.
    const base::Femtoseconds done =
        request.write ? back : occupy(ports_[request.port].read_free, request.bytes, back);
    queue_.at(done, *this, slot);
}

void Fabric::on_memory_room(base::Femtoseconds) {
    while (!refused_.empty()) {
        const std::uint64_t slot = refused_.front();
        refused_.pop_front();
        send_to_memory(slot);
        if (!refused_.empty() && refused_.front() == slot) {
            return;  // refused again
        }
    }
}

}  // namespace tilesim::arch::fabric
