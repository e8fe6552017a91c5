// The array: builds tiles, channels, streams and the command processor from a program and runs them
// on the common time line.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "arch/base/block.hpp"
#include "arch/base/deadlock.hpp"
#include "arch/base/event_queue.hpp"
#include "arch/base/occupancy.hpp"
#include "arch/base/probe.hpp"
#include "arch/base/stats.hpp"
#include "arch/fabric/fabric.hpp"
#include "arch/memory/port/backing_store.hpp"
#include "arch/memory/port/memory_port.hpp"
#include "arch/npu/control/command_processor.hpp"
#include "arch/npu/core/core_tile.hpp"
#include "arch/npu/dma/dma_channel.hpp"
#include "arch/npu/dma/shim_mover.hpp"
#include "arch/npu/dma/tile_mover.hpp"
#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::array {

// The host's reads of DRAM: their time is part of its copies, they only load the memory.
class HostReads final : public fabric::FabricClient {
  public:
    void on_fabric_complete(std::uint64_t, base::Femtoseconds) override {}
};

class Array final : public control::ControlTarget, public tile::LockListener {
  public:
    // `program` must have been verified and routed and outlive the array, as must the rest.
    // `store`: DRAM's bytes, which makes the run functional; nullptr is timing mode.
    Array(const NpuConfig& config, const fabric::FabricConfig& fabric,
          const program::Program& program, memory::port::MemoryPort& memory,
          base::EventQueue& queue, base::stats::Group& parent, memory::port::BackingStore* store,
          std::string_view name = "npu");

    // Every component's activities go to `listener` from now on.
    void connect(base::ProbeListener* listener);

    // Puts the first events on the time line: launch, or the next configuration, whose first
    // operation is `dispatch` away.
    void start(base::Femtoseconds dispatch);
    std::function<void()> on_finished;  // called once, when `finished` comes to hold
    // The run-time sequence has ended and the shim tiles' tasks are done.
    bool finished() const;
    // The run-time sequence has ended, whatever else is still under way.
    bool sequence_done() const { return command_processor_.done(); }
    // Shim channels with a task that has not ended.
    std::vector<std::string> busy_shim_channels() const;
    // Cycle and time of the end; call when finished.
    base::Cycles finish_cycle() const { return finish_cycle_; }
    base::Femtoseconds finish_time() const { return scheduler_.clock().time_of(finish_cycle_); }
    // What the time has gone by so far, as whoever has done something last has it.
    const CriticalPath& critical_path() const;
    using Use = base::Occupancy<base::Cycles>;
    // Of the shims' channels of a direction that which could have moved its words last, from its
    // first task on.
    Use busiest_shim(program::Direction direction) const;
    // When the first of the shims' channels had one.
    base::Cycles first_task() const;
    // Who waits for whom. Meaningful when no event is left and the array has not finished.
    base::DeadlockReport deadlock() const;
    // Charges every component's present state until now; call once, at the end.
    void finish_statistics();

    const std::vector<std::unique_ptr<core::CoreTile>>& cores() const { return cores_; }
    // Kernel calls of all cores but those that clear C, and words the shims have written to DRAM,
    // so far.
    std::int64_t working_calls() const;
    std::int64_t words_written() const;
    // The bytes of the tiles' memories; nullptr in timing mode.
    tile::TileMemory* memory() { return memory_.get(); }
    // A channel the program uses.
    const dma::DmaChannel& channel(const program::ChannelId& id) const { return *channels_.at(id); }
    // Tasks that waited in one channel's queue, at most, in tiles of this kind.
    std::int64_t most_queued(program::TileKind kind) const;
    const fabric::Fabric& fabric() const { return fabric_; }
    const tile::LockUnit& locks() const { return locks_; }
    // nullptr where the program does not use it.
    const dma::DmaChannel* find_channel(const program::ChannelId& id) const;
    // As a tile's registers hold it; nullptr where nobody has written it.
    const program::BufferDescriptor* find_descriptor(program::TileCoordinate tile, std::int64_t id);
    // Every tile of the device and what is in it, whether the program uses it or not.
    std::vector<base::Block> blocks() const;
    // Hears every completion token beside the command processor; may be empty.
    std::function<void(const program::ChannelId&)> on_token = {};
    // When a component last finished something others see: a descriptor, an operation of the
    // sequence. Cores that only compute do not count.
    base::Cycles last_progress() const;
    // Nothing can ever finish although events go on: whatever does not wait spins in a loop without
    // end that gives nobody anything.
    bool livelocked() const;

    void write_descriptor(const program::WriteDescriptor& operation) override;
    void push_task(const program::PushTask& operation) override;
    void write_parameter(const program::WriteParameter& operation) override;
    void set_lock(const program::SetLock& operation) override;
    bool acquire_lock(const program::LockAction& action, tile::LockClient& client) override;
    void copy(const program::CopyToTile& operation) override;
    bool idle(const program::ChannelId& channel) const override;
    std::int64_t queued(const program::ChannelId& channel) const override;
    void reset_channel(const program::ResetChannel& operation) override;
    void reset_core(const program::ResetCore& operation) override;

    void on_lock_taken(std::int64_t lock) override { tell_lock(lock, "taken"); }
    void on_lock_given(std::int64_t lock) override { tell_lock(lock, "given"); }
    void on_lock_passed(const tile::LockClient& by, const tile::LockClient& to, base::Cycles now,
                        base::Cycles when) override {
        const base::Clock& clock = scheduler_.clock();
        lock_probe_.wakes(by.lock_client(), to.lock_client(), clock.time_of(now),
                          clock.time_of(when));
    }

  private:
    friend class DeadlockFinder;

    base::stats::Group& tile_group(program::TileCoordinate tile);
    dma::DescriptorTable& table(program::TileCoordinate tile);
    std::set<program::ChannelId> channels_used() const;
    void build_channels(memory::port::BackingStore* store);
    void build_channel(const program::ChannelId& id, memory::port::BackingStore* store);
    std::unique_ptr<dma::Mover> make_mover(dma::DmaChannel& channel, program::TileKind kind,
                                           memory::port::BackingStore* store);
    void register_core_ports();
    void build_flows(bool functional);
    void set_merges();
    void build_cores(const memory::port::BackingStore* store);
    std::vector<std::pair<stream::StreamArbiter*, program::SwitchPort>> arbiters_of(
        const program::Route& route);
    stream::StreamArbiter& arbiter(program::TileCoordinate tile, const std::string& name);
    void build_cascades();
    void tell_finished();
    void tell_lock(std::int64_t lock, std::string_view what);
    std::vector<core::CoreTile::LockRole> lock_roles() const;

    const NpuConfig& config_;
    const program::Program& program_;
    CycleScheduler scheduler_;
    CycleScheduler streams_;  // a word a cycle of its clock
    base::stats::Group group_;
    std::map<program::TileCoordinate, std::unique_ptr<base::stats::Group>> tile_groups_;
    tile::LockUnit locks_;
    core::KernelTiming kernel_timing_;
    fabric::Fabric fabric_;
    std::unique_ptr<tile::TileMemory> memory_;  // functional mode
    const memory::port::BackingStore* store_;   // functional mode
    HostReads host_reads_;
    std::map<program::TileCoordinate, dma::DescriptorTable> tables_;
    std::map<program::ChannelId, std::unique_ptr<dma::DmaChannel>> channels_;
    std::vector<const dma::DmaChannel*> writers_;  // of them, from the array to DRAM
    std::map<program::ChannelId, stream::StreamSourceClient*> sources_;
    std::map<program::ChannelId, stream::StreamSink*> sinks_;
    std::map<program::ChannelId, dma::ChannelFlows*> channel_flows_;  // of MM2S channels
    std::map<program::ChannelId, core::CoreOutput*> core_outputs_;
    std::map<std::string, std::unique_ptr<stream::StreamArbiter>> arbiters_;
    std::vector<std::unique_ptr<stream::StreamFlow>> flows_;  // one a route, in the program's order
    std::vector<std::unique_ptr<core::CascadeLink>> cascades_;
    std::vector<std::unique_ptr<core::CoreTile>> cores_;
    control::CommandProcessor command_processor_;
    base::Cycles finish_cycle_{0};
    bool told_finished_ = false;
    base::Probe lock_probe_;
    std::map<std::string, base::Cycles> lock_told_;
};

}  // namespace tilesim::arch::npu::array
