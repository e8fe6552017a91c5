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
      tracker_(config.read_blocks, config.block),
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
    if (request.write) {
        send(slot, occupy(ports_[request.port].write_free, request.bytes, queue_.now()));
    } else if (tracker_.begin(request.address, slot)) {
        send(slot, queue_.now());
    }
}

void Fabric::send(std::uint64_t slot, base::Femtoseconds from) {
    const FabricRequest& request = transactions_[slot].request;
    memory_.submit({request.address, request.bytes, request.write, this, slot,
                    from + config_.request_latency + request.extra_latency});
}

void Fabric::on_memory_complete(std::uint64_t slot, base::Femtoseconds when) {
    queue_.at(when + config_.response_latency, *this, slot);
}

void Fabric::on_event(std::uint64_t slot, base::Femtoseconds now) {
    Transaction& transaction = transactions_[slot];
    const FabricRequest& request = transaction.request;
    if (!request.write && !transaction.at_port) {
        transaction.at_port = true;
        queue_.at(occupy(ports_[request.port].read_free, request.bytes, now), *this, slot);
        return;
    }
    const FabricRequest done = request;
    free_slots_.push_back(slot);
    if (!done.write) {
        for (const std::uint64_t waiting : tracker_.end(done.address)) {
            send(waiting, now);
        }
    }
    done.client->on_fabric_complete(done.tag, now);
}

}  // namespace tilesim::arch::fabric
