#include "workloads/npu/training/offload_mapping.hpp"

#include "arch/npu/npu_config.hpp"

namespace tilesim::workloads::npu::training {

void read_keys(arch::base::config::Node& node, OffloadMapping& offload) {
    using Reconfiguration = OffloadMapping::Reconfiguration;
    node.optional(
        "reconfiguration", offload.reconfiguration,
        {{"minimal", Reconfiguration::Minimal}, {"whole_array", Reconfiguration::WholeArray}},
        "what a new problem size costs");
    node.optional("b_layout", offload.b_column_major,
                  {{"column_major", true}, {"row_major", false}}, "how the array reads B");
    node.optional("operands", offload.operands, arch::npu::kDataTypes, "type of A and B");
    node.optional("result", offload.result, arch::npu::kDataTypes, "type of C");
    node.optional("parallel_copies", offload.parallel_copies,
                  "whether all cores copy, or one does");
    node.optional("parallel_operators", offload.parallel_operators,
                  "whether all cores share every operator, or only those llm.c shares out");
    node.done();
}

GemmProblem gemm_of(const TrainingProduct& product, const OffloadMapping& offload) {
    return {product.m,
            product.k,
            product.n,
            offload.operands,
            offload.operands,
            offload.result,
            offload.b_column_major};
}

}  // namespace tilesim::workloads::npu::training
