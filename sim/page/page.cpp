#include "sim/page/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "sim/page/bank_table.hpp"
#include "sim/page/web_files.hpp"

namespace tilesim::sim::page {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kShown = 30;  // points in the text

std::string html_escaped(const std::string& text) {
    std::string result;
    for (const char c : text) {
        switch (c) {
            case '&':
                result.append("&amp;");
                break;
            case '<':
                result.append("&lt;");
                break;
            case '"':
                result.append("&quot;");
                break;
            default:
                result.append(1, c);
        }
    }
    return result;
}

// JSON inside a script element must neither end it nor open a comment or another one.
std::string script_safe(const std::string& json) {
    std::string result;
    for (const char c : json) {
        if (c == '<') {
            result.append("\\u003c");
        } else {
            result.append(1, c);
        }
    }
    return result;
}

// The template with its {{NAMES}} filled in, in one pass: what is filled in is not looked at.
std::string filled(std::string_view page, const std::map<std::string, std::string_view>& parts) {
    std::string result;
    while (true) {
        const std::size_t open = page.find("{{");
        const std::size_t close = page.find("}}", open);
        if (open == page.npos || close == page.npos) {
            return result.append(page);
        }
        result.append(page.substr(0, open));
        const auto part = parts.find(std::string{page.substr(open + 2, close - open - 2)});
        result.append(part == parts.end() ? "" : part->second);
        page.remove_prefix(close + 2);
    }
}

std::string page_of(std::string_view page, std::string_view script, const Json& data,
                    const std::string& title) {
    const std::string escaped = html_escaped(title);
    const std::string json = script_safe(data.dump(-1, ' ', false, Json::error_handler_t::replace));
    return filled(web_file(page), {{"TITLE", escaped},
                                   {"STYLE", web_file("page.css")},
                                   {"DATA", json},
                                   {"LIBRARY", web_file("library.js")},
                                   {"SCRIPT", web_file(script)}});
}

std::string cell(const Json& value) {
    std::string text = value.is_null()           ? ""
                       : value.is_string()       ? value.get<std::string>()
                       : value.is_number_float() ? fmt::format("{:.5g}", value.get<double>())
                                                 : value.dump();
    std::replace(text.begin(), text.end(), '|', '/');
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

std::string counts(const Json& points, const char* key) {
    std::map<std::string, int> seen;
    for (const Json& point : points) {
        if (point["status"] == "ok") {
            const std::string name = cell(point[key]);
            ++seen[name.empty() ? "none" : name];
        }
    }
    std::string text;
    for (const auto& [name, count] : seen) {
        text += fmt::format("- {}: {}\n", name, count);
    }
    return text;
}

// Those that ended well by their throughput, by their time where they multiply nothing; the others
// behind them.
std::vector<const Json*> fastest_first(const Json& points) {
    std::vector<const Json*> sorted;
    for (const Json& point : points) {
        sorted.push_back(&point);
    }
    const auto key = [](const Json* point) {
        const auto number = [point](const char* name, double otherwise) {
            return (*point)[name].is_number() ? (*point)[name].get<double>() : otherwise;
        };
        return std::tuple{(*point)["status"] != "ok", -number("tops", 0.0),
                          number("time_ns", std::numeric_limits<double>::infinity())};
    };
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](const Json* a, const Json* b) { return key(a) < key(b); });
    return sorted;
}

// A table of each device's time, the other axes before it.
std::string fastest_text(const Json& fastest) {
    if (fastest.is_null()) {
        return "";
    }
    std::string text = "\n## Fastest device, microseconds\n\n|";
    std::string rule = "|";
    for (const char* group : {"axes", "devices"}) {
        for (const Json& name : fastest[group]) {
            text += fmt::format(" {} |", cell(name));
            rule += " --- |";
        }
    }
    text += fmt::format(" fastest |\n{} --- |\n", rule);
    constexpr double kNanosecondsPerMicrosecond = 1e3;
    for (const Json& row : fastest["rows"]) {
        text += "|";
        for (const Json& value : row["settings"]) {
            text += fmt::format(" {} |", cell(value));
        }
        for (const Json& time : row["time_ns"]) {
            text += fmt::format(
                " {} |", time.is_null() ? "-"
                                        : fmt::format("{:.2f}", time.get<double>() /
                                                                    kNanosecondsPerMicrosecond));
        }
        text += fmt::format(" {} |\n", cell(row["fastest"]));
    }
    return text;
}

}  // namespace

std::string to_html(const Json& data) {
    return page_of("page.html", "page.js", data, data["title"].get<std::string>());
}

std::string to_comparison_html(const Json& data, const std::string& title) {
    return page_of("compare.html", "compare.js", data, title);
}

std::string to_markdown(const Json& data) {
    const Json& points = data["points"];
    const auto good = std::count_if(points.begin(), points.end(),
                                    [](const Json& point) { return point["status"] == "ok"; });
    std::string text =
        fmt::format("# {}\n\n{} of {} points ended well; model {}\n\n", cell(data["title"]), good,
                    data["of"].get<std::int64_t>(), cell(data["model"]));
    text += "## Bottlenecks\n\n" + counts(points, "bottleneck");
    text += fastest_text(data.value("fastest", Json()));
    const std::vector<const Json*> fastest = fastest_first(points);
    const bool errors = std::any_of(points.begin(), points.end(),
                                    [](const Json& point) { return point["error"] != ""; });
    text += fmt::format(
        "\n## Points, fastest first{}\n\n| id | status |",
        fastest.size() > kShown ? fmt::format(" ({} of {})", kShown, fastest.size()) : "");
    std::string rule = "| --- | --- |";
    for (const char* group : {"axes", "results"}) {
        for (const Json& key : data[group]) {
            text += fmt::format(" {} |", cell(key));
            rule += " --- |";
        }
    }
    if (errors) {
        text += " error |";
        rule += " --- |";
    }
    text += fmt::format("\n{}\n", rule);
    for (std::size_t i = 0; i < std::min(kShown, fastest.size()); ++i) {
        const Json& point = *fastest[i];
        text += fmt::format("| {} | {} |", cell(point["id"]), cell(point["status"]));
        for (const Json& key : data["axes"]) {
            text += fmt::format(" {} |", cell(point["settings"][key.get<std::string>()]));
        }
        for (const Json& key : data["results"]) {
            text += fmt::format(" {} |", cell(point[key.get<std::string>()]));
        }
        text += errors ? fmt::format(" {} |\n", cell(point["error"])) : "\n";
    }
    const auto with_banks = std::find_if(fastest.begin(), fastest.end(), [](const Json* point) {
        return (*point)["status"] == "ok" && point->contains("banks");
    });
    if (with_banks != fastest.end()) {
        text += fmt::format("\n## DRAM banks of point {}\n\n{}", cell((**with_banks)["id"]),
                            bank_table((**with_banks)["banks"]));
    }
    return text;
}

}  // namespace tilesim::sim::page
