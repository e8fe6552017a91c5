#include "arch/amx/core/core.hpp"

#include <algorithm>

#include "arch/amx/program/legality.hpp"
#include "arch/base/check.hpp"

namespace tilesim::arch::amx::core {

Core::Core(const AmxConfig& config, const program::Program& program, InstructionObserver* observer)
    : config_(config),
      program_(program),
      observer_(observer),
      stream_(program),
      checked_(program.statements.size(), 0),
      window_(config.window, config.tiles),
      caches_(config.caches, config.clock, config.uncore.lookup + config.uncore.answer),
      pages_(config.pages, caches_),
      stores_(config.window.store_buffer, config.access.tile_load_after_store.count(),
              pages_.map()),
      loads_(config, window_, caches_, stores_, pages_),
      ports_(config, window_, stores_) {}

void Core::advance(std::int64_t limit) {
    limit -= skipped_;
    caches_.expect_deliveries(limit);
    bool steps = takes_step();
    while (now_ < limit) {
        if (finished() || fault_) {
            charge(CoreState::Finished, now_, limit);
            now_ = limit;
            return;
        }
        const std::int64_t event = steps ? step() : next_delivery();
        steps = true;  // it leads to where something is due
        if (finished()) {
            continue;
        }
        due_ = event;
        if (turned_) {
            look();
        }
        asleep_ = event == caches::kUnknownCycle;
        const std::int64_t next = std::min(limit, event);
        charge(next);
        now_ = next;
    }
}

// Of several cores each takes a step when a slice begins, also where nothing is due.
bool Core::takes_step() const {
    return !repetition_ || now_ >= next_delivery();
}

// As the last step left it, or what has been delivered since.
std::int64_t Core::next_delivery() const {
    return caches_.idle() ? due_ : std::min(due_, caches_.next_event(now_ - 1));
}

// Stages from the end of the pipeline to its start, so that nothing passes two of them in a cycle.
// Flattened: most parts do little in a step, and calls would cost as much again.
[[gnu::flatten]] std::int64_t Core::step() {
    window_.begin(now_);
    if (!caches_.idle()) {
        receive();
    }
    bool stores_moved = !stores_.idle() && stores_.commit(now_, caches_);
    if (!window_.empty() && window_.head().done_at <= now_) {
        retire();
    }
    for (EntryId id = window_.pop_due(now_); id != kNoEntry; id = window_.at(id).next_in_slot) {
        const Entry& entry = window_.at(id);
        if (program::info_of(entry.instruction->opcode).unit == program::Unit::Load &&
            entry.next_line < entry.lines) {
            loads_.start(id);
        } else {
            ports_.start(id);
        }
    }
    if (!loads_.empty()) {
        loads_.step(now_);
    }
    if (!stores_.idle()) {  // loads have the first choice of fill buffers
        stores_moved = stores_.ask(now_, caches_) || stores_moved;
    }
    ports_.step(now_);
    allocate();
    if (stream_.finished() && window_.empty() && stores_.empty() && barrier_until_ <= now_) {
        finished_at_ = now_;
    }
    return stores_moved ? now_ + 1 : next_event();
}

void Core::receive() {
    arrivals_.clear();
    const caches::CacheCounters& counters = caches_.counters();
    const std::int64_t fills = counters.fills;
    const std::int64_t write_backs = counters.write_backs;
    caches_.advance(now_, arrivals_);
    if (counters.fills != fills) {
        const caches::PrivateCaches::Fill& fill = caches_.latest_fill();
        if (fill.came != caches::Cache::kNone) {  // a line past the L1 keeps nobody out
            loads_.fill(now_, counters.write_backs != write_backs);
        }
        stores_.note_fill(fill);
    }
    for (const caches::PrivateCaches::Arrival& arrival : arrivals_) {
        if ((arrival.waiter & Translation::kWalks) != 0) {
            pages_.arrive(arrival.waiter, now_);
        } else {
            loads_.arrive(arrival.waiter, now_);
        }
    }
}

// What frees a resource comes before `allocate` in a cycle: an instruction that is still refused
// then needs another event first.
std::int64_t Core::next_event() const {
    const std::int64_t soon = now_ + 1;
    if (blocked_ == Blocked::No && allocates_from_ <= now_ && may_allocate()) {
        return soon;
    }
    std::int64_t next = window_.next_due();
    next = window_.empty() ? next : std::min(next, window_.head().done_at);
    if (next <= soon) {
        return soon;
    }
    next = caches_.idle() ? next : std::min(next, caches_.next_event(now_));
    if (next <= soon) {
        return soon;
    }
    next = stores_.idle() ? next : std::min(next, stores_.next_event(now_));
    if (next <= soon) {
        return soon;
    }
    next = loads_.empty() ? next : std::min(next, loads_.next_event(now_));
    next = std::min(next, ports_.next_event(now_));
    return allocates_from_ > now_ ? std::min(next, allocates_from_) : next;
}

void Core::retire() {
    std::int64_t budget = config_.window.retire;
    while (budget > 0 && !window_.empty()) {
        const Entry& head = window_.head();
        if (head.done_at > now_) {
            return;
        }
        if (retire_left_ == 0) {
            retire_left_ = head.uops;
        }
        const std::int64_t taken = std::min(budget, retire_left_);
        budget -= taken;
        retire_left_ -= taken;
        if (retire_left_ > 0) {
            return;
        }
        if (program::is_store(head.instruction->opcode)) {
            stores_.set_senior(head.store + head.lines);
        }
        window_.retire();
    }
}

void Core::allocate() {
    if (blocked_ != Blocked::No && blocked_ != Blocked::StoreBuffer &&
        refused_ == window_.releases()) {
        return;
    }
    std::int64_t budget = config_.window.allocate;
    while (budget > 0 && allocates_from_ <= now_ && may_allocate() && allocate_one(budget)) {
    }
}

// An instruction of more uops than are left of a cycle's budget enters over several cycles; it
// counts as entered with its last uop.
bool Core::allocate_one(std::int64_t& budget) {
    const program::DynamicInstruction& dynamic = stream_.current();
    const std::int64_t uops = uops_of(*dynamic.instruction);
    if (uops_left_ == 0) {
        blocked_ = window_.blocked(*dynamic.instruction, uops);
        if (blocked_ == Blocked::No && program::is_store(dynamic.instruction->opcode) &&
            stores_.room() < lines_of(dynamic)) {
            blocked_ = Blocked::StoreBuffer;
        }
        if (blocked_ != Blocked::No) {
            refused_ = window_.releases();
            return false;
        }
        uops_left_ = uops;
    }
    const std::int64_t taken = std::min(budget, uops_left_);
    budget -= taken;
    uops_left_ -= taken;
    return uops_left_ > 0 || enter(dynamic, uops);
}

bool Core::enter(const program::DynamicInstruction& dynamic, std::int64_t uops) {
    const program::Instruction& instruction = *dynamic.instruction;
    if (!allowed(instruction)) {
        return false;
    }
    if (holds_back(instruction)) {
        return false;
    }
    if (observer_ != nullptr) {
        observer_->on_instruction(dynamic);
    }
    ++counters_.instructions;
    const EntryId id = window_.allocate(dynamic, uops, now_);
    ports_.bind(id, now_);
    if (program::info_of(instruction.opcode).memory()) {
        prepare_memory(id);
    } else {
        prepare_others(id);
    }
    if (repetition_ && repetition_->watches(stream_.position())) {
        turned_ = stream_.position();
    }
    stream_.advance();
    return true;
}

// A barrier waits for everything in front of it, and for the others; a fence for the former.
bool Core::holds_back(const program::Instruction& instruction) {
    const bool barrier = instruction.opcode == program::Opcode::Barrier;
    if (!barrier && instruction.opcode != program::Opcode::Lfence) {
        return false;
    }
    if (window_.empty() && (!barrier || stores_.empty())) {
        at_barrier_ = barrier;
        barrier_from_ = now_;
        counters_.instructions += barrier ? 1 : 0;
        return barrier;
    }
    return true;
}

void Core::restart(std::int64_t now) {
    now_ = now - skipped_;
    due_ = now_;
    if (repetition_) {
        repetition_->forget();
    }
    stream_.restart();
    finished_at_ = caches::kUnknownCycle;
    counters_ = {};
    spent_ = {};
    overlapped_ = {};
}

void Core::pass_barrier(std::int64_t at) {
    at_barrier_ = false;
    asleep_ = false;
    barrier_until_ = std::max(at - skipped_, now_);
    allocates_from_ = barrier_until_;
    due_ = barrier_until_;
    stream_.advance();
}

void Core::prepare_memory(EntryId id) {
    Entry& entry = window_.at(id);
    const program::Instruction& instruction = *entry.instruction;
    const bool tile = program::is_tile_load(instruction.opcode) ||
                      instruction.opcode == program::Opcode::Tilestored;
    entry.rows = 1;
    std::int64_t bytes = instruction.bytes;
    if (tile) {
        const program::TileShape& shape = tiles_.shape(instruction.destination);
        entry.rows = static_cast<std::int8_t>(shape.rows);
        bytes = shape.row_bytes;
    }
    entry.lines = static_cast<std::int8_t>(lines_of({&instruction, entry.address, entry.bytes}));
    if (!program::is_store(instruction.opcode)) {
        counters_.tile_loads += tile ? 1 : 0;
        counters_.tile_load_lines += tile ? entry.lines : 0;
        return;
    }
    counters_.tile_stores += tile ? 1 : 0;
    const bool streams = instruction.opcode == program::Opcode::Vmovntps;
    for (std::int64_t row = 0; row < entry.rows; ++row) {
        std::int64_t from = entry.address + row * instruction.row_stride;
        const std::int64_t end = from + bytes;
        for (std::int64_t part = 0; part < entry.lines / entry.rows; ++part) {
            const std::int64_t line_end = (from / caches::kLineBytes + 1) * caches::kLineBytes;
            const std::int64_t length = std::max<std::int64_t>(std::min(end, line_end) - from, 1);
            const std::int64_t store = stores_.push(from, length, entry.sequence, tile, streams);
            entry.store = row + part == 0 ? store : entry.store;
            from = line_end;
        }
    }
}

void Core::prepare_others(EntryId id) {
    Entry& entry = window_.at(id);
    const program::Opcode opcode = entry.instruction->opcode;
    if (program::is_dot(opcode)) {
        entry.rows = static_cast<std::int8_t>(tiles_.shape(entry.instruction->destination).rows);
        ++counters_.dots;
        entry.lines = static_cast<std::int8_t>(tiles_.shape(entry.instruction->source_b).rows);
        counters_.dot_cycles += config_.tiles.dot_cycles(entry.rows);
        counters_.b_cycles += config_.tiles.dot_loads_b && !entry.keeps_b ? entry.lines : 0;
        if (first_dot_ == dots_.size()) {
            dots_.clear();
            first_dot_ = 0;
        }
        dots_.push_back(id);
        return;
    }
    if (program::info_of(opcode).unit != program::Unit::None) {
        return;
    }
    std::int64_t latency = 0;
    if (opcode == program::Opcode::Tilezero) {
        latency = config_.tiles.zero_latency.count();
    } else if (opcode == program::Opcode::Ldtilecfg || opcode == program::Opcode::Tilerelease) {
        latency = (opcode == program::Opcode::Ldtilecfg ? config_.tiles.load_config
                                                        : config_.tiles.release)
                      .count();
        allocates_from_ = now_ + latency;
        window_.reset_tiles();
    } else if (opcode == program::Opcode::Pause) {
        allocates_from_ = now_ + entry.instruction->immediate;
    }
    entry.done_at = now_ + 1;
    window_.complete(id, now_ + latency);
}

// Whether an instruction may execute depends on the tile configuration alone: one look at each
// under each configuration does.
bool Core::allowed(const program::Instruction& instruction) {
    std::uint32_t& checked = checked_[stream_.position()];
    if (checked == configuration_) {
        return true;
    }
    checked = configuration_;
    if (instruction.opcode == program::Opcode::Ldtilecfg ||
        instruction.opcode == program::Opcode::Tilerelease) {
        ++configuration_;  // these set another, and are looked at every time
    }
    fault_ = program::execute_on(tiles_, program_, instruction);
    return !fault_;
}

std::int64_t Core::uops_of(const program::Instruction& instruction) const {
    if (program::is_tile_load(instruction.opcode)) {
        return config_.access.tile_load_uops;
    }
    return instruction.opcode == program::Opcode::Tilestored
               ? config_.access.tile_store_uops
               : config_.instructions[static_cast<std::size_t>(instruction.opcode)].uops;
}

// Lines the instruction touches: rows that do not start on a line may take two.
std::int64_t Core::lines_of(const program::DynamicInstruction& dynamic) const {
    const program::Instruction& instruction = *dynamic.instruction;
    std::int64_t rows = 1;
    std::int64_t bytes = dynamic.bytes;
    bool crosses = false;
    if (program::is_tile_load(instruction.opcode) ||
        instruction.opcode == program::Opcode::Tilestored) {
        rows = tiles_.shape(instruction.destination).rows;
        bytes = tiles_.shape(instruction.destination).row_bytes;
        crosses = instruction.row_stride % caches::kLineBytes + bytes > caches::kLineBytes;
    }
    crosses = crosses || dynamic.address % caches::kLineBytes + bytes > caches::kLineBytes;
    return program::is_prefetch(instruction.opcode) ? 1 : rows * (crosses ? 2 : 1);
}

}  // namespace tilesim::arch::amx::core
