#include "workloads/npu/program_refusal.hpp"

#include <gtest/gtest.h>

#include "arch/npu/check/ready_program.hpp"

namespace tilesim::workloads::npu {
namespace {

using arch::base::config::ConfigError;
using arch::base::config::Document;
using arch::npu::check::ProgramRefused;
using arch::npu::check::Shortfall;

const Shortfall kLocks{"npu.core.locks", "at least 7", "1", ""};
const Shortfall kLength{"npu.shim_dma.length_bits", "at least 18", "12", "a descriptor moves much"};

Device device() {
    Device device;
    device.name = "small";
    device.documents = {Document::parse("npu: {core: {locks: 1}}\n", "small.yaml")};
    return device;
}

TEST(ProgramRefusal, AMappingBeyondTheDeviceIsToldOfOnceForEachLimit) {
    const ProgramRefused refused({"lock a: no", "lock b: no"}, {kLocks, kLength});
    EXPECT_STREQ(
        refusal_of_mapping(refused, device()).what(),
        "mapping: device.npu.core.locks must be at least 7 for it, 'small' has 1\n"
        "mapping: device.npu.shim_dma.length_bits must be at least 18 for it (a descriptor "
        "moves much), 'small' has 12");
}

TEST(ProgramRefusal, ALimitThatWasChangedIsAtFaultItself) {
    const ProgramRefused refused({"lock a: no"}, {kLocks, kLength});
    Device changed = device();
    changed.documents[0].override_value("npu.core.locks", "1", "--set device.");
    changed.documents[0].override_value("npu.shim_dma", "{length_bits: 12}", "--set device.");
    EXPECT_STREQ(refusal_of_mapping(refused, changed).what(),
                 "--set device.npu.core.locks: must be at least 7 for this mapping, got 1\n"
                 "--set device.npu.shim_dma: npu.shim_dma.length_bits: must be at least 18 for "
                 "this mapping (a descriptor moves much), got 12");
}

TEST(ProgramRefusal, WhatIsNoLimitsFaultIsTheMappings) {
    EXPECT_STREQ(refusal_of_mapping(ProgramRefused({"one", "two", "three"}, {}), device()).what(),
                 "mapping: its program cannot run: one; and 2 more");
    EXPECT_STREQ(refusal_of_mapping(ConfigError("route a: no way"), device()).what(),
                 "mapping: its program cannot run: route a: no way");
}

}  // namespace
}  // namespace tilesim::workloads::npu
