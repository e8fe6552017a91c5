#include "arch/npu/npu_config.hpp"

#include <gmock/gmock.h>

#include <string>

#include "arch/base/config.hpp"

namespace tilesim::arch::npu {
namespace {

std::string refusal(const std::string& text) {
    try {
        auto document = base::config::Document::parse(text, "device.yaml");
        read_npu_config(document.root().child("npu", ""));
        document.finish();
        return "";
    } catch (const base::config::ConfigError& error) {
        return error.what();
    }
}

TEST(NpuConfig, WhatExceedsAnotherKeySaysBoth) {
    EXPECT_THAT(refusal("npu: {stream: {sink_fifo: 4, arbiter_fifo: 5}}"),
                testing::HasSubstr("npu.stream.arbiter_fifo: must not exceed sink_fifo, 4, got 5"));
    EXPECT_THAT(refusal("npu: {core: {memory: 2 KiB, stack: 3 KiB}}"),
                testing::HasSubstr("npu.core.stack: must be smaller than memory, 2048 B, "
                                   "got 3072 B"));
}

// A multiple of 4 KiB that is no multiple of the burst would lie within one.
TEST(NpuConfig, BurstsOfAShimArePowersOfTwo) {
    EXPECT_THAT(refusal("npu: {shim: {burst: 192 B}}"),
                testing::HasSubstr("npu.shim.burst: must be a power of two, got 192 B"));
    EXPECT_EQ(refusal("npu: {shim: {burst: 128 B}}"), "");
}

}  // namespace
}  // namespace tilesim::arch::npu
