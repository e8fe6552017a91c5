#include "workloads/npu/mlir/design/configurations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "workloads/npu/mlir/design/arguments.hpp"
#include "workloads/npu/mlir/design/device.hpp"
#include "workloads/npu/mlir/design/device_names.hpp"
#include "workloads/npu/mlir/registers/sequence_operands.hpp"
#include "workloads/npu/mlir/sequence/sequence.hpp"
#include "workloads/npu/mlir/syntax/attributes.hpp"

namespace tilesim::workloads::npu::mlir::design {

using registers::operation_name;
using sequence::add_name;
using sequence::declare_arguments;
using sequence::only_names;
using sequence::run_operations;
using sequence::SequenceNames;

namespace {

// Operations between two configurations, and the device they run on.
struct Part {
    const Operation* device = nullptr;
    bool loaded = false;   // by the sequence; otherwise it is there
    bool written = false;  // register by register, into an array that was reset
    std::vector<const Operation*> operations;
};

// aiex.configure @d, load_pdi {device_ref = @d}; either may leave the device out.
bool names_device(const Operation& operation) {
    return operation_name(operation) == "load_pdi"
               ? !text_attribute(operation, "device_ref").empty()
               : !symbol_of(operation).empty();
}

class Configurations {
  public:
    Configurations(Lowering& main, const Operation& sequence, const Source& source)
        : main_(main), source_(source), names_(declare_arguments(main, sequence)) {
        split(region_of(sequence));
    }

    void run() {
        std::vector<program::Program> programs;
        for (const Part& part : parts_) {
            Lowering lowering{main_.config, main_.options, *part.device};
            lowering.repeat_counts_runs = main_.repeat_counts_runs;
            lowering.program.external_buffers = main_.program.external_buffers;
            lowering.external_types = main_.external_types;
            lower_device(lowering, *part.device,
                         [&] { run_operations(lowering, part.operations, names_); });
            grow_arguments(lowering);
            main_.program.external_buffers = lowering.program.external_buffers;
            main_.external_types = lowering.external_types;
            main_.errors.insert(main_.errors.end(), lowering.errors.begin(), lowering.errors.end());
            for (const std::string& note : lowering.notes) {
                main_.note(note);
            }
            keep_contents(lowering, programs.empty());
            main_.functional_notes.insert(main_.functional_notes.end(),
                                          lowering.functional_notes.begin(),
                                          lowering.functional_notes.end());
            lowering.program.name = plain_name(symbol_of(*part.device));
            lowering.program.file = source_.file;
            lowering.program.sets_itself_up =
                part.written || (part.loaded && main_.options.set_up == SetUp::Written);
            programs.push_back(std::move(lowering.program));
        }
        assemble(std::move(programs));
    }

  private:
    // Memories are set up once, with what the first configuration states.
    void keep_contents(const Lowering& part, bool first) {
        if (first) {
            main_.contents = part.contents;
        } else if (!part.contents.empty()) {
            main_.note("what buffers of a further configuration hold at start is left out");
        }
    }

    // All name the same buffers: those a later part has added, too.
    void assemble(std::vector<program::Program> programs) {
        if (programs.empty()) {
            return;
        }
        place_external_buffers(main_);
        for (program::Program& program : programs) {
            program.external_buffers = main_.program.external_buffers;
            program.ends_with_sequence = true;
        }
        if (std::any_of(programs.begin() + 1, programs.end(),
                        [](const program::Program& each) { return !each.sets_itself_up; })) {
            main_.note(
                "between two configurations the array is set up anew, which takes "
                "command_processor.reconfiguration; what its memories hold does not matter "
                "to the time");
        }
        main_.program = std::move(programs.front());
        std::move(programs.begin() + 1, programs.end(), std::back_inserter(main_.program.then));
    }

    void split(const Item& region) {
        if (region.blocks.size() > 1) {
            throw ReadError(region.token.where, "blocks in a run-time sequence are not modelled");
        }
        for (const Operation& operation : region.blocks.front().operations) {
            const std::string_view name = operation_name(operation);
            const bool loads = name == "configure" || name == "load_pdi";
            if (loads && !names_device(operation)) {
                main_.note(
                    fmt::format("{} that names no device is taken as of the present one", name));
            } else if (name == "configure") {
                load(device_of(operation, symbol_of(operation)));
                // %c = aiex.configure @d; aiex.run %c -> @s (..)
                if (operation.regions().empty()) {
                    for (const std::string& result : operation.results) {
                        configured_[result] = parts_.back().device;
                    }
                    continue;
                }
                for (const Operation& each : region_of(operation).blocks.front().operations) {
                    add(each);
                }
            } else if (name == "load_pdi") {
                load(device_of(operation, text_attribute(operation, "device_ref")));
            } else if (name == "write_config") {
                const Operation& device = device_of(operation, symbol_of(operation));
                check_target(device);
                parts_.push_back({&device, true, true, {}});
            } else {
                load_for(operation);
                add(operation);
            }
        }
    }

    // aiex.run %c -> @sequence (..) runs on what %c configured.
    void load_for(const Operation& operation) {
        if (operation_name(operation) == "run" && !operation.items.empty()) {
            const auto place = configured_.find(operation.items.front().token.text);
            if (place != configured_.end() && operation.items.front().is(TokenKind::Value)) {
                load(*place->second);
            }
        }
    }

    static std::string target_of(const Operation& device) {
        Cursor cursor(device);
        Cursor inside(cursor.group("("));
        return inside.word();
    }

    // Devices of two generations are no configurations of one array.
    void check_target(const Operation& device) const {
        const std::string target = target_of(device);
        const std::string loader = target_of(main_.device);
        const std::string array = read_target(target).device;
        const std::string loaders = read_target(loader).device;
        if (!array.empty() && !loaders.empty() && array != loaders) {
            throw ReadError(device.where,
                            fmt::format("@{} is a configuration of {}, and the sequence that loads "
                                        "it is {}'s",
                                        symbol_of(device), target, loader));
        }
    }

    // A second load of what is there does nothing.
    void load(const Operation& device) {
        check_target(device);
        if (parts_.empty() || parts_.back().device != &device) {
            parts_.push_back({&device, true, false, {}});
        }
    }

    void add(const Operation& operation) {
        if (only_names(operation)) {
            main_.attempt([&] { add_name(main_, operation, names_); });
            return;
        }
        if (parts_.empty()) {
            if (operation.name == "aie.end" || operation.name == "return") {
                return;
            }
            parts_.push_back({&main_.device, false, false, {}});
        }
        parts_.back().operations.push_back(&operation);
    }

    const Operation& device_of(const Operation& operation, const std::string& symbol) const {
        const Operation* found = nullptr;
        std::string known;
        walk(source_.operations, [&](const Operation& each) {
            if (each.name == "aie.device") {
                const std::string symbol_text = symbol_of(each);
                const std::string name = symbol_text.empty() ? "main" : symbol_text;
                known += fmt::format("{}@{}", known.empty() ? "" : ", ", name);
                found = found == nullptr && name == symbol ? &each : found;
            }
        });
        if (found == nullptr) {
            throw ReadError(
                operation.where,
                fmt::format("no aie.device is named @{}; the file has {}", symbol, known));
        }
        return *found;
    }

    Lowering& main_;
    const Source& source_;
    SequenceNames names_;
    std::vector<Part> parts_;
    std::map<std::string, const Operation*> configured_;  // by the value aiex.configure yields
};

}  // namespace

bool loads_configurations(const Operation& sequence) {
    bool found = false;
    walk(region_of(sequence), [&found](const Operation& operation) {
        const std::string_view name = operation_name(operation);
        found = found || name == "configure" || name == "write_config" ||
                (name == "load_pdi" && names_device(operation));
    });
    return found;
}

void lower_configurations(Lowering& lowering, const Operation& sequence, const Source& source) {
    Configurations(lowering, sequence, source).run();
}

}  // namespace tilesim::workloads::npu::mlir::design
