#include "workloads/pim/transformer/operators.hpp"

#include <cmath>

#include "arch/base/data_type.hpp"

namespace tilesim::workloads::pim::transformer {

std::vector<Operator> operators_of(const ModelWorkload& workload) {
    const Places& places = workload.places;
    std::vector<Operator> list;
    for (const TransformerModel::Matrix& matrix : workload.model.layer_matrices()) {
        const Place place = matrix.name == "qkv"                            ? places.qkv
                            : matrix.name == "projection"                   ? places.projection
                            : matrix.name == "router"                       ? places.router
                            : matrix.name == "down" || matrix.name == "fc2" ? places.down
                                                                            : places.up;
        list.push_back({matrix.name, place, static_cast<double>(matrix.uses),
                        static_cast<double>(matrix.copies),
                        gemv_of(workload, matrix.rows, matrix.columns), true});
    }
    list.push_back({"head", places.head, 1, 1,
                    gemv_of(workload, workload.model.vocabulary, workload.model.hidden), false});
    return list;
}

GemvProblem gemv_of(const ModelWorkload& workload, std::int64_t rows, std::int64_t columns) {
    GemvProblem gemv = workload.format;
    gemv.m = rows;
    gemv.k = columns;
    return gemv;
}

double copies_read(const Operator& op, double tokens) {
    return op.copies * (1 - std::pow(1 - op.uses / op.copies, tokens));
}

double soc_ns(const arch::pim::SocConfig& soc, const Operator& op, double tokens) {
    return soc.roofline_ns(op.gemv.macs() * op.uses * tokens,
                           op.gemv.bytes() * copies_read(op, tokens));
}

Attention attention_of(const ModelWorkload& workload, double context) {
    const TransformerModel& model = workload.model;
    const auto batch = static_cast<double>(workload.batch);
    const auto size = static_cast<double>(model.size_of_head());
    Attention cost;
    cost.macs = 2 * static_cast<double>(model.heads) * size * context * batch;
    cost.bytes = 2 * static_cast<double>(model.key_heads()) * size * context * batch *
                 static_cast<double>(arch::base::bits_of(workload.format.input)) /
                 arch::base::kBitsPerByte;
    return cost;
}

}  // namespace tilesim::workloads::pim::transformer
