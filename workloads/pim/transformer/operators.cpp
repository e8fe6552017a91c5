#include "workloads/pim/transformer/operators.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

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
    return matrices_read(op.copies, op.uses, tokens);
}

std::int64_t tokens_of_each(const Operator& op, std::int64_t tokens) {
    return workloads::tokens_of_each(op.copies, op.uses, tokens);
}

double passes_of(const Operator& op, std::int64_t tokens, std::int64_t sharing) {
    const double chosen = op.uses / op.copies;
    // How likely it is that so many tokens share a matrix's last pass; 0: that it is full.
    std::vector<double> in_last(static_cast<std::size_t>(sharing), 0);
    in_last[0] = 1;
    double passes = 0;
    for (std::int64_t token = 0; token < tokens; ++token) {
        passes += chosen * in_last[0];
        std::vector<double> before = in_last;
        std::rotate(before.begin(), before.end() - 1, before.end());
        for (std::size_t i = 0; i < in_last.size(); ++i) {
            in_last[i] += chosen * (before[i] - in_last[i]);
        }
    }
    return op.copies * passes;
}

Work work_of(const Operator& op, double tokens) {
    return {op.gemv.macs() * op.uses * tokens, op.gemv.bytes() * copies_read(op, tokens)};
}

double soc_ns(const arch::pim::SocConfig& soc, const Work& work) {
    return soc.roofline_ns(work.macs, work.bytes);
}

const char* soc_cause(const arch::pim::SocConfig& soc, const Work& work) {
    return soc.compute_ns(work.macs) > soc.transfer_ns(work.bytes) ? kSocCompute : kSocBandwidth;
}

Work attention_of(const ModelWorkload& workload, double context) {
    const TransformerModel& model = workload.model;
    const auto batch = static_cast<double>(workload.batch);
    const auto size = static_cast<double>(model.size_of_head());
    Work work;
    work.macs = 2 * static_cast<double>(model.heads) * size * context * batch;
    work.bytes = 2 * static_cast<double>(model.key_heads()) * size * context * batch *
                 static_cast<double>(arch::base::bits_of(workload.format.input)) /
                 arch::base::kBitsPerByte;
    return work;
}

Work attention_of_generated(const ModelWorkload& workload) {
    const auto tokens = static_cast<double>(workload.generate);
    const double before_first = static_cast<double>(workload.prompt);
    return attention_of(workload, tokens * before_first + tokens * (tokens - 1) / 2);
}

}  // namespace tilesim::workloads::pim::transformer
