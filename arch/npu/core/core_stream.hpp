// The stream ports a core itself reads and writes, one word a cycle each.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/stream/stream_flow.hpp"

namespace tilesim::arch::npu::core {

class CoreStreamClient {
  public:
    // The transfer begun last has ended.
    virtual void on_core_stream(base::Cycles now) = 0;
    // So many words of it move, one a tick of the streams' clock from `start` on.
    virtual void on_core_words(std::int64_t /*words*/, base::Cycles /*start*/) {}
    virtual CriticalPath* critical_path() { return nullptr; }  // the core's

  protected:
    ~CoreStreamClient() = default;
};

class CoreInput final : public stream::StreamSinkClient {
  public:
    explicit CoreInput(CycleScheduler& scheduler) : sink_(scheduler, *this) {}
    stream::StreamSink& sink() { return sink_; }
    const stream::StreamSink& sink() const { return sink_; }

    void begin(std::int64_t words, base::Cycles from, CoreStreamClient& client) {
        client_ = &client;
        sink_.begin(words, from);
    }
    // Appends the words of the transfer that has just ended.
    void take_words(std::vector<std::uint32_t>& into) {
        sink_.take_words([&into](std::span<const std::uint32_t> words) {
            into.insert(into.end(), words.begin(), words.end());
        });
    }
    void on_stream_received(base::Cycles now) override { client_->on_core_stream(now); }
    CriticalPath* critical_path() override { return client_->critical_path(); }
    void on_words_taken(std::int64_t words, base::Cycles start) override {
        client_->on_core_words(words, start);
    }

  private:
    CoreStreamClient* client_ = nullptr;  // of the last transfer
    stream::StreamSink sink_;
};

// A packet stream is cut by what the core puts: the first word after an end is a header.
class CoreOutput final : public stream::StreamSourceClient {
  public:
    // `packet_id`: that of the packets that go this way; a circuit has none.
    void add_flow(std::optional<std::int64_t> packet_id, stream::StreamFlow& flow) {
        flows_.emplace_back(packet_id, &flow);
    }

    struct Packet {
        std::optional<std::int64_t> id{};  // of a packet that begins with these words
        bool ends = false;                 // with the last of them
    };
    // `bytes`: what is sent, in functional mode; stays valid until the transfer ends.
    void begin(std::int64_t words, std::span<const std::byte> bytes, base::Cycles from,
               CoreStreamClient& client, const Packet& packet);
    void begin(std::int64_t words, std::span<const std::byte> bytes, base::Cycles from,
               CoreStreamClient& client) {
        begin(words, bytes, from, client, {});
    }
    void on_stream_pushed(std::int64_t pieces, std::int64_t words, base::Cycles end) override {
        client_->on_core_words(pieces * words, end - base::Cycles{words});
    }
    void on_stream_sent(base::Cycles now) override { client_->on_core_stream(now); }
    CriticalPath* critical_path() override { return client_->critical_path(); }
    void read_words(std::span<std::uint32_t> into) override;

  private:
    CoreStreamClient* client_ = nullptr;  // of the last transfer
    std::vector<std::pair<std::optional<std::int64_t>, stream::StreamFlow*>> flows_;
    stream::StreamFlow* under_way_ = nullptr;  // the flow of the packet that has not ended
    std::span<const std::byte> left_;
};

// Those of one core, as many as the device has.
class CorePorts {
  public:
    CorePorts(const CoreConfig& config, CycleScheduler& scheduler)
        : inputs_(static_cast<std::size_t>(config.stream_inputs)),
          outputs_(static_cast<std::size_t>(config.stream_outputs)) {
        for (auto& input : inputs_) {
            input = std::make_unique<CoreInput>(scheduler);
        }
        for (auto& output : outputs_) {
            output = std::make_unique<CoreOutput>();
        }
    }
    CoreInput& input(std::int64_t index) { return *inputs_[static_cast<std::size_t>(index)]; }
    CoreOutput& output(std::int64_t index) { return *outputs_[static_cast<std::size_t>(index)]; }

  private:
    std::vector<std::unique_ptr<CoreInput>> inputs_;
    std::vector<std::unique_ptr<CoreOutput>> outputs_;
};

}  // namespace tilesim::arch::npu::core
