#include "arch/systemc/port/address_decoder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/systemc/dram/dram.hpp"
#include "arch/systemc/initiators_testing.hpp"
#include "arch/systemc/protocol_checker_testing.hpp"
#include "arch/systemc/reports_testing.hpp"

namespace tilesim::arch::systemc::port {
namespace {

using testing::StartsWith;

TEST(AddressDecoder, LeadsToTheTargetOfTheAddressWhichSeesItFromZero) {
    TimeLine line("line");
    dram::Dram low("low", line, {}), high("high", line, {});
    AddressDecoder bus("bus");
    bool done = false;
    BlockingInitiator cpu("cpu", [&](BlockingInitiator& self) {
        EXPECT_EQ(self.write(0x1000 + 8, 11), tlm::TLM_OK_RESPONSE);
        EXPECT_EQ(self.write(0x8000 + 8, 22), tlm::TLM_OK_RESPONSE);
        EXPECT_EQ(self.read(0x1000 + 8), 11U);
        EXPECT_EQ(self.read(0x8000 + 8), 22U);
        EXPECT_EQ(self.write(0x7FFE, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
        done = true;
    });
    const CheckedBinding binding(cpu.socket, bus.socket);
    ProtocolChecker at_low("at_low");
    at_low.out.bind(low.socket);
    bus.map(0x1000, 0x7000, "low", at_low.in);
    bus.map(0x8000, 0x1000, "high", high.socket);
    sc_core::sc_start();
    EXPECT_TRUE(done);
    EXPECT_THAT(at_low.faults, testing::IsEmpty());
    std::uint32_t value = 0;
    high.bytes().read(8, std::as_writable_bytes(std::span{&value, 1}));
    EXPECT_EQ(value, 22U);
}

TEST(AddressDecoder, RefusesTwoTargetsAtOneAddress) {
    TimeLine line("line");
    dram::Dram low("low", line, {}), high("high", line, {});
    AddressDecoder bus("bus");
    bus.map(0x1000, 0x1000, "first", low.socket);
    EXPECT_THAT(error_of([&] { bus.map(0x1FFF, 0x10, "second", high.socket); }),
                StartsWith("bus: second at 0x1fff to 0x200e lies over first"));
}

TEST(AddressDecoder, RefusesARangeOfNothingOrBeyondTheLastAddress) {
    TimeLine line("line");
    dram::Dram low("low", line, {}), high("high", line, {});
    AddressDecoder bus("bus");
    EXPECT_THAT(error_of([&] { bus.map(0x1000, 0, "first", low.socket); }),
                StartsWith("bus: first of 0x0 B at 0x1000: must be at least 1 B"));
    EXPECT_THAT(error_of([&] { bus.map(UINT64_MAX - 14, 0x10, "first", low.socket); }),
                StartsWith("bus: first of 0x10 B at 0xfffffffffffffff1: must be"));
    bus.map(UINT64_MAX - 15, 0x10, "first", low.socket);
    EXPECT_THAT(error_of([&] { bus.map(UINT64_MAX, 1, "second", high.socket); }),
                StartsWith("bus: second at 0xffffffffffffffff to 0xffffffffffffffff lies over"));
}

TEST(AddressDecoder, RefusesWhatLiesNowhereInItsName) {
    const Warnings warnings;
    TimeLine line("line");
    dram::Dram low("low", line, {});
    AddressDecoder bus("bus");
    BlockingInitiator cpu("cpu", [](BlockingInitiator& self) {
        EXPECT_EQ(self.write(0x2000 - 2, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);  // half of it
        EXPECT_EQ(self.write(0xFFF, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    });
    const CheckedBinding binding(cpu.socket, bus.socket);
    bus.map(0x1000, 0x1000, "first", low.socket);
    sc_core::sc_start();
    ASSERT_EQ(Warnings::texts().size(), 2U);
    EXPECT_THAT(Warnings::texts(), testing::Each(StartsWith("bus: nothing is there")));
}

TEST(AddressDecoder, UnboundIsAnErrorThatNamesIt) {
    const AddressDecoder bus("bus");
    EXPECT_THAT(error_of([] { sc_core::sc_start(); }), testing::HasSubstr("port 'bus."));
}

}  // namespace
}  // namespace tilesim::arch::systemc::port
