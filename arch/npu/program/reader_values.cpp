#include "arch/npu/program/reader_values.hpp"

#include <charconv>

namespace tilesim::arch::npu::program {

using base::config::Node;
using base::config::Range;

namespace {

constexpr Range kCoordinate{0, 1023};

// Two integers: of the list under `key`, or of the list the node itself is.
std::vector<std::int64_t> pair_in(Node& node, std::string_view key, std::vector<Node> entries,
                                  Range range) {
    std::vector<std::int64_t> values;
    for (Node& entry : entries) {
        values.push_back(entry.integer(range));
    }
    if (values.size() != 2) {
        node.error(key, "must be a list of two integers");
        values.resize(2);
    }
    return values;
}

}  // namespace

std::vector<std::int64_t> read_pair(Node& node, std::string_view key, Range range,
                                    std::string_view description) {
    return pair_in(node, key, node.list(key, description), range);
}

std::vector<std::int64_t> pair_of(Node& entry) {
    return pair_in(entry, "", entry.entries(), {INT32_MIN, INT32_MAX});
}

void read_if_there(Node& node, std::string_view key, std::optional<std::int64_t>& value,
                   Range range, std::string_view description) {
    if (node.has(key)) {
        std::int64_t read = 0;
        node.optional(key, read, range, description);
        value = read;
    }
}

TileCoordinate read_tile(Node& node, std::string_view key) {
    const auto at = read_pair(node, key, kCoordinate, "column and row");
    return {at[0], at[1]};
}

ChannelId read_channel_name(Node& node, TileCoordinate tile, bool core_ports) {
    constexpr struct {
        std::string_view name;
        Direction direction;
        PortKind port;
    } kKinds[] = {{"mm2s", Direction::MM2S, PortKind::Dma},
                  {"s2mm", Direction::S2MM, PortKind::Dma},
                  {"core_in", Direction::S2MM, PortKind::Core},
                  {"core_out", Direction::MM2S, PortKind::Core}};
    std::string text;
    node.required("channel", text, "mm2s0, s2mm1 ...");
    for (const auto& kind : kKinds) {
        std::int64_t index = 0;
        const char* begin = text.data() + kind.name.size();
        const char* end = text.data() + text.size();
        if (text.starts_with(kind.name) && text.size() > kind.name.size() &&
            (core_ports || kind.port == PortKind::Dma) &&
            std::from_chars(begin, end, index).ptr == end && index >= 0) {
            return {tile, kind.direction, index, kind.port};
        }
    }
    node.error("channel", fmt::format("must be mm2s or s2mm{} and a number, got '{}'",
                                      core_ports ? ", core_in or core_out" : "", text));
    return {tile};
}

ChannelId read_channel(Node node, bool core_ports) {
    const ChannelId id = read_channel_name(node, read_tile(node), core_ports);
    node.done();
    return id;
}

SwitchPort read_port(Node& node, std::string_view key) {
    std::string text;
    node.required(key, text, "port of the switch");
    const auto port = parse_port(text);
    if (!port) {
        node.error(key, fmt::format("must be a port such as south3 or dma0, got '{}'", text));
    }
    return port.value_or(SwitchPort{});
}

LockAction read_lock_action(Node node, const std::vector<Lock>& locks) {
    LockAction lock;
    lock.lock = read_reference(node, "lock", locks, "lock");
    node.required("value", lock.value, {-64, 64},
                  "acquire: -n waits for at least n and takes them, n waits for n; release: "
                  "adds n");
    node.done();
    return lock;
}

void read_one(Node& entry, const std::vector<Alternative>& alternatives) {
    bool found = false;
    for (const auto& [key, read] : alternatives) {
        if ((!found || entry.describing()) && entry.has(key)) {
            read();
            found = true;
        }
    }
    if (!found) {
        std::string names = alternatives.front().key;
        for (std::size_t i = 1; i < alternatives.size(); ++i) {
            names += i + 1 < alternatives.size() ? ", " : " or ";
            names += alternatives[i].key;
        }
        entry.error("", "must be " + names);
    }
    entry.done();
}

}  // namespace tilesim::arch::npu::program
