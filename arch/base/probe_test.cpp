#include "arch/base/probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/base/probe_testing.hpp"

namespace tilesim::arch::base {
namespace {

constexpr Clock kClock{Hertz{1'800'000'000}};

TEST(StateProbe, AStateLastsUntilAnotherIsEntered) {
    ProbeRecorder recorder(kClock);
    StateProbe probe;
    EXPECT_FALSE(probe);
    probe.connect(&recorder, "unit", kClock);
    EXPECT_TRUE(probe);
    probe.enter("busy", Cycles{3});
    probe.enter("busy", Cycles{5});  // goes on
    probe.enter("idle", Cycles{7});
    probe.leave(Cycles{11});
    probe.leave(Cycles{13});  // nothing holds
    probe.enter("busy", Cycles{17});
    EXPECT_THAT(recorder.activities(),
                testing::ElementsAre(ProbeRecorder::Activity{"unit", "busy", 3, 7},
                                     ProbeRecorder::Activity{"unit", "idle", 7, 11},
                                     ProbeRecorder::Activity{"unit", "busy", 17, -1}));
}

}  // namespace
}  // namespace tilesim::arch::base
