#include "arch/base/joint_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tilesim::arch::base {
namespace {

using namespace literals;
using testing::ElementsAre;

struct Order final : EventHandler {
    Order(std::string n, std::vector<std::string>& l) : name(std::move(n)), log(l) {}
    std::string name;
    std::vector<std::string>& log;
    void on_event(std::uint64_t tag, Femtoseconds now) override {
        log.push_back(name + std::to_string(tag) + "@" + std::to_string(now.count()));
    }
};

TEST(JointQueue, ExecutesMembersInOrderOfTimeEachFromItsOwnOrigin) {
    EventQueue a, b;
    JointQueue joint;
    joint.add(a);
    joint.add(b, 100_fs);
    std::vector<std::string> log;
    Order at_a{"a", log}, at_b{"b", log};
    a.at(107_fs, at_a, 1);
    b.at(3_fs, at_b, 2);
    b.at(7_fs, at_b, 3);  // 107 as well: after the queue that was added before
    a.at(103_fs, at_a, 4);
    EXPECT_EQ(joint.next_time(), 103_fs);
    joint.run_until(106_fs);
    EXPECT_THAT(log, ElementsAre("a4@103", "b2@3"));
    joint.run_until(107_fs);
    EXPECT_THAT(log, ElementsAre("a4@103", "b2@3", "a1@107", "b3@7"));
    EXPECT_EQ(joint.next_time(), kNever);
    EXPECT_EQ(joint.executed(), 4U);
}

// Adds a queue when its event comes.
struct Adder final : EventHandler {
    Adder(JointQueue& j, EventQueue& a) : joint(j), added(a) {}
    JointQueue& joint;
    EventQueue& added;
    void on_event(std::uint64_t, Femtoseconds) override { joint.add(added); }
};

TEST(JointQueue, AMemberThatIsAddedIsHeardFromTheNextTimeStampOn) {
    EventQueue a, b;
    JointQueue joint;
    joint.add(a);
    std::vector<std::string> log;
    Order at_a{"a", log}, at_b{"b", log};
    Adder adder{joint, b};
    a.at(3_fs, adder);
    a.at(7_fs, at_a, 1);
    a.at(8_fs, at_a, 2);
    b.at(5_fs, at_b, 3);
    EXPECT_EQ(joint.run_stamps(100_fs, 10), 1);
    while (joint.run_stamps(7_fs, 10) > 0) {
    }
    EXPECT_THAT(log, ElementsAre("b3@5", "a1@7"));
    EXPECT_EQ(joint.now(), 7_fs);
}

TEST(JointQueue, BringsEveryMemberToThePresent) {
    EventQueue a, b;
    JointQueue joint;
    joint.add(a);
    joint.add(b, 100_fs);
    joint.catch_up(130_fs);
    EXPECT_EQ(a.now(), 130_fs);
    EXPECT_EQ(b.now(), 30_fs);
    EXPECT_EQ(joint.now(), 130_fs);
}

// Asks the joint queue for the time while it executes an event.
struct Asker final : EventHandler {
    explicit Asker(const JointQueue& j) : joint(j) {}
    const JointQueue& joint;
    std::vector<Femtoseconds> times;
    void on_event(std::uint64_t, Femtoseconds) override { times.push_back(joint.now()); }
};

TEST(JointQueue, KnowsTheTimeOfTheEventItExecutes) {
    for (const bool two : {false, true}) {
        EventQueue a, b;
        JointQueue joint;
        joint.add(a, 100_fs);
        if (two) {
            joint.add(b);
        }
        Asker asker{joint};
        a.at(5_fs, asker);
        a.at(9_fs, asker);
        joint.run_until(200_fs);
        EXPECT_THAT(asker.times, ElementsAre(105_fs, 109_fs));
    }
}

TEST(JointQueue, ForgetsAMemberThatIsTakenOut) {
    EventQueue a, b;
    JointQueue joint;
    joint.add(a);
    joint.add(b);
    std::vector<std::string> log;
    Order at_b{"b", log};
    b.at(5_fs, at_b);
    joint.remove(b);
    joint.run_until(5_fs);
    EXPECT_TRUE(log.empty());
}

struct Watcher final : QueueWatcher {
    std::vector<Femtoseconds> heard;
    void on_earlier(Femtoseconds time) override { heard.push_back(time); }
};

TEST(EventQueue, TellsItsWatcherOfEventsThatComeBeforeAllOthers) {
    EventQueue queue;
    Watcher watcher;
    queue.watch(&watcher);
    std::vector<std::string> log;
    Order handler{"", log};
    queue.at(50_fs, handler);
    queue.at(60_fs, handler);
    queue.at(20_fs, handler);
    queue.at(20_fs, handler);  // after the one that is there
    EXPECT_THAT(watcher.heard, ElementsAre(50_fs, 20_fs));
    queue.watch(nullptr);
    queue.at(10_fs, handler);
    EXPECT_EQ(watcher.heard.size(), 2U);
}

}  // namespace
}  // namespace tilesim::arch::base
