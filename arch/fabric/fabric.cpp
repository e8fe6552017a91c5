#include "arch/fabric/fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

namespace tilesim::arch::fabric {

Fabric::Fabric(const FabricConfig& config, std::size_t ports, base::Clock port_clock,
               base::BytesPerCycle port_width, memory::port::MemoryPort& memory,
               base::EventQueue& queue)
    : config_(config),
      clock_(port_clock),
      width_(port_width),
      memory_(memory),
      queue_(queue),
      reads_(config),
      writes_(config),
      read_blocks_(config),
      written_blocks_(config),
      pages_(config),
      ports_(ports),
      chop_bits_(std::countr_zero(static_cast<std::uint64_t>(config.chop.count()))) {
    for (Port& port : ports_) {
        port.fabric = this;
    }
    turns_.fabric = this;
}

std::int64_t Fabric::chops(const FabricRequest& request) const {
    return ((request.address + request.bytes - 1) >> chop_bits_) - (request.address >> chop_bits_) +
           1;
}

base::Femtoseconds Fabric::occupy(base::Cycles& free, base::Cycles& busy, std::int64_t bytes,
                                  base::Femtoseconds from) {
    const base::Cycles start = std::max(free, clock_.first_cycle_from(from));
    const base::Cycles takes = base::transfer_time(base::Bytes{bytes}, width_);
    busy += takes;
    free = start + takes;
    return clock_.time_of(free);
}

Fabric::Use Fabric::busiest() const {
    Use most;
    std::optional<base::Femtoseconds> first;
    for (const Port& port : ports_) {
        if (port.first) {
            const base::Femtoseconds longest =
                std::max({clock_.time_of(std::max(port.reads_busy, port.writes_busy)),
                          port.read_turns, port.write_turns});
            const Use use{*port.first, longest};
            most = use.end() > most.end() ? use : most;
            first = std::min(first.value_or(*port.first), *port.first);
        }
    }
    const Use shared{first.value_or(base::Femtoseconds{0}),
                     std::max({reads_.busy(), writes_.busy(), read_blocks_.busy(),
                               written_blocks_.busy(), pages_.walking()})};
    return shared.end() > most.end() ? shared : most;
}

std::vector<std::string> Fabric::not_exercised() const {
    std::vector<std::string> names;
    if (requests_.most_in_use() == 0) {
        names.emplace_back("fabric.request_latency");
    }
    if (std::ranges::none_of(ports_, [](const Port& port) { return port.has_read(); })) {
        names.emplace_back("fabric.response_latency");
    }
    if (!has_waited_for_turn_) {
        names.insert(names.end(), {"fabric.request_interval", "fabric.chop"});
    }
    if (!reads_.is_used() && !writes_.is_used()) {
        names.emplace_back("fabric.link_clock");  // whose edges every request keeps to
    }
    if (!reads_.near() && !writes_.near()) {
        names.insert(names.end(), {"fabric.link_width", "fabric.line"});
    } else if (reads_.whole_lines() && writes_.whole_lines()) {
        names.emplace_back("fabric.line");
    }
    if (!read_blocks_.has_mattered() && !written_blocks_.has_mattered()) {
        names.insert(names.end(), {"fabric.block", "fabric.block_interval"});
    }
    if (!pages_.has_walked()) {
        names.insert(names.end(), {"fabric.page", "fabric.page_walk"});
    }
    if (!pages_.has_walked_again()) {
        names.emplace_back("fabric.known_pages");
    }
    return names;
}

void Fabric::connect(base::ProbeListener* listener) {
    probe_.connect(listener);
    for (std::size_t i = 0; i < ports_.size(); ++i) {
        ports_[i].reads_lane = fmt::format("fabric.port({}).reads", i);
        ports_[i].waiting_lane = fmt::format("fabric.port({}).waiting", i);
    }
}

void Fabric::note(Port& port, std::int64_t under_way, std::int64_t waiting,
                  base::Femtoseconds now) {
    const auto change = [this, now](const std::string& lane, std::string_view activity,
                                    std::int64_t& count, std::int64_t more) {
        const bool before = count > 0;
        count += more;
        if (!before && count > 0) {
            probe_.begin(lane, activity, now);
        } else if (before && count == 0) {
            probe_.end(lane, activity, now);
        }
    };
    change(port.reads_lane, "under_way", port.under_way, under_way);
    change(port.waiting_lane, "waiting", port.waiting, waiting);
}

void Fabric::note_departures(Port& port, base::Femtoseconds now) {
    while (!port.departures.empty() && port.departures.front() <= now) {
        note(port, 1, -1, port.departures.front());
        port.departures.pop_front();
    }
}

void Fabric::note_begin(Port& port, base::Femtoseconds goes) {
    const base::Femtoseconds now = queue_.now();
    note_departures(port, now);
    if (goes <= now) {
        note(port, 1, 0, now);
        return;
    }
    note(port, 0, 1, now);
    base::insert_before(port.departures,
                        [goes](base::Femtoseconds other) { return other > goes; }) = goes;
}

// A write first crosses its port, a read does so with its answer.
void Fabric::begin(std::uint64_t slot) {
    const FabricRequest& request = requests_[slot];
    const base::Femtoseconds now = queue_.now();
    Port& port = ports_[request.port];
    port.first = port.first.value_or(now);
    const base::Femtoseconds from =
        request.write ? occupy(port.write_free, port.writes_busy, request.bytes, now) : now;
    base::Femtoseconds& turn = request.write ? port.write_turn : port.read_turn;
    const base::Femtoseconds sets_out = std::max(turn, from);
    turn = sets_out;
    if (!request.modifiable) {
        const base::Femtoseconds takes = config_.request_interval * chops(request);
        turn += takes;
        (request.write ? port.write_turns : port.read_turns) += takes;
    }
    if (sets_out == from) {
        send(slot, from);
        return;
    }
    has_waited_for_turn_ = true;
    if (probe_ && !request.write) {
        note_departures(port, now);
        note(port, 0, 1, now);
    }
    queue_.at(sets_out, turns_, slot);
}

void Fabric::Turns::on_event(std::uint64_t slot, base::Femtoseconds now) {
    fabric->send(slot, now);
    const FabricRequest& request = fabric->requests_[slot];
    if (fabric->probe_ && !request.write) {
        fabric->note(fabric->ports_[request.port], 0, -1, now);
    }
}

// On the link, then to the memory.
void Fabric::send(std::uint64_t slot, base::Femtoseconds from) {
    const FabricRequest& request = requests_[slot];
    SharedLink& link = request.write ? writes_ : reads_;
    SharedBlocks& blocks = request.write ? written_blocks_ : read_blocks_;
    const base::Femtoseconds carried = link.take(request.address, request.bytes, from);
    const base::Femtoseconds moved =
        blocks.take(request.address, request.bytes, request.modifiable, carried);
    const base::Femtoseconds goes = pages_.known(request.address, moved, queue_.now());
    if (probe_ && !request.write) {
        note_begin(ports_[request.port], goes);
    }
    memory_.submit({request.address, request.bytes, request.write, this, slot,
                    goes + config_.request_latency});
}

void Fabric::on_memory_complete(std::uint64_t slot, base::Femtoseconds when) {
    const FabricRequest& request = requests_[slot];
    if (request.write) {
        queue_.at(when, *this, slot);  // posted: nobody waits for its answer
    } else {
        expect(ports_[request.port], {slot, when + config_.response_latency});
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
    } else if (!crossing) {  // or else the answer goes behind the one that crosses, or is that one
        fabric->cross(*this);
    }
}

// The first answer crosses the agent's read port, as soon as it has arrived there.
void Fabric::cross(Port& port) {
    const Answer answer = port.answers.front();
    port.answers.pop_front();
    port.crossing = true;
    const std::int64_t bytes = requests_[answer.slot].bytes;
    queue_.at(occupy(port.read_free, port.reads_busy, bytes, answer.arrival), port, answer.slot);
}

void Fabric::on_event(std::uint64_t slot, base::Femtoseconds now) {
    finish(slot, now);
}

void Fabric::finish(std::uint64_t slot, base::Femtoseconds now) {
    const FabricRequest& done = requests_[slot];
    FabricClient* const client = done.client;
    const std::uint64_t tag = done.tag;
    if (probe_ && !done.write) {
        note_departures(ports_[done.port], now);
        note(ports_[done.port], -1, 0, now);
    }
    requests_.give_back(slot);
    client->on_fabric_complete(tag, now);
}

}  // namespace tilesim::arch::fabric
