#include "workloads/amx/tiles/key_alternatives.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "workloads/amx/tiles/amx_run_testing.hpp"
#include "workloads/amx/tiles/whole_socket.hpp"

namespace tilesim::workloads::amx::tiles {
namespace {

using Lists = std::vector<std::vector<AmxMapping>>;

Lists alternatives(const GemmProblem& problem, const AmxMapping& mapping) {
    return alternatives_of(problem, socket_of(7), {}, mapping);
}

// Whether one of them, and no other, differs in that key.
template <class Wanted>
bool any(const Lists& lists, Wanted wanted) {
    return std::any_of(lists.begin(), lists.end(), [&](const std::vector<AmxMapping>& list) {
        return std::any_of(list.begin(), list.end(), wanted);
    });
}

TEST(KeyAlternatives, EachDiffersAndLeavesWhatIsComputedAsItIs) {
    AmxMapping from;
    from.data_in = AmxMapping::DataIn::L1;
    from.runs = 3;
    from.relu = false;
    EXPECT_FALSE(any(alternatives(gemm(48, 256, 96), from), [&](const AmxMapping& each) {
        return each == from || each.data_in != from.data_in || each.runs != 3 || each.relu;
    }));
}

TEST(KeyAlternatives, PostOperationsAreInterleavedWhereThereAreSome) {
    const auto interleaved = [](const AmxMapping& each) {
        return each.post == AmxMapping::Post::Interleaved;
    };
    EXPECT_TRUE(
        any(alternatives(gemm(48, 256, 96, DataType::Int8, DataType::Int8), {}), interleaved));
    EXPECT_FALSE(any(alternatives(gemm(48, 256, 96), {}), interleaved));
}

TEST(KeyAlternatives, ShorterTilesWhereSomeAreNotFull) {
    const auto smaller = [](const AmxMapping& each) {
        return each.remainder == AmxMapping::Remainder::Smaller;
    };
    EXPECT_TRUE(any(alternatives(gemm(50, 256, 96), {}), smaller));
    EXPECT_TRUE(any(alternatives(gemm(48, 256, 90), {}), smaller));
    EXPECT_FALSE(any(alternatives(gemm(48, 256, 96), {}), smaller));
}

TEST(KeyAlternatives, LoadsPastTheL1AndPrefetchesOfBothOperandsAreAmongThem) {
    const Lists lists = alternatives(gemm(48, 256, 96), {});
    EXPECT_TRUE(any(lists, [](const AmxMapping& each) { return each.a_nontemporal; }));
    EXPECT_TRUE(any(lists, [](const AmxMapping& each) { return each.b_nontemporal; }));
    EXPECT_TRUE(any(lists, [](const AmxMapping& each) {
        return each.prefetch_a == 4 && !each.prefetch_l1 && each.prefetch_a_once;
    }));
    EXPECT_TRUE(any(lists, [](const AmxMapping& each) { return each.prefetch_b == 8; }));
    EXPECT_TRUE(any(
        lists, [](const AmxMapping& each) { return each.prefetch_first && each.prefetch_next; }));
}

TEST(KeyAlternatives, BOfTheFirstBlockComesAFewStepsAheadInsteadOfInFrontOfAll) {
    AmxMapping from;
    from.prefetch_next = from.prefetch_first = true;
    EXPECT_TRUE(any(alternatives(gemm(48, 256, 96), from), [](const AmxMapping& each) {
        return each.prefetch_next && !each.prefetch_first && each.prefetch_b == 4;
    }));
}

// Of 23 k tiles in parts of eight, which are three: four, two, six, twelve and one.
TEST(KeyAlternatives, BlocksOfKAreEqualParts) {
    AmxMapping from;
    from.kc = 8 * 64;
    std::set<std::int64_t> depths;
    for (const auto& list : alternatives(gemm(48, 23 * 64, 96), from)) {
        for (const AmxMapping& each : list) {
            if (each.m_acc == from.m_acc && each.n_acc == from.n_acc && each.kc != from.kc) {
                depths.insert(each.kc / 64);
            }
        }
    }
    EXPECT_EQ(depths, (std::set<std::int64_t>{0, 2, 4, 6, 12}));
}

// The threads of the whole socket follow the blocks; those a scenario names stay.
TEST(KeyAlternatives, BlocksKeepTheirRegistersAndThreads) {
    const auto one_tile = [](const AmxMapping& from, std::int64_t threads) {
        return any(alternatives(gemm(32, 256, 32), from), [threads](const AmxMapping& each) {
            return each.m_acc == 1 && each.n_acc == 1 && each.threads == threads;
        });
    };
    AmxMapping grid;  // of one block
    grid.partition = AmxMapping::Partition::MN;
    EXPECT_TRUE(one_tile(grid, 4));
    EXPECT_FALSE(one_tile(grid, 1));
    EXPECT_TRUE(one_tile({}, 1));
    EXPECT_FALSE(one_tile({}, 4));
    EXPECT_TRUE(any(alternatives(gemm(64, 256, 64), mapping_with(AmxMapping::Order::Switched)),
                    [](const AmxMapping& each) {
                        return each.n_acc == 4 && each.order == AmxMapping::Order::Interleaved;
                    }));
}

// Depth of blocks of k, prefetches, decompression: what is as its shape asks.
TEST(KeyAlternatives, AnotherBlockGetsWhatItsShapeAsksUnlessThatWasChanged) {
    const auto socket = socket_of(7);
    const auto whole = [&](const GemmProblem& problem, std::int64_t m_acc, std::int64_t n_acc) {
        return whole_socket(problem, m_acc, n_acc, socket);
    };
    const auto has = [&](const GemmProblem& problem, const AmxMapping& from,
                         const AmxMapping& wanted) {
        return any(alternatives(problem, from),
                   [&](const AmxMapping& each) { return each == wanted; });
    };
    const GemmProblem deep = gemm(112, 22 * 64, 256);
    ASSERT_NE(whole(deep, 1, 2).kc, whole(deep, 2, 2).kc);
    EXPECT_TRUE(has(deep, whole(deep, 1, 2), whole(deep, 2, 2)));
    AmxMapping changed = whole(deep, 1, 2);
    changed.kc = 192;
    AmxMapping wanted = whole(deep, 2, 2);
    wanted.kc = 192;
    EXPECT_TRUE(has(deep, changed, wanted));
    const GemmProblem two_rows = narrow(32, 256, 512);
    ASSERT_EQ(whole(two_rows, 2, 1).decompress, AmxMapping::Decompress::Interleaved);
    EXPECT_TRUE(has(two_rows, whole(two_rows, 1, 1), whole(two_rows, 2, 1)));
    EXPECT_TRUE(has(two_rows, whole(two_rows, 2, 1), whole(two_rows, 1, 1)));
}

TEST(KeyAlternatives, CompressedWeightsAreDecompressedInTheOtherPlace) {
    AmxMapping from = whole_socket(narrow(32, 256, 512), 2, 1, socket_of(7));
    const auto ahead = [](const AmxMapping& each) {
        return each.m_acc == 2 && each.n_acc == 1 &&
               each.decompress == AmxMapping::Decompress::Ahead;
    };
    EXPECT_TRUE(any(alternatives(narrow(32, 256, 512), from), ahead));
    EXPECT_TRUE(any(alternatives(narrow(32, 256, 512), from), [&](const AmxMapping& each) {
        return ahead(each) && each.prefetch_b == 2;  // what it reads comes ahead of it
    }));
    from.decompress = AmxMapping::Decompress::Ahead;
    from.prefetch_b = 1;
    EXPECT_TRUE(any(alternatives(narrow(32, 256, 512), from), [](const AmxMapping& each) {
        return each.m_acc == 2 && each.n_acc == 1 && each.prefetch_b == 0 &&
               each.decompress == AmxMapping::Decompress::Interleaved;
    }));
}

TEST(KeyAlternatives, OtherLayoutsCannotBeFetchedAhead) {
    AmxMapping from;
    from.prefetch_next = from.prefetch_first = true;
    const Lists lists = alternatives(gemm(64, 256, 64), from);
    EXPECT_TRUE(any(lists, [](const AmxMapping& each) {
        return each.b_layout == AmxMapping::BLayout::Vnni && !each.prefetch_next &&
               !each.prefetch_first;
    }));
    EXPECT_FALSE(any(lists, [](const AmxMapping& each) {
        return each.b_layout != AmxMapping::BLayout::Packed && each.prefetch_next;
    }));
    EXPECT_FALSE(any(alternatives(narrow(16, 256, 64), {}), [](const AmxMapping& each) {
        return each.b_layout != AmxMapping::BLayout::Packed;
    }));
}

}  // namespace
}  // namespace tilesim::workloads::amx::tiles
