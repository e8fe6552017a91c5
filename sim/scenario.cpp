#include "sim/scenario.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "arch/memory/controller/memory_config_reader.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "arch/npu/core/stream_kernel_timing.hpp"
#include "sim/design_file.hpp"
#include "sim/paths.hpp"
#include "sim/scenario_amx.hpp"
#include "sim/scenario_training.hpp"

namespace tilesim::sim {

using arch::base::config::ConfigError;
using arch::base::config::Document;
using arch::base::config::Node;
using Overrides = std::vector<std::pair<std::string, std::string>>;

namespace {

constexpr std::string_view kDevicePrefix = "device.";

arch::npu::program::Kernel read_core_kernel(Node node) {
    arch::npu::program::Kernel kernel;
    kernel.name = "multiply";
    kernel.kind = arch::npu::program::KernelKind::Multiply;
    const arch::base::config::Range tile{1, 4096};
    node.required("m", kernel.m, tile, "rows of the C tile");
    node.required("k", kernel.k, tile, "reduced elements");
    node.required("n", kernel.n, tile, "columns of the C tile");
    node.required("a", kernel.a, arch::npu::kDataTypes, "type of A");
    node.required("b", kernel.b, arch::npu::kDataTypes, "type of B");
    node.required("c", kernel.c, arch::npu::kDataTypes, "type of C");
    node.done();
    return kernel;
}

// The NPU that takes the prompt's matrices, and the widest type its products can have.
void read_prompt_device(Node& node, ModelWorkload& workload) {
    if (!node.has("prompt_device")) {
        return;
    }
    std::string name;
    node.optional("prompt_device", name, "NPU for the prompt's matrices; left out: roofline");
    try {
        workload.prompt_device = load_device(name, {});
    } catch (const ConfigError& error) {
        node.error("prompt_device", error.what());
        return;
    }
    if (!workload.prompt_device->npu) {
        node.error("prompt_device", fmt::format("'{}' is no NPU", name));
        return;
    }
    using arch::base::DataType;
    const arch::npu::core::KernelTiming timing(workload.prompt_device->npu->kernels);
    for (const DataType result :
         {DataType::Int32, DataType::F32, DataType::Int16, DataType::Bf16}) {
        const bool has =
            timing.find_mode(workload.format.input, workload.format.weights, result) != nullptr;
        if (has && !workload.prompt_result) {
            workload.prompt_result = result;
        }
    }
    if (!workload.prompt_result) {
        node.error("prompt_device", fmt::format("'{}' does not multiply {} by {}", name,
                                                arch::base::name_of(workload.format.input),
                                                arch::base::name_of(workload.format.weights)));
    }
}

ModelWorkload read_model(Node& node) {
    ModelWorkload workload;
    std::string name;
    node.required("model", name, "a shipped transformer, or the path of a model file");
    const arch::base::config::Range tokens{0, 1 << 20};
    node.optional("prompt", workload.prompt, tokens, "tokens given, worked on at once");
    node.optional("generate", workload.generate, tokens, "tokens generated, one by one");
    workloads::read_gemv_format(node, workload.format);
    read_prompt_device(node, workload);
    workload.model = load_model(node, name);
    return workload;
}

Workload read_workload(Node node, const std::string& file) {
    const std::vector<std::string> kinds{"gemm",         "gemv",         "conv",
                                         "model",        "core_kernel",  "amx_program",
                                         "memory_trace", "memory_stream"};
    std::vector<std::string> given;
    for (const std::string& kind : kinds) {
        if (node.has(kind)) {
            given.push_back(kind);
        }
    }
    if (given.size() != 1) {
        node.error("", fmt::format("must hold exactly one of {}", fmt::join(kinds, ", ")));
    }
    const std::string kind = given.empty() ? "" : given[0];
    Workload workload;
    if (kind == "gemm") {
        workload = workloads::read_gemm(node.child("gemm", "C = A x B"));
    } else if (kind == "gemv") {
        workload = workloads::read_gemv(node.child("gemv", "y = W x"));
    } else if (kind == "model") {
        workload = is_training(node) ? Workload{read_training(node)} : Workload{read_model(node)};
    } else if (kind == "conv") {
        workload = workloads::read_convolution(node.child("conv", "direct convolution"));
    } else if (kind == "amx_program") {
        workload =
            read_amx_program(node.child("amx_program", "instructions for an AMX core"), file);
    } else if (kind == "core_kernel") {
        workload = CoreKernelWorkload{
            read_core_kernel(node.child("core_kernel", "one kernel call on one core"))};
    } else if (kind == "memory_stream") {
        workload = arch::memory::traffic::read_stream_config(
            node.child("memory_stream", "generated requests to the memory alone"));
    } else if (kind == "memory_trace") {
        arch::memory::traffic::StreamConfig stream;
        node.required("memory_trace", stream.trace, "CSV file of requests: op,address,bytes");
        stream.trace = beside(file, stream.trace);
        workload = stream;
    }
    if (!given.empty()) {
        node.done();
    }
    return workload;
}

// Workloads of a device whose cores are fed by streams.
void check_stream_fed(Node& root, const Scenario& scenario) {
    const auto* map = std::get_if<workloads::GotoblasMapping>(&scenario.mapping);
    if (map == nullptr && !std::holds_alternative<std::monostate>(scenario.mapping)) {
        root.error("mapping", fmt::format("'{}' has no memory tiles: it needs gotoblas",
                                          scenario.device.name));
        return;
    }
    if (const auto* core = std::get_if<CoreKernelWorkload>(&scenario.workload)) {
        const std::string reason =
            arch::npu::core::StreamKernelTiming(scenario.device.npu->kernels).check(core->kernel);
        if (!reason.empty()) {
            root.error("workload", reason);
        }
    } else if (const auto* gemm = std::get_if<workloads::GemmProblem>(&scenario.workload)) {
        for (const std::string& problem : workloads::problems_of(
                 *gemm,
                 map != nullptr ? *map : workloads::choose_gotoblas(*gemm, *scenario.device.npu),
                 *scenario.device.npu)) {
            root.error("mapping", problem);
        }
    }
}

void check_workload(Node& root, const Scenario& scenario) {
    const bool gemv_in_memory =
        scenario.device.pim && std::holds_alternative<workloads::GemvProblem>(scenario.workload);
    if (scenario.traffic && !gemv_in_memory) {
        root.error("traffic", "goes with a gemv on a device with processing in memory");
    }
    if (check_training(root, scenario) || check_amx(root, scenario)) {
        return;
    }
    const bool gemm_in_memory =
        scenario.device.pim && std::holds_alternative<workloads::GemmProblem>(scenario.workload);
    if (gemm_in_memory && scenario.run.functional) {
        root.error("run", "functional mode needs a gemv on this device");
    }
    if (gemm_in_memory || std::holds_alternative<workloads::GemvProblem>(scenario.workload) ||
        std::holds_alternative<ModelWorkload>(scenario.workload)) {
        if (!scenario.device.pim) {
            const bool model = std::holds_alternative<ModelWorkload>(scenario.workload);
            root.error(
                "device",
                fmt::format("'{}' has no processing in memory, which this workload needs{}",
                            scenario.device.name,
                            model ? "; a training step on an NPU says batch and sequence" : ""));
        } else if (!std::holds_alternative<std::monostate>(scenario.mapping) &&
                   !std::holds_alternative<workloads::PimMapping>(scenario.mapping)) {
            root.error("mapping", "this device needs pimnast or column_major");
        }
        return;
    }
    const bool for_npu = !std::holds_alternative<arch::memory::traffic::StreamConfig>(scenario.workload);
    if (for_npu && !scenario.device.npu) {
        root.error("device",
                   fmt::format("'{}' has no NPU, which this workload needs", scenario.device.name));
        return;
    }
    if (for_npu && stream_fed(scenario.device)) {
        check_stream_fed(root, scenario);
        return;
    }
    if (std::holds_alternative<workloads::GotoblasMapping>(scenario.mapping)) {
        root.error("mapping", fmt::format("'{}' has no cores that a stream feeds, which gotoblas "
                                          "needs",
                                          scenario.device.name));
        return;
    }
    if (std::holds_alternative<workloads::PimMapping>(scenario.mapping)) {
        root.error("mapping", "this workload needs output_stationary");
        return;
    }
    if (const auto* core = std::get_if<CoreKernelWorkload>(&scenario.workload)) {
        const std::string reason =
            arch::npu::core::KernelTiming(scenario.device.npu->kernels).check(core->kernel);
        if (!reason.empty()) {
            root.error("workload", reason);
        }
    }
    if (const auto* gemm = std::get_if<workloads::GemmProblem>(&scenario.workload)) {
        const arch::npu::core::KernelTiming timing(scenario.device.npu->kernels);
        if (timing.find_mode(gemm->a, gemm->b, gemm->c) == nullptr) {
            root.error("workload",
                       fmt::format("this device has no {} x {} -> {} multiply", name_of(gemm->a),
                                   name_of(gemm->b), name_of(gemm->c)));
        } else if (const auto* map =
                       std::get_if<workloads::OutputStationaryMapping>(&scenario.mapping)) {
            for (const std::string& problem :
                 workloads::problems_of(*gemm, *map, *scenario.device.npu)) {
                root.error("mapping", problem);
            }
        }
    }
}

void read_mapping(Node& root, Scenario& scenario) {
    if (!root.has("mapping")) {
        return;
    }
    Node mapping = root.child("mapping", "how the workload runs on the device");
    const std::vector<std::string> kinds{"output_stationary", "amx",       "pimnast",
                                         "column_major",      "row_major", "gotoblas"};
    std::vector<std::string> given;
    for (const std::string& kind : kinds) {
        if (mapping.has(kind)) {
            given.push_back(kind);
        }
    }
    const std::string kind = given.size() == 1 ? given[0] : "";
    if (kind == "output_stationary") {
        scenario.mapping =
            workloads::read_output_stationary(mapping.child(kind, "C stays in the cores"));
    } else if (kind == "gotoblas") {
        scenario.mapping =
            workloads::read_gotoblas(mapping.child(kind, "five loops around a micro-kernel"));
    } else if (kind == "amx") {
        scenario.mapping =
            workloads::read_amx_mapping(mapping.child(kind, "tile kernels on AMX cores"));
    } else if (kind == "pimnast") {
        scenario.mapping = workloads::read_pimnast(mapping.child(kind, "balanced placement"));
    } else if (kind == "column_major") {
        scenario.mapping =
            workloads::read_column_major(mapping.child(kind, "columns of 256 rows over banks"));
    } else if (kind == "row_major") {
        mapping.error(kind,
                      "spreads every row over the banks, whose partial sums only "
                      "communication between banks could add; take pimnast or column_major");
    } else if (!given.empty() || !mapping.has("offload")) {
        mapping.error(
            "", "must hold exactly one of output_stationary, gotoblas, amx, pimnast, column_major");
    }
    if (mapping.has("offload")) {
        scenario.offload = read_offload(mapping.child("offload", "to an NPU, in training"));
    }
    if (mapping.has("kernel_cycles")) {
        std::int64_t cycles = 0;
        mapping.optional("kernel_cycles", cycles, {0, 1'000'000'000},
                         "measured cycles of a multiply call, instead of the timing model's");
        scenario.kernel_cycles = cycles;
    }
    mapping.done();
}

void read_run(Node node, RunOptions& run) {
    node.optional("functional", run.functional, "move the bytes and check the product");
    auto seed = static_cast<std::int64_t>(run.seed);
    node.optional("seed", seed, {0, INT64_MAX}, "seed of random operands");
    run.seed = static_cast<std::uint64_t>(seed);
    node.optional("max_time", run.max_time, {1, INT64_MAX}, "simulated-time budget");
    node.optional("max_wall_time", run.max_wall_time, {1, INT64_MAX}, "host-time budget");
    node.done();
}

// An unknown name is an error at the key `device`.
void load_named_device(Node& root, const Document& document, const std::string& name,
                       const Overrides& overrides, Device& device) {
    try {
        device = load_device(name, overrides);
    } catch (const ConfigError& error) {
        const std::string text = error.what();
        if (!text.starts_with("unknown device")) {
            throw;
        }
        root.error("device", text);
        document.finish();
    }
}

ProgramWorkload read_design_workload(Node& root, const Document& document, const DesignFile& design,
                                     const Device& device) {
    if (!device.npu) {
        root.error("device", fmt::format("'{}' has no NPU, which a design needs", device.name));
        document.finish();
    }
    auto [program, notes] = workloads::npu::mlir::lower(design.source, design.options, *device.npu);
    ProgramWorkload workload;
    workload.program = std::move(program);
    workload.notes = std::move(notes);
    workload.source_text = design.text;
    read_contents(root, workload);
    return workload;
}

Scenario read_scenario(Document document, const std::string& file, const Overrides& overrides) {
    Scenario scenario;
    Overrides for_device;
    for (const auto& [key, value] : overrides) {
        scenario.overridden.push_back(key);
        if (key.starts_with(kDevicePrefix)) {
            for_device.emplace_back(key.substr(kDevicePrefix.size()), value);
        } else {
            document.override_value(key, value, "--set");
        }
    }
    scenario.document = std::make_shared<Document>(document);
    Node root = document.root();
    std::string device;
    if (root.has("design")) {
        root.optional("device", device, "device name or file; left out: the design's target");
        const DesignFile design =
            read_design_file(root.child("design", "a lowered AIE-dialect design"), file);
        document.finish();
        std::vector<std::string> notes;
        device = device.empty() ? device_of_design(design, notes) : device;
        load_named_device(root, document, device, for_device, scenario.device);
        ProgramWorkload program = read_design_workload(root, document, design, scenario.device);
        program.notes.insert(program.notes.begin(), notes.begin(), notes.end());
        scenario.workload = std::move(program);
    } else {
        root.required("device", device, "device name, or path of a device file");
        scenario.workload = root.has("program")
                                ? Workload{read_program_workload(root)}
                                : read_workload(root.child("workload", "what is computed"), file);
    }
    read_mapping(root, scenario);
    if (root.has("traffic")) {
        scenario.traffic = arch::memory::traffic::read_stream_config(
            root.child("traffic", "ordinary requests to the memory beside a gemv in its banks"));
    }
    read_run(root.child("run", "how to run"), scenario.run);
    root.done();
    document.finish();
    if (!root.has("design")) {
        load_named_device(root, document, device, for_device, scenario.device);
    }
    check_workload(root, scenario);
    document.finish();
    return scenario;
}

}  // namespace

bool stream_fed(const Device& device) {
    return device.npu && device.npu->kernels.modes.empty() &&
           !device.npu->kernels.stream_modes.empty();
}

Device load_device(const std::string& name, const Overrides& overrides) {
    Device device;
    Document document = Document::load(device_file(name));
    Overrides for_memory;
    for (const auto& [key, value] : overrides) {
        if (key.starts_with("memory.")) {
            for_memory.emplace_back(key, value);
        } else {
            document.override_value(key, value, "--set device.");
        }
    }
    Node root = document.root();
    enum class Kind { Memory, Npu, Pim, Amx } kind = Kind::Memory;
    root.required("name", device.name, "the device's name");
    root.required(
        "kind", kind,
        std::vector<std::pair<std::string_view, Kind>>{
            {"memory", Kind::Memory}, {"npu", Kind::Npu}, {"pim", Kind::Pim}, {"amx", Kind::Amx}},
        "the model it is data for");
    std::optional<Document> memory;
    if (kind != Kind::Memory) {
        std::string memory_name;
        root.required("memory", memory_name, "the memory device under it");
        if (kind == Kind::Npu) {
            device.fabric =
                arch::fabric::read_fabric_config(root.child("fabric", "between shim and memory"));
            device.npu = arch::npu::read_npu_config(root.child("npu", "the array"));
            if (root.has("host")) {
                device.host = arch::host::read_host_config(
                    root.child("host", "the processor beside the array"));
            }
        } else if (kind == Kind::Pim) {
            device.pim = arch::pim::read_pim_config(root.child("pim", "the units at the banks"));
            device.soc = arch::pim::read_soc_config(root.child("soc", "the system it serves"));
        } else {
            device.amx = arch::amx::read_amx_config(root.child("amx", "cores, caches, mesh"));
        }
        root.done();
        document.finish();
        memory = Document::load(device_file(memory_name));
    }
    Document& memory_document = memory ? *memory : document;
    for (const auto& [key, value] : for_memory) {
        memory_document.override_value(key, value, "--set device.");
    }
    Node memory_root = memory ? memory->root() : root;
    if (memory) {
        std::string memory_name;
        Kind memory_kind = Kind::Memory;
        memory_root.required("name", memory_name, "the device's name");
        memory_root.required(
            "kind", memory_kind,
            std::vector<std::pair<std::string_view, Kind>>{{"memory", Kind::Memory}},
            "the model it is data for");
    }
    device.memory = arch::memory::controller::read_memory_config(memory_root.child("memory", "the DRAM"));
    memory_root.done();
    memory_document.finish();
    device.documents.push_back(document);
    if (memory) {
        device.documents.push_back(*memory);
    }
    return device;
}

Scenario load_scenario(const std::string& file, const Overrides& overrides) {
    if (is_design_file(file)) {
        return parse_scenario(scenario_of_design(file), file, overrides);
    }
    return read_scenario(Document::load(file), file, overrides);
}

Scenario parse_scenario(const std::string& text, const std::string& file,
                        const Overrides& overrides) {
    return read_scenario(Document::parse(text, file), file, overrides);
}

}  // namespace tilesim::sim
