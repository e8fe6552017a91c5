#include "arch/base/yaml_block.hpp"

#include <yaml-cpp/yaml.h>

#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/split.hpp>
#include <sstream>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/base/yaml_alias.hpp"

namespace tilesim::arch::base::config {

namespace {

// Calls `keep(line, in_block, opens)` for each line and puts what it returns in its place.
template <class Keep>
std::string each_line(const std::string& text, const std::string& key, Keep keep) {
    const std::string opening = key + ":";
    std::istringstream in(text);
    std::string result;
    bool inside = false;
    for (std::string line; std::getline(in, line);) {
        const bool opens = line.starts_with(opening);
        // Closing brackets may stand at the margin, and comments anywhere.
        const bool top_level = !line.empty() && std::string{" #}]\r"}.find(line[0]) == line.npos;
        inside = opens || (inside && !top_level);
        result += keep(line, inside, opens) + "\n";
    }
    return result;
}

// The text's map where it has the key, but no line begins with it; nothing otherwise.
YAML::Node holding(const std::string& text, const std::string& key) {
    if (("\n" + text).find("\n" + key + ":") != text.npos ||
        !Document::parse(text, "").root().has(key)) {
        return YAML::Node{YAML::NodeType::Undefined};
    }
    return YAML::Load(text);
}

// What a block of the text, which keeps the text's lines, takes from outside it by an alias stands
// in the alias' place.
std::string with_outer_anchors(const std::string& text, const std::string& block) {
    if (block.find('*') == block.npos || text.find('&') == text.npos) {
        return block;
    }
    std::vector<std::string> lines;
    boost::split(lines, block, boost::is_any_of("\n"));
    const std::vector<YamlAlias> aliases = aliases_of(text);
    std::vector<bool> inside;
    for (const std::string& line : lines) {
        inside.push_back(!line.empty());
    }
    // From the end, so that columns before it stay.
    for (auto alias = aliases.rbegin(); alias != aliases.rend(); ++alias) {
        if (inside[alias->line] && !inside[alias->anchored_line]) {
            std::string& line = lines[alias->line];
            const std::size_t end = line.find_first_of(" \t\r,]}", alias->column);
            line.replace(alias->column, end - alias->column, alias->value);
        }
    }
    return boost::join(lines, "\n");
}

}  // namespace

std::string only_block(const std::string& text, const std::string& key) {
    if (const YAML::Node map = holding(text, key); map.IsDefined()) {
        return YAML::Dump(map[key]) + "\n";
    }
    const auto keep = [&key](std::string line, bool inside, bool opens) {
        if (opens) {
            line.replace(0, key.size() + 1, std::string(key.size() + 1, ' '));
        }
        return inside ? line : std::string{};
    };
    return with_outer_anchors(text, each_line(text, key, keep));
}

std::string without_block(const std::string& text, const std::string& key) {
    if (YAML::Node map = holding(text, key); map.IsDefined()) {
        map.remove(key);
        return YAML::Dump(map) + "\n";
    }
    return each_line(text, key, [](const std::string& line, bool inside, bool) {
        return inside ? std::string{} : line;
    });
}

}  // namespace tilesim::arch::base::config
