#include "workloads/pim/gemv/gemv_dataflow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <utility>

#include "arch/base/limit.hpp"
#include "arch/base/units.hpp"
#include "arch/pim/program_text.hpp"
#include "workloads/gemm.hpp"
#include "workloads/keys.hpp"
#include "workloads/pim/gemv/pim_run.hpp"
#include "workloads/pim/gemv/product.hpp"

namespace tilesim::workloads::pim::gemv {

using arch::base::config::ConfigError;
using arch::base::config::Node;
using arch::pim::PimConfig;
using arch::pim::SocConfig;
using Json = nlohmann::ordered_json;

namespace {

Json details_of(const PimPlacement& p, const PimConfig& pim) {
    return {{"tile", fmt::format("{}x{}", p.m, p.k)}, {"cr_degree", p.degree},
            {"row_blocks_per_bank", p.row_blocks},    {"banks", p.banks},
            {"registers_used", p.registers_used()},   {"registers", pim.all_registers()},
            {"page_needed_bytes", p.page_needed}};
}

std::string order_of(const PimPlacement& p) {
    if (p.mapping.placement == PimMapping::Placement::Balanced) {
        return fmt::format("column-row order of degree {}", p.degree);
    }
    return p.mapping.order == PimMapping::Order::Address
               ? "columns over the banks, in order of address"
               : "columns over the banks, tiles of the same outputs together";
}

class GemvJob final : public Job {
  public:
    GemvJob(const Case& a_case, PimPlacement placement)
        : case_(a_case), product_(product_of(a_case.problem)), placement_(std::move(placement)) {}

    void run(Runner& runner, RunResult& result) override {
        const auto& pim = case_.device.get<PimConfig>();
        const auto& soc = case_.device.get<SocConfig>();
        const GemvProblem& gemv = product_.gemv;
        std::unique_ptr<FunctionalGemv> functional;
        if (case_.run.functional) {
            functional = functional_gemv(gemv, product_.vectors, placement_, case_.device.memory,
                                         pim, case_.run.seed);
        }
        // The weights are read once for all vectors.
        run_gemv(runner, case_, gemv, placement_,
                 arch::base::ceil_div(product_.vectors, placement_.vectors), functional.get(),
                 result);
        if (result.status != Status::Ok) {
            return;
        }
        const double soc_ns = soc.roofline_ns(product_.macs(), gemv.bytes());
        set_rates(result, product_.macs(), case_.device.memory.clock);
        result.speedup_over_soc = soc_ns / result.time_ns;
        result.details["soc_ns"] = soc_ns;
        const PlainRead plain = plain_read(runner, case_, gemv);
        result.details["plain_read_gb_per_s"] = plain.gb_per_s;
        // What matters to the reading beside it matters to the result.
        std::erase_if(result.not_exercised, [&](const std::string& key) {
            return key.starts_with("memory.") &&
                   std::find(plain.not_exercised.begin(), plain.not_exercised.end(), key) ==
                       plain.not_exercised.end();
        });
        if (spares_alus(product_, pim)) {
            result.not_exercised.emplace_back("pim.alus");
        }
        if (arch::base::spares(pim.page.count(), placement_.page_needed)) {
            result.not_exercised.emplace_back("pim.page");
        }
        if (case_.problem.find<GemmProblem>() != nullptr) {
            result.details["vectors"] = product_.vectors;
        }
        if (functional) {
            result.functional = functional->check();
            result.status = result.functional->match ? Status::Ok : Status::Mismatch;
        }
    }

    // Tile, order and registers as comments, then the program.
    std::string text() const override {
        const PimPlacement& p = placement_;
        const auto& pim = case_.device.get<PimConfig>();
        const arch::pim::PimProgram program =
            gemv::lower(product_.gemv, p, case_.device.memory, pim);
        return fmt::format(
                   "# tile {} x {} (m x k), {}, {} row blocks a bank\n"
                   "# registers: {} of {} ({} input, {} x {} output); page of {} bytes needed\n"
                   "# {} commands a channel, {}\n",
                   p.m, p.k, order_of(p), p.row_blocks, p.registers_used(), pim.all_registers(),
                   p.mapping.input_registers, p.degree * p.accumulator_sets, p.output_registers,
                   p.page_needed, program.commands.size(),
                   pim.banks_per_unit == 1 ? "all banks at once"
                                           : "even banks at once, then odd banks") +
               arch::pim::print(program);
    }

  private:
    const Case& case_;
    Product product_;
    PimPlacement placement_;
};

// A placement differs from another when this does: what does not fit is reduced by `place`.
using PlacementKey = std::array<std::int64_t, 4>;

// Its commands counted without refresh, so that no simulation is faster.
double bound_ns(const Case& a_case, const GemvProblem& gemv, const PimPlacement& placement) {
    const std::int64_t cycles =
        closed_form_cycles(gemv, placement, a_case.device.memory, a_case.device.get<PimConfig>());
    const double in_banks =
        arch::base::ns_of(arch::base::Cycles{cycles}, a_case.device.memory.clock);
    return in_banks + host_ns(a_case.device.get<SocConfig>(), a_case.device.get<PimConfig>(), gemv,
                              placement, in_banks);
}

// The same of all vectors, less what may pass beside the one before.
double placed_ns(const Case& a_case, const Product& product, const PimPlacement& placement) {
    const auto& memory = a_case.device.memory;
    const auto passes =
        static_cast<double>(arch::base::ceil_div(product.vectors, placement.vectors));
    const arch::base::Cycles overlap{overlap_of_vectors(memory, a_case.device.get<PimConfig>())};
    return passes * bound_ns(a_case, product.gemv, placement) -
           (passes - 1) * arch::base::ns_of(overlap, memory.clock);
}

// Why the mapping given cannot be placed.
std::vector<Refusal> misfits(const Case& a_case) {
    constexpr std::string_view kPrefix = "mapping.";  // where the refusal will stand
    const Product product = product_of(a_case.problem);
    try {
        shaped(product.gemv, a_case.mapping.get<PimMapping>(), a_case.device.memory,
               a_case.device.get<PimConfig>(), product.vectors);
        return {};
    } catch (const ConfigError& error) {
        const std::string reason = error.what();
        return {{"mapping", reason.substr(reason.starts_with(kPrefix) ? kPrefix.size() : 0)}};
    }
}

class PlacementDataflow : public Dataflow {
  public:
    // Placements of both kinds are searched together.
    bool alike(const Dataflow& named) const override {
        return &named == &pimnast_dataflow() || &named == &column_major_dataflow();
    }
    bool takes_traffic() const override { return true; }
    bool serves(const Problem& problem, const Device& device) const override {
        return device.has<PimConfig>() &&
               (problem.find<GemvProblem>() != nullptr || problem.find<GemmProblem>() != nullptr);
    }

    std::vector<Refusal> refusals(const Case& a_case) const override {
        const GemvProblem gemv = product_of(a_case.problem).gemv;
        if (is_float(gemv.weights) != is_float(gemv.input)) {
            return {{"workload",
                     "the units at the banks multiply integers by integers or floats by floats; "
                     "integer weights beside floating-point inputs run on an array"}};
        }
        return a_case.mapping.empty() ? std::vector<Refusal>{} : misfits(a_case);
    }

    std::vector<UnfeltKey> unfelt(const Case& a_case) const override {
        return unfelt_keys(a_case.mapping);
    }

    std::string reservation(const Case& a_case, const Mapping& best) const override;

    std::unique_ptr<Job> lower(const Case& a_case, RunResult& result) const override {
        const Product product = product_of(a_case.problem);
        PimPlacement placement = placement_of(a_case, product.gemv, product.vectors);
        result.details = details_of(placement, a_case.device.get<PimConfig>());
        result.notes.insert(result.notes.end(), placement.notes.begin(), placement.notes.end());
        result.padding_waste =
            1.0 - product.gemv.macs() / (static_cast<double>(placement.padded_m) *
                                         static_cast<double>(placement.part_k) *
                                         static_cast<double>(placement.mapping.split_k));
        return std::make_unique<GemvJob>(a_case, std::move(placement));
    }
};

class Pimnast final : public PlacementDataflow {
  public:
    std::vector<Candidate> candidates(const Case& a_case) const override;
    Choice choose(const Case& a_case, Runner& runner) const override;
    std::string_view name() const override { return "pimnast"; }
    std::string_view summary() const override { return "balanced placement"; }
    Mapping read(Node& mapping) const override {
        PimMapping read;
        Node node = mapping.child(name(), summary());
        read_pimnast(node, read);
        return {*this, read};
    }
    Json describe(const Mapping& mapping) const override {
        const auto& given = mapping.get<PimMapping>();
        return given.placement == PimMapping::Placement::Balanced
                   ? Json{{name(), keys_of(given, read_pimnast)}}
                   : column_major_dataflow().describe(mapping);
    }
};

class ColumnMajor final : public PlacementDataflow {
  public:
    std::string_view name() const override { return "column_major"; }
    std::string_view summary() const override {
        return "columns, in tiles of an interleave unit, over the banks";
    }
    Mapping read(Node& mapping) const override {
        PimMapping read;
        Node node = mapping.child(name(), summary());
        read_column_major(node, read);
        return {*this, read};
    }
    Json describe(const Mapping& mapping) const override {
        return {{name(), keys_of(mapping.get<PimMapping>(), read_column_major)}};
    }
    std::vector<Candidate> candidates(const Case& a_case) const override;
};

class RowMajor final : public Dataflow {
  public:
    std::string_view name() const override { return "row_major"; }
    std::string_view summary() const override { return "refused: see column_major"; }
    bool serves(const Problem&, const Device&) const override { return false; }
    Mapping read(Node& mapping) const override {
        mapping.error(name(),
                      "spreads every row over the banks, whose partial sums only communication "
                      "between banks could add; take pimnast or column_major");
        mapping.child(name(), summary());
        return {};
    }
    Json describe(const Mapping&) const override { return Json::object(); }
    std::unique_ptr<Job> lower(const Case&, RunResult&) const override { return nullptr; }
};

// Returns whether its shape fits; where it does not, no larger degree does.
bool add_placement(std::vector<Candidate>& list, std::set<PlacementKey>& seen, const Case& a_case,
                   const Product& product, const PimMapping& mapping) {
    a_case.run.check_host_time();
    const auto& memory = a_case.device.memory;
    const auto& pim = a_case.device.get<PimConfig>();
    PimMapping placed = mapping;
    PimPlacement placement;
    try {
        placement = shaped(product.gemv, mapping, memory, pim, product.vectors);
    } catch (const ConfigError&) {
        return false;
    }
    placed.input_registers = placement.mapping.input_registers;
    placed.cr_degree = placement.degree;
    const PlacementKey key{placed.input_registers, placed.cr_degree, placed.split_k, placement.m};
    if (!seen.insert(key).second) {
        return true;
    }
    try {
        placement = place(product.gemv, mapping, memory, pim, product.vectors);
    } catch (const ConfigError&) {
        return true;  // but not its results
    }
    Candidate candidate{
        fmt::format("{} input registers, degree {}, K in {}{}", key[0], key[1], key[2],
                    mapping.tile_rows == 0 ? "" : fmt::format(", {}-row tiles", key[3])),
        {pimnast_dataflow(), placed},
        {}};
    candidate.bounds.compute_ns = placed_ns(a_case, product, placement);
    list.push_back(std::move(candidate));
    return true;
}

std::vector<Candidate> balanced_candidates(const Case& a_case, const Product& product) {
    std::vector<Candidate> list;
    const auto& pim = a_case.device.get<PimConfig>();
    const std::int64_t elements = elements_of_unit(product.gemv, pim);
    std::set<PlacementKey> seen;
    PimMapping mapping;
    // First the tile without padding, which keeps its name; a larger one may cost less than it
    // pads. More row blocks in a pass than registers for their outputs do not fit.
    for (mapping.tile_rows = 0; mapping.tile_rows <= elements;
         mapping.tile_rows = std::max<std::int64_t>(2 * mapping.tile_rows, 1)) {
        for (mapping.split_k = 1; mapping.split_k <= a_case.device.memory.channels;
             mapping.split_k *= 2) {
            for (std::int64_t inputs = 1; inputs <= pim.registers; ++inputs) {
                mapping.input_registers = inputs;
                mapping.cr_degree = 1;
                while (add_placement(list, seen, a_case, product, mapping)) {
                    ++mapping.cr_degree;
                }
            }
        }
    }
    return list;
}

// The closed form leaves only refresh out, which all placements share: no simulation is needed to
// tell them apart.
const Candidate& least_of(const std::vector<Candidate>& list, const Case& a_case,
                          const GemvProblem& gemv) {
    if (list.empty()) {
        refuse_balanced(gemv, a_case.device.memory, a_case.device.get<PimConfig>());
    }
    return *std::min_element(list.begin(), list.end(), [](const Candidate& a, const Candidate& b) {
        return a.bound_ns() < b.bound_ns();
    });
}

Case with_parts_charged(const Case& a_case) {
    Case charged = a_case;
    auto pim = a_case.device.get<PimConfig>();
    pim.split_reduction = arch::pim::SplitReduction::Soc;
    charged.device.put(pim);
    return charged;
}

// Whether the balanced placement would be the best with its parts' sums charged, too.
std::string best_with_parts(const Case& charged, const Product& product,
                            const PimPlacement& placement) {
    const std::vector<Candidate> list = balanced_candidates(charged, product);
    const Candidate& least = least_of(list, charged, product.gemv);
    const double ns = placed_ns(charged, product, placement);
    return ns <= least.bound_ns() ? "with it the same is the best"
                                  : fmt::format("with it '{}' is {:.1f} % faster", least.name,
                                                arch::base::kPercent * (ns / least.bound_ns() - 1));
}

// Somebody has to add the parts of K, whether the device charges it or not.
std::string PlacementDataflow::reservation(const Case& a_case, const Mapping& best) const {
    const Product product = product_of(a_case.problem);
    const auto& pim = a_case.device.get<PimConfig>();
    const PimPlacement placement =
        place(product.gemv, best.get<PimMapping>(), a_case.device.memory, pim, product.vectors);
    const double ns = uncharged_ns(a_case.device.get<SocConfig>(), pim, product.gemv, placement);
    if (ns == 0) {
        return "";
    }
    std::string text = fmt::format(
        "adding its {} parts of K, {:.3f} us a product, is not charged "
        "(device.pim.split_reduction=soc charges it)",
        parts_of_sum(placement), ns / arch::base::kNanosecondsPerMicrosecond);
    if (placement.mapping.placement == PimMapping::Placement::Balanced) {
        text += "; " + best_with_parts(with_parts_charged(a_case), product, placement);
    }
    return text;
}

// The best one is simulated, since other dataflows are compared with it by what they take, refresh
// included.
Choice Pimnast::choose(const Case& a_case, Runner& runner) const {
    const std::vector<Candidate> list = candidates(a_case);
    const Candidate& best = least_of(list, a_case, product_of(a_case.problem).gemv);
    Choice choice{
        best.mapping,
        fmt::format("no mapping given: of {} balanced placements the one whose commands take "
                    "least, see `mapping`",
                    list.size())};
    Case chosen = a_case;
    chosen.mapping = best.mapping;
    chosen.run.functional = false;
    RunResult run = runner.run(chosen);
    if (run.status == Status::Ok) {
        choice.time_ns = run.time_ns;
        if (!a_case.run.functional) {
            choice.run = std::move(run);
        }
    }
    return choice;
}

std::vector<Candidate> Pimnast::candidates(const Case& a_case) const {
    return balanced_candidates(a_case, product_of(a_case.problem));
}

std::vector<Candidate> ColumnMajor::candidates(const Case& a_case) const {
    const Product product = product_of(a_case.problem);
    std::vector<Candidate> list;
    PimMapping mapping;
    mapping.placement = PimMapping::Placement::ColumnMajor;
    mapping.input_registers = 1;
    for (const auto order : {PimMapping::Order::Address, PimMapping::Order::Outputs}) {
        mapping.order = order;
        Candidate columns{
            order == PimMapping::Order::Address ? "column-major" : "column-major by outputs",
            {*this, mapping},
            {}};
        columns.bounds.compute_ns = multiply_bound_ns(a_case, product);
        list.push_back(std::move(columns));
    }
    return list;
}

}  // namespace

std::vector<UnfeltKey> unfelt_keys(const Mapping& mapping) {
    if (mapping.empty()) {
        return {};
    }
    const auto& given = mapping.get<PimMapping>();
    UnfeltKeys<PimMapping> keys(fmt::format("mapping.{}.", mapping.dataflow().name()), given);
    if (given.phases == 1) {
        keys.add("between", &PimMapping::between, "phases: 1 leaves no time between two");
    }
    return keys.take();
}

PimPlacement placement_of(const Case& a_case, const GemvProblem& gemv, std::int64_t vectors) {
    const PimMapping mapping =
        a_case.mapping.empty()
            ? least_of(balanced_candidates(a_case, {gemv, vectors}), a_case, gemv)
                  .mapping.get<PimMapping>()
            : a_case.mapping.get<PimMapping>();
    return place(gemv, mapping, a_case.device.memory, a_case.device.get<PimConfig>(), vectors);
}

PimPlacement shortened(const PimPlacement& placement, const GemvProblem& gemv, const Case& a_case) {
    const auto& memory = a_case.device.memory;
    const auto& pim = a_case.device.get<PimConfig>();
    PimMapping mapping = placement.mapping;
    if (mapping.placement == PimMapping::Placement::Balanced) {
        mapping.tile_rows = placement.m;
        const std::int64_t row_blocks = arch::base::ceil_div(gemv.m, placement.banks * placement.m);
        mapping.cr_degree = std::min(mapping.cr_degree, row_blocks);
    }
    return place(gemv, mapping, memory, pim, placement.vectors);
}

const Dataflow& pimnast_dataflow() {
    static const Pimnast dataflow;
    return dataflow;
}

const Dataflow& column_major_dataflow() {
    static const ColumnMajor dataflow;
    return dataflow;
}

const Dataflow& row_major_dataflow() {
    static const RowMajor dataflow;
    return dataflow;
}

}  // namespace tilesim::workloads::pim::gemv
