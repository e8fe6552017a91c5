// The operations of the run-time sequence that write registers (npu.write32, maskwrite32,
// blockwrite, writebd, address_patch, push_queue), as writes to Registers.
//
// Errors:  ReadError where an operation is malformed.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/registers/registers.hpp"

namespace tilesim::workloads::npu::mlir::registers {

class RegisterWrites {
  public:
    RegisterWrites(Lowering& lowering, Registers& registers)
        : lowering_(lowering), registers_(registers) {}

    // An argument of the sequence that is a buffer: which one, and where in it.
    struct Argument {
        std::int64_t buffer = 0;
        std::int64_t offset = 0;  // bytes
    };
    // The buffers among a sequence's arguments, in their order; returns those of before.
    std::vector<Argument> set_arguments(std::vector<Argument> arguments) {
        return std::exchange(arguments_, std::move(arguments));
    }

    void write32(const Operation& operation, Scope& scope);
    void maskwrite32(const Operation& operation, Scope& scope);
    // Until the masked register has a value: of a channel's state, how many tasks it has.
    void maskpoll(const Operation& operation, Scope& scope);
    // (%tile, offset): a word the host gets back; nothing in the array follows from it.
    void read_reg(const Operation& operation, Scope& scope);
    void blockwrite(const Operation& operation, Scope& scope);
    // (%address : i32) values %a, %b : i32, i32
    void blockwrite_values(const Operation& operation, Scope& scope);
    // The descriptor's registers, field by field; put together as the words of a block write.
    void writebd(const Operation& operation, Scope& scope);
    void address_patch(const Operation& operation, Scope& scope);
    // (column, row, MM2S : 0) {bd_id, repeat_count, issue_token}
    void push_queue(const Operation& operation, Scope& scope);
    // {metadata = @allocation, bd_id, repeat_count, issue_token}, as in 2023
    void shimtile_push_queue(const Operation& operation, Scope& scope);

  private:
    // The words are one write from this address on.
    void write_block(const std::vector<std::uint32_t>& words, const Operation& operation,
                     const Scope& scope);
    void push(const program::ChannelId& channel, const program::Task& task, Location where);
    // A buffer behind the arguments is one the host adds: a trace's, or of a sequence without any.
    const Argument& argument(std::size_t index);
    void count_write(bool has_effect);

    Lowering& lowering_;
    Registers& registers_;
    std::vector<Argument> arguments_;
};

}  // namespace tilesim::workloads::npu::mlir::registers
