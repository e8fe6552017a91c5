#include "sim/session/fiber.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace tilesim::sim::session {
namespace {

using testing::ElementsAre;

TEST(Fiber, TakesTurnsWithItsCaller) {
    std::vector<std::string> log;
    Fiber fiber([&](Fiber& self) {
        log.emplace_back("a");
        self.yield();
        log.emplace_back("b");
    });
    log.emplace_back("1");
    fiber.resume();
    log.emplace_back("2");
    EXPECT_FALSE(fiber.ended());
    fiber.resume();
    EXPECT_TRUE(fiber.ended());
    EXPECT_THAT(log, ElementsAre("1", "a", "2", "b"));
}

TEST(Fiber, PassesOnWhatIsThrown) {
    Fiber fiber([](Fiber& self) {
        self.yield();
        throw std::runtime_error("why");
    });
    fiber.resume();
    EXPECT_THROW(fiber.resume(), std::runtime_error);
    EXPECT_TRUE(fiber.ended());
}

struct Guard {
    bool& gone;
    ~Guard() { gone = true; }
};

TEST(Fiber, UnwindsWhatHasNotEnded) {
    bool gone = false;
    {
        Fiber fiber([&](Fiber& self) {
            const Guard guard{gone};
            self.yield();
            ADD_FAILURE() << "went on";
        });
        fiber.resume();
    }
    EXPECT_TRUE(gone);
    const Fiber never([](Fiber&) { ADD_FAILURE() << "ran"; });
}

}  // namespace
}  // namespace tilesim::sim::session
