// What the DRAM's socket says of initiators that break the protocol, and what it owes those that do
// not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>

#include "arch/systemc/dram/dram.hpp"
#include "arch/systemc/initiators_testing.hpp"
#include "arch/systemc/reports_testing.hpp"

namespace tilesim::arch::systemc::dram {
namespace {

using testing::StartsWith;

// What the memory says of a payload without a memory manager in this phase.
std::string error_of_phase(tlm::tlm_phase phase) {
    TimeLine line("line");
    Dram dram("ddr", line, memory::device::MemoryConfig{});
    std::string error;
    BlockingInitiator rude("rude", [&](BlockingInitiator& cpu) {
        std::array<unsigned char, 64> data{};
        tlm::tlm_generic_payload payload;
        BlockingInitiator::prepare(payload, false, 0, data.data(), 64);
        sc_core::sc_time delay;
        error = error_of([&] { cpu.socket->nb_transport_fw(payload, phase, delay); });
    });
    rude.socket.bind(dram.socket);
    sc_core::sc_start();
    return error;
}

TEST(DramProtocol, SaysWhichSocketBrokeTheProtocol) {
    EXPECT_THAT(error_of_phase(tlm::END_RESP), StartsWith("ddr: socket 0: phase END_RESP"));
}

TEST(DramProtocol, ANonBlockingRequestNeedsAMemoryManager) {
    EXPECT_THAT(error_of_phase(tlm::BEGIN_REQ), testing::HasSubstr("has no memory manager"));
}

// Takes answers and says nothing to them.
struct Silent final : sc_core::sc_module {
    explicit Silent(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
        socket.register_nb_transport_bw(this, &Silent::take);
    }
    tlm_utils::simple_initiator_socket<Silent> socket{"socket"};
    tlm::tlm_sync_enum take(tlm::tlm_generic_payload& /*payload*/, tlm::tlm_phase& /*phase*/,
                            sc_core::sc_time& /*delay*/) {
        return tlm::TLM_ACCEPTED;
    }
};

// Payloads that nobody frees before the end.
struct Kept final : tlm::tlm_mm_interface {
    void free(tlm::tlm_generic_payload* /*payload*/) override {}
};

// A memory whose client says nothing to its answers, and two payloads for it.
struct Answered {
    Answered() { cpu.socket.bind(dram.socket); }
    TimeLine line{"line"};
    Dram dram{"ddr", line, memory::device::MemoryConfig{}};
    Kept kept;
    tlm::tlm_generic_payload first{&kept}, second{&kept};
    Silent cpu{"cpu"};
};

// A client that asks for and writes the same bytes before it has been answered.
TEST(DramProtocol, AReadHasTheBytesOfItsPlaceInTheOrderOfRequests) {
    Answered system;
    std::uint32_t before = 0x11111111;
    std::uint32_t after = 0x22222222;
    std::uint32_t got = 0;
    system.dram.bytes().write(64, std::as_bytes(std::span{&before, 1}));
    Process process("process", [&] {
        BlockingInitiator::prepare(system.first, false, 64, &got, 4);
        BlockingInitiator::prepare(system.second, true, 64, &after, 4);
        for (tlm::tlm_generic_payload* const payload : {&system.first, &system.second}) {
            payload->acquire();
            tlm::tlm_phase phase = tlm::BEGIN_REQ;
            sc_core::sc_time delay;
            system.cpu.socket->nb_transport_fw(*payload, phase, delay);
        }
        sc_core::wait(sc_core::sc_time(10, sc_core::SC_US));  // both are done
    });
    sc_core::sc_start();
    EXPECT_EQ(got, before);
}

TLM_DECLARE_EXTENDED_PHASE(NOTE);

TEST(DramProtocol, PhasesBeyondTheBaseProtocolAreIgnored) {
    EXPECT_EQ(error_of_phase(NOTE), "no error");
}

TEST(DramProtocol, AResponseIsEndedWithTheTransactionItIsOf) {
    Answered system;
    tlm::tlm_generic_payload& asked = system.first;
    tlm::tlm_generic_payload& other = system.second;
    Silent& cpu = system.cpu;
    std::string error;
    const auto end_with = [&](tlm::tlm_generic_payload& payload) {
        tlm::tlm_phase phase = tlm::END_RESP;
        sc_core::sc_time delay;
        return cpu.socket->nb_transport_fw(payload, phase, delay);
    };
    Process process("process", [&] {
        std::array<unsigned char, 64> data{};
        BlockingInitiator::prepare(asked, false, 0, data.data(), 64);
        BlockingInitiator::prepare(other, false, 64, data.data(), 64);
        asked.acquire();
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time delay;
        cpu.socket->nb_transport_fw(asked, phase, delay);
        sc_core::wait(sc_core::sc_time(10, sc_core::SC_US));  // BEGIN_RESP has come
        error = error_of([&] { end_with(other); });
        EXPECT_EQ(end_with(asked), tlm::TLM_COMPLETED);
    });
    sc_core::sc_start();
    EXPECT_THAT(error, StartsWith("ddr: socket 0: phase END_RESP of a read of 64 B at 0x40"));
    EXPECT_EQ(asked.get_ref_count(), 1);
}

// Begun again while it is under way, and after its end.
TEST(DramProtocol, APayloadIsUnderWayOnce) {
    Answered system;
    tlm::tlm_generic_payload& payload = system.first;
    std::string error;
    const auto send = [&](tlm::tlm_phase phase) {
        sc_core::sc_time delay;
        return system.cpu.socket->nb_transport_fw(payload, phase, delay);
    };
    Process process("process", [&] {
        std::array<unsigned char, 64> data{};
        BlockingInitiator::prepare(payload, false, 0, data.data(), 64);
        payload.acquire();
        send(tlm::BEGIN_REQ);
        error = error_of([&] { send(tlm::BEGIN_REQ); });
        sc_core::wait(sc_core::sc_time(10, sc_core::SC_US));
        EXPECT_EQ(send(tlm::END_RESP), tlm::TLM_COMPLETED);
        EXPECT_EQ(error_of([&] { send(tlm::BEGIN_REQ); }), "no error");
        sc_core::wait(sc_core::sc_time(10, sc_core::SC_US));
    });
    sc_core::sc_start();
    EXPECT_THAT(error, StartsWith("ddr: socket 0: a read of 64 B at 0x0 begins again"));
}

}  // namespace
}  // namespace tilesim::arch::systemc::dram
