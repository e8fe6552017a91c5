#include "workloads/pim/transformer/attention_times.hpp"

#include <algorithm>
#include <functional>

#include "workloads/pim/transformer/operators.hpp"

namespace tilesim::workloads::pim::transformer {

double AttentionTimes::on_soc_ns(double context) const {
    return soc_ns(soc_, attention_of(workload_, context));
}

double AttentionTimes::ns(double context) const {
    if (in_banks_.empty()) {
        return on_soc_ns(context);
    }
    const auto each = weights(context);
    double sum = 0;
    for (std::size_t i = 0; i < kContexts; ++i) {
        sum += each[i] * in_banks_[i].second;
    }
    return sum;
}

std::array<double, AttentionTimes::kContexts> AttentionTimes::weights(double context) const {
    const std::size_t i = context < in_banks_[1].first ? 0 : 1;
    const double from = in_banks_[i].first;
    const double to = in_banks_[i + 1].first;
    std::array<double, kContexts> result{};
    result[i + 1] = to > from ? (context - from) / (to - from) : 0;
    result[i] = 1 - result[i + 1];
    return result;
}

std::array<double, AttentionTimes::kContexts> AttentionTimes::shares(double first,
                                                                     std::int64_t tokens) const {
    std::array<double, kContexts> sum{};
    for (std::int64_t t = 0; t < tokens; ++t) {
        const auto each = weights(first + static_cast<double>(t));
        std::ranges::transform(sum, each, sum.begin(), std::plus{});
    }
    return sum;
}

}  // namespace tilesim::workloads::pim::transformer
