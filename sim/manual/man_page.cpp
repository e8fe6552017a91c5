#include "sim/manual/man_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/replace.hpp>
#include <filesystem>
#include <sstream>

#include "sim/version.hpp"
#include "sim/write_file.hpp"

namespace tilesim::sim::manual {

namespace {

// roff takes back-slashes as escapes, a plain minus as a hyphen, and a dot or quote that begins a
// line as a request.
std::string roff(std::string text) {
    boost::replace_all(text, "\\", "\\e");
    boost::replace_all(text, "-", "\\-");
    if (text.starts_with('.') || text.starts_with('\'')) {
        text.insert(0, "\\&");
    }
    boost::replace_all(text, "\n.", "\n\\&.");
    boost::replace_all(text, "\n'", "\n\\&'");
    return text;
}

std::string values_of(const Option& option) {
    return option.choices.empty() ? fmt::format("\\fI{}\\fR", roff(option.argument))
                                  : roff(fmt::format("{}", fmt::join(option.choices, "|")));
}

std::string synopsis(const Command& command, const std::string& path) {
    std::string text = fmt::format("\\fB{}\\fR", roff(path));
    boost::replace_first(text, "tilesim\\-", "tilesim ");
    if (!command.options.empty()) {
        text += " [\\fIOPTION\\fR]...";
    }
    for (const Option& option : command.options) {
        if (option.names.empty()) {
            text += " " + values_of(option);
        }
    }
    return text + (command.commands.empty() ? "" : " \\fICOMMAND\\fR") + "\n";
}

std::string entry(const Option& option) {
    std::string head;
    for (const std::string& name : option.names) {
        head += fmt::format("{}\\fB{}\\fR", head.empty() ? "" : ", ", roff(name));
    }
    if (!option.argument.empty()) {
        head += (head.empty() ? "" : " ") + values_of(option);
    }
    return fmt::format(".TP\n{}\n{}\n", head, roff(option.description));
}

std::string exit_codes() {
    constexpr std::pair<int, const char*> kCodes[] = {
        {0, "fine"},
        {1, "it ran, but a check or a comparison failed"},
        {2, "bad input or usage"},
        {3, "deadlock, livelock or fault in the simulated system"},
        {4, "a budget of time or memory was used up"},
        {5, "a file could not be read or written"},
        {70, "internal error"}};
    std::string text = ".SH EXIT STATUS\n";
    for (const auto& [code, meaning] : kCodes) {
        text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", code, meaning);
    }
    return text;
}

}  // namespace

std::string man_page(const Command& command, const std::string& path) {
    std::string text = fmt::format(
        ".TH {} 1 \"\" \"tilesim {}\" \"User Commands\"\n.ad l\n.SH NAME\n{} \\- {}\n",
        roff(boost::to_upper_copy(path)), kVersion, roff(path), roff(command.description));
    text += ".SH SYNOPSIS\n" + synopsis(command, path);
    if (!command.options.empty()) {
        text += ".SH OPTIONS\n";
        for (const Option& option : command.options) {
            text += entry(option);
        }
    }
    if (!command.commands.empty()) {
        text += ".SH COMMANDS\n";
        for (const Command& child : command.commands) {
            text += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", roff(path + "-" + child.name),
                                roff(child.description));
        }
    }
    if (!command.footer.empty()) {
        text += ".SH EXAMPLES\n.nf\n" + roff(command.footer) + "\n.fi\n";
    }
    return text + exit_codes();
}

void write_man_pages(const Command& root, const std::string& folder) {
    const auto write = [&](const auto& self, const Command& command,
                           const std::string& path) -> void {
        write_file((std::filesystem::path{folder} / (path + ".1")).string(),
                   man_page(command, path));
        for (const Command& child : command.commands) {
            self(self, child, path + "-" + child.name);
        }
    };
    write(write, root, root.name);
}

}  // namespace tilesim::sim::manual
