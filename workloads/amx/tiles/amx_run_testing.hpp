// What tests of generated AMX programs share: problems, a run on a socket, the check of a product.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "arch/amx/core/tile_machine.hpp"
#include "arch/amx/socket/socket.hpp"
#include "arch/memory/controller/memory_system.hpp"
#include "workloads/amx/tiles/amx_data.hpp"
#include "workloads/amx/tiles/amx_gemm.hpp"
#include "workloads/amx/tiles/mapping_problems.hpp"

namespace tilesim::workloads::amx::tiles {

// With private caches as by default: 2 MiB of L2.
inline arch::amx::AmxConfig socket_of(std::int64_t cores) {
    arch::amx::AmxConfig socket;
    socket.cores = cores;
    return socket;
}

inline GemmProblem gemm(std::int64_t m, std::int64_t k, std::int64_t n,
                        DataType in = DataType::Int8, DataType out = DataType::Int32) {
    GemmProblem problem;
    problem.m = m;
    problem.k = k;
    problem.n = n;
    problem.a = problem.b = in;
    problem.c = out;
    return problem;
}

struct Outcome {
    std::int64_t cycles = 0;
    arch::amx::core::CoreCounters counters;  // of core 0
};

inline Outcome run(const LoweredAmx& lowered, arch::memory::port::BackingStore* store,
                   const arch::amx::AmxConfig& config = {}) {
    arch::base::EventQueue queue;
    arch::base::stats::Group root("");
    arch::memory::controller::MemorySystem memory(
        arch::memory::device::MemoryConfig{}, arch::amx::socket::Uncore::memory_lookahead(config),
        queue, root);
    std::vector<std::unique_ptr<arch::amx::core::TileMachine>> machines;
    std::vector<arch::amx::core::InstructionObserver*> observers;
    for (const arch::amx::program::Program& program : lowered.programs) {
        if (store != nullptr) {
            machines.push_back(std::make_unique<arch::amx::core::TileMachine>(program, *store));
            observers.push_back(machines.back().get());
        }
    }
    arch::amx::socket::Socket socket(config, lowered.programs, observers, memory, queue);
    for (const AmxRegion& region : lowered.warm) {
        socket.warm(static_cast<std::size_t>(region.thread), region.address, region.bytes,
                    arch::amx::caches::Level::L2, false);
    }
    socket.start();
    while (!socket.finished() && !queue.empty()) {
        queue.run_until(queue.next_time());
    }
    EXPECT_TRUE(socket.finished());
    EXPECT_EQ(socket.fault(), "");
    return {socket.finish_cycle(), socket.core(0).counters()};
}

// The product is right, and moving bytes changes no cycle.
inline void expect_product(const GemmProblem& problem, const AmxMapping& mapping) {
    ASSERT_EQ(problems_of(problem, mapping, 56), std::vector<std::string>{});
    const LoweredAmx lowered = lower(problem, mapping);
    arch::memory::port::BackingStore store;
    const AmxData data(problem, mapping, lowered, 7);
    data.fill(store);
    const std::int64_t cycles = run(lowered, &store).cycles;
    const ProductCheck check = data.check(store);
    EXPECT_TRUE(check.match) << check.first_mismatch;
    EXPECT_EQ(check.checked, problem.m * problem.n);
    EXPECT_EQ(cycles, run(lowered, nullptr).cycles);
}

inline AmxMapping mapping_with(AmxMapping::Order order) {
    AmxMapping mapping;
    mapping.order = order;
    return mapping;
}

// Weights of int8 in products of bf16.
inline GemmProblem narrow(std::int64_t m, std::int64_t k, std::int64_t n) {
    GemmProblem problem = gemm(m, k, n, DataType::Bf16, DataType::F32);
    problem.b = DataType::Int8;
    return problem;
}

}  // namespace tilesim::workloads::amx::tiles
