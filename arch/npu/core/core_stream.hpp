// The stream ports a core itself reads and writes, one word a cycle each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arch/npu/stream/stream_flow.hpp"

namespace tilesim::arch::npu::core {

class CoreStreamClient {
  public:
    // The transfer the core began last has ended.
    virtual void on_core_stream(base::Cycles now) = 0;

  protected:
    ~CoreStreamClient() = default;
};

class CoreInput final : public stream::StreamSinkClient {
  public:
    CoreInput(CycleScheduler& scheduler, CoreStreamClient& core)
        : core_(core), sink_(scheduler, *this) {}
    stream::StreamSink& sink() { return sink_; }
    const stream::StreamSink& sink() const { return sink_; }

    void begin(std::int64_t words, base::Cycles from) { sink_.begin(words, from); }
    // Appends the words of the transfer that has just ended.
    void take_words(std::vector<std::uint32_t>& into) {
        sink_.take_words([&into](std::span<const std::uint32_t> words) {
            into.insert(into.end(), words.begin(), words.end());
        });
    }
    void on_stream_received(base::Cycles now) override { core_.on_core_stream(now); }

  private:
    CoreStreamClient& core_;
    stream::StreamSink sink_;
};

class CoreOutput final : public stream::StreamSourceClient {
  public:
    explicit CoreOutput(CoreStreamClient& core) : core_(core) {}
    void set_flow(stream::StreamFlow& flow) { flow_ = &flow; }

    // `bytes`: what is sent, in functional mode; stays valid until the transfer ends.
    void begin(std::int64_t words, std::span<const std::byte> bytes, base::Cycles from) {
        left_ = bytes;
        flow_->begin(words, words, from);
    }
    void on_stream_pushed(std::int64_t, std::int64_t, base::Cycles) override {}
    void on_stream_sent(base::Cycles now) override { core_.on_core_stream(now); }
    void read_words(std::span<std::uint32_t> into) override;

  private:
    CoreStreamClient& core_;
    stream::StreamFlow* flow_ = nullptr;
    std::span<const std::byte> left_;
};

}  // namespace tilesim::arch::npu::core
