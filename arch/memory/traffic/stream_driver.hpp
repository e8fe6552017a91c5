// Feeds a request stream to a memory, keeping a number of requests under way, and measures.
#pragma once

#include <vector>

#include "arch/base/clock.hpp"
#include "arch/memory/device/memory_config.hpp"
#include "arch/memory/port/memory_port.hpp"
#include "arch/memory/port/request_listener.hpp"
#include "arch/memory/traffic/stream_source.hpp"

namespace tilesim::arch::memory::traffic {

class StreamDriver final : public port::MemoryClient {
  public:
    // From an answer to the request made for it: CK, so that requests arrive on clock edges.
    static constexpr base::Cycles kLatency{100};
    // From the driver to the controllers, the lookahead the memory may count on.
    static base::Femtoseconds latency(const device::MemoryConfig& memory);

    StreamDriver(const StreamConfig& config, port::MemoryPort& memory);

    // Of requests from that of this number on.
    void listen(port::RequestListener* listener, std::int64_t from) {
        listener_ = listener;
        heard_from_ = from;
    }
    std::int64_t requests() const { return source_.size(); }
    // Submits the first requests, which arrive after `latency`; the time of the stream counts from
    // there.
    void start();
    bool finished() const { return completed_ == source_.size() && memory_.idle(); }
    // Call when finished.
    StreamResult result() const;

    void on_memory_complete(std::uint64_t tag, base::Femtoseconds when) override;

  private:
    void issue(base::Cycles arrival);

    StreamConfig config_;
    StreamSource source_;
    port::MemoryPort& memory_;
    base::Clock clock_;
    port::RequestListener* listener_ = nullptr;
    std::int64_t heard_from_ = 0;
    std::int64_t issued_ = 0;
    std::int64_t completed_ = 0;
    std::int64_t bytes_ = 0;
    base::Femtoseconds last_{0};               // latest completion
    std::vector<base::Femtoseconds> arrived_;  // by tag
    std::vector<std::uint64_t> free_tags_;
    std::vector<base::Femtoseconds> latencies_;
};

}  // namespace tilesim::arch::memory::traffic
