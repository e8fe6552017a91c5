// Tasks of the run-time sequence: descriptors written for a channel, started, awaited, freed.
//
// Errors:  ReadError where an operation is malformed or names what is not there.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/npu/mlir/descriptors/descriptor.hpp"
#include "workloads/npu/mlir/descriptors/descriptor_chain.hpp"
#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/registers/registers.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::sequence {

using descriptors::DescriptorIds;
using registers::Registers;

class SequenceTasks {
  public:
    SequenceTasks(Lowering& lowering, Registers& registers, DescriptorIds& ids)
        : lowering_(lowering), registers_(registers), ids_(ids) {}

    // %t = aiex.dma_configure_task(%tile, MM2S, 0) {blocks} {issue_token, repeat_count}
    void configure_task(const Operation& operation, Scope& scope);
    // %t = aiex.dma_start_bd_chain @chain(%a, %b) : (types) on (%tile, MM2S, 0), or
    // dma_start_bd_chain_for @chain(...) : (types) for @allocation. The chain's blocks stand in an
    // aie.bd_chain of the device, with names of their own for what is given here.
    void start_bd_chain(const Operation& operation, Scope& scope);
    void start_task(const Operation& operation, Scope& scope);
    void await_task(const Operation& operation, Scope& scope);
    void free_task(const Operation& operation, Scope& scope);
    // %id = aiex.dma_bd_pool_pop(column, row, channel): a descriptor that is free
    void pool_pop(const Operation& operation, Scope& scope);
    // aiex.dma_bd_pool_push(column, row, channel) bd_id %id : i32
    void pool_push(const Operation& operation, Scope& scope);

  private:
    struct Task {
        program::ChannelId channel;
        program::PushTask push;
        std::vector<std::int64_t> descriptors;  // ids, free again when the task is awaited
    };

    // Writes the descriptors of a region's blocks. `names`: what the region sees; `results`: where
    // the task is known from now on.
    Task& add_task(const Operation& operation, const Item& region,
                   const program::ChannelId& channel, const Scope& names, Scope& results);
    Task& task(const Operation& operation, const Scope& scope);
    void push(program::PushTask start);
    void release(const Task& finished);
    // Behind the channel, since 2026: the descriptor of the task's first transfer, and how often
    // the task is repeated, as values.
    struct Heading {
        std::optional<std::int64_t> descriptor;
        std::optional<std::int64_t> repeats;
    };
    static Heading heading_of(const Operation& operation, const Scope& names);
    // @allocation, or (%tile, MM2S, 0)
    std::optional<program::Packet> packet_of(const Operation& operation) const;
    static std::string allocation_of(const Operation& operation);
    // `runs`: of the chain.
    void interleave(const Operation& operation, std::int64_t runs, descriptors::Chain& chain) const;
    program::ChannelId channel_of(Cursor& cursor) const;
    program::ChannelId pool_of(const Operation& operation, const Scope& scope) const;

    Lowering& lowering_;
    Registers& registers_;
    DescriptorIds& ids_;
    std::vector<Task> tasks_;
};

}  // namespace tilesim::workloads::npu::mlir::sequence
