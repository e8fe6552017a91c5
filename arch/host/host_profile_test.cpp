#include "arch/host/host_profile.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tilesim::arch::host {
namespace {

TEST(HostProfile, TheFirstChangesNothingAndNamesDiffer) {
    const HostProfile& first = host_profiles().front();
    EXPECT_EQ(first.name, "default");
    EXPECT_EQ(first.dispatch.count() + first.array_clock.count() + first.processor_clock.count() +
                  first.descriptor_cycles.count() + first.link_clock.count(),
              0);
    std::set<std::string_view> names;
    for (const auto& [name, index] : host_profile_names()) {
        EXPECT_EQ(host_profiles()[index].name, name);
        EXPECT_TRUE(names.insert(name).second) << name;
    }
}

// The open driver's steps: a clock of the array goes with one of the command processor.
TEST(HostProfile, ClocksComeInPairs) {
    for (const HostProfile& profile : host_profiles()) {
        EXPECT_EQ(profile.array_clock.count() > 0, profile.processor_clock.count() > 0)
            << profile.name;
    }
}

}  // namespace
}  // namespace tilesim::arch::host
