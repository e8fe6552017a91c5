// The plan of the house: who may include whom, what a folder's names are called, and that the
// guides name what is there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/house_testing.hpp"

namespace tilesim::sim {
namespace {

using testing::IsEmpty;

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
        const bool of_root = in_a_layer(piece) || piece.starts_with("configs/") ||
                             piece.starts_with("docs/") || piece.starts_with(".ci/");
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

}  // namespace
}  // namespace tilesim::sim
