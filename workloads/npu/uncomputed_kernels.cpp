#include "workloads/npu/uncomputed_kernels.hpp"

#include <cstdint>
#include <set>
#include <variant>

namespace tilesim::workloads::npu {

namespace program = arch::npu::program;

namespace {

void add_called(const std::vector<program::CoreOp>& script, std::set<std::int64_t>& called) {
    for (const program::CoreOp& op : script) {
        if (const auto* loop = std::get_if<program::LoopOp>(&op.op)) {
            add_called(loop->body, called);
        } else if (const auto* call = std::get_if<program::CallOp>(&op.op)) {
            called.insert(call->kernel);
        }
    }
}

}  // namespace

std::vector<std::string> uncomputed_kernels(const program::Program& program) {
    std::set<std::int64_t> called;
    for (const program::CoreProgram& core : program.cores) {
        add_called(core.script, called);
    }
    std::vector<std::string> names;
    for (const std::int64_t number : called) {
        const program::Kernel& kernel = program.kernels[static_cast<std::size_t>(number)];
        if (kernel.kind == program::KernelKind::Fixed) {
            names.push_back(kernel.name);
        }
    }
    return names;
}

}  // namespace tilesim::workloads::npu
