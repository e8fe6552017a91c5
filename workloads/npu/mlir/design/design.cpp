#include "workloads/npu/mlir/design/design.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "arch/base/config.hpp"
#include "workloads/npu/mlir/chosen_sequence.hpp"
#include "workloads/npu/mlir/design/arguments.hpp"
#include "workloads/npu/mlir/design/configurations.hpp"
#include "workloads/npu/mlir/design/device.hpp"
#include "workloads/npu/mlir/design/device_names.hpp"
#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/sequence/sequence.hpp"
#include "workloads/npu/mlir/syntax/attributes.hpp"
#include "workloads/npu/mlir/syntax/cascade_fifos.hpp"
#include "workloads/npu/mlir/syntax/conduits.hpp"
#include "workloads/npu/mlir/syntax/inner_names.hpp"
#include "workloads/npu/mlir/syntax/registered_processes.hpp"
#include "workloads/npu/mlir/syntax/route_endpoints.hpp"
#include "workloads/npu/mlir/syntax/row_stores.hpp"
#include "workloads/npu/mlir/syntax/tokens.hpp"

namespace tilesim::workloads::npu::mlir::design {

using sequence::lower_sequence;
using syntax::parse;

namespace {

using arch::base::config::ConfigError;

constexpr std::size_t kMostErrors = 20;

std::string located(const Source& source, Location where, const std::string& message) {
    return where.line == 0  // of all of the file
               ? fmt::format("{}: {}", source.file, message)
               : fmt::format("{}:{}:{}: {}", source.file, where.line, where.column, message);
}

// Routing results and the like have nothing but these.
bool only_routes(const Operation& device) {
    static const std::set<std::string> kRouting{"aie.tile", "aie.switchbox", "aie.shim_mux",
                                                "aie.wire", "aie.end"};
    const auto& operations = region_of(device).blocks.front().operations;
    return std::all_of(operations.begin(), operations.end(), [](const Operation& operation) {
        return kRouting.contains(operation.name);
    });
}

bool has_sequence(const Operation& device) {
    const auto& operations = region_of(device).blocks.front().operations;
    return std::any_of(operations.begin(), operations.end(), [](const Operation& operation) {
        return operation.name.ends_with(".runtime_sequence");
    });
}

bool loads_others(const Operation& device) {
    const auto& operations = region_of(device).blocks.front().operations;
    return std::any_of(operations.begin(), operations.end(), [](const Operation& operation) {
        return operation.name.ends_with(".runtime_sequence") && loads_configurations(operation);
    });
}

// Files of before 2023 have no aie.device; the compiler puts their module into one of this target
// (its pass canonicalize-device).
constexpr std::string_view kImplicitTarget = "xcvc1902";

bool is_implicit_device(const Operation& operation) {
    if (operation.name != "module" || operation.regions().empty()) {
        return false;
    }
    const auto& operations = region_of(operation).blocks.front().operations;
    return std::any_of(operations.begin(), operations.end(),
                       [](const Operation& each) { return each.name == "aie.tile"; });
}

std::string target_of(const Operation& device) {
    if (device.name == "module") {
        return std::string{kImplicitTarget};
    }
    Cursor cursor(device);
    Cursor inside(cursor.group("("));
    return inside.word();
}

struct Devices {
    const Operation* design = nullptr;
    const Operation* routed = nullptr;  // whose switchboxes count
    std::string note{};                 // on what else could have been meant
};

// Of a file from before the compiler's lowering: the first operation that shows it.
std::string lowered_later(const Source& source) {
    static const std::set<std::string_view> kBefore{"air",    "amdaie", "hal", "iree_linalg_ext",
                                                    "linalg", "tensor", "tt",  "ttg"};
    std::string found;
    walk(source.operations, [&](const Operation& operation) {
        const std::string_view dialect =
            std::string_view{operation.name}.substr(0, operation.name.find('.'));
        if (found.empty() && kBefore.contains(dialect)) {
            found = fmt::format(": {} (line {}) is of what the compiler lowers to one",
                                operation.name, operation.where.line);
        }
    });
    return found;
}

// The symbol of a device that states none is the compiler's default.
std::string device_name(const Operation& device) {
    const std::string symbol = symbol_of(device);
    return symbol.empty() ? "main" : symbol;
}

// The only one of several for which this holds, if one is.
template <class Holds>
void keep_only(std::vector<const Operation*>& designs, const Holds& holds) {
    std::vector<const Operation*> kept;
    std::copy_if(designs.begin(), designs.end(), std::back_inserter(kept),
                 [&](const Operation* design) { return holds(*design); });
    if (kept.size() == 1) {
        designs = kept;
    }
}

Devices devices_of(const Source& source, const ReadOptions& options) {
    std::vector<const Operation*> designs;
    Devices chosen;
    walk(source.operations, [&](const Operation& operation) {
        if (operation.name != "aie.device" && !is_implicit_device(operation)) {
            return;
        }
        if (!designs.empty() && only_routes(operation)) {
            chosen.routed = &operation;
        } else if (options.device.empty() || device_name(operation) == options.device) {
            designs.push_back(&operation);
        }
    });
    if (designs.empty()) {
        throw ReadError({}, options.device.empty()
                                ? "the file has no aie.device" + lowered_later(source)
                                : fmt::format("no aie.device is named @{}", options.device));
    }
    // Devices that only configurations load have no sequence of their own.
    std::vector<const Operation*> with_sequence;
    std::copy_if(designs.begin(), designs.end(), std::back_inserter(with_sequence),
                 [](const Operation* design) { return has_sequence(*design); });
    if (!with_sequence.empty()) {
        designs = with_sequence;
    }
    // What the compiler's host program starts is the sequence that loads the others, or what is
    // marked (since the autumn of 2026).
    keep_only(designs, [](const Operation& design) { return loads_others(design); });
    keep_only(designs, [](const Operation& design) {
        return design.attribute("aiex.entry_device").has_value();
    });
    if (designs.size() > 1) {
        std::string names;
        for (const Operation* design : designs) {
            names += fmt::format("{}@{}", names.empty() ? "" : ", ", device_name(*design));
        }
        // Each sequence is a launch of its own; devices without one say nothing of what runs.
        if (with_sequence.empty()) {
            throw ReadError(designs[1]->where,
                            fmt::format("the file has several devices ({}); choose one with "
                                        "--set design.symbol=NAME, or a part of a file that lines "
                                        "\"// -----\" cut with --set design.part=1",
                                        names));
        }
        chosen.note = fmt::format(
            "of the devices with a run-time sequence ({}) the first is run; "
            "choose one with --set design.symbol=NAME",
            names);
    }
    chosen.design = designs.front();
    chosen.routed = chosen.routed == nullptr ? chosen.design : chosen.routed;
    return chosen;
}

// iree-amd-aie prints port bundles in capitals (SOUTH : 3), mlir-aie does not (South : 3).
bool printed_by_iree(const Operation& device) {
    bool capitals = false;
    walk({device}, [&capitals](const Operation& operation) {
        if (operation.name != "aie.connect" || operation.items.empty()) {
            return;
        }
        for (const Item& item : operation.items.front().items) {
            capitals = capitals || item.is_word("NORTH") || item.is_word("SOUTH") ||
                       item.is_word("EAST") || item.is_word("WEST");
        }
    });
    return capitals;
}

void choose_repeat_count(Lowering& lowering) {
    const RepeatCount stated = lowering.options.repeat_count;
    lowering.repeat_counts_runs = stated == RepeatCount::Runs || (stated == RepeatCount::Detect &&
                                                                  printed_by_iree(lowering.device));
    bool used = false;
    walk({lowering.device}, [&used](const Operation& operation) {
        const bool start = operation.name == "aie.dma_start" || operation.name == "aie.dma";
        for (const Item& group : operation.items) {
            for (const Item& item : group.items) {
                used = used || (start && item.is_word("repeat_count"));
            }
        }
    });
    if (used) {
        lowering.note(fmt::format("repeat_count = n runs a chain {} times ({})",
                                  lowering.repeat_counts_runs ? "n" : "n + 1",
                                  stated != RepeatCount::Detect ? "as design.repeat_count says"
                                  : lowering.repeat_counts_runs
                                      ? "the file prints ports as iree-amd-aie does"
                                      : "mlir-aie's convention"));
    }
}

program::Program lowered(Lowering& lowering, const Operation& routed, const Source& source) {
    choose_repeat_count(lowering);
    const Operation* sequence = sequence_of(lowering);
    if (sequence != nullptr && loads_configurations(*sequence)) {
        lower_configurations(lowering, *sequence, source);
    } else {
        lower_device(lowering, routed,
                     [&] { lowering.attempt([&] { lower_sequence(lowering); }); });
        grow_arguments(lowering);
    }
    place_external_buffers(lowering);
    const std::string symbol = symbol_of(lowering.device);
    lowering.program.name = symbol.empty() ? "design" : plain_name(symbol);
    lowering.program.file = source.file;
    lowering.program.ends_with_sequence = true;
    return std::move(lowering.program);
}

// Where a module begins in lines behind `where`: files that tools write to their output have what
// the tool said in front of it.
std::size_t module_behind(const std::string& text, Location where) {
    std::int32_t line = 1;
    for (std::size_t at = 0; at < text.size(); ++line) {
        if (std::string_view{text}.substr(at).starts_with("module")) {
            return line > where.line ? at : text.npos;
        }
        const std::size_t end = text.find('\n', at);
        at = end == text.npos ? text.size() : end + 1;
    }
    return text.npos;
}

// The text with all but one part left blank, so that lines keep their numbers.
std::string only_part(const std::string& text, const std::string& file, std::int64_t part) {
    constexpr std::string_view kCut = "// -----";
    std::string only = text;
    std::int64_t number = 1;
    for (std::size_t line = 0; line < text.size();) {
        const std::size_t end = std::min(text.find('\n', line), text.size());
        number += std::string_view{text}.substr(line).starts_with(kCut) ? 1 : 0;
        if (number != part) {
            std::fill(only.begin() + static_cast<std::ptrdiff_t>(line),
                      only.begin() + static_cast<std::ptrdiff_t>(end), ' ');
        }
        line = end + 1;
    }
    if (part > number) {
        throw ConfigError(fmt::format("{}: lines \"{}\" cut it into {} parts, there is no part {}",
                                      file, kCut, number, part));
    }
    return only;
}

}  // namespace

Source parse_design(const std::string& text, const std::string& file, std::int64_t part) {
    Source source{file, {}};
    const std::string wanted = part == 0 ? text : only_part(text, file, part);
    try {
        source.operations = parse(wanted);
    } catch (const ReadError& error) {
        const std::size_t begin = module_behind(wanted, error.where());
        if (begin == wanted.npos) {
            throw ConfigError(located(source, error.where(), error.what()));
        }
        try {
            std::string module = wanted;
            std::replace_if(
                module.begin(), module.begin() + static_cast<std::ptrdiff_t>(begin),
                [](char c) { return c != '\n'; }, ' ');
            source.operations = parse(module);
        } catch (const ReadError& inside) {
            throw ConfigError(located(source, inside.where(), inside.what()));
        }
        source.notes.emplace_back("text in front of the module is no MLIR: left out");
    }
    separate_inner_names(source.operations);
    try {
        write_registered_processes(source.operations);
        write_row_stores_as_fifos(source.operations);
        write_cascade_fifos_as_cascades(source.operations);
        if (write_conduits_as_fifos(source.operations)) {
            source.notes.emplace_back(
                "conduits that share a DMA channel (fused_dma_channel_group) have one each");
        }
        write_tokens_as_locks(source.operations);
        write_routes_as_flows(source.operations);
    } catch (const ReadError& error) {
        throw ConfigError(located(source, error.where(), error.what()));
    }
    return source;
}

std::string target_of(const Source& source, const ReadOptions& options) {
    try {
        return target_of(*devices_of(source, options).design);
    } catch (const ReadError& error) {
        throw ConfigError(located(source, error.where(), error.what()));
    }
}

namespace {

// What options name must stand somewhere in the file, in whichever of its devices.
void check_named(const Source& source, Lowering& lowering) {
    std::vector<std::string> tiles;
    std::set<std::int64_t> loops;  // lines of what may decide how often a loop runs
    const auto look = [&](const Operation& each) {
        if (each.name == "aie.logical_tile") {
            tiles.insert(tiles.end(), each.results.begin(), each.results.end());
        } else if (each.name.starts_with("scf.") || each.name.ends_with("cond_br")) {
            loops.insert(each.where.line);
        }
    };
    walk(source.operations, look);
    if (lowering.options.bodies != nullptr) {
        walk(lowering.options.bodies->operations, look);
    }
    const Location where = lowering.device.where;
    for (const auto& [name, place] : lowering.options.tiles) {
        if (std::find(tiles.begin(), tiles.end(), name) == tiles.end()) {
            lowering.errors.emplace_back(
                where, fmt::format("tiles: no logical tile is named %{}{}", name,
                                   arch::base::config::did_you_mean(name, tiles, "%", "")));
        }
    }
    for (const auto& [line, runs] : lowering.options.loops) {
        if (!loops.contains(line)) {
            lowering.errors.emplace_back(where, fmt::format("loops: no loop is on line {}", line));
        }
    }
}

// Buffers whose data begins with a packet's header, in any of the configurations.
void add_headed(const program::Program& program, const NpuConfig& config,
                std::set<std::string>& names) {
    const auto add = [&](program::TileCoordinate tile, const program::BufferDescriptor& sent) {
        if (sent.packet && sent.packet->in_data) {
            const auto index = static_cast<std::size_t>(sent.buffer);
            names.insert(config.kind_of(tile) == program::TileKind::Shim
                             ? program.external_buffers[index].name
                             : program.buffers[index].name);
        }
    };
    for (const program::TileDma& dma : program.dmas) {
        for (const program::BufferDescriptor& descriptor : dma.descriptors) {
            add(dma.tile, descriptor);
        }
    }
    for (const program::SequenceOp& operation : program.sequence) {
        if (const auto* write = std::get_if<program::WriteDescriptor>(&operation)) {
            add(write->tile, write->descriptor);
        }
    }
    for (const program::Program& next : program.then) {
        add_headed(next, config, names);
    }
}

// What options say of headers must be of data that has one.
void check_headers(const program::Program& program, Lowering& lowering) {
    std::set<std::string> headed;
    add_headed(program, lowering.config, headed);
    const std::vector<std::string> names(headed.begin(), headed.end());
    for (const auto& [name, id] : lowering.options.headers) {
        if (!headed.contains(name)) {
            lowering.errors.emplace_back(
                lowering.device.where,
                fmt::format("design.headers: '{}' is no buffer whose data begins with a packet's "
                            "header; {}{}",
                            name,
                            names.empty() ? "this design has none"
                                          : fmt::format("those are {}", fmt::join(names, ", ")),
                            arch::base::config::did_you_mean(name, names)));
        }
    }
}

void keep_to(program::Program& program, std::int64_t columns) {
    program.columns = columns;
    for (program::Program& next : program.then) {
        keep_to(next, columns);
    }
}

// A side file may be of several designs: what this one does not call is said, not refused.
void note_uncalled(const program::Program& program, Lowering& lowering) {
    const KernelCosts& costs = lowering.options.costs;
    std::set<std::string> uncalled;
    const auto add = [&](const auto& by_function) {
        for (const auto& [function, stated] : by_function) {
            uncalled.insert(plain_name(function));
        }
    };
    add(costs.kernels);
    add(costs.cascade);
    add(costs.streams);
    const auto call = [&uncalled](const program::Program& part) {
        for (const program::Kernel& kernel : part.kernels) {
            uncalled.erase(kernel.name);
        }
    };
    call(program);
    std::for_each(program.then.begin(), program.then.end(), call);
    if (!uncalled.empty()) {
        lowering.note(
            fmt::format("no core calls {}, whose costs are stated", fmt::join(uncalled, ", ")));
    }
}

std::vector<program_file::ProgramWorkload::Fill> fills_of(const Lowering& lowering) {
    std::vector<program_file::ProgramWorkload::Fill> fills;
    for (const auto& [buffer, words] : lowering.contents) {
        fills.push_back({program_file::ProgramWorkload::Fill::Values::Words,
                         {false, buffer},
                         {words.begin(), words.end()}});
    }
    return fills;
}

}  // namespace

Design lower(const Source& source, const ReadOptions& options, const NpuConfig& config) {
    try {
        const Devices devices = devices_of(source, options);
        const NpuConfig partition =
            config.first_columns(read_target(target_of(*devices.design)).columns);
        Lowering lowering{partition, options, *devices.design};
        if (devices.design->name == "module") {
            lowering.note(
                fmt::format("the module has no aie.device: taken as {}, as the compiler "
                            "does",
                            kImplicitTarget));
        }
        for (const std::string& note : source.notes) {
            lowering.note(note);
        }
        if (!devices.note.empty()) {
            lowering.note(devices.note);
        }
        check_named(source, lowering);
        Design design;
        design.program = lowered(lowering, *devices.routed, source);
        keep_to(design.program, partition.columns < config.columns ? partition.columns : 0);
        if (lowering.errors.empty()) {
            check_headers(design.program, lowering);
        }
        note_uncalled(design.program, lowering);
        design.notes = std::move(lowering.notes);
        design.trace_slots = std::move(lowering.trace_slots);
        design.fills = fills_of(lowering);
        design.functional_notes = std::move(lowering.functional_notes);
        if (!lowering.errors.empty()) {
            std::string text;
            for (std::size_t i = 0; i < std::min(kMostErrors, lowering.errors.size()); ++i) {
                const auto& [where, message] = lowering.errors[i];
                text += fmt::format("{}{}", i > 0 ? "\n" : "", located(source, where, message));
            }
            throw ConfigError(text);
        }
        return design;
    } catch (const ReadError& error) {
        throw ConfigError(located(source, error.where(), error.what()));
    }
}

}  // namespace tilesim::workloads::npu::mlir::design
