#include "sim/session/counted_before.hpp"

#include <algorithm>

#include "arch/base/clock.hpp"

namespace tilesim::sim::session {

void CountedBefore::note(arch::memory::controller::MemorySystem& memory,
                         arch::base::Femtoseconds now) {
    began_ = now;
    memory.count_unwatched();
    totals_ = memory.totals();
    banks_ = memory.bank_use();
    const std::int64_t cycle = arch::base::Clock{memory.clock()}.cycle_at(now).count();
    for (const auto& channel : memory.channels()) {
        const arch::base::stats::StateAccount& bus = channel->stats().bus;
        std::vector<std::int64_t>& spent = charged_[&bus];
        spent.clear();
        for (std::size_t state = 0; state < bus.states().size(); ++state) {
            spent.push_back(bus.spent(state));
        }
        // Busses are charged with their next data: since the last they have been as they are.
        spent[bus.current()] += std::max<std::int64_t>(0, cycle - bus.since());
    }
}

void CountedBefore::leave_out(workloads::RunResult& result) const {
    *result.memory -= totals_;
    for (std::size_t channel = 0; channel < banks_.channels.size(); ++channel) {
        for (std::size_t bank = 0; bank < banks_.channels[channel].size(); ++bank) {
            result.banks->channels[channel][bank] -= banks_.channels[channel][bank];
        }
    }
}

}  // namespace tilesim::sim::session
