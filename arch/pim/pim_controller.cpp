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
        units_.push_back(std::make_unique<PimUnit>(memory.config().timing, config, program, i,
                                                   parent, listener));
    }
}

void PimController::connect(base::ProbeListener* listener) {
    for (const auto& unit : units_) {
        unit->connect(listener, clock_);
    }
}

void PimController::start(Femtoseconds now) {
    lent_at_ = clock_.first_cycle_from(now) + kCommandLatency;
    for (std::size_t i = 0; i < units_.size(); ++i) {
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
        for (memory::port::BankCounts& bank : use.channels[i]) {
            bank += units_[i]->bank_counts();
        }
    }
}

}  // namespace tilesim::arch::pim
