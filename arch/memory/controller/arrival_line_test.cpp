#include "arch/memory/controller/arrival_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace tilesim::arch::memory::controller {
namespace {

using testing::ElementsAre;

struct NumberedLine : ArrivalLine {
    // Requests are numbered from 1.
    void read(std::int64_t when) { expect(false, ++submitted, {}, when); }
    void write(std::int64_t when) { expect(true, ++submitted, {}, when); }
    std::vector<std::uint64_t> in_order() {
        std::vector<std::uint64_t> requests;
        while (!empty()) {
            requests.push_back(first().request);
            take(1);
        }
        return requests;
    }
    std::uint64_t submitted = 0;
};

TEST(ArrivalLine, ReadsAndWritesComeInOrderOfTheirArrival) {
    NumberedLine line;
    line.read(1000);
    line.read(1200);
    line.write(1100);
    line.write(1300);
    EXPECT_THAT(line.in_order(), ElementsAre(1, 3, 2, 4));
}

TEST(ArrivalLine, WhatArrivesTogetherComesInOrderOfItsSubmission) {
    NumberedLine line;
    line.read(1000);
    line.write(1000);
    line.write(1000);
    line.read(1000);
    line.write(1000);
    EXPECT_THAT(line.in_order(), ElementsAre(1, 2, 3, 4, 5));
    NumberedLine writes_first;
    writes_first.write(1000);
    writes_first.read(1000);
    writes_first.write(1000);
    EXPECT_THAT(writes_first.in_order(), ElementsAre(1, 2, 3));
}

TEST(ArrivalLine, WhatArrivesEarlierPassesWhatWasSubmittedBefore) {
    NumberedLine line;
    line.write(1100);
    line.read(1050);
    line.write(1000);
    line.write(1100);
    EXPECT_THAT(line.in_order(), ElementsAre(3, 2, 1, 4));
}

TEST(ArrivalLine, WhatFindsRoomForSomeBurstsStaysWithTheRest) {
    ArrivalLine line;
    const device::Location first(0, 3, 7, 5);
    line.expect(false, 1, first, 1000).count = 3;
    line.expect(false, 2, first, 1000);
    line.take(2);
    EXPECT_EQ(line.first().request, 1U);
    EXPECT_EQ(line.first().count, 1U);
    EXPECT_EQ(line.first().first, device::Location(0, 3, 7, 7));
}

TEST(ArrivalLine, WhatHasComeAndWaitsForRoomIsNoNextArrival) {
    NumberedLine line;
    EXPECT_EQ(line.next(0), INT64_MAX);
    line.read(1000);
    EXPECT_FALSE(line.one_has_come(999));
    EXPECT_EQ(line.next(999), 1000);
    EXPECT_TRUE(line.one_has_come(1000));
    EXPECT_EQ(line.next(1000), INT64_MAX);
}

}  // namespace
}  // namespace tilesim::arch::memory::controller
