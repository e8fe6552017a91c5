#include "workloads/npu/stated_keys.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "workloads/keys.hpp"

namespace tilesim::workloads::npu {
namespace {

struct Keys {
    std::int64_t columns = 0;
    std::int64_t rows = 3;
    bool packed = false;
    std::string mode{};
};

void read_keys(arch::base::config::Node& node, Keys& keys) {
    node.optional("columns", keys.columns, {0, 64}, "");
    node.optional("rows", keys.rows, {0, 64}, "");
    node.optional("packed", keys.packed, "");
    node.optional("mode", keys.mode, "");
    node.done();
}

constexpr auto kReader = [](auto& node, Keys& keys) { read_keys(node, keys); };

StatedKeys stated(const std::string& text) {
    auto document = arch::base::config::Document::parse(text, "test");
    auto node = document.root();
    Keys keys;
    read_keys(node, keys);
    document.finish();
    return {node, keys_of(keys, kReader)};
}

// A key that says what is the default is stated, too.
TEST(StatedKeys, TakeTheirPlaceInOthersAndLeaveTheRest) {
    const StatedKeys keys = stated("{rows: 3, packed: on, mode: native}");
    const Keys changed = keys.over(Keys{.columns = 7, .rows = 5}, kReader);
    EXPECT_EQ(changed.columns, 7);
    EXPECT_EQ(changed.rows, 3);
    EXPECT_TRUE(changed.packed);
    EXPECT_EQ(changed.mode, "native");
}

TEST(StatedKeys, HoldWhereEveryOneOfThemIsAsStated) {
    const auto holds = [](const StatedKeys& keys, const Keys& other) {
        return keys.hold(keys_of(other, kReader));
    };
    const StatedKeys keys = stated("{rows: 3, packed: on}");
    EXPECT_TRUE(holds(keys, {.columns = 7, .rows = 3, .packed = true}));
    EXPECT_FALSE(holds(keys, {.columns = 7, .rows = 5, .packed = true}));
    EXPECT_FALSE(holds(keys, {.columns = 7, .rows = 3}));
    EXPECT_FALSE(keys.hold({{"rows", 3}}));  // a candidate without such a key
    EXPECT_TRUE(holds({}, {.columns = 7}));
}

}  // namespace
}  // namespace tilesim::workloads::npu
