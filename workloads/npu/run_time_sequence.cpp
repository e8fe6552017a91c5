#include "workloads/npu/run_time_sequence.hpp"

#include <utility>

#include "arch/base/units.hpp"
#include "workloads/npu/object_fifo.hpp"
#include "workloads/npu/stream_route.hpp"

namespace tilesim::workloads::npu {

using namespace arch::npu;

void place_arguments(program::Program& program, const std::vector<Argument>& arguments) {
    constexpr std::int64_t kPage = 4096;
    std::int64_t address = 0;
    for (const Argument& argument : arguments) {
        program.external_buffers.push_back({argument.name, address, argument.bytes});
        address += arch::base::ceil_div(argument.bytes, kPage) * kPage;
    }
}

program::BufferDescriptor shim_descriptor(std::int64_t id, std::int64_t argument,
                                          std::int64_t offset, std::int64_t length,
                                          std::vector<program::Dimension> dimensions) {
    program::BufferDescriptor descriptor = shaped(length, std::move(dimensions));
    descriptor.id = id;
    descriptor.buffer = argument;
    descriptor.offset = offset * kWordBytes;
    return descriptor;
}

void start_cores(program::Program& program, const std::vector<std::int64_t>& parameters,
                 const std::vector<std::int64_t>& go_locks) {
    for (const program::CoreProgram& core : program.cores) {
        for (std::int64_t i = 0; i < std::ssize(parameters); ++i) {
            program.sequence.push_back(
                program::WriteParameter{core.tile, i, parameters[static_cast<std::size_t>(i)]});
        }
    }
    for (const std::int64_t lock : go_locks) {
        program.sequence.push_back(program::SetLock{lock, 1});
    }
}

void write_and_push(std::vector<program::SequenceOp>& sequence, program::ChannelId channel,
                    program::BufferDescriptor descriptor, std::int64_t repeat) {
    const std::int64_t id = descriptor.id;
    sequence.push_back(program::WriteDescriptor{channel.tile, std::move(descriptor)});
    sequence.push_back(
        program::PushTask{channel, {id, repeat, channel.direction == program::Direction::S2MM}});
}

void wait_for_columns(std::vector<program::SequenceOp>& sequence, const ShimColumns& places,
                      std::int64_t columns, std::int64_t channel) {
    for (std::int64_t column = 0; column < columns; ++column) {
        sequence.push_back(program::WaitToken{takes({places[column], 0}, channel)});
    }
}

}  // namespace tilesim::workloads::npu
