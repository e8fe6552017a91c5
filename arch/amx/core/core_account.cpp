// Where a core's cycles go.
#include <fmt/format.h>

#include <algorithm>

#include "arch/amx/core/core.hpp"

namespace tilesim::arch::amx::core {

namespace {

constexpr std::size_t kSources = 3;

}  // namespace

void Core::charge_parts(std::int64_t until) {
    std::int64_t at = std::clamp(ports_.tmul_free(), now_, until);
    if (at > now_) {
        charge(tmul_state(), now_, at);
    }
    while (at < until) {
        std::int64_t end = until;
        const CoreState state = cause(at, end);
        overlapped_[static_cast<std::size_t>(state)] += ports_.take_product();
        charge(state, at, end);
        at = end;
    }
}

void Core::charge(CoreState state, std::int64_t from, std::int64_t until) {
    spent_[static_cast<std::size_t>(state)] += until - from;
    if (probe_) [[unlikely]] {
        probe_.enter(kCoreStates[state].name, base::Cycles{from});
    }
}

void Core::connect(base::ProbeListener* listener, std::string name) {
    probe_.connect(listener, std::move(name), base::Clock{config_.clock});
}

void Core::finish_trace(std::int64_t cycle) {
    if (probe_) {
        probe_.leave(base::Cycles{cycle});
    }
}

// Why TMUL is idle at `at`; `end` comes down to where that changes.
CoreState Core::cause(std::int64_t at, std::int64_t& end) const {
    if (at_barrier_ || barrier_until_ > at) {
        return CoreState::Barrier;
    }
    if (first_dot_ < dots_.size()) {
        return cause_of_dot(window_.at(dots_[first_dot_]), at, end);
    }
    if (allocates_from_ > at) {
        return CoreState::Configure;
    }
    if (stream_.finished()) {
        return CoreState::Drain;
    }
    if (blocked_ == Blocked::Tiles) {
        return cause_of_tiles();
    }
    return blocked_ == Blocked::No ? CoreState::Ports : cause_of_full();
}

// Physical tiles are short where loads hold them until their lines have come from far.
CoreState Core::cause_of_tiles() const {
    const Entry& head = window_.head();
    return program::is_tile_load(head.instruction->opcode) && head.missed >= 0 ? cause_of_load(head)
                                                                               : CoreState::Tiles;
}

// The window and its queues are full: their oldest keeps the others from moving on. Of a full store
// buffer that is a store, once it has left the window.
CoreState Core::cause_of_full() const {
    if (blocked_ == Blocked::StoreBuffer && stores_.head_is_senior()) {
        return cause_of_store();
    }
    return window_.empty() ? CoreState::Window : cause_of_oldest();
}

CoreState Core::cause_of_oldest() const {
    const Entry& head = window_.head();
    const program::Unit unit = program::info_of(head.instruction->opcode).unit;
    const bool loads = unit == program::Unit::Load;
    const bool loaded = loads && head.next_line == head.lines && head.waiting == 0;
    if (unit == program::Unit::Vector || unit == program::Unit::Scalar ||
        (loaded && head.port0 + head.port5 > 0)) {
        return CoreState::Ports;
    }
    if (!loads) {
        return CoreState::Window;
    }
    return program::is_prefetch(head.instruction->opcode) ? cause_of_prefetch()
                                                          : cause_of_load(head);
}

// It needs a fill buffer and, into the L2, a place among its misses.
CoreState Core::cause_of_prefetch() const {
    return caches_.full() ? cause_of_buffers() : CoreState::Window;
}

CoreState Core::cause_of_store() const {
    const caches::Line line = stores_.head_line();
    if (stores_.head_streams()) {
        return CoreState::FillBuffers;
    }
    if (caches_.contains_l1(line)) {
        return CoreState::Window;  // a store a cycle
    }
    const caches::Level level = caches_.level_of(line);
    return level == caches::Level::L1 || caches_.full_of_misses() ? cause_of_buffers()
                                                                  : cause_of_level(level);
}

// What has no fill buffer waits for those of others.
CoreState Core::cause_of_buffers() const {
    return caches_.full_of_misses() ? CoreState::FillBuffers : CoreState::LoadL2;
}

CoreState Core::cause_of_dot(const Entry& dot, std::int64_t at, std::int64_t& end) const {
    CoreState cause = CoreState::Ports;
    for (std::size_t slot = 0; slot < kSources; ++slot) {
        const EntryId late = window_.late_producer(dot, slot, at);
        if (late == kNoEntry) {
            continue;
        }
        const Entry& producer = window_.at(late);
        end = std::min(end, producer.result_at);
        if (program::is_tile_load(producer.instruction->opcode)) {
            cause = cause_of_load(producer);
            continue;
        }
        cause = cause == CoreState::Ports ? CoreState::Accumulator : cause;
    }
    if (cause == CoreState::Ports && ports_.b_free() > at) {
        end = std::min(end, ports_.b_free());
        return CoreState::Multiply;  // it has still to bring in B
    }
    return cause;
}

// Stores are written in order, once they have left the window: one that has not waits for the
// oldest instruction there, the next of the others for its line.
CoreState Core::cause_of_conflict(std::int64_t store) const {
    CoreState cause = CoreState::StoreConflict;
    if (!stores_.senior(store)) {
        cause = cause_of_oldest();
    } else if (!stores_.committed(store)) {
        cause = cause_of_store();
    }
    return cause == CoreState::Window ? CoreState::StoreConflict : cause;
}

CoreState Core::cause_of_load(const Entry& load) const {
    if (load.store >= 0) {
        return cause_of_conflict(load.store);
    }
    const bool behind_l1 = load.missed >= 0 || load.next_line < load.lines;
    if (behind_l1 && !loads_.empty() && caches_.full_of_misses()) {
        return CoreState::FillBuffers;
    }
    if (load.missed < 0) {
        return CoreState::LoadL1;
    }
    return cause_of_level(caches_.level_of(load.missed));
}

CoreState Core::cause_of_level(caches::Level level) {
    switch (level) {
        case caches::Level::L1:
        case caches::Level::L2:
            return CoreState::LoadL2;
        case caches::Level::L3:
            return CoreState::LoadL3;
        case caches::Level::Memory:
            return CoreState::LoadMemory;
    }
    return CoreState::LoadL1;
}

std::string Core::waiting_for() const {
    if (at_barrier_) {
        return "the others at a barrier";
    }
    if (!window_.empty()) {
        const Entry& head = window_.head();
        return fmt::format("{} at {:#x} (line {} of {}, {} under way)",
                           program::info_of(head.instruction->opcode).mnemonic, head.address,
                           head.next_line, head.lines, head.waiting);
    }
    if (blocked_ != Blocked::No) {
        const program::Statement& refused = program_.statements[stream_.position()];
        return fmt::format("{} that {} needs", kBlocked[blocked_].description,
                           program::info_of(refused.instruction.opcode).mnemonic);
    }
    return "stores to reach the L1";
}

}  // namespace tilesim::arch::amx::core
