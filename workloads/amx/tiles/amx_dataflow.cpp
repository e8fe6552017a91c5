#include "workloads/amx/tiles/amx_dataflow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arch/amx/amx_config.hpp"
#include "workloads/amx/tiles/amx_gemm.hpp"
#include "workloads/amx/tiles/amx_job.hpp"
#include "workloads/amx/tiles/amx_tuning.hpp"
#include "workloads/amx/tiles/amx_work.hpp"
#include "workloads/amx/tiles/cache_preparation.hpp"
#include "workloads/amx/tiles/default_choice.hpp"
#include "workloads/amx/tiles/kernel_text.hpp"
#include "workloads/amx/tiles/mapping_problems.hpp"
#include "workloads/amx/tiles/unfelt_keys.hpp"
#include "workloads/keys.hpp"

namespace tilesim::workloads::amx::tiles {

using arch::amx::AmxConfig;
using arch::base::config::Node;
using Json = nlohmann::ordered_json;

namespace {

// Direct convolutions read A in place, pixel by pixel, and B tap by tap.
void check_convolution(const ConvolutionProblem& convolution, const AmxMapping& map,
                       std::vector<Refusal>& refusals) {
    using Map = AmxMapping;
    const bool joined = map.output_rows == Map::OutputRows::Joined;
    if (joined && convolution.stride != 1) {
        refusals.push_back(
            {"mapping", fmt::format("amx.output_rows: must be apart with a stride of {}: the "
                                    "positions of two rows are one column at stride 1 only",
                                    convolution.stride)});
    }
    if (joined && map.a_padding != 0) {
        refusals.push_back({"mapping", "amx.a_padding: must be 0 with output_rows: joined"});
    }
    if (map.b_layout != Map::BLayout::Packed) {
        refusals.push_back(
            {"mapping", fmt::format("amx.b_layout: must be packed for a convolution, not {}",
                                    name_of(map.b_layout))});
    }
    if (map.a_packed) {
        refusals.push_back(
            {"mapping", "amx.a_packed: must be off: a convolution's taps share A's pixels"});
    }
    if (map.partition == Map::Partition::K && map.threads > 1) {
        refusals.push_back(
            {"mapping", "amx.partition: must be m (output rows) or n for a convolution"});
    }
    if (map.prefetch_next && !joined) {
        refusals.push_back(
            {"mapping", "amx.prefetch_next: a convolution needs output_rows: joined for it"});
    }
    if (map.prefetch_first) {
        refusals.push_back({"mapping", "amx.prefetch_first: must be off for a convolution"});
    }
    if (map.kc != 0) {
        refusals.push_back(
            {"mapping", "amx.kc: must be 0 for a convolution: its taps are blocks along k"});
    }
}

// The GEMM, or that of a convolution's row and tap.
GemmProblem types_of(const Problem& problem) {
    if (const auto* gemm = problem.find<GemmProblem>()) {
        return *gemm;
    }
    return gemm_of(problem.get<ConvolutionProblem>());
}

void add_notes(RunResult& result, const std::vector<std::string>& sentences) {
    result.notes.insert(result.notes.end(), sentences.begin(), sentences.end());
}

class AmxDataflow final : public Dataflow {
  public:
    std::string_view name() const override { return "amx"; }
    std::string_view summary() const override { return "tile kernels on AMX cores"; }

    bool serves(const Problem& problem, const Device& device) const override {
        return device.has<AmxConfig>() && (problem.find<GemmProblem>() != nullptr ||
                                           problem.find<ConvolutionProblem>() != nullptr);
    }

    Mapping read(Node& mapping) const override {
        AmxMapping read;
        Node node = mapping.child(name(), summary());
        read_amx_mapping(node, read);
        return {*this, read};
    }

    Json describe(const Mapping& mapping) const override {
        return {{name(), keys_of(mapping.get<AmxMapping>(), read_amx_mapping)}};
    }

    std::vector<Refusal> refusals(const Case& a_case) const override {
        const AmxMapping map =
            a_case.mapping.empty() ? AmxMapping{} : a_case.mapping.get<AmxMapping>();
        std::vector<Refusal> refusals;
        if (const auto* convolution = a_case.problem.find<ConvolutionProblem>()) {
            if (convolution->a != convolution->b) {
                refusals.push_back(
                    {"mapping",
                     fmt::format("a convolution's weights have its input's type, {}, not {}",
                                 name_of(convolution->a), name_of(convolution->b))});
            }
            check_convolution(*convolution, map, refusals);
        } else if (map.output_rows == AmxMapping::OutputRows::Joined) {
            refusals.push_back({"mapping", "amx.output_rows: only a convolution has output rows"});
        }
        for (std::string& problem :
             problems_of(types_of(a_case.problem), map, a_case.device.get<AmxConfig>().cores)) {
            refusals.push_back({"mapping", std::move(problem)});
        }
        if (a_case.run.functional && map.data_in == AmxMapping::DataIn::Registers) {
            refusals.push_back({"run",
                                "functional mode needs operands that are loaded: amx.data_in "
                                "l1 and beyond, not registers"});
        }
        return refusals;
    }

    std::vector<UnfeltKey> unfelt(const Case& a_case) const override {
        const auto& map = a_case.mapping.get<AmxMapping>();
        const auto* gemm = a_case.problem.find<GemmProblem>();
        return gemm != nullptr ? unfelt_keys(*gemm, map, a_case.run.functional)
                               : unfelt_keys(a_case.problem.get<ConvolutionProblem>(), map,
                                             a_case.run.functional);
    }

    Choice choose(const Case& a_case, Runner& runner) const override {
        return choose_mapping(*this, a_case, runner);
    }

    std::unique_ptr<Job> lower(const Case& a_case, RunResult& result) const override {
        AmxWork work;
        work.mapping = a_case.mapping.get<AmxMapping>();
        const auto repeat = static_cast<double>(work.mapping.repeat);
        if (const auto* gemm = a_case.problem.find<GemmProblem>()) {
            work.lowered = tiles::lower(*gemm, work.mapping, a_case.run.seed);
            work.macs = gemm->macs() * repeat;
            add_notes(result, replaced_sizes(*gemm, work.mapping));
        } else {
            const auto& convolution = a_case.problem.get<ConvolutionProblem>();
            work.lowered = tiles::lower(convolution, work.mapping);
            work.macs = convolution.macs() * repeat;
            add_notes(result, replaced_sizes(convolution, work.mapping));
        }
        result.padding_waste = work.lowered.padding_waste;
        state_caches(work.lowered, work.mapping);
        return amx_job(a_case, std::move(work));
    }

    std::vector<Candidate> candidates(const Case& a_case) const override {
        return a_case.problem.find<GemmProblem>() == nullptr ? convolution_candidates(*this, a_case)
                                                             : candidates_of(*this, a_case);
    }

    std::vector<Candidate> variants(const Case& a_case, const Mapping& mapping) const override {
        return a_case.problem.find<GemmProblem>() == nullptr
                   ? std::vector<Candidate>{}
                   : variants_of(*this, a_case, mapping.get<AmxMapping>());
    }
};

class AmxProgramDataflow final : public Dataflow {
  public:
    std::string_view name() const override { return ""; }
    bool serves(const Problem& problem, const Device& device) const override {
        return problem.find<AmxProgramWorkload>() != nullptr && device.has<AmxConfig>();
    }
    Mapping read(Node&) const override { return {}; }
    Json describe(const Mapping&) const override { return Json::object(); }
    std::vector<UnfeltKey> unfelt(const Case& a_case) const override {
        const auto& program = a_case.problem.get<AmxProgramWorkload>();
        UnfeltKeys<AmxProgramWorkload> keys("workload.amx_program.", program);
        if (!program.counted) {
            keys.add("count", &AmxProgramWorkload::count, "no loop of the text is of COUNT");
        }
        if (std::ranges::all_of(program.programs,
                                [](const auto& each) { return !each.preparations.empty(); })) {
            keys.add("data_in", &AmxProgramWorkload::data_in, "the text says what the caches hold");
        }
        return keys.take();
    }
    std::vector<Refusal> refusals(const Case& a_case) const override {
        const auto& program = a_case.problem.get<AmxProgramWorkload>();
        const std::int64_t cores = a_case.device.get<AmxConfig>().cores;
        if (std::ssize(program.programs) <= cores) {
            return {};
        }
        return {{"workload.amx_program.file",
                 fmt::format("{}: {} threads; the socket has {} cores", program.file,
                             program.programs.size(), cores)}};
    }
    std::unique_ptr<Job> lower(const Case& a_case, RunResult& result) const override {
        const auto& program = a_case.problem.get<AmxProgramWorkload>();
        for (const std::size_t thread : without_barrier(program.programs)) {
            result.notes.push_back(fmt::format(
                "thread {} comes to no barrier: the others do not wait for it", thread));
        }
        if (const auto shared = overlap(program.programs)) {
            result.notes.push_back(*shared);
        }
        if (const auto much = long_run(program.programs)) {
            result.findings.push_back(fmt::format("{}: {}", program.file, *much));
        }
        if (program.counted && program.count == 1) {
            result.notes.emplace_back(
                "a loop of COUNT passes once: workload.amx_program.count says how often");
        }
        AmxWork work;
        work.lowered.programs = program.programs;
        work.mapping.data_in = program.data_in;
        if (program.data_in == AmxMapping::DataIn::Registers) {
            result.notes.emplace_back(
                "workload.amx_program.data_in: what a program loads is in no register: l1 is "
                "taken");
        }
        work.mapping.threads = std::ssize(program.programs);
        for (auto& each : work.lowered.programs) {
            work.mapping.runs = std::max(work.mapping.runs, each.runs);
            state_buffers(each, level_of(program.data_in));
        }
        return amx_job(a_case, std::move(work));
    }
};

}  // namespace

const Dataflow& amx_dataflow() {
    static const AmxDataflow dataflow;
    return dataflow;
}

const Dataflow& amx_program_dataflow() {
    static const AmxProgramDataflow dataflow;
    return dataflow;
}

}  // namespace tilesim::workloads::amx::tiles
