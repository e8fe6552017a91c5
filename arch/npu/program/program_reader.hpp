// A program from its YAML text, the form `print` writes.
//
// Lists are in any order; locks, buffers, kernels and rotations are named and must be declared.
// Errors are reported on the document, with line and path.
#pragma once

#include "arch/base/config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::program {

// `root`: the map that holds external_buffers, locks, buffers, dmas, routes, kernels, cores and
// sequence. The key `program` gives the name. Does not call `root.done()`.
Program read_program(base::config::Node& root);

}  // namespace tilesim::arch::npu::program
