#include "arch/base/name_table.hpp"

#include <gtest/gtest.h>

#include "arch/base/config.hpp"

namespace tilesim::arch::base {
namespace {

enum class Colour { Red, Green, Blue };
constexpr NameTable<Colour> kColours{{
    {"blue", Colour::Blue},
    {"red", Colour::Red},
    {"green", Colour::Green},
}};

TEST(NameTable, NamesEveryValueAndFindsItAgain) {
    for (const auto colour : {Colour::Red, Colour::Green, Colour::Blue}) {
        EXPECT_EQ(kColours.find(kColours[colour]), colour);
    }
    EXPECT_EQ(kColours[Colour::Green], "green");
    EXPECT_EQ(kColours.find("yellow"), std::nullopt);
}

TEST(NameTable, AReaderListsTheNamesInTheTablesOrder) {
    auto document = config::Document::parse("colour: green\n", "f.yaml");
    Colour colour = Colour::Red;
    document.root().optional("colour", colour, kColours, "of the paint");
    EXPECT_EQ(colour, Colour::Green);
    EXPECT_EQ(document.descriptions().at(0).default_value, "red");
    EXPECT_EQ(document.descriptions().at(0).choices,
              (std::vector<std::string>{"blue", "red", "green"}));
}

}  // namespace
}  // namespace tilesim::arch::base
