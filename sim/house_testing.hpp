// The plan of the house as its files have it, and the looks at it: who may include whom, and what a
// folder's names are called.
#pragma once

#include <istream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tilesim::sim {

using Names = std::set<std::string>;
using Complaints = std::vector<std::string>;

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
std::string folder_of(const std::string& path);
// Whether the path lies in one of the project's layers.
bool in_a_layer(const std::string& path);

Source read_source(std::istream&& text);
// The first component() of a CMakeLists.txt.
std::optional<Room> read_room(std::string text);

Complaints includes_against_the_layers(const House& house);
Complaints includes_beyond_the_links(const House& house);
Complaints rooms_in_a_circle(const House& house);
Complaints includes_of_systemc(const House& house);
// Above `workloads` a machine's folders are reached through the tables of the catalogue.
Complaints includes_past_the_catalogue(const House& house);
// Headers for tests are not installed: what is must not need them.
Complaints products_that_need_tests(const House& house);
Complaints rooms_by_another_name(const House& house);
Complaints sources_by_another_name(const House& house);

}  // namespace tilesim::sim
