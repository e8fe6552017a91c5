#include "workloads/pim/transformer/attention_times.hpp"

#include "workloads/pim/transformer/operators.hpp"

namespace tilesim::workloads::pim::transformer {

double AttentionTimes::on_soc_ns(double context) const {
    const Attention cost = attention_of(workload_, context);
    return soc_.roofline_ns(cost.macs, cost.bytes);
}

double AttentionTimes::ns(double context) const {
    if (in_banks_.empty()) {
        return on_soc_ns(context);
    }
    const auto& [x0, y0] = context < in_banks_[1].first ? in_banks_[0] : in_banks_[1];
    const auto& [x1, y1] = context < in_banks_[1].first ? in_banks_[1] : in_banks_[2];
    return x1 > x0 ? y0 + (y1 - y0) * (context - x0) / (x1 - x0) : y0;
}

}  // namespace tilesim::workloads::pim::transformer
