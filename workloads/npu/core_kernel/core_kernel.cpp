#include "workloads/npu/core_kernel/core_kernel.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arch/base/clock.hpp"
#include "arch/npu/check/device_use.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "arch/npu/core/stream_kernel_timing.hpp"
#include "arch/npu/npu_config.hpp"
#include "workloads/attribution.hpp"
#include "workloads/keys.hpp"
#include "workloads/npu/core_placement.hpp"
#include "workloads/npu/npu_machine.hpp"
#include "workloads/npu/register_use.hpp"

namespace tilesim::workloads::npu::core_kernel {

using arch::base::config::Node;
using arch::npu::NpuConfig;
using arch::npu::program::Kernel;
using Json = nlohmann::ordered_json;

namespace {

void read_keys(Node& node, Kernel& kernel) {
    const arch::base::config::Range tile{1, 4096};
    node.required("m", kernel.m, tile, "rows of the C tile");
    node.required("k", kernel.k, tile, "reduced elements");
    node.required("n", kernel.n, tile, "columns of the C tile");
    node.required("a", kernel.a, arch::npu::kDataTypes, "type of A");
    node.required("b", kernel.b, arch::npu::kDataTypes, "type of B");
    node.required("c", kernel.c, arch::npu::kDataTypes, "type of C");
    node.optional("mode", kernel.mode, "which of the device's modes of these types, by its name");
    node.done();
}

class CoreKernelKind final : public ProblemKind {
  public:
    std::string_view key() const override { return "core_kernel"; }
    Problem read(ProblemSource& source) const override {
        Kernel kernel;
        kernel.name = "multiply";
        kernel.kind = arch::npu::program::KernelKind::Multiply;
        Node node = source.node.child(key(), "one kernel call on one core");
        read_keys(node, kernel);
        return {*this, kernel};
    }
    Json describe(const Problem& problem) const override {
        return {{key(), keys_of(problem.get<Kernel>(), read_keys)}};
    }
};

double share(arch::base::Cycles part) {
    return static_cast<double>(part.count());
}

// The buffers of a core whose A and B are double-buffered and whose C is not.
std::vector<std::int64_t> buffers_of(const Kernel& kernel) {
    const auto bytes = [](std::int64_t elements, arch::npu::DataType type) {
        return arch::base::ceil_div(elements * arch::npu::bits_of(type), arch::base::kBitsPerByte);
    };
    const std::int64_t a = bytes(kernel.m * kernel.k, kernel.a);
    const std::int64_t b = bytes(kernel.k * kernel.n, kernel.b);
    return {a, a, b, b, bytes(kernel.m * kernel.n, kernel.c)};
}

// The mean over the calls of a core whose compiler places its buffers.
arch::npu::core::KernelCycles tile_kernel_cycles(const Kernel& kernel, const NpuConfig& config) {
    const arch::npu::core::KernelTiming timing(config.kernels);
    const auto places = place_in_core(buffers_of(kernel), config.core);
    if (!places) {
        return timing.cycles(kernel);
    }
    const std::int64_t bank = config.core.bank.count();
    auto cycles = timing.cycles(kernel, {(*places)[0], (*places)[2], bank});
    const auto other = timing.cycles(kernel, {(*places)[1], (*places)[3], bank});
    cycles.conflicts =
        arch::base::Cycles{(cycles.conflicts.count() + other.conflicts.count() + 1) / 2};
    return cycles;
}

// No event is needed: the time is the kernel model's.
arch::base::Cycles time_tile_kernel(const Kernel& kernel, const NpuConfig& config,
                                    RunResult& result) {
    const arch::npu::core::KernelCycles cycles = tile_kernel_cycles(kernel, config);
    result.where = {{"core",
                     {{"issue", share(cycles.issue)},
                      {"loop_extra", share(cycles.loop_extra)},
                      {"c_load", share(cycles.c_load)},
                      {"c_store", share(cycles.c_store)},
                      {"fill_drain", share(cycles.fill_drain)},
                      {"bank_conflicts", share(cycles.conflicts)}}}};
    return cycles.total();
}

arch::base::Cycles time_stream_kernel(const Kernel& kernel, const NpuConfig& config,
                                      RunResult& result) {
    const arch::npu::core::StreamKernelTiming timing(config.kernels, config.stream);
    const arch::npu::core::StreamKernelCycles cycles = timing.cycles(kernel);
    result.where = {{"core",
                     {{"issue", share(cycles.issue)},
                      {"loop_extra", share(cycles.loop_extra)},
                      {"spill", share(cycles.spill)},
                      {"fill_drain", share(cycles.fill_drain)},
                      {"c_load", share(cycles.c_load)},
                      {"c_store", share(cycles.c_store)}}}};
    const double macs = static_cast<double>(kernel.m * kernel.k * kernel.n);
    result.details = {{"fraction_of_peak", macs / share(cycles.total()) /
                                               static_cast<double>(timing.mode_of(kernel).macs)},
                      {"multiply_cycles", cycles.multiply().count()},
                      {"register_block", npu::describe(timing.registers(kernel))}};
    return cycles.total();
}

// A core with the call alone; on tiles, with its operands' buffers.
arch::npu::program::Program program_of(const Kernel& kernel, const NpuConfig& config,
                                       bool stream_fed) {
    const arch::npu::program::TileCoordinate tile{0, config.memory_rows + 1};
    arch::npu::program::Program program;
    program.kernels = {kernel};
    program.kernels[0].kind = stream_fed ? arch::npu::program::KernelKind::Stream
                                         : arch::npu::program::KernelKind::Multiply;
    program.cores = {{tile, {}, {{arch::npu::program::CallOp{0, {0, 1}, {}}}}}};
    if (stream_fed) {
        return program;
    }
    program.cores[0].rotations = {{"a", {0, 1}}, {"b", {2, 3}}};
    const std::vector<std::int64_t> sizes = buffers_of(kernel);
    const auto places = place_in_core(sizes, config.core);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        program.buffers.push_back({"", tile, places ? (*places)[i] : 0, sizes[i]});
    }
    return program;
}

// What the use of the device counts as felt by any program, but a call alone does not feel.
constexpr std::string_view kOfPrograms[] = {"npu.memory_rows", "npu.core.call_cycles",
                                            "npu.kernels.panel_memory",
                                            "npu.command_processor.dispatch"};

// The rest of the device has no part in it.
void name_unfelt(const Case& a_case, RunResult& result) {
    const auto& config = a_case.device.get<NpuConfig>();
    const bool on_streams = stream_fed(a_case.device);
    auto keys = arch::npu::check::not_exercised(
        program_of(a_case.problem.get<Kernel>(), config, on_streams), config, {});
    if (on_streams) {  // C comes and goes through the core's ports
        std::erase(keys, "npu.stream.width");
    }
    add_not_exercised(result, keys);
    add_not_exercised(result, a_case.device.paths([](const std::string& path) {
        const bool host = path.starts_with("host.") && path != "host.profile";  // it sets clocks
        return host || path.starts_with("fabric.") || path.starts_with("memory.") ||
               std::find(std::begin(kOfPrograms), std::end(kOfPrograms), path) !=
                   std::end(kOfPrograms);
    }));
}

class KernelJob final : public Job {
  public:
    explicit KernelJob(const Case& a_case) : case_(a_case) {}

    void run(Runner&, RunResult& result) override {
        const auto& kernel = case_.problem.get<Kernel>();
        const auto& config = case_.device.get<NpuConfig>();
        const arch::base::Cycles cycles = stream_fed(case_.device)
                                              ? time_stream_kernel(kernel, config, result)
                                              : time_tile_kernel(kernel, config, result);
        result.cycles = cycles.count();
        result.time_ns = arch::base::ns_of(arch::base::Clock{config.clock}.time_of(cycles));
        set_rates(result, static_cast<double>(kernel.m * kernel.k * kernel.n), config.clock);
        name_bottlenecks(result, "core", "core kernel: ");
        name_unfelt(case_, result);
    }

  private:
    const Case& case_;
};

class CoreKernelDataflow final : public Dataflow {
  public:
    std::string_view name() const override { return ""; }
    bool serves(const Problem& problem, const Device& device) const override {
        return &problem.kind() == &core_kernel_kind() && device.has<NpuConfig>();
    }
    Mapping read(Node&) const override { return {}; }
    Json describe(const Mapping&) const override { return Json::object(); }

    std::vector<Refusal> refusals(const Case& a_case) const override {
        const auto& kernel = a_case.problem.get<Kernel>();
        const auto& config = a_case.device.get<NpuConfig>();
        std::string reason =
            stream_fed(a_case.device)
                ? arch::npu::core::StreamKernelTiming(config.kernels, config.stream).check(kernel)
                : arch::npu::core::KernelTiming(config.kernels).check(kernel);
        return reason.empty() ? std::vector<Refusal>{}
                              : std::vector<Refusal>{{"workload", std::move(reason)}};
    }

    std::unique_ptr<Job> lower(const Case& a_case, RunResult&) const override {
        return std::make_unique<KernelJob>(a_case);
    }
};

}  // namespace

const ProblemKind& core_kernel_kind() {
    static const CoreKernelKind kind;
    return kind;
}

const Dataflow& core_kernel_dataflow() {
    static const CoreKernelDataflow dataflow;
    return dataflow;
}

}  // namespace tilesim::workloads::npu::core_kernel
