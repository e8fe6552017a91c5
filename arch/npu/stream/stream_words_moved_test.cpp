// A stream moves its words many at a time. Here every word by itself, by the same rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
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
struct Transfer {  // of a receiver, which asks for it as the one before has ended
    std::int64_t words = 0;
    std::int64_t ready = 0;  // takes no word before
};
struct End {
    std::int64_t latency = 1;
    std::int64_t capacity = 1;
    std::vector<Transfer> transfers;
};
struct Case {
    std::vector<Supply> supplies;
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

    // The first cycle in which word `index` may enter; those before it have.
    std::int64_t lets_in(std::int64_t index) const {
        const std::int64_t window = end_.latency + end_.capacity;
        const std::int64_t room = index < window ? 0 : taken_[at(index - window)] + 1;
        return index < end_.capacity ? room : std::max(room, asked(index - end_.capacity));
    }
    void enters(std::int64_t cycle) {
        const auto index = std::ssize(taken_);
        const std::size_t transfer = transfer_of(index);
        std::int64_t when =
            std::max({cycle + end_.latency, asked(index), end_.transfers[transfer].ready});
        when = taken_.empty() ? when : std::max(when, taken_.back() + 1);
        taken_.push_back(when);
        if (index + 1 == last_of(transfer)) {
            received_.push_back(when + 1);
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
    std::vector<std::int64_t> taken_, received_;
};

Moved word_by_word(const Case& a_case) {
    std::vector<Taker> takers(a_case.ends.begin(), a_case.ends.end());
    Moved moved;
    for (const Supply& supply : a_case.supplies) {
        for (std::int64_t i = 0; i < supply.words; ++i) {
            const auto index = std::ssize(moved.left);
            std::int64_t enters =
                moved.left.empty() ? supply.at : std::max(supply.at, moved.left.back());
            for (const Taker& taker : takers) {
                enters = std::max(enters, taker.lets_in(index));
            }
            for (Taker& taker : takers) {
                taker.enters(enters);
            }
            moved.left.push_back(enters + 1);
        }
    }
    for (const Taker& taker : takers) {
        moved.received.push_back(taker.received());
    }
    return moved;
}

// Asks again as soon as it has received.
struct Asking final : StreamSinkClient {
    Asking(CycleScheduler& scheduler, const End& end) : end(end), sink(scheduler, *this) {}
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

Moved by_the_stream(const Case& a_case) {
    Bench bench;
    Source source;
    std::vector<std::unique_ptr<Asking>> receivers;
    std::vector<StreamFlow::Branch> branches;
    for (const End& end : a_case.ends) {
        receivers.push_back(std::make_unique<Asking>(bench.scheduler, end));
        branches.push_back({&receivers.back()->sink, Cycles{end.latency}, end.capacity, 0});
    }
    StreamFlow flow("flow", bench.scheduler, source, branches, {}, {}, false, false);
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
        flow.begin(words, 0, 0_cyc);
    });
    bench.run();
    Moved moved;
    for (const auto& [piece, end] : source.pieces) {
        for (std::int64_t i = piece - 1; i >= 0; --i) {
            moved.left.push_back(end.count() - i);
        }
    }
    EXPECT_EQ(source.sent, (std::vector{Cycles{moved.left.back()}}));
    for (const auto& receiver : receivers) {
        moved.received.push_back(receiver->received);
    }
    return moved;
}

Case random_case(std::uint64_t seed) {
    const auto draw = [&seed](std::int64_t least, std::int64_t most) {
        const auto choices = static_cast<std::uint64_t>(most - least + 1);
        return least + static_cast<std::int64_t>(base::next_splitmix64(seed) % choices);
    };
    Case result;
    std::int64_t words = 0;
    std::int64_t now = 1;
    for (std::int64_t i = draw(1, 5); i > 0; --i) {
        result.supplies.push_back({draw(1, 120), now});
        words += result.supplies.back().words;
        now += draw(1, 100);
    }
    for (std::int64_t i = draw(1, 3); i > 0; --i) {
        End end{draw(1, 9), draw(1, 8), {}};
        for (std::int64_t left = words; left > 0;) {
            const std::int64_t of_one = std::min(left, draw(1, 200));
            end.transfers.push_back({of_one, draw(0, 1) * draw(0, 500)});
            left -= of_one;
        }
        result.ends.push_back(std::move(end));
    }
    return result;
}

TEST(StreamWords, MoveTogetherAsEachWouldByItself) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        const Case a_case = random_case(seed);
        const Moved together = by_the_stream(a_case);
        const Moved apart = word_by_word(a_case);
        ASSERT_EQ(together.left, apart.left) << "seed " << seed;
        ASSERT_EQ(together.received, apart.received) << "seed " << seed;
    }
}

}  // namespace
}  // namespace tilesim::arch::npu::stream
