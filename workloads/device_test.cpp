#include "workloads/device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilesim::workloads {
namespace {

struct Array {
    int columns = 4;
};
struct Cores {};

std::string complaint(const Device& device) {
    try {
        device.get<Cores>();
        return "";
    } catch (const arch::base::config::ConfigError& error) {
        return error.what();
    }
}

TEST(Device, NamesASectionItLacksAndThoseItHas) {
    Device device;
    device.name = "ddr";
    EXPECT_THAT(complaint(device),
                testing::MatchesRegex("device 'ddr' has no .*Cores; it has nothing but a memory"));
    device.put(Array{});
    EXPECT_EQ(device.get<Array>().columns, 4);
    EXPECT_THAT(complaint(device),
                testing::MatchesRegex("device 'ddr' has no .*Cores; it has .*Array"));
    device.put(Cores{});
    EXPECT_EQ(complaint(device), "");
}

TEST(Device, HasOneSectionOfAType) {
    Device device;
    device.put(Array{5});
    device.put(Cores{});
    device.put(Array{7});
    EXPECT_EQ(device.get<Array>().columns, 7);
    EXPECT_TRUE(device.has<Cores>());
}

}  // namespace
}  // namespace tilesim::workloads
