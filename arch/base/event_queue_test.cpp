#include "arch/base/event_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "arch/base/check.hpp"

namespace tilesim::arch::base {
namespace {

using namespace literals;

struct Recorder final : EventHandler {
    std::vector<std::pair<Femtoseconds, std::uint64_t>> ran;
    void on_event(std::uint64_t tag, Femtoseconds now) override { ran.emplace_back(now, tag); }
};

TEST(EventQueue, RunsEventsInOrderOfTimeThenOfScheduling) {
    EventQueue queue;
    Recorder recorder;
    std::mt19937_64 random{11};
    std::vector<std::pair<Femtoseconds, std::uint64_t>> expected;
    for (std::uint64_t i = 0; i < 5000; ++i) {
        const Femtoseconds time{static_cast<std::int64_t>(random() % 97)};
        queue.at(time, recorder, i);
        expected.emplace_back(time, i);
    }
    std::stable_sort(expected.begin(), expected.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    queue.run_until(97_fs);
    EXPECT_EQ(recorder.ran, expected);
    EXPECT_EQ(queue.executed(), 5000U);
}

// Schedules one more at the same time, and interrupts where its tag says so.
struct Interrupter final : EventHandler {
    static constexpr std::uint64_t kInterrupts = 9;
    EventQueue queue;
    std::vector<std::pair<Femtoseconds, std::uint64_t>> ran;
    void on_event(std::uint64_t tag, Femtoseconds now) override {
        ran.emplace_back(now, tag);
        if (tag == kInterrupts) {
            queue.interrupt();
        }
        if (tag > 0) {
            queue.at(now, *this, 0);
        }
    }
};

TEST(EventQueue, ExecutesSoManyTimeStampsEachToItsEnd) {
    Interrupter events;
    for (const auto& [time, tag] : {std::pair{3_fs, 1U}, {3_fs, 2U}, {5_fs, 3U}, {7_fs, 4U}}) {
        events.queue.at(time, events, tag);
    }
    EXPECT_EQ(events.queue.run_stamps(100_fs, 2), 2);
    EXPECT_EQ(events.ran, (std::vector<std::pair<Femtoseconds, std::uint64_t>>{
                              {3_fs, 1}, {3_fs, 2}, {3_fs, 0}, {3_fs, 0}, {5_fs, 3}, {5_fs, 0}}));
    EXPECT_EQ(events.queue.run_stamps(6_fs, 2), 0);
    EXPECT_EQ(events.queue.run_stamps(7_fs, 2), 1);
}

TEST(EventQueue, AnInterruptLetsThePresentTimeStampEnd) {
    Interrupter events;
    events.queue.at(3_fs, events, Interrupter::kInterrupts);
    events.queue.at(5_fs, events, 1);
    EXPECT_EQ(events.queue.run_stamps(100_fs, 10), 1);
    EXPECT_EQ(events.ran, (std::vector<std::pair<Femtoseconds, std::uint64_t>>{
                              {3_fs, Interrupter::kInterrupts}, {3_fs, 0}}));
    EXPECT_EQ(events.queue.run_stamps(100_fs, 10), 1);  // it counts once
}

// Each event schedules two more, from at once to microseconds ahead.
struct Wanderer final : EventHandler {
    EventQueue queue;
    std::mt19937_64 random{5};
    std::vector<std::pair<Femtoseconds, std::uint64_t>> scheduled, ran;
    void schedule(Femtoseconds now) {
        const auto range = std::uint64_t{1} << random() % 34;
        const auto ahead = static_cast<std::int64_t>(random() % range);
        scheduled.emplace_back(now + Femtoseconds{ahead}, scheduled.size());
        queue.at(scheduled.back().first, *this, scheduled.back().second);
    }
    void on_event(std::uint64_t tag, Femtoseconds now) override {
        ran.emplace_back(now, tag);
        for (int i = 0; i < 2 && scheduled.size() < 20'000; ++i) {
            schedule(now);
        }
    }
};

TEST(EventQueue, KeepsTheOrderOfWhatEventsSchedule) {
    Wanderer wanderer;
    wanderer.schedule(0_fs);
    while (!wanderer.queue.empty()) {
        wanderer.queue.run_until(wanderer.queue.next_time());
    }
    EXPECT_EQ(wanderer.ran.size(), 20'000U);
    std::stable_sort(wanderer.scheduled.begin(), wanderer.scheduled.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    EXPECT_EQ(wanderer.ran, wanderer.scheduled);
}

// The first is put in microseconds ahead, the second when its time is near: they wait in different
// places.
TEST(EventQueue, KeepsTheOrderOfEventsScheduledForOneTimeFarAheadAndShortlyBefore) {
    EventQueue queue;
    Recorder recorder;
    const Femtoseconds time{5'000'000'000};
    queue.at(time, recorder, 1);
    queue.at(time - 9_fs, recorder, 0);
    queue.run_until(time - 9_fs);
    queue.at(time, recorder, 2);
    queue.at(time - 1_fs, recorder, 3);
    EXPECT_EQ(queue.next_time(), time - 1_fs);
    queue.run_until(time);
    std::vector<std::uint64_t> tags;
    for (const auto& [when, tag] : recorder.ran) {
        tags.push_back(tag);
    }
    EXPECT_EQ(tags, (std::vector<std::uint64_t>{0, 3, 1, 2}));
}

TEST(EventQueue, RunsUpToAndIncludingTheLimit) {
    EventQueue queue;
    Recorder recorder;
    queue.at(10_fs, recorder, 1);
    queue.at(11_fs, recorder, 2);
    queue.run_until(10_fs);
    EXPECT_EQ(recorder.ran.size(), 1U);
    EXPECT_EQ(queue.next_time(), 11_fs);
}

TEST(EventQueue, RefusesThePast) {
    EventQueue queue;
    Recorder recorder;
    queue.at(10_fs, recorder);
    queue.run_until(10_fs);
    EXPECT_THROW(queue.at(9_fs, recorder), ModelError);
}

}  // namespace
}  // namespace tilesim::arch::base
