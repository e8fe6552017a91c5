// Parts of a program wherever they stand: set up with the array, or written and pushed by the
// run-time sequence.
#pragma once

#include <variant>

#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::program {

// action(tile, descriptor), those set up first.
template <class Action>
void for_each_descriptor(const Program& program, Action action) {
    for (const TileDma& dma : program.dmas) {
        for (const BufferDescriptor& descriptor : dma.descriptors) {
            action(dma.tile, descriptor);
        }
    }
    for (const SequenceOp& op : program.sequence) {
        if (const auto* write = std::get_if<WriteDescriptor>(&op)) {
            action(write->tile, write->descriptor);
        }
    }
}

// action(channel, task), the same.
template <class Action>
void for_each_task(const Program& program, Action action) {
    for (const TileDma& dma : program.dmas) {
        for (const TileDma::Start& start : dma.starts) {
            action(ChannelId{dma.tile, start.direction, start.channel}, start.task);
        }
    }
    for (const SequenceOp& op : program.sequence) {
        if (const auto* push = std::get_if<PushTask>(&op)) {
            action(push->channel, push->task);
        }
    }
}

}  // namespace tilesim::arch::npu::program
