#include "sim/system/run.hpp"

#include <chrono>

#include "sim/digest.hpp"
#include "sim/system/amx.hpp"
#include "sim/system/gotoblas.hpp"
#include "sim/system/memory.hpp"
#include "sim/system/model.hpp"
#include "sim/system/npu.hpp"
#include "sim/system/pim.hpp"
#include "sim/system/training.hpp"
#include "sim/version.hpp"

namespace tilesim::sim::system {

using Json = nlohmann::ordered_json;

namespace {

Json provenance_of(const Scenario& scenario) {
    std::string device_text;
    for (const auto& document : scenario.device.documents) {
        device_text += document.text();
    }
    Json provenance = {{"version", kVersion},
                       {"scenario_sha1", sha1(scenario.document->text())},
                       {"device_sha1", sha1(device_text)},
                       {"overridden", scenario.overridden}};
    if (const auto* program = std::get_if<ProgramWorkload>(&scenario.workload);
        program != nullptr && !program->source_text.empty()) {
        provenance["design_sha1"] = sha1(program->source_text);
    }
    return provenance;
}

}  // namespace

std::string lowered_text(const Scenario& scenario) {
    if (scenario.device.amx) {
        return amx_text(scenario);
    }
    if (const auto* gemm = std::get_if<workloads::GemmProblem>(&scenario.workload)) {
        return scenario.device.pim           ? lowered_gemv_text(scenario, vector_of(*gemm))
               : stream_fed(scenario.device) ? lowered_gotoblas_text(scenario, *gemm)
                                             : lowered_gemm_text(scenario, *gemm);
    }
    if (const auto* gemv = std::get_if<workloads::GemvProblem>(&scenario.workload)) {
        return lowered_gemv_text(scenario, *gemv);
    }
    if (const auto* program = std::get_if<ProgramWorkload>(&scenario.workload)) {
        return lowered_program_text(scenario, *program);
    }
    throw arch::base::config::ConfigError("this workload has no program to print");
}

RunResult run(const Scenario& scenario, arch::base::ProbeListener* listener) {
    const auto began = std::chrono::steady_clock::now();
    RunResult result;
    if (scenario.device.amx) {
        result = run_amx(scenario);
    } else if (const auto* gemm = std::get_if<workloads::GemmProblem>(&scenario.workload)) {
        result = scenario.device.pim           ? run_gemm_in_memory(scenario, *gemm)
                 : stream_fed(scenario.device) ? run_gotoblas(scenario, *gemm, listener)
                                               : run_gemm(scenario, *gemm, listener);
    } else if (const auto* gemv = std::get_if<workloads::GemvProblem>(&scenario.workload)) {
        result = run_gemv(scenario, *gemv);
    } else if (const auto* model = std::get_if<ModelWorkload>(&scenario.workload)) {
        result = run_model(scenario, *model);
    } else if (const auto* training = std::get_if<TrainingWorkload>(&scenario.workload)) {
        result = run_training(scenario, *training);
    } else if (const auto* program = std::get_if<ProgramWorkload>(&scenario.workload)) {
        result = run_program(scenario, *program, listener);
    } else if (const auto* core = std::get_if<CoreKernelWorkload>(&scenario.workload)) {
        result = stream_fed(scenario.device) ? run_stream_kernel(scenario, *core)
                                             : run_core_kernel(scenario, *core);
    } else {
        result =
            run_stream(scenario, std::get<arch::memory::traffic::StreamConfig>(scenario.workload), listener);
    }
    result.device = scenario.device.name;
    result.provenance = provenance_of(scenario);
    result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return result;
}

}  // namespace tilesim::sim::system
