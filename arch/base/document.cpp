#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "arch/base/config_state.hpp"
#include "arch/base/yaml_survey.hpp"

namespace tilesim::arch::base::config {

namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        lines.push_back(line);
    }
    return lines;
}

std::string located(const std::string& file, int line, int column, const std::string& message) {
    return fmt::format("{}:{}:{}: {}", file, line, column, message);
}

void find_duplicate_keys(Document::Impl& document, const YAML::Node& node,
                         const std::string& path) {
    if (node.IsSequence()) {
        for (std::size_t i = 0; i < node.size(); ++i) {
            find_duplicate_keys(document, node[i], fmt::format("{}[{}]", path, i));
        }
        return;
    }
    if (!node.IsMap()) {
        return;
    }
    std::set<std::string> seen;
    for (const auto& entry : node) {
        const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "?";
        const std::string full = path.empty() ? key : path + "." + key;
        if (!entry.first.IsScalar()) {
            document.report(mark_of(entry.first), path, "a key must be a plain name");
        } else if (!seen.insert(key).second) {
            document.report(mark_of(entry.first), full, "key given twice");
        }
        find_duplicate_keys(document, entry.second, full);
    }
}

}  // namespace

Document::Impl::Mark mark_of(const YAML::Node& node) {
    const YAML::Mark mark = node.Mark();
    return mark.is_null() ? Document::Impl::Mark{}
                          : Document::Impl::Mark{mark.line + 1, mark.column + 1};
}

void Document::Impl::report(Mark mark, const std::string& path, const std::string& message) {
    if (describing) {
        return;
    }
    const auto overridden_at = std::find_if(overridden.begin(), overridden.end(), [&](auto& entry) {
        return path == entry.first || path.starts_with(entry.first + ".") ||
               entry.first.starts_with(path + ".");
    });
    const std::string place =
        mark.line == 0 && overridden_at != overridden.end()
            ? fmt::format("{}: ", overridden_at->second)
            : fmt::format("{}:{}:{}: ", file, std::max(mark.line, 1), std::max(mark.column, 1));
    errors.push_back(
        {mark, place + (path.empty() ? message : fmt::format("{}: {}", path, message))});
}

// The comment at the end of a line, where a file says where its number is from.
std::string Document::Impl::comment_on(int line) const {
    if (line < 1 || static_cast<std::size_t>(line) > lines.size()) {
        return "";
    }
    const std::string& text_line = lines[static_cast<std::size_t>(line - 1)];
    const std::size_t hash = text_line.find(" #");
    if (hash == std::string::npos) {
        return "";
    }
    const std::size_t start = text_line.find_first_not_of("# ", hash);
    return start == std::string::npos ? "" : text_line.substr(start);
}

Document Document::load(const std::string& file) {
    std::error_code error;
    if (std::filesystem::is_directory(file, error)) {
        throw IoError(fmt::format("{}: is a directory, not a file", file));
    }
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    if (!in || !(text << in.rdbuf()) || in.bad()) {
        // An empty file also fails to stream a single character; that is not an I/O error.
        if (!in || std::filesystem::file_size(file, error) != 0 || error) {
            throw IoError(fmt::format("{}: cannot be read", file));
        }
    }
    return parse(text.str(), file);
}

Document Document::parse(const std::string& text, const std::string& file_name) {
    auto impl = std::make_shared<Impl>();
    impl->file = file_name;
    impl->text = text;
    impl->lines = lines_of(text);
    try {
        survey_yaml(text);
        impl->root = YAML::Load(text);
    } catch (const YAML::Exception& e) {
        throw ConfigError(located(file_name, e.mark.line + 1, e.mark.column + 1,
                                  fmt::format("malformed YAML: {}", e.msg)));
    }
    if (!impl->root.IsDefined() || impl->root.IsNull()) {
        throw ConfigError(located(file_name, 1, 1, "the file is empty"));
    }
    if (!impl->root.IsMap()) {
        throw ConfigError(located(file_name, 1, 1, "must be a map of keys"));
    }
    find_duplicate_keys(*impl, impl->root, "");
    return Document{impl};
}

Document Document::describing() {
    auto impl = std::make_shared<Impl>();
    impl->describing = true;
    return Document{impl};
}

void Document::override_value(std::string_view dotted_path, std::string_view value,
                              std::string_view origin) {
    const std::string path{dotted_path};
    const std::string from = fmt::format("{} {}", origin, path);
    YAML::Node parsed;
    try {
        const std::string text{value};
        survey_yaml(text);
        parsed = YAML::Load(text);
    } catch (const YAML::Exception& e) {
        throw ConfigError(fmt::format("{}: malformed value: {}", from, e.msg));
    }
    if (path.empty() || path.starts_with('.') || path.ends_with('.') ||
        path.find("..") != std::string::npos || !parsed.IsDefined() || parsed.IsNull()) {
        throw ConfigError(fmt::format("{}: must be key.path=value", from));
    }
    // A value from the command line has no place in the file: give it no mark.
    if (parsed.IsScalar()) {
        parsed = YAML::Node(parsed.Scalar());
    }
    YAML::Node node;
    node.reset(impl_->root);
    std::istringstream parts(path);
    std::vector<std::string> keys;
    for (std::string part; std::getline(parts, part, '.');) {
        keys.push_back(part);
    }
    for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
        const YAML::Node next = node[keys[i]];
        if (next.IsDefined() && !next.IsNull() && !next.IsMap()) {
            throw ConfigError(fmt::format("{}: '{}' is no map", from, keys[i]));
        }
        if (!next.IsDefined() || next.IsNull()) {
            node[keys[i]] = YAML::Node(YAML::NodeType::Map);
        }
        const YAML::Node child = node[keys[i]];
        node.reset(child);
    }
    node.remove(keys.back());
    node[keys.back()] = parsed;
    impl_->overridden[path] = from;
}

Node Document::root() {
    auto state = std::make_shared<Node::State>();
    state->document = impl_;
    state->yaml = impl_->root;
    state->mark = {1, 1};
    return Node{state};
}

void Document::finish() const {
    if (impl_->errors.empty()) {
        return;
    }
    auto errors = impl_->errors;
    std::stable_sort(errors.begin(), errors.end(), [](const auto& a, const auto& b) {
        return std::pair{a.mark.line, a.mark.column} < std::pair{b.mark.line, b.mark.column};
    });
    std::string all;
    for (const auto& error : errors) {
        all += (all.empty() ? "" : "\n") + error.text;
    }
    throw ConfigError(all);
}

const std::string& Document::text() const {
    return impl_->text;
}

std::string Document::resolved() const {
    YAML::Emitter out;
    out << impl_->root;
    return std::string{out.c_str()} + "\n";
}

const std::vector<KeyDescription>& Document::descriptions() const {
    return impl_->descriptions;
}

}  // namespace tilesim::arch::base::config
