#include "workloads/npu/output_stationary/mapping_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "workloads/npu/program_run_testing.hpp"

namespace tilesim::workloads::npu::output_stationary {
namespace {

GemmProblem gemm(std::int64_t m, std::int64_t k, std::int64_t n, DataType a, DataType c) {
    return {m, k, n, a, a, c, true};
}

CandidateSet candidates(const std::string& device, const GemmProblem& problem) {
    const Machine machine =
        load_machine(device, "ddr5_5600");
    return candidates_of(problem, machine.npu, machine.memory);
}

bool has(const CandidateSet& set, std::int64_t m, std::int64_t k, std::int64_t n) {
    return std::any_of(set.candidates.begin(), set.candidates.end(), [&](const TileCandidate& c) {
        return c.mapping.m_ct == m && c.mapping.k_ct == k && c.mapping.n_ct == n;
    });
}

TEST(MappingSearch, KeepsThePublishedBestMappings) {
    EXPECT_TRUE(has(candidates("xdna2", gemm(4032, 4320, 4608, DataType::Int8, DataType::Int8)), 144, 72, 144));
    EXPECT_TRUE(has(candidates("xdna2", gemm(4096, 4320, 4480, DataType::Int8, DataType::Int16)), 128, 72, 112));
    EXPECT_TRUE(has(candidates("xdna2", gemm(4224, 4224, 4608, DataType::Int8, DataType::Int32)), 96, 64, 96));
    EXPECT_TRUE(has(candidates("xdna2", gemm(4032, 4224, 4608, DataType::Bf16, DataType::Bf16)), 112, 48, 96));
    EXPECT_TRUE(has(candidates("xdna", gemm(4032, 4032, 4032, DataType::Int8, DataType::Int8)), 112, 112, 112));
    EXPECT_TRUE(has(candidates("xdna", gemm(4224, 4032, 4224, DataType::Int8, DataType::Int16)), 96, 112, 96));
    EXPECT_TRUE(has(candidates("xdna", gemm(4160, 4224, 4224, DataType::Int8, DataType::Int32)), 80, 88, 96));
    EXPECT_TRUE(has(candidates("xdna", gemm(4224, 4032, 4224, DataType::Bf16, DataType::Bf16)), 96, 56, 96));
}

TEST(MappingSearch, NoCandidateIsWorseThanAnotherInEveryRespect) {
    const CandidateSet set = candidates("xdna", gemm(256, 256, 256, DataType::Int8, DataType::Int32));
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
