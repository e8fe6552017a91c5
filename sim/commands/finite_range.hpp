// A check for options that are numbers: within a range, which NaN never is.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <string>

namespace tilesim::sim::commands {

// CLI::Range compares, and no comparison refuses NaN.
inline CLI::Validator finite_range(double least, double most) {
    const std::string allowed = fmt::format("a number of {:g}..{:g}", least, most);
    return CLI::Validator(
        [=](const std::string& text) {
            double value = 0;
            const char* const end = text.data() + text.size();
            const auto [rest, problem] = std::from_chars(text.data(), end, value);
            const bool good =
                problem == std::errc{} && rest == end && value >= least && value <= most;
            return good ? std::string{} : fmt::format("must be {}, got '{}'", allowed, text);
        },
        allowed);
}

}  // namespace tilesim::sim::commands
