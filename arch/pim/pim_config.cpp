#include "arch/pim/pim_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string_view>
#include <variant>

#include "arch/base/config.hpp"
#include "arch/base/name_table.hpp"
#include "arch/base/quantity.hpp"

namespace tilesim::arch::pim {

using base::Cycles;
using base::config::Node;
using base::config::Range;

namespace {

constexpr base::NameTable<ModeStep::Kind> kSteps{{
    {"park", ModeStep::Kind::Park},
    {"visit", ModeStep::Kind::Visit},
    {"write", ModeStep::Kind::Write},
    {"read", ModeStep::Kind::Read},
    {"wait", ModeStep::Kind::Wait},
}};
constexpr std::int64_t kMostSteps = 100'000;

// "visit 4": a step and how often; "park" alone.
void read_step(Node& entry, ModeSteps& steps) {
    const std::string text = entry.scalar();
    const std::size_t space = text.find(' ');
    const auto kind = kSteps.find(std::string_view{text}.substr(0, space));
    const auto number = space == std::string::npos
                            ? base::config::parse_integer("0")
                            : base::config::parse_integer(std::string_view{text}.substr(space + 1));
    const auto* count = std::get_if<std::int64_t>(&number);
    const bool is_park = kind == ModeStep::Kind::Park;
    if (!kind || count == nullptr || *count < 0 || *count > kMostSteps ||
        (space == std::string::npos) != is_park) {
        entry.error("", fmt::format("must be park, visit N, write N, read N or wait N (CK), got "
                                    "'{}'",
                                    text));
        return;
    }
    steps.push_back({*kind, *count});
}

void read_steps(Node& node, const char* key, ModeSteps& steps, const char* meaning) {
    auto entries = node.list(key, meaning);
    if (!entries.empty()) {
        steps.clear();
    }
    for (Node& entry : entries) {
        read_step(entry, steps);
    }
}

ModeConfig read_modes(Node node) {
    ModeConfig modes;
    using Around = ModeConfig::Around;
    node.optional("around", modes.around,
                  {{"none", Around::Nothing}, {"kernel", Around::Kernel}, {"layer", Around::Layer}},
                  "what the banks enter and leave the all-bank mode for");
    read_steps(node, "enter", modes.enter, "steps into the all-bank mode");
    read_steps(node, "leave", modes.leave, "steps out of it");
    read_steps(node, "on", modes.on, "steps before each pass over row blocks");
    read_steps(node, "off", modes.off, "steps after each pass");
    node.done();
    return modes;
}

void read_registers(Node& node, PimConfig& config) {
    node.optional("registers", config.registers, {2, 4096}, "registers of a unit");
    node.optional("output_registers", config.output_registers, {0, 4096},
                  "a file of their own for outputs; 0: they share `registers` with the inputs");
    node.optional("sums", config.sums, {0, 1 << 20},
                  "sums a unit holds at a time; 0: as many as its output registers have room for");
    node.optional("register_bits", config.register_bits, {64, 4096},
                  "width of a register, of a unit and of a column access");
    node.optional("banks_per_unit", config.banks_per_unit, {1, 2}, "banks that share a unit");
    node.optional("alus", config.alus, {1, 64},
                  "of a unit, with registers each: vectors that share a pass over the weights");
    node.optional("interleave", config.interleave, {32, 4096},
                  "contiguous bytes of a bank before the next channel or bank");
    node.optional("page", config.page, {4096, std::int64_t{1} << 40},
                  "contiguous physical memory a placement may count on");
}

void read_bank_timing(Node& node, PimConfig& config) {
    const Range cycles{1, 100'000};
    const Range maybe{0, 100'000};
    node.optional("command_interval", config.command_interval, cycles,
                  "between all-bank register, ALU and array commands");
    node.optional("mac_interval", config.mac_interval, maybe, "between MACs; 0: command_interval");
    node.optional("activate_to_mac", config.activate_to_mac, maybe,
                  "ACT of all banks to a MAC; 0: tRCD");
    node.optional("mac_to_precharge", config.mac_to_precharge, cycles,
                  "last MAC of a row to PREab");
    node.optional("precharge_all", config.precharge_all, maybe,
                  "PREab to ACT; 0: the memory's tRPab");
    node.optional("write_to_precharge", config.write_to_precharge, maybe,
                  "array write to PREab; 0: write latency + burst + tWR");
    node.optional("mac_to_write", config.mac_to_write, maybe,
                  "MAC to a write; 0: read latency + burst + tRTW - write latency");
    node.optional("write_to_mac", config.write_to_mac, maybe,
                  "write to a MAC; 0: write latency + burst + tWTR_L");
    node.optional("drain", config.drain, maybe, "of the ALU before the data bus turns");
    node.optional("host_turn", config.host_turn, {0, 1'000'000'000'000},
                  "the host's time from writing inputs to streaming MACs");
    node.optional("mode_change", config.mode_change, maybe,
                  "between bank commands and register commands, each way");
    node.optional("barrier", config.barrier, maybe,
                  "a barrier of the host, beyond the arrival of the data");
    node.optional("result_latency", config.result_latency, maybe,
                  "of the host's reads of results; 0: read latency + burst");
    node.optional("completion", config.completion, maybe, "end of a program to the host knowing");
    node.optional("activates_at_once", config.activates_at_once,
                  "whether all banks open a row with one command; else one after the other, as "
                  "tRRD_S and tFAW have it");
    node.optional("bus_turnaround", config.bus_turnaround,
                  "whether MACs and register writes turn the data bus");
    node.optional("overlap_row_switch", config.overlap_row_switch,
                  "whether rows may close and open while the data bus turns");
    node.optional("early_close", config.early_close,
                  "whether banks close their row while those they take turns with work");
    node.optional("program_end", config.program_end,
                  {{"rows_closed", ProgramEnd::RowsClosed},
                   {"last_command", ProgramEnd::LastCommand},
                   {"next_kernel", ProgramEnd::NextKernel}},
                  "when a program is over: rows closed again; last command issued; the same, and "
                  "the first row is opened over the one the kernel before left open");
}

void read_folds(Node& node, PimConfig& config) {
    node.optional("reduction_tree", config.reduction_tree,
                  "whether the lanes of an output are summed as they are computed");
    node.optional("tree_frees_registers", config.tree_frees_registers,
                  "whether a placement uses the registers the tree saves");
    node.optional(
        "fold", config.fold,
        {{"single_lane", Fold::SingleLane}, {"log2", Fold::Log2}, {"host", Fold::Host}},
        "how the lanes of an output become one: shifts by one lane, one shift a halving, on the "
        "host");
    node.optional("fold_every", config.fold_every, {0, 1 << 24},
                  "elements of K after which lanes are folded; 0: once a row block");
    node.optional("fold_overlaps_turn", config.fold_overlaps_turn,
                  "whether folds go while the data bus turns");
    node.optional("unreduced_sums", config.unreduced_sums,
                  "whether sums take registers for every lane until they are folded");
    node.optional("accumulator_load", config.accumulator_load, {0, 100},
                  "commands per switch of row blocks and batch of inputs");
    node.optional("scale_law", config.scale_law,
                  {{"word", ScaleLaw::Word}, {"register", ScaleLaw::Register}},
                  "what scale_commands count for: a block and word of rows, or output register");
    node.optional("scale_commands", config.scale_commands, {0, 1000}, "commands per scale block");
    node.optional("scale_sets", config.scale_sets, {1, 8},
                  "sets of accumulators where there are scale factors");
}

void read_results(Node& node, PimConfig& config) {
    node.optional("spill", config.spill,
                  {{"stream", Spill::Stream},
                   {"row", Spill::Row},
                   {"visit", Spill::Visit},
                   {"read", Spill::Read}},
                  "how results leave: writes to the open row, to words behind the weights, to a "
                  "row of their own; or the host reads the registers");
    node.optional("spill_packed", config.spill_packed,
                  "whether sums of several row blocks share a register before they leave");
    node.optional("result_bits", config.result_bits, {1, 4096},
                  "of every bank, that a read of results brings");
    node.optional("split_reduction", config.split_reduction,
                  {{"uncharged", SplitReduction::Uncharged},
                   {"soc", SplitReduction::Soc},
                   {"overlapped", SplitReduction::Overlapped}},
                  "who adds the parts of a split K");
}

}  // namespace

std::string to_text(const ModeStep& step) {
    return step.kind == ModeStep::Kind::Park ? std::string{kSteps[step.kind]}
                                             : fmt::format("{} {}", kSteps[step.kind], step.count);
}

BankTiming::BankTiming(const memory::device::DramTiming& dram, const PimConfig& pim) {
    const auto own_or = [](Cycles own, Cycles of_memory) {
        return own > Cycles{0} ? own : of_memory;
    };
    activate_to_mac = own_or(pim.activate_to_mac, dram.tRCD);
    activate_to_write = own_or(dram.tRCD_WR, dram.tRCD);
    precharge_all = own_or(pim.precharge_all, dram.all_banks_tRP());
    write_to_precharge = own_or(pim.write_to_precharge, dram.write_latency + dram.burst + dram.tWR);
    mac_to_write =
        own_or(pim.mac_to_write, dram.read_latency + dram.burst + dram.tRTW - dram.write_latency) +
        own_or(pim.drain, Cycles{0});
    write_to_mac = own_or(pim.write_to_mac, dram.write_latency + dram.burst + dram.tWTR_L);
}

std::int64_t BankTiming::last_of_activates(const memory::device::DramTiming& dram,
                                           std::int64_t count) {
    const std::int64_t step = std::max(dram.tRRD_S.count(), (dram.tFAW.count() + 3) / 4);
    return std::max<std::int64_t>(0, count - 1) * step;
}

PimConfig read_pim_config(Node node) {
    PimConfig config;
    read_registers(node, config);
    read_bank_timing(node, config);
    read_folds(node, config);
    read_results(node, config);
    config.modes = read_modes(node.child("modes", "what changing modes is made of"));
    if (!std::has_single_bit(static_cast<std::uint64_t>(config.interleave.count()))) {
        node.error("interleave",
                   fmt::format("must be a power of two, got {} B", config.interleave.count()));
    }
    if (!std::has_single_bit(static_cast<std::uint64_t>(config.register_bits))) {
        node.error("register_bits",
                   fmt::format("must be a power of two, got {}", config.register_bits));
    }
    node.done();
    return config;
}

SocConfig read_soc_config(Node node) {
    SocConfig config;
    constexpr std::int64_t kGiga = 1'000'000'000;
    node.optional("compute", config.compute, {kGiga, 1'000'000 * kGiga}, "of the system on chip");
    node.optional("bandwidth", config.bandwidth, {kGiga, 100'000 * kGiga},
                  "to the memory, of the system on chip");
    node.done();
    return config;
}

}  // namespace tilesim::arch::pim
