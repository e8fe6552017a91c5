// How the channels of a core or memory tile move words between the tile's memory and their stream:
// one a cycle.
//
// Ignores: memory bank conflicts (second order on silicon: a lost arbitration costs a DMA nothing).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "arch/npu/dma/address_generator.hpp"
#include "arch/npu/dma/channel_flows.hpp"
#include "arch/npu/dma/dma_channel.hpp"
#include "arch/npu/tile/tile_memory.hpp"

namespace tilesim::arch::npu::dma {

// MM2S of a core or memory tile.
class TileReader final : public Mover, public stream::StreamSourceClient {
  public:
    TileReader(DmaChannel& channel, tile::TileMemory* memory)
        : channel_(channel), memory_(memory) {}
    ChannelFlows& flows() { return flows_; }

    void begin(const DescriptorTable::Entry& entry, base::Cycles from) override;
    void on_stream_pushed(std::int64_t pieces, std::int64_t words, base::Cycles end) override {
        channel_.words_pass(pieces * words, end - base::Cycles{words});
    }
    void on_stream_sent(base::Cycles now) override { channel_.finish_transfer(now); }
    CriticalPath* critical_path() override { return channel_.critical_path(); }
    void read_words(std::span<std::uint32_t> into) override;

  private:
    DmaChannel& channel_;
    tile::TileMemory* memory_;
    ChannelFlows flows_;
    AddressGenerator addresses_;
    std::int64_t buffer_ = 0;
    std::int64_t offset_ = 0;
};

// S2MM of a core or memory tile.
class TileWriter final : public Mover, public stream::StreamSinkClient {
  public:
    TileWriter(DmaChannel& channel, CycleScheduler& scheduler, tile::TileMemory* memory)
        : channel_(channel), memory_(memory), sink_(scheduler, *this) {}
    stream::StreamSink& sink() { return sink_; }

    void begin(const DescriptorTable::Entry& entry, base::Cycles from) override;
    void await_packet() override { sink_.await_packet(); }
    void on_packet(std::optional<std::int64_t> descriptor) override {
        channel_.on_packet(descriptor);
    }
    void on_words_taken(std::int64_t words, base::Cycles start) override {
        channel_.words_pass(words, start);
    }
    void on_stream_received(base::Cycles now) override;
    CriticalPath* critical_path() override { return channel_.critical_path(); }

  private:
    DmaChannel& channel_;
    tile::TileMemory* memory_;
    stream::StreamSink sink_;
    const DescriptorTable::Entry* entry_ = nullptr;
};

}  // namespace tilesim::arch::npu::dma
