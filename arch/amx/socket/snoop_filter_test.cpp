#include "arch/amx/socket/snoop_filter.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::amx::socket {
namespace {

TEST(SnoopFilter, ALineIsRememberedWithWhatIsKnownOfIt) {
    SnoopFilter filter(64);
    EXPECT_EQ(filter.of(5).holder, SnoopFilter::kNobody);
    filter.of(5).holder = SnoopFilter::name_of(3);
    filter.of(6).fetched = true;
    EXPECT_EQ(filter.of(5).holder, 4);
    EXPECT_TRUE(filter.of(6).fetched);
    EXPECT_FALSE(filter.of(5).fetched);
}

TEST(SnoopFilter, TheNinthLineOfASetDisplacesAnother) {
    SnoopFilter filter(64);  // eight sets of eight
    for (caches::Line line = 0; line < 9; ++line) {
        filter.of(8 * line).fetched = true;
    }
    int known = 0;
    for (caches::Line line = 8; line >= 0; --line) {
        known += filter.of(8 * line).fetched ? 1 : 0;
        if (known == 8) {
            break;
        }
    }
    EXPECT_EQ(known, 8);
    EXPECT_FALSE(filter.of(1).fetched);
}

TEST(SnoopFilter, AsManyLinesAreRememberedEachAsThereArePlaces) {
    SnoopFilter filter(64);
    for (caches::Line line = 0; line < 64; ++line) {
        filter.of(line).holder = SnoopFilter::name_of(static_cast<std::size_t>(line));
    }
    for (caches::Line line = 0; line < 64; ++line) {
        EXPECT_EQ(filter.of(line).holder, SnoopFilter::name_of(static_cast<std::size_t>(line)));
    }
}

TEST(SnoopFilter, HasForgottenALineOnceASetIsShortOfPlaces) {
    SnoopFilter filter(64);
    for (caches::Line line = 0; line < 64; ++line) {
        filter.of(line);
    }
    EXPECT_FALSE(filter.has_forgotten());
    filter.of(64);
    EXPECT_TRUE(filter.has_forgotten());
}

TEST(SnoopFilter, OfALineThatDisplacesAnotherNothingIsKnown) {
    SnoopFilter filter(64);
    for (caches::Line line = 0; line < 100; ++line) {
        SnoopFilter::Entry& entry = filter.of(8 * line);
        EXPECT_FALSE(entry.fetched) << line;
        entry.fetched = true;
    }
}

}  // namespace
}  // namespace tilesim::arch::amx::socket
