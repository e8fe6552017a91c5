#include "workloads/gemm.hpp"

#include "workloads/keys.hpp"

namespace tilesim::workloads {

std::int64_t bytes_of(DataType type) {
    return arch::npu::bits_of(type) / arch::base::kBitsPerByte;
}

void read_gemm(arch::base::config::Node& node, GemmProblem& gemm) {
    const arch::base::config::Range size{1, 1 << 20};
    node.required("M", gemm.m, size, "rows of A and C");
    node.required("K", gemm.k, size, "columns of A, rows of B");
    node.required("N", gemm.n, size, "columns of B and C");
    node.required("a", gemm.a, arch::npu::kDataTypes, "type of A");
    node.required("b", gemm.b, arch::npu::kDataTypes, "type of B");
    node.required("c", gemm.c, arch::npu::kDataTypes, "type of C");
    node.optional("b_layout", gemm.b_column_major, {{"column_major", true}, {"row_major", false}},
                  "how B lies in DRAM");
    node.done();
}

namespace {

class GemmKind final : public ProblemKind {
  public:
    std::string_view key() const override { return "gemm"; }
    Problem read(ProblemSource& source) const override {
        GemmProblem gemm;
        auto node = source.node.child(key(), "C = A x B");
        read_gemm(node, gemm);
        return {*this, gemm};
    }
    nlohmann::ordered_json describe(const Problem& problem) const override {
        return {{key(), keys_of(problem.get<GemmProblem>(), read_gemm)}};
    }
};

}  // namespace

const ProblemKind& gemm_kind() {
    static const GemmKind kind;
    return kind;
}

}  // namespace tilesim::workloads
