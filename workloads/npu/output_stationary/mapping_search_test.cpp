#include "workloads/npu/output_stationary/mapping_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "workloads/npu/output_stationary/mapping_problems.hpp"
#include "workloads/npu/output_stationary/mapping_search_testing.hpp"
#include "workloads/npu/program_run_testing.hpp"

namespace tilesim::workloads::npu::output_stationary {
namespace {

std::vector<TileCandidate> candidates(const std::string& device, const GemmProblem& problem) {
    const Machine machine = load_machine(device, "ddr5_5600");
    return candidates_of({problem, machine.npu, {machine.memory, machine.fabric}});
}

std::vector<TileCandidate> variants(const std::string& device, const GemmProblem& problem,
                                    const OutputStationaryMapping& map) {
    const Machine machine = load_machine(device, "ddr5_5600");
    return variants_of({problem, machine.npu, {machine.memory, machine.fabric}}, map);
}

bool has(const std::vector<TileCandidate>& set, std::int64_t m, std::int64_t k, std::int64_t n) {
    return std::any_of(set.begin(), set.end(), [&](const TileCandidate& c) {
        return c.mapping.m_ct == m && c.mapping.k_ct == k && c.mapping.n_ct == n;
    });
}

TEST(MappingSearch, KeepsThePublishedBestMappings) {
    EXPECT_TRUE(has(candidates("xdna2", gemm(4032, 4320, 4608, DataType::Int8, DataType::Int8)),
                    144, 72, 144));
    EXPECT_TRUE(has(candidates("xdna2", gemm(4096, 4320, 4480, DataType::Int8, DataType::Int16)),
                    128, 72, 112));
    EXPECT_TRUE(has(candidates("xdna2", gemm(4224, 4224, 4608, DataType::Int8, DataType::Int32)),
                    96, 64, 96));
    EXPECT_TRUE(has(candidates("xdna2", gemm(4032, 4224, 4608, DataType::Bf16, DataType::Bf16)),
                    112, 48, 96));
    EXPECT_TRUE(has(candidates("xdna", gemm(4032, 4032, 4032, DataType::Int8, DataType::Int8)), 112,
                    112, 112));
    EXPECT_TRUE(has(candidates("xdna", gemm(4224, 4032, 4224, DataType::Int8, DataType::Int16)), 96,
                    112, 96));
    EXPECT_TRUE(has(candidates("xdna", gemm(4160, 4224, 4224, DataType::Int8, DataType::Int32)), 80,
                    88, 96));
    EXPECT_TRUE(has(candidates("xdna", gemm(4224, 4032, 4224, DataType::Bf16, DataType::Bf16)), 96,
                    56, 96));
}

TEST(MappingSearch, EveryCandidateFitsAndNoTileIsPaddingAlone) {
    const GemmProblem problem = gemm(256, 96, 256, DataType::Int8, DataType::Int32);
    const Machine machine = load_machine("xdna", "ddr5_5600");
    for (const TileCandidate& each : candidates("xdna", problem)) {
        EXPECT_TRUE(problems_of(problem, each.mapping, machine.npu).empty());
        EXPECT_LT(each.mapping.m_ct * each.mapping.rows_of(machine.npu), 256 + 16 * 4);
        EXPECT_LE(each.mapping.k_ct, 96);
        EXPECT_GE(each.expected_ns, each.bounds.tightest_ns());
    }
}

// Rows of blocks beside output tiles, where they have fewer descriptors to wait for.
TEST(MappingSearch, RowsOfBlocksAreCandidatesWhereTheyAreExpectedToBeFaster) {
    using Reach = OutputStationaryMapping::Reach;
    const auto list = candidates("xdna", gemm(512, 416, 512, DataType::Int8, DataType::Int8));
    std::size_t rows = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (list[i].mapping.reach == Reach::BlockRow) {
            ASSERT_GT(i, 0U);
            const OutputStationaryMapping& row = list[i].mapping;
            const OutputStationaryMapping& tile = list[i - 1].mapping;
            EXPECT_EQ(tile.reach, Reach::OutputTile);
            EXPECT_TRUE(std::tie(row.m_ct, row.k_ct, row.n_ct, row.k_mt, row.c_buffers) ==
                        std::tie(tile.m_ct, tile.k_ct, tile.n_ct, tile.k_mt, tile.c_buffers));
            EXPECT_LT(list[i].expected_ns, list[i - 1].expected_ns);
            ++rows;
        }
    }
    EXPECT_GT(rows, 0U);
    EXPECT_LT(rows, list.size() / 2);
}

// Parts of the array are searched where they are not given, and no other tile than a given one.
TEST(MappingSearch, CandidatesKeepWhatIsGiven) {
    const GemmProblem problem = gemm(512, 480, 768, DataType::Int8, DataType::Int8);
    const Machine machine = load_machine("xdna2", "ddr5_5600");
    const SearchContext context{problem, machine.npu, {machine.memory, machine.fabric}};
    OutputStationaryMapping given;
    given.columns = 3;
    given.n_ct = 88;
    given.k_mt = 96;
    given.a_buffers = 3;
    std::set<std::int64_t> rows;
    for (const TileCandidate& each : candidates_of(context, given)) {
        EXPECT_EQ(each.mapping.columns, 3);
        EXPECT_EQ(each.mapping.n_ct, 88);
        EXPECT_EQ(each.mapping.k_mt, 96);
        EXPECT_EQ(each.mapping.k_mt % each.mapping.k_ct, 0);
        EXPECT_EQ(each.mapping.a_buffers, 3);
        rows.insert(each.mapping.rows);
    }
    EXPECT_TRUE(rows.contains(0));
    EXPECT_TRUE(rows.contains(2));
}

// 288 rows are one round of four times 72 and two of 36, which are no multiples of a step.
TEST(MappingSearch, TilesThatCoverTheProductInOneRoundOrTwoAreCandidates) {
    const auto list = candidates("xdna", gemm(288, 304, 816, DataType::Int8, DataType::Int16));
    EXPECT_TRUE(has(list, 72, 16, 208));
    EXPECT_TRUE(has(list, 72, 16, 104));
    EXPECT_TRUE(has(list, 36, 16, 104));
    EXPECT_FALSE(has(list, 56, 16, 104));
}

// On a part of the array blocks may be as long as K besides.
TEST(MappingSearch, VariantsFitAndDifferInOneKeyOrItsTile) {
    const GemmProblem problem = gemm(512, 864, 1152, DataType::Int8, DataType::Int8);
    const Machine machine = load_machine("xdna2", "ddr5_5600");
    OutputStationaryMapping map = tile(64, 72, 64, 432);
    const auto all = variants("xdna2", problem, map);
    for (const TileCandidate& each : all) {
        const OutputStationaryMapping& other = each.mapping;
        const bool on_a_part = other.columns != map.columns || other.rows != map.rows;
        const std::int64_t whole_tiles =
            arch::base::ceil_div(map.k_mt, other.k_ct) * other.k_ct;  // a block has no less
        const bool another_k_mt =
            other.k_mt != whole_tiles && !(on_a_part && other.k_mt == problem.k);
        const int changed =
            another_k_mt + (other.k_ct != map.k_ct) + (other.c_buffers != map.c_buffers) +
            (other.a_buffers != map.a_buffers) + (other.b_buffers != map.b_buffers) +
            (other.in_flight != map.in_flight) + (other.reach != map.reach) +
            (other.columns != map.columns || other.n_ct != map.n_ct) +
            (other.rows != map.rows || other.m_ct != map.m_ct);
        EXPECT_EQ(changed, 1);
        EXPECT_TRUE(problems_of(problem, other, machine.npu).empty());
    }
    EXPECT_GT(all.size(), 10U);
    for (const std::int64_t tile : {32, 48, 56, 72, 80, 128}) {
        const auto is = [&](const TileCandidate& each) {
            return each.mapping.columns == map.columns && each.mapping.n_ct == tile;
        };
        EXPECT_TRUE(std::any_of(all.begin(), all.end(), is)) << tile;
    }
}

// From a part of the array the way leads back to the whole of it, with tiles of half the size too.
TEST(MappingSearch, VariantsHaveHalfAndTwiceTheCoresAndKTiles) {
    const GemmProblem problem = gemm(512, 768, 512, DataType::Int8, DataType::Int8);
    OutputStationaryMapping map = tile(64, 48, 64, 96);
    map.columns = map.rows = 2;
    const auto all = variants("xdna", problem, map);
    const auto has_variant = [&](auto... change) {
        OutputStationaryMapping wanted = map;
        (change(wanted), ...);
        return std::any_of(all.begin(), all.end(), [&](const TileCandidate& each) {
            const OutputStationaryMapping& other = each.mapping;
            return std::tie(other.columns, other.rows, other.m_ct, other.k_ct, other.n_ct,
                            other.k_mt) == std::tie(wanted.columns, wanted.rows, wanted.m_ct,
                                                    wanted.k_ct, wanted.n_ct, wanted.k_mt);
        });
    };
    EXPECT_TRUE(has_variant([](auto& m) { m.columns = 1; }));
    EXPECT_TRUE(has_variant([](auto& m) { m.columns = 1; }, [](auto& m) { m.n_ct = 128; }));
    EXPECT_TRUE(has_variant([](auto& m) { m.columns = 4; }));
    EXPECT_TRUE(has_variant([](auto& m) { m.columns = 4; }, [](auto& m) { m.n_ct = 32; }));
    EXPECT_TRUE(has_variant([](auto& m) { m.rows = 1; }, [](auto& m) { m.m_ct = 128; }));
    EXPECT_TRUE(has_variant([](auto& m) { m.rows = 4; }, [](auto& m) { m.m_ct = 32; }));
    EXPECT_TRUE(has_variant([](auto& m) { m.k_ct = 24; }));
    EXPECT_TRUE(has_variant([](auto& m) { m.k_ct = 96; }));
    EXPECT_FALSE(has_variant([](auto& m) { m.columns = 8; }));
}

// 32 KiB of B and 16 of a C tile of 32 rows leave no room for a second C tile and a third A tile.
TEST(MappingSearch, LargerTilesDoWithFewerBuffersWhereTheyHaveTo) {
    const GemmProblem problem = gemm(64, 1024, 4096, DataType::Int8, DataType::Int32);
    OutputStationaryMapping map = tile(16, 128, 128, 256);
    map.c_buffers = 2;
    map.a_buffers = 3;
    const auto all = variants("xdna2", problem, map);
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const TileCandidate& each) {
        const OutputStationaryMapping& other = each.mapping;
        return std::tie(other.rows, other.m_ct, other.c_buffers, other.a_buffers) ==
               std::tuple(2, 32, 1, 2);
    }));
}

bool any(const std::vector<TileCandidate>& list, auto predicate) {
    return std::any_of(list.begin(), list.end(),
                       [&](const TileCandidate& each) { return predicate(each.mapping); });
}

// 17 rows are five mmuls of four, 592 columns eight times 74, or 76 of whole mmuls.
TEST(MappingSearch, TilesThatCoverTheProductAreOfAnyNumberOfMmuls) {
    EXPECT_TRUE(any(candidates("xdna", gemm(17, 4128, 16, DataType::Int8, DataType::Int8)),
                    [](const auto& m) { return m.rows == 2 && m.m_ct == 12 && m.n_ct == 8; }));
    EXPECT_TRUE(any(candidates("xdna", gemm(16, 4896, 592, DataType::Int16, DataType::Int32)),
                    [](const auto& m) { return m.rows == 1 && m.n_ct == 76; }));
}

// Eight times 100 columns, in tiles of 104, lie across chops; 128 do not.
TEST(MappingSearch, TilesThatMakeAlignedRunsAreCandidates) {
    const auto list = candidates("xdna2", gemm(224, 528, 800, DataType::Int8, DataType::Int16));
    EXPECT_TRUE(has(list, 56, 88, 104));
    EXPECT_TRUE(has(list, 56, 88, 128));
}

// A row of cores has fewer tasks, and enough of them for 58 rows and all columns in rounds.
TEST(MappingSearch, PartsOfTheArrayHaveSeveralRoundsWhereTheirCoresAreNotTooSlow) {
    const auto on_a_part = [](const auto& m) { return m.rows == 1 && 4 * m.n_ct < 3712; };
    EXPECT_TRUE(
        any(candidates("xdna", gemm(58, 32, 3712, DataType::Int8, DataType::Int16)), on_a_part));
    EXPECT_FALSE(any(candidates("xdna", gemm(1024, 512, 2048, DataType::Int8, DataType::Int8)),
                     [](const auto& m) { return m.rows != 0; }));
}

// One tile has nothing to be ahead of, and no second C to fill; of two reaches, two are under way.
TEST(MappingSearch, VariantsThatChangeNothingAreNone) {
    using Map = OutputStationaryMapping;
    const Map map = tile(64, 48, 64, 96);
    const auto one = variants("xdna", gemm(256, 768, 256, DataType::Int8, DataType::Int8), map);
    EXPECT_FALSE(any(one, [](const Map& m) {
        return m.n_ct == 64 && m.m_ct == 64 && m.columns == 0 && m.rows == 0 &&
               (m.in_flight != 0 || m.c_buffers != 1 || m.reach == Map::Reach::BlockRow);
    }));
    const auto two = variants("xdna", gemm(256, 768, 512, DataType::Int8, DataType::Int8), map);
    EXPECT_TRUE(any(two, [](const Map& m) { return m.in_flight == 1; }));
    EXPECT_FALSE(any(two, [](const Map& m) { return m.in_flight > 1; }));
    EXPECT_TRUE(any(two, [](const Map& m) { return m.reach == Map::Reach::BlockRow; }));
}

// A tile along K in a call less of five: 160 for 128, which blocks of 256 do not consist of.
TEST(MappingSearch, ABlockFollowsTheTilesItConsistsOf) {
    const auto all =
        variants("xdna", gemm(64, 640, 64, DataType::Int8, DataType::Int8), tile(16, 128, 16, 256));
    EXPECT_TRUE(any(all, [](const auto& m) { return m.k_ct == 160 && m.k_mt == 320; }));
}

}  // namespace
}  // namespace tilesim::workloads::npu::output_stationary
