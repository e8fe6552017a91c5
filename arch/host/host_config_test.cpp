#include "arch/host/host_config.hpp"

#include <gtest/gtest.h>

#include "arch/base/config.hpp"

namespace tilesim::arch::host {
namespace {

HostConfig read(const std::string& text) {
    auto document = base::config::Document::parse(text, "device.yaml");
    const HostConfig config = read_host_config(document.root().child("host", ""));
    document.finish();
    return config;
}

TEST(HostConfig, EveryKeyReachesItsMember) {
    const HostConfig config = read(R"(
host:
  cores: 3
  clock: 1.7 GHz
  operations_per_cycle: 19
  tiled_permille: 523
  streaming_permille: 109
  function: 7 cycle
  transposed_element: 5 cycle
  l1: 1025 B
  l2_bandwidth: 31 B/cycle
  l3: 40009 B
  bandwidth: 29 GB/s
  core_bandwidth: 11 GB/s
  line: 67 B
  flush_line: 13 ns
  sync_call: 499 ns
)");
    EXPECT_EQ(config.cores, 3);
    EXPECT_EQ(config.clock.count(), 1'700'000'000);
    EXPECT_EQ(config.operations_per_cycle, 19);
    EXPECT_EQ(config.tiled_permille, 523);
    EXPECT_EQ(config.streaming_permille, 109);
    EXPECT_EQ(config.function.count(), 7);
    EXPECT_EQ(config.transposed_element.count(), 5);
    EXPECT_EQ(config.l1.count(), 1025);
    EXPECT_EQ(config.l2_bandwidth.count(), 31);
    EXPECT_EQ(config.l3.count(), 40'009);
    EXPECT_EQ(config.bandwidth.count(), 29'000'000'000);
    EXPECT_EQ(config.core_bandwidth.count(), 11'000'000'000);
    EXPECT_EQ(config.line.count(), 67);
    EXPECT_EQ(config.flush_line.count(), 13'000'000);
    EXPECT_EQ(config.sync_call.count(), 499'000'000);
}

TEST(HostConfig, OneCoreIsNoFasterThanAllOfThem) {
    const auto with = [](const std::string& core_bandwidth) {
        return read(
            "host: {cores: 3, clock: 1 GHz, operations_per_cycle: 19, bandwidth: 29 GB/s, "
            "core_bandwidth: " +
            core_bandwidth + "}");
    };
    EXPECT_NO_THROW(with("29 GB/s"));
    EXPECT_THROW(with("30 GB/s"), base::config::ConfigError);
}

}  // namespace
}  // namespace tilesim::arch::host
