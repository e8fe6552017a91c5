#include "arch/base/yaml_survey.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

namespace tilesim::arch::base::config {

namespace {

using YAML::anchor_t;
using YAML::Mark;

class Survey final : public YAML::EventHandler {
  public:
    void OnDocumentStart(const Mark& mark) override { start_ = mark; }
    void OnDocumentEnd() override {}
    void OnNull(const Mark& mark, anchor_t anchor) override { add(mark, anchor, {}); }
    void OnScalar(const Mark& mark, const std::string& tag, anchor_t anchor,
                  const std::string&) override {
        last_quoted_ = tag == "!" ? std::optional{mark} : std::nullopt;
        add(mark, anchor, {});
    }
    void OnAlias(const Mark& mark, anchor_t anchor) override {
        const auto named = named_.find(anchor);
        if (named == named_.end()) {
            throw YAML::ParserException(mark, "an alias inside the value it stands for");
        }
        add(mark, 0, named->second);
        if (!open_.empty() && open_.back().extent.nodes > kMostAliasedNodes) {
            throw YAML::ParserException(
                mark, fmt::format("aliases grow to over {} values", kMostAliasedNodes));
        }
    }
    void OnSequenceStart(const Mark& mark, const std::string&, anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        enter(mark, anchor);
    }
    void OnSequenceEnd() override { leave(); }
    void OnMapStart(const Mark& mark, const std::string&, anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        enter(mark, anchor);
    }
    void OnMapEnd() override { leave(); }

    Mark start() const { return start_; }
    // The last scalar, where it is in quotes or a block.
    std::optional<Mark> last_quoted() const { return last_quoted_; }

  private:
    // Aliases followed: the values in a value, itself counted, and the levels of lists and maps.
    struct Extent {
        std::size_t nodes = 1;
        std::size_t depth = 0;
    };
    struct Open {
        Mark mark;
        anchor_t anchor;
        Extent extent;
    };

    void enter(const Mark& mark, anchor_t anchor) {
        check_depth(mark, open_.size() + 1);
        open_.push_back({mark, anchor, {}});
    }
    void leave() {
        Open closed = open_.back();
        open_.pop_back();
        ++closed.extent.depth;
        add(closed.mark, closed.anchor, closed.extent);
    }
    void add(const Mark& mark, anchor_t anchor, Extent extent) {
        check_depth(mark, open_.size() + extent.depth);
        if (anchor != 0) {
            named_[anchor] = extent;
        }
        if (!open_.empty()) {
            Extent& around = open_.back().extent;
            around.nodes += extent.nodes;
            around.depth = std::max(around.depth, extent.depth);
        }
    }
    static void check_depth(const Mark& mark, std::size_t depth) {
        if (depth > kMostDepth) {
            throw YAML::ParserException(mark,
                                        fmt::format("nested deeper than {} levels", kMostDepth));
        }
    }

    Mark start_;
    std::optional<Mark> last_quoted_;
    std::vector<Open> open_;            // lists and maps the parser is inside of
    std::map<anchor_t, Extent> named_;  // complete values an alias can stand for
};

// Whether what begins with a quote there, ends with one; true where nothing begins.
bool is_closed(std::string_view text, const Mark& mark) {
    for (int line = 0; line < mark.line; ++line) {
        text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    }
    text.remove_prefix(std::min(static_cast<std::size_t>(mark.column), text.size()));
    const char quote = text.empty() ? '\0' : text[0];
    if (quote != '"' && quote != '\'') {
        return true;
    }
    for (std::size_t at = 1; at < text.size(); ++at) {
        const bool escapes = quote == '"' ? text[at] == '\\' : text.substr(at, 2) == "''";
        if (escapes) {
            ++at;
        } else if (text[at] == quote) {
            return true;
        }
    }
    return false;
}

void look_through(const std::string& text) {
    std::istringstream in(text);
    YAML::Parser parser(in);
    Survey survey;
    if (parser.HandleNextDocument(survey) && parser.HandleNextDocument(survey)) {
        throw YAML::ParserException(survey.start(), "a second document, or text after the first");
    }
    // yaml-cpp ends a quoted scalar with the text where a line ends before it.
    if (const auto quoted = survey.last_quoted(); quoted && !is_closed(text, *quoted)) {
        throw YAML::ParserException(*quoted, "this quote is not closed");
    }
}

}  // namespace

std::string without_comments(const std::string& text) {
    const auto odd = [](char c) {  // for yaml-cpp a break, or the end
        return static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t';
    };
    if (std::any_of(text.begin(), text.end(), odd)) {
        return text;
    }
    std::string shorter;
    std::size_t line = 0;
    // The last line stays: errors stand where it ends.
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', line)) {
        std::size_t hash = text.find('#', line);
        while (hash < end && hash > line && text[hash - 1] != ' ' && text[hash - 1] != '\t') {
            hash = text.find('#', hash + 1);
        }
        const std::size_t kept = std::min(end, hash < end ? hash + 1 : end);
        const std::string_view rest = std::string_view{text}.substr(line, kept - line);
        if (rest.find_first_of("'\"|>") != std::string_view::npos) {
            return text;  // perhaps in quotes, or in a block
        }
        shorter.append(rest).push_back('\n');
        line = end + 1;
    }
    return shorter.append(text, line);
}

void survey_yaml(const std::string& text) {
    // The runs of a sweep read the same files again and again: the last few need no second look.
    constexpr std::size_t kMostKnown = 8;
    constexpr std::size_t kLong = 1024;  // bytes; a shorter text costs nothing
    thread_local std::vector<std::string> known;
    if (std::find(known.begin(), known.end(), text) != known.end()) {
        return;
    }
    look_through(text);
    if (text.size() >= kLong) {
        known.resize(std::min(known.size(), kMostKnown - 1));
        known.insert(known.begin(), text);
    }
}

}  // namespace tilesim::arch::base::config
