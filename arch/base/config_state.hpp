// What Document and Node share; private to their sources.
#pragma once

#include <yaml-cpp/yaml.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/base/quantity.hpp"

namespace tilesim::arch::base::config {

struct Document::Impl {
    struct Error {
        FilePlace mark;
        std::string text;
        std::optional<KeyError> key = std::nullopt;
    };
    // What a message about a key begins with.
    struct Place {
        std::string text;  // "file:1:2", or what set the key: "--set device.npu.clock"
        std::string path;  // "npu.clock: "; empty where `text` says it
        bool set = false;
    };

    std::string file;
    std::string text;
    std::vector<std::string> lines;
    YAML::Node root;
    std::map<std::string, std::string> overridden;  // path, and where from
    std::vector<Error> errors;
    std::vector<KeyDescription> descriptions;
    std::set<std::string> required;  // paths
    std::set<std::string> mistyped;  // paths: nothing more is said of them
    bool describing = false;         // of no file

    void report(FilePlace mark, const std::string& path, const std::string& message);
    // That nobody asked for it.
    void report_unknown(FilePlace mark, const std::string& path, const std::string& message);
    // That it holds something else than it must: what its reader makes of that is no news.
    void report_kind(FilePlace mark, const std::string& path, std::string_view wanted,
                     const YAML::Node& value);
    bool overrides(std::string_view dotted_path) const;  // Document::overrides
    Place place_of(FilePlace mark, const std::string& path) const;
    std::string located(FilePlace mark, const std::string& path, const std::string& message) const;
    std::string located(const std::string& problem) const;  // Document::located, of one line
    std::string comment_on(int line) const;
};

std::string_view kind_of(const YAML::Node& node);
std::string range_text(Range range);

struct Node::State {
    // The value under a key and where it stands.
    struct Found {
        YAML::Node value;
        FilePlace mark;  // of the key; line 0 where the value came from an override
        bool present = false;
    };

    std::shared_ptr<Document::Impl> document;
    YAML::Node yaml;  // undefined when the key is not there
    std::string path;
    FilePlace mark;
    std::vector<std::string> asked;  // in order
    bool wrong_type = false;         // reported already: ask no more of it

    std::string path_of(std::string_view key) const {
        return path.empty() ? std::string{key} : path + "." + std::string{key};
    }
    Found find(std::string_view key);
    // The scalar's text when there is one; an error when the key holds something else.
    std::optional<std::string> text(std::string_view key, const Found& found,
                                    std::string_view wanted);
    void describe(std::string_view key, KeyDescription description, const Found& found);
    template <class Value>
    void quantity(std::string_view key, Value& value, const Dimension& dimension, Range range,
                  std::string_view description);
    // Those of the list under `list_path`; one, of no value, where keys are described.
    std::vector<Node> entries(const YAML::Node& list, const std::string& list_path) const;
};

FilePlace mark_of(const YAML::Node& node);
// All of a file, as `read_file`; of a pipe or a device no more than so many bytes.
std::string read_at_most(const std::string& file, std::size_t most);

}  // namespace tilesim::arch::base::config
