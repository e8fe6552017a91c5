#include "workloads/npu/program_file/program_dataflow.hpp"

#include <memory>
#include <utility>

#include "arch/npu/program/program_print.hpp"
#include "workloads/npu/array_job.hpp"
#include "workloads/npu/npu_machine.hpp"
#include "workloads/npu/program_file/program_file.hpp"

namespace tilesim::workloads::npu::program_file {

using arch::base::config::Node;
using arch::npu::check::ReadyProgram;
using Json = nlohmann::ordered_json;

namespace {

class ProgramKind final : public ProblemKind {
  public:
    std::string_view key() const override { return "program"; }
    bool at_root() const override { return true; }
    Problem read(ProblemSource& source) const override {
        return {*this, read_program_workload(source.node)};
    }
    Json describe(const Problem& problem) const override {
        return {{key(), problem.get<ProgramWorkload>().program.name}};
    }
};

class ProgramJob final : public Job {
  public:
    ProgramJob(const Case& a_case, ReadyProgram ready) : case_(a_case), ready_(std::move(ready)) {}

    void run(Runner& runner, RunResult& result) override {
        const auto& workload = case_.problem.get<ProgramWorkload>();
        const Contents contents{[&](auto& store, auto& tiles) {
                                    fill_buffers(workload, case_.run.seed, {store, tiles});
                                },
                                [&](auto& store, auto& tiles) {
                                    return check_buffers(workload, {store, tiles});
                                }};
        run_array(runner, case_, ready_, contents, 0, {}, result);
    }

    std::string text() const override {
        return arch::npu::program::print(ready_.program(), case_.device.called) +
               print_contents(case_.problem.get<ProgramWorkload>());
    }

  private:
    const Case& case_;
    ReadyProgram ready_;
};

class ProgramDataflow final : public Dataflow {
  public:
    std::string_view name() const override { return ""; }
    bool serves(const Problem& problem, const Device& device) const override {
        return problem.find<ProgramWorkload>() != nullptr && device.has<arch::npu::NpuConfig>();
    }
    Mapping read(Node&) const override { return {}; }
    Json describe(const Mapping&) const override { return Json::object(); }
    std::unique_ptr<Job> lower(const Case& a_case, RunResult& result) const override {
        const auto& workload = a_case.problem.get<ProgramWorkload>();
        ReadyProgram ready =
            arch::npu::check::prepare(workload.program, a_case.device.get<arch::npu::NpuConfig>());
        result.notes = workload.notes;
        if (a_case.run.functional) {
            result.notes.insert(result.notes.end(), workload.functional_notes.begin(),
                                workload.functional_notes.end());
        }
        result.findings = ready.findings();
        return std::make_unique<ProgramJob>(a_case, std::move(ready));
    }
};

}  // namespace

const ProblemKind& program_kind() {
    static const ProgramKind kind;
    return kind;
}

const Dataflow& program_dataflow() {
    static const ProgramDataflow dataflow;
    return dataflow;
}

}  // namespace tilesim::workloads::npu::program_file
