#include "validation/bounds.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "arch/base/config.hpp"
#include "arch/base/temporary_folder_testing.hpp"

namespace tilesim::validation {
namespace {

// A row that is off by so much.
Row row(const std::string& id, double error_percent) {
    Row made;
    made.id = id;
    made.measured = 100;
    made.predicted = 100 + error_percent;
    return made;
}

TEST(Bounds, AreTheErrorAndATenthOrATenthOfAPoint) {
    EXPECT_DOUBLE_EQ(bound_for(0), 0.1);
    EXPECT_DOUBLE_EQ(bound_for(0.5), 0.6);  // a tenth of it would be 0.05
    EXPECT_DOUBLE_EQ(bound_for(-3), 3.3);
}

TEST(Bounds, AreBrokenByARowBeyondItsBoundEitherWay) {
    const Bounds bounds{{"a", 2.0}};
    EXPECT_TRUE(check(bounds, {row("a", 1.99)}).broken.empty());
    EXPECT_TRUE(check(bounds, {row("a", -1.99)}).broken.empty());
    EXPECT_EQ(check(bounds, {row("a", 2.01)}).broken.size(), 1);
    EXPECT_EQ(check(bounds, {row("a", -2.01)}).broken.size(), 1);
    EXPECT_EQ(check(bounds, {row("a", std::nan(""))}).broken.size(), 1);
}

TEST(Bounds, AreBrokenByARowWithoutABoundAndABoundWithoutARow) {
    EXPECT_EQ(check({}, {row("a", 0)}).broken,
              std::vector<std::string>{"a: no bound; `tilesim validate --tighten` "
                                       "gives it one"});
    EXPECT_EQ(check({{"b", 1.0}}, {}).broken, std::vector<std::string>{"b: a bound without a row"});
}

TEST(Bounds, AFileThatIsNoneIsNamedWithWhatIsWrong) {
    const arch::base::TemporaryFolder folder;
    const std::string file = folder.path() / "bounds.csv";
    EXPECT_TRUE(read_bounds(file).empty());
    EXPECT_EQ(why_no_bounds(file), file +
                                       ": there is no such file; `tilesim validate --tighten` "
                                       "writes it");
    const auto problem_of = [&file](const std::string& text) -> std::string {
        std::ofstream(file) << text;
        try {
            return read_bounds(file).empty() ? why_no_bounds(file) : "";
        } catch (const arch::base::config::ConfigError& error) {
            return error.what();
        }
    };
    EXPECT_EQ(problem_of("id,bound_percent\na,1.5\nb,2\n"), "");
    EXPECT_EQ(problem_of("id,bound_percent\n"),
              file + ": holds no bound; `tilesim validate --tighten` writes it");
    EXPECT_EQ(problem_of("id,bound\na,1.5\n"),
              file + ":2:1: the file has no column 'bound_percent'");
    EXPECT_EQ(problem_of("id,bound_percent\na,x\n"),
              file + ":2:1: bound_percent: must be a number, got 'x'");
    EXPECT_EQ(problem_of("id,bound_percent\na,1\nb,1\na,2\n"),
              file + ":4:1: id: 'a' has a bound already");
}

TEST(Bounds, ARowThatHasComeNearerIsNamed) {
    EXPECT_TRUE(check({{"a", 2.2}}, {row("a", 2.0)}).loose.empty());
    EXPECT_EQ(check({{"a", 2.3}}, {row("a", 2.0)}).loose.size(), 1);
}

TEST(Bounds, AreNeverLoosened) {
    const Bounds tight = tightened({{"a", 2.2}, {"b", 0.3}, {"c", 1.0}, {"gone", 1.0}},
                                   {row("a", 1.0), row("b", 5.0), row("c", std::nan("")),
                                    row("new", 0.0), row("no number", std::nan(""))});
    EXPECT_EQ(tight.size(), 4);
    EXPECT_DOUBLE_EQ(tight.at("a"), 1.1);
    EXPECT_DOUBLE_EQ(tight.at("b"), 0.3);
    EXPECT_DOUBLE_EQ(tight.at("c"), 1.0);
    EXPECT_DOUBLE_EQ(tight.at("new"), 0.1);
}

}  // namespace
}  // namespace tilesim::validation
