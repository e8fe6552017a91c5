// The parts of a kernel call's time.
#pragma once

#include "arch/base/units.hpp"

namespace tilesim::arch::npu::core {

struct KernelCycles {
    base::Cycles issue{0};       // vector slots alone: the ideal
    base::Cycles loop_extra{0};  // what the loops take beyond
    base::Cycles c_load{0};
    base::Cycles c_store{0};
    base::Cycles fill_drain{0};
    base::Cycles conflicts{0};  // of two loads with each other, in one bank
    base::Cycles total() const {
        return issue + loop_extra + c_load + c_store + fill_drain + conflicts;
    }
    KernelCycles operator*(std::int64_t times) const {
        return {issue * times,   loop_extra * times, c_load * times,
                c_store * times, fill_drain * times, conflicts * times};
    }
    KernelCycles operator+(const KernelCycles& other) const {
        return {issue + other.issue,           loop_extra + other.loop_extra,
                c_load + other.c_load,         c_store + other.c_store,
                fill_drain + other.fill_drain, conflicts + other.conflicts};
    }
};

}  // namespace tilesim::arch::npu::core
