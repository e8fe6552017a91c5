#include "sim/scenario_amx.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "arch/amx/program/program_text.hpp"

namespace tilesim::sim {

using arch::base::config::Node;

namespace {

// Direct convolutions read A in place, pixel by pixel, and B tap by tap.
void check_convolution(Node& root, const workloads::AmxMapping& map) {
    using Map = workloads::AmxMapping;
    if (map.b_layout != Map::BLayout::Packed) {
        root.error("mapping.amx.b_layout",
                   fmt::format("must be packed for a convolution, not {}", name_of(map.b_layout)));
    }
    if (map.a_packed) {
        root.error("mapping", "amx.a_packed: must be off: a convolution's taps share A's pixels");
    }
    if (map.partition == Map::Partition::K && map.threads > 1) {
        root.error("mapping", "amx.partition: must be m (output rows) or n for a convolution");
    }
    if (map.kc != 0) {
        root.error("mapping", "amx.kc: must be 0 for a convolution: its taps are blocks along k");
    }
}

void check_amx_workload(Node& root, const Scenario& scenario) {
    workloads::GemmProblem gemm;
    if (const auto* given = std::get_if<workloads::GemmProblem>(&scenario.workload)) {
        gemm = *given;
    } else if (const auto* conv = std::get_if<workloads::ConvolutionProblem>(&scenario.workload)) {
        gemm.a = conv->a;
        gemm.b = conv->b;
        gemm.c = conv->c;
    } else if (std::holds_alternative<AmxProgramWorkload>(scenario.workload)) {
        return;
    } else {
        root.error("workload", "an AMX device runs gemm, conv and amx_program");
        return;
    }
    const auto* map = std::get_if<workloads::AmxMapping>(&scenario.mapping);
    if (map == nullptr && !std::holds_alternative<std::monostate>(scenario.mapping)) {
        root.error("mapping", "must hold amx: the device has AMX cores");
        return;
    }
    if (std::holds_alternative<workloads::ConvolutionProblem>(scenario.workload) &&
        map != nullptr) {
        check_convolution(root, *map);
    }
    for (const std::string& problem : workloads::problems_of(
             gemm, map != nullptr ? *map : workloads::AmxMapping{}, scenario.device.amx->cores)) {
        root.error("mapping", problem);
    }
}

}  // namespace

std::string beside(const std::string& file, const std::string& path) {
    const std::size_t slash = file.rfind('/');
    return path.starts_with('/') || slash == std::string::npos ? path
                                                               : file.substr(0, slash + 1) + path;
}

AmxProgramWorkload read_amx_program(Node node, const std::string& scenario_file) {
    AmxProgramWorkload workload;
    node.required("file", workload.file, "text form of the instructions");
    workloads::read_data_in(node, workload.data_in);
    node.done();
    std::ifstream in(beside(scenario_file, workload.file));
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) {
        node.error("file", fmt::format("{}: cannot be read", workload.file));
    } else {
        workload.program = arch::amx::program::read_program(text.str(), workload.file);
        if (workload.program.statements.empty()) {
            node.error("file", fmt::format("{}: holds no instruction", workload.file));
        }
    }
    return workload;
}

bool check_amx(Node& root, const Scenario& scenario) {
    if (scenario.device.amx) {
        check_amx_workload(root, scenario);
        return true;
    }
    if (std::holds_alternative<workloads::ConvolutionProblem>(scenario.workload) ||
        std::holds_alternative<AmxProgramWorkload>(scenario.workload)) {
        root.error("device", fmt::format("'{}' has no AMX cores", scenario.device.name));
        return true;
    }
    if (std::holds_alternative<workloads::AmxMapping>(scenario.mapping)) {
        root.error("mapping", "amx: the device has no AMX cores");
        return true;
    }
    return false;
}

}  // namespace tilesim::sim
