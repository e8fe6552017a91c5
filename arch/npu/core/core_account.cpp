#include "arch/npu/core/core_account.hpp"

namespace tilesim::arch::npu::core {

void CoreAccount::enter(CoreState next) {
    if (probe_) {
        const base::Femtoseconds now = scheduler_.queue().now();
        probe_.end(name(), kCoreStates[state()].name, now);
        probe_.begin(name(), kCoreStates[next].name, now);
    }
    stats_.time.enter(next, scheduler_.now().count());
}

void CoreAccount::tell(std::string_view unit, std::string_view event, base::Cycles from,
                       base::Cycles cycles) const {
    if (probe_) {
        const base::Clock& clock = scheduler_.clock();
        const std::string component = name() + std::string{unit};
        probe_.begin(component, event, clock.time_of(from));
        probe_.end(component, event, clock.time_of(from + cycles));
    }
}

void CoreAccount::charge_words(std::int64_t words, base::Cycles begin, CoreState waiting) {
    const base::Cycles now = scheduler_.now();
    stats_.time.charge_until(now.count());
    stats_.time.reclassify(state(), waiting, (now - begin).count() - words);
}

void CoreAccount::count_call(std::int64_t macs, bool works) {
    ++stats_.calls;
    working_calls_ += works ? 1 : 0;
    stats_.macs += macs;
}

}  // namespace tilesim::arch::npu::core
