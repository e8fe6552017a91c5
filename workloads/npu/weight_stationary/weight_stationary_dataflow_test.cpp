#include "workloads/npu/weight_stationary/weight_stationary_dataflow.hpp"

#include <gtest/gtest.h>

#include <string>

#include "workloads/catalogue/catalogue.hpp"
#include "workloads/gemm.hpp"

namespace tilesim::workloads::npu::weight_stationary {
namespace {

using arch::base::config::Document;
using arch::npu::DataType;

// A GEMM on XDNA2, whose tiles of B have 32 columns in each of eight columns of cores.
Case case_of(std::int64_t n) {
    Case a_case;
    a_case.device = catalogue::load_device("xdna2", {});
    a_case.problem = Problem{
        gemm_kind(), GemmProblem{64, 128, n, DataType::Int8, DataType::Int8, DataType::Int32}};
    return a_case;
}

Mapping mapping() {
    Document document =
        Document::parse("weight_stationary: {m_ct: 16, k_ct: 32, n_ct: 32}\n", "mapping.yaml");
    auto root = document.root();
    return weight_stationary_dataflow().read(root);
}

TEST(WeightStationaryDataflow, RunsAGemmWhereTheMappingNamesItOnly) {
    Case a_case = case_of(256);
    EXPECT_EQ(catalogue::dataflow_of(a_case)->name(), "output_stationary");
    a_case.mapping = mapping();
    EXPECT_EQ(catalogue::dataflow_of(a_case), &weight_stationary_dataflow());
    EXPECT_TRUE(weight_stationary_dataflow().refusals(a_case).empty());
}

TEST(WeightStationaryDataflow, ResultsPrintEveryKey) {
    EXPECT_EQ(weight_stationary_dataflow().describe(mapping()).dump(),
              R"({"weight_stationary":{"m_ct":16,"k_ct":32,"n_ct":32,"reduction":"cascade",)"
              R"("a_buffers":2,"c_buffers":2,"columns":0,"rows":0}})");
}

}  // namespace
}  // namespace tilesim::workloads::npu::weight_stationary
