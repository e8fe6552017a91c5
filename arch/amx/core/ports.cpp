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

void Ports::issue_tmul(std::int64_t now) {
    for (auto it = tmul_.begin(); it != tmul_.end(); ++it) {
        const EntryId id = *it;
        Entry& entry = window_.at(id);
        if (!program::is_dot(entry.instruction->opcode)) {
            if (now < store_free_) {
                continue;
            }
            tmul_.erase(it);
            tmul_use_ = TmulUse::StoreRead;
            tmul_free_ = now + entry.lines;
            store_free_ = now + entry.lines;
            execute_store(id, now, 0);
            return;
        }
        tmul_.erase(it);
        tmul_use_ = TmulUse::Multiply;
        tmul_free_ = now + entry.rows;
        port5_closed_ = now + config_.vector.port5_closed.count();
        execute(id, now, entry.rows + config_.tiles.dot_latency.count());
        if (config_.tiles.early_retire) {
            entry.done_at = now + 1;
        }
        return;
    }
}

void Ports::issue_store(std::int64_t now) {
    const EntryId id = store_.front();
    const Entry& entry = window_.at(id);
    const program::OpcodeInfo& info = program::info_of(entry.instruction->opcode);
    if (entry.instruction->opcode == program::Opcode::VpmovsdbStore) {
        if (now < port5_free_) {
            return;
        }
        port5_free_ = now + info.uops;
    }
    store_.erase(store_.begin());
    store_free_ = now + entry.lines;
    const bool configuration = entry.instruction->opcode == program::Opcode::Sttilecfg;
    execute_store(id, now, configuration ? config_.tiles.store_config.count() : info.latency);
}

void Ports::issue_vector(std::int64_t now) {
    const bool closed = !config_.vector.second_port || now < port5_closed_;
    for (auto it = vector_.begin(); it != vector_.end();) {
        const bool free0 = now >= port0_free_;
        const bool free5 = now >= port5_free_;
        if (!free0 && !free5) {
            break;
        }
        const program::OpcodeInfo& info = program::info_of(window_.at(*it).instruction->opcode);
        const bool on0 = free0 && info.unit != program::Unit::Shuffle;
        const bool on5 = free5 && (info.unit != program::Unit::VectorMath || !closed);
        if (!on0 && !on5) {
            ++it;
            continue;
        }
        (on0 ? port0_free_ : port5_free_) = now + info.uops;
        execute(*it, now, info.latency);
        it = vector_.erase(it);
    }
}

void Ports::issue_scalar(std::int64_t now) {
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
    } else if (!tmul_.empty()) {
        next = std::max(store_free_, now + 1);  // a store that waits for the store line
    }
    if (!store_.empty()) {
        next = std::min(next, std::max(store_free_, now + 1));
    }
    if (!vector_.empty()) {
        next = std::min(next, std::max(std::min(port0_free_, port5_free_), now + 1));
    }
    return scalar_.empty() ? next : now + 1;
}

}  // namespace tilesim::arch::amx::core
