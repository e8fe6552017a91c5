#include "workloads/npu/gotoblas/expected_time.hpp"

#include <algorithm>

#include "arch/base/units.hpp"
#include "arch/npu/core/stream_kernel_timing.hpp"

namespace tilesim::workloads::npu::gotoblas {

using namespace arch::npu;

namespace {

// A block's B_r, one after the other, each from its lock to the other side's.
struct Stages {
    double host_ns = 0;  // copies one
    double core_ns = 0;  // multiplies with one
};

class Expectation {
  public:
    Expectation(const GemmProblem& problem, const GotoblasMapping& map, const NpuConfig& config)
        : problem_(problem), map_(map), config_(config), timing_(config.kernels, config.stream) {}

    double block_ns(const GotoblasBlock& block) const {
        const auto& host = config_.command_processor;
        // The transfers of C, in and out, and the look whether it has left.
        const double set_up_ns = ns_of(2 * host.task_cycles() + host.sync_cycles, host.clock);
        const Stages of = stages(block);
        const auto panels = static_cast<double>(block.columns / map_.n_r);
        const double first_ns = of.host_ns + of.core_ns;
        return set_up_ns + (map_.b_buffers == 1
                                ? panels * first_ns
                                : first_ns + (panels - 1) * std::max(of.host_ns, of.core_ns));
    }

  private:
    Stages stages(const GotoblasBlock& block) const {
        const auto& host = config_.command_processor;
        const program::Kernel kernel = micro_kernel(problem_, map_, block.steps);
        const std::int64_t words = arch::base::ceil_div(core::b_bytes(kernel), kWordBytes);
        const auto calls = static_cast<double>(block.rows / map_.m_r);
        const core::StreamKernelCycles cycles = timing_.cycles(kernel);
        const double starved =
            std::max(0.0, a_cycles(kernel) - static_cast<double>(cycles.multiply().count()));
        const double cycle_ns = ns_of(arch::base::Cycles{1}, config_.clock);
        return {arch::base::ns_of(host.copy_start + host.copy_word * words) +
                    ns_of(2 * host.write_cycles, host.clock),
                calls * (static_cast<double>(cycles.total().count()) + starved) * cycle_ns +
                    ns_of(2 * config_.core.lock_cycles, config_.clock)};
    }

    // What A's port takes for a call; nothing where A is there whenever the core reads it.
    double a_cycles(const program::Kernel& kernel) const {
        return map_.a_stream == GotoblasMapping::AStream::Port
                   ? static_cast<double>(core::a_bytes(kernel)) /
                         static_cast<double>(config_.stream.width.count())
                   : 0;
    }

    const GemmProblem& problem_;
    const GotoblasMapping& map_;
    const NpuConfig& config_;
    core::StreamKernelTiming timing_;
};

}  // namespace

double expected_ns(const GemmProblem& problem, const GotoblasMapping& map, const NpuConfig& config,
                   const MemoryPath& path) {
    const Expectation expectation(problem, map, config);
    const double leaving_ns =
        arch::base::ns_of(path.fabric.request_latency + path.fabric.response_latency);
    double ns = 0;
    for (const GotoblasBlock& block : blocks_of(problem, map)) {
        ns += expectation.block_ns(block) + leaving_ns;
    }
    return ns;
}

}  // namespace tilesim::workloads::npu::gotoblas
