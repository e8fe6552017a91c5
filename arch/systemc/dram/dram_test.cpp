#include "arch/systemc/dram/dram.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "arch/base/splitmix64.hpp"
#include "arch/systemc/hierarchy_testing.hpp"
#include "arch/systemc/initiators_testing.hpp"
#include "arch/systemc/protocol_checker_testing.hpp"
#include "arch/systemc/reports_testing.hpp"

namespace tilesim::arch::systemc::dram {
namespace {

using namespace base::literals;
using testing::StartsWith;
using Access = NonBlockingInitiator::Access;

memory::device::MemoryConfig config() {
    return {};  // LPDDR5X-like defaults; every shipped standard: see validation
}

std::int64_t femtoseconds(const sc_core::sc_time& time) {
    return std::llround(time.to_seconds() * 1e15);
}

// When the controllers alone answer requests that arrive at these times.
struct Direct final : memory::port::MemoryClient {
    std::vector<base::Femtoseconds> answers;
    void on_memory_complete(std::uint64_t tag, base::Femtoseconds when) override {
        answers[tag] = when;
    }
    Direct(const std::vector<memory::port::MemoryRequest>& requests, base::Femtoseconds lookahead)
        : answers(requests.size()) {
        base::EventQueue queue;
        base::stats::Group root("");
        memory::controller::MemorySystem memory(config(), lookahead, queue, root);
        for (std::size_t i = 0; i < requests.size(); ++i) {
            memory::port::MemoryRequest request = requests[i];
            request.client = this;
            request.tag = i;
            memory.submit(request);
        }
        queue.run_until(1'000'000_ns);
    }
};

// `accesses` blocking ones from one thread.
struct Blocking {
    TimeLine line{"line"};
    Dram dram;
    BlockingInitiator cpu;
    CheckedBinding binding;

    explicit Blocking(std::function<void(BlockingInitiator&)> body, const DramOptions& options = {})
        : dram("ddr", line, config(), options),
          cpu("cpu", std::move(body)),
          binding(cpu.socket, dram.socket) {}
};

TEST(Dram, ReadsBackWhatWasWritten) {
    bool done = false;
    Blocking system([&](BlockingInitiator& cpu) {
        std::vector<unsigned char> out(300), in(300);
        std::iota(out.begin(), out.end(), 7);
        EXPECT_EQ(cpu.access(true, 65'530, out.data(), 300), tlm::TLM_OK_RESPONSE);
        EXPECT_EQ(cpu.access(false, 65'530, in.data(), 300), tlm::TLM_OK_RESPONSE);
        EXPECT_EQ(in, out);
        EXPECT_EQ(cpu.read(1 << 20), 0U);
        done = true;
    });
    sc_core::sc_start();
    EXPECT_TRUE(done);
}

TEST(Dram, ABlockingReadTakesWhatTheControllersTakeAndTheWayThere) {
    const Direct direct({{4096, 64, false, nullptr, 0, 100_ns + 20_ns}}, 20_ns);
    sc_core::sc_time end;
    Blocking system(
        [&](BlockingInitiator& cpu) {
            sc_core::wait(100, sc_core::SC_NS);
            std::array<unsigned char, 64> data{};
            cpu.access(false, 4096, data.data(), 64);
            end = sc_core::sc_time_stamp();
        },
        {.request_latency = 20_ns});
    sc_core::sc_start();
    EXPECT_EQ(femtoseconds(end), direct.answers[0].count());
}

TEST(Dram, CountsAnAnnotatedDelayAsPassed) {
    const Direct direct({{4096, 64, false, nullptr, 0, 57_ns}}, 20_ns);
    sc_core::sc_time end;
    Blocking system(
        [&](BlockingInitiator& cpu) {
            std::array<unsigned char, 64> data{};
            tlm::tlm_generic_payload payload;
            BlockingInitiator::prepare(payload, false, 4096, data.data(), 64);
            sc_core::sc_time delay(37, sc_core::SC_NS);
            cpu.socket->b_transport(payload, delay);
            end = sc_core::sc_time_stamp() + delay;
        },
        {.request_latency = 20_ns});
    sc_core::sc_start();
    EXPECT_EQ(femtoseconds(end), direct.answers[0].count());
}

TEST(Dram, RefusesWhatItDoesNotSupportInItsName) {
    const Warnings warnings;
    const auto capacity = static_cast<std::uint64_t>(config().capacity().count());
    Blocking system([&](BlockingInitiator& cpu) {
        std::array<unsigned char, 64> data{};
        EXPECT_EQ(cpu.access(false, capacity, data.data(), 64), tlm::TLM_ADDRESS_ERROR_RESPONSE);
        EXPECT_EQ(cpu.access(true, capacity - 32, data.data(), 64),
                  tlm::TLM_ADDRESS_ERROR_RESPONSE);
        EXPECT_EQ(cpu.access(true, capacity - 64, data.data(), 64), tlm::TLM_OK_RESPONSE);
        EXPECT_EQ(cpu.access(true, ~std::uint64_t{0} - 7, data.data(), 64),
                  tlm::TLM_ADDRESS_ERROR_RESPONSE);
        sc_core::sc_time delay;
        tlm::tlm_generic_payload payload;
        BlockingInitiator::prepare(payload, true, 0, data.data(), 64);
        payload.set_byte_enable_ptr(data.data());
        cpu.socket->b_transport(payload, delay);
        EXPECT_EQ(payload.get_response_status(), tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
        BlockingInitiator::prepare(payload, true, 0, data.data(), 64);
        payload.set_streaming_width(8);
        cpu.socket->b_transport(payload, delay);
        EXPECT_EQ(payload.get_response_status(), tlm::TLM_BURST_ERROR_RESPONSE);
    });
    sc_core::sc_start();
    ASSERT_EQ(Warnings::texts().size(), 5U);
    for (const std::string& text : Warnings::texts()) {
        EXPECT_TRUE(text.starts_with("ddr: ")) << text;
    }
    EXPECT_NE(Warnings::texts()[0].find("outside"), std::string::npos);
    EXPECT_NE(Warnings::texts()[3].find("byte enables"), std::string::npos);
    EXPECT_NE(Warnings::texts()[4].find("streaming width of 8"), std::string::npos);
}

TEST(Dram, DebugTransportSeesTheSameBytesInNoTime) {
    Blocking system([](BlockingInitiator& cpu) {
        std::uint32_t value = 0x1234'5678;
        tlm::tlm_generic_payload payload;
        BlockingInitiator::prepare(payload, true, 512, &value, 4);
        EXPECT_EQ(cpu.socket->transport_dbg(payload), 4U);
        EXPECT_EQ(sc_core::sc_time_stamp(), sc_core::SC_ZERO_TIME);
        EXPECT_EQ(cpu.read(512), 0x1234'5678U);
    });
    sc_core::sc_start();
}

// As a payload comes out of its constructor, or as a timed access has left it.
// A model that writes to the memory at its time.
struct Writer final : base::EventHandler {
    explicit Writer(Dram& memory) : dram(memory) {}
    Dram& dram;
    void on_event(std::uint64_t, base::Femtoseconds) override {
        const std::array<std::byte, 1> byte{std::byte{3}};
        dram.bytes().write(64, byte);
    }
};

// Whichever process SystemC runs first then.
TEST(Dram, DebugTransportSeesWhatIsDueAtThePresent) {
    TimeLine line("line");
    Dram dram("ddr", line, config());
    Writer model(dram);
    unsigned char seen = 0;
    BlockingInitiator cpu("cpu", [&](BlockingInitiator& self) {
        sc_core::wait(100, sc_core::SC_NS);
        line.queue().at(100_ns, model);
        tlm::tlm_generic_payload payload;
        BlockingInitiator::prepare(payload, false, 64, &seen, 1);
        EXPECT_EQ(self.socket->transport_dbg(payload), 1U);
    });
    cpu.socket.bind(dram.socket);
    sc_core::sc_start();
    EXPECT_EQ(seen, 3);
}

TEST(Dram, DebugTransportAsksForNoMoreThanCommandAddressAndData) {
    const Warnings warnings;
    Blocking system([](BlockingInitiator& cpu) {
        cpu.write(512, 0x1234'5678);
        std::uint32_t value = 0;
        tlm::tlm_generic_payload payload;
        payload.set_read();
        payload.set_address(512);
        EXPECT_EQ(cpu.socket->transport_dbg(payload), 0U);
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
        payload.set_data_length(4);
        EXPECT_EQ(cpu.socket->transport_dbg(payload), 4U);
        EXPECT_EQ(value, 0x1234'5678U);
        unsigned char enable = 0;
        payload.set_byte_enable_ptr(&enable);
        EXPECT_EQ(cpu.socket->transport_dbg(payload), 4U);
        EXPECT_TRUE(Warnings::texts().empty());
        payload.set_address(~std::uint64_t{0});
        EXPECT_EQ(cpu.socket->transport_dbg(payload), 0U);
        payload.set_command(tlm::TLM_IGNORE_COMMAND);
        EXPECT_EQ(cpu.socket->transport_dbg(payload), 0U);
    });
    sc_core::sc_start();
    ASSERT_EQ(Warnings::texts().size(), 2U);
    EXPECT_NE(Warnings::texts()[0].find("outside"), std::string::npos);
}

TEST(Dram, GrantsDirectAccessOnlyWhereItIsAskedTo) {
    TimeLine line("line");
    Dram timed("timed", line, config());
    Dram direct("direct", line, config(), {.direct_access = true});
    const auto body = [](bool granted) {
        return [granted](BlockingInitiator& cpu) {
            cpu.write(65'536 + 12, 77);
            tlm::tlm_generic_payload payload;
            std::uint32_t value = 0;
            BlockingInitiator::prepare(payload, false, 65'536 + 12, &value, 4);
            tlm::tlm_dmi dmi;
            ASSERT_EQ(cpu.socket->get_direct_mem_ptr(payload, dmi), granted);
            if (granted) {
                EXPECT_TRUE(dmi.is_read_write_allowed());
                EXPECT_EQ(dmi.get_start_address(), 65'536U);
                EXPECT_EQ(dmi.get_end_address(), 2 * 65'536U - 1);
                std::memcpy(&value, dmi.get_dmi_ptr() + 12, 4);
                EXPECT_EQ(value, 77U);
            }
            // What lies outside is denied, and what lies inside only where all is.
            const auto capacity = static_cast<std::uint64_t>(config().capacity().count());
            payload.set_address(capacity + 12);
            ASSERT_FALSE(cpu.socket->get_direct_mem_ptr(payload, dmi));
            EXPECT_EQ(dmi.get_start_address(), granted ? capacity : 0U);
            EXPECT_EQ(dmi.get_end_address(), ~std::uint64_t{0});
        };
    };
    BlockingInitiator a("a", body(false)), b("b", body(true));
    const CheckedBinding at_timed(a.socket, timed.socket), at_direct(b.socket, direct.socket);
    sc_core::sc_start();
}

Access random_access(int i) {
    const auto n = static_cast<std::uint64_t>(i);
    return {base::splitmix64(n) % (1 << 20) * 64, base::splitmix64(n + 99) % 10 < 3};
}
Access sequential(int i) {
    return {static_cast<std::uint64_t>(i) * 64, false};
}

struct NonBlocking {
    TimeLine line{"line"};
    Dram dram;
    NonBlockingInitiator agent;
    CheckedBinding binding;
    int requests;

    NonBlocking(int n, int outstanding, std::function<Access(int)> next,
                const DramOptions& options = {})
        : dram("ddr", line, config(), options),
          agent("agent", 64, n, outstanding, std::move(next)),
          binding(agent.socket, dram.socket),
          requests(n) {}
    ~NonBlocking() {
        EXPECT_EQ(agent.answered, requests);
        EXPECT_EQ(binding.checker().requests, static_cast<std::size_t>(requests));
        EXPECT_EQ(binding.checker().responses, static_cast<std::size_t>(requests));
    }
};

TEST(Dram, AnswersNonBlockingRequestsWhenTheControllersDo) {
    constexpr int kRequests = 40;
    std::vector<memory::port::MemoryRequest> requests;
    for (int i = 0; i < kRequests; ++i) {
        const Access access = random_access(i);
        requests.push_back(
            {static_cast<std::int64_t>(access.address), 64, access.write, nullptr, 0, 20_ns});
    }
    Direct direct(requests, 20_ns);
    NonBlocking system(kRequests, kRequests, random_access, {.request_latency = 20_ns});
    sc_core::sc_start();
    std::vector<std::int64_t> got, expected;
    for (int i = 0; i < kRequests; ++i) {
        got.push_back(femtoseconds(system.agent.times.at(static_cast<std::size_t>(i))));
        expected.push_back(direct.answers[static_cast<std::size_t>(i)].count());
    }
    std::sort(expected.begin(), expected.end());  // the initiator takes them in order of time
    EXPECT_EQ(got, expected);
}

TEST(Dram, KeepsTheBaseProtocolUnderLoad) {
    NonBlocking system(4000, 100, random_access);
    sc_core::sc_start();
}

TEST(Dram, KeepsTheBaseProtocolWithLateEndsOfResponses) {
    NonBlocking system(500, 20, sequential);
    system.agent.late_end = true;
    sc_core::sc_start();
    // One response every 3 ns at most.
    for (std::size_t i = 1; i < system.agent.times.size(); ++i) {
        EXPECT_GE(system.agent.times[i] - system.agent.times[i - 1],
                  sc_core::sc_time(3, sc_core::SC_NS));
    }
}

TEST(Dram, HoldsBackTheEndOfARequestWhenItsSocketHasEnoughUnderWay) {
    NonBlocking system(500, 100, sequential, {.outstanding = 5});
    sc_core::sc_start();
    EXPECT_EQ(system.binding.checker().most_under_way, 5U);
}

// An answer is known before its time.
TEST(Dram, HasRoomForARequestFromTheTimeOfAnAnswerOn) {
    NonBlocking system(500, 100, random_access, {.outstanding = 3});
    sc_core::sc_start();
    EXPECT_EQ(system.agent.most_under_way(), 3);
}

TEST(Dram, RefusesNonBlockingRequestsAtOnce) {
    const Warnings warnings;
    const auto capacity = static_cast<std::uint64_t>(config().capacity().count());
    NonBlocking system(3, 1, [=](int i) { return Access{i == 1 ? capacity : 64U, false}; });
    sc_core::sc_start();
    EXPECT_EQ(Warnings::texts().size(), 1U);
}

TEST(Dram, ServesSeveralSocketsAndBothKindsOfTransport) {
    TimeLine line("line");
    Dram dram("ddr", line, config());
    NonBlockingInitiator a("a", 64, 1000, 30, sequential), b("b", 64, 1000, 30, random_access);
    int done = 0;
    BlockingInitiator c("c", [&](BlockingInitiator& cpu) {
        for (unsigned i = 0; i < 200; ++i) {
            cpu.write((std::uint64_t{1} << 30) + 4 * i, i);
        }
        for (unsigned i = 0; i < 200; ++i) {
            done += cpu.read((std::uint64_t{1} << 30) + 4 * i) == i ? 1 : 0;
        }
    });
    const CheckedBinding of_a(a.socket, dram.socket), of_b(b.socket, dram.socket),
        of_c(c.socket, dram.socket);
    sc_core::sc_start();
    EXPECT_EQ(a.answered, 1000);
    EXPECT_EQ(b.answered, 1000);
    EXPECT_EQ(done, 200);
}

TEST(Dram, RepeatsBitForBitOnTimeLinesOfTheirOwn) {
    TimeLine line_a("line_a"), line_b("line_b");
    Dram dram_a("ddr_a", line_a, config()), dram_b("ddr_b", line_b, config());
    NonBlockingInitiator a("a", 64, 1500, 37, random_access);
    NonBlockingInitiator b("b", 64, 1500, 37, random_access);
    const CheckedBinding of_a(a.socket, dram_a.socket), of_b(b.socket, dram_b.socket);
    sc_core::sc_start();
    EXPECT_EQ(a.times, b.times);
}

TEST(Dram, WorksInPicosecondsToRounding) {
    sc_core::sc_set_time_resolution(1, sc_core::SC_PS);
    const Direct direct({{4096, 64, false, nullptr, 0, 120_ns}}, 20_ns);
    sc_core::sc_time end;
    Blocking system(
        [&](BlockingInitiator& cpu) {
            sc_core::wait(100, sc_core::SC_NS);
            std::array<unsigned char, 64> data{};
            cpu.access(false, 4096, data.data(), 64);
            end = sc_core::sc_time_stamp();
        },
        {.request_latency = 20_ns});
    sc_core::sc_start();
    EXPECT_EQ(femtoseconds(end), (direct.answers[0].count() + 999) / 1000 * 1000);
}

TEST(Dram, IsTheBlockDiagramOfItsChannelsAndBanks) {
    TimeLine line("line");
    const memory::device::MemoryConfig shape = config();
    Dram dram("ddr", line, shape);
    auto counts = kind_counts();
    EXPECT_EQ(counts["dram_channel"], shape.channels);
    EXPECT_EQ(counts["data_bus"], shape.channels);
    EXPECT_EQ(counts["refresh_engine"], shape.channels);
    EXPECT_EQ(counts["dram_bank"], shape.channels * shape.banks());
    EXPECT_EQ(kinds_by_name()["ddr.channel_2.bank_5"], "dram_bank");
}

TEST(Dram, IsNotMadeASecondTime) {
    TimeLine line("line");
    Dram dram("ddr", line, config());
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_NS));
    EXPECT_THAT(error_of([&] { const Dram late("late", line, config()); }),
                StartsWith("late: is made after SystemC has elaborated"));
}

TEST(Dram, RefusesAMemoryWithoutClockOrSizeInItsName) {
    TimeLine line("line");
    memory::device::MemoryConfig stopped = config();
    stopped.clock = base::Hertz{0};
    EXPECT_EQ(error_of([&] { const Dram made("made", line, stopped); }),
              "made: a clock of 0 Hz: must be at least 1");
    memory::device::MemoryConfig empty = config();
    empty.channels = 0;
    EXPECT_THAT(error_of([&] { const Dram made("made", line, empty); }),
                StartsWith("made: a memory of 0 B: must have at least 1"));
}

TEST(Dram, RefusesOptionsThatAreNoneInItsName) {
    TimeLine line("line");
    const auto error_with = [&line](const DramOptions& options) {
        return error_of([&] { const Dram made("made", line, config(), options); });
    };
    EXPECT_EQ(error_with({.request_latency = base::Femtoseconds{0}}),
              "made: a request_latency of 0 fs: must be 1..1000000000000");
    EXPECT_EQ(error_with({.request_latency = base::Femtoseconds{1'000'000'000'001}}),
              "made: a request_latency of 1000000000001 fs: must be 1..1000000000000");
    EXPECT_EQ(error_with({.outstanding = 0}), "made: 0 outstanding requests: must be at least 1");
    EXPECT_EQ(error_with({.request_latency = base::Femtoseconds{1}, .outstanding = 1}), "no error");
}

}  // namespace
}  // namespace tilesim::arch::systemc::dram
