#include "workloads/npu/mlir/registers/register_configuration.hpp"

#include <utility>
#include <variant>

#include "workloads/npu/mlir/registers/register_writes.hpp"
#include "workloads/npu/mlir/registers/registers.hpp"
#include "workloads/npu/mlir/syntax/attributes.hpp"

namespace tilesim::workloads::npu::mlir::registers {

namespace {

void write_all(Lowering& lowering, const Operation& configuration) {
    Registers registers(lowering);
    RegisterWrites writes(lowering, registers);
    Scope scope(&lowering.names);
    walk(region_of(configuration), [&](const Operation& each) {
        lowering.attempt([&] {
            if (each.name == "aiex.npu.write32") {
                writes.write32(each, scope);
            } else if (each.name == "aiex.npu.maskwrite32") {
                writes.maskwrite32(each, scope);
            }
        });
    });
    registers.finish();
}

void begin_with(Lowering& lowering, const program::SequenceOp& operation) {
    if (const auto* write = std::get_if<program::WriteDescriptor>(&operation)) {
        auto& descriptors = lowering.dma_of(write->tile).descriptors;
        std::erase_if(descriptors, [write](const program::BufferDescriptor& descriptor) {
            return descriptor.id == write->descriptor.id;
        });
        descriptors.push_back(write->descriptor);
    } else if (const auto* push = std::get_if<program::PushTask>(&operation)) {
        const program::ChannelId& channel = push->channel;
        lowering.dma_of(channel.tile)
            .starts.push_back({channel.direction, channel.index, push->task});
    } else if (const auto* set = std::get_if<program::SetLock>(&operation)) {
        lowering.program.locks[static_cast<std::size_t>(set->lock)].initial = set->value;
    }
}

}  // namespace

void lower_configuration(Lowering& lowering) {
    for (const Operation& operation : lowering.body()) {
        if (operation.name != kConfiguration) {
            continue;
        }
        write_all(lowering, operation);
        for (const program::SequenceOp& each : std::exchange(lowering.program.sequence, {})) {
            begin_with(lowering, each);
        }
    }
}

}  // namespace tilesim::workloads::npu::mlir::registers
