#include "sim/explore/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilesim::sim::explore {
namespace {

using arch::base::config::ConfigError;

std::string refusal(const std::vector<std::string>& texts) {
    try {
        parse_settings(texts);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

TEST(Settings, AreKeysAndValuesInTheirOrder) {
    const Settings settings = parse_settings({"b.c=1", "a={x: 2}", "a.y=u=v"});
    EXPECT_EQ(settings, (Settings{{"b.c", "1"}, {"a", "{x: 2}"}, {"a.y", "u=v"}}));
    EXPECT_EQ(refusal({"b.c"}), "--set b.c: must be key.path=value");
    EXPECT_EQ(refusal({"=1"}), "--set =1: must be key.path=value");
}

// Of two the first counted for nothing.
TEST(Settings, AKeySetTwiceIsRefusedToo) {
    EXPECT_EQ(refusal({"a.x=1", "b=2", "a.x=1"}), "--set a.x=1: 'a.x' is set twice");
    EXPECT_EQ(refusal({"a={x: 1}", "a.x=2"}),
              "--set a.x=2: 'a.x' is set twice: a value of 'a' holds it, too");
    EXPECT_EQ(refusal({"a.x=2", "a={x: 1}"}),
              "--set a={x: 1}: 'a.x' is set twice: a value of 'a' holds it, too");
}

}  // namespace
}  // namespace tilesim::sim::explore
