#include "workloads/amx/tiles/unfelt_keys.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "arch/base/config.hpp"
#include "workloads/amx/tiles/amx_run_testing.hpp"
#include "workloads/amx/tiles/mapping_problems.hpp"

namespace tilesim::workloads::amx::tiles {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Map = AmxMapping;

// Three blocks of rows, two and a half of columns, three k tiles.
const GemmProblem kProduct = gemm(96, 192, 80);

// Below `mapping.amx.`, of the mapping after `change`.
template <class Change>
std::vector<std::string> names(const GemmProblem& problem, Change change, bool functional = false) {
    constexpr std::string_view kPrefix = "mapping.amx.";
    Map map;
    change(map);
    std::vector<std::string> keys;
    for (const UnfeltKey& each : unfelt_keys(problem, map, functional)) {
        if (each.key.starts_with(kPrefix)) {
            keys.push_back(each.key.substr(kPrefix.size()));
        }
    }
    return keys;
}

// Named with `without`, and not any more with `with`.
template <class Without, class With>
void expect_freed(const char* key, Without without, With with,
                  const GemmProblem& problem = kProduct) {
    EXPECT_THAT(names(problem, without), Contains(key));
    EXPECT_THAT(names(problem, with), Not(Contains(key)));
}

void nothing(Map&) {}

TEST(AmxUnfeltKeys, SharesNeedThreads) {
    const auto four = [](Map& map) { map.threads = 4; };
    const auto grid = [](Map& map) {
        map.threads = 4;
        map.partition = Map::Partition::MN;
    };
    expect_freed("partition", nothing, four);
    expect_freed("threads_n", four, grid);
    EXPECT_THAT(names(kProduct, [](Map& map) { map.partition = Map::Partition::MN; }),
                Contains("threads_n"));
}

TEST(AmxUnfeltKeys, WherePrefetchesEndMattersToThoseOfKSteps) {
    expect_freed(
        "prefetch_to", [](Map& map) { map.prefetch_next = true; },
        [](Map& map) { map.prefetch_a = 1; });
    expect_freed("prefetch_to", nothing, [](Map& map) { map.prefetch_b = 1; });
}

TEST(AmxUnfeltKeys, AIsPrefetchedOnceWhereThereAreMoreBlocksOfColumns) {
    const auto once = [](std::int64_t n_acc, std::int64_t threads) {
        return [n_acc, threads](Map& map) {
            map.m_acc = 1;
            map.n_acc = n_acc;
            map.prefetch_a = 2;
            map.threads = threads;
            map.partition = Map::Partition::N;
        };
    };
    expect_freed("prefetch_a_once", nothing, once(2, 1));
    expect_freed("prefetch_a_once", once(5, 1), once(4, 1));
    expect_freed("prefetch_a_once", once(2, 3), once(2, 2));  // three blocks over the threads
    // A smaller last tile is a block of its own.
    const auto smaller = [&](Map& map) {
        once(5, 1)(map);
        map.remainder = Map::Remainder::Smaller;
    };
    expect_freed("prefetch_a_once", once(5, 1), smaller, gemm(96, 192, 72));
}

TEST(AmxUnfeltKeys, TheNextColumnsArePrefetchedWhereThereAreSome) {
    const auto next = [](std::int64_t n_acc, Map::Order order) {
        return [n_acc, order](Map& map) {
            map.m_acc = 1;
            map.n_acc = n_acc;
            map.order = order;
            map.prefetch_next = true;
        };
    };
    expect_freed("prefetch_next", next(5, Map::Order::Switched), next(4, Map::Order::Switched));
    expect_freed("prefetch_next", next(4, Map::Order::KInnermost), [&](Map& map) {
        next(4, Map::Order::KInnermost)(map);
        map.prefetch_first = true;  // without prefetch_next it is refused
    });
    EXPECT_THAT(names(kProduct, nothing), Not(Contains("prefetch_next")));
}

TEST(AmxUnfeltKeys, RowsOfPackedAHaveNoPadding) {
    expect_freed(
        "a_padding", [](Map& map) { map.a_packed = true; }, nothing);
}

TEST(AmxUnfeltKeys, OperandsInRegistersLieNowhere) {
    const auto registers = [](Map& map) { map.data_in = Map::DataIn::Registers; };
    for (const char* key :
         {"a_packed", "a_padding", "c_padding", "a_nontemporal", "b_nontemporal"}) {
        expect_freed(key, registers, nothing);
        expect_freed(key, registers, [&](Map& map) {  // of lines that lie somewhere
            registers(map);
            map.prefetch_a = 1;
        });
        EXPECT_THAT(names(gemm(96, 192, 80, DataType::Int8, DataType::F32), registers),
                    Not(Contains(key)));
    }
}

TEST(AmxUnfeltKeys, WeightsAreExpandedWhereTheyAreCompressed) {
    expect_freed("density_percent", nothing, [](Map& map) { map.b_layout = Map::BLayout::Sparse; });
    const auto steps = [](std::int64_t count) {
        return [count](Map& map) {
            map.decompress = Map::Decompress::Interleaved;
            map.decompress_steps = count;
        };
    };
    const GemmProblem weights = narrow(32, 96, 64);  // three k tiles
    expect_freed("decompress_steps", nothing, steps(2), weights);
    expect_freed("decompress_steps", steps(3), steps(2), weights);
}

TEST(AmxUnfeltKeys, TheOuterLoopMattersToBlocksOfRowsAndColumns) {
    const auto blocks = [](std::int64_t m_acc, std::int64_t n_acc) {
        return [m_acc, n_acc](Map& map) {
            map.m_acc = m_acc;
            map.n_acc = n_acc;
        };
    };
    expect_freed("outer", blocks(1, 5), blocks(1, 4));
    expect_freed("outer", blocks(6, 1), blocks(5, 1));
    // All columns of B are re-laid in front of it, or those of a block.
    expect_freed("outer", blocks(1, 5), [&](Map& map) {
        blocks(1, 5)(map);
        map.b_layout = Map::BLayout::RowMajor;
    });
}

TEST(AmxUnfeltKeys, RemaindersAreOfTilesThatAreNotFull) {
    EXPECT_THAT(names(gemm(96, 200, 80), nothing), Contains("remainder"));
    EXPECT_THAT(names(gemm(90, 200, 80), nothing), Not(Contains("remainder")));
    EXPECT_THAT(names(gemm(96, 200, 90), nothing), Not(Contains("remainder")));
}

TEST(AmxUnfeltKeys, SumsAsTheyAreHaveNoPostOperations) {
    EXPECT_THAT(names(kProduct, nothing), testing::IsSupersetOf({"post", "relu"}));
    for (const DataType out : {DataType::Int8, DataType::F32}) {
        const auto after = names(gemm(96, 192, 80, DataType::Int8, out), nothing);
        EXPECT_THAT(after, Not(Contains("post")));
        EXPECT_THAT(after, Not(Contains("relu")));
    }
}

TEST(AmxUnfeltKeys, PostOperationsGoAmongTheProductsOfASecondBlock) {
    const auto two_by_two = [](Map& map) { map.m_acc = map.n_acc = 2; };
    const auto apart = [&](Map& map) {
        two_by_two(map);
        map.threads = 2;
        map.partition = Map::Partition::M;
    };
    const auto of = [](std::int64_t m, std::int64_t n) {
        return gemm(m, 192, n, DataType::Int8, DataType::Int8);
    };
    EXPECT_THAT(names(of(32, 32), two_by_two), Contains("post"));
    EXPECT_THAT(names(of(64, 32), apart), Contains("post"));
    EXPECT_THAT(names(of(64, 32), two_by_two), Not(Contains("post")));
    EXPECT_THAT(names(of(32, 33), two_by_two), Not(Contains("post")));
}

TEST(AmxUnfeltKeys, CacheBlocksMatterWhereTheyHoldLessThanAThreadHas) {
    const auto rows = [](std::int64_t mc, std::int64_t threads = 1) {
        return [mc, threads](Map& map) {
            map.mc = mc;
            map.threads = threads;
        };
    };
    // A tenth less would hold all of them, too.
    expect_freed("mc", rows(107), rows(106));
    expect_freed("mc", rows(71, 2), rows(71));  // two blocks of 32 rows, of three, are a thread's
    expect_freed(
        "nc", [](Map& map) { map.nc = 89; }, [](Map& map) { map.nc = 88; });
    expect_freed(
        "kc", [](Map& map) { map.kc = 213; }, [](Map& map) { map.kc = 212; });
    for (const char* key : {"mc", "nc", "kc"}) {
        EXPECT_THAT(names(kProduct, nothing), Not(Contains(key)));
    }
}

TEST(AmxUnfeltKeys, SignsMatterToTheBytesOfInt8) {
    const auto of = [](DataType type, bool functional) {
        return names(
            gemm(96, 192, 80, type, type == DataType::Int8 ? DataType::Int32 : DataType::F32),
            nothing, functional);
    };
    for (const char* key : {"a_signed", "b_signed"}) {
        EXPECT_THAT(of(DataType::Int8, false), Contains(key));
        EXPECT_THAT(of(DataType::Int8, true), Not(Contains(key)));
        EXPECT_THAT(of(DataType::Bf16, true), Contains(key));
    }
}

TEST(AmxUnfeltKeys, AConvolutionsThreadsShareOutWholeRows) {
    ConvolutionProblem convolution;
    convolution.height = 6;
    convolution.width = 48;
    convolution.channels = convolution.filters = 64;
    const auto mc = [&](Map::OutputRows rows) {
        Map map;
        map.mc = 54;
        map.threads = 6;
        map.output_rows = rows;
        const auto keys = unfelt_keys(convolution, map, false);
        return std::any_of(keys.begin(), keys.end(),
                           [](const UnfeltKey& each) { return each.key == "mapping.amx.mc"; });
    };
    EXPECT_TRUE(mc(Map::OutputRows::Apart));
    EXPECT_FALSE(mc(Map::OutputRows::Joined));  // two blocks of 32 of 288 rows
}

// The mapping with `key` at another value, where such a mapping can be.
std::optional<Map> changed(const GemmProblem& problem, const Map& map, const std::string& key,
                           const std::string& value) {
    auto document = arch::base::config::Document::parse(
        fmt::format("{{{}: {}}}", key.substr(key.rfind('.') + 1), value), "");
    auto root = document.root();
    Map other = map;
    read_amx_mapping(root, other);
    return problems_of(problem, other, 56).empty() ? std::optional{other} : std::nullopt;
}

// Every name, and what a number is a tenth below and above.
std::vector<std::string> neighbours(const arch::base::config::KeyDescription& key) {
    if (key.type != "integer") {
        return key.type == "boolean" ? std::vector<std::string>{"on", "off"} : key.choices;
    }
    const std::int64_t value = std::stoll(key.value);
    const std::int64_t tenth = std::max<std::int64_t>(1, (value + 5) / 10);
    return {std::to_string(std::max<std::int64_t>(value - tenth, 1)),
            std::to_string(value + tenth)};
}

// What is named leaves the time and the number of instructions as they are.
void expect_truth(const GemmProblem& problem, const Map& map) {
    ASSERT_THAT(problems_of(problem, map, 56), IsEmpty());
    const auto did = [&](const Map& mapping) {
        const Outcome outcome = run(lower(problem, mapping), nullptr);
        return std::pair{outcome.cycles, outcome.counters.instructions};
    };
    auto document = arch::base::config::Document::describing();
    auto root = document.root();
    Map copy = map;
    read_amx_mapping(root, copy);
    const auto plain = did(map);
    const std::vector<std::string> named = names(problem, [&](Map& other) { other = map; });
    for (const auto& key : document.descriptions()) {
        if (std::find(named.begin(), named.end(), key.path) == named.end()) {
            continue;
        }
        for (const std::string& value : neighbours(key)) {
            if (const auto other = changed(problem, map, key.path, value)) {
                EXPECT_EQ(did(*other), plain) << key.path << ": " << value;
            }
        }
    }
}

TEST(AmxUnfeltKeys, WhatIsNamedChangesNothing) {
    Map map;
    expect_truth(kProduct, map);
    map.outer = Map::Outer::M;
    expect_truth(gemm(90, 192, 32), map);
    map.data_in = Map::DataIn::Registers;
    expect_truth(kProduct, map);
    map = {};
    map.threads = 3;
    map.partition = Map::Partition::MN;
    map.prefetch_a = 2;
    map.prefetch_next = true;
    map.mc = map.nc = map.kc = 512;
    expect_truth(kProduct, map);
    map.order = Map::Order::KInnermost;
    map.partition = Map::Partition::N;
    expect_truth(gemm(96, 192, 96, DataType::Bf16, DataType::F32), map);
    map = {};
    map.decompress = Map::Decompress::Interleaved;
    map.decompress_steps = 7;
    map.prefetch_a = 2;
    expect_truth(narrow(32, 96, 64), map);
    map = {};
    map.a_packed = map.prefetch_a_once = true;
    map.remainder = Map::Remainder::Smaller;
    expect_truth(gemm(80, 130, 71), map);
}

TEST(AmxUnfeltKeys, AKeyIsStatedWhereItsValueIsNotTheDefault) {
    Map map;
    map.threads_n = 4;
    std::vector<std::string> stated;
    for (const UnfeltKey& each : unfelt_keys(kProduct, map, false)) {
        if (each.stated) {
            stated.push_back(each.key + ": " + each.reason);
        }
    }
    EXPECT_THAT(stated, ElementsAre("mapping.amx.threads_n: there is one thread"));
}

TEST(AmxReplacedSizes, CacheBlocksAreWholeTiles) {
    const auto sentences = [](auto change) {
        Map map;
        change(map);
        return replaced_sizes(kProduct, map);
    };
    EXPECT_THAT(sentences([](Map& map) { map.mc = 32; }), IsEmpty());
    EXPECT_THAT(sentences([](Map& map) { map.mc = 47; }), ElementsAre(HasSubstr("mc: 47 is no")));
    EXPECT_THAT(sentences([](Map& map) { map.nc = 5; }), ElementsAre(HasSubstr("16 are taken")));
    EXPECT_THAT(sentences([](Map& map) { map.kc = 100; }), ElementsAre(HasSubstr("64 are taken")));
}

TEST(AmxReplacedSizes, BlocksOfAccumulatorsAreNoLargerThanWhatAThreadHas) {
    const auto sentences = [](std::int64_t m, std::int64_t n, std::int64_t threads) {
        Map map;
        map.threads = threads;
        map.m_acc = 4;
        map.n_acc = 1;
        return replaced_sizes(gemm(m, 64, n), map);
    };
    EXPECT_THAT(sentences(49, 16, 1), IsEmpty());
    EXPECT_THAT(sentences(48, 16, 1),
                ElementsAre("mapping.amx.m_acc: 4 tiles are more than the 3 of a thread"));
    EXPECT_THAT(sentences(128, 16, 2), IsEmpty());  // blocks are shared out whole
    ConvolutionProblem convolution;
    convolution.height = 6;
    convolution.width = 20;
    convolution.channels = 64;
    convolution.filters = 16;
    Map map;
    EXPECT_THAT(replaced_sizes(convolution, map),
                ElementsAre("mapping.amx.n_acc: 2 tiles are more than the 1 of a thread"));
}

}  // namespace
}  // namespace tilesim::workloads::amx::tiles
