// What the parts of a core are in, as far as it decides what they do next.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "arch/amx/core/ports.hpp"
#include "arch/amx/core/window_testing.hpp"

namespace tilesim::arch::amx::core {
namespace {

using caches::StateRecord;

AmxConfig state_sample() {
    AmxConfig config;
    config.window.reorder_buffer = 41;
    config.vector.port5_opens = 11;
    config.vector.port5_switch = base::Cycles{0};
    return config;
}

StateRecord of(const Scoreboard& window, std::int64_t now, std::int64_t stores = 0) {
    StateRecord record = window.state_record(now);
    window.record(record, now, stores);
    return record;
}

TEST(ScoreboardState, HoldsEveryNumberOfAnEntry) {
    Window parts("vmovups zmm1, [0x1000]\n", state_sample());
    Entry& entry = parts.window.at(parts.enter(0));
    const StateRecord before = of(parts.window, 5);
    const Entry kept = entry;
    const std::vector<std::function<void()>> changes{
        [&] { entry.address += 64; },     [&] { entry.operands_at = 9; },
        [&] { entry.result_at = 9; },     [&] { entry.done_at = 9; },
        [&] { entry.latest_line = 9; },   [&] { entry.store = 0; },
        [&] { entry.missed = 7; },        [&] { ++entry.uops; },
        [&] { ++entry.bytes; },           [&] { ++entry.rows; },
        [&] { ++entry.lines; },           [&] { ++entry.next_line; },
        [&] { ++entry.waiting; },         [&] { ++entry.unblocked; },
        [&] { ++entry.port0; },           [&] { ++entry.port5; },
        [&] { ++entry.target; },          [&] { ++entry.pending; },
        [&] { entry.issued = true; },     [&] { entry.frees_tile = true; },
        [&] { entry.stores_dot = true; }, [&] { entry.keeps_b = true; }};
    for (std::size_t i = 0; i < changes.size(); ++i) {
        changes[i]();
        EXPECT_FALSE(of(parts.window, 5) == before) << i;
        entry = kept;
    }
    EXPECT_EQ(of(parts.window, 5), before);
    // A store counts from the youngest.
    entry.store = 3;
    const StateRecord store = of(parts.window, 5, 7);
    EXPECT_FALSE(of(parts.window, 5, 8) == store);
    entry.store = 4;
    EXPECT_EQ(of(parts.window, 5, 8), store);
}

// Windows into which the same instructions enter.
class Windows {
  public:
    explicit Windows(const std::string& text) : program_(program::read_program(text, "test")) {}

    template <class Body>
    StateRecord state(std::int64_t now, Body body) const {
        const AmxConfig config = state_sample();
        Scoreboard window(config.window, config.tiles);
        body(window);
        return of(window, now);
    }
    EntryId enter(Scoreboard& window, std::size_t statement, std::int64_t now = 0) const {
        return window.allocate({&program_.statements[statement].instruction, 0x1000, 64}, 1, now);
    }

  private:
    program::Program program_;
};

TEST(ScoreboardState, HoldsWhoIsDueWhenAndNotInWhichOrderTheyWereTold) {
    const Windows windows("vaddps zmm1, zmm2, zmm3\nvaddps zmm4, zmm5, zmm6\n");
    const auto due = [&windows](std::int64_t first, std::int64_t second, bool swapped = false) {
        return windows.state(3, [&](Scoreboard& window) {
            const EntryId one = windows.enter(window, 0);
            const EntryId two = windows.enter(window, 1);
            window.pop_due(1);
            window.begin(3);
            if (swapped) {
                window.wake(two, second);
            }
            window.wake(one, first);
            if (!swapped) {
                window.wake(two, second);
            }
        });
    };
    EXPECT_EQ(due(7, 7), due(7, 7, true));
    EXPECT_FALSE(due(7, 9) == due(9, 7));
    EXPECT_FALSE(due(7, 9) == due(7, 8));
}

TEST(ScoreboardState, HoldsWhoseResultAnEntryWaitsFor) {
    const Windows windows("vaddps zmm1, zmm8, zmm9\nvaddps zmm3, zmm1, zmm9\n");
    const auto waits = [&windows](bool on_first) {
        return windows.state(1, [&](Scoreboard& window) {
            windows.enter(window, 0);
            windows.enter(window, 0);
            Entry& consumer = window.at(windows.enter(window, 1));
            consumer.producers[1] = on_first ? window.head_id() : consumer.producers[1];
        });
    };
    EXPECT_EQ(waits(true), waits(true));
    EXPECT_FALSE(waits(true) == waits(false));
}

TEST(ScoreboardState, HoldsWhichInstructionsTheseAre) {
    const Windows windows("vaddps zmm1, zmm8, zmm9\nvsubps zmm1, zmm8, zmm9\n");
    const auto entered = [&windows](std::size_t statement) {
        return windows.state(1, [&](Scoreboard& window) { windows.enter(window, statement); });
    };
    EXPECT_EQ(entered(0), entered(0));
    EXPECT_FALSE(entered(0) == entered(1));
}

// The product that writes C last has retired; the one that waits for it waits longer for A.
TEST(ScoreboardState, HoldsWhenAResultComesWhoseInstructionHasRetired) {
    const Windows windows(
        "tdpbssd tmm0, tmm4, tmm6\ntdpbssd tmm0, tmm4, tmm6\ntileloadd tmm4, [0x1000], 64\n"
        "tdpbssd tmm0, tmm4, tmm6\n");
    const auto waits = [&windows](std::size_t first, std::int64_t cycle) {
        return windows.state(20, [&](Scoreboard& window) {
            const EntryId dot = windows.enter(window, first);
            window.pop_due(1);
            window.issue(dot);
            window.complete(dot, cycle);
            window.complete(windows.enter(window, 2, 1), 90);
            windows.enter(window, 3, 1);
            window.retire();
        });
    };
    EXPECT_EQ(waits(0, 50), waits(0, 50));
    EXPECT_FALSE(waits(0, 50) == waits(0, 51));
    EXPECT_FALSE(waits(0, 50) == waits(1, 50)) << "of another";
}

// Those that have retired: their results are to come.
TEST(ScoreboardState, HoldsWhenARegisterIsThereAndWhatWroteIt) {
    const Windows windows(
        "tdpbssd tmm0, tmm4, tmm6\ntileloadd tmm0, [0x1000], 64\ntilezero tmm0\n"
        "tilezero tmm1\ntdpbssd tmm1, tmm4, tmm6\n");
    const auto written = [&windows](std::vector<std::size_t> by, std::int64_t cycle,
                                    std::int64_t now) {
        return windows.state(now, [&](Scoreboard& window) {
            for (const std::size_t statement : by) {
                const EntryId id = windows.enter(window, statement);
                window.issue(id);
                window.complete(id, cycle);
            }
            window.pop_due(1);
            for (std::size_t i = 0; i < by.size(); ++i) {
                window.retire();
            }
        });
    };
    EXPECT_EQ(written({0}, 50, 20), written({0}, 60, 30));
    EXPECT_FALSE(written({0}, 50, 20) == written({0}, 51, 20));
    EXPECT_EQ(written({0}, 50, 70), written({0}, 51, 70));
    EXPECT_FALSE(written({4, 0}, 50, 70) == written({4, 1}, 50, 70)) << "a TDP did";
    EXPECT_FALSE(written({1}, 50, 70) == written({2}, 50, 70)) << "in a physical tile";
    EXPECT_FALSE(written({2, 3}, 50, 20) == written({3, 2}, 50, 20)) << "by age";
}

TEST(ScoreboardState, HoldsWhoseBTheLatestProductHad) {
    const Windows windows("tdpbssd tmm0, tmm4, tmm6\ntdpbssd tmm0, tmm6, tmm4\n");
    const auto after = [&windows](std::size_t statement) {
        return windows.state(200, [&](Scoreboard& window) {
            const EntryId id = windows.enter(window, statement);
            window.pop_due(1);
            window.issue(id);
            window.complete(id, 50);
            window.retire();
        });
    };
    EXPECT_EQ(after(0), after(0));
    EXPECT_FALSE(after(0) == after(1));
}

// Ports behind a window, everything entered in cycle 0.
StateRecord ports_after(const std::string& text, std::int64_t cycles,
                        const AmxConfig& config = state_sample(), std::int64_t rows = 16) {
    Window parts(text, config);
    Ports ports(parts.config, parts.window, parts.stores);
    while (!parts.stream.finished()) {
        ports.bind(parts.enter(0, 1, rows), 0);
    }
    for (std::int64_t now = 1; now <= cycles; ++now) {
        for (EntryId id = parts.window.pop_due(now); id != kNoEntry;
             id = parts.window.at(id).next_in_slot) {
            ports.start(id);
        }
        ports.step(now);
    }
    StateRecord record{cycles + 1, 20, 64};
    ports.record(record);
    return record;
}

AmxConfig with_timing(program::Opcode opcode, const OpcodeTiming& timing) {
    AmxConfig config = state_sample();
    config.instructions[static_cast<std::size_t>(opcode)] = timing;
    return config;
}

TEST(PortsState, HoldsWhoWaitsAtEach) {
    AmxConfig config = state_sample();
    config.vector.second_port = false;
    config.vector.scalar_ports = 1;
    const std::string scalar = "scalar\n";
    const std::string add = "vaddps zmm1, zmm8, zmm9\n";
    const std::string dot = "tdpbssd tmm0, tmm4, tmm6\n";
    const std::string store = "tilestored [0x1000], 64, tmm5\n";
    for (const auto& [first, second] :
         {std::pair{dot, std::string{"tdpbssd tmm1, tmm4, tmm6\n"}}, {store, store}, {add, add}}) {
        EXPECT_FALSE(ports_after(first + second + scalar, 1, config) ==
                     ports_after(first + scalar + second, 1, config))
            << first;
    }
    EXPECT_FALSE(ports_after(scalar + scalar + add, 1, config) ==
                 ports_after(scalar + add + scalar, 1, config));
}

TEST(PortsState, HoldsUntilWhenEachIsTaken) {
    const AmxConfig config = state_sample();
    for (const std::string each :
         {"tdpbssd tmm0, tmm4, tmm6\n", "tilestored [0x1000], 64, tmm5\n"}) {
        EXPECT_FALSE(ports_after(each, 1, config, 16) == ports_after(each, 1, config, 15)) << each;
        EXPECT_EQ(ports_after(each, 20, config, 16), ports_after(each, 20, config, 15)) << each;
    }
    const std::string add = "vaddps zmm1, zmm8, zmm9\n";
    const auto taken = [&add](std::int64_t port0, std::int64_t port5, std::int64_t now) {
        return ports_after(add, now,
                           with_timing(program::Opcode::Vaddps, {.port0 = port0, .port5 = port5}));
    };
    EXPECT_FALSE(taken(5, 0, 1) == taken(6, 0, 1));
    EXPECT_FALSE(taken(0, 5, 1) == taken(0, 6, 1));
    EXPECT_EQ(taken(5, 0, 9), taken(6, 0, 9));
}

TEST(PortsState, HoldsWhenTheBOfTheNextProductMayCome) {
    AmxConfig config = state_sample();
    config.tiles.dot_loads_b = true;
    const auto after = [&config](std::int64_t b_rows, std::int64_t cycles) {
        Window parts("tdpbssd tmm0, tmm4, tmm6\n", config);
        Ports ports(parts.config, parts.window, parts.stores);
        const EntryId id = parts.enter(0, 1, 3);
        parts.window.at(id).lines = static_cast<std::int8_t>(b_rows);
        ports.bind(id, 0);
        ports.start(parts.window.pop_due(1));
        ports.step(1);
        StateRecord record{cycles, 20, 64};
        ports.record(record);
        return record;
    };
    EXPECT_FALSE(after(12, 8) == after(13, 8));
    EXPECT_EQ(after(12, 20), after(13, 20));
}

// The second waits for the first.
TEST(PortsState, HoldsWhatWaitsInTheWindowForEachPort) {
    const auto bound = [](std::int64_t port0, std::int64_t port5) {
        AmxConfig config = with_timing(program::Opcode::Vmulps, {.port0 = port0, .port5 = port5});
        config.instructions[static_cast<std::size_t>(program::Opcode::Vaddps)] = {
            .latency = base::Cycles{50}, .port0 = 1};
        return ports_after("vaddps zmm1, zmm8, zmm9\nvmulps zmm2, zmm1, zmm9\n", 2, config);
    };
    EXPECT_FALSE(bound(1, 1) == bound(2, 1));
    EXPECT_FALSE(bound(1, 1) == bound(1, 2));
}

TEST(PortsState, HoldsWhetherPortFiveIsOpenWhoseTurnItIsAndWhenItOpens) {
    const std::string add = "vaddps zmm1, zmm8, zmm9\n";
    const auto adds = [&add](int count) {
        std::string text;
        for (int i = 0; i < count; ++i) {
            text += add;
        }
        return text;
    };
    EXPECT_FALSE(ports_after("tilezero tmm0\n", 1) == ports_after("scalar\n", 1));
    EXPECT_FALSE(ports_after(adds(1), 30) == ports_after(adds(3), 30));  // since a tile
    EXPECT_FALSE(ports_after(adds(13), 30) == ports_after(adds(14), 30));
    EXPECT_EQ(ports_after(adds(13), 30), ports_after(adds(15), 30));  // long since
}

TEST(PortsState, HoldsWhatTmulDidLast) {
    const std::string dot = "tdpbssd tmm0, tmm4, tmm6\n";
    EXPECT_FALSE(ports_after(dot, 200) ==
                 ports_after(dot + "tilestored [0x1000], 64, tmm0\n", 200));
}

// A store buffer over lines 0 to 15 of the L1.
struct Stores {
    Stores() {
        for (caches::Line line = 0; line < 16; ++line) {
            caches.warm(line, caches::Level::L1, false);
        }
    }
    StateRecord state(std::int64_t now, std::uint64_t next = 20) const {
        StateRecord record{now, next, 64};
        stores.record(record, caches);
        return record;
    }
    caches::PrivateCaches caches{PrivateCacheConfig{}, base::Hertz{1'000'000'000}};
    StoreBuffer stores{7, 13, caches::PageMap{false}};
};

TEST(StoreBufferState, HoldsEachStoreItsDataAndItsAge) {
    const auto state = [](std::int64_t address, std::int64_t bytes, std::uint64_t sequence,
                          bool tile, bool streams, std::int64_t data, std::uint64_t next = 20) {
        Stores parts;
        parts.stores.push(address, bytes, sequence, tile, streams);
        parts.stores.set_data(0, data);
        return parts.state(5, next);
    };
    const StateRecord before = state(64, 32, 7, false, false, 9);
    EXPECT_FALSE(before == state(128, 32, 7, false, false, 9));
    EXPECT_FALSE(before == state(64, 16, 7, false, false, 9));
    EXPECT_FALSE(before == state(64, 32, 8, false, false, 9));
    EXPECT_FALSE(before == state(64, 32, 7, true, false, 9));
    EXPECT_FALSE(before == state(64, 32, 7, false, true, 9));
    EXPECT_FALSE(before == state(64, 32, 7, false, false, 10));
    EXPECT_EQ(before, state(64, 32, 8, false, false, 9, 21));
    EXPECT_EQ(state(64, 32, 7, false, false, 4), state(64, 32, 7, false, false, 5));  // there
}

TEST(StoreBufferState, HoldsWhatHasRetiredBeenAskedForAndReachedTheL1) {
    const auto state = [](std::int64_t senior, std::int64_t asked, std::int64_t now) {
        Stores parts;
        parts.stores.push(0, 64, 7, false);
        parts.stores.push(64, 64, 7, false);
        parts.stores.set_senior(senior);
        for (std::int64_t i = 0; i < asked; ++i) {
            parts.stores.ask(0, parts.caches);
        }
        return parts.state(now);
    };
    EXPECT_FALSE(state(1, 0, 5) == state(2, 0, 5));
    EXPECT_FALSE(state(2, 0, 5) == state(2, 1, 5));
    const auto written = [](std::int64_t cycle, std::int64_t now) {
        Stores parts;
        parts.stores.set_data(parts.stores.push(0, 64, 7, false), 0);
        parts.stores.set_senior(1);
        parts.stores.commit(cycle, parts.caches);
        return parts.state(now);
    };
    EXPECT_EQ(written(3, 9), written(4, 10));
    EXPECT_FALSE(written(3, 9) == written(4, 9)) << "a tile load waits so long";
}

TEST(StoreBufferState, HoldsWhetherAStoreWaitsForItsLineOrABuffer) {
    Stores parts;
    parts.stores.set_data(parts.stores.push(0x100000, 64, 7, false), 0);
    parts.stores.set_senior(1);
    const StateRecord before = parts.state(5);
    parts.stores.commit(5, parts.caches);  // the line is not there
    EXPECT_FALSE(before == parts.state(5));
    Stores full;
    for (caches::Line line = 100; !full.caches.full(); ++line) {
        full.caches.load(line, 0, 0, true);
    }
    full.stores.push(0x100000, 64, 7, false);
    full.stores.set_senior(1);
    const StateRecord unasked = full.state(5);
    full.stores.ask(5, full.caches);
    EXPECT_FALSE(unasked == full.state(5));
}

// TLBs of one set: of three pages and of four.
TEST(TranslationState, HoldsThePagesOfBothTlbs) {
    const auto state = [](std::initializer_list<caches::Line> warm,
                          std::initializer_list<caches::Line> asked) {
        PageConfig config;
        config.first = {base::Bytes{3 * caches::kLineBytes}, 3};
        config.second = {base::Bytes{4 * caches::kLineBytes}, 4};
        caches::PrivateCaches caches{PrivateCacheConfig{}, base::Hertz{1'000'000'000}};
        Translation pages(config, caches);
        for (const caches::Line page : warm) {
            pages.warm(page * caches::kLinesPerPage, (page + 1) * caches::kLinesPerPage);
        }
        for (const caches::Line page : asked) {
            EXPECT_TRUE(pages.ready(page * caches::kLinesPerPage, 0));
        }
        StateRecord record{0, 1, 64};
        pages.record(record);
        return record;
    };
    EXPECT_EQ(state({1, 2, 3}, {}), state({1, 2, 3}, {}));
    EXPECT_FALSE(state({1, 2, 3}, {}) == state({2, 1, 3}, {}));
    // What the first knows it does not ask the second for.
    EXPECT_FALSE(state({1, 2, 3}, {1, 2, 3}) == state({1, 2, 3}, {1, 2, 3, 1, 3}));
}

}  // namespace
}  // namespace tilesim::arch::amx::core
