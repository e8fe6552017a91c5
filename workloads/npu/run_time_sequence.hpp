// What every dataflow hands the command processor: arguments in DRAM, and the steps of a run-time
// sequence that tell cores their counts and start them, move an argument and wait for results.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/npu/program/program.hpp"
#include "workloads/npu/shim_columns.hpp"

namespace tilesim::workloads::npu {

// A matrix in DRAM, the program's argument.
struct Argument {
    const char* name;
    std::int64_t bytes;
};
// Adds them, each at a page of its own.
void place_arguments(arch::npu::program::Program& program, const std::vector<Argument>& arguments);

// How often a descriptor's offset advances before it starts again (aie-rt: 6 bits).
inline constexpr std::int64_t kIterations = 64;

// A shim's descriptor; `offset` in words.
arch::npu::program::BufferDescriptor shim_descriptor(
    std::int64_t id, std::int64_t argument, std::int64_t offset, std::int64_t length,
    std::vector<arch::npu::program::Dimension> dimensions = {});

// Writes `parameters` to every core of the program, from its parameter 0 on, and lets the cores go:
// each waits for one of the `go` locks.
void start_cores(arch::npu::program::Program& program, const std::vector<std::int64_t>& parameters,
                 const std::vector<std::int64_t>& go_locks);

// Writes a descriptor of the channel's shim and pushes a task that runs it `repeat` times. What
// ends in DRAM (S2MM) sends a token.
void write_and_push(std::vector<arch::npu::program::SequenceOp>& sequence,
                    arch::npu::program::ChannelId channel,
                    arch::npu::program::BufferDescriptor descriptor, std::int64_t repeat = 1);

// Waits for a token of this S2MM channel of each of the first `columns` shims of `places`.
void wait_for_columns(std::vector<arch::npu::program::SequenceOp>& sequence,
                      const ShimColumns& places, std::int64_t columns, std::int64_t channel);

}  // namespace tilesim::workloads::npu
