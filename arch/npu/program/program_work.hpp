// How much a program does in all, counted from its texts: what a run's progress is measured by.
#pragma once

#include <cstdint>
#include <optional>

#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::program {

struct ProgramWork {
    std::int64_t calls = 0;  // of kernels but those that clear, all cores together
    // Of descriptors, by the tasks that the sequence pushes to the shim channel with fewest of
    // them.
    std::int64_t write_runs = 0;
    std::int64_t words_written = 0;  // to external buffers, by the tasks the sequence pushes
};

// Nothing where a core runs for ever, or a task's chain has no end.
std::optional<ProgramWork> work_of(const Program& program);

// Bytes from the first word a descriptor touches to behind the last one, in all its iterations.
std::int64_t span_of(const BufferDescriptor& descriptor);

}  // namespace tilesim::arch::npu::program
