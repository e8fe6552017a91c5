// Static checks of what a program transfers in all: words at both ends of each stream, queues,
// tokens, descriptors the sequence uses.
#pragma once

#include <string>
#include <vector>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::check {

struct TransferFindings {
    std::vector<std::string> errors;    // it cannot do what it says
    std::vector<std::string> warnings;  // it may not do what was meant
};

// Errors: a channel that is given fewer words than it expects, or more than it takes and the
// stream between holds; a token waited for that no task sends; a task that starts or leads to a
// descriptor nobody has written; a descriptor that sends a packet no route takes. Warnings: words
// too many that the stream can hold; a receiver away from the shim that nobody sends anything; a
// stream that ends in the middle of a descriptor; more tasks pushed in a row than a queue holds,
// which drops what comes too early.
// Both ends may cut a stream into different pieces. The program must have passed `verify`.
TransferFindings check_transfers(const program::Program& program, const NpuConfig& config);

}  // namespace tilesim::arch::npu::check
