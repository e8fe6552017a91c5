#include "arch/pim/pim_controller.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tilesim::arch::pim {

using base::Cycles;
using base::Femtoseconds;

Femtoseconds PimController::memory_lookahead(const memory::device::MemoryConfig& config) {
    return base::Clock{config.clock}.time_of(kCommandLatency) - Femtoseconds{1};
}

PimController::PimController(const PimConfig& config, const PimProgram& program,
                             memory::controller::MemorySystem& memory, base::stats::Group& parent,
                             PimListener* listener)
    : memory_(memory), clock_(memory.config().clock) {
    for (std::size_t i = 0; i < memory.channels().size(); ++i) {
        units_.push_back(
            std::make_unique<PimUnit>(memory.config(), config, program, i, parent, listener));
    }
}

void PimController::connect(base::ProbeListener* listener) {
    for (const auto& unit : units_) {
        unit->connect(listener, clock_);
    }
}

void PimController::log_commands(memory::controller::CommandLog& log) {
    log_ = &log;
    for (const auto& unit : units_) {
        unit->listen(this);
    }
}

// Even or odd banks are as many lines as there are of them.
void PimController::on_all_bank_command(std::size_t channel, AllBankCommand command, BankSet banks,
                                        std::int64_t row, std::int64_t now) {
    const std::int64_t of_data = row < memory_.config().rows ? row : -1;
    if (banks.all()) {
        log_->on_guest_command(channel, name_of(command), banks.which, of_data, now);
        return;
    }
    banks.for_each(memory_.config().banks(), [&](std::int64_t bank) {
        log_->on_guest_command(channel, name_of(command), bank, of_data, now);
    });
}

void PimController::start(Femtoseconds now) {
    lent_at_ = clock_.first_cycle_from(now) + kCommandLatency;
    for (std::size_t i = 0; i < units_.size(); ++i) {
        units_[i]->expect(lent_at_.count());
        memory_.lend(i, *units_[i], clock_.time_of(lent_at_));
    }
}

bool PimController::finished() const {
    return std::all_of(units_.begin(), units_.end(),
                       [](const auto& unit) { return unit->left().has_value(); });
}

Cycles PimController::finish_cycle() const {
    std::int64_t last = 0;
    for (const auto& unit : units_) {
        last = std::max(last, unit->left().value());
    }
    return Cycles{last};
}

Cycles PimController::last_progress() const {
    std::int64_t last = 0;
    for (const auto& unit : units_) {
        last = std::max(last, unit->last_progress());
    }
    return Cycles{last};
}

Cycles PimController::program_cycles() const {
    std::int64_t last = 0;
    for (const auto& unit : units_) {
        last = std::max(last, unit->ended());
    }
    return Cycles{last} - lent_at_;
}

void PimController::finish_statistics() {
    const Cycles end = lent_at_ + program_cycles();
    for (const auto& unit : units_) {
        unit->finish_statistics(end.count());
    }
}

std::string PimController::standstill() const {
    std::string text;
    for (const auto& unit : units_) {
        if (!unit->left()) {
            text += fmt::format("{} waits for {}\n", unit->stats().path(), unit->waiting_for());
        }
    }
    return text;
}

void PimController::add_to(memory::port::BankUse& use) const {
    for (std::size_t i = 0; i < units_.size(); ++i) {
        for (std::size_t bank = 0; bank < use.channels[i].size(); ++bank) {
            use.channels[i][bank] += units_[i]->bank_counts(bank);
        }
        use.guest_row_open += units_[i]->row_open();
        use.guest_any_row_open += units_[i]->any_row_open();
    }
}

}  // namespace tilesim::arch::pim
