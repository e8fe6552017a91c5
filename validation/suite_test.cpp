// Every reference row against its bound: `tilesim validate`, suite by suite.
#include "validation/suite.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tilesim::validation {
namespace {

class Suites : public testing::TestWithParam<std::string> {};

TEST_P(Suites, EveryRowIsWithinItsBound) {
    const SuiteResult result = run_suite(GetParam());
    EXPECT_FALSE(result.rows.empty());
    EXPECT_TRUE(result.check.broken.empty())
        << fmt::format("{}", fmt::join(result.check.broken, "\n"));
    for (const std::string& loose : result.check.loose) {
        fmt::print("{}\n", loose);
    }
}

INSTANTIATE_TEST_SUITE_P(Validation, Suites, testing::ValuesIn(suite_names()),
                         [](const auto& suite) { return suite.param; });

}  // namespace
}  // namespace tilesim::validation
