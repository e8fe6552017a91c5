#include "arch/npu/core/cascade_link.hpp"

#include <gtest/gtest.h>

#include <array>

namespace tilesim::arch::npu::core {
namespace {

using base::Cycles;

struct Core final : CascadeClient {
    explicit Core(CycleScheduler& s) : scheduler(s) {}
    void on_cascade_done(Cycles now) override {
        EXPECT_EQ(now, scheduler.now());
        done = now.count();
    }
    CycleScheduler& scheduler;
    std::int64_t done = -1;
};

struct Link {
    void run() {
        while (!queue.empty()) {
            queue.run_until(queue.next_time());
        }
    }
    base::EventQueue queue;
    CycleScheduler scheduler{queue, base::Clock{base::Hertz{1'000'000'000}}};
    program::Cascade cascade{"link", {0, 2}, {1, 2}};
    CascadeLink link{cascade, CascadeConfig{}, scheduler};
    Core west{scheduler};
    Core east{scheduler};
};

TEST(CascadeLink, MovesAWordACycle) {
    Link l;
    l.link.get(11, Cycles{0}, l.east);
    l.link.put(11, Cycles{0}, {}, l.west);
    l.run();
    EXPECT_EQ(l.west.done, 11);  // words 0 to 10 in cycles 0 to 10
    EXPECT_EQ(l.east.done, 12);  // each a cycle later
}

TEST(CascadeLink, ASenderRunsAheadByTheTwoFifosAndNoFurther) {
    Link l;
    l.link.put(4, Cycles{0}, {}, l.west);
    l.run();
    EXPECT_EQ(l.west.done, 4);
    l.link.put(1, Cycles{4}, {}, l.west);
    l.west.done = -1;
    l.run();
    EXPECT_EQ(l.west.done, -1);  // the fifth word waits until the first is taken
    struct Later final : base::EventHandler {
        explicit Later(Link& l) : link(l) {}
        void on_event(std::uint64_t, base::Femtoseconds) override {
            link.link.get(5, Cycles{20}, link.east);
        }
        Link& link;
    } later{l};
    l.scheduler.at(Cycles{20}, later);
    l.run();
    EXPECT_EQ(l.east.done, 25);
    EXPECT_EQ(l.west.done, 21);
}

TEST(CascadeLink, CarriesBytesInOrderAndFillsUpWithZeros) {
    Link l;
    std::array<std::byte, 80> sent{};
    for (std::size_t i = 0; i < sent.size(); ++i) {
        sent[i] = static_cast<std::byte>(i + 1);
    }
    l.link.put(2, Cycles{0}, sent, l.west);
    l.link.get(2, Cycles{0}, l.east);
    l.run();
    std::array<std::byte, 128> got{};
    got.fill(std::byte{0xff});
    l.link.take(2, got);
    for (std::size_t i = 0; i < got.size(); ++i) {
        EXPECT_EQ(got[i], i < sent.size() ? sent[i] : std::byte{0}) << i;
    }
}

}  // namespace
}  // namespace tilesim::arch::npu::core
