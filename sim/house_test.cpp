// The plan of the house: who may include whom, what a folder's names are called, and that the
// guides name what is there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace tilesim::sim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Names = std::set<std::string>;
using Complaints = std::vector<std::string>;

constexpr std::string_view kLayers[] = {"arch/base", "arch", "workloads", "sim", "validation"};
constexpr std::string_view kProgram = "sim/main.cpp";

// A folder that CMake's component() makes a library of.
struct Room {
    std::string target;
    Names depends;       // targets, as CMake lists them
    Names test_depends;  // what its tests may use besides
};

struct Source {
    Names includes;         // "...", by their path from the root
    Names system_includes;  // <...>
    Names scopes;           // namespaces of the project it opens
};

struct House {
    std::map<std::string, Room> rooms;      // by folder
    std::map<std::string, Source> sources;  // by path
};

// Empty at the root.
std::string folder_of(const std::string& path) {
    const std::size_t end = path.rfind('/');
    return end == std::string::npos ? "" : path.substr(0, end);
}

// Tests, benchmarks, fuzzers and what only they include.
bool serves_tests(std::string_view path) {
    constexpr std::string_view kEndings[] = {"_test.cpp", "_bench.cpp", "_fuzz.cpp", "_testing.hpp",
                                             "_testing.cpp"};
    return std::ranges::any_of(kEndings, [&](auto ending) { return path.ends_with(ending); });
}

std::size_t layer_of(const std::string& path) {
    for (std::size_t layer = 0; layer < std::size(kLayers); ++layer) {
        if (path.starts_with(std::string{kLayers[layer]} + "/")) {
            return layer;
        }
    }
    return std::size(kLayers);
}

// What stands between `open` and the next `close`.
std::optional<std::string> between(std::string_view line, std::string_view open, char close) {
    if (!line.starts_with(open)) {
        return std::nullopt;
    }
    line.remove_prefix(open.size());
    return std::string{line.substr(0, line.find(close))};
}

Source read_source(std::istream&& text) {
    Source source;
    for (std::string line; std::getline(text, line);) {
        if (const auto own = between(line, "#include \"", '"')) {
            source.includes.insert(*own);
        } else if (const auto system = between(line, "#include <", '>')) {
            source.system_includes.insert(*system);
        } else if (const auto scope = between(line, "namespace tilesim::", ' ')) {
            source.scopes.insert(*scope);
        }
    }
    return source;
}

// The first component() of a CMakeLists.txt.
std::optional<Room> read_room(std::string text) {
    const std::size_t begin = text.find("component(");
    if (begin == std::string::npos) {
        return std::nullopt;
    }
    text = text.substr(begin + std::string_view{"component("}.size());
    std::istringstream words{text.substr(0, text.find(')'))};
    Room room;
    words >> room.target;
    std::string keyword;
    for (std::string word; words >> word;) {
        if (std::ranges::none_of(word, [](char c) { return c >= 'a' && c <= 'z'; })) {
            keyword = word;
        } else if (keyword == "DEPENDS") {
            room.depends.insert(word);
        } else if (keyword == "TEST_DEPENDS") {
            room.test_depends.insert(word);
        }
    }
    return room;
}

// `targets` and everything they depend on.
Names closure(const House& house, Names targets) {
    for (std::vector<std::string> open(targets.begin(), targets.end()); !open.empty();) {
        const std::string target = open.back();
        open.pop_back();
        for (const auto& [folder, room] : house.rooms) {
            if (room.target != target) {
                continue;
            }
            for (const std::string& next : room.depends) {
                if (targets.insert(next).second) {
                    open.push_back(next);
                }
            }
        }
    }
    return targets;
}

Complaints includes_against_the_layers(const House& house) {
    Complaints complaints;
    for (const auto& [path, source] : house.sources) {
        for (const std::string& include : source.includes) {
            const bool entry = path == kProgram && include == "validation/validate_command.hpp";
            if (layer_of(include) > layer_of(path) && !entry) {
                complaints.push_back(path + " includes " + include);
            }
        }
    }
    return complaints;
}

Complaints includes_beyond_the_links(const House& house) {
    Complaints complaints;
    for (const auto& [folder, room] : house.rooms) {
        Names visible = closure(house, room.depends);
        visible.insert(room.target);
        Names visible_in_tests = visible;
        visible_in_tests.merge(closure(house, room.test_depends));
        for (const auto& [path, source] : house.sources) {
            if (folder_of(path) != folder || path == kProgram) {
                continue;
            }
            const Names& known = serves_tests(path) ? visible_in_tests : visible;
            for (const std::string& include : source.includes) {
                const auto other = house.rooms.find(folder_of(include));
                if (other != house.rooms.end() && !known.contains(other->second.target)) {
                    complaints.push_back(path + " includes " + include);
                }
            }
        }
    }
    return complaints;
}

Complaints rooms_in_a_circle(const House& house) {
    Complaints complaints;
    for (const auto& [folder, room] : house.rooms) {
        if (closure(house, room.depends).contains(room.target)) {
            complaints.push_back(folder);
        }
    }
    return complaints;
}

Complaints includes_of_systemc(const House& house) {
    Complaints complaints;
    for (const auto& [path, source] : house.sources) {
        const bool may = path == kProgram || path.starts_with("arch/systemc/");
        if (source.system_includes.contains("systemc") && !may) {
            complaints.push_back(path);
        }
    }
    return complaints;
}

// Above `workloads` a machine's folders are reached through the tables of the catalogue. Those who
// know a machine by its nature: what compares it with measurements of it, and
const Names kKnownByName{
    "workloads/memory/host_loop/host_loop.hpp",   // an agent of a scenario may be a processor alone
    "workloads/memory/streams/streams.hpp",       // or a stream
    "workloads/npu/mlir/design/design_file.hpp",  // a design takes a scenario's place, and is not
                                                  // YAML
    "workloads/pim/transformer/model_workload.hpp",  // a table over a model's layers
};

Complaints includes_past_the_catalogue(const House& house) {
    Complaints complaints;
    for (const auto& [path, source] : house.sources) {
        if (!path.starts_with("sim/") || path.starts_with("sim/compare/")) {
            continue;
        }
        for (const std::string& include : source.includes) {
            const bool of_machine = include.starts_with("workloads/") &&
                                    folder_of(include) != "workloads" &&
                                    folder_of(include) != "workloads/catalogue";
            if (of_machine && !kKnownByName.contains(include)) {
                complaints.push_back(path + " includes " + include);
            }
        }
    }
    return complaints;
}

// Headers for tests are not installed: what is must not need them.
Complaints products_that_need_tests(const House& house) {
    Complaints complaints;
    for (const auto& [path, source] : house.sources) {
        for (const std::string& include : source.includes) {
            if (serves_tests(include) && !serves_tests(path)) {
                complaints.push_back(path + " includes " + include);
            }
        }
    }
    return complaints;
}

std::string joined(const std::string& path, const std::string& separator) {
    return boost::algorithm::replace_all_copy(path, "/", separator);
}

Complaints rooms_by_another_name(const House& house) {
    Complaints complaints;
    for (const auto& [folder, room] : house.rooms) {
        if (room.target != joined(folder, "_")) {
            complaints.push_back(folder + " is built as " + room.target);
        }
    }
    return complaints;
}

Complaints sources_by_another_name(const House& house) {
    Complaints complaints;
    for (const auto& [path, source] : house.sources) {
        const std::string expected = joined(folder_of(path), "::");
        // Other namespaces are opened to name their types; a part of a block may be one deeper.
        const auto is_own = [&](const std::string& scope) {
            return scope == expected || scope.starts_with(expected + "::");
        };
        if (!source.scopes.empty() && std::ranges::none_of(source.scopes, is_own)) {
            complaints.push_back(path + " is in " + *source.scopes.begin());
        }
    }
    return complaints;
}

const std::filesystem::path kRoot{TILESIM_SOURCE_DIR};

bool exists(const std::string& path) {
    return std::filesystem::exists(kRoot / path);
}

std::string text_of(const std::filesystem::path& file) {
    std::ifstream stream{file};
    return {std::istreambuf_iterator<char>{stream}, {}};
}

// Calls `visit` with each file of the project's folders, by its path from the root.
template <class Visit>
void for_each_file(Visit visit) {
    for (const char* layer : {"arch", "workloads", "sim", "validation", "docs"}) {
        std::filesystem::recursive_directory_iterator files{kRoot / layer};
        for (auto file = begin(files); file != end(files); ++file) {
            if (file->path().filename() == "node_modules") {
                file.disable_recursion_pending();
            } else if (file->is_regular_file()) {
                visit(file->path().lexically_relative(kRoot).generic_string());
            }
        }
    }
}

House house_of_the_project() {
    House house;
    for_each_file([&](const std::string& path) {
        if (path.starts_with("docs/examples/")) {
            return;  // programs of users, built against the installed package
        }
        if (path.ends_with(".cpp") || path.ends_with(".hpp")) {
            house.sources[path] = read_source(std::ifstream{kRoot / path});
        } else if (path.ends_with("/CMakeLists.txt")) {
            if (auto room = read_room(text_of(kRoot / path))) {
                house.rooms[folder_of(path)] = std::move(*room);
            }
        }
    });
    return house;
}

const House& house() {
    static const House house = house_of_the_project();
    return house;
}

// Files of this project a document links to: [text](path).
Names links_in(const std::string& document) {
    const std::string text = text_of(kRoot / document);
    Names links;
    for (std::size_t at = 0; (at = text.find("](", at)) != std::string::npos;) {
        at += 2;
        const std::string link = text.substr(at, text.find_first_of(")#", at) - at);
        if (link.find("//") == std::string::npos) {
            links.insert(link);
        }
    }
    return links;
}

// What stands between back-ticks and looks like a path: of this project from the root, or a source
// beside the document.
Names paths_named_in(const std::string& document) {
    constexpr std::string_view kOfAPath =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
    Names paths;
    std::istringstream pieces{text_of(kRoot / document)};
    bool quoted = false;
    for (std::string piece; std::getline(pieces, piece, '`'); quoted = !quoted) {
        const bool of_root = layer_of(piece) < std::size(kLayers) ||
                             piece.starts_with("configs/") || piece.starts_with("docs/") ||
                             piece.starts_with(".ci/");
        const bool beside = piece.ends_with(".hpp") || piece.ends_with(".cpp");
        if (quoted && (of_root || beside) &&
            piece.find_first_not_of(kOfAPath) == std::string::npos) {
            paths.insert(piece);
        }
    }
    return paths;
}

TEST(House, SourcesIncludeOnlyTheirOwnLayerAndThoseBelow) {
    EXPECT_THAT(includes_against_the_layers(house()), IsEmpty());
}

TEST(House, FoldersIncludeOnlyWhatTheirTargetsDependOn) {
    EXPECT_THAT(includes_beyond_the_links(house()), IsEmpty());
}

TEST(House, NoTargetDependsOnItself) {
    EXPECT_THAT(rooms_in_a_circle(house()), IsEmpty());
}

TEST(House, SystemCIsKnownToItsFolderAndTheProgramOnly) {
    EXPECT_THAT(includes_of_systemc(house()), IsEmpty());
}

TEST(House, TheSimulatorKnowsMachinesAndDataflowsByTheirTables) {
    EXPECT_THAT(includes_past_the_catalogue(house()), IsEmpty());
}

TEST(House, OnlyTestsIncludeWhatIsForTests) {
    EXPECT_THAT(products_that_need_tests(house()), IsEmpty());
}

TEST(House, EveryIncludedFileIsThere) {
    for (const auto& [path, source] : house().sources) {
        for (const std::string& include : source.includes) {
            EXPECT_TRUE(exists(include) || exists(include + ".in")) << path << ": " << include;
        }
    }
}

TEST(House, FolderTargetAndNamespaceHaveOneName) {
    EXPECT_THAT(rooms_by_another_name(house()), IsEmpty());
    EXPECT_THAT(sources_by_another_name(house()), IsEmpty());
}

// A module for Python, which pybind11 makes; no library of it.
constexpr std::string_view kPython = "sim/python";

TEST(House, EverySourceIsBuilt) {
    const std::string common = text_of(kRoot / "CMakeLists.txt");
    for (const auto& [path, source] : house().sources) {
        const std::string folder = folder_of(path);
        const std::string list = text_of(kRoot / folder / "CMakeLists.txt");
        EXPECT_TRUE(house().rooms.contains(folder) || folder == kPython) << path;
        EXPECT_TRUE(path.ends_with(".hpp") || common.find(path) != std::string::npos ||
                    list.find(path.substr(folder.size() + 1)) != std::string::npos)
            << path;
    }
}

TEST(House, TheGuideHasALineForEachRoom) {
    const std::string guide = text_of(kRoot / "docs/contributing.md");
    for (const auto& [folder, room] : house().rooms) {
        EXPECT_NE(guide.find("| `" + folder + "` |"), std::string::npos) << folder;
    }
}

TEST(House, PathsThatDocumentsNameAreThere) {
    std::vector<std::string> documents{"README.md", "CHANGELOG.md"};
    for_each_file([&](const std::string& path) {
        if (path.ends_with(".md")) {
            documents.push_back(path);
        }
    });
    for (const std::string& document : documents) {
        Names paths = paths_named_in(document);
        paths.merge(links_in(document));
        for (const std::string& path : paths) {
            EXPECT_TRUE(exists(path) || exists("./" + folder_of(document) + "/" + path))
                << document << ": " << path;
        }
    }
}

// The looks themselves, at a house of three rooms: c depends on b, its tests on a.
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
