// A scenario: a device, a workload, a mapping and how to run them, read from one YAML file.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "arch/amx/amx_config.hpp"
#include "arch/base/config.hpp"
#include "arch/fabric/fabric_config.hpp"
#include "arch/host/host_config.hpp"
#include "arch/memory/device/memory_config.hpp"
#include "arch/memory/traffic/stream_source.hpp"
#include "arch/npu/npu_config.hpp"
#include "arch/pim/pim_config.hpp"
#include "sim/program_file.hpp"
#include "workloads/amx_gemm.hpp"
#include "workloads/gemm.hpp"
#include "workloads/gemv.hpp"
#include "workloads/gotoblas.hpp"
#include "workloads/output_stationary.hpp"
#include "workloads/pim_placement.hpp"
#include "workloads/training_step.hpp"
#include "workloads/transformer.hpp"

namespace tilesim::sim {

struct Device {
    std::string name;
    std::vector<arch::base::config::Document> documents;  // the device's file, its memory's
    std::optional<arch::npu::NpuConfig> npu;
    std::optional<arch::pim::PimConfig> pim;
    arch::pim::SocConfig soc;
    std::optional<arch::amx::AmxConfig> amx;
    std::optional<arch::host::HostConfig> host;  // the processor beside an NPU, where stated
    arch::fabric::FabricConfig fabric;
    arch::memory::device::MemoryConfig memory;
};

// The device's cores multiply what a stream feeds them (gotoblas), not tiles in their memory.
bool stream_fed(const Device& device);

// `overrides`: paths below the device ("npu.shim.burst", "memory.refresh") and their values.
Device load_device(const std::string& name,
                   const std::vector<std::pair<std::string, std::string>>& overrides);

// One core alone, operands already in its memory.
struct CoreKernelWorkload {
    arch::npu::program::Kernel kernel;
};

// A transformer answering a prompt; its matrices' sizes replace those of `format`.
struct ModelWorkload {
    workloads::TransformerModel model;
    workloads::GemvProblem format;
    std::int64_t prompt = 0;  // tokens given
    // The NPU that takes the prompt's matrices, and the type of its products; none: roofline.
    std::optional<Device> prompt_device;
    std::optional<arch::base::DataType> prompt_result;
    std::int64_t generate = 1;  // tokens generated, one by one
};

// A training step whose matrix products an NPU takes, the rest staying on the processor beside it.
struct TrainingWorkload {
    workloads::TransformerModel model;
    workloads::TrainingShape shape;
    enum class Phase { Forward, Backward, Step } phase = Phase::Step;
};

// How those products get to the NPU and back.
struct OffloadMapping {
    enum class Reconfiguration {
        Minimal,    // a new size rewrites shim descriptors and run-time parameters
        WholeArray  // a new size configures the array anew
    } reconfiguration = Reconfiguration::Minimal;
    bool b_column_major = true;  // as the array reads B; what lies otherwise is transposed
    arch::base::DataType operands = arch::base::DataType::Bf16;
    arch::base::DataType result = arch::base::DataType::F32;
    bool parallel_copies = true;      // by all cores of the processor
    bool parallel_operators = false;  // all of them, not only those the trainer shares out
};

// Instructions for AMX cores in their text form (arch/amx/program_text.hpp).
struct AmxProgramWorkload {
    std::string file;
    arch::amx::program::Program program;
    workloads::AmxMapping::DataIn data_in = workloads::AmxMapping::DataIn::L1;
};

using Workload = std::variant<workloads::GemmProblem, workloads::GemvProblem, ModelWorkload,
                              CoreKernelWorkload, ProgramWorkload, arch::memory::traffic::StreamConfig,
                              workloads::ConvolutionProblem, AmxProgramWorkload, TrainingWorkload>;

// monostate: none given; tilesim then chooses one.
using Mapping =
    std::variant<std::monostate, workloads::OutputStationaryMapping, workloads::PimMapping,
                 workloads::AmxMapping, workloads::GotoblasMapping>;

struct RunOptions {
    bool functional = false;
    bool show_progress = false;  // on stderr; not a key of the file
    std::uint64_t seed = 1;
    arch::base::Femtoseconds max_time{10'000'000'000'000'000};  // simulated
    arch::base::Femtoseconds max_wall_time{3'600'000'000'000'000'000};
};

struct Scenario {
    std::shared_ptr<arch::base::config::Document> document;
    Device device;
    Workload workload;
    Mapping mapping;
    std::optional<OffloadMapping> offload;  // of a training step; none given: the defaults
    // Overrides the kernel timing model: cycles of every multiply call. The result says so.
    std::optional<std::int64_t> kernel_cycles;
    // Ordinary requests to the memory beside a GEMV in its banks.
    std::optional<arch::memory::traffic::StreamConfig> traffic;
    RunOptions run;
    std::vector<std::string> overridden;  // keys changed on the command line
};

// `overrides`: what --set changes; keys below `device.` go to the device.
Scenario load_scenario(const std::string& file,
                       const std::vector<std::pair<std::string, std::string>>& overrides);
Scenario parse_scenario(const std::string& text, const std::string& file,
                        const std::vector<std::pair<std::string, std::string>>& overrides);

}  // namespace tilesim::sim
