// Operations of the run-time sequence on the array that move nothing: waits for channels, locks,
// run-time parameters, words of registers and of cores' memories.
//
// Errors:  ReadError where one names what is not there.
#pragma once

#include <cstdint>

#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/registers/registers.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::sequence {

using registers::Registers;

class ArrayCommands {
  public:
    ArrayCommands(Lowering& lowering, Registers& registers)
        : lowering_(lowering), registers_(registers) {}

    void dma_wait(const Operation& operation, Scope&);
    void sync(const Operation& operation, Scope& scope);
    void set_lock(const Operation& operation, Scope& scope);
    // (@buffer, index, value); before 2025 (column, row, index, value) {buffer_sym_name = "x"}
    void rtp_write(const Operation& operation, Scope& scope);
    // aiex.buffer_clear(%tile, offset, words): zeros into a core's data memory.
    void buffer_clear(const Operation& operation, Scope& scope);
    // What the host hands over besides the arguments: the command processor adds it to words of the
    // array. Where it decides how often a core's loop runs, its value matters.
    void scratchpad(const Operation& operation, Scope&);
    // aiex.control_packet {address, opcode, stream_id, data}: a packet that writes registers.
    // Opcodes 0 and 2 write `data`, word after word; 1 reads and changes nothing.
    void control_packet(const Operation& operation, Scope&);

  private:
    void wait(const program::ChannelId& channel);
    bool bounds_a_loop(program::TileCoordinate tile, std::int64_t parameter) const;

    Lowering& lowering_;
    Registers& registers_;
};

}  // namespace tilesim::workloads::npu::mlir::sequence
