// Runs a program without time, in any order its locks, queues and streams allow: the oracle of the
// lowering's tests.
//
// Descriptors move whole: an MM2S descriptor puts its words on its streams once every receiver has
// used up what it was sent before; an S2MM descriptor takes its words once all have arrived, and a
// receiver of packets out of order those of the packet that was sent first. Which
// of the agents that can move does so follows from a seed, so a program that is right only for
// some relative speeds shows it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "arch/memory/port/backing_store.hpp"
#include "arch/npu/dma/address_generator.hpp"
#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/descriptor_chain.hpp"
#include "arch/npu/program/program.hpp"
#include "arch/npu/tile/tile_memory.hpp"

namespace tilesim::workloads::npu::output_stationary {

class ProgramInterpreter {
  public:
    // A kernel call: the operands' buffers, in the call's order, and the core's tile.
    using Compute = std::function<void(const arch::npu::program::Kernel& kernel,
                                       arch::npu::program::TileCoordinate tile,
                                       const std::vector<std::span<std::byte>>& operands)>;
    // An S2MM descriptor of a core or memory tile has filled its buffer.
    using Received = std::function<void(const arch::npu::program::ChannelId& channel,
                                        std::span<const std::byte> buffer)>;

    ProgramInterpreter(const arch::npu::NpuConfig& config,
                       const arch::npu::program::Program& program,
                       arch::memory::port::BackingStore& store, std::uint64_t seed);

    Compute on_call;  // what kernels do; by default what the hardware's do
    Received on_received;

    // Runs until nothing can move. True when the sequence and all cores have finished.
    bool run();
    // Broken rules: pushes on full queues, descriptors rewritten while in use.
    const std::vector<std::string>& faults() const { return faults_; }

  private:
    struct Stream {  // towards one destination
        std::deque<std::uint32_t> words;
    };
    struct Channel {
        arch::npu::program::ChannelId id;
        std::deque<arch::npu::program::Task> queue;
        std::optional<arch::npu::program::RunningTask> task;
        std::int64_t descriptor = 0;  // of the running task
        bool acquired = false;
        std::vector<std::size_t> to;      // streams, MM2S
        std::optional<std::size_t> from;  // stream, S2MM
        std::int64_t tokens = 0;
    };
    struct Frame {
        const std::vector<arch::npu::program::CoreOp>* body;
        std::size_t next;
        std::int64_t runs_left;
    };
    struct Core {
        const arch::npu::program::CoreProgram* script;
        std::vector<Frame> stack;
        std::vector<std::size_t> rotation;
        std::map<std::int64_t, std::int64_t> parameters;
    };

    void connect();
    bool try_acquire(const arch::npu::program::LockAction& action);
    void shuffle();
    bool step_agent(std::size_t agent);
    bool step(Channel& channel);
    bool step(Core& core);
    bool step_sequence();
    void execute(const arch::npu::program::SequenceOp& op);
    bool execute(Core& core, const arch::npu::program::CoreOp& op);
    void call(Core& core, const arch::npu::program::CallOp& op);
    bool receivers_ready(const Channel& channel) const;
    void send(const Channel& channel, const arch::npu::program::BufferDescriptor& descriptor);
    void receive(const Channel& channel, const arch::npu::program::BufferDescriptor& descriptor);
    void finish_descriptor(Channel& channel,
                           const arch::npu::program::BufferDescriptor& descriptor);
    bool in_use(arch::npu::program::TileCoordinate tile, std::int64_t descriptor) const;
    const arch::npu::program::BufferDescriptor& find(const Channel& channel) const;

    const arch::npu::NpuConfig& config_;
    const arch::npu::program::Program& program_;
    arch::memory::port::BackingStore& store_;
    std::mt19937_64 random_;
    arch::npu::tile::TileMemory memory_;
    std::vector<std::int64_t> locks_;
    std::vector<Stream> streams_;
    std::vector<Channel> channels_;
    std::map<arch::npu::program::ChannelId, std::size_t> channel_index_;
    std::map<arch::npu::program::TileCoordinate,
             std::map<std::int64_t, arch::npu::program::BufferDescriptor>>
        table_;
    std::vector<Core> cores_;
    std::size_t next_operation_ = 0;
    std::vector<std::size_t> order_;  // agents, most eager first
    std::vector<std::string> faults_;
};

}  // namespace tilesim::workloads::npu::output_stationary
