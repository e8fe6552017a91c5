#include "workloads/catalogue/catalogue.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/memory/controller/memory_config_reader.hpp"
#include "workloads/amx/amx_machine.hpp"
#include "workloads/amx/tiles/amx_dataflow.hpp"
#include "workloads/gemm.hpp"
#include "workloads/gemv.hpp"
#include "workloads/memory/host_loop/host_loop.hpp"
#include "workloads/memory/memory_machine.hpp"
#include "workloads/memory/streams/streams.hpp"
#include "workloads/npu/core_kernel/core_kernel.hpp"
#include "workloads/npu/elementwise/elementwise_dataflow.hpp"
#include "workloads/npu/fused_cast/fused_cast_dataflow.hpp"
#include "workloads/npu/gemv/gemv_dataflow.hpp"
#include "workloads/npu/gotoblas/gotoblas_dataflow.hpp"
#include "workloads/npu/mlir/design/design_kind.hpp"
#include "workloads/npu/npu_machine.hpp"
#include "workloads/npu/output_stationary/output_stationary_dataflow.hpp"
#include "workloads/npu/program_file/program_dataflow.hpp"
#include "workloads/npu/training/offload.hpp"
#include "workloads/npu/training/training_workload.hpp"
#include "workloads/npu/weight_stationary/weight_stationary_dataflow.hpp"
#include "workloads/paths.hpp"
#include "workloads/pim/gemv/gemv_dataflow.hpp"
#include "workloads/pim/gemv/natural_dataflow.hpp"
#include "workloads/pim/pim_machine.hpp"
#include "workloads/pim/program/program_dataflow.hpp"
#include "workloads/pim/transformer/model_workload.hpp"
#include "workloads/pim/transformer/transformer_dataflow.hpp"

namespace tilesim::workloads::catalogue {

using arch::base::config::Document;
using arch::base::config::Node;

std::span<const Machine* const> machines() {
    static const std::array kMachines{
        &memory::memory_machine(),
        &npu::npu_machine(),
        &pim::pim_machine(),
        &amx::amx_machine(),
    };
    return kMachines;
}

std::span<const ProblemKind* const> problem_kinds() {
    static const std::array kKinds{
        &gemm_kind(),
        &gemv_kind(),
        &amx::tiles::convolution_kind(),
        &npu::training::training_kind(),
        &pim::transformer::model_kind(),
        &npu::core_kernel::core_kernel_kind(),
        &npu::elementwise::elementwise_kind(),
        &amx::tiles::amx_program_kind(),
        &memory::streams::trace_kind(),
        &memory::streams::stream_kind(),
        &memory::host_loop::loop_kind(),
        &npu::program_file::program_kind(),
        &pim::program::program_kind(),
        &npu::mlir::design::design_kind(),
    };
    return kKinds;
}

// Offload wraps output_stationary, so it is looked for first; what multiplies by a vector has GEMMs
// of one row.
std::span<const Dataflow* const> dataflows() {
    static const std::array kDataflows{
        &npu::training::offload_dataflow(),
        &npu::gemv::gemv_dataflow(),
        &npu::elementwise::elementwise_dataflow(),
        &npu::output_stationary::output_stationary_dataflow(),
        &npu::weight_stationary::weight_stationary_dataflow(),
        &npu::fused_cast::fused_cast_dataflow(),
        &npu::gotoblas::gotoblas_dataflow(),
        &amx::tiles::amx_dataflow(),
        &pim::gemv::pimnast_dataflow(),
        &pim::gemv::column_major_dataflow(),
        &pim::gemv::row_major_dataflow(),
        &pim::gemv::bank_rows_dataflow(),
        &pim::gemv::tile_pairs_dataflow(),
        &pim::transformer::model_dataflow(),
        &npu::core_kernel::core_kernel_dataflow(),
        &amx::tiles::amx_program_dataflow(),
        &npu::program_file::program_dataflow(),
        &pim::program::program_dataflow(),
        &memory::streams::stream_dataflow(),
        &memory::host_loop::loop_dataflow(),
    };
    return kDataflows;
}

const Dataflow* dataflow_of(const Case& a_case) {
    const Dataflow* of_mapping = a_case.mapping.empty() ? nullptr : &a_case.mapping.dataflow();
    if (of_mapping != nullptr && of_mapping->serves(a_case.problem, a_case.device)) {
        return of_mapping;
    }
    for (const Dataflow* dataflow : dataflows()) {
        if (dataflow->takes(a_case.mapping) && dataflow->serves(a_case.problem, a_case.device)) {
            return dataflow;
        }
    }
    return nullptr;
}

namespace {

constexpr const char* kMemory = "memory";

// `name` and `kind`, which every device file has.
const Machine& read_head(Node& root, Device& device) {
    root.required("name", device.name, "the device's name");
    std::vector<std::pair<std::string_view, const Machine*>> kinds;
    for (const Machine* each : machines()) {
        kinds.emplace_back(each->kind(), each);
    }
    const Machine* machine = machines().front();
    root.required("kind", machine, kinds, "the model it is data for");
    return *machine;
}

void read_memory(Node& root, Device& device) {
    device.memory = arch::memory::controller::read_memory_config(root.child("memory", "the DRAM"));
}

std::string read_memory_name(Node& root) {
    std::string name;
    root.required(kMemory, name, "the memory device under it");
    return name;
}

// The file that the device names; an unknown one is an error there.
Document load_memory(Node& root, const Document& device, const std::string& name) {
    try {
        return Document::load(device_file(named_in(root.file(), name)));
    } catch (const UnknownName& error) {
        root.error(kMemory, error.what());
        device.finish();
        throw;
    }
}

void override_values(Document& document, const Overrides& overrides, std::string_view prefix) {
    for (const auto& [key, value] : overrides) {
        document.override_value(key, value, fmt::format("{}{}", kSetOrigin, prefix));
    }
}

}  // namespace

void describe_device(Node& root, const Machine& machine) {
    Device device;
    read_head(root, device);
    if (machine.is_memory()) {
        read_memory(root, device);
    } else {
        read_memory_name(root);
        machine.read(root, device);
    }
}

Device load_device(const std::string& name, const Overrides& overrides, std::string_view prefix) {
    Device device;
    device.called = name;
    Overrides own;
    Overrides of_memory;
    for (const auto& override : overrides) {
        (override.first.starts_with("memory.") ? of_memory : own).push_back(override);
    }
    Document document = Document::load(device_file(name));
    override_values(document, own, prefix);
    Node root = document.root();
    const Machine& machine = read_head(root, device);
    device.documents = {document};
    if (machine.is_memory()) {
        override_values(document, of_memory, prefix);
        read_memory(root, device);
        root.done();
        document.finish();
        return device;
    }
    const std::string memory_name = read_memory_name(root);
    machine.read(root, device);
    root.done();
    document.finish();
    Document memory = load_memory(root, document, memory_name);
    override_values(memory, of_memory, prefix);
    Node memory_root = memory.root();
    Device file;
    if (const Machine& of_file = read_head(memory_root, file); !of_file.is_memory()) {
        root.error(kMemory, fmt::format("'{}' is of kind {}, not {}", memory_name, of_file.kind(),
                                        memory::memory_machine().kind()));
        document.finish();
    }
    read_memory(memory_root, device);
    memory_root.done();
    memory.finish();
    device.documents.push_back(memory);
    return device;
}

}  // namespace tilesim::workloads::catalogue
