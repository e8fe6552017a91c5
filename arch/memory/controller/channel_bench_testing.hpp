// For tests: a channel by itself. Bursts in at stated CKs, commands out at exact ones.
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <utility>
#include <vector>

#include "arch/memory/controller/channel.hpp"
#include "arch/memory/device/prime_timing_testing.hpp"

namespace tilesim::arch::memory::controller {

struct Heard {
    device::Command command = device::Command::Activate;
    std::size_t bank = 0;
    std::int64_t when = 0;
    bool operator==(const Heard&) const = default;
};

inline void PrintTo(const Heard& heard, std::ostream* out) {
    *out << device::kCommandNames[heard.command] << " of bank " << heard.bank << " at "
         << heard.when;
}

inline Heard act(std::int64_t when, std::size_t bank = 0) {
    return {device::Command::Activate, bank, when};
}
inline Heard rd(std::int64_t when, std::size_t bank = 0) {
    return {device::Command::Read, bank, when};
}
inline Heard wr(std::int64_t when, std::size_t bank = 0) {
    return {device::Command::Write, bank, when};
}
inline Heard pre(std::int64_t when, std::size_t bank = 0) {
    return {device::Command::Precharge, bank, when};
}
inline Heard pre_all(std::int64_t when) {
    return {device::Command::PrechargeAll, 0, when};
}

inline Heard ref(std::int64_t when) {
    return {device::Command::Refresh, 0, when};
}

inline constexpr std::int64_t kStart = 1000;   // CK of most first bursts
inline constexpr std::size_t kOtherGroup = 4;  // a bank of another group than bank 0's

class Bench : private CommandListener, private ChannelOwner {
  public:
    Bench() { config.refresh = false; }

    void arrive(std::int64_t when, std::size_t bank, std::int64_t row, bool write = false,
                std::uint32_t bursts = 1) {
        channel()
            .arrivals()
            .expect(write, next_request_++,
                    device::Location(0, static_cast<std::int64_t>(bank), row, 0), when)
            .count = bursts;
        first_ = std::min(first_, when);
    }
    Channel& channel() {
        if (!channel_) {
            channel_ = make_channel(config, index, stats_, *this);
            channel_->listen(this);
        }
        return *channel_;
    }
    const std::vector<Heard>& run(std::int64_t until = 100'000) {
        channel().run(first_, until);
        return heard;
    }
    std::int64_t spent(BusState state) {
        return channel().stats().bus.spent(static_cast<std::size_t>(state));
    }

    device::MemoryConfig config = device::prime_device();
    std::size_t index = 0;
    std::vector<Heard> heard;
    std::vector<std::pair<std::uint64_t, std::int64_t>> done;  // requests, by number

  private:
    void on_command(std::size_t, device::Command command, std::size_t bank, std::int64_t,
                    std::int64_t now) override {
        heard.push_back({command, bank, now});
    }
    void on_bursts_done(std::uint64_t request, std::int64_t bursts, std::int64_t when) override {
        done.insert(done.end(), static_cast<std::size_t>(bursts), {request, when});
    }

    base::stats::Group stats_{"test"};
    std::unique_ptr<Channel> channel_;
    std::uint64_t next_request_ = 0;
    std::int64_t first_ = INT64_MAX;
};

// One of three channels that are refreshed in turn.
struct Refreshed : Bench {
    Refreshed() {
        config.refresh = true;
        config.channels = 3;
    }
    static constexpr std::int64_t kInterval = 10'007;
};

// A bank at a time is refreshed beside the others' work, bank 0 first: one every 10007 / 16 = 625
// CK.
struct BankRefreshed : Bench {
    explicit BankRefreshed(std::int64_t first) {  // after kStart
        config.refresh = true;
        config.controller.refresh_policy = "per_bank";
        config.controller.refresh_first = base::Cycles{kStart + first};
        config.timing.tRFC_pb = base::Cycles{151};
        config.timing.tREFpb_to_ACT = base::Cycles{3};
    }
};

}  // namespace tilesim::arch::memory::controller
