#include "workloads/npu/mlir/design/design_kind.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "workloads/npu/mlir/design/design_file.hpp"
#include "workloads/npu/program_file/program_file.hpp"
#include "workloads/npu/written_configuration.hpp"

namespace tilesim::workloads::npu::mlir::design {

using arch::base::config::Node;
using program_file::ProgramWorkload;
using Json = nlohmann::ordered_json;

namespace {

// Between reading the file and knowing the device.
struct UnboundDesign {
    DesignFile design;
    std::vector<std::string> notes;
};

// Puts the writes in front of the sequences that set the array up themselves; how many in each.
std::vector<std::int64_t> write_configurations(program::Program& first, const NpuConfig& config) {
    std::vector<program::Program*> programs{&first};
    for (program::Program& next : first.then) {
        programs.push_back(&next);
    }
    std::vector<std::int64_t> writes;
    for (program::Program* const each : programs) {
        if (each->sets_itself_up) {
            writes.push_back(write_configuration(*each, config));
        }
    }
    return writes;
}

class DesignKind final : public ProblemKind {
  public:
    std::string_view key() const override { return "design"; }
    bool at_root() const override { return true; }

    Problem read(ProblemSource& source) const override {
        UnboundDesign unbound;
        unbound.design =
            read_design_file(source.node.child(key(), "a lowered AIE-dialect design"), source.file);
        if (!source.node.describing()) {
            source.document.finish();
            if (source.device.empty()) {
                source.device = device_of_design(unbound.design, unbound.notes);
            }
        }
        return {*this, std::move(unbound)};
    }

    bool binds() const override { return true; }
    void bind(Problem& problem, Node& root, const Device& device) const override {
        UnboundDesign unbound = problem.get<UnboundDesign>();
        const auto* config = device.find<NpuConfig>();
        if (config == nullptr) {
            root.error("device", fmt::format("'{}' has no NPU, which a design needs", device.name));
            return;
        }
        auto [lowered, notes, trace_slots, fills, functional_notes] =
            lower(unbound.design.source, unbound.design.options, *config);
        const auto writes = write_configurations(lowered, *config);
        if (!writes.empty()) {
            notes.push_back(note_of_writes(writes));
        } else if (unbound.design.options.set_up == SetUp::Written) {
            root.error("design",
                       "set_up: written is for sequences that load configurations "
                       "(aiex.configure, npu.load_pdi); this one loads none");
        }
        ProgramWorkload workload;
        workload.program = std::move(lowered);
        workload.trace_slots = std::move(trace_slots);
        workload.fills = std::move(fills);
        workload.functional_notes = std::move(functional_notes);
        workload.notes = std::move(unbound.notes);
        workload.notes.insert(workload.notes.end(), notes.begin(), notes.end());
        workload.source_text = unbound.design.text;
        program_file::read_contents(root, workload);
        problem = {*this, std::move(workload)};
    }

    Json describe(const Problem& problem) const override {
        return {{"program", problem.get<ProgramWorkload>().program.name}};
    }
    std::string source_text(const Problem& problem) const override {
        return problem.get<ProgramWorkload>().source_text;
    }
};

}  // namespace

const ProblemKind& design_kind() {
    static const DesignKind kind;
    return kind;
}

}  // namespace tilesim::workloads::npu::mlir::design
