// The looks at the house themselves, at small ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "sim/house_testing.hpp"

namespace tilesim::sim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Three rooms: c depends on b, its tests on a.
House small_house() {
    House house;
    house.rooms["arch/a"] = *read_room("component(arch_a SOURCES a.cpp DEPENDS fmt::fmt)");
    house.rooms["arch/b"] = *read_room("# b\ncomponent(arch_b\n    SOURCES b.cpp)\n");
    house.rooms["arch/c"] =
        *read_room("component(arch_c SOURCES c.cpp\n DEPENDS arch_b\n TEST_DEPENDS arch_a)");
    return house;
}

Source source_with(const std::string& text) {
    return read_source(std::istringstream{text});
}

TEST(HouseRules, AnIncludeOfAHigherLayerIsFound) {
    House house;
    house.sources["arch/base/x.hpp"] = source_with("#include \"arch/c/c.hpp\"\n");
    house.sources["arch/c/c.cpp"] = source_with("#include \"arch/base/x.hpp\"\n");
    house.sources["sim/main.cpp"] = source_with("#include \"validation/validate_command.hpp\"\n");
    house.sources["sim/y.cpp"] = source_with("#include \"validation/validate_command.hpp\"\n");
    EXPECT_THAT(includes_against_the_layers(house),
                ElementsAre("arch/base/x.hpp includes arch/c/c.hpp",
                            "sim/y.cpp includes validation/validate_command.hpp"));
}

TEST(HouseRules, AnIncludeWithoutALinkIsFoundAndTestsHaveLinksOfTheirOwn) {
    House house = small_house();
    const std::string both = "#include \"arch/a/a.hpp\"\n#include \"arch/b/b.hpp\"\n";
    house.sources["arch/c/c.cpp"] = source_with(both);
    house.sources["arch/c/c_test.cpp"] = source_with(both);
    EXPECT_THAT(includes_beyond_the_links(house),
                ElementsAre("arch/c/c.cpp includes arch/a/a.hpp"));
}

TEST(HouseRules, ACircleOfTargetsIsFound) {
    House house = small_house();
    EXPECT_THAT(rooms_in_a_circle(house), IsEmpty());
    house.rooms["arch/b"].depends.insert("arch_c");
    EXPECT_THAT(rooms_in_a_circle(house), ElementsAre("arch/b", "arch/c"));
}

TEST(HouseRules, AMachineNamedAboveTheCatalogueIsFound) {
    House house;
    house.sources["sim/a.cpp"] = source_with(
        "#include \"workloads/npu/npu_machine.hpp\"\n#include \"workloads/gemm.hpp\"\n");
    house.sources["sim/b.cpp"] = source_with("#include \"workloads/catalogue/catalogue.hpp\"\n");
    house.sources["sim/compare/c.cpp"] =
        source_with("#include \"workloads/amx/amx_machine.hpp\"\n");
    EXPECT_THAT(includes_past_the_catalogue(house),
                ElementsAre("sim/a.cpp includes workloads/npu/npu_machine.hpp"));
}

TEST(HouseRules, AnotherNamespaceIsFound) {
    House house;
    house.sources["arch/a/a.hpp"] = source_with("namespace tilesim::arch::a {\n");
    house.sources["arch/a/b.hpp"] = source_with("namespace tilesim::arch {\n");
    house.sources["arch/a/c.hpp"] = source_with("namespace tilesim::arch::a::detail {\n");
    EXPECT_THAT(sources_by_another_name(house), ElementsAre("arch/a/b.hpp is in arch"));
}

TEST(HouseRules, SystemCAndHelpersOfTestsAreFound) {
    House house;
    house.sources["arch/a/a.hpp"] = source_with("#include <systemc>\n");
    house.sources["arch/systemc/b.hpp"] = source_with("#include <systemc>\n");
    house.sources["sim/c.cpp"] = source_with("#include \"sim/d_testing.hpp\"\n");
    EXPECT_THAT(includes_of_systemc(house), ElementsAre("arch/a/a.hpp"));
    EXPECT_THAT(products_that_need_tests(house),
                ElementsAre("sim/c.cpp includes sim/d_testing.hpp"));
}

}  // namespace
}  // namespace tilesim::sim
