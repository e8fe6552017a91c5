#include "arch/systemc/port/memory_initiator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_target_socket.h>

#include "arch/systemc/dram/dram.hpp"
#include "arch/systemc/protocol_checker_testing.hpp"
#include "arch/systemc/reports_testing.hpp"

namespace tilesim::arch::systemc::port {
namespace {

using namespace base::literals;

struct Client final : memory::port::MemoryClient {
    std::vector<std::pair<std::uint64_t, base::Femtoseconds>> answers;
    void on_memory_complete(std::uint64_t tag, base::Femtoseconds when) override {
        answers.emplace_back(tag, when);
    }
};

// Two time lines, and one DRAM behind a socket of the other.
struct System {
    explicit System(const InitiatorOptions& options = {},
                    const dram::DramOptions& dram_options = {})
        : initiator("initiator", line, options),
          dram("ddr", other, {}, dram_options),
          binding(initiator.socket, dram.socket) {}
    ~System() { EXPECT_TRUE(initiator.idle()); }
    TimeLine line{"line"}, other{"other"};
    MemoryInitiator initiator;
    dram::Dram dram;
    CheckedBinding binding;
    Client client;
};

TEST(MemoryInitiator, AsksAtTheArrivalAndAnswersWhenTheMemoryDoes) {
    System system;
    system.initiator.submit({4096, 64, false, &system.client, 3, 250_ns});
    system.initiator.submit({8192, 64, false, &system.client, 4, 50_ns});
    sc_core::sc_start();
    ASSERT_EQ(system.client.answers.size(), 2U);
    EXPECT_EQ(system.client.answers[0].first, 4U);
    EXPECT_EQ(system.client.answers[1].first, 3U);
    EXPECT_GT(system.client.answers[0].second, 50_ns + 20_ns);
    EXPECT_GT(system.client.answers[1].second, 250_ns + 20_ns);
    EXPECT_LT(system.client.answers[1].second, 450_ns);
}

TEST(MemoryInitiator, CutsRequestsWhereItIsTold) {
    System system({.largest = base::Bytes{64}});
    system.initiator.submit({32, 256, false, &system.client, 3, 10_ns});
    sc_core::sc_start();
    EXPECT_EQ(system.client.answers.size(), 1U);
    EXPECT_EQ(system.binding.checker().requests, 5U);  // 32, 64, 64, 64 and 32 bytes
}

TEST(MemoryInitiator, AddressesBeginAnewBehindTheMemoryItIsToldOf) {
    const std::int64_t capacity = memory::device::MemoryConfig{}.capacity().count();
    System system({.size = base::Bytes{capacity}});
    std::uint32_t word = 77;
    system.initiator.bytes().write(capacity + 4096, std::as_bytes(std::span{&word, 1}));
    system.initiator.submit({capacity + 4096, 4, true, &system.client, 3, 10_ns});
    sc_core::sc_start();
    EXPECT_EQ(system.client.answers.size(), 1U);
    std::uint32_t written = 0;
    system.dram.bytes().read(4096, std::as_writable_bytes(std::span{&written, 1}));
    EXPECT_EQ(written, 77U);
    // What is read comes to where the models look for it.
    word = 0;
    system.initiator.bytes().write(capacity + 4096, std::as_bytes(std::span{&word, 1}));
    system.initiator.submit({capacity + 4096, 4, false, &system.client, 4, 1000_ns});
    sc_core::sc_start();
    system.initiator.bytes().read(capacity + 4096, std::as_writable_bytes(std::span{&word, 1}));
    EXPECT_EQ(word, 77U);
}

TEST(MemoryInitiator, OtherwiseAnAddressBehindTheMemoryIsAnErrorThatSaysSo) {
    const Warnings warnings;
    TimeLine line("line"), other("other");
    MemoryInitiator initiator("initiator", line);
    dram::Dram dram("ddr", other, {});
    initiator.socket.bind(dram.socket);
    Client client;
    initiator.submit({dram.memory().config().capacity().count(), 64, false, &client, 3, 10_ns});
    EXPECT_THAT(error_of([] { sc_core::sc_start(); }),
                testing::HasSubstr("TLM_ADDRESS_ERROR_RESPONSE; InitiatorOptions::size says"));
}

TEST(MemoryInitiator, CarriesBytesBothWays) {
    System system;
    const std::array<std::byte, 4> out{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
    system.initiator.bytes().write(640, out);
    system.dram.bytes().write(64'000, out);
    system.initiator.submit({640, 4, true, &system.client, 0, 10_ns});
    system.initiator.submit({64'000, 4, false, &system.client, 1, 10_ns});
    sc_core::sc_start();
    std::array<std::byte, 4> in{};
    system.dram.bytes().read(640, in);
    EXPECT_EQ(in, out);
    system.initiator.bytes().read(64'000, in);
    EXPECT_EQ(in, out);
}

// Answers every read twice, or with a payload of its own.
struct WrongMemory final : sc_core::sc_module {
    WrongMemory(const sc_core::sc_module_name& name, bool is_strange)
        : sc_core::sc_module(name), strange(is_strange) {
        socket.register_b_transport(this, &WrongMemory::b_transport);
        socket.register_nb_transport_fw(this, &WrongMemory::nb_transport_fw);
    }
    tlm_utils::simple_target_socket<WrongMemory> socket{"socket"};
    bool strange;
    std::string second;  // what the second answer raises
    tlm::tlm_generic_payload own;
    void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&) {}
    void answer(tlm::tlm_generic_payload& payload) {
        tlm::tlm_phase phase = tlm::BEGIN_RESP;
        sc_core::sc_time delay;
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
        socket->nb_transport_bw(payload, phase, delay);
    }
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                       sc_core::sc_time&) {
        payload.acquire();
        answer(payload);
        second = error_of([&] { answer(strange ? own : payload); });
        return tlm::TLM_ACCEPTED;
    }
};

void expect_refused_by(bool strange) {
    TimeLine line("line");
    MemoryInitiator initiator("initiator", line);
    WrongMemory memory("wrong", strange);
    initiator.socket.bind(memory.socket);
    Client client;
    initiator.submit({4096, 64, false, &client, 3, 50_ns});
    sc_core::sc_start();
    EXPECT_EQ(client.answers.size(), 1U);
    EXPECT_THAT(memory.second, testing::StartsWith("initiator: phase BEGIN_RESP of a"));
}

TEST(MemoryInitiator, RefusesASecondAnswer) {
    expect_refused_by(false);
}

TEST(MemoryInitiator, RefusesAnAnswerToWhatIsNotItsOwn) {
    expect_refused_by(true);
}

TEST(MemoryInitiator, WaitsForTheEndOfItsRequest) {
    System system({}, {.outstanding = 3});
    for (std::uint64_t i = 0; i < 200; ++i) {
        system.initiator.submit(
            {static_cast<std::int64_t>(i) * 4096, 64, i % 3 == 0, &system.client, i, 10_ns});
    }
    sc_core::sc_start();
    EXPECT_EQ(system.client.answers.size(), 200U);
    EXPECT_EQ(system.binding.checker().most_under_way, 3U);
}

// Takes a request every 7 ns, as it says in what way, and answers after 50 ns.
struct PacedMemory final : sc_core::sc_module {
    PacedMemory(const sc_core::sc_module_name& name, tlm::tlm_sync_enum with, tlm::tlm_phase at)
        : sc_core::sc_module(name), status(with), phase(at) {
        socket.register_b_transport(this, &PacedMemory::b_transport);
        socket.register_nb_transport_fw(this, &PacedMemory::nb_transport_fw);
    }
    tlm_utils::simple_target_socket<PacedMemory> socket{"socket"};
    tlm::tlm_sync_enum status;
    tlm::tlm_phase phase;
    tlm_utils::peq_with_cb_and_phase<PacedMemory> later{this, &PacedMemory::answer};
    void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&) {}
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& to,
                                       sc_core::sc_time& delay) {
        if (to == tlm::END_RESP) {
            return tlm::TLM_COMPLETED;
        }
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
        delay = sc_core::sc_time(status == tlm::TLM_COMPLETED || phase != tlm::END_REQ ? 50 : 7,
                                 sc_core::SC_NS);
        to = phase;
        if (status == tlm::TLM_UPDATED && phase == tlm::END_REQ) {
            payload.acquire();
            later.notify(payload, tlm::BEGIN_RESP, sc_core::sc_time(50, sc_core::SC_NS));
        }
        return status;
    }
    void answer(tlm::tlm_generic_payload& payload, const tlm::tlm_phase&) {
        tlm::tlm_phase to = tlm::BEGIN_RESP;
        sc_core::sc_time delay;
        socket->nb_transport_bw(payload, to, delay);
        payload.release();
    }
};

// When the second of two requests of 10 ns and 12 ns is answered.
base::Femtoseconds second_answer(tlm::tlm_sync_enum status, tlm::tlm_phase phase) {
    TimeLine line("line");
    MemoryInitiator initiator("initiator", line);
    PacedMemory memory("memory", status, phase);
    const CheckedBinding binding(initiator.socket, memory.socket);
    Client client;
    initiator.submit({4096, 64, false, &client, 0, 10_ns});
    initiator.submit({8192, 64, false, &client, 1, 12_ns});
    sc_core::sc_start();
    return client.answers.at(1).second;
}

TEST(MemoryInitiator, SendsNothingBeforeTheTimeAtWhichARequestEnds) {
    EXPECT_EQ(second_answer(tlm::TLM_UPDATED, tlm::END_REQ), 10_ns + 7_ns + 50_ns);
}

// BEGIN_RESP ends the request, and is ended at its own time.
TEST(MemoryInitiator, AnAnswerAtOnceEndsTheRequestAtItsTime) {
    EXPECT_EQ(second_answer(tlm::TLM_UPDATED, tlm::BEGIN_RESP), 10_ns + 50_ns + 50_ns);
}

TEST(MemoryInitiator, ACompletedRequestEndsAtItsTime) {
    EXPECT_EQ(second_answer(tlm::TLM_COMPLETED, tlm::BEGIN_REQ), 10_ns + 50_ns + 50_ns);
}

TEST(MemoryInitiator, UnboundIsAnErrorThatNamesIt) {
    TimeLine line("line");
    const MemoryInitiator initiator("initiator", line);
    EXPECT_THAT(error_of([] { sc_core::sc_start(); }), testing::HasSubstr("initiator.socket"));
}

// Pieces of nothing were an end of the program or none.
TEST(MemoryInitiator, RefusesPiecesAndClocksThatAreNone) {
    TimeLine line("line");
    for (const InitiatorOptions& options :
         {InitiatorOptions{.largest = base::Bytes{0}}, InitiatorOptions{.largest = base::Bytes{-1}},
          InitiatorOptions{.clock = base::Hertz{0}}}) {
        EXPECT_THAT(error_of([&] { const MemoryInitiator made("made", line, options); }),
                    testing::StartsWith("made: a largest transaction of "));
    }
    for (const std::int64_t size : {-256, 1000}) {
        EXPECT_THAT(error_of([&] {
                        const MemoryInitiator made("made", line, {.size = base::Bytes{size}});
                    }),
                    testing::StartsWith("made: a memory of "));
    }
}

}  // namespace
}  // namespace tilesim::arch::systemc::port
