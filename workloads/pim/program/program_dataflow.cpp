#include "workloads/pim/program/program_dataflow.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <utility>

#include "workloads/paths.hpp"
#include "workloads/pim/gemv/pim_run.hpp"
#include "workloads/pim/program/program_bytes.hpp"

namespace tilesim::workloads::pim::program {

using arch::base::DataType;
using arch::base::config::ConfigError;
using arch::base::config::Node;
using Json = nlohmann::ordered_json;

namespace {

constexpr const char* kKey = "pim_program";

// Words that the banks of a channel multiply, all together.
std::int64_t words_of(const arch::pim::PimProgram& program, std::int64_t banks) {
    std::int64_t words = 0;
    for (const arch::pim::PimCommand& command : program.commands) {
        if (command.op != arch::pim::PimOp::Mac) {
            continue;
        }
        for (std::int64_t bank = 0; bank < banks; ++bank) {
            words += command.banks.holds(bank) ? command.count : 0;
        }
    }
    return words;
}

// Functional mode knows what all banks are given, but not what each is.
void refuse_unknown_inputs(const arch::pim::PimProgram& program, const std::string& file) {
    for (const arch::pim::PimCommand& command : program.commands) {
        if (command.op == arch::pim::PimOp::WriteBankInputs) {
            throw ConfigError(fmt::format(
                "{}:{}:{}: {}: a program does not say which inputs each bank is given: it cannot "
                "be run with run.functional: on",
                file, command.place.line, command.place.column, name_of(command.op)));
        }
    }
}

// Where the commands stand: in the file itself, in one beside it, or in a trace.
void read_source(Node& node, ProblemSource& source, ProgramWorkload& workload) {
    std::string file;
    std::string trace;
    node.optional("commands", workload.text, "a command a line (a block of text)");
    node.optional("file", file, "a file of commands, beside this one");
    node.optional("aim_trace", trace, "a trace of the AiM simulator, beside this one");
    const int given =
        (workload.text.empty() ? 0 : 1) + (file.empty() ? 0 : 1) + (trace.empty() ? 0 : 1);
    if (given != 1) {
        node.error("", "must hold one of commands, file and aim_trace");
        return;
    }
    workload.aim_trace = !trace.empty();
    workload.file = source.file;
    if (workload.text.empty()) {
        workload.file = beside(source.file, file + trace);
        workload.text =
            read_named_file(node, trace.empty() ? "file" : "aim_trace", workload.file).value_or("");
        return;
    }
    workload.begin = node.text_place("commands");
}

class ProgramKind final : public ProblemKind {
  public:
    std::string_view key() const override { return kKey; }
    bool at_root() const override { return true; }
    Problem read(ProblemSource& source) const override {
        ProgramWorkload workload;
        Node node = source.node.child(key(), "commands to the banks, the same for every channel");
        read_source(node, source, workload);
        node.optional("weights", workload.weights, arch::base::kDataTypes, "type in the banks");
        node.optional("input", workload.input, arch::base::kDataTypes, "type in input registers");
        node.optional("accumulate", workload.accumulate, arch::base::kDataTypes, "type of sums");
        node.optional("tile_rows", workload.tile_rows, {0, 4096},
                      "outputs that the lanes of a word belong to; 0: one a lane");
        node.done();
        return {*this, std::move(workload)};
    }
    Json describe(const Problem& problem) const override {
        const std::string& file = problem.get<ProgramWorkload>().file;
        return {{kKey, file.substr(file.rfind('/') + 1)}};
    }
    std::string source_text(const Problem& problem) const override {
        return problem.get<ProgramWorkload>().text;
    }
};

class ProgramJob final : public Job {
  public:
    ProgramJob(const Case& a_case, arch::pim::PimProgram program)
        : case_(a_case), program_(std::move(program)) {}

    void run(Runner& runner, RunResult& result) override {
        const auto& workload = case_.problem.get<ProgramWorkload>();
        const auto& pim = case_.device.get<arch::pim::PimConfig>();
        std::optional<ProgramBytes> bytes;
        if (case_.run.functional) {
            bytes.emplace(workload, case_.device.memory, pim, case_.run.seed);
        }
        const auto& memory = case_.device.memory;
        const double lanes = static_cast<double>(pim.register_bits) /
                             static_cast<double>(arch::base::bits_of(workload.weights));
        const double words =
            static_cast<double>(memory.channels * words_of(program_, memory.banks()));
        gemv::run_program(runner, case_, program_, words * lanes, bytes ? &*bytes : nullptr,
                          result);
        if (result.status != Status::Ok) {
            return;
        }
        add_not_exercised(result, {"pim.page"});  // a program says where its words are
        result.details["commands"] = program_.commands.size();
        if (const std::string kept = kept_sums(program_, memory.banks()); !kept.empty()) {
            result.notes.push_back(kept);
        }
        if (bytes) {
            result.functional = bytes->check();
            result.status = result.functional->match ? Status::Ok : Status::Mismatch;
        }
    }

    std::string text() const override { return arch::pim::print(program_); }

  private:
    const Case& case_;
    arch::pim::PimProgram program_;
};

class ProgramDataflow final : public Dataflow {
  public:
    std::string_view name() const override { return ""; }
    bool takes_traffic() const override { return true; }
    bool serves(const Problem& problem, const Device& device) const override {
        return problem.find<ProgramWorkload>() != nullptr && device.has<arch::pim::PimConfig>();
    }
    Mapping read(Node&) const override { return {}; }
    Json describe(const Mapping&) const override { return Json::object(); }
    std::unique_ptr<Job> lower(const Case& a_case, RunResult&) const override {
        const auto& workload = a_case.problem.get<ProgramWorkload>();
        arch::pim::PimProgram program = program_of(workload, a_case.device);
        if (a_case.run.functional) {
            refuse_unknown_inputs(program, workload.file);
        }
        return std::make_unique<ProgramJob>(a_case, std::move(program));
    }
};

}  // namespace

arch::pim::PimProgram program_of(const ProgramWorkload& workload, const Device& device) {
    const arch::pim::ProgramTarget target{device.get<arch::pim::PimConfig>(), device.memory};
    arch::pim::PimProgram program =
        workload.aim_trace
            ? arch::pim::read_aim_trace(workload.text, workload.file, target)
            : arch::pim::read_program(workload.text, workload.file, workload.begin, target);
    if (program.commands.empty()) {
        throw ConfigError(fmt::format("{}:{}:{}: the program has no command", workload.file,
                                      workload.begin.line, workload.begin.column));
    }
    // Traces of single instructions have neither inputs nor results.
    if (const std::string broken = arch::pim::violations(program, workload.file, target);
        !broken.empty() && !workload.aim_trace) {
        throw ConfigError(broken.substr(0, broken.size() - 1));
    }
    return program;
}

std::string kept_sums(const arch::pim::PimProgram& program, std::int64_t banks) {
    using arch::pim::PimOp;
    std::set<std::pair<std::int64_t, std::int64_t>> kept;  // block, bank
    for (const arch::pim::PimCommand& command : program.commands) {
        const bool takes = command.op == PimOp::Spill || command.op == PimOp::SpillVisit ||
                           command.op == PimOp::ReadResults;
        for (std::int64_t bank = 0; bank < banks && (takes || command.op == PimOp::Mac); ++bank) {
            if (takes && command.banks.holds(bank)) {
                kept.erase({command.row_block, bank});
            } else if (command.banks.holds(bank)) {
                kept.insert({command.row_block, bank});
            }
        }
    }
    if (kept.empty()) {
        return "";
    }
    std::set<std::int64_t> blocks;
    for (const auto& [block, bank] : kept) {
        blocks.insert(block);
    }
    constexpr std::ptrdiff_t kMostNamed = 4;
    const auto last = std::next(blocks.begin(), std::min(std::ssize(blocks), kMostNamed));
    return fmt::format("sums never leave the registers: no {}, {} or {} takes those of block {}{}",
                       name_of(PimOp::Spill), name_of(PimOp::SpillVisit),
                       name_of(PimOp::ReadResults), fmt::join(blocks.begin(), last, ", "),
                       last == blocks.end() ? "" : " ...");
}

const ProblemKind& program_kind() {
    static const ProgramKind kind;
    return kind;
}

const Dataflow& program_dataflow() {
    static const ProgramDataflow dataflow;
    return dataflow;
}

}  // namespace tilesim::workloads::pim::program
