#include "arch/systemc/pim_memory/pim_memory.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "arch/pim/program_text.hpp"

namespace tilesim::arch::systemc::pim_memory {

namespace {

constexpr const char* kNoRegister = "the command socket has no such register";

dram::DramOptions with_alus(dram::DramOptions options) {
    options.in_banks.emplace_back("alu");
    return options;
}

// Why it cannot run there, which texts of programs are checked for as they are read; empty where
// it can.
std::string fault_of(const pim::PimProgram& program, const pim::ProgramTarget& target) {
    if (program.commands.empty() || program.passes < 1) {
        return "a program of no command";
    }
    if (program.words_per_row != target.words_per_row()) {
        return fmt::format("a program for rows of {} words: these have {}", program.words_per_row,
                           target.words_per_row());
    }
    const std::int64_t words = target.words_per_row() * target.memory.rows;
    for (std::size_t i = 0; i < program.commands.size(); ++i) {
        const pim::PimCommand& command = program.commands[i];
        const bool names_words =
            pim::touches_array(command.op) && command.word != pim::PimCommand::kOpenRow;
        const bool inside = command.word >= 0 && command.word <= words - command.count;
        if (command.count < 0 || (names_words && !inside)) {
            return fmt::format(
                "command {}: {} {} at word {}: must lie within the {} words of a "
                "bank",
                i, pim::name_of(command.op), command.count, command.word, words);
        }
    }
    return "";
}

// What steers all banks of a channel, named as in statistics.
std::vector<base::Block> unit_blocks(std::int64_t channels) {
    std::vector<base::Block> blocks;
    for (std::int64_t i = 0; i < channels; ++i) {
        blocks.push_back({fmt::format("pim({})", i), "pim_unit"});
    }
    return blocks;
}

}  // namespace

PimMemory::PimMemory(const sc_core::sc_module_name& name, TimeLine& time_line,
                     const memory::device::MemoryConfig& memory, const pim::PimConfig& pim,
                     const dram::DramOptions& options)
    : Dram(name, time_line, memory, with_alus(options)), time_line_(time_line), pim_(pim) {
    share(pim::PimController::memory_lookahead(memory));
    time_line.observe(*this);
    commands.register_b_transport(this, &PimMemory::b_transport);
    units_ = make_modules(unit_blocks(memory.channels), 0);
    SC_HAS_PROCESS(PimMemory);
    SC_METHOD(update_interrupt);
    sensitive << interrupt_event_;
    dont_initialize();
}

PimMemory::~PimMemory() = default;

void PimMemory::run(pim::PimProgram program) {
    if (busy()) {
        SC_REPORT_ERROR(name(), "is started while a program runs in its banks");
        return;
    }
    const pim::ProgramTarget target{pim_, memory().config()};
    if (const std::string fault = fault_of(program, target); !fault.empty()) {
        SC_REPORT_ERROR(name(), fmt::format("cannot run {}", fault).c_str());
        return;
    }
    const base::Femtoseconds now = time_line_.enter();
    runs_.push_back(std::make_unique<Run>());
    Run& run = *runs_.back();
    run.program = std::move(program);
    run.controller =
        std::make_unique<pim::PimController>(pim_, run.program, memory(), statistics(), nullptr);
    run.controller->connect(waves());
    run.controller->start(now);
    interrupt_event_.notify(sc_core::SC_ZERO_TIME);
}

base::Cycles PimMemory::program_cycles() const {
    for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
        if ((*run)->ended) {
            return (*run)->controller->program_cycles();
        }
    }
    SC_REPORT_ERROR(name(), "no program has ended");
    return base::Cycles{0};
}

std::string PimMemory::standstill() const {
    return busy() ? runs_.back()->controller->standstill() : std::string{};
}

void PimMemory::trace(sc_core::sc_trace_file* file) const {
    Dram::trace(file);
    waves()->add(units_);
    for (const auto& unit : units_) {
        unit->trace(file);
    }
}

// The channels decide ahead: the program may end later than it is known to.
void PimMemory::on_stamp(base::Femtoseconds) {
    if (!busy() || !runs_.back()->controller->finished()) {
        return;
    }
    Run& run = *runs_.back();
    run.ended = true;
    time_line_.leave(finished_event_, run.controller->finish_time());
    time_line_.leave(interrupt_event_, run.controller->finish_time());
}

void PimMemory::update_interrupt() {
    for (int i = 0; i < interrupt.size(); ++i) {
        interrupt[i]->write(!busy());
    }
}

void PimMemory::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (delay != sc_core::SC_ZERO_TIME) {
        sc_core::wait(delay);
        delay = sc_core::SC_ZERO_TIME;
    }
    time_line_.enter();
    constexpr unsigned kWord = sizeof(std::uint32_t);
    const auto end = static_cast<std::int64_t>(kProgram + kMostCommands * kWordsPerCommand * kWord);
    if (!accept(*this, payload, base::Bytes{end})) {
        return;
    }
    const std::uint64_t address = payload.get_address();
    const bool words = address % kWord == 0 && payload.get_data_length() % kWord == 0;
    std::string refusal = words ? "" : "registers are words of 4 B";
    for (unsigned at = 0; refusal.empty() && at < payload.get_data_length(); at += kWord) {
        std::uint32_t word = busy() ? 1 : 0;
        if (payload.is_write()) {
            std::memcpy(&word, payload.get_data_ptr() + at, kWord);
            refusal = write(address + at, word);
        } else {
            refusal = address + at == kState ? "" : kNoRegister;
            std::memcpy(payload.get_data_ptr() + at, &word, kWord);
        }
    }
    payload.set_response_status(refusal.empty() ? tlm::TLM_OK_RESPONSE
                                                : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    if (!refusal.empty()) {
        SC_REPORT_WARNING(name(),
                          fmt::format("{}: {} is refused", refusal, text_of(payload)).c_str());
    }
}

std::string PimMemory::write(std::uint64_t address, std::uint32_t value) {
    if (address >= kProgram) {
        const std::uint64_t word = (address - kProgram) / sizeof value;
        const std::uint64_t command = word / kWordsPerCommand;
        if (command >= written_.size()) {
            written_.resize(command + 1);
        }
        written_[command][word % kWordsPerCommand] = value;
        return "";
    }
    return address == kStart ? start(value) : kNoRegister;
}

std::string PimMemory::start(std::uint32_t count) {
    if (busy()) {
        return "a program runs in its banks";
    }
    if (count == 0 || count > written_.size()) {
        return fmt::format("{} commands cannot be started: {} have been written", count,
                           written_.size());
    }
    pim::PimProgram program;
    program.words_per_row = pim::ProgramTarget{pim_, memory().config()}.words_per_row();
    const std::int64_t words = program.words_per_row * memory().config().rows;
    for (std::size_t i = 0; i < count; ++i) {
        pim::PimCommand command;
        command.op = static_cast<pim::PimOp>(written_[i][0]);
        command.count = written_[i][1];
        command.word = static_cast<std::int64_t>(std::uint64_t{written_[i][3]} << 32 |
                                                 std::uint64_t{written_[i][2]});
        constexpr auto kLastOp = static_cast<std::uint32_t>(pim::PimOp::Yield);
        if (written_[i][0] > kLastOp) {
            return fmt::format("command {}: operation {} is none of 0..{}", i, written_[i][0],
                               kLastOp);
        }
        if (command.count == 0 || command.word < 0 || command.word > words - command.count) {
            return fmt::format(
                "command {}: count {} at word {}: must be at least one, within the "
                "{} words of a bank",
                i, command.count, command.word, words);
        }
        program.commands.push_back(command);
    }
    run(std::move(program));
    return "";
}

}  // namespace tilesim::arch::systemc::pim_memory
