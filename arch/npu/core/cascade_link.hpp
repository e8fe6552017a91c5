// The cascade between two neighbouring cores: wide words from one to the other, one a cycle.
//
// Models:  a word a cycle; a FIFO at each end, so that a sender runs ahead of its receiver by both;
//          the latency of a read.
// Ignores: nothing known.
// Source:  AMD AM020 (width, FIFOs), llvm-aie schedules (read latency).
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <utility>

#include "arch/npu/cycle_scheduler.hpp"
#include "arch/npu/npu_config.hpp"
#include "arch/npu/stream/stream_flow.hpp"

namespace tilesim::arch::npu::core {

// A core at either end.
class CascadeClient {
  public:
    // What the core asked for has been put or got.
    virtual void on_cascade_done(base::Cycles now) = 0;
    virtual CriticalPath* critical_path() { return nullptr; }  // the core's

  protected:
    ~CascadeClient() = default;
};

class CascadeLink final {
  public:
    CascadeLink(const program::Cascade& cascade, const CascadeConfig& config,
                CycleScheduler& scheduler);

    const program::Cascade& cascade() const { return cascade_; }

    // Sends `words` words from cycle `from` on; `client` hears when the last has left. `bytes`: in
    // functional mode what they hold; what is missing is zero.
    void put(std::int64_t words, base::Cycles from, std::span<const std::byte> bytes,
             CascadeClient& client);
    // Takes `words` words; `client` hears when the last has been taken.
    void get(std::int64_t words, base::Cycles from, CascadeClient& client);
    // Functional mode: the bytes of words that have been got.
    void take(std::int64_t words, std::span<std::byte> into);

  private:
    struct Sender final : stream::StreamSourceClient {
        void on_stream_pushed(std::int64_t, std::int64_t, base::Cycles) override {}
        void on_stream_sent(base::Cycles now) override {
            std::exchange(client, nullptr)->on_cascade_done(now);
        }
        void read_words(std::span<std::uint32_t>) override {}
        CriticalPath* critical_path() override {
            return client != nullptr ? client->critical_path() : nullptr;
        }
        CascadeClient* client = nullptr;
    };
    struct Receiver final : stream::StreamSinkClient {
        void on_stream_received(base::Cycles now) override {
            std::exchange(client, nullptr)->on_cascade_done(now);
        }
        CriticalPath* critical_path() override {
            return client != nullptr ? client->critical_path() : nullptr;
        }
        CascadeClient* client = nullptr;
    };

    const program::Cascade& cascade_;
    std::int64_t width_;
    Sender sender_;
    Receiver receiver_;
    stream::StreamSink sink_;
    stream::StreamFlow flow_;
    std::deque<std::byte> bytes_;  // put and not yet got, in functional mode
};

}  // namespace tilesim::arch::npu::core
