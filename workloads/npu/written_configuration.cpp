#include "workloads/npu/written_configuration.hpp"

#include "arch/npu/check/ready_program.hpp"
#include "arch/npu/control/configuration_writes.hpp"

namespace tilesim::workloads::npu {

using namespace arch::npu;

std::int64_t write_configuration(program::Program& program, const NpuConfig& config) {
    program::Program alone = program;
    alone.then.clear();
    const std::int64_t writes =
        control::configuration_writes(check::prepare(std::move(alone), config).program(), config);
    program.sets_itself_up = true;
    program.sequence.insert(program.sequence.begin(), program::WriteRegisters{writes});
    return writes;
}

}  // namespace tilesim::workloads::npu
