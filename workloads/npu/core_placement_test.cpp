#include "workloads/npu/core_placement.hpp"

#include <gtest/gtest.h>

namespace tilesim::workloads::npu {
namespace {

using Places = std::vector<std::int64_t>;

arch::npu::CoreConfig core_of(std::int64_t memory, std::int64_t bank, std::int64_t stack) {
    arch::npu::CoreConfig core;
    core.memory = arch::base::Bytes{memory};
    core.bank = arch::base::Bytes{bank};
    core.stack = arch::base::Bytes{stack};
    return core;
}

TEST(CorePlacement, BuffersTakeBanksInTurnLargestFirst) {
    // Banks of 100; the stack keeps 10 of the first.
    const auto core = core_of(400, 100, 10);
    EXPECT_EQ(place_in_core({40, 70, 70}, core), (Places{200, 10, 100}));
    EXPECT_EQ(place_in_core({30, 30, 60, 60, 90}, core), (Places{300, 100 + 60, 100, 200, 10}));
}

TEST(CorePlacement, ABankWithoutRoomIsPassedOver) {
    EXPECT_EQ(place_in_core({95, 85}, core_of(400, 100, 10)), (Places{100, 200}));
}

TEST(CorePlacement, WhereABufferIsLongerThanABankAllFollowEachOther) {
    EXPECT_EQ(place_in_core({30, 30, 150}, core_of(400, 100, 10)), (Places{160, 190, 10}));
}

TEST(CorePlacement, WhatTheMemoryCannotHoldHasNoPlace) {
    EXPECT_EQ(place_in_core({195, 195}, core_of(400, 100, 10)), (Places{10, 205}));
    EXPECT_FALSE(place_in_core({195, 196}, core_of(400, 100, 10)));
}

}  // namespace
}  // namespace tilesim::workloads::npu
