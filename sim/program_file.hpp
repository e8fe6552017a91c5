// A hand-written program with what its external buffers hold before and must hold after.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/memory/backing_store.hpp"
#include "arch/npu/program.hpp"
#include "workloads/gemm_data.hpp"

namespace tilesim::sim {

struct ProgramWorkload {
    // 32-bit words of an external buffer; indexes Program::external_buffers.
    struct Fill {
        enum class Values { Zeros, Counting, Random } values = Values::Counting;
        std::int64_t buffer = 0;
    };
    // The buffer begins with the words of another, or with those listed.
    struct Expectation {
        std::int64_t buffer = 0;
        std::int64_t equals = -1;
        std::vector<std::int64_t> words;
    };
    arch::npu::Program program;
    std::vector<Fill> fills;
    std::vector<Expectation> expectations;
    std::vector<std::string> notes;  // what reading it assumed
    std::string source_text;         // of a file beside the scenario, for the provenance
};

// The keys `fill` and `expect`, for a program that has been read.
void read_contents(arch::base::config::Node& root, ProgramWorkload& workload);

ProgramWorkload read_program_workload(arch::base::config::Node& root);

void fill_buffers(const ProgramWorkload& workload, std::uint64_t seed,
                  arch::memory::BackingStore& store);
workloads::ProductCheck check_buffers(const ProgramWorkload& workload,
                                      const arch::memory::BackingStore& store);

}  // namespace tilesim::sim
