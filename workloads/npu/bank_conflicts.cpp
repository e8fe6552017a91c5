#include "workloads/npu/bank_conflicts.hpp"

#include <algorithm>
#include <numeric>

namespace tilesim::workloads::npu {

BankConflicts bank_conflicts(const arch::npu::NpuConfig& config,
                             const arch::npu::program::Kernel& kernel,
                             const std::vector<std::int64_t>& a,
                             const std::vector<std::int64_t>& b) {
    const arch::npu::core::KernelTiming timing(config.kernels);
    const std::size_t calls = std::lcm(a.size(), b.size());
    BankConflicts conflicts;
    for (std::size_t call = 0; call < calls; ++call) {
        const auto cycles = static_cast<double>(
            timing
                .cycles(kernel, {a[call % a.size()], b[call % b.size()], config.core.bank.count()})
                .conflicts.count());
        conflicts.mean += cycles / static_cast<double>(calls);
        conflicts.most = std::max(conflicts.most, cycles);
    }
    return conflicts;
}

}  // namespace tilesim::workloads::npu
