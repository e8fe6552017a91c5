#include "arch/fabric/fabric.hpp"

#include <fmt/format.h>

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

void Fabric::connect(base::ProbeListener* listener) {
    probe_.connect(listener);
    for (std::size_t i = 0; i < ports_.size(); ++i) {
        ports_[i].reads_lane = fmt::format("fabric.port({}).reads", i);
        ports_[i].waiting_lane = fmt::format("fabric.port({}).waiting", i);
    }
}

void Fabric::note(std::size_t index, std::int64_t under_way, std::int64_t waiting) {
    const auto change = [this](const std::string& lane, std::string_view activity,
                               std::int64_t& count, std::int64_t more) {
        const bool before = count > 0;
        count += more;
        if (!before && count > 0) {
            probe_.begin(lane, activity, queue_.now());
        } else if (before && count == 0) {
            probe_.end(lane, activity, queue_.now());
        }
    };
    Port& port = ports_[index];
    change(port.reads_lane, "under_way", port.under_way, under_way);
    change(port.waiting_lane, "waiting", port.waiting, waiting);
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
        return;
    }
    const bool goes = tracker_.begin(request.address, slot);
    if (probe_) {
        note(request.port, goes ? 1 : 0, goes ? 0 : 1);
    }
    if (goes) {
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
            if (probe_) {
                note(transactions_[waiting].request.port, 1, -1);
            }
            send(waiting, now);
        }
        if (probe_) {
            note(done.port, -1, 0);
        }
    }
    done.client->on_fabric_complete(done.tag, now);
}

}  // namespace tilesim::arch::fabric
