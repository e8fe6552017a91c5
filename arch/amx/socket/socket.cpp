#include "arch/amx/socket/socket.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "arch/amx/socket/barrier.hpp"

namespace tilesim::arch::amx::socket {

using base::Cycles;
using base::Femtoseconds;

Socket::Socket(const AmxConfig& config, const std::vector<program::Program>& programs,
               const std::vector<core::InstructionObserver*>& observers,
               memory::port::MemoryPort& memory, base::EventQueue& queue, std::int64_t runs)
    : config_(config),
      queue_(queue),
      clock_(config.clock),
      members_(members_of(programs, config.simulated_cores, config.simulated_instructions)),
      runs_(runs) {
    std::vector<core::Core*> all;
    for (std::size_t i = 0; i < programs.size(); ++i) {
        if (members_[i].simulated) {
            cores_.push_back(std::make_unique<core::Core>(config_, programs[i],
                                                          observer_of(i, programs, observers)));
            all.push_back(cores_.back().get());
        }
    }
    uncore_ = std::make_unique<Uncore>(config_, memory, queue, all, members_);
    slice_ = std::max<std::int64_t>(1, clock_.cycle_at(uncore_->lookahead()).count());
    if (members_.size() == 1) {
        cores_.front()->be_alone();
    }
}

core::InstructionObserver* Socket::observer_of(
    std::size_t program, const std::vector<program::Program>& programs,
    const std::vector<core::InstructionObserver*>& observers) {
    if (observers.empty()) {
        return nullptr;
    }
    observers_.push_back(std::make_unique<InStepObserver>(*observers[program]));
    for (std::size_t i = 0; i < members_.size(); ++i) {
        if (!members_[i].simulated && members_[i].core == members_[program].core) {
            observers_.back()->add(programs[i], *observers[i]);
        }
    }
    return observers_.back().get();
}

std::size_t Socket::program_of(std::size_t core) const {
    const auto stands = [core](const Member& member) {
        return member.simulated && member.core == core;
    };
    return static_cast<std::size_t>(std::find_if(members_.begin(), members_.end(), stands) -
                                    members_.begin());
}

bool Socket::finished() const {
    return std::all_of(cores_.begin(), cores_.end(), [](const auto& core) {
        return core->finished() || core->fault().has_value();
    });
}

std::int64_t Socket::finish_cycle() const {
    std::int64_t last = 0;
    for (const auto& core : cores_) {
        last = std::max(last, core->finished() ? core->finished_at() : core->now());
    }
    return last - counted_from_;
}

Femtoseconds Socket::finish_time() const {
    return clock_.time_of(Cycles{finish_cycle()});
}

std::string Socket::fault() const {
    int line = 0;
    return fault(line);
}

std::string Socket::fault(int& line) const {
    for (std::size_t i = 0; i < cores_.size(); ++i) {
        if (const auto& fault = cores_[i]->fault()) {
            const program::Statement& statement = cores_[i]->faulting();
            line = statement.line;
            return fmt::format("core {}: {} {}: {}", program_of(i), name_of(fault->kind),
                               program::info_of(statement.instruction.opcode).mnemonic,
                               fault->reason);
        }
    }
    return "";
}

void Socket::warm(std::int64_t address, std::int64_t bytes, caches::Level level, bool dirty) {
    for (std::size_t core = 0; core < members_.size(); ++core) {
        warm(core, address, bytes, level, dirty && members_.size() == 1);
    }
}

void Socket::flush(std::int64_t address, std::int64_t bytes) {
    const caches::Line first = address / caches::kLineBytes;
    const caches::Line end = (address + bytes + caches::kLineBytes - 1) / caches::kLineBytes;
    for (caches::Line line = first; touched_ && line < end; ++line) {
        const caches::Line physical = cores_.front()->pages().physical(line);
        for (const auto& core : cores_) {
            core->caches().give_up(physical);
        }
        uncore_->flush(physical);
    }
    for (std::size_t core = 0; core < cores_.size() && first < end; ++core) {
        cores_[core]->pages().warm(first, end);
        keep_victims(core);
    }
}

void Socket::warm(std::size_t core, std::int64_t address, std::int64_t bytes, caches::Level level,
                  bool dirty) {
    const caches::Line end = (address + bytes + caches::kLineBytes - 1) / caches::kLineBytes;
    // Of more than all caches hold, the end is left in them.
    const caches::Line held =
        (config_.caches.l1.size + config_.caches.l2.size + config_.uncore.l3.size).count() /
        caches::kLineBytes;
    const caches::Line first = std::max(address / caches::kLineBytes, end - held);
    touched_ = true;
    const Member& member = members_[core];
    core::Core& simulated = *cores_[member.core];
    if (first < end && member.simulated) {
        simulated.pages().warm(address / caches::kLineBytes, end);
    }
    for (caches::Line line = first; line < end; ++line) {
        const caches::Line physical = simulated.pages().physical(line);
        if (level <= caches::Level::L2) {
            if (member.simulated) {
                simulated.caches().warm(physical, level, dirty);
            }
            uncore_->warm_core(core, physical);
        } else if (level == caches::Level::L3) {
            uncore_->warm(physical, dirty);
        }
    }
    keep_victims(member.core);
}

// What did not fit went to the L3 before the run started.
void Socket::keep_victims(std::size_t core) {
    for (const caches::UncoreRequest& request : cores_[core]->caches().outbox()) {
        uncore_->warm_victim(core, request.line,
                             request.kind == caches::UncoreRequest::Kind::DirtyVictim);
    }
    cores_[core]->caches().outbox().clear();
}

std::string Socket::name_of_core(std::size_t index) {
    return fmt::format("amx({}).core", index);
}

std::vector<base::Block> Socket::blocks() const {
    std::vector<base::Block> blocks;
    for (std::size_t i = 0; i < members_.size(); ++i) {
        const std::string core = name_of_core(i);
        blocks.push_back({core, "core"});
        for (const std::string_view part :
             {"tile_registers", "tmul", "load_unit", "store_buffer", "l1", "l2"}) {
            blocks.push_back({fmt::format("{}.{}", core, part), std::string{part}});
        }
    }
    blocks.push_back({"uncore", "uncore"});
    blocks.push_back({"uncore.l3", "l3"});
    return blocks;
}

void Socket::connect(base::ProbeListener* listener) {
    for (std::size_t i = 0; i < cores_.size(); ++i) {
        cores_[i]->connect(listener, name_of_core(program_of(i)));
    }
}

void Socket::start() {
    queue_.at(queue_.now(), *this);
}

void Socket::on_event(std::uint64_t, Femtoseconds) {
    at_ += slice_;
    for (const auto& core : cores_) {
        core->advance(at_);
    }
    uncore_->collect();
    if (uncore_->idle()) {
        at_ += cores_.front()->leap(slice_);
    }
    release_barrier();
    note_progress();
    if (finished() && runs_ > 1 && fault().empty()) {
        run_again();
    }
    if (!finished() && !stands_still()) {
        queue_.at(clock_.time_of(Cycles{at_}), *this);
    }
}

void Socket::run_again() {
    --runs_;
    counted_from_ = at_;
    answers_before_ = uncore_->counters().memory_answers;
    if (runs_ == 1 && last_run_begins_) {
        last_run_begins_();
    }
    for (const auto& core : cores_) {
        core->restart(at_);
    }
}

void Socket::release_barrier() {
    const bool all = std::all_of(cores_.begin(), cores_.end(), [](const auto& core) {
        return core->at_barrier() || core->finished() || core->fault().has_value();
    });
    if (!all) {
        return;
    }
    std::vector<std::size_t> there;  // members
    std::vector<Femtoseconds> arrivals;
    for (std::size_t i = 0; i < members_.size(); ++i) {
        if (core(i).at_barrier()) {
            there.push_back(i);
            arrivals.push_back(clock_.time_of(Cycles{core(i).barrier_from()}));
        }
    }
    barriers_ += there.size() > 1 ? 1 : 0;
    const UncoreConfig& uncore = config_.uncore;
    const std::vector<Femtoseconds> ends =
        barrier_ends(arrivals, uncore.lookup + uncore.from_core + uncore.answer);
    for (std::size_t i = 0; i < there.size(); ++i) {
        const Member& member = members_[there[i]];
        if (member.simulated) {
            cores_[member.core]->pass_barrier(clock_.first_cycle_from(ends[i]).count());
        }
    }
}

void Socket::note_progress() {
    std::uint64_t progress = 0;
    for (const auto& core : cores_) {
        progress += core->progress();
    }
    last_progress_ = progress == progress_ ? last_progress_ : at_;
    progress_ = progress;
}

// Every core waits for a line, and none is on its way.
bool Socket::stands_still() const {
    return uncore_->idle() && std::all_of(cores_.begin(), cores_.end(), [](const auto& core) {
               return core->asleep() || core->finished() || core->fault().has_value();
           });
}

std::string Socket::standstill() const {
    std::string text;
    for (std::size_t i = 0; i < cores_.size(); ++i) {
        if (!cores_[i]->finished()) {
            text += fmt::format("{} waits for {}\n", name_of_core(program_of(i)),
                                cores_[i]->waiting_for());
        }
    }
    return text;
}

void Socket::write_statistics(base::stats::Group& parent) {
    for (const auto& core : cores_) {
        core->finish_trace(counted_from_ + finish_cycle());
    }
    for (std::size_t i = 0; i < members_.size(); ++i) {
        groups_.push_back(std::make_unique<base::stats::Group>(parent, name_of_core(i), "core"));
        accounts_.push_back(std::make_unique<base::stats::StateAccount>(
            *groups_.back(), "state", base::stats::Unit::Cycle, core::kCoreStates));
        std::int64_t until = 0;
        for (std::size_t s = 0; s < core::kCoreStates.kStates; ++s) {
            const auto state = static_cast<core::CoreState>(s);
            accounts_.back()->enter(s, until);
            // Slices end after the last core: what lies beyond is no part of the run.
            until += state == core::CoreState::Finished
                         ? std::max<std::int64_t>(0, finish_cycle() - until)
                         : core(i).spent(state);
        }
        accounts_.back()->charge_until(until);
    }
}

}  // namespace tilesim::arch::amx::socket
