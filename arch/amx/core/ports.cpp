#include "arch/amx/core/ports.hpp"

#include <algorithm>

namespace tilesim::arch::amx::core {

Ports::Ports(const AmxConfig& config, Scoreboard& window, StoreBuffer& stores)
    : config_(config), window_(window), stores_(stores) {}

void Ports::insert(std::vector<EntryId>& list, EntryId id) {
    const std::uint64_t sequence = window_.at(id).sequence;
    auto place = list.end();
    while (place != list.begin() && window_.at(*(place - 1)).sequence > sequence) {
        --place;
    }
    list.insert(place, id);
}

void Ports::start(EntryId id) {
    const Entry& entry = window_.at(id);
    switch (program::info_of(entry.instruction->opcode).unit) {
        case program::Unit::Tmul:
            insert(tmul_, id);
            return;
        case program::Unit::Store:
            insert(entry.stores_dot && config_.tiles.store_reads_tmul ? tmul_ : store_, id);
            return;
        case program::Unit::Scalar:
            insert(scalar_, id);
            return;
        default:
            insert(vector_, id);
            return;
    }
}

void Ports::execute(EntryId id, std::int64_t now, std::int64_t latency) {
    Entry& entry = window_.at(id);
    entry.done_at = now + latency;
    window_.issue(id);
    window_.complete(id, now + latency);
}

void Ports::execute_store(EntryId id, std::int64_t now, std::int64_t latency) {
    Entry& entry = window_.at(id);
    for (std::int64_t i = 0; i < entry.lines; ++i) {
        stores_.set_data(entry.store + i, now + latency + i + 1);
    }
    entry.done_at = now + latency + entry.lines;
    window_.issue(id);
}

// The store line is for a store that waits for nothing else.
bool Ports::older_store_goes(const Entry& entry) const {
    return std::any_of(store_.begin(), store_.end(), [&](EntryId id) {
        const Entry& store = window_.at(id);
        return store.sequence < entry.sequence && store.port0 + store.port5 == 0;
    });
}

void Ports::issue_tmul(std::int64_t now) {
    bool b_waits = false;  // of an older product
    for (auto it = tmul_.begin(); it != tmul_.end(); ++it) {
        const EntryId id = *it;
        Entry& entry = window_.at(id);
        if (!program::is_dot(entry.instruction->opcode)) {
            if (now < store_free_ || older_store_goes(entry)) {
                continue;
            }
            tmul_.erase(it);
            tmul_use_ = TmulUse::StoreRead;
            tmul_free_ = now + entry.lines;
            product_ = 0;
            store_free_ = now + entry.lines;
            execute_store(id, now, 0);
            return;
        }
        const bool loads_b = config_.tiles.dot_loads_b && !entry.keeps_b;
        b_waits = b_waits || (loads_b && now < b_free_);
        if (b_waits) {
            continue;
        }
        tmul_.erase(it);
        tmul_use_ = TmulUse::Multiply;
        const std::int64_t cycles = config_.tiles.dot_cycles(entry.rows);
        tmul_free_ = now + cycles;
        product_ = cycles;
        if (loads_b) {
            b_free_ = now + entry.lines;
        }
        execute(id, now, cycles + config_.tiles.dot_latency.count());
        if (config_.tiles.early_retire) {
            entry.done_at = now + 1;
        }
        return;
    }
}

// The oldest that can go. One that takes ports 0 or 5 stands behind what is older there.
void Ports::issue_store(std::int64_t now) {
    for (auto it = store_.begin(); it != store_.end(); ++it) {
        const Entry& entry = window_.at(*it);
        if (entry.port0 + entry.port5 > 0) {
            issue_vector(now, entry.sequence);
        }
        if (ports_free(entry, now)) {
            send_store(it, now);
            return;
        }
    }
}

void Ports::send_store(std::vector<EntryId>::iterator store, std::int64_t now) {
    const EntryId id = *store;
    const Entry& entry = window_.at(id);
    store_.erase(store);
    take_ports(entry, now);
    if (entry.instruction->opcode == program::Opcode::Sttilecfg) {
        const std::int64_t gathers = config_.tiles.store_config.count();  // no other meanwhile
        store_free_ = now + gathers;
        execute_store(id, now, gathers);
        return;
    }
    store_free_ = now + entry.lines;
    execute_store(id, now, entry.port0 + entry.port5 > 0 ? latency_of(id) : 0);
}

void Ports::take_ports(const Entry& entry, std::int64_t now) {
    if (entry.port0 > 0) {
        port0_free_ = now + entry.port0;
        bound0_ -= entry.port0;
    }
    if (entry.port5 > 0) {
        port5_free_ = now + entry.port5;
        bound5_ -= entry.port5;
    }
}

const OpcodeTiming& Ports::timing_of(EntryId id) const {
    return config_.instructions[static_cast<std::size_t>(window_.at(id).instruction->opcode)];
}

// Of what takes ports 0 or 5.
std::int64_t Ports::latency_of(EntryId id) const {
    const OpcodeTiming& timing = timing_of(id);
    const bool only5 = window_.at(id).port0 == 0 && timing.port5_latency.count() > 0;
    return (only5 ? timing.port5_latency : timing.latency).count();
}

void Ports::bind(EntryId id, std::int64_t now) {
    Entry& entry = window_.at(id);
    const program::Opcode opcode = entry.instruction->opcode;
    if (program::is_dot(opcode) || opcode == program::Opcode::Tilezero) {
        since_tile_ = 0;
        switch_port5(false, now);
        return;
    }
    const OpcodeTiming& timing = timing_of(id);
    if (timing.port0 + timing.port5 + timing.either == 0) {
        return;
    }
    if (++since_tile_ > config_.vector.port5_opens) {
        switch_port5(true, now);
    }
    bool on5 = false;
    if (timing.either > 0 && config_.vector.second_port && port5_open_) {
        const bool even = !config_.vector.balanced_binding || bound0_ == bound5_;
        on5 = even ? port5_next_ : bound5_ < bound0_;
        port5_next_ = !on5;
    }
    entry.port0 = static_cast<std::int8_t>(timing.port0 + (on5 ? 0 : timing.either));
    entry.port5 = static_cast<std::int8_t>(timing.port5 + (on5 ? timing.either : 0));
    bound0_ += entry.port0;
    bound5_ += entry.port5;
}

void Ports::switch_port5(bool open, std::int64_t now) {
    if (open == port5_open_) {
        return;
    }
    port5_open_ = open;
    const std::int64_t still = config_.vector.port5_switch.count();
    port0_free_ = std::max(port0_free_, now) + still;
    port5_free_ = std::max(port5_free_, now) + still;
}

// Those older than the instruction `before`.
void Ports::issue_vector(std::int64_t now, std::uint64_t before) {
    for (auto it = vector_.begin(); it != vector_.end();) {
        if (now < port0_free_ && now < port5_free_) {
            break;
        }
        const Entry& entry = window_.at(*it);
        if (entry.sequence >= before) {
            break;
        }
        if (!ports_free(entry, now)) {
            ++it;
            continue;
        }
        take_ports(entry, now);
        execute(*it, now, latency_of(*it));
        it = vector_.erase(it);
    }
}

void Ports::issue_scalar(std::int64_t now) {
    most_scalar_ = std::max(most_scalar_, std::ssize(scalar_));
    const std::size_t count =
        std::min(static_cast<std::size_t>(config_.vector.scalar_ports), scalar_.size());
    for (std::size_t i = 0; i < count; ++i) {
        execute(scalar_[i], now, 1);
    }
    scalar_.erase(scalar_.begin(), scalar_.begin() + static_cast<std::ptrdiff_t>(count));
}

std::int64_t Ports::next_event(std::int64_t now) const {
    std::int64_t next = caches::kUnknownCycle;
    if (tmul_free_ > now) {
        next = tmul_free_;  // also where the account changes
    } else {  // a store waits for the store line, a product for the B of the one before
        for (const EntryId id : tmul_) {
            const bool dot = program::is_dot(window_.at(id).instruction->opcode);
            next = std::min(next, std::max(dot ? b_free_ : store_free_, now + 1));
        }
    }
    if (!store_.empty()) {
        next = std::min(next, std::max(store_free_, now + 1));
    }
    if (!vector_.empty()) {
        next = std::min(next, std::max(std::min(port0_free_, port5_free_), now + 1));
    }
    return scalar_.empty() ? next : now + 1;
}

void Ports::record(caches::StateRecord& to) const {
    for (const std::vector<EntryId>* const list : {&tmul_, &store_, &vector_, &scalar_}) {
        to.add(std::ssize(*list));
        for (const EntryId id : *list) {
            to.entry(id);
        }
    }
    for (const std::int64_t free : {tmul_free_, b_free_, store_free_, port0_free_, port5_free_}) {
        to.time(free);
    }
    to.add(bound0_);
    to.add(bound5_);
    to.add((port5_open_ ? 1 : 0) | (port5_next_ ? 2 : 0));
    to.add(std::min(since_tile_, config_.vector.port5_opens + 1));  // more makes no difference
    to.add(static_cast<std::int64_t>(tmul_use_));
}

}  // namespace tilesim::arch::amx::core
