#include "workloads/amx/tiles/default_choice.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "arch/amx/amx_config.hpp"
#include "arch/base/units.hpp"
#include "workloads/amx/tiles/amx_gemm.hpp"
#include "workloads/amx/tiles/amx_mapping.hpp"
#include "workloads/amx/tiles/amx_tuning.hpp"
#include "workloads/amx/tiles/key_alternatives.hpp"
#include "workloads/amx/tiles/whole_socket.hpp"

namespace tilesim::workloads::amx::tiles {

namespace {

using arch::amx::AmxConfig;

// What a choice may simulate, in events, one to four microseconds of the host's time each: for what
// helps most often, and as long as it goes on to all else. How many a run takes is known once it
// has ended: lines that wait for each other take more. What one core does stays in the host's
// caches, and takes half as long.
constexpr double kMostEvents = 600'000;
constexpr double kMostEventsOfOneCore = 1'000'000;
constexpr double kMostEventsForAll = 300'000;
// The first run, which is the result's where no other is faster, in steps of the product.
constexpr double kMostSteps = 600'000;
// Of a convolution each run, of which there are eight at most.
constexpr double kMostStepsOfConvolution = 40'000;

// Shows mappings to the simulator and keeps the fastest; the first that can be, or `expected`.
class Search {
  public:
    Search(const Dataflow& dataflow, const Case& a_case, Runner& runner, const AmxMapping& expected)
        : dataflow_(dataflow), case_(a_case), runner_(runner), best_(expected) {}

    const AmxMapping& best() const { return best_; }
    // Whether another run like the fastest so far stays within so many events in all.
    bool affords(double most_events) const {
        return events_ + (run_ ? static_cast<double>(run_->events) : 0) <= most_events;
    }
    double least_ns() const { return run_ ? run_->time_ns : 0; }

    void consider(const AmxMapping& mapping) {
        if (std::find(seen_.begin(), seen_.end(), mapping) != seen_.end()) {
            return;
        }
        seen_.push_back(mapping);
        if (std::optional<RunResult> run = faster_run(mapping)) {
            run_ = std::move(run);
            best_ = mapping;
        }
    }

    Choice choice() && {
        Choice choice{{dataflow_, best_},
                      run_ ? "no mapping given: chosen by simulating a few, see `mapping`"
                           : "no mapping given: see `mapping`"};
        if (run_ && !case_.run.functional) {
            choice.run = std::move(run_);
        }
        return choice;
    }

  private:
    // Nothing: it cannot be, or it takes as long as the fastest so far or longer.
    std::optional<RunResult> faster_run(const AmxMapping& mapping) {
        case_.run.check_host_time();
        Case candidate = case_;
        candidate.mapping = {dataflow_, mapping};
        candidate.run.functional = false;
        if (!dataflow_.refusals(candidate).empty()) {
            return std::nullopt;
        }
        if (run_) {
            candidate.run.max_time =
                std::min(candidate.run.max_time, arch::base::Femtoseconds{static_cast<std::int64_t>(
                                                     run_->time_ns * kFemtosecondsPerNanosecond)});
        }
        RunResult run = runner_.run(candidate);
        events_ += static_cast<double>(run.events);
        const bool faster = run.status == Status::Ok && (!run_ || run.time_ns < run_->time_ns);
        return faster ? std::optional(std::move(run)) : std::nullopt;
    }

    const Dataflow& dataflow_;
    const Case& case_;
    Runner& runner_;
    AmxMapping best_;
    std::optional<RunResult> run_;  // of `best_`
    std::vector<AmxMapping> seen_;
    double events_ = 0;
};

// Which of the keys' alternatives are tried.
struct TriedKeys {
    std::size_t keys = SIZE_MAX;    // the first ones
    std::size_t values = SIZE_MAX;  // of each, the first ones
    double events = 0;              // of all runs
};

// Each key's alternatives to the best in turn: those of the next key are those to what is then the
// best.
void try_keys(Search& search, const GemmProblem& gemm, const Device& device,
              const TriedKeys& which) {
    const auto alternatives = [&] {
        return alternatives_of(gemm, device.get<AmxConfig>(), device.memory, search.best());
    };
    const std::size_t all = alternatives().size();
    for (std::size_t key = 0; key < std::min(which.keys, all); ++key) {
        const std::vector<AmxMapping> values = alternatives()[key];
        const std::size_t few = std::min(which.values, values.size());
        for (std::size_t i = 0; i < few && search.affords(which.events); ++i) {
            search.consider(values[i]);
        }
    }
}

// The longer a run takes, the fewer. First what helps most often, so that every such key has its
// turn; then all else, as long as that helps.
void search_keys(Search& search, const GemmProblem& gemm, const Device& device) {
    constexpr double kWorthwhile = 0.99;
    if (steps_of(gemm, search.best()) > kMostSteps) {
        return;
    }
    search.consider(search.best());
    const bool one_core = search.best().threads == 1;
    constexpr std::size_t kFewValues = 2;
    try_keys(search, gemm, device,
             {kHelpfulKeys, kFewValues, one_core ? kMostEventsOfOneCore : kMostEvents});
    for (double before_ns = search.least_ns() / kWorthwhile;
         search.least_ns() <= kWorthwhile * before_ns && search.affords(kMostEventsForAll);) {
        before_ns = search.least_ns();
        try_keys(search, gemm, device, {.events = kMostEventsForAll});
    }
}

// Blocks of accumulators, output rows joined or apart.
void search_blocks(Search& search, const ConvolutionProblem& convolution, std::int64_t cores) {
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

}  // namespace

Choice choose_mapping(const Dataflow& dataflow, const Case& a_case, Runner& runner) {
    const auto& socket = a_case.device.get<AmxConfig>();
    if (const auto* gemm = a_case.problem.find<GemmProblem>()) {
        Search search(dataflow, a_case, runner, whole_socket(*gemm, socket, a_case.device.memory));
        search_keys(search, *gemm, a_case.device);
        return std::move(search).choice();
    }
    const auto& convolution = a_case.problem.get<ConvolutionProblem>();
    Search search(dataflow, a_case, runner, whole_socket(convolution, 2, 2, socket.cores));
    if (steps_of(convolution) <= kMostStepsOfConvolution) {
        search_blocks(search, convolution, socket.cores);
    }
    return std::move(search).choice();
}

}  // namespace tilesim::workloads::amx::tiles
