// A stream moves its words many at a time. Here every word by itself, by the same rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "arch/base/splitmix64.hpp"
#include "arch/npu/stream/stream_testing.hpp"

namespace tilesim::arch::npu::stream {
namespace {

using namespace base::literals;
using base::Cycles;
using namespace testing;

struct Supply {
    std::int64_t words = 0;
    std::int64_t at = 0;
};
struct Packet {  // all of whose words are there as it begins, a kept header before them
    std::int64_t words = 0;
    std::int64_t after = 0;  // cycles since the one before has left
};
struct Transfer {  // of a receiver, which asks for it as the one before has ended
    std::int64_t words = 0;
    std::int64_t ready = 0;  // takes no word before
};
struct End {
    std::int64_t latency = 1;
    std::int64_t capacity = 1;
    std::vector<Transfer> transfers;
    bool drops_headers = false;
};
struct Case {
    std::vector<Supply> supplies;  // or packets
    std::vector<Packet> packets;
    std::vector<End> ends;
};

struct Moved {
    std::vector<std::int64_t> left;                   // cycle after each word has left its source
    std::vector<std::vector<std::int64_t>> received;  // by receiver, of each transfer
};

// A receiver's words, as they are taken one by one.
class Taker {
  public:
    explicit Taker(const End& end) : end_(end) {}

    // A packet's header follows, which is no word of a transfer where it is dropped.
    void header_begins() { headers_ += end_.drops_headers ? 1 : 0; }
    // The first cycle in which the next word may enter.
    std::int64_t lets_in() const {
        const auto index = std::ssize(left_fifo_);
        const std::int64_t window = end_.latency + end_.capacity;
        const std::int64_t room = index < window ? 0 : left_fifo_[at(index - window)] + 1;
        const std::int64_t asked_for = index - headers_ - end_.capacity;
        return asked_for < 0 ? room : std::max(room, asked(asked_for));
    }
    void enters(std::int64_t cycle, bool header) {
        if (header && end_.drops_headers) {
            left_fifo_.push_back(cycle + end_.latency);
            return;
        }
        const std::int64_t index = taken_;
        const std::size_t transfer = transfer_of(index);
        free_ =
            std::max({free_, cycle + end_.latency, asked(index), end_.transfers[transfer].ready});
        left_fifo_.push_back(free_++);
        ++taken_;
        if (taken_ == last_of(transfer)) {
            received_.push_back(free_);
        }
    }
    const std::vector<std::int64_t>& received() const { return received_; }

  private:
    static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }
    std::int64_t last_of(std::size_t transfer) const {
        std::int64_t words = 0;
        for (std::size_t i = 0; i <= transfer; ++i) {
            words += end_.transfers[i].words;
        }
        return words;
    }
    std::size_t transfer_of(std::int64_t index) const {
        std::size_t transfer = 0;
        while (last_of(transfer) <= index) {
            ++transfer;
        }
        return transfer;
    }
    // When the transfer that takes a word has been asked for.
    std::int64_t asked(std::int64_t index) const {
        const std::size_t transfer = transfer_of(index);
        return transfer == 0 ? 0 : received_[transfer - 1];
    }

    const End& end_;
    std::int64_t headers_ = 0;  // dropped, or to be
    std::int64_t taken_ = 0;    // by transfers
    std::int64_t free_ = 0;     // the receiver is from this cycle on
    std::vector<std::int64_t> left_fifo_, received_;
};

Moved word_by_word(const Case& a_case) {
    std::vector<Taker> takers(a_case.ends.begin(), a_case.ends.end());
    Moved moved;
    const auto move = [&](std::int64_t from, bool header) {
        std::int64_t enters = moved.left.empty() ? from : std::max(from, moved.left.back());
        for (const Taker& taker : takers) {
            enters = std::max(enters, taker.lets_in());
        }
        for (Taker& taker : takers) {
            taker.enters(enters, header);
        }
        moved.left.push_back(enters + 1);
    };
    for (const Supply& supply : a_case.supplies) {
        for (std::int64_t i = 0; i < supply.words; ++i) {
            move(supply.at, false);
        }
    }
    for (const Packet& packet : a_case.packets) {
        const std::int64_t begins = packet.after + (moved.left.empty() ? 0 : moved.left.back());
        for (Taker& taker : takers) {
            taker.header_begins();
        }
        for (std::int64_t i = 0; i <= packet.words; ++i) {
            move(begins, i == 0);
        }
    }
    for (const Taker& taker : takers) {
        moved.received.push_back(taker.received());
    }
    return moved;
}

// Asks again as soon as it has received.
struct Asking final : StreamSinkClient {
    Asking(CycleScheduler& scheduler, const End& takes) : end(takes), sink(scheduler, *this) {}
    void ask(std::int64_t now) {
        if (received.size() < end.transfers.size()) {
            const Transfer& next = end.transfers[received.size()];
            sink.begin(next.words, Cycles{std::max(now, next.ready)});
        }
    }
    void on_stream_received(Cycles now) override {
        received.push_back(now.count());
        ask(now.count());
    }

    const End& end;
    StreamSink sink;
    std::vector<std::int64_t> received;
};

// Notes what leaves, and begins the next packet.
struct Sending final : StreamSourceClient {
    explicit Sending(const std::vector<Packet>& all) : packets(all) {}
    void send(std::int64_t now) {
        if (sent < packets.size()) {
            const Packet& next = packets[sent];
            flow->begin(next.words, next.words, Cycles{now + next.after});
        }
    }
    void on_stream_pushed(std::int64_t pieces, std::int64_t words, Cycles end) override {
        for (std::int64_t i = 0; i < pieces * words; ++i) {
            left.push_back(end.count() - words + i + 1);
        }
    }
    void on_stream_sent(Cycles now) override {
        ended = now.count();
        ++sent;
        send(ended);
    }
    void read_words(std::span<std::uint32_t>) override {}

    const std::vector<Packet>& packets;
    StreamFlow* flow = nullptr;
    std::size_t sent = 0;
    std::int64_t ended = 0;
    std::vector<std::int64_t> left;
};

Moved by_the_stream(const Case& a_case) {
    Bench bench;
    Sending source(a_case.packets);
    std::vector<std::unique_ptr<Asking>> receivers;
    std::vector<StreamFlow::Branch> branches;
    for (const End& end : a_case.ends) {
        receivers.push_back(std::make_unique<Asking>(bench.scheduler, end));
        branches.push_back(
            {&receivers.back()->sink, Cycles{end.latency}, end.capacity, 0, end.drops_headers});
    }
    const bool packets = !a_case.packets.empty();
    StreamFlow flow("flow", bench.scheduler, source, branches, {},
                    packets ? std::optional<std::uint32_t>{29} : std::nullopt, packets, false);
    source.flow = &flow;
    std::int64_t words = 0;
    for (const Supply& supply : a_case.supplies) {
        words += supply.words;
        bench.at(Cycles{supply.at},
                 [&flow, supply] { flow.supply(supply.words, Cycles{supply.at}); });
    }
    bench.at(0_cyc, [&] {
        for (const auto& receiver : receivers) {
            receiver->ask(0);
        }
        if (packets) {
            source.send(0);
        } else {
            flow.begin(words, 0, 0_cyc);
        }
    });
    bench.run();
    EXPECT_EQ(source.ended, source.left.back());
    EXPECT_EQ(source.sent, packets ? a_case.packets.size() : 1U);
    Moved moved{source.left, {}};
    for (const auto& receiver : receivers) {
        moved.received.push_back(receiver->received);
    }
    return moved;
}

class Draw {
  public:
    explicit Draw(std::uint64_t seed) : seed_(seed) {}
    std::int64_t operator()(std::int64_t least, std::int64_t most) {
        const auto choices = static_cast<std::uint64_t>(most - least + 1);
        return least + static_cast<std::int64_t>(base::next_splitmix64(seed_) % choices);
    }
    // Somebody who takes so many words.
    End end(std::int64_t words) {
        End taker{(*this)(1, 9), (*this)(1, 8), {}, false};
        for (std::int64_t left = words; left > 0;) {
            const std::int64_t of_one = std::min(left, (*this)(1, 200));
            taker.transfers.push_back({of_one, (*this)(0, 1) * (*this)(0, 500)});
            left -= of_one;
        }
        return taker;
    }

  private:
    std::uint64_t seed_;
};

Case random_stream(std::uint64_t seed) {
    Draw draw(seed);
    Case result;
    std::int64_t words = 0;
    std::int64_t now = 1;
    for (std::int64_t i = draw(1, 5); i > 0; --i) {
        result.supplies.push_back({draw(1, 120), now});
        words += result.supplies.back().words;
        now += draw(1, 100);
    }
    for (std::int64_t i = draw(1, 3); i > 0; --i) {
        result.ends.push_back(draw.end(words));
    }
    return result;
}

Case random_packets(std::uint64_t seed) {
    Draw draw(seed);
    Case result;
    std::int64_t words = 0;
    for (std::int64_t i = draw(1, 6); i > 0; --i) {
        result.packets.push_back({draw(1, 90), draw(0, 1) * draw(0, 60)});
        words += result.packets.back().words;
    }
    for (std::int64_t i = draw(1, 3); i > 0; --i) {
        const bool drops = draw(0, 1) == 1;
        result.ends.push_back(draw.end(words + (drops ? 0 : std::ssize(result.packets))));
        result.ends.back().drops_headers = drops;
    }
    return result;
}

void moves_as_each_word_would(const Case& a_case) {
    const Moved together = by_the_stream(a_case);
    const Moved apart = word_by_word(a_case);
    ASSERT_EQ(together.left, apart.left);
    ASSERT_EQ(together.received, apart.received);
}

TEST(StreamWords, MoveTogetherAsEachWouldByItself) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        SCOPED_TRACE(seed);
        ASSERT_NO_FATAL_FAILURE(moves_as_each_word_would(random_stream(seed)));
    }
}

TEST(StreamWords, OfPacketsMoveAsEachWouldByItself) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        SCOPED_TRACE(seed);
        ASSERT_NO_FATAL_FAILURE(moves_as_each_word_would(random_packets(seed)));
    }
}

}  // namespace
}  // namespace tilesim::arch::npu::stream
