#include "workloads/amx/tiles/amx_among.hpp"

#include <gmock/gmock.h>

#include <string>

namespace tilesim::workloads::amx::tiles {
namespace {

class Among : public testing::Test {
  protected:
    void add(char code) {
        among_.add([this, code] { written_ += code; });
    }

    AmongProducts among_;
    std::string written_;
};

TEST_F(Among, EveryProductOfAStepHasItsShare) {
    for (const char code : {'a', 'b', 'c', 'd', 'e'}) {
        add(code);
    }
    among_.begin_step(3);
    for (int product = 0; product < 3; ++product) {
        among_.write_share();
        written_ += '|';
    }
    EXPECT_EQ(written_, "ab|cd|e|");
    add('f');  // late: behind the last product
    add('g');
    among_.write_share();
    EXPECT_EQ(written_, "ab|cd|e|fg");
}

TEST_F(Among, WhatIsAddedEvenlyMixesWithWhatWaits) {
    add('a');
    add('b');
    among_.add_evenly([this] {
        for (int i = 0; i < 6; ++i) {
            add('-');
        }
    });
    among_.write_rest();
    EXPECT_EQ(written_, "a---b---");
}

}  // namespace
}  // namespace tilesim::workloads::amx::tiles
