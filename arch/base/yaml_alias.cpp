#include "arch/base/yaml_alias.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

namespace tilesim::arch::base::config {

namespace {

using YAML::anchor_t;
using YAML::Mark;

// Writes every value in one line as it is read.
class Aliases final : public YAML::EventHandler {
  public:
    void OnDocumentStart(const Mark&) override {}
    void OnDocumentEnd() override {}
    void OnNull(const Mark& mark, anchor_t anchor) override { add(mark, anchor, "~"); }
    void OnScalar(const Mark& mark, const std::string&, anchor_t anchor,
                  const std::string& value) override {
        add(mark, anchor, nlohmann::json(value).dump());
    }
    void OnAlias(const Mark& mark, anchor_t anchor) override {
        const auto& [place, value] = named_.at(anchor);
        found_.push_back({static_cast<std::size_t>(mark.line),
                          static_cast<std::size_t>(mark.column),
                          static_cast<std::size_t>(place.line), value});
        add(mark, 0, value);
    }
    void OnSequenceStart(const Mark& mark, const std::string&, anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open_.push_back({mark, anchor, false});
    }
    void OnSequenceEnd() override { close("[", "]"); }
    void OnMapStart(const Mark& mark, const std::string&, anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open_.push_back({mark, anchor, true});
    }
    void OnMapEnd() override { close("{", "}"); }

    std::vector<YamlAlias> found() && { return std::move(found_); }

  private:
    struct Open {
        Mark mark;
        anchor_t anchor;
        bool map;
        std::size_t values = 0;  // of a map: and keys
        std::string text = {};
    };

    void close(const char* before, const char* after) {
        const Open closed = std::move(open_.back());
        open_.pop_back();
        add(closed.mark, closed.anchor, before + closed.text + after);
    }
    void add(const Mark& mark, anchor_t anchor, const std::string& value) {
        if (!open_.empty()) {
            Open& around = open_.back();
            const bool after_key = around.map && around.values % 2 == 1;
            around.text += (around.values == 0 ? "" : after_key ? ": " : ", ") + value;
            ++around.values;
        }
        if (anchor != 0) {
            named_[anchor] = {mark, value};
        }
    }

    std::vector<Open> open_;  // lists and maps the parser is inside of
    std::map<anchor_t, std::pair<Mark, std::string>> named_;
    std::vector<YamlAlias> found_;
};

}  // namespace

std::vector<YamlAlias> aliases_of(const std::string& text) {
    std::istringstream in(text);
    YAML::Parser parser(in);
    Aliases aliases;
    parser.HandleNextDocument(aliases);
    return std::move(aliases).found();
}

}  // namespace tilesim::arch::base::config
