#include "arch/fabric/fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace tilesim::arch::fabric {

Fabric::Fabric(const FabricConfig& config, std::size_t ports, base::Clock port_clock,
               base::BytesPerCycle port_width, memory::controller::MemorySystem& memory,
               base::EventQueue& queue)
    : config_(config),
      clock_(port_clock),
      width_(port_width),
      memory_(memory),
      queue_(queue),
      tracker_(config.read_blocks, config.block),
      ports_(ports) {
    for (Port& port : ports_) {
        port.fabric = this;
    }
}

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

void Fabric::begin(std::uint64_t slot) {
    const FabricRequest& request = requests_[slot];
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
    const FabricRequest& request = requests_[slot];
    memory_.submit({request.address, request.bytes, request.write, this, slot,
                    from + config_.request_latency + request.extra_latency});
}

void Fabric::on_memory_complete(std::uint64_t slot, base::Femtoseconds when) {
    const base::Femtoseconds arrival = when + config_.response_latency;
    const FabricRequest& request = requests_[slot];
    if (request.write) {
        queue_.at(arrival, *this, slot);
    } else {
        expect(ports_[request.port], {slot, arrival});
    }
}

// The memory answers in no order of time.
void Fabric::expect(Port& port, Answer answer) {
    Answer& place = base::insert_before(
        port.answers, [&](const Answer& other) { return other.arrival > answer.arrival; });
    place = answer;
    if (!port.crossing && &place == &port.answers.front()) {
        queue_.at(answer.arrival, port, kArrival);
    }
}

void Fabric::Port::on_event(std::uint64_t tag, base::Femtoseconds now) {
    if (tag != kArrival) {
        crossing = false;
        // What the memory has yet to announce arrives more than its way back from now.
        if (!answers.empty() && answers.front().arrival <= now + fabric->config_.response_latency) {
            fabric->cross(*this);
        } else if (!answers.empty()) {
            fabric->queue_.at(answers.front().arrival, *this, kArrival);
        }
        fabric->finish(tag, now);
    } else if (!crossing && !answers.empty() && answers.front().arrival <= now) {
        fabric->cross(*this);
    }
}

// The first answer crosses the agent's read port, as soon as it has arrived there.
void Fabric::cross(Port& port) {
    const Answer answer = port.answers.front();
    port.answers.pop_front();
    port.crossing = true;
    const std::int64_t bytes = requests_[answer.slot].bytes;
    queue_.at(occupy(port.read_free, bytes, answer.arrival), port, answer.slot);
}

void Fabric::on_event(std::uint64_t slot, base::Femtoseconds now) {
    finish(slot, now);
}

void Fabric::finish(std::uint64_t slot, base::Femtoseconds now) {
    const FabricRequest& done = requests_[slot];
    FabricClient* const client = done.client;
    const std::uint64_t tag = done.tag;
    if (!done.write) {
        for (const std::uint64_t waiting : tracker_.end(done.address)) {
            if (probe_) {
                note(requests_[waiting].port, 1, -1);
            }
            send(waiting, now);
        }
        if (probe_) {
            note(done.port, -1, 0);
        }
    }
    requests_.give_back(slot);
    client->on_fabric_complete(tag, now);
}

}  // namespace tilesim::arch::fabric
