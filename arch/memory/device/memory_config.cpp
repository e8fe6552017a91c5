#include "arch/memory/device/memory_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "arch/base/config.hpp"
#include "arch/base/quantity.hpp"

namespace tilesim::arch::memory::device {

using base::config::Node;
using base::config::Range;

namespace {

const std::vector<std::pair<std::string_view, AddressField>> kFields{
    {"column", AddressField::Column},
    {"bank_group", AddressField::BankGroup},
    {"bank", AddressField::Bank},
    {"channel", AddressField::Channel},
    {"row", AddressField::Row}};

void read_timing(Node node, DramTiming& timing) {
    const Range cycles{0, kLongestConstraint};
    const Range positive{1, kLongestConstraint};
    node.optional("burst", timing.burst, positive, "data bus time of a burst");
    node.optional("activate_command", timing.activate_command, positive,
                  "command bus time of an ACT");
    node.optional("column_command", timing.column_command, positive,
                  "command bus time of a RD or WR");
    node.optional("read_latency", timing.read_latency, positive, "RD to first data (RL, CL)");
    node.optional("write_latency", timing.write_latency, positive, "WR to first data (WL, CWL)");
    node.optional("tRCD", timing.tRCD, positive, "ACT to RD or WR");
    node.optional("tRP", timing.tRP, positive, "PRE to ACT");
    node.optional("tRAS", timing.tRAS, positive, "ACT to PRE");
    node.optional("tRC", timing.tRC, positive, "ACT to ACT of a bank");
    node.optional("tRRD_S", timing.tRRD_S, positive, "ACT to ACT, other bank group");
    node.optional("tRRD_L", timing.tRRD_L, positive, "ACT to ACT, same bank group");
    node.optional("tFAW", timing.tFAW, positive, "window that holds at most four ACTs");
    node.optional("tCCD_S", timing.tCCD_S, positive, "column to column, other bank group");
    node.optional("tCCD_L", timing.tCCD_L, positive, "RD to RD, same bank group");
    node.optional("tCCD_L_WR", timing.tCCD_L_WR, positive, "WR to WR, same bank group");
    node.optional("tRTP", timing.tRTP, positive, "RD to PRE");
    node.optional("tWR", timing.tWR, positive, "end of write data to PRE");
    node.optional("tWTR_S", timing.tWTR_S, cycles, "end of write data to RD, other bank group");
    node.optional("tWTR_L", timing.tWTR_L, cycles, "end of write data to RD, same bank group");
    node.optional("tRTW", timing.tRTW, cycles, "bus gap between read data and write data");
    node.optional("tREFI", timing.tREFI, {1, 1'000'000}, "refresh interval");
    node.optional("tRFC", timing.tRFC, positive, "REF to ACT");
    const auto rule = [&node](bool holds, const char* key, const char* relation) {
        if (!holds) {
            node.error(key, fmt::format("breaks the relation {}", relation));
        }
    };
    rule(timing.tRFC < timing.tREFI, "tREFI", "tRFC < tREFI");
    rule(timing.tRCD <= timing.tRAS, "tRAS", "tRCD <= tRAS");
    rule(timing.tRAS + timing.tRP <= timing.tRC, "tRC", "tRAS + tRP <= tRC");
    rule(timing.tRRD_S <= timing.tRRD_L, "tRRD_L", "tRRD_S <= tRRD_L");
    rule(timing.tRRD_S * 4 <= timing.tFAW + timing.tRRD_S, "tFAW", "3 x tRRD_S <= tFAW");
    rule(timing.tCCD_S <= timing.tCCD_L, "tCCD_L", "tCCD_S <= tCCD_L");
    rule(timing.burst <= timing.tCCD_S, "tCCD_S", "burst <= tCCD_S");
    rule(timing.tWTR_S <= timing.tWTR_L, "tWTR_L", "tWTR_S <= tWTR_L");
    node.done();
}

// "bank_group:2" is a field and its number of address bits.
std::vector<AddressBits> read_mapping(std::vector<Node> entries) {
    constexpr std::int64_t kMostBits = 40;
    std::vector<AddressBits> mapping;
    for (Node& entry : entries) {
        const std::string text = entry.scalar();
        const std::size_t colon = text.find(':');
        const auto field = std::find_if(kFields.begin(), kFields.end(), [&](const auto& f) {
            return f.first == text.substr(0, colon);
        });
        const auto bits = base::config::parse_integer(
            colon == std::string::npos ? std::string_view{}
                                       : std::string_view{text}.substr(colon + 1));
        const auto* count = std::get_if<std::int64_t>(&bits);
        if (field == kFields.end() || count == nullptr || *count < 1 || *count > kMostBits) {
            entry.error("", fmt::format("must be FIELD:BITS with a field of column, bank_group, "
                                        "bank, channel, row, got '{}'",
                                        text));
            continue;
        }
        mapping.push_back({field->second, *count});
    }
    return mapping;
}

void check_mapping(Node& node, const MemoryConfig& config) {
    const auto expect = [&](AddressField field, std::int64_t values, std::string_view name) {
        std::int64_t bits = 0;
        for (const AddressBits& entry : config.mapping) {
            bits += entry.field == field ? entry.bits : 0;
        }
        const auto count = static_cast<std::uint64_t>(values);
        if (!std::has_single_bit(count)) {
            node.error("mapping", fmt::format("cannot share addresses out to {} {}: a number of "
                                              "bits needs a power of two",
                                              values, name));
        } else if (bits != std::countr_zero(count)) {
            node.error("mapping", fmt::format("has {} bits for {} {}, which need {}", bits, values,
                                              name, std::countr_zero(count)));
        }
    };
    expect(AddressField::Column, config.row / config.burst, "columns (bursts a row)");
    expect(AddressField::BankGroup, config.bank_groups, "bank groups");
    expect(AddressField::Bank, config.banks_per_group, "banks a group");
    expect(AddressField::Channel, config.channels, "channels");
    expect(AddressField::Row, config.rows, "rows");
}

}  // namespace

double MemoryConfig::peak_bytes_per_second() const {
    return static_cast<double>(channels * burst.count()) * static_cast<double>(clock.count()) /
           static_cast<double>(timing.tCCD_S.count());
}

MemoryConfig read_device(Node& node) {
    MemoryConfig config;
    constexpr std::int64_t kMega = 1'000'000;
    node.optional("clock", config.clock, {kMega, 100'000 * kMega}, "command clock CK");
    node.optional("channels", config.channels, {1, 64}, "independent channels");
    node.optional("bank_groups", config.bank_groups, {1, 16}, "bank groups a channel");
    node.optional("banks_per_group", config.banks_per_group, {1, 16}, "banks a bank group");
    node.optional("rows", config.rows, {2, 1 << 24}, "rows a bank");
    node.optional("row", config.row, {256, 1 << 20}, "row size, of a bank and channel");
    node.optional("burst", config.burst, {8, 256}, "bytes of a column command");
    const auto mapping = node.list("mapping", "address bits above the burst, lowest first");
    if (!mapping.empty()) {
        config.mapping = read_mapping(mapping);
    }
    node.optional("bank_hash", config.bank_hash, "XOR of bank and group bits with low row bits");
    node.optional("refresh", config.refresh, "whether rows are refreshed");
    node.optional("split_command_bus", config.split_command_bus,
                  "row and column commands have a command bus each");
    node.optional("pseudo_channels", config.pseudo_channels, {1, 64},
                  "neighbouring channels that share command buses");
    read_timing(node.child("timing", "constraints between commands"), config.timing);
    if (config.banks() > static_cast<std::int64_t>(kMaxBanks)) {
        node.error("bank_groups", fmt::format("more than {} banks a channel", kMaxBanks));
    } else {
        check_mapping(node, config);
    }
    if (config.channels % config.pseudo_channels != 0) {
        node.error("pseudo_channels", fmt::format("must divide the {} channels", config.channels));
    }
    return config;
}

}  // namespace tilesim::arch::memory::device
