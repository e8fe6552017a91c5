#include "arch/amx/socket/uncore.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "arch/amx/program/program_text.hpp"
#include "arch/memory/controller/memory_system.hpp"

namespace tilesim::arch::amx::socket {
namespace {

using caches::Level;
using caches::Line;

constexpr std::int64_t kNanosecond = 1'000'000;  // femtoseconds

// A nanosecond is two cycles of a core and one of the uncore; otherwise pairwise different primes.
AmxConfig sample() {
    AmxConfig config;
    config.clock = base::Hertz{2'000'000'000};
    config.uncore.clock = base::Hertz{1'000'000'000};
    config.uncore.lookup = base::Femtoseconds{7 * kNanosecond};
    config.uncore.answer = base::Femtoseconds{11 * kNanosecond};
    config.uncore.to_memory = base::Femtoseconds{5 * kNanosecond};
    config.uncore.from_core = base::Femtoseconds{13 * kNanosecond};
    config.uncore.port_width = base::BytesPerCycle{16};
    config.uncore.link_width = base::BytesPerCycle{64};  // of slices too: a line a cycle
    config.uncore.l3 = {base::Bytes{1 << 20}, 16};
    config.uncore.snoop_filter = 1 << 16;
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
    explicit Bench(const AmxConfig& given = sample(), std::size_t count = 2,
                   std::vector<Member> members = {})
        : config(given), memory(dram(), Uncore::memory_lookahead(config), queue, root) {
        std::vector<core::Core*> pointers;
        for (std::size_t i = 0; i < count; ++i) {
            cores.push_back(std::make_unique<core::Core>(config, program));
            pointers.push_back(cores.back().get());
        }
        uncore.emplace(config, memory, queue, pointers, std::move(members));
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

// The first line of a slice from `line` on.
Line line_in(const Bench& bench, std::size_t slice, Line line) {
    while (bench.uncore->mesh().slice_of(line) != slice) {
        ++line;
    }
    return line;
}

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
         {std::pair{16, Cycles{0, 8, 16}}, {32, Cycles{0, 4, 8}}, {21, Cycles{0, 7, 13}}}) {
        AmxConfig config = sample();
        config.uncore.port_width = base::BytesPerCycle{width};
        Bench bench(config);
        // Of the slices beside the cores, so that no line needs a link.
        Line line = 0;
        for (int i = 0; i < 3; ++i) {
            line = line_in(bench, 0, line + 1);
            bench.uncore->warm(line);
            bench.load(0, line);
        }
        const Line other = line_in(bench, 1, 0);
        bench.uncore->warm(other);
        bench.load(1, other);
        // 64 B at 21 a cycle of the uncore take 6.1 of a core's: the next comes in the seventh.
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
    config.caches.l2 = {base::Bytes{caches::kLineBytes}, 1};
    return config;
}

TEST(Uncore, TheL3TakesACleanLineThatLeavesAnL2AtOnceOrWhenItWasUsedBefore) {
    for (const std::int64_t percent : {0, 100}) {
        AmxConfig config = small_l2();
        config.uncore.clean_percent = percent;
        Bench bench(config, 1);
        // Reads of line 5, each after it has left the L2.
        std::vector<std::int64_t> reads;
        for (std::int64_t i = 0; i < 4; ++i) {
            bench.load(0, 5, 10'000 * (2 * i + 1));
            bench.arrivals(0);
            bench.load(0, 100 + i, 10'000 * (2 * i + 2));
            bench.arrivals(0);
            bench.caches(0).give_up(5);
            reads.push_back(bench.counters().l3_hits);
        }
        using Hits = std::vector<std::int64_t>;
        EXPECT_EQ(reads, percent == 0 ? (Hits{0, 0, 1, 2}) : (Hits{0, 1, 2, 3}));
    }
}

// Forty of a hundred: the third and the fifth.
TEST(Uncore, TheL3TakesItsShareOfLinesNotUsedBeforeEvenly) {
    AmxConfig config = small_l2();
    config.uncore.clean_percent = 40;
    Bench bench(config, 1);
    std::int64_t cycle = 0;
    const auto read = [&](Line line) {
        bench.caches(0).give_up(line);  // the L1 may have it
        bench.load(0, line, cycle += 10'000);
        bench.arrivals(0);
        return bench.counters().l3_hits;
    };
    for (const Line line : {1, 2, 3, 4, 5, 6}) {
        EXPECT_EQ(read(line), 0);
    }
    EXPECT_EQ(read(4), 0);
    EXPECT_EQ(read(5), 1);
    EXPECT_EQ(read(3), 2);
}

TEST(Uncore, ADirtyLineThatLeavesTheL3IsWrittenToDram) {
    for (const bool dirty : {false, true}) {
        AmxConfig config = small_l2();
        config.uncore.l3 = {base::Bytes{2 * caches::kLineBytes}, 2};
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

TEST(Uncore, AWrittenLineGoesToItsFirstReaderAndIsInTheL3FromTheSecondOn) {
    Bench bench(sample(), 4);
    bench.caches(0).warm(5, Level::L2, true);
    bench.uncore->warm_core(0, 5);
    bench.load(1, 5);
    EXPECT_EQ(bench.arrivals(1), (Cycles{kHit + 2 * 13}));
    EXPECT_FALSE(bench.caches(0).contains_l2(5));
    EXPECT_TRUE(bench.caches(1).dirty(5));
    EXPECT_EQ(bench.counters().l3_hits, 0);
    bench.load(2, 5, 10'003);
    EXPECT_EQ(bench.arrivals(2), (Cycles{10'000 + kHit + 2 * 13}));
    EXPECT_TRUE(bench.caches(1).contains_l2(5));  // and keeps it
    EXPECT_FALSE(bench.caches(1).dirty(5));       // which the L3 has to write now
    bench.load(3, 5, 20'003);
    EXPECT_EQ(bench.arrivals(3), (Cycles{20'000 + kHit}));
    EXPECT_EQ(bench.counters().from_cores, 2);
    EXPECT_EQ(bench.counters().l3_hits, 1);
    EXPECT_EQ(bench.counters().memory_reads, 0);
}

TEST(Uncore, ACleanLineOfAnotherCoreComesFromItAndIsInTheL3Then) {
    Bench bench(sample(), 3);
    bench.caches(1).warm(5, Level::L2, false);
    bench.uncore->warm_core(1, 5);
    bench.load(0, 5);
    EXPECT_EQ(bench.arrivals(0), (Cycles{kHit + 2 * 13}));
    EXPECT_TRUE(bench.caches(1).contains_l2(5));
    bench.load(2, 5, 10'003);
    bench.arrivals(2);
    EXPECT_EQ(bench.counters().l3_hits, 1);
    EXPECT_EQ(bench.counters().memory_reads, 0);
}

TEST(Uncore, AStoreTakesTheLineFromEveryOtherCore) {
    Bench bench(sample(), 3);
    for (const std::size_t core : {1U, 2U}) {
        bench.caches(core).warm(5, Level::L2, false);
        bench.uncore->warm_core(core, 5);
    }
    bench.uncore->warm(5);
    bench.own(0, 5);
    bench.arrivals(0);
    EXPECT_FALSE(bench.caches(1).contains_l2(5));
    EXPECT_FALSE(bench.caches(2).contains_l2(5));
    bench.load(1, 5, 10'003);  // from core 0, not from the L3
    bench.arrivals(1);
    EXPECT_EQ(bench.counters().from_cores, 1);
}

TEST(Uncore, ALineThatSeveralCoresWaitForIsReadFromDramOnce) {
    Bench bench(sample(), 3);
    for (const std::size_t core : {0U, 1U, 2U}) {
        bench.load(core, 5);
    }
    for (const std::size_t core : {0U, 1U, 2U}) {
        EXPECT_EQ(bench.arrivals(core).size(), 1U);
    }
    EXPECT_EQ(bench.counters().memory_reads, 1);
    EXPECT_EQ(bench.counters().l3_hits, 2);
}

TEST(Uncore, ACoreThatIsAloneTakesACleanLineOutOfTheL3) {
    Bench bench(sample(), 2);
    bench.uncore->warm(5);
    bench.load(0, 5);
    bench.arrivals(0);
    bench.load(1, 5, 10'003);
    EXPECT_EQ(bench.arrivals(1), (Cycles{10'000 + kHit + 2 * 13}));
    EXPECT_EQ(bench.counters().l3_hits, 1);
    EXPECT_EQ(bench.counters().from_cores, 1);
}

TEST(Uncore, ALineThatDramWaitsForStaysInTheL3) {
    Bench bench(sample(), 2);
    bench.uncore->warm(5, true);
    bench.load(0, 5);
    bench.arrivals(0);
    bench.load(1, 5, 10'003);
    EXPECT_EQ(bench.arrivals(1), (Cycles{10'000 + kHit}));
    EXPECT_EQ(bench.counters().l3_hits, 2);
    EXPECT_EQ(bench.counters().from_cores, 0);
}

// A clean line leaves its core unsaid.
TEST(Uncore, ALineThatItsCoreHasNoLongerIsReadFromDram) {
    Bench bench(sample(), 2);
    bench.uncore->warm_core(1, 5);
    bench.load(0, 5);
    bench.arrivals(0);
    EXPECT_EQ(bench.counters().from_cores, 0);
    EXPECT_EQ(bench.counters().memory_reads, 1);
}

TEST(Uncore, ALineFetchedIntoTheL3IsWaitedForAndThere) {
    Bench bench(sample(), 1);
    bench.caches(0).outbox().push_back({caches::UncoreRequest::Kind::Prefetch, 5, kAsked});
    bench.uncore->collect();
    bench.load(0, 5, kAsked + 1);
    EXPECT_EQ(bench.arrivals(0).size(), 1U);
    EXPECT_EQ(bench.counters().prefetches, 1);
    EXPECT_EQ(bench.counters().memory_reads, 1);
    EXPECT_EQ(bench.counters().l3_hits, 1);
}

TEST(Uncore, AStorePastTheCachesIsWrittenToDramAndStaysNowhere) {
    Bench bench(sample(), 2);
    bench.uncore->warm(5);
    bench.caches(1).warm(5, Level::L2, true);
    bench.uncore->warm_core(1, 5);
    bench.caches(0).stream(5, kAsked);
    bench.uncore->collect();
    bench.settle();
    EXPECT_EQ(bench.counters().memory_writes, 1);
    EXPECT_FALSE(bench.caches(1).contains_l2(5));
    bench.load(1, 5, 10'003);
    bench.arrivals(1);
    EXPECT_EQ(bench.counters().memory_reads, 1);
}

// A line takes 8 ns of a link or a slice, twice what it takes of a core's port.
AmxConfig narrow_links() {
    AmxConfig config = sample();
    config.uncore.link_width = base::BytesPerCycle{8};
    return config;
}
constexpr std::int64_t kOnALink = 2 * 8;  // core cycles

// A line that several cores have and the L3 too.
void share(Bench& bench, Line line) {
    bench.uncore->warm(line);
    for (const std::size_t core : {0U, 1U}) {
        bench.uncore->warm_core(core, line);
    }
}

TEST(Uncore, ASliceGivesALineToOneCoreAfterTheOther) {
    Bench bench(narrow_links(), 3);
    share(bench, 5);
    for (const std::size_t core : {0U, 1U, 2U}) {
        bench.load(core, 5);
    }
    EXPECT_EQ(bench.arrivals(0), (Cycles{kHit}));
    EXPECT_EQ(bench.arrivals(1), (Cycles{kHit + kOnALink}));
    EXPECT_EQ(bench.arrivals(2), (Cycles{kHit + 2 * kOnALink}));
    EXPECT_EQ(bench.counters().kept_waiting, 2);
}

TEST(Uncore, LinesOfAnotherCoreWaitForTheLinksBetween) {
    Bench bench(narrow_links(), 2);
    for (const Line line : {5, 9}) {
        bench.caches(1).warm(line, Level::L2, false);
        bench.uncore->warm_core(1, line);
        bench.load(0, line);
    }
    EXPECT_EQ(bench.arrivals(0), (Cycles{kHit + 2 * 13, kHit + 2 * 13 + kOnALink}));
    EXPECT_EQ(bench.counters().kept_waiting, 1);
}

TEST(Uncore, ALineThatLeavesAnL2TakesItsTimeOfItsSlice) {
    using Kind = caches::UncoreRequest::Kind;
    for (const bool dirty : {false, true}) {
        Bench bench(narrow_links(), 2);
        const Line wanted = line_in(bench, bench.uncore->mesh().slice_of(5), 6);
        share(bench, wanted);
        bench.caches(0).outbox().push_back(
            {dirty ? Kind::DirtyVictim : Kind::CleanVictim, 5, kAsked});
        bench.uncore->collect();
        bench.load(1, wanted);
        EXPECT_EQ(bench.arrivals(1), (Cycles{kHit + kOnALink}));
    }
}

TEST(Uncore, ALineThatLeavesAnL2TakesItsTimeOfTheLinksToItsSlice) {
    Bench bench(narrow_links(), 2);
    const Line far = line_in(bench, 2, 0);  // by core 1
    const Line wanted = line_in(bench, 0, far);
    share(bench, wanted);
    bench.caches(0).outbox().push_back({caches::UncoreRequest::Kind::CleanVictim, far, kAsked});
    bench.uncore->collect();
    bench.load(1, wanted);
    EXPECT_EQ(bench.arrivals(1), (Cycles{kHit + kOnALink}));
}

TEST(Uncore, ADirtyLineThatLeavesTheL3TakesItsTimeOfItsSlice) {
    AmxConfig config = narrow_links();
    config.uncore.l3 = {base::Bytes{2 * caches::kLineBytes}, 2};
    for (const bool dirty : {false, true}) {
        Bench bench(config, 2);
        const std::size_t slice = bench.uncore->mesh().stop_of(1);
        const Line old = line_in(bench, slice, 0), wanted = line_in(bench, slice, old + 1);
        bench.uncore->warm(old, dirty);
        share(bench, wanted);
        const Line comes = line_in(bench, bench.uncore->mesh().stop_of(0), 0);
        bench.caches(0).outbox().push_back(
            {caches::UncoreRequest::Kind::DirtyVictim, comes, kAsked});
        bench.uncore->collect();
        bench.load(1, wanted);
        EXPECT_EQ(bench.arrivals(1), (Cycles{kHit + (dirty ? kOnALink : 0)}));
    }
}

TEST(Uncore, ALineOfACoreIsNotFetchedIntoTheL3) {
    Bench bench(sample(), 2);
    bench.caches(1).warm(5, Level::L2, false);
    bench.uncore->warm_core(1, 5);
    bench.caches(0).outbox().push_back({caches::UncoreRequest::Kind::Prefetch, 5, kAsked});
    bench.uncore->collect();
    bench.settle();
    EXPECT_EQ(bench.counters().prefetches, 0);
    EXPECT_EQ(bench.counters().memory_reads, 0);
}

// Fetched ahead, used once: the L3 does not take it when it leaves the L2.
TEST(Uncore, TheFirstUseOfALineFetchedAheadIsNotItsSecond) {
    AmxConfig config = small_l2();
    config.uncore.clean_percent = 0;
    Bench bench(config, 1);
    bench.caches(0).outbox().push_back({caches::UncoreRequest::Kind::Prefetch, 5, kAsked});
    bench.uncore->collect();
    bench.settle();
    bench.load(0, 5, 10'000);
    bench.arrivals(0);
    bench.load(0, 100, 20'000);  // drives it out of the L2
    bench.arrivals(0);
    EXPECT_EQ(bench.counters().l3_hits, 1);
    EXPECT_FALSE(bench.uncore->l3().contains(5));
}

TEST(Uncore, ACleanLineNotUsedBeforeTakesAnEmptyWayOnly) {
    using Kind = caches::UncoreRequest::Kind;
    for (const bool displaces : {false, true}) {
        AmxConfig config = sample();
        config.uncore.l3 = {base::Bytes{2 * caches::kLineBytes}, 2};
        config.uncore.clean_displaces = displaces;
        Bench bench(config, 1);
        const auto leaves = [&bench](Line line, Kind kind) {
            bench.caches(0).outbox().push_back({kind, line, kAsked});
            bench.uncore->collect();
            bench.settle();
            return bench.uncore->l3().contains(line);
        };
        EXPECT_TRUE(leaves(5, Kind::CleanVictim));
        EXPECT_TRUE(leaves(6, Kind::CleanVictim));
        EXPECT_EQ(leaves(7, Kind::CleanVictim), displaces);
        EXPECT_TRUE(leaves(8, Kind::DirtyVictim));
    }
}

TEST(Uncore, NoAnswerComesSoonerThanACoreMayRunAhead) {
    const Bench bench;
    EXPECT_EQ(bench.uncore->lookahead(), base::Femtoseconds{7 * kNanosecond});
    AmxConfig config = sample();
    config.uncore.lookup = base::Femtoseconds{17 * kNanosecond};
    const Bench slow(config);
    EXPECT_EQ(slow.uncore->lookahead(), base::Femtoseconds{11 * kNanosecond});
}

// Core 0 for a member whose lines lie 100 further on, core 1 for itself; lines above 50 are common.
Bench in_step(const AmxConfig& config = sample()) {
    return Bench(config, 2,
                 {{0, true, Displacement{}},
                  {0, false, Displacement{{{0, 50, 100}}}},
                  {1, true, Displacement{}}});
}

TEST(Uncore, ACoreGoesByTheAnswerToItsOwnLineAndTheOthersLineIsTakenToo) {
    Bench bench = in_step();
    bench.uncore->warm(5);  // the other's comes from DRAM, later
    bench.load(0, 5);
    EXPECT_EQ(bench.arrivals(0), (Cycles{kHit}));
    EXPECT_EQ(bench.counters().requests, 2);
    EXPECT_EQ(bench.counters().l3_hits, 1);
    EXPECT_EQ(bench.counters().memory_reads, 1);
}

TEST(Uncore, ALineThatTwoInStepShareIsReadOnceAndLeftForAll) {
    Bench bench = in_step();
    bench.load(0, 60);
    EXPECT_EQ(bench.arrivals(0).size(), 1U);
    EXPECT_EQ(bench.counters().memory_reads, 1);
    EXPECT_EQ(bench.counters().l3_hits, 1);  // the other, which has waited
    bench.load(1, 60);
    EXPECT_EQ(bench.arrivals(1).size(), 1U);
    EXPECT_EQ(bench.counters().l3_hits, 2);
}

TEST(Uncore, CoresInStepAreFirstInTurn) {
    for (const Line line : {60, 61}) {
        Bench bench = in_step(narrow_links());
        share(bench, line);
        bench.load(0, line);
        EXPECT_EQ(bench.arrivals(0), (Cycles{kHit + line % 2 * kOnALink}));
    }
}

TEST(Uncore, ALineOfACoreThatIsNotSimulatedComesFromWhereTheOneInItsPlaceHasIts) {
    Bench bench = in_step();
    bench.load(0, 5);
    EXPECT_EQ(bench.arrivals(0).size(), 1U);
    bench.load(1, 105);
    EXPECT_EQ(bench.arrivals(1).size(), 1U);
    EXPECT_EQ(bench.counters().from_cores, 1);
    EXPECT_TRUE(bench.caches(0).contains_l2(5));
}

}  // namespace
}  // namespace tilesim::arch::amx::socket
