#include "arch/memory/device/memory_config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <set>
#include <string_view>
#include <variant>

#include "arch/base/config.hpp"
#include "arch/base/name_table.hpp"
#include "arch/base/quantity.hpp"
#include "arch/memory/device/power.hpp"

namespace tilesim::arch::memory::device {

using base::config::Node;
using base::config::Range;

namespace {

constexpr std::int64_t kSlowestClock = 1'000'000;
constexpr std::int64_t kFastestClock = 100'000'000'000;

constexpr base::NameTable<AddressField> kFieldNames{{
    {"column", AddressField::Column},
    {"bank_group", AddressField::BankGroup},
    {"bank", AddressField::Bank},
    {"channel", AddressField::Channel},
    {"rank", AddressField::Rank},
    {"row", AddressField::Row},
}};

void read_refresh_timing(Node& node, DramTiming& timing) {
    const Range cycles{0, kLongestConstraint};
    node.optional("tREFI", timing.tREFI, {1, 1'000'000}, "refresh interval");
    node.optional("tRFC", timing.tRFC, {1, kLongestConstraint}, "REF of all banks to ACT");
    node.optional("tRFC_pb", timing.tRFC_pb, cycles,
                  "REF of one bank, or of the same bank of every group, to its ACT");
    node.optional("tREFpb_to_REFpb", timing.tREFpb_to_REFpb, cycles,
                  "REF of some banks to the next");
    node.optional("tREFpb_to_ACT", timing.tREFpb_to_ACT, cycles,
                  "REF of some banks to an ACT elsewhere");
}

// What depends on the mode of the banks.
void read_spacing(Node& node, DramTiming& timing) {
    const Range cycles{0, kLongestConstraint};
    const Range positive{1, kLongestConstraint};
    node.optional("burst", timing.burst, positive, "data bus time of a burst");
    node.optional("tRRD_S", timing.tRRD_S, positive, "ACT to ACT, other bank group");
    node.optional("tRRD_L", timing.tRRD_L, positive, "ACT to ACT, same bank group");
    node.optional("tFAW", timing.tFAW, positive, "window that holds at most four ACTs");
    node.optional("tCCD_S", timing.tCCD_S, positive, "column to column, other bank group");
    node.optional("tCCD_L", timing.tCCD_L, positive, "RD to RD, same bank group");
    node.optional("tCCD_L_WR", timing.tCCD_L_WR, positive, "WR to WR, same bank group");
    node.optional("tWTR_S", timing.tWTR_S, cycles, "end of write data to RD, other bank group");
    node.optional("tWTR_L", timing.tWTR_L, cycles, "end of write data to RD, same bank group");
}

void read_timing(Node& node, DramTiming& timing) {
    const Range cycles{0, kLongestConstraint};
    const Range positive{1, kLongestConstraint};
    read_spacing(node, timing);
    node.optional("activate_command", timing.activate_command, positive,
                  "command bus time of an ACT");
    node.optional("column_command", timing.column_command, positive,
                  "command bus time of a RD or WR");
    node.optional("precharge_command", timing.precharge_command, positive,
                  "command bus time of a PRE or REF");
    node.optional("read_latency", timing.read_latency, positive, "RD to first data (RL, CL)");
    node.optional("write_latency", timing.write_latency, positive, "WR to first data (WL, CWL)");
    node.optional("tRCD", timing.tRCD, positive, "ACT to RD or WR");
    node.optional("tRCD_WR", timing.tRCD_WR, cycles, "ACT to WR where that differs; 0: tRCD");
    node.optional("tRP", timing.tRP, positive, "PRE to ACT");
    node.optional("tRPab", timing.tRPab, cycles,
                  "PRE of all banks of a rank to ACT or REF; 0: tRP");
    node.optional("tRAS", timing.tRAS, positive, "ACT to PRE");
    node.optional("tRC", timing.tRC, positive, "ACT to ACT of a bank");
    node.optional("tRTP", timing.tRTP, positive, "RD to PRE");
    node.optional("tWR", timing.tWR, positive, "end of write data to PRE");
    node.optional("tRTW", timing.tRTW, cycles, "bus gap between read data and write data");
    node.optional("tPPD", timing.tPPD, positive, "PRE to PRE");
    node.optional("tRTRS", timing.tRTRS, cycles, "bus gap between data of two ranks");
    read_refresh_timing(node, timing);
    node.done();
}

void check_timing(Node& node, const DramTiming& timing) {
    // Of the key that is to be at least as long as `least`, or longer.
    const auto rule = [&node](base::Cycles value, const char* key, base::Cycles least,
                              const char* what, bool longer = false) {
        if (value < least || (longer && value == least)) {
            node.error(key, fmt::format("must be {} {}, {} cycle, got {} cycle",
                                        longer ? "above" : "at least", what, least.count(),
                                        value.count()));
        }
    };
    rule(timing.tREFI, "tREFI", timing.tRFC, "tRFC", true);
    rule(timing.tRAS, "tRAS", timing.tRCD, "tRCD");
    rule(timing.tRC, "tRC", timing.tRAS + timing.tRP, "tRAS + tRP");
    rule(timing.all_banks_tRP(), "tRPab", timing.tRP, "tRP");
    rule(timing.tRRD_L, "tRRD_L", timing.tRRD_S, "tRRD_S");
    rule(timing.tFAW, "tFAW", timing.tRRD_S * 3, "3 x tRRD_S");
    rule(timing.tCCD_L, "tCCD_L", timing.tCCD_S, "tCCD_S");
    rule(timing.tCCD_S, "tCCD_S", timing.burst, "burst");
    rule(timing.tWTR_L, "tWTR_L", timing.tWTR_S, "tWTR_S");
}

// As data sheets have them ("60.75 mA", "1.2 V"): `shown` is a unit of theirs.
void read_electric(Node& node, const char* key, const base::config::Dimension& dimension,
                   std::string_view shown, std::int64_t& value, const char* meaning) {
    constexpr std::int64_t kMost = 20'000'000;
    const base::config::UnitName unit = base::config::known_unit(shown)->unit;
    std::string text = base::config::format_in_unit(value, unit);
    node.optional(key, text, meaning);
    const auto parsed = base::config::parse_quantity(text, dimension);
    const auto* count = std::get_if<std::int64_t>(&parsed);
    if (count == nullptr) {
        node.error(key, std::get<std::string>(parsed));
    } else if (*count < 0 || *count > kMost) {
        node.error(key, fmt::format("must be 0 to {}, got {}",
                                    base::config::format_in_unit(kMost, unit), text));
    } else {
        value = *count;
    }
}

struct Current {
    const char* key;
    std::int64_t Currents::*value;
    const char* meaning;
};
constexpr Current kCurrents[] = {
    {"I0", &Currents::I0, "one bank activated and precharged at tRC"},
    {"I2N", &Currents::I2N, "precharge standby"},
    {"I3N", &Currents::I3N, "active standby"},
    {"I4R", &Currents::I4R, "burst reads"},
    {"I4W", &Currents::I4W, "burst writes"},
    {"I5B", &Currents::I5B, "refresh of all banks"},
    {"I5C", &Currents::I5C, "refresh of the same bank of every group"},
    {"I5pb", &Currents::I5pb, "refresh of a bank, or of a pair of banks, at their interval"},
    {"I2P", &Currents::I2P, "precharge power-down, which is not modelled"},
    {"I3P", &Currents::I3P, "active power-down, which is not modelled"},
    {"I6", &Currents::I6, "self refresh, which is not modelled"}};

Node read_currents(Node node, Currents& currents) {
    read_electric(node, "voltage", base::config::kVoltageDimension, "V", currents.voltage,
                  "of the supply; 0: not given");
    for (const Current& each : kCurrents) {
        read_electric(node, each.key, base::config::kCurrentDimension, "mA", currents.*each.value,
                      each.meaning);
    }
    node.done();
    return node;
}

// `needed`: the keys without which some energy would be missing.
void check_currents(Node& node, const Currents& currents, const MemoryConfig& config,
                    std::initializer_list<std::string_view> needed) {
    std::vector<std::string_view> missing;
    for (const Current& each : kCurrents) {
        const bool given = currents.*each.value > 0;
        if (given && !currents.given()) {
            node.error(each.key, "needs the supply's voltage beside it");
            return;
        }
        if (!given && std::find(needed.begin(), needed.end(), each.key) != needed.end()) {
            missing.push_back(each.key);
        }
    }
    if (!currents.given()) {
        return;
    }
    if (!missing.empty()) {
        node.error("voltage", fmt::format("needs {} beside it", fmt::join(missing, ", ")));
        return;
    }
    // Each energy is what a current is above the standby that goes on meanwhile.
    const CommandEnergy energy = energy_of(currents, config);
    const auto above = [&node](double energy_of_it, const char* key, const char* standby) {
        if (energy_of_it < 0) {
            node.error(key,
                       fmt::format("is below the standby that goes on meanwhile ({})", standby));
        }
    };
    above(energy.open_mw - energy.closed_mw + energy.each_bank_mw, "I3N", "I2N");
    above(std::min(energy.activate, energy.precharge), "I0", "I3N, I2N, standby_permille");
    above(energy.read, "I4R", "I3N");
    above(energy.write, "I4W", "I3N");
    above(energy.refresh, "I5B", "I3N");
    for (const Command refresh : {Command::RefreshBank, Command::RefreshSame}) {
        above(energy_of(currents, config, {refresh, 1}).refresh, refresh_current(refresh),
              "I3N, I2N, standby_permille");
    }
}

PowerConfig read_power(Node node, const MemoryConfig& of) {
    MemoryConfig config = of;
    PowerConfig& power = config.power;
    node.optional("devices", power.devices, {1, 64}, "that make up a rank of a channel");
    node.optional("standby_permille", power.standby_permille, {0, 1000},
                  "of the current of active standby, that does not depend on the open banks");
    Node core = read_currents(
        node.child("core", "supply of the banks and the interface's logic (VDD)"), power.core);
    Node pump = read_currents(
        node.child("pump", "supply of the word lines (VPP), where it has its own"), power.pump);
    node.done();
    check_currents(core, power.core, config, {"I0", "I2N", "I3N", "I4R", "I4W"});
    check_currents(pump, power.pump, config, {"I0"});
    if (power.pump.given() && !power.core.given()) {
        pump.error("voltage", "needs the currents of the core's supply beside it");
    }
    return power;
}

// "bank_group:2" is a field and its number of address bits; without a number it takes those that
// its other entries leave, so that a count is changed in one place.
// Nothing where an entry is wrong.
std::vector<AddressBits> read_mapping(std::vector<Node> entries) {
    constexpr std::int64_t kMostBits = 40;
    std::vector<AddressBits> mapping;
    bool wrong = false;
    std::set<AddressField> open;
    for (Node& entry : entries) {
        const std::string text = entry.scalar();
        const std::size_t colon = text.find(':');
        const auto field = kFieldNames.find(std::string_view{text}.substr(0, colon));
        const auto bits = base::config::parse_integer(
            colon == std::string::npos ? std::string_view{"0"}
                                       : std::string_view{text}.substr(colon + 1));
        const auto* count = std::get_if<std::int64_t>(&bits);
        if (!field || count == nullptr || *count > kMostBits ||
            *count < (colon == std::string::npos ? 0 : 1)) {
            entry.error("", fmt::format("must be FIELD or FIELD:BITS with a field of column, "
                                        "bank_group, bank, channel, rank, row, got '{}'",
                                        text));
            wrong = true;
            continue;
        }
        if (*count == 0 && !open.insert(*field).second) {
            entry.error("", fmt::format("'{}' stands twice without a number of bits", text));
            wrong = true;
        }
        mapping.push_back({*field, *count});
    }
    return wrong ? std::vector<AddressBits>{} : mapping;
}

// Gives the fields that stand without a number of bits theirs, which may be fewer than stand with
// one, and checks that the rest fit.
void complete_mapping(Node& node, MemoryConfig& config) {
    const auto expect = [&](AddressField field, std::int64_t values, std::string_view name) {
        const auto count = static_cast<std::uint64_t>(values);
        std::int64_t bits = 0;
        AddressBits* open = nullptr;
        for (AddressBits& entry : config.mapping) {
            bits += entry.field == field ? entry.bits : 0;
            open = entry.field == field && entry.bits == 0 ? &entry : open;
        }
        if (open != nullptr && std::has_single_bit(count)) {
            std::int64_t over = bits - std::countr_zero(count);
            open->bits = std::max<std::int64_t>(0, -over);
            for (AddressBits& entry : config.mapping) {  // fewer than have a number
                const std::int64_t given =
                    entry.field == field ? std::clamp<std::int64_t>(over, 0, entry.bits) : 0;
                entry.bits -= given;
                over -= given;
            }
            bits = std::countr_zero(count);
        }
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
    expect(AddressField::Rank, config.ranks, "ranks");
    expect(AddressField::Row, config.rows, "rows");
    std::erase_if(config.mapping, [](const AddressBits& entry) { return entry.bits == 0; });
}

// How the banks are organised: in their mode where the standard has several.
void read_organisation(Node& node, MemoryConfig& config) {
    node.optional("bank_groups", config.bank_groups, {1, 16}, "bank groups a rank");
    node.optional("banks_per_group", config.banks_per_group, {1, 16}, "banks a bank group");
    node.optional("row", config.row, {256, 1 << 20}, "row size, of a bank and channel");
    node.optional("burst", config.burst, {8, 256}, "bytes of a column command");
    const auto mapping = node.list("mapping", "address bits above the burst, lowest first");
    if (node.has("mapping")) {
        config.mapping = read_mapping(mapping);
        if (mapping.empty()) {
            node.error("mapping", "must list the fields of an address, got none");
        }
    }
}

// The keys of a mode: those it gives, or could give.
std::vector<std::string> joined(std::vector<std::string> keys,
                                const std::vector<std::string>& timing) {
    std::erase_if(keys, [](const std::string& key) {
        return key == "timing" || key == "clock_up_to";  // which is held to when read
    });
    for (const std::string& key : timing) {
        keys.push_back("timing." + key);
    }
    return keys;
}

struct ModeKeys {
    std::vector<std::string> given;
    std::vector<std::string> all;
    std::vector<std::string> timing;  // all
};

// One mode: what differs from the numbers beside `bank_modes`.
ModeKeys read_bank_mode(Node node, bool chosen, MemoryConfig& config) {
    base::Hertz most{0};
    node.optional("clock_up_to", most, {0, kFastestClock},
                  "the fastest clock of this mode; 0: any");
    if (chosen && most > base::Hertz{0} && config.clock > most) {
        using namespace base::config;
        node.error("clock_up_to",
                   fmt::format("this mode of the banks takes clocks up to {}, got {}",
                               format_quantity(most.count(), kFrequencyDimension),
                               format_quantity(config.clock.count(), kFrequencyDimension)));
    }
    read_organisation(node, config);
    Node timing = node.child("timing", "constraints between commands that differ");
    read_spacing(timing, config.timing);
    timing.done();
    node.done();
    return {joined(node.keys(), timing.keys()), joined(node.asked(), timing.asked()),
            timing.asked()};
}

// The modes a standard offers its banks. Only the numbers of the chosen one count; what they
// overrule, and those of the others, cannot matter.
void read_bank_modes(Node& node, MemoryConfig& config) {
    node.optional("bank_mode", config.bank_mode, "one of bank_modes; empty: there are none");
    Node modes = node.child("bank_modes", "by name, what a mode of the banks changes");
    const MemoryConfig common = config;
    bool found = config.bank_mode.empty() || node.describing();
    const std::vector<std::string> names = modes.keys();
    for (const std::string& name : names) {
        const bool chosen = name == common.bank_mode;
        MemoryConfig read = common;
        const std::string mode = fmt::format("memory.bank_modes.{}.", name);
        const ModeKeys keys =
            read_bank_mode(modes.child(name, "a mode"), chosen, chosen ? config : read);
        for (const std::string& key : chosen ? keys.given : keys.all) {
            config.overruled.push_back((chosen ? "memory." : mode) + key);
        }
        config.overruled.push_back(mode + "clock_up_to");
        if (chosen) {
            config.of_mode = keys.timing;
        }
        found = found || chosen;
    }
    if (!found) {
        node.error("bank_mode",
                   names.empty()
                       ? fmt::format("this memory has no bank_modes, got '{}'", config.bank_mode)
                       : fmt::format("must be one of bank_modes ({}), got '{}'",
                                     fmt::join(names, ", "), config.bank_mode));
    }
    modes.done();
}

}  // namespace

double MemoryConfig::peak_bytes_per_second() const {
    return static_cast<double>(channels * burst.count()) * static_cast<double>(clock.count()) /
           static_cast<double>(timing.tCCD_S.count());
}

MemoryConfig read_device(Node& node) {
    MemoryConfig config;
    node.optional("clock", config.clock, {kSlowestClock, kFastestClock}, "command clock CK");
    node.optional("channels", config.channels, {1, 64}, "independent channels");
    node.optional("ranks", config.ranks, {1, 8}, "ranks a channel");
    node.optional("rows", config.rows, {2, 1 << 24}, "rows a bank");
    read_organisation(node, config);
    node.optional("bank_hash", config.bank_hash, "XOR of bank and group bits with row bits");
    node.optional("bank_hash_rows", config.bank_hash_rows,
                  {{"lowest", HashedRows::Lowest}, {"all", HashedRows::All}},
                  "row bits of the bank hash: one for each group and bank bit, or all in turn");
    node.optional("channel_hash", config.channel_hash,
                  "XOR of channel bits with the address bits above them, in turn");
    node.optional("refresh", config.refresh, "whether rows are refreshed");
    node.optional("split_command_bus", config.split_command_bus,
                  "row and column commands have a command bus each");
    node.optional("pseudo_channels", config.pseudo_channels, {1, 64},
                  "neighbouring channels that share command buses");
    Node timing = node.child("timing", "constraints between commands");
    read_timing(timing, config.timing);
    read_bank_modes(node, config);
    check_timing(timing, config.timing);
    config.power =
        read_power(node.child("power", "currents of a device, for command energy"), config);
    if (config.banks() > static_cast<std::int64_t>(kMaxBanks)) {
        node.error("bank_groups", fmt::format("must make at most {} banks a channel, makes {}",
                                              kMaxBanks, config.banks()));
    } else if (!config.mapping.empty()) {
        complete_mapping(node, config);
    }
    if (config.channels % config.pseudo_channels != 0) {
        node.error("pseudo_channels", fmt::format("must divide the {} channels, got {}",
                                                  config.channels, config.pseudo_channels));
    }
    return config;
}

}  // namespace tilesim::arch::memory::device
