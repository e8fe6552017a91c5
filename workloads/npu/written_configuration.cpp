#include "workloads/npu/written_configuration.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

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

std::string note_of_writes(const std::vector<std::int64_t>& writes) {
    return fmt::format(
        "every run sets the array up in its sequence, in {} register writes; what the words of a "
        "core's program take, and the resets before them, is not known and not counted",
        fmt::join(writes, " and "));
}

}  // namespace tilesim::workloads::npu
