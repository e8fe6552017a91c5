#include "workloads/npu/uncomputed_kernels.hpp"

#include <gmock/gmock.h>

namespace tilesim::workloads::npu {
namespace {

namespace program = arch::npu::program;

TEST(UncomputedKernels, AreThoseOfFixedTimeThatAreCalledInWhicheverLoop) {
    program::Program program;
    for (const auto& [name, kind] : {std::pair{"called", program::KernelKind::Fixed},
                                     {"zero", program::KernelKind::Zero},
                                     {"instructions", program::KernelKind::Inline},
                                     {"never", program::KernelKind::Fixed},
                                     {"in_a_loop", program::KernelKind::Fixed}}) {
        program::Kernel kernel;
        kernel.name = name;
        kernel.kind = kind;
        program.kernels.push_back(kernel);
    }
    program::LoopOp loop;
    loop.body = {{program::CallOp{4, {}, {}}}};
    program.cores = {{{0, 2},
                      {},
                      {{program::CallOp{0, {}, {}}},
                       {program::CallOp{1, {}, {}}},
                       {program::CallOp{2, {}, {}}},
                       {loop}}}};
    EXPECT_THAT(uncomputed_kernels(program), testing::ElementsAre("called", "in_a_loop"));
}

}  // namespace
}  // namespace tilesim::workloads::npu
