// A program on an array: what every dataflow of an NPU hands to the session.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arch/memory/port/backing_store.hpp"
#include "arch/npu/check/ready_program.hpp"
#include "arch/npu/npu_config.hpp"
#include "arch/npu/tile/tile_memory.hpp"
#include "workloads/dataflow.hpp"
#include "workloads/gemm.hpp"
#include "workloads/npu/array_attribution.hpp"
#include "workloads/npu/gemm_data.hpp"
#include "workloads/product_check.hpp"

namespace tilesim::workloads::npu {

// What a mapping says of its multiply kernels instead of the timing model:
// `mapping.kernel_cycles`, the cycles of every call, or `mapping.kernel_permille`, how long a call
// takes in thousandths of what the model says: a design's own kernel, known by one measurement.
struct KernelCycles {
    std::optional<std::int64_t> cycles;
    std::int64_t permille = kAsModelled;

    static constexpr std::int64_t kAsModelled = 1000;
    bool stated() const { return cycles || permille != kAsModelled; }
    // What is left of bounds by the model's cycles. How long calls of stated cycles take of these
    // is not known here.
    GemmBounds bounds(const GemmBounds& modelled) const;
};
// Bounds whose kernels take such a share of the model's cycles. Which part of them longer ones are
// is not known: they remain bounds as they are.
GemmBounds with_kernels(GemmBounds modelled, double share);
KernelCycles read_kernel_cycles(arch::base::config::Node& mapping);
void describe_kernel_cycles(const KernelCycles& cycles, nlohmann::ordered_json& mapping);
// Sets them in a program, and says so. Which share of the model's cycles the shortest takes.
double override_kernel_cycles(const KernelCycles& cycles, arch::npu::program::Program& program,
                              const arch::npu::NpuConfig& config, RunResult& result);

// What a functional run does with the bytes of DRAM and of the tiles, at start and at the end.
struct Contents {
    std::function<void(arch::memory::port::BackingStore&, arch::npu::tile::TileMemory&)> fill;
    std::function<ProductCheck(arch::memory::port::BackingStore&, arch::npu::tile::TileMemory&)>
        check;
};
// Operands from the run's seed, and the check of a product in DRAM.
Contents contents_of(const Case& a_case, const GemmMatrices& matrices, const SumOrder& order);

// Equal rounds a program consists of.
struct EqualRounds {
    double count = 0;     // 0: it does not repeat itself
    double least_ns = 0;  // a round, once every buffer on its way is full; 0: not known
};

// Runs a program that is ready; the result's status says how it ended. `macs`: multiply-accumulates
// of the problem, for the rates. Gives what set the shims' pace.
ArrayFindings run_array(Runner& runner, const Case& a_case,
                        const arch::npu::check::ReadyProgram& ready, const Contents& contents,
                        double macs, const EqualRounds& rounds, RunResult& result);

// A matrix product, or what else a dataflow computes, lowered to a program.
struct LoweredProduct {
    arch::npu::program::Program program;
    double macs = 0;  // multiply-accumulates of the problem
    GemmBounds bounds;
    Contents contents;
    double padding_waste = 0;
    std::string summary;  // comment lines before the printed program
    KernelCycles kernel_cycles;
    EqualRounds rounds;
    // Keys of limits that make the program what it is, though its run may stay below them.
    std::vector<std::string> deciding_limits = {};
    // What the dataflow adds to a result that has ended well; may be empty.
    std::function<void(RunResult&)> details = {};
};
std::unique_ptr<Job> product_job(const Case& a_case, LoweredProduct product, RunResult& result);

}  // namespace tilesim::workloads::npu
