#include "workloads/gemv.hpp"

#include <fmt/format.h>

#include "workloads/keys.hpp"

namespace tilesim::workloads {

using arch::base::DataType;
using arch::base::is_float;

namespace {

using TypeNames = std::vector<std::pair<std::string_view, DataType>>;
// What the units at the banks multiply and accumulate.
const TypeNames kOperands{{"int4", DataType::Int4},
                          {"int8", DataType::Int8},
                          {"int16", DataType::Int16},
                          {"bf16", DataType::Bf16},
                          {"f16", DataType::F16}};
const TypeNames kResults{{"int8", DataType::Int8},   {"int16", DataType::Int16},
                         {"int32", DataType::Int32}, {"bf16", DataType::Bf16},
                         {"f16", DataType::F16},     {"f32", DataType::F32}};

}  // namespace

double GemvProblem::bytes() const {
    const double scales =
        scale_block > 0 ? static_cast<double>(kScaleBits) / static_cast<double>(scale_block) : 0;
    return macs() * (static_cast<double>(arch::base::bits_of(weights)) + scales) /
           arch::base::kBitsPerByte;
}

void read_gemv_format(arch::base::config::Node& node, GemvProblem& gemv) {
    node.optional("weights", gemv.weights, kOperands, "type of the matrix");
    node.optional("input", gemv.input, kOperands, "type of the vector");
    node.optional("accumulate", gemv.accumulate, kResults, "type of the result");
    node.optional("scale_block", gemv.scale_block, {0, 1 << 24},
                  "weights of a row that share a scale factor; 0: no scale factors");
    const bool scaled = gemv.scale_block > 0 && !is_float(gemv.weights);
    if (is_float(gemv.input) != is_float(gemv.accumulate) ||
        (is_float(gemv.weights) != is_float(gemv.input) && !scaled)) {
        node.error(
            "accumulate",
            fmt::format("integer weights and inputs need an integer accumulator, "
                        "floating-point ones a floating-point one; only weights with scale "
                        "factors may be integers beside floating-point inputs; got {} "
                        "weights, a {} input and {}",
                        name_of(gemv.weights), name_of(gemv.input), name_of(gemv.accumulate)));
    }
    if (arch::base::bits_of(gemv.accumulate) < arch::base::bits_of(gemv.weights)) {
        node.error("accumulate", fmt::format("must be at least as wide as the {} weights, got {}",
                                             name_of(gemv.weights), name_of(gemv.accumulate)));
    }
}

void read_gemv(arch::base::config::Node& node, GemvProblem& gemv) {
    const arch::base::config::Range size{1, 1 << 24};
    node.required("M", gemv.m, size, "rows of the matrix, elements of the result");
    node.required("K", gemv.k, size, "columns of the matrix, elements of the vector");
    read_gemv_format(node, gemv);
    node.done();
}

namespace {

class GemvKind final : public ProblemKind {
  public:
    std::string_view key() const override { return "gemv"; }
    Problem read(ProblemSource& source) const override {
        GemvProblem gemv;
        auto node = source.node.child(key(), "y = W x");
        read_gemv(node, gemv);
        return {*this, gemv};
    }
    nlohmann::ordered_json describe(const Problem& problem) const override {
        return {{key(), keys_of(problem.get<GemvProblem>(), read_gemv)}};
    }
    std::string hint() const override {
        return "; a gemm of M: 1, its N the rows of the matrix, is the same product";
    }
};

}  // namespace

const ProblemKind& gemv_kind() {
    static const GemvKind kind;
    return kind;
}

}  // namespace tilesim::workloads
