#include "arch/amx/socket/uncore.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "arch/amx/program/program_text.hpp"
#include "arch/memory/controller/memory_system.hpp"

namespace tilesim::arch::amx::socket {
namespace {

using caches::Level;
using caches::Line;

// A cycle of the uncore is two of a core; otherwise pairwise different primes.
AmxConfig sample() {
    AmxConfig config;
    config.clock = base::Hertz{2'000'000'000};
    config.uncore.clock = base::Hertz{1'000'000'000};
    config.uncore.lookup = base::Cycles{7};
    config.uncore.answer = base::Cycles{11};
    config.uncore.to_memory = base::Cycles{5};
    config.uncore.dirty_elsewhere = base::Cycles{13};
    config.uncore.port_width = base::BytesPerCycle{16};
    config.uncore.streamer = 0;
    config.uncore.l3 = {base::Bytes{1 << 20}, 16, false};
    config.caches.fill_width = base::BytesPerCycle{64};  // a line a cycle: no wait behind the port
    config.caches.same_half_percent = 0;
    return config;
}
constexpr std::int64_t kAsked = 3;                      // core cycle of requests
constexpr std::int64_t kHit = kAsked + 2 * 7 + 2 * 11;  // core cycle in which an L3 hit arrives
constexpr std::int64_t kLookedUp = kAsked + 2 * 7;

memory::device::MemoryConfig dram() {
    memory::device::MemoryConfig config;
    config.refresh = false;
    return config;
}

// Cores whose programs do not run: their caches ask, by hand.
struct Bench {
    explicit Bench(const AmxConfig& given = sample(), std::size_t count = 2)
        : config(given), memory(dram(), Uncore::memory_lookahead(config), queue, root) {
        std::vector<core::Core*> pointers;
        for (std::size_t i = 0; i < count; ++i) {
            cores.push_back(std::make_unique<core::Core>(config, program));
            pointers.push_back(cores.back().get());
        }
        uncore.emplace(config, memory, queue, pointers);
    }
    caches::PrivateCaches& caches(std::size_t core) { return cores[core]->caches(); }
    void load(std::size_t core, Line line, std::int64_t cycle = kAsked) {
        caches(core).load(line, cycle, static_cast<std::uint32_t>(line), true);
        uncore->collect();
    }
    void own(std::size_t core, Line line) {
        caches(core).own(line, kAsked);
        uncore->collect();
    }
    // Until nothing is under way.
    void settle() {
        while (!queue.empty()) {
            queue.run_until(queue.next_time());
        }
        EXPECT_TRUE(uncore->idle());
    }
    // The cycles in which lines arrive at a core, once everything is settled.
    std::vector<std::int64_t> arrivals(std::size_t core) {
        settle();
        std::vector<std::int64_t> cycles;
        std::vector<caches::PrivateCaches::Arrival> here;
        for (std::int64_t at = caches(core).next_event(0); at != caches::kUnknownCycle;
             at = caches(core).next_event(at)) {
            here.clear();
            caches(core).advance(at, here);
            cycles.insert(cycles.end(), here.size(), at);
        }
        uncore->collect();  // what had to leave the L2
        settle();
        return cycles;
    }
    const UncoreCounters& counters() const { return uncore->counters(); }

    AmxConfig config;
    program::Program program = program::read_program("scalar\n", "test");
    base::EventQueue queue;
    base::stats::Group root{""};
    memory::controller::MemorySystem memory;
    std::vector<std::unique_ptr<core::Core>> cores;
    std::optional<Uncore> uncore;
};

using Cycles = std::vector<std::int64_t>;

TEST(Uncore, ALineOfTheL3ArrivesALookupAndAnAnswerAfterItIsAskedFor) {
    Bench bench;
    bench.uncore->warm(5);
    bench.load(0, 5);
    EXPECT_FALSE(bench.uncore->idle());
    EXPECT_EQ(bench.arrivals(0), (Cycles{kHit}));
    EXPECT_EQ(bench.counters().l3_hits, 1);
    EXPECT_EQ(bench.counters().memory_reads, 0);
}

TEST(Uncore, LinesEnterACoreAtTheWidthOfItsPort) {
    for (const auto& [width, cycles] :
         {std::pair{16, Cycles{0, 4, 8}}, {32, Cycles{0, 2, 4}}, {21, Cycles{0, 4, 7}}}) {
        AmxConfig config = sample();
        config.uncore.port_width = base::BytesPerCycle{width};
        Bench bench(config);
        for (const Line line : {5, 9, 13}) {
            bench.uncore->warm(line);
            bench.load(0, line);
        }
        bench.uncore->warm(20);
        bench.load(1, 20);
        // 64 B at 21 a cycle take 3.05 cycles: the second line comes in the fourth cycle.
        EXPECT_EQ(bench.arrivals(0),
                  (Cycles{kHit + cycles[0], kHit + cycles[1], kHit + cycles[2]}));
        EXPECT_EQ(bench.arrivals(1), (Cycles{kHit}));  // a port of its own
    }
}

// When DRAM alone has read a line that reaches its controllers at `arrival`.
base::Femtoseconds read_at(Line line, base::Femtoseconds arrival) {
    struct Client final : memory::port::MemoryClient {
        void on_memory_complete(std::uint64_t, base::Femtoseconds when) override { done = when; }
        base::Femtoseconds done{0};
    } client;
    base::EventQueue queue;
    base::stats::Group root{""};
    memory::controller::MemorySystem memory(dram(), Uncore::memory_lookahead(sample()), queue,
                                            root);
    memory::port::MemoryRequest request;
    request.address = line * caches::kLineBytes;
    request.bytes = caches::kLineBytes;
    request.client = &client;
    request.arrival = arrival;
    memory.submit(request);
    while (!queue.empty()) {
        queue.run_until(queue.next_time());
    }
    return client.done;
}

TEST(Uncore, ALineThatIsNowhereIsReadFromDramAndAnswered) {
    Bench bench;
    bench.load(0, 5);
    const base::Clock core{sample().clock};
    const base::Femtoseconds asked = core.time_of(base::Cycles{kLookedUp + 2 * 5});
    const std::int64_t there =
        core.first_cycle_from(read_at(5, asked) + core.time_of(base::Cycles{2 * 11})).count();
    EXPECT_EQ(bench.arrivals(0), (Cycles{there}));
    EXPECT_EQ(bench.counters().memory_reads, 1);
    EXPECT_EQ(bench.counters().l3_hits, 0);
}

TEST(Uncore, ACoreKnowsThatItsLineComesFromDramOnceTheL3HasMissed) {
    Bench bench;
    bench.load(0, 5);
    EXPECT_EQ(bench.caches(0).level_of(5), Level::L3);
    bench.queue.run_until(base::Clock{sample().clock}.time_of(base::Cycles{kLookedUp}));
    EXPECT_EQ(bench.caches(0).level_of(5), Level::Memory);
}

// An L2 of one line.
AmxConfig small_l2() {
    AmxConfig config = sample();
    config.caches.l2 = {base::Bytes{caches::kLineBytes}, 1, false};
    return config;
}

TEST(Uncore, TheL3HoldsWhatL2sEvictAndNotWhatTheyRead) {
    Bench bench(small_l2());
    bench.load(0, 5);
    bench.arrivals(0);
    bench.load(1, 5);
    bench.arrivals(1);
    EXPECT_EQ(bench.counters().memory_reads, 2);
    bench.load(0, 6, 1000);  // line 5 leaves core 0's L2
    bench.arrivals(0);
    bench.caches(0).give_up(5);
    bench.load(0, 5, 2000);
    EXPECT_EQ(bench.arrivals(0).size(), 1U);
    EXPECT_EQ(bench.counters().memory_reads, 3);
    EXPECT_EQ(bench.counters().l3_hits, 1);
}

TEST(Uncore, ADirtyLineThatLeavesTheL3IsWrittenToDram) {
    for (const bool dirty : {false, true}) {
        AmxConfig config = small_l2();
        config.uncore.l3 = {base::Bytes{2 * caches::kLineBytes}, 2, false};
        Bench bench(config, 1);
        bench.caches(0).warm(5, Level::L2, dirty);
        for (const Line line : {6, 7, 8}) {  // 5, 6 and 7 leave the L2, 5 the L3
            bench.caches(0).warm(line, Level::L2, false);
        }
        bench.uncore->collect();
        bench.settle();
        EXPECT_EQ(bench.counters().memory_writes, dirty ? 1 : 0);
        EXPECT_EQ(bench.counters().requests, 0);  // nobody is answered
    }
}

TEST(Uncore, ALineAnotherCoreHasWrittenComesFromItAndLater) {
    Bench bench;
    bench.caches(1).warm(5, Level::L2, true);
    bench.load(0, 5);
    EXPECT_EQ(bench.arrivals(0), (Cycles{kHit + 2 * 13}));
    EXPECT_EQ(bench.counters().from_cores, 1);
    EXPECT_EQ(bench.counters().memory_reads, 0);
    EXPECT_FALSE(bench.caches(1).contains_l2(5));
    bench.load(1, 5, 1000);  // the L3 has it since
    bench.arrivals(1);
    EXPECT_EQ(bench.counters().l3_hits, 1);
}

TEST(Uncore, AStoreTakesTheLineFromEveryOtherCoreALoadOnlyWhereItIsDirty) {
    for (const bool store : {false, true}) {
        Bench bench(sample(), 3);
        bench.caches(1).warm(5, Level::L2, false);
        bench.caches(2).warm(5, Level::L1, false);
        bench.uncore->warm(5);
        store ? bench.own(0, 5) : bench.load(0, 5);
        bench.settle();
        EXPECT_EQ(bench.caches(1).contains_l2(5), !store);
        EXPECT_EQ(bench.caches(2).contains_l1(5), !store);
        EXPECT_EQ(bench.counters().from_cores, 0);
        EXPECT_EQ(bench.counters().l3_hits, 1);
    }
}

AmxConfig streaming(std::int64_t ahead) {
    AmxConfig config = sample();
    config.uncore.streamer = ahead;
    return config;
}

TEST(Uncore, AscendingMissesOfACoreFetchTheLinesBehindThemIntoTheL3) {
    for (const std::int64_t ahead : {0, 3, 5}) {
        Bench bench(streaming(ahead));
        bench.load(0, 70);
        bench.settle();
        EXPECT_EQ(bench.counters().prefetches, 0);
        bench.load(0, 71, 1000);
        bench.settle();
        EXPECT_EQ(bench.counters().prefetches, ahead);
        EXPECT_EQ(bench.counters().memory_reads, 2 + ahead);
        bench.load(0, 71 + ahead, 2000);  // the last of them, if any: the L3 has it
        bench.settle();
        EXPECT_EQ(bench.counters().l3_hits, ahead > 0 ? 1 : 0);
    }
}

TEST(Uncore, TheStreamerGoesOnBeyondThePage) {
    Bench bench(streaming(3));
    bench.load(0, 62);
    bench.load(0, 63);
    bench.settle();
    EXPECT_EQ(bench.counters().prefetches, 3);
}

TEST(Uncore, EveryCoreHasStreamsOfItsOwn) {
    Bench bench(streaming(3));
    bench.load(0, 70);
    bench.load(1, 71);
    bench.settle();
    EXPECT_EQ(bench.counters().prefetches, 0);
}

TEST(Uncore, TheStreamerFetchesNothingThatACoreOrTheL3HoldsOrThatIsComing) {
    Bench bench(streaming(5));
    bench.caches(1).warm(72, Level::L2, false);
    bench.uncore->warm(74);
    bench.load(0, 70);
    bench.load(0, 71);
    bench.load(0, 73);  // asked for 72 to 76 by then, and for 77 and 78 now
    bench.settle();
    EXPECT_EQ(bench.counters().prefetches, 2 + 2);
}

TEST(Uncore, ALineThatIsComingIntoTheL3IsWaitedFor) {
    Bench bench(streaming(1));
    bench.load(0, 70);
    bench.load(0, 71);
    bench.load(1, 72);  // under way by then
    const Cycles first = bench.arrivals(0);
    const Cycles waited = bench.arrivals(1);
    ASSERT_EQ(waited.size(), 1U);
    EXPECT_GT(waited[0], kHit);
    EXPECT_EQ(bench.counters().memory_reads, 3);
    EXPECT_EQ(bench.counters().l3_hits, 0);
}

TEST(Uncore, NoAnswerComesSoonerThanACoreMayRunAhead) {
    const Bench bench;
    EXPECT_EQ(bench.uncore->lookahead(),
              base::Clock{sample().uncore.clock}.time_of(base::Cycles{7}));
    AmxConfig config = sample();
    config.uncore.lookup = base::Cycles{17};
    const Bench slow(config);
    EXPECT_EQ(slow.uncore->lookahead(), base::Clock{config.uncore.clock}.time_of(base::Cycles{11}));
}

}  // namespace
}  // namespace tilesim::arch::amx::socket
