#include "workloads/amx/tiles/default_choice.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arch/amx/amx_config.hpp"
#include "arch/base/units.hpp"
#include "workloads/amx/tiles/amx_gemm.hpp"
#include "workloads/amx/tiles/amx_mapping.hpp"
#include "workloads/amx/tiles/amx_tuning.hpp"

namespace tilesim::workloads::amx::tiles {

namespace {

using Order = AmxMapping::Order;

// Products of more steps are not simulated, since several runs take too long.
constexpr double kMostSteps = 40'000;
// Up to here orders of loads are tried, too: where a product is hardly more than its first loads,
// their order decides. Above, to try twice as many takes more than a second.
constexpr double kFewSteps = 12'000;
// Up to here a run takes some milliseconds: every other key is tried.
constexpr double kFewestSteps = 6'000;

// Shows mappings to the simulator and keeps the fastest.
class Search {
  public:
    Search(const Dataflow& dataflow, const Case& a_case, Runner& runner)
        : dataflow_(dataflow),
          case_(a_case),
          runner_(runner),
          gemm_(a_case.problem.get<GemmProblem>()),
          cores_(a_case.device.get<arch::amx::AmxConfig>().cores),
          best_{dataflow, whole_socket(gemm_, 2, 2, cores_)} {}

    Mapping best() && { return std::move(best_); }

    // Blocks of accumulators, layouts of B and orders of loads.
    void try_blocks() {
        std::vector<std::optional<Order>> orders{std::nullopt};
        if (few_steps()) {
            orders.push_back(Order::KInnermost);
        }
        using Layout = AmxMapping::BLayout;
        for (const auto& [m, n] : {std::pair{2, 2}, {1, 4}, {3, 1}, {1, 2}, {1, 1}}) {
            for (const Layout layout : {Layout::Packed, Layout::Vnni}) {
                for (const std::optional<Order> order : orders) {
                    AmxMapping mapping = whole_socket(gemm_, m, n, cores_);
                    mapping.b_layout = layout;
                    mapping.order = order.value_or(mapping.order);
                    mapping.prefetch_next = mapping.prefetch_next && layout == Layout::Packed;
                    keep_if_faster({dataflow_, mapping});
                }
            }
        }
    }

    // Stores among the last products may be worth what their order of loads costs.
    void try_early_stores() {
        AmxMapping mapping = best_.get<AmxMapping>();
        if (std::exchange(mapping.order, Order::Interleaved) != Order::Interleaved) {
            keep_if_faster({dataflow_, mapping});
        }
    }

    // Of few steps, when the first block of B is asked for decides, too.
    void try_early_prefetch() {
        AmxMapping mapping = best_.get<AmxMapping>();
        mapping.prefetch_first = mapping.prefetch_next && few_steps();
        if (mapping.prefetch_first) {
            keep_if_faster({dataflow_, mapping});
        }
    }

    // One key after the other as is fastest, as long as that helps: a product of few steps is
    // mostly its first loads and its last stores, of which no rule knows the best.
    void try_every_key() {
        constexpr double kWorthwhile = 0.99;
        for (double before_ns = least_ns_ / kWorthwhile; least_ns_ <= kWorthwhile * before_ns;) {
            before_ns = least_ns_;
            for (const Candidate& each : neighbours_of(dataflow_, case_, best_.get<AmxMapping>())) {
                keep_if_faster(each.mapping);
            }
        }
    }

  private:
    bool few_steps() const { return steps_of(gemm_) <= kFewSteps; }

    void keep_if_faster(Mapping mapping) {
        if (const auto time_ns = time_of(mapping)) {
            least_ns_ = *time_ns;
            best_ = std::move(mapping);
        }
    }

    // Nothing: it cannot be, or it takes as long as the fastest so far or longer.
    std::optional<double> time_of(const Mapping& mapping) {
        Case candidate = case_;
        candidate.mapping = mapping;
        candidate.run.functional = false;
        if (!dataflow_.refusals(candidate).empty()) {
            return std::nullopt;
        }
        if (least_ns_ > 0) {
            candidate.run.max_time =
                std::min(candidate.run.max_time, arch::base::Femtoseconds{static_cast<std::int64_t>(
                                                     least_ns_ * kFemtosecondsPerNanosecond)});
        }
        const RunResult run = runner_.run(candidate);
        return run.status == Status::Ok && (least_ns_ == 0 || run.time_ns < least_ns_)
                   ? std::optional(run.time_ns)
                   : std::nullopt;
    }

    const Dataflow& dataflow_;
    const Case& case_;
    Runner& runner_;
    const GemmProblem& gemm_;
    const std::int64_t cores_;
    Mapping best_;
    double least_ns_ = 0;  // of `best_`; 0: nothing was simulated yet
};

// An output row a core, as far as they go.
AmxMapping by_rows(const ConvolutionProblem& convolution, std::int64_t cores) {
    AmxMapping mapping;
    mapping.data_in = AmxMapping::DataIn::Memory;
    mapping.threads = std::min(cores, convolution.height);
    return mapping;
}

}  // namespace

Choice choose_mapping(const Dataflow& dataflow, const Case& a_case, Runner& runner) {
    const std::string by_rule = "no mapping given: see `mapping`";
    const auto* gemm = a_case.problem.find<GemmProblem>();
    if (gemm == nullptr) {
        return {{dataflow, by_rows(a_case.problem.get<ConvolutionProblem>(),
                                   a_case.device.get<arch::amx::AmxConfig>().cores)},
                by_rule};
    }
    Search search(dataflow, a_case, runner);
    if (steps_of(*gemm) > kMostSteps) {
        return {std::move(search).best(), by_rule};
    }
    search.try_blocks();
    search.try_early_stores();
    search.try_early_prefetch();
    if (steps_of(*gemm) <= kFewestSteps) {
        search.try_every_key();
    }
    return {std::move(search).best(),
            "no mapping given: chosen by simulating a few, see `mapping`"};
}

}  // namespace tilesim::workloads::amx::tiles
