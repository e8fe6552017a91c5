// What attention of one layer takes for the next token of every sequence, by the tokens before it.
//
// Models:  on the system on chip its roofline; in the banks what was simulated at some contexts,
//          linear between and beyond them.
// Ignores: what the softmax takes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "arch/pim/pim_config.hpp"
#include "workloads/pim/transformer/model_workload.hpp"

namespace tilesim::workloads::pim::transformer {

class AttentionTimes {
  public:
    AttentionTimes(const ModelWorkload& workload, const arch::pim::SocConfig& soc)
        : workload_(workload), soc_(soc) {}

    static constexpr std::size_t kContexts = 3;

    // Simulated in the banks; so many of them, of growing contexts.
    void add_in_banks(double context, double ns) { in_banks_.emplace_back(context, ns); }
    // How often each of them counts in `tokens` tokens, of which the first has `first` before it.
    std::array<double, kContexts> shares(double first, std::int64_t tokens) const;

    // Where the workload has it; in the banks once their times are known.
    double ns(double context) const;
    double on_soc_ns(double context) const;

  private:
    // How much of each simulated one a context is.
    std::array<double, kContexts> weights(double context) const;

    const ModelWorkload& workload_;
    const arch::pim::SocConfig& soc_;
    std::vector<std::pair<double, double>> in_banks_;  // context, nanoseconds
};

}  // namespace tilesim::workloads::pim::transformer
