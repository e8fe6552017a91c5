#include "validation/amx/harness/assembler.hpp"

#include <algorithm>

#include "arch/base/config.hpp"
#include "validation/amx/harness/assembler_parts.hpp"
#include "validation/amx/harness/counted_expands.hpp"

namespace tilesim::validation::amx::harness {

using arch::amx::program::Address;
using arch::amx::program::Instruction;
using arch::amx::program::kRowBytes;
using arch::amx::program::Opcode;
using arch::amx::program::Statement;
using arch::base::config::ConfigError;

namespace {

constexpr std::array<int, 6> kSaved{3, 5, 12, 13, 14, 15};
constexpr int kFirstMask = 2;
constexpr int kMaskRegisters = 8;
constexpr int kVectorRegisters = 32;
constexpr int kPointerBytes = 3;  // 2^3 an entry of a table

constexpr VectorForm kMoveMask{OpcodeMap::Of, Prefix::Pf2, 0x92, true};

}  // namespace

Assembler::Assembler(const arch::amx::program::Program& program, const Placement& placement)
    : program_(program), placement_(placement), constants_(program) {
    for (std::size_t i = 0; i < kRegisters.size(); ++i) {
        free_.insert(static_cast<int>(i));
    }
    for (const int reg : kSaved) {
        encoder_.push(reg);
    }
    analyse();
    spills_ = registers_needed() > kRegisters.size();
    load_constants();
    for (std::size_t i = 0; i < program.statements.size();) {
        const Statement& statement = program.statements[i];
        if (statement.kind == Statement::Kind::Instruction) {
            i += instruction(i);
            continue;
        }
        if (statement.kind == Statement::Kind::LoopEnd) {
            end_loop(statement);
        } else if (statement.count > 0) {
            begin_loop(i);
        } else {
            i = static_cast<std::size_t>(statement.partner);
        }
        ++i;
    }
    for (auto reg = kSaved.rbegin(); reg != kSaved.rend(); ++reg) {
        encoder_.pop(*reg);
    }
    encoder_.ret();
}

Assembler::Pattern Assembler::pattern_of(const Address& address) {
    std::map<int, std::int64_t> strides;
    for (const auto& term : address.terms) {
        strides[term.variable] += term.stride;
    }
    std::erase_if(strides, [](const auto& each) { return each.second == 0; });
    return {strides.begin(), strides.end()};
}

// Loops are numbered in the order in which they open: the first term's is the outermost.
void Assembler::note_pattern(const Address& address) {
    if (Pattern pattern = pattern_of(address); !pattern.empty()) {
        const int outermost = pattern.front().first;
        starts_[outermost].insert(std::move(pattern));
    }
}

int Assembler::take_register() {
    if (free_.empty()) {
        throw ConfigError("more address patterns, strides and loops at a time than registers");
    }
    return free_.extract(free_.begin()).value();
}

// What needs a register, and since when.
void Assembler::analyse() {
    std::size_t counted_until = 0;
    for (std::size_t i = 0; i < program_.statements.size(); ++i) {
        const Statement& statement = program_.statements[i];
        if (statement.kind == Statement::Kind::LoopBegin) {
            if (const auto first = counted_expands(program_, i)) {
                counted_[i] = *first;
                note_pattern(*first);
                counted_until = static_cast<std::size_t>(statement.partner);
            }
            continue;
        }
        const Instruction& each = statement.instruction;
        if (statement.kind == Statement::Kind::LoopEnd) {
            continue;
        }
        if (is_shuffle(each.opcode)) {
            shuffles_[{each.opcode, each.immediate == 0 ? 0 : 1}] = -1;
        }
        if (const std::int64_t elements = masked_elements(each); elements > 0) {
            masks_[elements] = -1;
        }
        if (info_of(each.opcode).memory() && (each.address.table < 0 || i >= counted_until)) {
            note_pattern(each.address);
        }
        if (info_of(each.opcode).memory() && info_of(each.opcode).tile()) {
            strides_[each.row_stride] = -1;
        }
    }
}

// At the loop that has most around it, every counter in a register.
std::size_t Assembler::registers_needed() const {
    constexpr std::size_t kScratch = 1;  // for a piece's start, a count of bits or a barrier
    std::vector<std::size_t> live{strides_.size() + kScratch};
    std::size_t most = live.back();
    for (std::size_t i = 0; i < program_.statements.size(); ++i) {
        const Statement& statement = program_.statements[i];
        if (statement.kind == Statement::Kind::LoopBegin) {
            const auto patterns = starts_.find(statement.variable);
            live.push_back(live.back() + 1 + (counted_.contains(i) ? 1 : 0) +
                           (patterns == starts_.end() ? 0 : patterns->second.size()));
            most = std::max(most, live.back());
        } else if (statement.kind == Statement::Kind::LoopEnd) {
            live.pop_back();
        }
    }
    return most;
}

// `statement`: where a loop begins.
bool Assembler::counts_in_memory(const Statement& statement) const {
    const auto next = std::find_if(
        program_.statements.begin() + (&statement - program_.statements.data()) + 1,
        program_.statements.end(),
        [](const Statement& each) { return each.kind != Statement::Kind::Instruction; });
    return spills_ && spilled_ < ConstantPool::kLoopCounters &&
           next->kind == Statement::Kind::LoopBegin;
}

MemoryOperand Assembler::counter_memory() const {
    MemoryOperand memory;
    memory.displacement = placement_.constants + constants_.loop_counter(spilled_ - 1);
    return memory;
}

void Assembler::load_constants() {
    for (auto& [stride, reg] : strides_) {
        reg = take_register();
        encoder_.move(kRegisters[static_cast<std::size_t>(reg)], stride);
    }
    int mask = kFirstMask;
    for (auto& [elements, reg] : masks_) {
        if (mask == kMaskRegisters) {
            throw ConfigError("more lengths of partial vectors than mask registers");
        }
        reg = mask++;
        const int through = take_register();
        const std::int64_t bits = static_cast<std::int64_t>((std::uint64_t{1} << elements) - 1);
        encoder_.move(kRegisters[static_cast<std::size_t>(through)], bits);
        encoder_.vex_registers(kMoveMask, reg, 0, kRegisters[static_cast<std::size_t>(through)]);
        give_register(through);
    }
    std::set<int> unused;
    for (int i = 0; i < kVectorRegisters; ++i) {
        unused.insert(i);
    }
    for (const Statement& statement : program_.statements) {
        if (!info_of(statement.instruction.opcode).tile()) {
            unused.erase(statement.instruction.destination);
            unused.erase(statement.instruction.source_a);
            unused.erase(statement.instruction.source_b);
        }
    }
    for (auto& [kind, reg] : shuffles_) {
        if (unused.empty()) {
            throw ConfigError("no vector register is left for the indices of a byte shuffle");
        }
        reg = unused.extract(std::prev(unused.end())).value();
        MemoryOperand indices;
        indices.displacement = placement_.constants + constants_.shuffle(kind.first, kind.second);
        encoder_.evex(kLoadFloats, reg, indices, kRowBytes);
    }
}

MemoryOperand Assembler::memory_of(const Address& address) const {
    MemoryOperand memory;
    if (const Pattern pattern = pattern_of(address); !pattern.empty()) {
        memory.base = kRegisters[static_cast<std::size_t>(patterns_.at(pattern))];
    }
    memory.displacement = address.base;
    return memory;
}

MemoryOperand Assembler::tile_memory(const Instruction& each) const {
    MemoryOperand memory = memory_of(each.address);
    memory.index = kRegisters[static_cast<std::size_t>(strides_.at(each.row_stride))];
    return memory;
}

// The entry of a table that says where its piece starts.
MemoryOperand Assembler::piece_start(const Address& address) const {
    MemoryOperand memory = memory_of(address);
    std::swap(memory.base, memory.index);
    memory.scale = memory.index < 0 ? 0 : kPointerBytes;
    memory.displacement =
        placement_.constants + constants_.starts(address.table) + (address.base << kPointerBytes);
    return memory;
}

WriteMask Assembler::mask_of(std::int64_t elements, bool zeroes) const {
    return elements == 0 ? WriteMask{} : WriteMask{masks_.at(elements), zeroes};
}

void Assembler::begin_loop(std::size_t at) {
    const Statement& statement = program_.statements[at];
    for (const Pattern& pattern : starts_[statement.variable]) {
        const int reg = patterns_[pattern] = take_register();
        encoder_.move(kRegisters[static_cast<std::size_t>(reg)], 0);
    }
    if (const auto first = counted_.find(at); first != counted_.end()) {
        pointer_ = take_register();
        encoder_.load(kRegisters[static_cast<std::size_t>(pointer_)], piece_start(first->second));
    }
    if (counts_in_memory(statement)) {
        ++spilled_;
        encoder_.store(counter_memory(), statement.count);
    } else {
        const int counter = counters_[statement.variable] = take_register();
        encoder_.move(kRegisters[static_cast<std::size_t>(counter)], statement.count);
    }
    tops_[statement.variable] = encoder_.code().size();
}

void Assembler::end_loop(const Statement& statement) {
    const auto counter = counters_.find(statement.variable);
    step_patterns(statement.variable, 1);
    if (counter == counters_.end()) {
        encoder_.add_to(counter_memory(), -1);
        --spilled_;
    } else {
        encoder_.add(kRegisters[static_cast<std::size_t>(counter->second)], -1);
        give_register(counter->second);
    }
    encoder_.jump_if_not_zero(tops_.at(statement.variable));
    if (counted_.contains(static_cast<std::size_t>(statement.partner))) {
        give_register(pointer_);
        pointer_ = -1;
    }
    for (const Pattern& pattern : starts_[statement.variable]) {
        give_register(patterns_.extract(pattern).mapped());
    }
    step_patterns(statement.variable, -statement.count);
}

void Assembler::step_patterns(int variable, std::int64_t factor) {
    for (const auto& [pattern, reg] : patterns_) {
        for (const auto& [of, stride] : pattern) {
            if (of == variable) {
                encoder_.add(kRegisters[static_cast<std::size_t>(reg)], stride * factor);
            }
        }
    }
}

}  // namespace tilesim::validation::amx::harness
