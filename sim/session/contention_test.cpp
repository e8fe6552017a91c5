#include "sim/session/contention.hpp"

#include <gtest/gtest.h>

#include <string>

#include "arch/base/event_queue.hpp"

namespace tilesim::sim::session {
namespace {

using namespace arch::base::literals;
using arch::base::Femtoseconds;
using arch::memory::port::MemoryWindow;

// One channel, no refresh: rows follow each other in a bank, whole stripes apart.
arch::memory::device::MemoryConfig config(const std::string& page_policy = "open") {
    arch::memory::device::MemoryConfig config;
    config.controller.page_policy = page_policy;
    config.refresh = false;
    config.bank_hash = false;
    return config;
}

struct Client final : arch::memory::port::MemoryClient {
    int answers = 0;
    void on_memory_complete(std::uint64_t, Femtoseconds) override { ++answers; }
};

struct System {
    explicit System(const std::string& page_policy = "open") : policy(page_policy) {
        memory.listen(&contention);
        a.listen(&contention.of(0));
        b.listen(&contention.of(1));
    }
    void read(MemoryWindow& from, std::int64_t row, Femtoseconds arrival) {
        const std::int64_t stripe = config().row.count() * config().banks() * config().channels;
        from.submit({row * stripe, 64, false, &client, 0, arrival});
    }
    std::string policy;
    arch::base::EventQueue queue;
    arch::base::stats::Group root{""};
    arch::memory::controller::MemorySystem memory{config(policy), 1_ns, queue, root};
    Contention contention{memory, 2, nullptr};
    MemoryWindow a{memory, 0, 0_fs}, b{memory, 0, 0_fs};
    Client client;
};

TEST(Contention, CountsARowThatIsOpenedAgainBecauseAnotherHadClosedIt) {
    System system;
    system.read(system.a, 0, 100_ns);
    system.read(system.b, 1, 1000_ns);  // closes row 0
    system.read(system.a, 0, 2000_ns);  // opens it again
    system.read(system.b, 1, 3000_ns);
    system.read(system.b, 2, 4000_ns);  // its own affair
    system.queue.run_until(10'000_ns);
    EXPECT_EQ(system.client.answers, 5);
    EXPECT_EQ(system.contention.rows_lost(0, 1), 1);
    EXPECT_EQ(system.contention.rows_lost(1, 0), 1);
    EXPECT_EQ(system.contention.rows_lost(0, 0), 0);
    EXPECT_EQ(system.contention.bytes(1), 192);
}

TEST(Contention, NobodyWaitsForAnotherWhoseRequestsComeFarApart) {
    System system;
    system.read(system.a, 0, 100_ns);
    system.read(system.b, 1, 1000_ns);
    system.queue.run_until(10'000_ns);
    EXPECT_EQ(system.contention.waited(0, 1), 0);
    EXPECT_EQ(system.contention.waited(1, 0), 0);
    // Its own: ACT at once, then RD a tRCD later.
    EXPECT_EQ(system.contention.waited(0, 0), config().timing.tRCD.count());
}

TEST(Contention, ChargesTheTimeOfAnothersRowToIt) {
    System system;
    system.read(system.a, 0, 100_ns);
    system.read(system.b, 1, 100_ns);
    system.queue.run_until(10'000_ns);
    // b's waits while a's row opens and is read, then for its own: PRE, ACT, RD.
    EXPECT_EQ(system.contention.waited(1, 0), config().timing.tRCD.count());
    EXPECT_GE(system.contention.waited(1, 1), (config().timing.tRP + config().timing.tRCD).count());
    EXPECT_EQ(system.contention.waited(0, 1), 0);
}

// Commands that close their row serve as well as others.
TEST(Contention, NobodyWaitsWhoHasBeenServedByACommandThatClosesItsRow) {
    System system("closed_adaptive");
    system.read(system.a, 0, 100_ns);
    system.read(system.b, 1, 1000_ns);
    system.queue.run_until(10'000_ns);
    EXPECT_EQ(system.client.answers, 2);
    EXPECT_EQ(system.contention.waited(0, 0), config().timing.tRCD.count());
    EXPECT_EQ(system.contention.waited(0, 1), 0);
}

// Each has the command of its own request, whoever has asked for the row last.
TEST(Contention, OfARowThatTwoAskForEachHasItsOwn) {
    System system;
    system.read(system.a, 0, 100_ns);
    system.read(system.b, 0, 100_ns);
    system.read(system.b, 1, 1000_ns);  // nobody else has anything to wait for
    system.queue.run_until(10'000_ns);
    EXPECT_EQ(system.client.answers, 3);
    EXPECT_EQ(system.contention.waited(0, 0), config().timing.tRCD.count());
    EXPECT_EQ(system.contention.waited(0, 1), 0);
    EXPECT_EQ(system.contention.waited(1, 0), config().timing.tRCD.count());
}

}  // namespace
}  // namespace tilesim::sim::session
