#include "arch/systemc/port/address_decoder.hpp"

#include <gtest/gtest.h>

#include "arch/systemc/dram/dram.hpp"
#include "arch/systemc/initiators_testing.hpp"

namespace tilesim::arch::systemc::port {
namespace {

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
    cpu.socket.bind(bus.socket);
    bus.map(0x1000, 0x7000, "low", low.socket);
    bus.map(0x8000, 0x1000, "high", high.socket);
    sc_core::sc_start();
    EXPECT_TRUE(done);
    std::uint32_t value = 0;
    high.bytes().read(8, std::as_writable_bytes(std::span{&value, 1}));
    EXPECT_EQ(value, 22U);
}

TEST(AddressDecoder, RefusesTwoTargetsAtOneAddress) {
    TimeLine line("line");
    dram::Dram low("low", line, {}), high("high", line, {});
    AddressDecoder bus("bus");
    bus.map(0x1000, 0x1000, "first", low.socket);
    try {
        bus.map(0x1FFF, 0x10, "second", high.socket);
        FAIL() << "two targets lie at one address";
    } catch (const sc_core::sc_report& report) {
        EXPECT_STREQ(report.get_msg_type(), "bus");
        EXPECT_NE(std::string{report.get_msg()}.find("second"), std::string::npos);
    }
}

}  // namespace
}  // namespace tilesim::arch::systemc::port
