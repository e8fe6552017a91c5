// Every reference row against its bound: `tilesim validate`, suite by suite.
#include "validation/suite.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace tilesim::validation {
namespace {

class Suites : public testing::TestWithParam<std::string> {};

TEST_P(Suites, EveryRowIsWithinItsBound) {
    const SuiteResult result = run_suite(GetParam(), 2);
    EXPECT_FALSE(result.rows.empty());
    EXPECT_TRUE(result.check.broken.empty())
        << fmt::format("{}", fmt::join(result.check.broken, "\n"));
    for (const std::string& loose : result.check.loose) {
        fmt::print("{}\n", loose);
    }
    // What bands are made of is of this model.
    std::ostringstream stored;
    stored << std::ifstream(residuals_file(GetParam())).rdbuf();
    EXPECT_EQ(stored.str(), residuals_csv(result))
        << "tilesim validate " << GetParam() << " --residuals writes it anew";
}

// Whole sockets take ten minutes: .ci/full runs them.
std::vector<std::string> all_but_sockets() {
    std::vector<std::string> names = suite_names();
    std::erase(names, "amx_public");
    return names;
}

TEST(Suite, ATargetThatIsMissedIsSaid) {
    const SuiteResult random = run_suite("memory", 2, "dramsys/lpddr4/off/random");
    EXPECT_FALSE(random.within_targets);
    EXPECT_THAT(to_table(random),
                testing::HasSubstr("misses the target: 1 % in the mean, 2 % a row"));
    EXPECT_THAT(to_table(run_suite("memory", 2, "dramsys/lpddr4/off/strided")),
                testing::Not(testing::HasSubstr("misses")));
}

TEST(Suite, RowsAreThoseWhoseNameHoldsTheText) {
    const SuiteResult result = run_suite("amx", 2, "registers/TDP");
    ASSERT_EQ(result.rows.size(), 2U);
    EXPECT_EQ(result.rows[0].id, "registers/TDP throughput");
    EXPECT_TRUE(result.check.broken.empty());  // no bound without its row
    EXPECT_TRUE(run_suite("amx", 2, "no such row").rows.empty());
}

INSTANTIATE_TEST_SUITE_P(Validation, Suites, testing::ValuesIn(all_but_sockets()),
                         [](const auto& suite) { return suite.param; });

}  // namespace
}  // namespace tilesim::validation
