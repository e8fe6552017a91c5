#include "sim/house_testing.hpp"

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <iterator>
#include <sstream>
#include <string_view>

namespace tilesim::sim {

namespace {

constexpr std::string_view kLayers[] = {"arch/base", "arch", "workloads", "sim", "validation"};
constexpr std::string_view kProgram = "sim/main.cpp";

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

// Above `workloads` a machine's folders are reached through the tables of the catalogue. Those who
// know a machine by its nature: what compares it with measurements of it, and
const Names kKnownByName{
    "workloads/memory/host_loop/host_loop.hpp",   // an agent of a scenario may be a processor alone
    "workloads/memory/streams/streams.hpp",       // or a stream
    "workloads/npu/mlir/design/design_file.hpp",  // a design takes a scenario's place, and is not
                                                  // YAML
    "workloads/pim/transformer/model_workload.hpp",  // a table over a model's layers
};

std::string joined(const std::string& path, const std::string& separator) {
    return boost::algorithm::replace_all_copy(path, "/", separator);
}

}  // namespace

std::string folder_of(const std::string& path) {
    const std::size_t end = path.rfind('/');
    return end == std::string::npos ? "" : path.substr(0, end);
}

bool in_a_layer(const std::string& path) {
    return layer_of(path) < std::size(kLayers);
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

}  // namespace tilesim::sim
