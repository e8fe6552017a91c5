#include "workloads/npu/mlir/design/arguments.hpp"

#include <fmt/format.h>

#include <variant>

#include "arch/npu/program/program_work.hpp"

namespace tilesim::workloads::npu::mlir::design {

namespace {

// External buffers lie apart, each on pages of its own, as a driver places them.
constexpr std::int64_t kExternalAlignment = 64 * 1024;

}  // namespace

// The host allocates what a launch hands over, and only its transfers say how much they need of it:
// arguments without a size, traces that are to lie behind the data.
void grow_arguments(Lowering& lowering) {
    auto& buffers = lowering.program.external_buffers;
    for (const program::SequenceOp& operation : lowering.program.sequence) {
        const auto* write = std::get_if<program::WriteDescriptor>(&operation);
        if (write == nullptr || lowering.config.kind_of(write->tile) != program::TileKind::Shim) {
            continue;
        }
        const program::BufferDescriptor& descriptor = write->descriptor;
        const auto index = static_cast<std::size_t>(descriptor.buffer);
        const std::int64_t end = descriptor.offset + program::span_of(descriptor);
        if (index >= buffers.size() || end <= buffers[index].bytes) {
            continue;
        }
        lowering.note(
            fmt::format("argument {} is larger than its type says: a transfer of the sequence "
                        "reaches further",
                        buffers[index].name));
        buffers[index].bytes = end;
    }
}

void place_external_buffers(Lowering& lowering) {
    std::int64_t end = 0;
    for (program::ExternalBuffer& buffer : lowering.program.external_buffers) {
        buffer.address = end;
        end += (buffer.bytes + kExternalAlignment - 1) / kExternalAlignment * kExternalAlignment;
    }
}

}  // namespace tilesim::workloads::npu::mlir::design
