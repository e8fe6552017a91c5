// Strict configuration: YAML values with units, ranges and located errors.
//
// A block's reader asks a Node for each of its keys; what it does not ask for is an error. The same
// calls, made on a describing Node, list every key with type, unit, default, range and meaning:
// `tilesim describe` and `tilesim schema` come from there and cannot drift from the reader.
//
//     DmaConfig read_dma_config(config::Node node) {
//         DmaConfig config;
//         node.optional("channels", config.channels, {1, 8}, "DMA channels per direction");
//         node.done();
//         return config;
//     }
//
// All errors of a file are collected; `Document::finish` throws one ConfigError with all of them,
// each as "file:line:column: key.path: what is wrong".
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/base/file_place.hpp"
#include "arch/base/name_table.hpp"
#include "arch/base/units.hpp"

namespace tilesim::arch::base::config {

// What is wrong with a key itself, whatever its value.
struct KeyError {
    std::string set_as;   // "--set device.dma.chanels", as it was set; empty: it stands in a file
    std::string problem;  // "unknown key; did you mean 'channels'?"
    bool unknown = true;  // nobody asks for it; otherwise there is no place to set it at
};

// The user's input is wrong: exit code 2. `what()` may hold several lines, one an error.
class ConfigError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
    ConfigError(const std::string& what, std::vector<KeyError> keys)
        : runtime_error(what), keys_(std::move(keys)) {}

    const std::vector<KeyError>& keys() const { return keys_; }  // wrong ones among the errors

  private:
    std::vector<KeyError> keys_;
};

// A file could not be read or written: exit code 5.
class IoError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// Throws IoError where a file cannot be read, which names the nearest where there is none of this
// name.
void require_file(const std::string& file);
// All of a file; as `require_file` otherwise.
std::string read_file(const std::string& file);

// The name in `known` closest to `wrong` by edit distance; empty when none is near.
std::string nearest_name(std::string_view wrong, const std::vector<std::string>& known);
// "; did you mean 'X'?" of that name, for the end of a message; empty when none is near. `before`
// and `after` stand for the quotes, where names are written otherwise: "%" and "".
std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& known,
                         std::string_view before = "'", std::string_view after = "'");

// Allowed values, both ends included, in the unit of the field.
struct Range {
    std::int64_t least = 0;
    std::int64_t most = INT64_MAX;
};

// What `describe` and `schema` print of one key.
struct KeyDescription {
    std::string path = {};
    std::string type = {};  // "integer", "quantity", "enum", "string", "boolean", "map", "list"
    std::vector<std::string> units = {};  // accepted units, for quantities
    std::string value = {};               // as read, with its unit; the default where not given
    std::string default_value = {};       // empty when the key is required
    std::string range = {};               // "1..8"
    std::vector<std::string> choices = {};
    std::string description = {};
    std::string source =
        {};  // the comment that stands on the key's line in the file: where it is from
    bool given = false;
};

class Document;

class Node {
  public:
    // Reads `key` into `value` when it is there; otherwise keeps the default that stands in
    // `value`. Quantities need a unit: Cycles "3 cycle", Bytes "64 KiB", BytesPerCycle "16
    // B/cycle", Femtoseconds "45 ns", Hertz "1.8 GHz", BytesPerSecond "120 GB/s",
    // OperationsPerSecond "33.2 TOPS". Ranges are in the field's own unit.
    void optional(std::string_view key, bool& value, std::string_view description);
    void optional(std::string_view key, std::int64_t& value, Range range,
                  std::string_view description);
    void optional(std::string_view key, std::string& value, std::string_view description);
    void optional(std::string_view key, Cycles& value, Range range, std::string_view description);
    void optional(std::string_view key, Bytes& value, Range range, std::string_view description);
    void optional(std::string_view key, BytesPerCycle& value, Range range,
                  std::string_view description);
    void optional(std::string_view key, Femtoseconds& value, Range range,
                  std::string_view description);
    void optional(std::string_view key, Hertz& value, Range range, std::string_view description);
    void optional(std::string_view key, BytesPerSecond& value, Range range,
                  std::string_view description);
    void optional(std::string_view key, OperationsPerSecond& value, Range range,
                  std::string_view description);
    // One of a table of names.
    template <class Enum>
    void optional(std::string_view key, Enum& value,
                  const std::vector<std::pair<std::string_view, Enum>>& names,
                  std::string_view description) {
        const auto index = choose(key, names_of(names), index_of(names, value), description);
        if (index) {
            value = names[*index].second;
        }
    }
    template <class Enum>
    void optional(std::string_view key, Enum& value, const NameTable<Enum>& names,
                  std::string_view description) {
        optional(key, value, names.rows(), description);
    }

    // As `optional`, but a missing key is an error.
    template <class Value, class... Rest>
    void required(std::string_view key, Value& value, Rest&&... rest) {
        require(key);
        optional(key, value, std::forward<Rest>(rest)...);
    }

    // The same for ranges and tables written in place.
    template <class Value>
    void required(std::string_view key, Value& value, Range range, std::string_view description) {
        require(key);
        optional(key, value, range, description);
    }
    template <class Enum>
    void required(std::string_view key, Enum& value,
                  const std::vector<std::pair<std::string_view, Enum>>& names,
                  std::string_view description) {
        require(key);
        optional(key, value, names, description);
    }

    bool has(std::string_view key) const;
    // The same of a key that is read only where it is given: `done` knows it as a key.
    bool offers(std::string_view key);
    // Whether the key at a path from here, or a map it is in, was replaced or added.
    bool overridden(std::string_view dotted_path) const;
    // Of a describing document: there is nothing to read, and no file to look into.
    bool describing() const;
    // The map under `key`; an empty one, whose keys all keep their defaults, when it is not there.
    Node child(std::string_view key, std::string_view description);
    // The entries of the list under `key`; none when it is not there.
    std::vector<Node> list(std::string_view key, std::string_view description);
    // The entries of the list this node is (an entry of a list of lists); an error otherwise.
    std::vector<Node> entries();
    // The keys of this map in file order, for maps whose keys are names the user chooses.
    std::vector<std::string> keys() const;
    // The keys asked for so far.
    const std::vector<std::string>& asked() const;
    // The scalar this node is, when it is one (an entry of a list); an error otherwise.
    std::string scalar();
    std::int64_t integer(Range range);

    // Reports that the map holds not exactly one of these keys; where it holds another, `done`
    // says which one that may be meant to be.
    void not_exactly_one(const std::vector<std::string_view>& keys);
    // Reports every key nobody asked for.
    void done();
    // Reports a rule of the reader's own at `key` (or at the node itself when empty).
    void error(std::string_view key, std::string_view message);

    const std::string& path() const;  // "mapping.output_stationary"
    const std::string& file() const;  // empty of a describing document
    FilePlace place() const;          // of the map's key or the entry
    // Of the first character of the text under `key`, a block or quoted; of a block, each of whose
    // lines begins at that column. Line 1 where the file does not hold it.
    FilePlace text_place(std::string_view key) const;

  private:
    friend class Document;
    friend std::vector<std::string> required_keys(Document document);
    struct State;
    explicit Node(std::shared_ptr<State> state) : state_(std::move(state)) {}

    template <class Enum>
    static std::vector<std::string> names_of(
        const std::vector<std::pair<std::string_view, Enum>>& names) {
        std::vector<std::string> result;
        for (const auto& [name, value] : names) {
            result.emplace_back(name);
        }
        return result;
    }
    template <class Enum>
    static std::size_t index_of(const std::vector<std::pair<std::string_view, Enum>>& names,
                                Enum value) {
        std::size_t index = 0;
        while (index < names.size() && names[index].second != value) {
            ++index;
        }
        return index;
    }
    std::optional<std::size_t> choose(std::string_view key, const std::vector<std::string>& names,
                                      std::size_t default_index, std::string_view description);
    void require(std::string_view key);

    std::shared_ptr<State> state_;
};

// One parsed file (or text), with its errors and the descriptions of the keys read so far.
class Document {
  public:
    struct Impl;  // private to arch/base: config_state.hpp
    // Throws IoError when the file cannot be read, ConfigError when it is no single YAML map.
    static Document load(const std::string& file);
    static Document parse(const std::string& text, const std::string& file_name);
    // Of no file: a reader called on its root lists its keys with the values it holds. Nothing is
    // missing or wrong, every alternative is there, a list has one entry, and a map whose keys are
    // names of the user's choice has the key "*".
    static Document describing();

    // Replaces or adds the value at a dotted path before reading ("mapping.output_stationary.k_mt",
    // "864"); in errors it is called `origin` followed by the path ("--set ", "--set device.").
    void override_value(std::string_view dotted_path, std::string_view value,
                        std::string_view origin);

    Node root();
    // Throws one ConfigError holding every error reported on this document's nodes.
    void finish() const;

    // Whether the key at a path, or a map it is in, was replaced or added.
    bool overrides(std::string_view dotted_path) const;

    // Problems found after the file was read, one a line, "mapping.amx.threads: ...", each with the
    // place of as much of that path as stands here; as it is where nothing of it does.
    std::string located(const std::string& problems) const;

    const std::string& text() const;  // as read, for hashing
    std::string resolved() const;     // YAML with the overrides applied
    const std::vector<KeyDescription>& descriptions() const;

  private:
    friend class Node;
    explicit Document(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

    std::shared_ptr<Impl> impl_;
};

}  // namespace tilesim::arch::base::config
