// How a shim tile's channels move words between DRAM and their stream.
//
// Models:  a descriptor cut into bursts (burst_splitter.hpp); a bounded number of bursts
//          outstanding per channel; a data FIFO between the AXI port and the stream; answers used
//          in order.
// Ignores: descriptors' AxCache (whether the NoC may join requests is `shim.modifiable`) and QoS
//          settings, secure accesses.
// Source:  AMD AM020; the bounds are calibrated, see the device file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "arch/base/ring.hpp"
#include "arch/fabric/fabric.hpp"
#include "arch/memory/port/backing_store.hpp"
#include "arch/npu/dma/burst_splitter.hpp"
#include "arch/npu/dma/channel_flows.hpp"
#include "arch/npu/dma/dma_channel.hpp"

namespace tilesim::arch::npu::dma {

struct ShimContext {
    const ShimConfig& config;
    CycleScheduler& scheduler;
    CycleScheduler& streams;
    fabric::Fabric& fabric;
    std::size_t port;  // the column's fabric port
    const std::vector<program::ExternalBuffer>& buffers;
    memory::port::BackingStore* store;  // functional mode only

    // Physical address of a descriptor's first byte, and its burst length.
    std::int64_t base_of(const program::BufferDescriptor& descriptor) const;
    std::int64_t burst_of(const program::BufferDescriptor& descriptor) const;
};

// MM2S: reads DRAM.
class ShimReader final : public Mover,
                         public stream::StreamSourceClient,
                         public fabric::FabricClient,
                         public base::EventHandler {
  public:
    ShimReader(DmaChannel& channel, const ShimContext& context)
        : channel_(channel), context_(context) {}
    ChannelFlows& flows() { return flows_; }

    void begin(const DescriptorTable::Entry& entry, base::Cycles from) override;
    base::Cycles memory_wait() const override { return memory_wait_; }
    void on_fabric_complete(std::uint64_t tag, base::Femtoseconds now) override;
    void on_stream_pushed(std::int64_t pieces, std::int64_t words, base::Cycles end) override;
    void on_stream_sent(base::Cycles now) override;
    void read_words(std::span<std::uint32_t> into) override;
    void on_event(std::uint64_t tag, base::Femtoseconds now) override;
    CriticalPath* critical_path() override { return channel_.critical_path(); }

  private:
    // `answered`: the place of the burst whose answer has made room, if that has; else words that
    // have left have.
    void issue(std::optional<std::size_t> answered = {});
    bool fifo_has_room(std::int64_t bytes);
    void wake_when_words_leave(std::int64_t bytes);

    DmaChannel& channel_;
    ShimContext context_;
    ChannelFlows flows_;
    stream::StreamFlow* flow_ = nullptr;
    BurstSplitter splitter_;
    std::optional<Burst> pending_;  // cut, but no room for it yet
    struct Sent {
        std::int64_t bytes = 0;
        bool answered = false;
        // Its critical path: that of when words made room for it, or for the burst whose answer
        // did, and since then `reading`, the rest the stream's.
        std::shared_ptr<const CriticalPath> origin{};
        base::Femtoseconds reading{0};
        base::Femtoseconds until{0};
    };
    void go_on_with(const Sent& sent, base::Cycles now);

    base::Ring<Sent> sent_;                       // outstanding bursts
    std::shared_ptr<const CriticalPath> origin_;  // the last one's
    std::uint64_t first_sent_ = 0;                // tag of sent_.front()
    std::int64_t outstanding_ = 0;
    std::int64_t reserved_ = 0;  // bytes of FIFO taken, in flight included
    struct Leaving {             // pieces that leave the FIFO, in cycles of the streams
        std::int64_t pieces = 0;
        std::int64_t words = 0;  // of each
        base::Cycles end{0};     // of the first
    };
    base::Ring<Leaving> leaving_;
    bool waking_ = false;
    base::Cycles room_at_{0};  // while waking, of the streams
    base::Cycles memory_wait_{0};
    base::Cycles stream_idle_since_{0};  // all data delivered so far has been pushed
    AddressGenerator addresses_;         // functional mode
    std::int64_t base_ = 0;
    std::vector<std::byte> bytes_;
};

// S2MM: writes DRAM.
class ShimWriter final : public Mover,
                         public stream::StreamSinkClient,
                         public fabric::FabricClient {
  public:
    ShimWriter(DmaChannel& channel, const ShimContext& context)
        : channel_(channel), context_(context), sink_(context.scheduler, *this) {}
    stream::StreamSink& sink() { return sink_; }

    void begin(const DescriptorTable::Entry& entry, base::Cycles from) override;
    void await_packet() override { sink_.await_packet(); }
    void on_packet(std::optional<std::int64_t> descriptor) override {
        channel_.on_packet(descriptor);
    }
    base::Cycles memory_wait() const override { return memory_wait_; }
    void on_stream_received(base::Cycles now) override;
    CriticalPath* critical_path() override { return channel_.critical_path(); }
    void on_fabric_complete(std::uint64_t tag, base::Femtoseconds now) override;

  private:
    void accept(base::Cycles from);

    DmaChannel& channel_;
    ShimContext context_;
    stream::StreamSink sink_;
    BurstSplitter splitter_;
    Burst burst_;
    bool receiving_ = false;
    bool header_ = false;  // the next words begin with the header of an out-of-order packet
    std::int64_t outstanding_ = 0;
    base::Ring<CriticalPath> sent_;  // what led to each outstanding burst, in order
    base::Cycles memory_wait_{0};
    base::Cycles blocked_since_{0};
};

}  // namespace tilesim::arch::npu::dma
