#include "arch/npu/core/core_account.hpp"

namespace tilesim::arch::npu::core {

namespace {

// What a core in this state would need to be faster; of waits what follows their end.
PathPart part_of(CoreState state) {
    switch (state) {
        case CoreState::Multiply:
            return PathPart::Multiply;
        case CoreState::Zero:
            return PathPart::Zero;
        case CoreState::Add:
            return PathPart::Add;
        case CoreState::Vector:
            return PathPart::Vector;
        case CoreState::Fixed:
            return PathPart::Fixed;
        case CoreState::Cascade:
        case CoreState::WaitingForCascade:
            return PathPart::Cascade;
        case CoreState::Stream:
        case CoreState::WaitingForStream:
            return PathPart::CoreStream;
        case CoreState::ReadingC:
        case CoreState::WritingC:
            return PathPart::CTransfer;
        default:
            return PathPart::Locks;
    }
}

}  // namespace

void CoreAccount::enter(CoreState next) {
    path_.charge(part_of(state()), scheduler_.now());
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
    path_.charge(part_of(state()), now);
    stats_.time.charge_until(now.count());
    stats_.time.reclassify(state(), waiting, (now - begin).count() - words);
}

void CoreAccount::count_call(std::int64_t macs, bool works) {
    ++stats_.calls;
    working_calls_ += works ? 1 : 0;
    stats_.macs += macs;
}

}  // namespace tilesim::arch::npu::core
