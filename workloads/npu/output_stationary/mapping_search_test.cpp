#include "workloads/npu/output_stationary/mapping_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "arch/base/config.hpp"
#include "arch/npu/npu_config.hpp"
#include "workloads/catalogue/catalogue.hpp"

namespace tilesim::workloads::npu::output_stationary {
namespace {

CandidateSet candidates(const std::string& scenario) {
    const std::string file =
        std::string{TILESIM_SOURCE_DIR} + "/configs/scenarios/" + scenario + ".yaml";
    auto document = arch::base::config::Document::load(file);
    auto root = document.root();
    std::string name;
    root.required("device", name, "");
    GemmProblem gemm;
    auto workload = root.child("workload", "");
    auto keys = workload.child("gemm", "");
    read_gemm(keys, gemm);
    const Device device = catalogue::load_device(name, {});
    return candidates_of(gemm, device.get<arch::npu::NpuConfig>(), device.memory);
}

bool has(const CandidateSet& set, std::int64_t m, std::int64_t k, std::int64_t n) {
    return std::any_of(set.candidates.begin(), set.candidates.end(), [&](const TileCandidate& c) {
        return c.mapping.m_ct == m && c.mapping.k_ct == k && c.mapping.n_ct == n;
    });
}

TEST(MappingSearch, KeepsThePublishedBestMappings) {
    EXPECT_TRUE(has(candidates("xdna2_gemm_int8_int8"), 144, 72, 144));
    EXPECT_TRUE(has(candidates("xdna2_gemm_int8_int16"), 128, 72, 112));
    EXPECT_TRUE(has(candidates("xdna2_gemm_int8_int32"), 96, 64, 96));
    EXPECT_TRUE(has(candidates("xdna2_gemm_bf16"), 112, 48, 96));
    EXPECT_TRUE(has(candidates("xdna_gemm_int8_int8"), 112, 112, 112));
    EXPECT_TRUE(has(candidates("xdna_gemm_int8_int16"), 96, 112, 96));
    EXPECT_TRUE(has(candidates("xdna_gemm_int8_int32"), 80, 88, 96));
    EXPECT_TRUE(has(candidates("xdna_gemm_bf16"), 96, 56, 96));
}

TEST(MappingSearch, NoCandidateIsWorseThanAnotherInEveryRespect) {
    const CandidateSet set = candidates("xdna_functional");
    EXPECT_GT(set.legal, static_cast<std::int64_t>(set.candidates.size()));
    for (const TileCandidate& a : set.candidates) {
        for (const TileCandidate& b : set.candidates) {
            const bool better = a.bounds.compute_ns < b.bounds.compute_ns &&
                                a.bounds.stream_ns < b.bounds.stream_ns &&
                                a.bounds.dram_bytes < b.bounds.dram_bytes &&
                                a.run_bytes > b.run_bytes &&
                                a.mapping.c_buffers >= b.mapping.c_buffers;
            EXPECT_FALSE(better);
        }
    }
}

}  // namespace
}  // namespace tilesim::workloads::npu::output_stationary
