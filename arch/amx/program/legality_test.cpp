#include "arch/amx/program/legality.hpp"

#include <gmock/gmock.h>

#include "arch/amx/program/program_text.hpp"

namespace tilesim::arch::amx::program {
namespace {

using testing::HasSubstr;

std::optional<FirstFault> fault_of(const std::string& text) {
    return first_fault(
        read_program("buffer a 0x1000 8192\n"
                     "config 0 16x64 16x64 16x64 16x64 16x64 16x64 16x64 16x64\n"
                     "config 1 17x64 16x64 16x64 16x64 16x64 16x64 16x64 16x64\n" +
                         text,
                     "t"));
}

TEST(Legality, OfLegalInstructionsThereIsNoFault) {
    EXPECT_FALSE(
        fault_of("ldtilecfg 0\ntilezero tmm0\ntileloadd tmm1, [a], 64\n"
                 "tdpbssd tmm0, tmm1, tmm2\ntilestored [a], 64, tmm0\ntilerelease\n"));
    EXPECT_FALSE(fault_of("vmovups zmm0, [a]\n"));
}

TEST(Legality, TheFirstFaultHasItsLine) {
    const auto unconfigured = fault_of("scalar\ntilezero tmm0\n");
    ASSERT_TRUE(unconfigured);
    EXPECT_EQ(unconfigured->line, 5);
    EXPECT_THAT(unconfigured->fault.reason, HasSubstr("not configured"));
    EXPECT_EQ(fault_of("ldtilecfg 0\ntdpbssd tmm0, tmm0, tmm1\n")->line, 5);
    EXPECT_EQ(fault_of("ldtilecfg 1\n")->fault.kind, Fault::Kind::GeneralProtection);
}

// What a loop releases at its end faults in its second turn.
TEST(Legality, LoopsAreFollowed) {
    EXPECT_FALSE(fault_of("ldtilecfg 0\nloop i 1\n  tilezero tmm0\n  tilerelease\nend\n"));
    EXPECT_EQ(fault_of("ldtilecfg 0\nloop i 2\n  tilezero tmm0\n  tilerelease\nend\n")->line, 6);
}

}  // namespace
}  // namespace tilesim::arch::amx::program
