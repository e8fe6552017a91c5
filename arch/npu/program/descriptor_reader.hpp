// Buffer descriptors and tasks of a program's text.
#pragma once

#include "arch/base/config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::program {

// `program`: declares the buffers and locks it names. `shim`: its buffers are the program's
// arguments.
BufferDescriptor read_descriptor(base::config::Node node, const Program& program, bool shim);

// Does not call `node.done()`.
Task read_task(base::config::Node& node);

}  // namespace tilesim::arch::npu::program
