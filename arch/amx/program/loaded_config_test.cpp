#include "arch/amx/program/loaded_config.hpp"

#include <gmock/gmock.h>

#include "arch/amx/program/program_text.hpp"
#include "arch/base/config.hpp"

namespace tilesim::arch::amx::program {
namespace {

using testing::ElementsAre;
using testing::FieldsAre;
using testing::HasSubstr;

constexpr const char* kHead =
    "buffer a 0x1000 1024\n"
    "config 0 16x64 16x64 16x64 16x64 16x64 16x64 16x64 16x64\n"
    "config 1 2x64 2x64 2x64 2x64 2x64 2x64 2x64 2x64\n";

// Of all tile loads and stores of a text, in their order.
std::vector<LoadedConfig> loaded(const std::string& text) {
    std::vector<LoadedConfig> result;
    each_loaded_config(
        read_program(kHead + text, "t"),
        [&](std::size_t /*statement*/, const LoadedConfig& each) { result.push_back(each); });
    return result;
}

TEST(LoadedConfig, IsTheOneAboveInAllTurnsWhereNoLoopLoadsAnother) {
    EXPECT_THAT(loaded("tilestored [a], 64, tmm0\nldtilecfg 1\n"
                       "loop i 3\n  loop j 5\n    tileloadd tmm0, [a], 64\n  end\nend\n"
                       "tilerelease\ntileloadd tmm0, [a], 64\n"),
                ElementsAre(FieldsAre(-1, ElementsAre(), -1),
                            FieldsAre(1, ElementsAre(Turns{0, 0, 2}, Turns{1, 0, 4}), -1),
                            FieldsAre(-1, ElementsAre(), -1)));
}

TEST(LoadedConfig, OfALoopThatLoadsAnotherIsThatFromItsSecondTurnOn) {
    EXPECT_THAT(loaded("ldtilecfg 0\nloop i 3\n  tileloadd tmm0, [a], 64\n  ldtilecfg 1\n"
                       "  tileloadd tmm0, [a], 64\nend\ntileloadd tmm0, [a], 64\n"),
                ElementsAre(FieldsAre(0, ElementsAre(Turns{0, 0, 0}), -1),
                            FieldsAre(1, ElementsAre(Turns{0, 1, 2}), 0),
                            FieldsAre(1, ElementsAre(Turns{0, 0, 2}), -1),
                            FieldsAre(1, ElementsAre(), -1)));
}

TEST(LoadedConfig, OfLoopsWithinEachOtherComesFromTheEndOfAnyOfThem) {
    EXPECT_THAT(
        loaded("ldtilecfg 0\nloop i 3\n  loop j 5\n    loop k 7\n"
               "      tileloadd tmm0, [a], 64\n    end\n    ldtilecfg 1\n  end\n"
               "  tilerelease\nend\n"),
        ElementsAre(FieldsAre(0, ElementsAre(Turns{0, 0, 0}, Turns{1, 0, 0}, Turns{2, 0, 6}), -1),
                    FieldsAre(-1, ElementsAre(Turns{0, 1, 2}, Turns{1, 0, 0}, Turns{2, 0, 6}), 0),
                    FieldsAre(1, ElementsAre(Turns{0, 0, 2}, Turns{1, 1, 4}, Turns{2, 0, 6}), 1)));
}

TEST(LoadedConfig, OfALoopWithoutTurnsStaysInIt) {
    EXPECT_THAT(loaded("ldtilecfg 0\nloop i 2\n  loop j 0\n    ldtilecfg 1\n"
                       "    tileloadd tmm0, [a], 64\n  end\n  tileloadd tmm0, [a], 64\nend\n"),
                ElementsAre(FieldsAre(1, ElementsAre(Turns{0, 0, 1}, Turns{1, 0, 0}), -1),
                            FieldsAre(0, ElementsAre(Turns{0, 0, 1}), -1)));
}

std::string error_of(const std::string& text) {
    try {
        read_program(kHead + text, "t");
    } catch (const base::config::ConfigError& error) {
        return error.what();
    }
    return "";
}

TEST(LoadedConfig, SaysHowManyRowsOfATileMustLieInItsBuffer) {
    // 16 rows at 0, two each at 448 and 896.
    EXPECT_EQ(error_of("ldtilecfg 0\nloop i 3\n  tileloadd tmm0, [a + 448*i], 64\n"
                       "  ldtilecfg 1\nend\n"),
              "");
    EXPECT_EQ(error_of("ldtilecfg 1\nloop i 3\n  tileloadd tmm0, [a + 32*i], 64\n"
                       "  ldtilecfg 0\nend\nvmovups zmm0, [a + 1024]\n"),
              "t:6:19: '[a + 32*i]' reaches from byte 32 to 1088 of buffer a, which has 1024, "
              "under config 0 in later turns of loop 'i'\n"
              "t:9:15: '[a + 1024]' reaches from byte 1024 to 1088 of buffer a, which has 1024");
    EXPECT_THAT(
        error_of("ldtilecfg 0\nloop i 0\n  ldtilecfg 1\nend\ntileloadd tmm0, [a + 64], 64\n"),
        HasSubstr("t:8:17: '[a + 64]' reaches from byte 64 to 1088 of buffer a"));
}

}  // namespace
}  // namespace tilesim::arch::amx::program
