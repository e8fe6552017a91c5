#include "validation/rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "arch/base/config.hpp"
#include "arch/base/temporary_folder_testing.hpp"

namespace tilesim::validation {
namespace {

using arch::base::config::ConfigError;
using testing::HasSubstr;

std::vector<Record> records_of(const char* text) {
    const arch::base::TemporaryFolder folder;
    const std::string file = folder.path() / "rows.csv";
    std::ofstream(file) << text;
    return read_csv(file);
}

template <class Question>
std::string refusal_of(Question question) {
    try {
        question();
    } catch (const ConfigError& error) {
        return error.what();
    }
    return {};
}

TEST(Record, HasTheFieldsOfItsLineByColumn) {
    const auto records = records_of("# source\nid,cycles,share\n\n\"a,b\",64,0.25\n");
    ASSERT_EQ(records.size(), 1U);
    EXPECT_EQ(records[0].at("id"), "a,b");
    EXPECT_EQ(records[0].integer("cycles"), 64);
    EXPECT_EQ(records[0].number("share"), 0.25);
    EXPECT_FALSE(records[0].contains("use"));
}

TEST(Record, SaysInWhichLineSomethingIsWrong) {
    const auto records = records_of("# source\nid,cycles\na,64 K\n");
    EXPECT_THAT(refusal_of([&] { records[0].integer("cycles"); }),
                HasSubstr("rows.csv:3:1: cycles: must be an integer, got '64 K'"));
    EXPECT_THAT(refusal_of([&] { records[0].number("id"); }),
                HasSubstr("rows.csv:3:1: id: must be a number, got 'a'"));
    const auto nothing = records_of("id,cycles\nnan,inf\n");
    EXPECT_THAT(refusal_of([&] { nothing[0].number("id"); }), HasSubstr("got 'nan'"));
    EXPECT_THAT(refusal_of([&] { nothing[0].number("cycles"); }), HasSubstr("got 'inf'"));
    EXPECT_THAT(refusal_of([&] { records[0].at("use"); }),
                HasSubstr("rows.csv:3:1: the file has no column 'use'"));
    EXPECT_THAT(refusal_of([] { records_of("id,cycles\na\n"); }),
                HasSubstr("rows.csv:2:1: has 1 fields, the header 2"));
}

}  // namespace
}  // namespace tilesim::validation
