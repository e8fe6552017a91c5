#include "workloads/pim/gemv/natural_dataflow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "arch/base/units.hpp"
#include "arch/pim/program_text.hpp"
#include "workloads/gemm.hpp"
#include "workloads/pim/gemv/pim_run.hpp"
#include "workloads/pim/gemv/product.hpp"

namespace tilesim::workloads::pim::gemv {

using arch::base::bits_of;
using arch::base::ceil_div;
using arch::base::kBitsPerByte;
using arch::base::config::ConfigError;
using arch::base::config::Node;
using arch::memory::device::MemoryConfig;
using arch::pim::BankSet;
using arch::pim::PimCommand;
using arch::pim::PimConfig;
using arch::pim::PimOp;
using arch::pim::PimProgram;
using Json = nlohmann::ordered_json;

namespace {

std::int64_t words_per_row(const MemoryConfig& memory, const PimConfig& pim) {
    return memory.row.count() * kBitsPerByte / pim.register_bits;
}

void check_rows(const PimProgram& program, const MemoryConfig& memory) {
    for (const PimCommand& command : program.commands) {
        if (touches_array(command.op) &&
            command.word + command.count > (memory.rows - 1) * program.words_per_row) {
            throw ConfigError(fmt::format(
                "workload: the matrix needs more than the {} rows of a bank", memory.rows - 1));
        }
    }
}

}  // namespace

PimProgram lower_bank_rows(const GemvProblem& gemv, std::int64_t vectors,
                           const MemoryConfig& memory, const PimConfig& pim) {
    if (!pim.reduction_tree || pim.spill != arch::pim::Spill::Read) {
        throw ConfigError(
            "mapping.bank_rows: needs units that add all lanes of a word and sums "
            "that the host reads (pim.reduction_tree: on, pim.spill: read)");
    }
    PimProgram program{words_per_row(memory, pim), {}};
    const std::int64_t banks = memory.channels * memory.banks();
    const std::int64_t lanes = pim.register_bits / bits_of(gemv.weights);
    const std::int64_t words = ceil_div(gemv.k, lanes);  // of a matrix row
    const std::int64_t chunks = ceil_div(words, program.words_per_row);
    const std::int64_t row_blocks = ceil_div(gemv.m, banks);
    const auto inputs = [&](std::int64_t chunk) {
        return std::min(words - chunk * program.words_per_row, program.words_per_row);
    };
    // Inputs that fit together stay for all row blocks.
    bool inputs_stay = false;
    const auto add_row_block = [&](std::int64_t block, BankSet of) {
        for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
            if (!inputs_stay) {
                program.commands.push_back({.op = PimOp::WriteInputs, .count = inputs(chunk)});
                inputs_stay = chunks == 1;
            }
            if (chunk == 0) {
                program.commands.push_back({.op = PimOp::WriteInputs, .count = 1});  // bias
            }
            program.commands.push_back({.op = PimOp::Mac,
                                        .count = inputs(chunk),
                                        .word = (block * chunks + chunk) * program.words_per_row,
                                        .row_block = block,
                                        .banks = of});
        }
        program.commands.push_back(
            {.op = PimOp::ReadResults, .count = 1, .row_block = block, .banks = of});
    };
    for (std::int64_t vector = 0; vector < vectors; ++vector) {
        inputs_stay = false;
        for (std::int64_t block = 0; block < row_blocks; ++block) {
            for (const BankSet of : arch::pim::turns_of(pim.banks_per_unit)) {
                add_row_block(block, of);
            }
        }
    }
    check_rows(program, memory);
    return program;
}

namespace {

// One tile: its inputs, then a word for each output and input register.
void tile(BankSet banks, std::int64_t outputs, std::int64_t inputs, std::int64_t& word,
          PimProgram& program) {
    program.commands.push_back({.op = PimOp::WriteInputs, .count = inputs});
    program.commands.push_back({.op = PimOp::Barrier});
    program.commands.push_back(
        {.op = PimOp::Mac, .count = outputs * inputs, .word = word, .banks = banks});
    word += outputs * inputs;
    program.commands.push_back({.op = PimOp::Barrier});
}

// A unit's matrix as tiles; the last along M and the last along K are what is left.
struct TilePairs {
    std::int64_t outputs;       // rows of the matrix a unit has
    std::int64_t input_words;   // of a matrix row
    std::int64_t tile_outputs;  // of a whole tile
    std::int64_t tile_inputs;

    std::int64_t tiles_down() const { return ceil_div(outputs, tile_outputs); }
    std::int64_t tiles_along() const { return ceil_div(input_words, tile_inputs); }
    // The even bank has the first half of them.
    std::int64_t even_tiles() const { return ceil_div(tiles_along(), 2); }
    std::int64_t outputs_of(std::int64_t down) const {
        return std::min(tile_outputs, outputs - down * tile_outputs);
    }
    std::int64_t inputs_of(std::int64_t along) const {
        return std::min(tile_inputs, input_words - along * tile_inputs);
    }
    // Words an output has in the even bank, which is the fuller one.
    std::int64_t words_of_output() const {
        return std::min(input_words, even_tiles() * tile_inputs);
    }
};

TilePairs tile_pairs_of(const GemvProblem& gemv, const MemoryConfig& memory, const PimConfig& pim) {
    const std::int64_t units = memory.channels * memory.banks() / pim.banks_per_unit;
    return {ceil_div(gemv.m, units), ceil_div(gemv.k, pim.register_bits / bits_of(gemv.weights)),
            pim.output_registers, pim.registers};
}

}  // namespace

PimProgram lower_tile_pairs(const GemvProblem& gemv, std::int64_t vectors,
                            const MemoryConfig& memory, const PimConfig& pim) {
    if (pim.banks_per_unit != 2 || pim.output_registers == 0) {
        throw ConfigError(
            "mapping.tile_pairs: needs units of two banks with registers of their "
            "own for outputs (pim.banks_per_unit, pim.output_registers)");
    }
    PimProgram program{words_per_row(memory, pim), {}};
    const TilePairs tiles = tile_pairs_of(gemv, memory, pim);
    std::int64_t results = tiles.outputs * tiles.words_of_output();  // the word behind the tiles
    std::int64_t first = 0;                                          // word of these outputs' tiles
    arch::pim::append(program.commands, pim.modes.enter);
    for (std::int64_t j = 0; j < tiles.tiles_down(); ++j) {
        const std::int64_t outputs = tiles.outputs_of(j);
        for (std::int64_t vector = 0; vector < vectors; ++vector) {
            arch::pim::append(program.commands, pim.modes.on);
            std::int64_t even = first;
            std::int64_t odd = first;
            for (std::int64_t i = 0; i < tiles.tiles_along(); ++i) {
                const bool in_even = i < tiles.even_tiles();
                tile({in_even ? BankSet::kEven : BankSet::kOdd}, outputs, tiles.inputs_of(i),
                     in_even ? even : odd, program);
            }
            program.commands.push_back(
                {.op = PimOp::Spill, .count = outputs, .word = results, .banks = {BankSet::kOdd}});
            results += outputs;
            program.commands.push_back({.op = PimOp::Barrier});
            arch::pim::append(program.commands, pim.modes.off);
        }
        first += outputs * tiles.words_of_output();
    }
    arch::pim::append(program.commands, pim.modes.leave);
    check_rows(program, memory);
    return program;
}

namespace {

struct NaturalMapping {};

// Without a tree the lanes of a sum leave as they are, and the host adds them.
double lanes_ns(const arch::pim::SocConfig& soc, const PimConfig& pim, const GemvProblem& gemv) {
    const double lanes =
        pim.reduction_tree ? 1 : static_cast<double>(pim.register_bits / bits_of(gemv.weights));
    return extra_sums_ns(soc, gemv, static_cast<double>(gemv.m) * (lanes - 1));
}

using Lower = PimProgram (*)(const GemvProblem&, std::int64_t, const MemoryConfig&,
                             const PimConfig&);

class NaturalJob final : public Job {
  public:
    NaturalJob(const Case& a_case, PimProgram program, const std::vector<std::string>& unused)
        : case_(a_case),
          product_(product_of(a_case.problem)),
          program_(std::move(program)),
          unused_(unused) {}

    void run(Runner& runner, RunResult& result) override {
        const auto& soc = case_.device.get<arch::pim::SocConfig>();
        const double macs = product_.macs();
        run_program(runner, case_, program_, macs, nullptr, result);
        if (result.status != Status::Ok) {
            return;
        }
        add_not_exercised(result, unused_);
        const double on_host_ns = lanes_ns(soc, case_.device.get<PimConfig>(), product_.gemv) *
                                  static_cast<double>(product_.vectors);
        result.time_ns += on_host_ns;
        result.details["rest_on_host_ns"] = on_host_ns;
        set_rates(result, macs, case_.device.memory.clock);
        const double soc_ns = soc.roofline_ns(macs, product_.gemv.bytes());
        result.speedup_over_soc = soc_ns / result.time_ns;
        result.details["soc_ns"] = soc_ns;
        result.details["commands"] = program_.commands.size();
    }
    std::string text() const override { return arch::pim::print(program_); }

  private:
    const Case& case_;
    Product product_;
    PimProgram program_;
    const std::vector<std::string>& unused_;
};

class Natural final : public Dataflow {
  public:
    // `unused`: the device's keys that say nothing to it.
    Natural(std::string_view name, std::string_view summary, Lower lowering,
            std::vector<std::string> unused)
        : name_(name), summary_(summary), lower_(lowering), unused_(std::move(unused)) {}

    std::string_view name() const override { return name_; }
    std::string_view summary() const override { return summary_; }
    bool takes_traffic() const override { return true; }
    bool takes(const Mapping& mapping) const override {
        return !mapping.empty() && &mapping.dataflow() == this;
    }
    bool serves(const Problem& problem, const Device& device) const override {
        return device.has<PimConfig>() &&
               (problem.find<GemvProblem>() != nullptr || problem.find<GemmProblem>() != nullptr);
    }
    Mapping read(Node& mapping) const override {
        mapping.child(name(), summary()).done();
        return {*this, NaturalMapping{}};
    }
    Json describe(const Mapping&) const override { return {{name(), Json::object()}}; }
    std::vector<Refusal> refusals(const Case& a_case) const override {
        if (a_case.run.functional) {
            return {{"run", fmt::format("functional mode is not for {}", name())}};
        }
        if (product_of(a_case.problem).gemv.scale_block > 0) {
            return {{"workload", fmt::format("{} has no scale factors", name())}};
        }
        return {};
    }
    std::unique_ptr<Job> lower(const Case& a_case, RunResult&) const override {
        const Product product = product_of(a_case.problem);
        return std::make_unique<NaturalJob>(
            a_case,
            lower_(product.gemv, product.vectors, a_case.device.memory,
                   a_case.device.get<PimConfig>()),
            unused_);
    }

    // One, where the device is made for it.
    std::vector<Candidate> candidates(const Case& a_case) const override {
        const Product product = product_of(a_case.problem);
        if (!refusals(a_case).empty()) {
            return {};
        }
        try {
            lower_(product.gemv, product.vectors, a_case.device.memory,
                   a_case.device.get<PimConfig>());
        } catch (const ConfigError&) {
            return {};
        }
        Candidate candidate{std::string{name_}, {*this, NaturalMapping{}}, {}};
        candidate.bounds.compute_ns = multiply_bound_ns(a_case, product);
        return {candidate};
    }

  private:
    std::string_view name_;
    std::string_view summary_;
    Lower lower_;
    std::vector<std::string> unused_;
};

}  // namespace

const Dataflow& bank_rows_dataflow() {
    static const Natural dataflow("bank_rows", "a matrix row in a bank's row (GDDR6-AiM)",
                                  lower_bank_rows,
                                  {"pim.alus", "pim.page", "pim.interleave", "pim.registers",
                                   "pim.output_registers", "pim.sums", "pim.result_bits"});
    return dataflow;
}

const Dataflow& tile_pairs_dataflow() {
    static const Natural dataflow(
        "tile_pairs", "tiles that alternate between a unit's two banks (HBM-PIM)", lower_tile_pairs,
        {"pim.alus", "pim.page", "pim.interleave", "pim.sums"});
    return dataflow;
}

}  // namespace tilesim::workloads::pim::gemv
