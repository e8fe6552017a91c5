#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/split.hpp>
#include <cctype>
#include <filesystem>
#include <optional>
#include <sstream>

#include "arch/base/config_state.hpp"
#include "arch/base/quantity.hpp"
#include "arch/base/utf8.hpp"
#include "arch/base/yaml_survey.hpp"

namespace tilesim::arch::base::config {

namespace {

// Of a file of keys: what is larger is no such file, and takes minutes to be found wrong.
constexpr std::size_t kMostBytes = std::size_t{8} << 20;

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        lines.push_back(line);
    }
    return lines;
}

std::string placed(const std::string& file, int line, int column, const std::string& message) {
    return fmt::format("{}:{}:{}: {}", file, line, column, message);
}

// A name that messages can hold in a line: escapes of a quoted one may stand for anything.
bool is_plain(const YAML::Node& key) {
    return key.IsScalar() &&
           std::none_of(key.Scalar().begin(), key.Scalar().end(),
                        [](unsigned char byte) { return std::iscntrl(byte) != 0; });
}

// What is wrong with keys and texts whoever reads them.
void find_faults(Document::Impl& document, const YAML::Node& node, const std::string& path) {
    if (node.IsSequence()) {
        for (std::size_t i = 0; i < node.size(); ++i) {
            find_faults(document, node[i], fmt::format("{}[{}]", path, i));
        }
        return;
    }
    if (node.IsScalar()) {
        if (const auto control = first_control(node.Scalar())) {
            document.report(mark_of(node), path, not_text(node.Scalar()[*control]));
            document.mistyped.insert(path);
        }
        return;
    }
    if (!node.IsMap()) {
        return;
    }
    std::set<std::string> seen;
    for (const auto& entry : node) {
        const std::string key = is_plain(entry.first) ? entry.first.Scalar() : "?";
        const std::string full = path.empty() ? key : path + "." + key;
        if (!is_plain(entry.first)) {
            document.report(mark_of(entry.first), path, "a key must be a plain name");
            if (entry.first.IsScalar()) {  // nor is it an unknown one besides
                document.mistyped.insert(path.empty() ? entry.first.Scalar()
                                                      : path + "." + entry.first.Scalar());
            }
        } else if (!seen.insert(key).second) {
            document.report(mark_of(entry.first), full, "key given twice");
        }
        find_faults(document, entry.second, full);
    }
}

// What a message shows of a value of a megabyte: its begin, and its end, where the hint is.
std::string shortened(const std::string& message) {
    constexpr std::size_t kBegin = 1000;
    constexpr std::size_t kEnd = 2000;
    if (message.size() <= kBegin + kEnd) {
        return message;
    }
    const auto from_character = [&](std::size_t at) {  // the first one that begins there
        while (at < message.size() && (static_cast<unsigned char>(message[at]) & 0xC0U) == 0x80U) {
            ++at;
        }
        return at;
    };
    return message.substr(0, from_character(kBegin)) + " ... " +
           message.substr(from_character(message.size() - kEnd));
}

// What yaml-cpp has against it, and a tab that indents, which editors do not show.
std::string problem_of(const YAML::Exception& e, const std::vector<std::string>& lines) {
    for (const int line : {e.mark.line, e.mark.line - 1}) {
        if (line < 0 || static_cast<std::size_t>(line) >= lines.size()) {
            continue;
        }
        const std::string& text = lines[static_cast<std::size_t>(line)];
        if (text.substr(0, text.find_first_not_of(" \t")).find('\t') != std::string::npos) {
            return fmt::format("{}; a tab indents line {}, and only spaces indent", e.msg,
                               line + 1);
        }
    }
    return e.msg;
}

// A key, or the number of an entry of the list before it: "modes[2].t" is {modes, 2, t}.
struct Step {
    std::string key;  // of a number: as it was written, for messages
    std::optional<std::size_t> index = std::nullopt;
};

[[noreturn]] void refuse_path(const std::string& from, const std::string& problem) {
    throw ConfigError(fmt::format("{}: {}", from, problem), {{from, problem, false}});
}

std::vector<Step> steps_of(const std::string& path, const std::string& from) {
    std::vector<Step> steps;
    std::istringstream parts(path);
    for (std::string part; std::getline(parts, part, '.');) {
        std::size_t bracket = part.find('[');
        const std::string name = part.substr(0, bracket);
        steps.push_back({name});
        while (bracket < part.size()) {
            const std::size_t end = part.find(']', bracket);
            const auto index = parse_integer(std::string_view{part}.substr(
                bracket + 1, std::min(end, part.size()) - bracket - 1));
            const auto* number = std::get_if<std::int64_t>(&index);
            const bool more = end != std::string::npos && end + 1 < part.size();
            if (name.empty() || end == std::string::npos || number == nullptr || *number < 0 ||
                (more && part[end + 1] != '[')) {
                refuse_path(from, fmt::format("'{}': an entry of a list is key[number]", part));
            }
            steps.push_back({part.substr(0, end + 1), static_cast<std::size_t>(*number)});
            bracket = end + 1;
        }
    }
    return steps;
}

void check_entry(const YAML::Node& node, const Step& step, const std::string& from) {
    const std::size_t entries = node.IsSequence() ? node.size() : 0;
    if (*step.index >= entries) {
        refuse_path(from,
                    fmt::format("there is no '{}': the list has {} entries", step.key, entries));
    }
}

// The map or list one step further down; a map is made where there is nothing yet.
YAML::Node below(YAML::Node node, const Step& step, bool wants_list, const std::string& from) {
    if (step.index) {
        check_entry(node, step, from);
    }
    const YAML::Node next = step.index ? node[*step.index] : node[step.key];
    const bool missing = !next.IsDefined() || next.IsNull();
    if (wants_list ? !missing && next.IsSequence() : !missing && next.IsMap()) {
        return next;
    }
    if (wants_list || !missing) {
        refuse_path(from, fmt::format("'{}' is no {}", step.key, wants_list ? "list" : "map"));
    }
    node[step.key] = YAML::Node(YAML::NodeType::Map);
    return node[step.key];
}

// A value from the command line has no place in the file: neither it nor what it holds is marked.
YAML::Node without_marks(const YAML::Node& node, const std::string& from) {
    YAML::Node copy(node.Type());
    if (node.IsScalar()) {
        if (const auto control = first_control(node.Scalar())) {
            throw ConfigError(fmt::format("{}: {}", from, not_text(node.Scalar()[*control])));
        }
        copy = node.Scalar();
    }
    for (const auto& entry : node) {
        if (node.IsSequence()) {
            copy.push_back(without_marks(entry, from));
        } else if (!is_plain(entry.first)) {
            throw ConfigError(fmt::format("{}: a key must be a plain name", from));
        } else if (const std::string& key = entry.first.Scalar(); copy[key].IsDefined()) {
            throw ConfigError(fmt::format("{}: key '{}' given twice", from, key));
        } else {
            copy[key] = without_marks(entry.second, from);
        }
    }
    return copy;
}

}  // namespace

FilePlace mark_of(const YAML::Node& node) {
    const YAML::Mark mark = node.Mark();
    return mark.is_null() ? FilePlace{} : FilePlace{mark.line + 1, mark.column + 1};
}

void Document::Impl::report(FilePlace mark, const std::string& path, const std::string& message) {
    if (!describing && !mistyped.contains(path)) {
        errors.push_back({mark, located(mark, path, shortened(message))});
    }
}

void Document::Impl::report_unknown(FilePlace mark, const std::string& path,
                                    const std::string& message) {
    const std::size_t before = errors.size();
    report(mark, path, message);
    if (errors.size() > before) {
        const Place place = place_of(mark, path);
        errors.back().key = KeyError{place.set ? place.text : "", place.path + message};
    }
}

void Document::Impl::report_kind(FilePlace mark, const std::string& path, std::string_view wanted,
                                 const YAML::Node& value) {
    report(mark, path, fmt::format("must be {}, got {}", wanted, kind_of(value)));
    mistyped.insert(path);
}

std::string Document::Impl::located(FilePlace mark, const std::string& path,
                                    const std::string& message) const {
    const Place place = place_of(mark, path);
    return fmt::format("{}: {}{}", place.text, place.path, message);
}

Document::Impl::Place Document::Impl::place_of(FilePlace mark, const std::string& path) const {
    const auto overridden_at = std::find_if(overridden.begin(), overridden.end(), [&](auto& entry) {
        return path == entry.first || path.starts_with(entry.first + ".") ||
               path.starts_with(entry.first + "[") || entry.first.starts_with(path + ".") ||
               entry.first.starts_with(path + "[");
    });
    const bool set = mark.line == 0 && overridden_at != overridden.end();
    const bool named = path.empty() || (set && path == overridden_at->first);
    return {set ? overridden_at->second
                : fmt::format("{}:{}:{}", file, std::max(mark.line, 1), std::max(mark.column, 1)),
            named ? "" : path + ": ", set};
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
    return parse(read_at_most(file, kMostBytes), file);
}

Document Document::parse(const std::string& text, const std::string& file_name) {
    auto impl = std::make_shared<Impl>();
    impl->file = file_name;
    impl->text = text;
    if (text.size() > kMostBytes) {
        throw ConfigError(placed(
            file_name, 1, 1,
            fmt::format("holds {} bytes; a file of keys has at most {}", text.size(), kMostBytes)));
    }
    require_text(file_name, text);
    impl->lines = lines_of(text);
    try {
        const std::string keys = without_comments(text);
        survey_yaml(keys);
        impl->root = YAML::Load(keys);
    } catch (const YAML::Exception& e) {
        throw ConfigError(placed(file_name, e.mark.line + 1, e.mark.column + 1,
                                 fmt::format("malformed YAML: {}", problem_of(e, impl->lines))));
    }
    if (!impl->root.IsDefined() || impl->root.IsNull()) {
        throw ConfigError(placed(file_name, 1, 1, "the file is empty"));
    }
    if (!impl->root.IsMap()) {
        throw ConfigError(placed(file_name, 1, 1, "must be a map of keys"));
    }
    find_faults(*impl, impl->root, "");
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
    const std::string from = fmt::format("{}{}", origin, path);
    for (const std::string_view part : {dotted_path, value}) {
        if (const auto flaw = first_not_utf8(part)) {
            throw ConfigError(not_utf8(from, static_cast<unsigned char>(part[*flaw])));
        }
        if (const auto control = first_control(part)) {  // a terminal would obey that of the key
            throw ConfigError(fmt::format("{}{}: {}", origin, first_control(path) ? "a key" : path,
                                          not_text(part[*control])));
        }
    }
    YAML::Node parsed;
    try {
        const std::string text{value};
        survey_yaml(text);
        parsed = text.empty() ? YAML::Node(text) : YAML::Load(text);
    } catch (const YAML::Exception& e) {
        throw ConfigError(fmt::format("{}: malformed value: {}", from, e.msg));
    }
    if (path.empty() || path.starts_with('.') || path.ends_with('.') ||
        path.find("..") != std::string::npos) {
        throw ConfigError(fmt::format("{}: must be key.path=value", from));
    }
    if (!parsed.IsDefined() || parsed.IsNull()) {
        throw ConfigError(fmt::format("{}: must have a value, got nothing", from));
    }
    parsed = without_marks(parsed, from);
    YAML::Node node;
    node.reset(impl_->root);
    const std::vector<Step> steps = steps_of(path, from);
    for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
        const YAML::Node next = below(node, steps[i], steps[i + 1].index.has_value(), from);
        node.reset(next);
    }
    const Step& last = steps.back();
    if (last.index) {
        check_entry(node, last, from);
        node[*last.index] = parsed;
    } else {
        node.remove(last.key);
        node[last.key] = parsed;
    }
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
    std::vector<KeyError> keys;
    for (const auto& error : errors) {
        all += (all.empty() ? "" : "\n") + error.text;
        if (error.key) {
            keys.push_back(*error.key);
        }
    }
    throw ConfigError(all, std::move(keys));
}

bool Document::overrides(std::string_view dotted_path) const {
    return impl_->overrides(dotted_path);
}

bool Document::Impl::overrides(std::string_view dotted_path) const {
    return std::any_of(overridden.begin(), overridden.end(), [&](const auto& entry) {
        return dotted_path == entry.first || dotted_path.starts_with(entry.first + ".") ||
               dotted_path.starts_with(entry.first + "[");
    });
}

std::string Document::located(const std::string& problems) const {
    std::vector<std::string> lines;
    boost::split(lines, problems, boost::is_any_of("\n"));
    for (std::string& line : lines) {
        line = impl_->located(line);
    }
    return boost::join(lines, "\n");
}

std::string Document::Impl::located(const std::string& problem) const {
    const std::size_t colon = problem.find(": ");
    if (colon == std::string::npos) {
        return problem;
    }
    const std::string path = problem.substr(0, colon);
    std::vector<std::string> keys;
    boost::split(keys, path, boost::is_any_of("."));
    YAML::Node node;
    node.reset(root);
    std::optional<FilePlace> mark;
    for (const std::string& key : keys) {
        const auto entry = std::find_if(node.begin(), node.end(), [&](const auto& each) {
            return node.IsMap() && each.first.IsScalar() && each.first.Scalar() == key;
        });
        if (entry == node.end()) {
            break;
        }
        mark = mark_of(entry->first);
        node.reset(entry->second);
    }
    return mark ? located(*mark, path, problem.substr(colon + 2)) : problem;
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
