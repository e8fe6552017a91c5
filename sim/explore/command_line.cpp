#include "sim/explore/command_line.hpp"

namespace tilesim::sim::explore {

std::string shell_word(const std::string& text) {
    constexpr const char* kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=-+:,@%";
    if (!text.empty() && text.find_first_not_of(kPlain) == text.npos) {
        return text;
    }
    std::string result = "'";
    for (const char c : text) {
        result += c == '\'' ? std::string{"'\\''"} : std::string{c};
    }
    return result + "'";
}

std::string run_command(const std::string& file, const Settings& settings) {
    std::string command = "tilesim run " + shell_word(file);
    for (const auto& [key, value] : settings) {
        command += " --set " + shell_word(key + "=" + value);
    }
    return command;
}

}  // namespace tilesim::sim::explore
