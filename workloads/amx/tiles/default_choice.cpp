#include "workloads/amx/tiles/default_choice.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arch/amx/amx_config.hpp"
#include "arch/base/units.hpp"
#include "workloads/amx/tiles/amx_gemm.hpp"
#include "workloads/amx/tiles/amx_mapping.hpp"
#include "workloads/amx/tiles/amx_tuning.hpp"
#include "workloads/amx/tiles/whole_socket.hpp"

namespace tilesim::workloads::amx::tiles {

namespace {

using arch::amx::AmxConfig;
using Order = AmxMapping::Order;

// Products of more steps are not simulated, since several runs take too long.
constexpr double kMostSteps = 40'000;
// Up to here orders of loads are tried, too: where a product is hardly more than its first loads,
// their order decides. Above, to try twice as many takes more than a second.
constexpr double kFewSteps = 12'000;
// Up to here a run takes some milliseconds: every other key is tried.
constexpr double kFewestSteps = 6'000;

// Shows mappings to the simulator and keeps the fastest; the first that can be, or `expected`.
class Search {
  public:
    Search(const Dataflow& dataflow, const Case& a_case, Runner& runner, const AmxMapping& expected)
        : dataflow_(dataflow), case_(a_case), runner_(runner), best_{dataflow, expected} {}

    const AmxMapping& best() const { return best_.get<AmxMapping>(); }

    void consider(const AmxMapping& mapping) { consider(Mapping{dataflow_, mapping}); }
    void consider(Mapping mapping) {
        if (const auto time_ns = time_of(mapping)) {
            least_ns_ = *time_ns;
            best_ = std::move(mapping);
        }
    }

    // One key after the other as is fastest, as long as that helps: a product of few steps is
    // mostly its first loads and its last stores, of which no rule knows the best.
    void try_every_key() {
        constexpr double kWorthwhile = 0.99;
        for (double before_ns = least_ns_ / kWorthwhile; least_ns_ <= kWorthwhile * before_ns;) {
            before_ns = least_ns_;
            for (Candidate& each : neighbours_of(dataflow_, case_, best())) {
                consider(std::move(each.mapping));
            }
        }
    }

  private:
    // Nothing: it cannot be, or it takes as long as the fastest so far or longer.
    std::optional<double> time_of(const Mapping& mapping) {
        case_.run.check_host_time();
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
    Mapping best_;
    double least_ns_ = 0;  // of `best_`; 0: nothing was simulated yet
};

// Blocks of accumulators, these layouts of B and orders of loads.
void try_blocks(Search& search, const GemmProblem& gemm, const AmxConfig& socket,
                std::initializer_list<AmxMapping::BLayout> layouts) {
    std::vector<std::optional<Order>> orders{std::nullopt};
    if (steps_of(gemm) <= kFewSteps) {
        orders.push_back(Order::KInnermost);
    }
    using Layout = AmxMapping::BLayout;
    for (const auto& [m, n] : {std::pair{2, 2}, {1, 4}, {3, 1}, {1, 2}, {1, 1}}) {
        for (const Layout layout : layouts) {
            for (const std::optional<Order> order : orders) {
                AmxMapping mapping = whole_socket(gemm, m, n, socket);
                mapping.b_layout = layout;
                mapping.order = order.value_or(mapping.order);
                mapping.prefetch_next = mapping.prefetch_next && layout == Layout::Packed;
                search.consider(mapping);
            }
        }
    }
}

// Stores among the last products may be worth what their order of loads costs.
void try_early_stores(Search& search) {
    AmxMapping mapping = search.best();
    if (std::exchange(mapping.order, Order::Interleaved) != Order::Interleaved) {
        search.consider(mapping);
    }
}

// Of few steps, when the first block of B is asked for decides, too.
void try_early_prefetch(Search& search, const GemmProblem& gemm) {
    AmxMapping mapping = search.best();
    mapping.prefetch_first = mapping.prefetch_next && steps_of(gemm) <= kFewSteps;
    if (mapping.prefetch_first) {
        search.consider(mapping);
    }
}

// All of A in front of the products of a step, and nothing fetched ahead of the first.
void try_preloaded(Search& search) {
    AmxMapping mapping = search.best();
    mapping.order = Order::Preloaded;
    mapping.prefetch_first = false;
    search.consider(mapping);
}

void try_without_prefetch_of_a(Search& search) {
    AmxMapping mapping = search.best();
    if (std::exchange(mapping.prefetch_a, 0) > 0) {
        mapping.prefetch_a_once = false;
        search.consider(mapping);
    }
}

// Blocks of accumulators, output rows joined or apart.
void try_blocks(Search& search, const ConvolutionProblem& convolution, std::int64_t cores) {
    using Rows = AmxMapping::OutputRows;
    for (const auto& [m, n] : {std::pair{2, 2}, {1, 4}, {1, 2}, {1, 1}}) {
        for (const Rows rows : {Rows::Joined, Rows::Apart}) {
            AmxMapping mapping = whole_socket(convolution, m, n, cores);
            mapping.output_rows = rows;
            mapping.prefetch_next = mapping.prefetch_next && rows == Rows::Joined;
            mapping.threads = threads_of(convolution, mapping, cores);
            search.consider(mapping);
        }
    }
}

void try_all(Search& search, const GemmProblem& gemm, const AmxConfig& socket,
             std::initializer_list<AmxMapping::BLayout> layouts) {
    try_blocks(search, gemm, socket, layouts);
    try_early_stores(search);
    try_early_prefetch(search, gemm);
    try_without_prefetch_of_a(search);
    if (steps_of(gemm) <= kFewestSteps) {
        search.try_every_key();
    } else if (steps_of(gemm) <= kFewSteps) {
        try_preloaded(search);
    }
}

}  // namespace

Choice choose_mapping(const Dataflow& dataflow, const Case& a_case, Runner& runner) {
    const auto& socket = a_case.device.get<AmxConfig>();
    const auto* gemm = a_case.problem.find<GemmProblem>();
    const auto* convolution = a_case.problem.find<ConvolutionProblem>();
    Search search(dataflow, a_case, runner,
                  gemm != nullptr ? whole_socket(*gemm, socket)
                                  : whole_socket(*convolution, 2, 2, socket.cores));
    if ((gemm != nullptr ? steps_of(*gemm) : steps_of(*convolution)) > kMostSteps) {
        return {{dataflow, search.best()}, "no mapping given: see `mapping`"};
    }
    if (gemm != nullptr) {
        using Layout = AmxMapping::BLayout;
        try_all(search, *gemm, socket, {Layout::Packed, Layout::Vnni});
        // Packed tiles alone can be fetched ahead: of the few steps of such a product, which of two
        // layouts is faster shows only once the other keys suit each.
        if (steps_of(*gemm) <= kFewestSteps && search.best().b_layout == Layout::Vnni) {
            Search packed(dataflow, a_case, runner, search.best());
            try_all(packed, *gemm, socket, {Layout::Packed});
            search.consider(packed.best());
        }
    } else {
        try_blocks(search, *convolution, socket.cores);
    }
    return {{dataflow, search.best()},
            "no mapping given: chosen by simulating a few, see `mapping`"};
}

}  // namespace tilesim::workloads::amx::tiles
