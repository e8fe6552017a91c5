#include "arch/base/quantity.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::base::config {
namespace {

std::int64_t count(std::string_view text, const Dimension& dimension) {
    return std::get<std::int64_t>(parse_quantity(text, dimension));
}

std::string problem(std::string_view text, const Dimension& dimension) {
    return std::get<std::string>(parse_quantity(text, dimension));
}

TEST(Quantity, IsExact) {
    EXPECT_EQ(count("1.8 GHz", kFrequencyDimension), 1'800'000'000);
    EXPECT_EQ(count("0.9375 ns", kTimeDimension), 937'500);
    EXPECT_EQ(count("64 KiB", kBytesDimension), 65536);
    EXPECT_EQ(count("16B/cycle", kBytesPerCycleDimension), 16);
    EXPECT_EQ(count("3 cycles", kCyclesDimension), 3);
}

TEST(Quantity, NamesTheAcceptedUnits) {
    EXPECT_EQ(problem("18", kTimeDimension), "needs a unit (fs, ps, ns, us, ms, s), got '18'");
    EXPECT_EQ(problem("18 GHz", kTimeDimension),
              "has the unknown unit 'GHz'; use one of fs, ps, ns, us, ms, s");
}

TEST(Quantity, RefusesWhatIsNoNumber) {
    for (const char* text : {"nan ns", ".nan", "inf ns", "", "1.2.3 ns", "ns", "1e3 ns", "- ns",
                             "99999999999999999999 ns", "99999999999 s"}) {
        EXPECT_TRUE(std::holds_alternative<std::string>(parse_quantity(text, kTimeDimension)))
            << text;
    }
    EXPECT_EQ(problem("0.5 fs", kTimeDimension), "must be a whole number of fs, got '0.5 fs'");
}

TEST(Quantity, PrintsTheLargestWholeUnit) {
    EXPECT_EQ(format_quantity(1'800'000'000, kFrequencyDimension), "1800 MHz");
    EXPECT_EQ(format_quantity(65536, kBytesDimension), "64 KiB");
    EXPECT_EQ(format_quantity(0, kTimeDimension), "0 fs");
}

TEST(Integer, IsDecimalOrHexAndNothingElse) {
    EXPECT_EQ(std::get<std::int64_t>(parse_integer("-12")), -12);
    EXPECT_EQ(std::get<std::int64_t>(parse_integer("0x1F")), 31);
    for (const char* text : {"010", "1e3", "1.0", "", "-", "0x", "12a", "9223372036854775808"}) {
        EXPECT_TRUE(std::holds_alternative<std::string>(parse_integer(text))) << text;
    }
}

}  // namespace
}  // namespace tilesim::arch::base::config
