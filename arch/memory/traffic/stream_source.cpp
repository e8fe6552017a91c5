#include "arch/memory/traffic/stream_source.hpp"

#include <fmt/format.h>

#include <sstream>
#include <string_view>

#include "arch/base/config.hpp"
#include "arch/base/quantity.hpp"
#include "arch/base/splitmix64.hpp"
#include "arch/base/utf8.hpp"

namespace tilesim::arch::memory::traffic {

namespace {

constexpr std::uint64_t kWriteSalt = std::uint64_t{1} << 32U;
constexpr std::uint64_t kNumbersOfAStream = 2 * kWriteSalt;  // at most
constexpr std::uint64_t kMostStreams = 1024;                 // of a seed
constexpr std::int64_t kMostRequestBytes = 1 << 16;

// `where`: file and line.
StreamRequest parse_line(const std::string& line, const std::string& where, std::int64_t granule) {
    struct Field {
        std::string text;
        std::size_t column;
    };
    std::vector<Field> fields;
    std::istringstream in(line);
    std::size_t column = 1;
    for (std::string field; std::getline(in, field, ',');) {
        fields.push_back({field, column});
        column += field.size() + 1;
    }
    if (line.ends_with(',')) {
        fields.push_back({"", column});
    }
    const auto number = [&](const Field& field, std::string_view name, std::int64_t least,
                            std::int64_t most) {
        const auto parsed = base::config::parse_integer(field.text);
        const auto* value = std::get_if<std::int64_t>(&parsed);
        if (value == nullptr || *value < least || *value > most) {
            throw base::config::ConfigError(
                fmt::format("{}:{}: {} must be an integer {}..{}, got "
                            "'{}'",
                            where, field.column, name, least, most, field.text));
        }
        return *value;
    };
    if (fields.size() < 2 || fields.size() > 3 ||
        (fields[0].text != "R" && fields[0].text != "W")) {
        throw base::config::ConfigError(fmt::format(
            "{}:1: must be R or W, an address and optionally bytes, got '{}'", where, line));
    }
    return {number(fields[1], "address", 0, INT64_MAX / 2),
            fields.size() == 3 ? number(fields[2], "bytes", 1, kMostRequestBytes) : granule,
            fields[0].text == "W"};
}

}  // namespace

StreamConfig read_stream_config(base::config::Node node, StreamConfig config) {
    using Pattern = StreamConfig::Pattern;
    node.optional("pattern", config.pattern,
                  {{"sequential", Pattern::Sequential},
                   {"strided", Pattern::Strided},
                   {"random", Pattern::Random}},
                  "order of addresses");
    node.optional("requests", config.requests, {1, 1'000'000'000}, "requests in all");
    node.optional("granule", config.granule, {1, kMostRequestBytes}, "size of a request");
    node.optional("stride", config.stride, {1, std::int64_t{1} << 40}, "of the strided pattern");
    node.optional("range", config.range, {64, std::int64_t{1} << 45}, "addresses wrap here");
    node.optional("write_permille", config.write_permille, {0, 1000}, "writes in a thousand");
    node.optional("outstanding", config.outstanding, {1, 65536}, "requests kept under way");
    if (config.granule > config.range) {
        node.error("range", "must hold a granule");
    }
    node.done();
    return config;
}

StreamSource::StreamSource(const StreamConfig& config) : config_(config) {
    if (config.trace.empty()) {
        return;
    }
    const std::string text = base::config::read_file(config.trace);
    base::require_text(config.trace, text);
    std::istringstream in{std::string(base::without_byte_order_mark(text))};
    std::int64_t line_number = 0;
    for (std::string line; std::getline(in, line);) {
        ++line_number;
        if (line.ends_with('\r')) {
            line.pop_back();
        }
        const std::string where = fmt::format("{}:{}", config.trace, line_number);
        const bool header = trace_.empty() && line.starts_with("op,");
        if (header && line != "op,address" && line != "op,address,bytes") {
            throw base::config::ConfigError(
                fmt::format("{}:1: must be op,address or op,address,bytes, got '{}'", where, line));
        }
        if (!line.empty() && line[0] != '#' && !header) {
            trace_.push_back(parse_line(line, where, config.granule.count()));
        }
    }
    if (trace_.empty()) {
        throw base::config::ConfigError(
            fmt::format("{}:1:1: the trace holds no request", config.trace));
    }
}

std::int64_t StreamSource::size() const {
    return trace_.empty() ? config_.requests : static_cast<std::int64_t>(trace_.size());
}

StreamRequest StreamSource::request(std::int64_t index) const {
    if (!trace_.empty()) {
        return trace_[static_cast<std::size_t>(index)];
    }
    const std::int64_t granule = config_.granule.count();
    const std::int64_t range = config_.range.count();
    const std::uint64_t i =
        static_cast<std::uint64_t>(index) +
        ((config_.seed - 1) * kMostStreams + config_.number) * kNumbersOfAStream;
    std::int64_t address = 0;
    switch (config_.pattern) {
        case StreamConfig::Pattern::Sequential:
            address = index * granule % range;
            break;
        case StreamConfig::Pattern::Strided:
            address = index * config_.stride.count() % range;
            break;
        case StreamConfig::Pattern::Random:
            address = static_cast<std::int64_t>(base::splitmix64(i) %
                                                static_cast<std::uint64_t>(range / granule)) *
                      granule;
            break;
    }
    const bool write = base::splitmix64(i + kWriteSalt) % 1000 <
                       static_cast<std::uint64_t>(config_.write_permille);
    return {address, granule, write};
}

}  // namespace tilesim::arch::memory::traffic
