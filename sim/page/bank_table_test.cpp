#include "sim/page/bank_table.hpp"

#include <gtest/gtest.h>

namespace tilesim::sim::page {
namespace {

using Json = nlohmann::ordered_json;

TEST(BankTable, NamesTheBanksWithMostAndFewestAccesses) {
    const Json banks{{"banks_per_group", 2},
                     {"activates", {{1, 1, 1, 1}, {0, 0, 0, 0}}},
                     {"reads", {{2, 3, 7, 0}, {0, 0, 0, 0}}},
                     {"writes", {{0, 3, 5, 0}, {0, 0, 0, 0}}}};
    const std::string text = bank_table(banks);
    EXPECT_NE(text.find("| 0 | 20 | 1/0: 12 | 1/1: 0 | 2.40 |\n"), text.npos) << text;
    EXPECT_NE(text.find("| 1 | 0 | 0/0: 0 | 0/0: 0 | - |\n"), text.npos) << text;
}

TEST(BankTable, ReadsOrWritesMayBeAbsent) {
    const Json banks{{"banks_per_group", 1}, {"activates", {{1, 1}}}, {"writes", {{1, 3}}}};
    const std::string text = bank_table(banks);
    EXPECT_NE(text.find("| 0 | 4 | 1/0: 3 | 0/0: 1 | 1.50 |\n"), text.npos) << text;
}

}  // namespace
}  // namespace tilesim::sim::page
