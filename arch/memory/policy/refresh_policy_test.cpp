#include <gtest/gtest.h>

#include "arch/memory/policy/refresh_policies.hpp"

namespace tilesim::arch::memory::policy {
namespace {

device::MemoryConfig two_channels() {
    device::MemoryConfig config;
    config.channels = 2;
    config.timing.tREFI = base::Cycles{3898};
    config.timing.tRFC = base::Cycles{295};
    return config;
}

// Channel c of n begins at (c + 1) tREFI / n: their refreshes share out the interval.
TEST(AllBankRefresh, ChannelsShareOutTheInterval) {
    EXPECT_EQ((AllBankRefresh{two_channels(), 0}.first()), 1949);
    EXPECT_EQ((AllBankRefresh{two_channels(), 1}.first()), 3898);
}

}  // namespace
}  // namespace tilesim::arch::memory::policy
