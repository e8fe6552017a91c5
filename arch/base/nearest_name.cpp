#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "arch/base/config.hpp"

namespace tilesim::arch::base::config {

namespace {

constexpr std::size_t kOtherCase = 1;
constexpr std::size_t kChange = 16;  // a whole word in capitals is nearer than another word

std::size_t cost_of(char a, char b) {
    const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
    return a == b ? 0 : lower(a) == lower(b) ? kOtherCase : kChange;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j < row.size(); ++j) {
        row[j] = j * kChange;
    }
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = (i + 1) * kChange;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t changed = diagonal + cost_of(a[i], b[j]);
            diagonal = row[j + 1];
            row[j + 1] = std::min({changed, row[j] + kChange, diagonal + kChange});
        }
    }
    return row[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view wrong, const std::vector<std::string>& known) {
    std::string best;
    // With no letter in common nothing is near.
    std::size_t least =
        std::min(wrong.size(), std::max<std::size_t>(2, wrong.size() / 3) + 1) * kChange;
    for (const std::string& name : known) {
        // Letters that one has more than the other are changes already: a value of megabytes is
        // not looked through.
        const std::size_t longer = std::max(wrong.size(), name.size());
        if ((longer - std::min(wrong.size(), name.size())) * kChange >= least) {
            continue;
        }
        const std::size_t distance = edit_distance(wrong, name);
        if (distance < least) {
            least = distance;
            best = name;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& known,
                         std::string_view before, std::string_view after) {
    const std::string near = nearest_name(wrong, known);
    return near.empty() ? "" : fmt::format("; did you mean {}{}{}?", before, near, after);
}

}  // namespace tilesim::arch::base::config
