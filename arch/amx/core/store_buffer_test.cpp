#include "arch/amx/core/store_buffer.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::amx::core {
namespace {

constexpr std::int64_t kAfter = 13;  // cycles from the L1 to a tile load

struct Buffer {
    // Lines 0, 1, 2 ... of the address space are in the L1, `warm` of them.
    explicit Buffer(caches::Line warm = 16) {
        for (caches::Line line = 0; line < warm; ++line) {
            caches.warm(line, caches::Level::L1, false);
        }
    }
    std::int64_t push(caches::Line line, std::uint64_t sequence, bool tile = true) {
        return stores.push(line * caches::kLineBytes, caches::kLineBytes, sequence, tile);
    }
    caches::PrivateCaches caches{caches_config(), base::Hertz{1'000'000'000}};
    StoreBuffer stores{7, kAfter, caches::PageMap{false}};

  private:
    static PrivateCacheConfig caches_config() {
        PrivateCacheConfig config;
        config.l2_latency = base::Cycles{17};
        return config;
    }
};

TEST(StoreBuffer, ALineTakesAnEntryUntilItReachesTheL1) {
    Buffer buffer;
    EXPECT_EQ(buffer.stores.room(), 7);
    EXPECT_TRUE(buffer.stores.empty());
    const std::int64_t store = buffer.push(0, 1);
    EXPECT_EQ(buffer.stores.room(), 6);
    buffer.stores.set_data(store, 5);
    buffer.stores.set_senior(1);
    buffer.stores.step(5, buffer.caches);
    EXPECT_EQ(buffer.stores.room(), 7);
    EXPECT_EQ(buffer.stores.committed(), 1);
    EXPECT_TRUE(buffer.caches.dirty(0));
    EXPECT_FALSE(buffer.stores.idle());  // a tile load may still have to wait
}

TEST(StoreBuffer, AStoreWaitsForItsDataAndItsRetirement) {
    Buffer buffer;
    const std::int64_t store = buffer.push(0, 1);
    buffer.stores.set_data(store, 5);
    for (std::int64_t cycle = 0; cycle < 10; ++cycle) {
        buffer.stores.step(cycle, buffer.caches);
        EXPECT_FALSE(buffer.stores.committed(store));
    }
    buffer.stores.set_senior(1);
    buffer.stores.step(10, buffer.caches);
    EXPECT_TRUE(buffer.stores.committed(store));
    const std::int64_t late = buffer.push(1, 2);
    buffer.stores.set_senior(2);
    buffer.stores.step(11, buffer.caches);
    buffer.stores.set_data(late, 15);
    EXPECT_EQ(buffer.stores.next_event(11), 15);
    buffer.stores.step(14, buffer.caches);
    EXPECT_FALSE(buffer.stores.committed(late));
    buffer.stores.step(15, buffer.caches);
    EXPECT_TRUE(buffer.stores.committed(late));
}

TEST(StoreBuffer, OneLineACycleReachesTheL1InTheOrderOfTheProgram) {
    Buffer buffer;
    for (std::int64_t i = 0; i < 3; ++i) {
        buffer.push(i, 1);
    }
    buffer.stores.set_senior(3);
    buffer.stores.set_data(1, 2);  // the second is there first
    buffer.stores.set_data(2, 2);
    for (std::int64_t cycle = 0; cycle < 5; ++cycle) {
        buffer.stores.step(cycle, buffer.caches);
    }
    EXPECT_EQ(buffer.stores.committed(), 0);
    buffer.stores.set_data(0, 5);
    for (std::int64_t i = 0; i < 3; ++i) {
        buffer.stores.step(5 + i, buffer.caches);
        EXPECT_EQ(buffer.stores.committed(), i + 1);
    }
}

TEST(StoreBuffer, LinesOfSeniorStoresAreAskedForAheadOneACycle) {
    Buffer buffer(0);
    for (std::int64_t i = 0; i < 4; ++i) {
        buffer.push(20 + i, 1);
    }
    buffer.stores.set_senior(3);
    for (std::int64_t cycle = 0; cycle < 6; ++cycle) {
        buffer.stores.step(cycle, buffer.caches);
        EXPECT_EQ(buffer.caches.outbox().size(), std::min<std::size_t>(3, std::size_t(cycle) + 1));
    }
    EXPECT_EQ(buffer.caches.outbox()[2].line, 22);
    EXPECT_EQ(buffer.caches.outbox()[2].kind, caches::UncoreRequest::Kind::Own);
}

TEST(StoreBuffer, ATileLoadWaitsForALineUntilSoLongAfterItReachedTheL1) {
    Buffer buffer;
    const std::int64_t store = buffer.push(3, 5);
    EXPECT_EQ(buffer.stores.conflict(3, 6), store);
    EXPECT_EQ(buffer.stores.conflict(3, 5), StoreBuffer::kNone);  // an older load
    EXPECT_EQ(buffer.stores.conflict(4, 6), StoreBuffer::kNone);
    EXPECT_EQ(buffer.stores.conflict(3 + 256, 6), StoreBuffer::kNone);
    buffer.stores.set_data(store, 7);
    buffer.stores.set_senior(1);
    for (std::int64_t cycle = 0; cycle < 7 + kAfter; ++cycle) {
        buffer.stores.step(cycle, buffer.caches);
        EXPECT_FALSE(buffer.stores.released(store)) << cycle;
        EXPECT_EQ(buffer.stores.conflict(3, 6), store) << cycle;
    }
    EXPECT_EQ(buffer.stores.next_event(7), 7 + kAfter);
    buffer.stores.step(7 + kAfter, buffer.caches);
    EXPECT_TRUE(buffer.stores.released(store));
    EXPECT_EQ(buffer.stores.conflict(3, 6), StoreBuffer::kNone);
    EXPECT_TRUE(buffer.stores.idle());
}

TEST(StoreBuffer, TheYoungestOlderStoreOfALineIsTheOneToWaitFor) {
    Buffer buffer;
    buffer.push(3, 5);
    const std::int64_t second = buffer.push(3, 6);
    buffer.push(3, 8);
    EXPECT_EQ(buffer.stores.conflict(3, 7), second);
}

TEST(StoreBuffer, AVectorStoreHandsOnAnyPartATileStoreTheWholeLine) {
    Buffer buffer;
    const std::int64_t tile = buffer.stores.push(128, 64, 1, true);
    const std::int64_t vector = buffer.stores.push(256, 32, 1, false);
    EXPECT_TRUE(buffer.stores.forwards(tile, 128, 64));
    EXPECT_FALSE(buffer.stores.forwards(tile, 128, 32));
    EXPECT_TRUE(buffer.stores.forwards(vector, 256, 32));
    EXPECT_TRUE(buffer.stores.forwards(vector, 264, 24));
    EXPECT_FALSE(buffer.stores.forwards(vector, 264, 25));  // beyond what was stored
    EXPECT_FALSE(buffer.stores.forwards(vector, 252, 8));   // before it
}

TEST(StoreBuffer, ALineThatWasLostIsAskedForAgain) {
    Buffer buffer(1);
    const std::int64_t store = buffer.push(0, 1);
    buffer.stores.set_senior(1);
    buffer.stores.step(0, buffer.caches);  // it is there
    buffer.caches.give_up(0);
    buffer.stores.set_data(store, 3);
    buffer.stores.step(3, buffer.caches);
    EXPECT_FALSE(buffer.stores.committed(store));
    ASSERT_EQ(buffer.caches.outbox().size(), 1U);
    EXPECT_EQ(buffer.caches.outbox()[0].line, 0);
}

TEST(StoreBuffer, AStoreThatFoundNoLineIsWrittenOnceThatHasCome) {
    Buffer buffer(0);
    const std::int64_t store = buffer.push(0, 1);
    buffer.stores.set_data(store, 3);
    buffer.stores.set_senior(1);
    buffer.stores.step(3, buffer.caches);
    buffer.caches.warm(0, caches::Level::L1, false);
    buffer.stores.note_fill({1, caches::Cache::kNone});
    buffer.stores.step(4, buffer.caches);
    EXPECT_FALSE(buffer.stores.committed(store));  // it was another's
    buffer.stores.note_fill({0, caches::Cache::kNone});
    buffer.stores.step(5, buffer.caches);
    EXPECT_TRUE(buffer.stores.committed(store));
}

TEST(StoreBuffer, ALineThatAFillHasDrivenOutIsAskedForAgain) {
    Buffer buffer(1);
    const std::int64_t store = buffer.push(0, 1);
    buffer.stores.set_senior(1);
    for (caches::Line line = 64; buffer.caches.contains_l1(0); line += 64) {  // of its set
        buffer.stores.step(line, buffer.caches);                              // it is there
        buffer.caches.warm(line, caches::Level::L1, false);
    }
    buffer.stores.step(3, buffer.caches);
    EXPECT_EQ(buffer.caches.counters().ownerships, 0);  // nobody has said so
    buffer.stores.note_fill({64, 0});
    buffer.stores.step(4, buffer.caches);
    EXPECT_FALSE(buffer.stores.committed(store));
    EXPECT_EQ(buffer.caches.counters().ownerships, 1);
}

// One after the other: not each when it is its turn, a latency of the L2 apart.
TEST(StoreBuffer, BehindALineThatWasLostLinesAreAskedForOnceMore) {
    Buffer buffer;
    for (caches::Line line = 0; line < 3; ++line) {
        buffer.push(line, 1);
    }
    buffer.stores.set_senior(3);
    for (std::int64_t cycle = 0; cycle < 3; ++cycle) {
        buffer.stores.step(cycle, buffer.caches);  // all are there
    }
    buffer.caches.give_up(0);
    buffer.caches.give_up(2);
    buffer.stores.step(3, buffer.caches);
    ASSERT_EQ(buffer.caches.outbox().size(), 1U);
    EXPECT_EQ(buffer.caches.outbox()[0].line, 0);
    buffer.stores.step(4, buffer.caches);  // line 1 is there
    EXPECT_EQ(buffer.caches.outbox().size(), 1U);
    buffer.stores.step(5, buffer.caches);
    ASSERT_EQ(buffer.caches.outbox().size(), 2U);
    EXPECT_EQ(buffer.caches.outbox()[1].line, 2);
    buffer.stores.step(6, buffer.caches);
    EXPECT_EQ(buffer.caches.outbox().size(), 2U);
}

TEST(StoreBuffer, AStorePastTheCachesTakesAFillBufferWhenItIsItsTurn) {
    Buffer buffer(0);
    const std::int64_t store = buffer.stores.push(0, caches::kLineBytes, 1, false, true);
    buffer.stores.set_data(store, 5);
    buffer.stores.set_senior(1);
    buffer.stores.step(4, buffer.caches);
    EXPECT_TRUE(buffer.caches.outbox().empty());  // it asks for no line ahead
    buffer.stores.step(5, buffer.caches);
    EXPECT_TRUE(buffer.stores.committed(store));
    ASSERT_EQ(buffer.caches.outbox().size(), 1U);
    EXPECT_EQ(buffer.caches.outbox()[0].kind, caches::UncoreRequest::Kind::Stream);
}

// Thirteen lines that tile loads still wait for, and as many stores as there is room for.
TEST(StoreBuffer, HoldsEveryStoreThatATileLoadMayWaitFor) {
    Buffer buffer;
    const auto line = [](std::int64_t store) { return store % 16; };
    for (std::int64_t i = 0; i < kAfter; ++i) {
        buffer.push(line(i), 1);
        buffer.stores.set_data(i, i);
        buffer.stores.set_senior(i + 1);
        buffer.stores.step(i, buffer.caches);
        EXPECT_TRUE(buffer.stores.committed(i));
    }
    for (std::int64_t i = kAfter; i < kAfter + 7; ++i) {
        EXPECT_GT(buffer.stores.room(), 0);
        buffer.push(100 + i, 1);
    }
    EXPECT_EQ(buffer.stores.room(), 0);
    for (std::int64_t i = 0; i < kAfter; ++i) {
        EXPECT_EQ(buffer.stores.conflict(line(i), 2), i);
    }
}

TEST(StoreBuffer, BehindALineThatIsThereOthersAreAskedFor) {
    Buffer buffer(1);
    for (const caches::Line line : {0, 20, 21}) {
        buffer.push(line, 1);
    }
    buffer.stores.set_senior(3);
    for (std::int64_t cycle = 0; cycle < 3; ++cycle) {
        buffer.stores.step(cycle, buffer.caches);
        EXPECT_EQ(buffer.caches.outbox().size(), static_cast<std::size_t>(cycle));
    }
    Buffer written(1);  // in the same cycle
    written.stores.set_data(written.push(0, 1), 0);
    written.push(20, 1);
    written.stores.set_senior(2);
    written.stores.step(0, written.caches);
    EXPECT_EQ(written.caches.outbox().size(), 1U);
}

TEST(StoreBuffer, DataOfAStoreThatNeedsNoBufferAreAnEventWhoeverWasRefusedOne) {
    Buffer buffer(1);
    for (caches::Line line = 100; !buffer.caches.full(); ++line) {
        buffer.caches.load(line, 0, 0, true);
    }
    buffer.stores.set_data(buffer.push(0, 1), 9);
    buffer.push(20, 1);
    buffer.stores.set_senior(2);
    buffer.stores.step(0, buffer.caches);
    buffer.stores.step(1, buffer.caches);  // no buffer for the second
    EXPECT_EQ(buffer.stores.next_event(1), 9);
    Buffer streams(0);
    streams.stores.set_data(streams.stores.push(0, caches::kLineBytes, 1, false, true), 9);
    streams.stores.set_senior(1);
    streams.stores.step(0, streams.caches);
    EXPECT_EQ(streams.stores.next_event(0), 9);
}

TEST(StoreBuffer, TheNextEventIsALineToAskForAStoreToWriteOrALineToRelease) {
    Buffer buffer;
    EXPECT_EQ(buffer.stores.next_event(0), caches::kUnknownCycle);
    buffer.push(0, 1);
    buffer.push(1, 1);
    EXPECT_EQ(buffer.stores.next_event(0), caches::kUnknownCycle);  // neither is senior
    buffer.stores.set_senior(2);
    EXPECT_EQ(buffer.stores.next_event(0), 1);  // lines to ask for
    EXPECT_EQ(buffer.stores.next_event(6), 7);
    buffer.stores.set_data(0, 5);
    buffer.stores.set_data(1, 23);
    for (std::int64_t cycle = 1; cycle < 5; ++cycle) {
        buffer.stores.step(cycle, buffer.caches);
    }
    EXPECT_EQ(buffer.stores.next_event(4), 5);
    buffer.stores.step(5, buffer.caches);
    EXPECT_EQ(buffer.stores.next_event(5), 5 + kAfter);  // before the second's data
    buffer.stores.set_data(1, 11);
    EXPECT_EQ(buffer.stores.next_event(5), 11);
    EXPECT_EQ(buffer.stores.next_event(17), 18) << "never the cycle that is over";
}

TEST(StoreBuffer, AStoreThatFoundNoLineOrNoBufferWaitsForTheCaches) {
    Buffer missing(0);
    missing.stores.set_data(missing.push(0, 1), 3);
    missing.stores.set_senior(1);
    for (std::int64_t cycle = 0; cycle < 5; ++cycle) {
        missing.stores.step(cycle, missing.caches);
    }
    EXPECT_EQ(missing.stores.next_event(5), caches::kUnknownCycle);
    Buffer full(0);
    for (caches::Line line = 100; !full.caches.full(); ++line) {
        full.caches.load(line, 0, 0, true);
    }
    const std::int64_t store = full.stores.push(0, caches::kLineBytes, 1, false, true);
    full.stores.set_data(store, 3);
    full.stores.set_senior(1);
    full.stores.step(3, full.caches);
    EXPECT_FALSE(full.stores.committed(store));
    EXPECT_EQ(full.stores.next_event(3), caches::kUnknownCycle);
    Buffer refused(0);  // a line to ask for, and no buffer
    for (caches::Line line = 100; !refused.caches.full(); ++line) {
        refused.caches.load(line, 0, 0, true);
    }
    refused.push(0, 1);
    refused.stores.set_senior(1);
    refused.stores.step(1, refused.caches);
    EXPECT_EQ(refused.stores.next_event(1), caches::kUnknownCycle);
}

}  // namespace
}  // namespace tilesim::arch::amx::core
