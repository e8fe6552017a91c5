#include "workloads/amx/tiles/amx_problem_kinds.hpp"

#include <fmt/format.h>

#include <utility>

#include "arch/base/config.hpp"
#include "workloads/amx/tiles/convolution.hpp"
#include "workloads/amx/tiles/kernel_text.hpp"
#include "workloads/keys.hpp"
#include "workloads/paths.hpp"

namespace tilesim::workloads::amx::tiles {

using arch::base::config::Node;
using Json = nlohmann::ordered_json;

namespace {

class ConvolutionKind final : public ProblemKind {
  public:
    std::string_view key() const override { return "conv"; }
    Problem read(ProblemSource& source) const override {
        ConvolutionProblem convolution;
        Node node = source.node.child(key(), "direct convolution");
        read_convolution(node, convolution);
        return {*this, convolution};
    }
    Json describe(const Problem& problem) const override {
        return {{key(), keys_of(problem.get<ConvolutionProblem>(), read_convolution)}};
    }
};

void read_amx_program(Node& node, AmxProgramWorkload& workload) {
    node.required("file", workload.file, "text form of the instructions");
    read_data_in(node, workload.data_in);
    node.optional("count", workload.count, {1, 1'000'000'000}, "passes of a loop of COUNT");
    node.done();
}

class AmxProgramKind final : public ProblemKind {
  public:
    std::string_view key() const override { return "amx_program"; }
    Problem read(ProblemSource& source) const override {
        AmxProgramWorkload workload;
        Node node = source.node.child(key(), "instructions for an AMX core");
        read_amx_program(node, workload);
        if (node.describing() || !node.has("file")) {
            return {*this, std::move(workload)};
        }
        workload.path = beside(source.file, workload.file);
        const auto text = read_named_file(node, "file", workload.path);
        if (!text) {
            return {*this, std::move(workload)};
        }
        workload.counted = has_count(*text);
        workload.programs = read_kernel(*text, workload.path, workload.count);
        if (does_nothing(workload.programs)) {
            node.error("file", fmt::format("{}: holds no instruction", workload.path));
        }
        return {*this, std::move(workload)};
    }
    Json describe(const Problem& problem) const override {
        return {{key(), keys_of(problem.get<AmxProgramWorkload>(), read_amx_program)}};
    }
};

}  // namespace

const ProblemKind& convolution_kind() {
    static const ConvolutionKind kind;
    return kind;
}

const ProblemKind& amx_program_kind() {
    static const AmxProgramKind kind;
    return kind;
}

}  // namespace tilesim::workloads::amx::tiles
