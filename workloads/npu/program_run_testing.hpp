// For tests: a device and its memory from configs/devices, and a lowered product run on them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>

#include "arch/base/config.hpp"
#include "arch/fabric/fabric_config.hpp"
#include "arch/memory/controller/memory_config_reader.hpp"
#include "arch/memory/controller/memory_system.hpp"
#include "arch/npu/array/array.hpp"
#include "arch/npu/stream/router.hpp"
#include "workloads/product_check.hpp"

namespace tilesim::workloads::npu {

struct Machine {
    arch::npu::NpuConfig npu;
    arch::fabric::FabricConfig fabric;
    arch::memory::device::MemoryConfig memory;
};

inline Machine load_machine(const std::string& device, const std::string& dram) {
    const auto load = [](const std::string& name) {
        return arch::base::config::Document::load(
            fmt::format("{}/configs/devices/{}.yaml", TILESIM_SOURCE_DIR, name));
    };
    auto device_file = load(device);
    auto root = device_file.root();
    auto memory_file = load(dram);
    return {arch::npu::read_npu_config(root.child("npu", "")),
            arch::fabric::read_fabric_config(root.child("fabric", "")),
            arch::memory::controller::read_memory_config(memory_file.root().child("memory", ""))};
}

struct Outcome {
    std::int64_t cycles = 0;
    ProductCheck check;
    arch::memory::port::MemoryTotals totals;
};

// Fills the operands and checks the product of a functional run; without, a run is timing only.
struct Bytes {
    std::function<void(arch::memory::port::BackingStore&)> fill;
    std::function<ProductCheck(arch::memory::port::BackingStore&)> check;
};

inline Outcome run_program(const Machine& m, arch::npu::program::Program& program,
                           const std::optional<Bytes>& bytes) {
    arch::npu::stream::route(program, m.npu);
    arch::base::EventQueue queue;
    arch::base::stats::Group root("");
    arch::memory::port::BackingStore store;
    if (bytes) {
        bytes->fill(store);
    }
    arch::memory::controller::MemorySystem memory(m.memory, m.fabric.request_latency, queue, root);
    arch::npu::array::Array array(m.npu, m.fabric, program, memory, queue, root,
                                  bytes ? &store : nullptr);
    array.start(m.npu.command_processor.dispatch);
    while (!array.finished() && !queue.empty()) {
        queue.run_until(queue.next_time());
    }
    array.finish_statistics();
    EXPECT_TRUE(array.finished()) << array.deadlock().text();
    Outcome outcome;
    outcome.cycles = array.finish_cycle().count();
    outcome.totals = memory.totals();
    if (bytes) {
        outcome.check = bytes->check(store);
    }
    return outcome;
}

}  // namespace tilesim::workloads::npu
