#include "arch/fabric/fabric_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/base/config.hpp"

namespace tilesim::arch::fabric {
namespace {

FabricConfig read_fabric(const std::string& text) {
    auto document = base::config::Document::parse(text, "device.yaml");
    const FabricConfig config = read_fabric_config(document.root().child("fabric", ""));
    document.finish();
    return config;
}

TEST(FabricConfig, AChopIsAPowerOfTwo) {
    EXPECT_EQ(read_fabric("fabric: {chop: 128 B}").chop.count(), 128);
    try {
        read_fabric("fabric:\n  chop: 96 B\n");
        FAIL();
    } catch (const base::config::ConfigError& error) {
        EXPECT_THAT(
            error.what(),
            testing::HasSubstr("device.yaml:2:9: fabric.chop: must be a power of two, got 96 B"));
    }
}

TEST(FabricConfig, ALineIsCarriedInWholeCycles) {
    try {
        read_fabric("fabric: {line: 24 B, link_width: 16 B/cycle}");
        FAIL();
    } catch (const base::config::ConfigError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("fabric.line: must be a multiple of "
                                                     "link_width, 16 B/cycle, got 24 B"));
    }
}

// The memory looks that far ahead.
TEST(FabricConfig, ARequestTakesANanosecondAtLeast) {
    EXPECT_EQ(read_fabric("fabric: {request_latency: 1 ns}").request_latency.count(), 1'000'000);
    EXPECT_THROW(read_fabric("fabric: {request_latency: 999 ps}"), base::config::ConfigError);
}

}  // namespace
}  // namespace tilesim::arch::fabric
