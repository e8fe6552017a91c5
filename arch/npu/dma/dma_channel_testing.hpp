// A DMA channel whose words a stub moves: for tests of the channel itself.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "arch/npu/bench_testing.hpp"
#include "arch/npu/dma/dma_channel.hpp"

namespace tilesim::arch::npu::dma::testing {

using namespace base::literals;
using base::Cycles;
using program::Direction;
using program::Task;

inline constexpr Cycles kTaskStart{17};
inline constexpr Cycles kBubble{3};
inline constexpr Cycles kGrantToStream{11};
inline constexpr std::int64_t kQueueDepth = 2;
inline constexpr std::int64_t kWords = 29;
inline constexpr Cycles kMoved{kWords};  // a word a cycle

// Moves a word a cycle and notes when each descriptor's words begin.
class StubMover final : public Mover, public base::EventHandler {
  public:
    StubMover(DmaChannel& channel, CycleScheduler& scheduler)
        : channel_(channel), scheduler_(scheduler) {}

    std::vector<Cycles> begun;
    std::vector<std::int64_t> descriptors, iterations, buffers, offsets;
    std::int64_t packets_awaited = 0;
    Cycles late{0};               // every transfer takes so much longer than a word a cycle
    Cycles for_memory{0};         // of which it waits for memory
    base::Femtoseconds early{0};  // before the clock's edge: streams may be wider than a word

    void begin(const DescriptorTable::Entry& entry, Cycles from) override {
        begun.push_back(from);
        descriptors.push_back(entry.descriptor.id);
        iterations.push_back(entry.iteration);
        buffers.push_back(entry.descriptor.buffer);
        offsets.push_back(entry.descriptor.offset);
        const Cycles end = from + Cycles{entry.stream_words} + late;
        scheduler_.queue().at(scheduler_.clock().time_of(end) - early, *this);
    }
    void await_packet() override { ++packets_awaited; }
    Cycles memory_wait() const override { return for_memory; }
    void on_event(std::uint64_t, base::Femtoseconds) override {
        channel_.finish_transfer(scheduler_.next_edge());
    }

  private:
    DmaChannel& channel_;
    CycleScheduler& scheduler_;
};

struct Waiter final : tile::LockClient {
    std::vector<Cycles> granted;
    void on_lock_granted(Cycles when) override { granted.push_back(when); }
};

struct ChannelBench : TestBench {
    explicit ChannelBench(Direction direction, std::int64_t words_per_cycle = 1)
        : channel(make(direction, words_per_cycle)) {
        auto stub = std::make_unique<StubMover>(channel, scheduler);
        mover = stub.get();
        channel.set_mover(std::move(stub));
    }
    DmaChannel make(Direction direction, std::int64_t words_per_cycle) {
        return {{{0, 1}, direction, 0},
                {kTaskStart, kBubble, kGrantToStream, kQueueDepth, words_per_cycle},
                scheduler,
                locks,
                table,
                group,
                [this](const program::ChannelId&, Cycles when) { tokens.push_back(when); }};
    }
    void write(std::int64_t id, std::optional<std::int64_t> next = {},
               std::optional<program::LockAction> acquire = {},
               std::optional<program::LockAction> release = {}) {
        program::BufferDescriptor descriptor;
        descriptor.id = id;
        descriptor.length = kWords;
        descriptor.next = next;
        descriptor.acquire = acquire;
        descriptor.release = release;
        table.write(descriptor);
    }
    void push_at(Cycles cycle, Task task) {
        at(cycle, [this, task] { channel.push(task); });
    }
    std::int64_t spent(ChannelState state) const {
        return group.children()[0]->accounts()[0]->spent(static_cast<std::size_t>(state));
    }

    tile::LockUnit locks{{{"first", {0, 1}, 0, 0}, {"second", {0, 1}, 1, 0}}};
    DescriptorTable table{16};
    base::stats::Group group{"tile"};
    std::vector<Cycles> tokens;
    DmaChannel channel;
    StubMover* mover = nullptr;
};

struct SendingChannel : ChannelBench {
    SendingChannel() : ChannelBench(Direction::MM2S) {}
};
struct ReceivingChannel : ChannelBench {
    explicit ReceivingChannel(std::int64_t words_per_cycle = 1)
        : ChannelBench(Direction::S2MM, words_per_cycle) {}
};

}  // namespace tilesim::arch::npu::dma::testing
