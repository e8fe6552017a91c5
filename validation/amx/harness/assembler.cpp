#include "validation/amx/harness/assembler.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "arch/base/config.hpp"
#include "validation/amx/harness/counted_expands.hpp"

namespace tilesim::validation::amx::harness {

using arch::amx::program::Address;
using arch::amx::program::Instruction;
using arch::amx::program::kRowBytes;
using arch::amx::program::Opcode;
using arch::amx::program::Statement;
using arch::base::config::ConfigError;

namespace {

// All but the stack pointer; the ones a callee must keep come last.
constexpr std::array<int, 15> kRegisters{0, 1, 2, 6, 7, 8, 9, 10, 11, 3, 5, 12, 13, 14, 15};
constexpr std::array<int, 6> kSaved{3, 5, 12, 13, 14, 15};
constexpr int kExpandMask = 1;  // the mask register that KMOVQ loads
constexpr int kFirstMask = 2;
constexpr int kMaskRegisters = 8;
constexpr int kVectorRegisters = 32;
constexpr int kPointerBytes = 3;  // 2^3 an entry of a table

constexpr VectorForm kLoadMask{OpcodeMap::Of, Prefix::None, 0x90, true};
constexpr VectorForm kMoveMask{OpcodeMap::Of, Prefix::Pf2, 0x92, true};
constexpr VectorForm kLoadFloats{OpcodeMap::Of, Prefix::None, 0x10};
constexpr VectorForm kStoreFloats{OpcodeMap::Of, Prefix::None, 0x11};
constexpr VectorForm kMoveVector{OpcodeMap::Of, Prefix::P66, 0x6F, true};
constexpr VectorForm kExpandBytes{OpcodeMap::Of38, Prefix::P66, 0x62};

bool is_shuffle(Opcode opcode) {
    return opcode == Opcode::Vpermt2b || opcode == Opcode::Vpermt2w;
}
bool moves_floats(Opcode opcode) {
    return opcode == Opcode::Vmovups || opcode == Opcode::VmovupsStore;
}
bool narrows(Opcode opcode) {
    return opcode == Opcode::VpmovsdbStore || opcode == Opcode::VpmovusdbStore;
}
bool is_whole(std::int64_t bytes) {
    return bytes == 16 || bytes == 32 || bytes == kRowBytes;
}

// Of a vector whose length is no register's: the widest elements that divide it.
std::int64_t element_bytes(std::int64_t bytes) {
    return bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1;
}

// Elements that an instruction masks; 0: it needs no mask.
std::int64_t masked_elements(const Instruction& each) {
    if (moves_floats(each.opcode) && !is_whole(each.bytes)) {
        return each.bytes / element_bytes(each.bytes);
    }
    constexpr std::int64_t kElements = 16;
    return narrows(each.opcode) && each.bytes < kElements ? each.bytes : 0;
}

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
        if (info_of(each.opcode).memory && (each.address.table < 0 || i >= counted_until)) {
            note_pattern(each.address);
        }
        if (info_of(each.opcode).memory && info_of(each.opcode).tile()) {
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

std::size_t Assembler::instruction(std::size_t at) {
    const Instruction& each = program_.statements[at].instruction;
    if (tile(each) || vector_memory(each) || vector(each)) {
        return 1;
    }
    switch (each.opcode) {
        case Opcode::Prefetchnta:
            encoder_.prefetch(0, memory_of(each.address));
            return 1;
        case Opcode::Prefetcht0:
            encoder_.prefetch(1, memory_of(each.address));
            return 1;
        case Opcode::Prefetcht1:
            encoder_.prefetch(2, memory_of(each.address));
            return 1;
        case Opcode::Prefetcht2:
            encoder_.prefetch(3, memory_of(each.address));
            return 1;
        case Opcode::Prefetchw:
            encoder_.prefetch_to_write(memory_of(each.address));
            return 1;
        case Opcode::Lfence:
            encoder_.load_fence();
            return 1;
        case Opcode::Scalar:
            encoder_.compare_nothing();
            return 1;
        case Opcode::Kmovq:
            last_mask_ = &each;
            encoder_.vex(kLoadMask, kExpandMask, 0, memory_of(each.address));
            return 1;
        case Opcode::Vpexpandb:
            return expand(each);
        case Opcode::Barrier:
            barrier();
            return 1;
        default:
            throw ConfigError(fmt::format("{} is not measured", info_of(each.opcode).mnemonic));
    }
}

// Through the loop's pointer, which then moves on by the mask's bits in place of the two scalar
// instructions; elsewhere the table says where the piece starts.
std::size_t Assembler::expand(const Instruction& each) {
    const WriteMask mask{kExpandMask, true};
    if (each.address.table < 0) {
        encoder_.evex(kExpandBytes, each.destination, memory_of(each.address), kRowBytes, mask);
        return 1;
    }
    MemoryOperand piece;
    if (pointer_ >= 0) {
        piece.base = kRegisters[static_cast<std::size_t>(pointer_)];
        const int bits = take_register();
        encoder_.evex(kExpandBytes, each.destination, piece, kRowBytes, mask);
        encoder_.count_bits(kRegisters[static_cast<std::size_t>(bits)],
                            memory_of(last_mask_->address));
        encoder_.add_register(piece.base, kRegisters[static_cast<std::size_t>(bits)]);
        give_register(bits);
        return 3;
    }
    const int start = take_register();
    piece.base = kRegisters[static_cast<std::size_t>(start)];
    encoder_.load(piece.base, piece_start(each.address));
    encoder_.evex(kExpandBytes, each.destination, piece, kRowBytes, mask);
    give_register(start);
    return 1;
}

// Every core counts its arrivals in a word of its own and waits until all cores' sum is as large.
void Assembler::barrier() {
    MemoryOperand target;
    target.displacement = placement_.constants + constants_.barrier_target();
    MemoryOperand arrived;
    arrived.displacement = placement_.barrier;
    const int reg = take_register();
    encoder_.add_to(target, placement_.parties);
    encoder_.load(kRegisters[static_cast<std::size_t>(reg)], target);
    encoder_.locked_increment(arrived);
    encoder_.spin_until_reached(kRegisters[static_cast<std::size_t>(reg)], arrived);
    give_register(reg);
}

bool Assembler::tile(const Instruction& each) {
    constexpr OpcodeMap kMap = OpcodeMap::Of38;
    const int c = each.destination;
    const auto dot = [&](Prefix prefix, int code) {
        encoder_.vex_registers({kMap, prefix, code}, c, each.source_b, each.source_a);
        return true;
    };
    const auto memory = [&](Prefix prefix) {
        encoder_.vex({kMap, prefix, 0x4B}, c, 0, tile_memory(each));
        return true;
    };
    MemoryOperand config;
    switch (each.opcode) {
        case Opcode::Tileloadd:
            return memory(Prefix::Pf2);
        case Opcode::Tileloaddt1:
            return memory(Prefix::P66);
        case Opcode::Tilestored:
            return memory(Prefix::Pf3);
        case Opcode::Tilezero:
            encoder_.vex_registers({kMap, Prefix::Pf2, 0x49}, c, 0, 0);
            return true;
        case Opcode::Tdpbssd:
            return dot(Prefix::Pf2, 0x5E);
        case Opcode::Tdpbsud:
            return dot(Prefix::Pf3, 0x5E);
        case Opcode::Tdpbusd:
            return dot(Prefix::P66, 0x5E);
        case Opcode::Tdpbuud:
            return dot(Prefix::None, 0x5E);
        case Opcode::Tdpbf16ps:
            return dot(Prefix::Pf3, 0x5C);
        case Opcode::Ldtilecfg:
            config.displacement = placement_.constants + constants_.config(each.immediate);
            encoder_.vex({kMap, Prefix::None, 0x49}, 0, 0, config);
            return true;
        case Opcode::Sttilecfg:
            encoder_.vex({kMap, Prefix::P66, 0x49}, 0, 0, memory_of(each.address));
            return true;
        case Opcode::Tilerelease:
            encoder_.vex_registers({kMap, Prefix::None, 0x49}, 0, 0, 0);
            return true;
        default:
            return false;
    }
}

bool Assembler::vector_memory(const Instruction& each) {
    constexpr VectorForm kBroadcast{OpcodeMap::Of38, Prefix::P66, 0x18};
    constexpr VectorForm kNarrow{OpcodeMap::Of38, Prefix::Pf3, 0x21};
    constexpr VectorForm kNarrowUnsigned{OpcodeMap::Of38, Prefix::Pf3, 0x11};
    constexpr VectorForm kWiden{OpcodeMap::Of38, Prefix::P66, 0x21};
    constexpr VectorForm kStream{OpcodeMap::Of, Prefix::None, 0x2B};
    const int reg = each.destination;
    if (narrows(each.opcode) || moves_floats(each.opcode)) {
        if (each.bytes < 1 || each.bytes > arch::amx::program::default_bytes(each.opcode)) {
            throw ConfigError(
                fmt::format("{} of {} bytes", info_of(each.opcode).mnemonic, each.bytes));
        }
    }
    switch (each.opcode) {
        case Opcode::Vmovups:
        case Opcode::VmovupsStore:
            if (masked_elements(each) > 0) {
                masked(each);
            } else {
                encoder_.evex(each.opcode == Opcode::Vmovups ? kLoadFloats : kStoreFloats, reg,
                              memory_of(each.address), each.bytes);
            }
            return true;
        case Opcode::Vbroadcastss:
            encoder_.evex(kBroadcast, reg, memory_of(each.address), kRowBytes);
            return true;
        case Opcode::VpmovsdbStore:
        case Opcode::VpmovusdbStore:
            encoder_.evex(each.opcode == Opcode::VpmovsdbStore ? kNarrow : kNarrowUnsigned, reg,
                          memory_of(each.address), kRowBytes,
                          mask_of(masked_elements(each), false));
            return true;
        case Opcode::Vpmovsxbd:
            encoder_.evex(kWiden, reg, memory_of(each.address), kRowBytes);
            return true;
        case Opcode::Vmovntps:
            encoder_.evex(kStream, reg, memory_of(each.address), kRowBytes);
            return true;
        default:
            return false;
    }
}

// VMOVUPS, or VMOVDQU16 and VMOVDQU8 where the length asks for narrower elements.
void Assembler::masked(const Instruction& each) {
    const bool store = each.opcode == Opcode::VmovupsStore;
    const std::int64_t element = element_bytes(each.bytes);
    VectorForm form = store ? kStoreFloats : kLoadFloats;
    if (element < 4) {
        form = {OpcodeMap::Of, Prefix::Pf2, store ? 0x7F : 0x6F, element == 2};
    }
    encoder_.evex(form, each.destination, memory_of(each.address), kRowBytes,
                  mask_of(masked_elements(each), !store));
}

bool Assembler::vector(const Instruction& each) {
    constexpr OpcodeMap kOf = OpcodeMap::Of;
    constexpr OpcodeMap kOf38 = OpcodeMap::Of38;
    static constexpr std::array<std::pair<Opcode, VectorForm>, 15> kForms{
        {{Opcode::Vpxord, {kOf, Prefix::P66, 0xEF}},
         {Opcode::Vcvtdq2ps, {kOf, Prefix::None, 0x5B}},
         {Opcode::Vcvtps2dq, {kOf, Prefix::P66, 0x5B}},
         {Opcode::Vaddps, {kOf, Prefix::None, 0x58}},
         {Opcode::Vpaddd, {kOf, Prefix::P66, 0xFE}},
         {Opcode::Vsubps, {kOf, Prefix::None, 0x5C}},
         {Opcode::Vmulps, {kOf, Prefix::None, 0x59}},
         {Opcode::Vmaxps, {kOf, Prefix::None, 0x5F}},
         {Opcode::Vfmadd231ps, {kOf38, Prefix::P66, 0xB8}},
         {Opcode::Vfmadd213ps, {kOf38, Prefix::P66, 0xA8}},
         {Opcode::Vpandd, {kOf, Prefix::P66, 0xDB}},
         {Opcode::Vpermd, {kOf38, Prefix::P66, 0x36}},
         {Opcode::Vcvtne2ps2bf16, {kOf38, Prefix::Pf2, 0x72}},
         {Opcode::Vcvtneps2bf16, {kOf38, Prefix::Pf3, 0x72}},
         {Opcode::Vpmovzxwd, {kOf38, Prefix::P66, 0x33}}}};
    if (is_shuffle(each.opcode)) {
        interleave(each);
        return true;
    }
    if (each.opcode == Opcode::Vpslld || each.opcode == Opcode::Vpsrld) {
        const int direction =
            each.opcode == Opcode::Vpslld ? 6 : 2;  // where others have a register
        encoder_.evex_registers({kOf, Prefix::P66, 0x72}, direction, each.destination,
                                each.source_a);
        encoder_.immediate8(each.immediate);
        return true;
    }
    const auto* const form = std::find_if(kForms.begin(), kForms.end(), [&](const auto& known) {
        return known.first == each.opcode;
    });
    if (form == kForms.end()) {
        return false;
    }
    const int reg = each.destination;
    if (each.opcode == Opcode::Vpxord) {
        encoder_.evex_registers(form->second, reg, reg, reg);
    } else if (info_of(each.opcode).sources == 2) {
        encoder_.evex_registers(form->second, reg, each.source_a, each.source_b);
    } else {
        encoder_.evex_registers(form->second, reg, 0, each.source_a);
    }
    return true;
}

// The hardware's VPERMT2B and VPERMT2W overwrite their first source: it is copied where the program
// keeps it.
void Assembler::interleave(const Instruction& each) {
    const int reg = each.destination;
    if (reg != each.source_a) {
        if (reg == each.source_b) {
            throw ConfigError(fmt::format("{} cannot overwrite its second source",
                                          info_of(each.opcode).mnemonic));
        }
        encoder_.evex_registers(kMoveVector, reg, 0, each.source_a);
    }
    encoder_.evex_registers({OpcodeMap::Of38, Prefix::P66, 0x7D, each.opcode == Opcode::Vpermt2w},
                            reg, shuffles_.at({each.opcode, each.immediate == 0 ? 0 : 1}),
                            each.source_b);
}

}  // namespace tilesim::validation::amx::harness
