#include "arch/amx/core/scoreboard.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "arch/base/check.hpp"

namespace tilesim::arch::amx::core {

namespace {

constexpr std::uint32_t kNoConsumer = UINT32_MAX;
constexpr std::uint32_t kOperands = 4;  // consumer lists: entry * kOperands + operand
const Entry kFresh{};                   // copied: g++ 12 fills a temporary byte by byte

bool uses_memory_scheduler(const program::OpcodeInfo& info) {
    return info.unit == program::Unit::Load || info.unit == program::Unit::Store;
}

}  // namespace

Scoreboard::Scoreboard(const WindowConfig& window, const TileConfigTiming& tiles)
    : window_(window),
      entries_(std::bit_ceil(static_cast<std::size_t>(window.reorder_buffer))),
      mask_(entries_.size() - 1),
      free_tiles_(tiles.physical_tiles),
      dot_in_place_(tiles.dot_in_place),
      forwards_(tiles.dot_forwards ? tiles.dot_latency.count() : 0) {
    wheel_.fill(kNoEntry);
}

Blocked Scoreboard::blocked(const program::Instruction& instruction, std::int64_t uops) const {
    const program::OpcodeInfo& info = program::info_of(instruction.opcode);
    if (uops_ + uops > window_.reorder_buffer) {
        return Blocked::Window;
    }
    if (uses_memory_scheduler(info) && memory_waiting_ + uops > window_.memory_scheduler) {
        return Blocked::Scheduler;
    }
    if (!uses_memory_scheduler(info) && info.unit != program::Unit::None &&
        waiting_ + uops > window_.scheduler) {
        return Blocked::Scheduler;
    }
    if (info.unit == program::Unit::Load && loads_ + uops > window_.load_queue) {
        return Blocked::LoadQueue;
    }
    return free_tiles_ == 0 && takes_tile(instruction) ? Blocked::Tiles : Blocked::No;
}

bool Scoreboard::takes_tile(const program::Instruction& instruction) const {
    if (program::is_dot(instruction.opcode)) {
        return !dot_in_place_ ||
               !registers_[static_cast<std::size_t>(instruction.destination)].in_pool;
    }
    return program::is_tile_load(instruction.opcode);
}

EntryId Scoreboard::allocate(const program::DynamicInstruction& dynamic, std::int64_t uops,
                             std::int64_t now) {
    const EntryId id = id_of(tail_);
    SIM_DCHECK(tail_ - head_ < entries_.size(), "the window holds more instructions than its ring");
    Entry& entry = entries_[id];
    entry = kFresh;
    entry.instruction = dynamic.instruction;
    entry.bytes = static_cast<std::int8_t>(dynamic.bytes);
    entry.sequence = tail_++;
    entry.address = dynamic.address;
    entry.operands_at = now + 1;  // a cycle in the scheduler at least
    entry.uops = static_cast<std::int16_t>(uops);
    uops_ += uops;
    const program::OpcodeInfo& info = program::info_of(dynamic.instruction->opcode);
    peaks_.uops = std::max(peaks_.uops, uops_);
    if (uses_memory_scheduler(info)) {
        memory_waiting_ += uops;
        peaks_.memory_waiting = std::max(peaks_.memory_waiting, memory_waiting_);
    } else if (info.unit != program::Unit::None) {
        waiting_ += uops;
        peaks_.waiting = std::max(peaks_.waiting, waiting_);
    }
    loads_ += info.unit == program::Unit::Load ? uops : 0;
    peaks_.loads = std::max(peaks_.loads, loads_);
    rename(entry, id, info, now);
    if (entry.pending == 0 && info.unit != program::Unit::None) {
        schedule(id, entry.operands_at);
    }
    return id;
}

void Scoreboard::rename(Entry& entry, EntryId id, const program::OpcodeInfo& info,
                        std::int64_t now) {
    const program::Instruction& instruction = *entry.instruction;
    const std::size_t offset = info.tile()                                        ? 0
                               : info.registers == program::RegisterKind::General ? kGenerals
                                                                                  : program::kTiles;
    const auto reg = [offset](std::int8_t name) { return offset + static_cast<std::size_t>(name); };
    if (info.reads_destination) {
        use(entry, id, reg(instruction.destination), 0, now);
    }
    if (info.sources >= 1) {
        use(entry, id, reg(instruction.source_a), 1, now);
    }
    if (info.sources >= 2) {
        use(entry, id, reg(instruction.source_b), 2, now);
    }
    if (instruction.opcode == program::Opcode::Vpexpandb) {
        use(entry, id, kMask, 1, now);
    }
    if (instruction.opcode == program::Opcode::Mov && instruction.address.table >= 0) {
        use(entry, id, reg(instruction.destination), 0, now);  // it says where
    }
    if (program::is_dot(instruction.opcode)) {
        entry.keeps_b = instruction.source_b == last_b_;
        last_b_ = instruction.source_b;
    }
    if (instruction.opcode == program::Opcode::Tilestored) {
        entry.stores_dot = registers_[reg(instruction.destination)].by_dot;
        return;
    }
    if (instruction.opcode == program::Opcode::Kmovq) {
        write(entry, kMask, info);
    } else if (info.registers != program::RegisterKind::None && info.unit != program::Unit::Store) {
        write(entry, reg(instruction.destination), info);
    }
}

void Scoreboard::use(Entry& entry, EntryId id, std::size_t reg, std::size_t slot,
                     std::int64_t now) {
    const Register& source = registers_[reg];
    if (source.producer != 0 && source.ready_at == caches::kUnknownCycle) {
        const EntryId producer = id_of(source.producer);
        entry.producers[slot] = producer;
        entry.next_consumer[slot] = entries_[producer].consumers;
        entries_[producer].consumers = id * kOperands + static_cast<std::uint32_t>(slot);
        ++entry.pending;
        return;
    }
    // One that is done is no longer remembered: its place in the ring may be another's.
    if (source.producer != 0 && source.ready_at > now) {
        entry.producers[slot] = id_of(source.producer);
        entry.operands_at =
            std::max(entry.operands_at, source.ready_at - forwarded(entry, slot, source.by_dot));
    }
}

// How many cycles before its producer's result the operand is there.
std::int64_t Scoreboard::forwarded(const Entry& entry, std::size_t slot, bool by_dot) const {
    return by_dot && slot == 0 && program::is_dot(entry.instruction->opcode) ? forwards_ : 0;
}

void Scoreboard::write(Entry& entry, std::size_t reg, const program::OpcodeInfo& info) {
    Register& target = registers_[reg];
    const program::Opcode opcode = entry.instruction->opcode;
    const bool takes = takes_tile(*entry.instruction);
    entry.frees_tile = target.in_pool && (takes || opcode == program::Opcode::Tilezero);
    entry.target = static_cast<std::uint8_t>(reg);
    target.producer = entry.sequence;
    target.ready_at = caches::kUnknownCycle;
    target.by_dot = program::is_dot(opcode);
    if (info.tile() && entry.instruction->destination == last_b_) {
        last_b_ = -1;
    }
    target.in_pool = info.tile() && opcode != program::Opcode::Tilezero;
    free_tiles_ -= takes ? 1 : 0;
}

EntryId Scoreboard::late_producer(const Entry& entry, std::size_t slot, std::int64_t now) const {
    const EntryId id = entry.producers[slot];
    // A slot of the ring that has been used again since is long done.
    if (id == kNoEntry || entries_[id].sequence >= entry.sequence ||
        entries_[id].result_at -
                forwarded(entry, slot, program::is_dot(entries_[id].instruction->opcode)) <=
            now) {
        return kNoEntry;
    }
    return id;
}

void Scoreboard::complete(EntryId id, std::int64_t cycle) {
    Entry& entry = entries_[id];
    entry.result_at = cycle;
    if (entry.target < kRegisters && registers_[entry.target].producer == entry.sequence) {
        registers_[entry.target].ready_at = cycle;
    }
    std::uint32_t node = entry.consumers;
    entry.consumers = kNoConsumer;
    const bool by_dot = program::is_dot(entry.instruction->opcode);
    while (node != kNoConsumer) {
        Entry& consumer = entries_[node / kOperands];
        consumer.operands_at =
            std::max(consumer.operands_at, cycle - forwarded(consumer, node % kOperands, by_dot));
        if (--consumer.pending == 0) {
            schedule(node / kOperands, consumer.operands_at);
        }
        node = consumer.next_consumer[node % kOperands];
    }
}

void Scoreboard::issue(EntryId id) {
    Entry& entry = entries_[id];
    const program::OpcodeInfo& info = program::info_of(entry.instruction->opcode);
    entry.issued = true;
    ++releases_;
    if (uses_memory_scheduler(info)) {
        memory_waiting_ -= entry.uops;
    } else if (info.unit != program::Unit::None) {
        waiting_ -= entry.uops;
    }
}

void Scoreboard::retire() {
    const Entry& entry = entries_[id_of(head_)];
    ++head_;
    ++releases_;
    uops_ -= entry.uops;
    loads_ -=
        program::info_of(entry.instruction->opcode).unit == program::Unit::Load ? entry.uops : 0;
    free_tiles_ += entry.frees_tile ? 1 : 0;
}

void Scoreboard::reset_tiles() {
    for (std::size_t tile = 0; tile < program::kTiles; ++tile) {
        free_tiles_ += registers_[tile].in_pool ? 1 : 0;
        registers_[tile] = {};
    }
    last_b_ = -1;
}

void Scoreboard::schedule(EntryId id, std::int64_t cycle) {
    const std::int64_t due = std::max(cycle, now_ + 1);
    SIM_CHECK(due - now_ < static_cast<std::int64_t>(kWheel), "operand {} cycles ahead",
              due - now_);
    const std::size_t slot = static_cast<std::size_t>(due) % kWheel;
    entries_[id].next_in_slot = wheel_[slot];
    wheel_[slot] = id;
    occupied_[slot / kWordBits] |= std::uint64_t{1} << (slot % kWordBits);
    next_due_ = std::min(next_due_, due);
}

// What is due at `now_`.
EntryId Scoreboard::take_slot() {
    const std::size_t slot = static_cast<std::size_t>(now_) % kWheel;
    occupied_[slot / kWordBits] &= ~(std::uint64_t{1} << (slot % kWordBits));
    next_due_ = first_due();
    return std::exchange(wheel_[slot], kNoEntry);
}

// The wheel's next occupied slot behind `now_`.
std::int64_t Scoreboard::first_due() const {
    const std::size_t words = occupied_.size();
    const std::size_t start = static_cast<std::size_t>(now_ + 1) % kWheel;
    std::uint64_t word = occupied_[start / kWordBits] & (~std::uint64_t{0} << (start % kWordBits));
    for (std::size_t i = 0; i <= words; ++i) {
        if (word != 0) {
            const std::size_t slot = ((start / kWordBits + i) % words) * kWordBits +
                                     static_cast<std::size_t>(std::countr_zero(word));
            const std::size_t ahead = (slot + kWheel - start) % kWheel;
            return now_ + 1 + static_cast<std::int64_t>(ahead);
        }
        word = occupied_[(start / kWordBits + i + 1) % words];
    }
    return caches::kUnknownCycle;
}

}  // namespace tilesim::arch::amx::core
