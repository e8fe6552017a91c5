#include "workloads/npu/mlir/design/design_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>

#include "workloads/npu/binary/decompiled.hpp"
#include "workloads/npu/binary/words.hpp"
#include "workloads/npu/mlir/design/device_names.hpp"
#include "workloads/npu/mlir/syntax/cursor.hpp"
#include "workloads/paths.hpp"

namespace tilesim::workloads::npu::mlir::design {

using arch::base::Cycles;
using arch::base::config::ConfigError;
using arch::base::config::Document;
using arch::base::config::Node;
using arch::base::config::read_file;

namespace {

// What mlir-aie's test scripts replace by the board's device.
constexpr std::string_view kPlaceholder = "NPUDEVICE";

constexpr arch::base::config::Range kCycles{0, 1'000'000'000};
constexpr arch::base::config::Range kWords{0, 1'000'000};
constexpr arch::base::config::Range kStreamPorts{0, 7};
constexpr arch::base::config::Range kHeaderIds{0, arch::npu::program::kPacketIds - 1};

void read_inline(Node node, InlineCosts& costs) {
    const auto read = [&node](const char* key, std::int64_t& value, const char* description) {
        Cycles cycles{value};
        node.optional(key, cycles, {1, 1000}, description);
        value = cycles.count();
    };
    read("load", costs.load, "a scalar load, from issue to use");
    read("multiply", costs.multiply, "a scalar multiplication, from issue to use");
    read("other", costs.other, "any other scalar instruction, from issue to use");
    read("branch", costs.branch, "closing a loop: compare, and the branch with its delay slots");
    node.optional("optimised", costs.optimised,
                  "innermost loops are hardware loops; off: instructions as the design has them");
    node.done();
}

// The keys of a kernel file; they may also stand in the scenario's `design` itself.
void read_costs(Node& node, KernelCosts& costs) {
    if (node.offers("kernels")) {
        Node kernels = node.child("kernels", "cycles of a call, by the function's name");
        for (const std::string& name : kernels.keys()) {
            Cycles cycles{0};
            kernels.required(name, cycles, kCycles, "a call of this function");
            costs.kernels[name] = cycles.count();
        }
        kernels.done();
    }
    if (node.offers("cascade")) {
        Node cascade = node.child("cascade", "words a call gets from and puts on the cascade");
        for (const std::string& name : cascade.keys()) {
            Node entry = cascade.child(name, "by the function's name");
            CascadeWords& words = costs.cascade[name];
            entry.optional("get", words.get, kWords, "before it works");
            entry.optional("put", words.put, kWords, "after it has worked");
            entry.done();
        }
        cascade.done();
    }
    if (node.offers("stream")) {
        Node streams =
            node.child("stream", "words a call gets from and puts on its core's own streams");
        for (const std::string& name : streams.keys()) {
            Node entry = streams.child(name, "by the function's name");
            StreamWords& words = costs.streams[name];
            entry.optional("get", words.get, kWords, "before it works");
            entry.optional("put", words.put, kWords, "after it has worked");
            entry.optional("get_port", words.get_port, kStreamPorts, "of the core's stream inputs");
            entry.optional("put_port", words.put_port, kStreamPorts, "of its stream outputs");
            if (entry.offers("packet")) {
                std::int64_t id = 0;
                entry.optional("packet", id, kHeaderIds,
                               "what it puts is one packet, the header first: the header's id");
                words.packet = id;
            }
            entry.done();
        }
        streams.done();
    }
    if (node.offers("default_kernel")) {
        Cycles cycles{0};
        node.optional("default_kernel", cycles, kCycles,
                      "a call of any function not listed; left out: estimated from its buffers");
        costs.default_kernel = cycles.count();
    }
    if (node.offers("marked")) {
        costs.marked.emplace();
        for (Node& entry : node.list("marked",
                                     "functions whose code tells trace units of its begin and end "
                                     "(event0, event1); left out: all")) {
            costs.marked->insert(entry.scalar());
        }
    }
    if (node.offers("default_core")) {
        Node core = node.child("default_core", "what cores do whose body is not in the design");
        BodylessCore stated;
        Cycles cycles{0};
        core.required("cycles", cycles, kCycles, "work on one block of every input");
        stated.cycles = cycles.count();
        core.optional("inputs_per_output", stated.inputs_per_output, {1, 65536},
                      "blocks taken from every input for one block on every output");
        core.done();
        costs.default_core = stated;
    }
    read_inline(node.child("inline", "instructions between lock operations"), costs.inline_code);
}

program::TileCoordinate read_place(Node& node, const char* key, const char* description) {
    constexpr arch::base::config::Range kCoordinate{0, 1023};
    std::vector<std::int64_t> numbers;
    for (Node& entry : node.list(key, description)) {
        numbers.push_back(entry.integer(kCoordinate));
    }
    if (numbers.size() != 2) {
        node.error(key, "must be a list of two integers");
        numbers.resize(2);
    }
    return {numbers[0], numbers[1]};
}

// The host's words in the file under `key`, whose text becomes part of `provenance`.
std::vector<std::uint32_t> read_words(Node& node, std::string_view key, const std::string& path,
                                      std::string& provenance) {
    std::vector<std::uint32_t> list;
    if (const auto bytes = read_named_file(node, key, path)) {
        provenance += *bytes;
        if (bytes->size() % binary::kWordSize != 0 && !binary::is_hex_text(*bytes)) {
            node.error(key, fmt::format("{}: {} bytes are no 32-bit words, and no hexadecimal text "
                                        "either",
                                        path, bytes->size()));
            return list;
        }
        const binary::Words words = binary::words_of(*bytes, path);
        for (std::size_t i = 0; i < words.size(); ++i) {
            list.push_back(words[i]);
        }
    }
    return list;
}

// object_fifos: {of_in: {depth: 3, via_dma: on, memory: [0, 2]}}
void read_fifos(Node& node, ReadOptions& options) {
    Node fifos = node.child("object_fifos", "in place of what the design says, by symbol");
    for (const std::string& name : fifos.keys()) {
        Node entry = fifos.child(name, "an object FIFO");
        FifoOverride& wanted = options.fifos[name];
        if (entry.offers("depth")) {
            std::int64_t depth = 1;
            entry.optional("depth", depth, {1, 1024}, "elements at each end");
            wanted.depth = depth;
        }
        if (entry.offers("via_dma")) {
            bool via_dma = false;
            entry.optional("via_dma", via_dma, "by DMA where memory could be shared");
            wanted.via_dma = via_dma;
        }
        if (entry.offers("memory")) {
            wanted.memory = read_place(entry, "memory", "the tile two cores share it in");
        }
        entry.done();
    }
    fifos.done();
}

// loops: {45: 8}
void read_loops(Node& node, ReadOptions& options) {
    Node loops = node.child("loops", "runs of a core's loops whose data decides, by their line");
    for (const std::string& name : loops.keys()) {
        const auto line = to_integer(name);
        std::int64_t runs = 0;
        loops.optional(name, runs, {0, 1LL << 40}, "runs of the loop on this line");
        if (line) {
            options.loops[*line] = runs;
        } else {
            loops.error(name, "must be the number of a line");
        }
    }
    loops.done();
}

// tiles: {logical_core: [0, 2]} and whatever else stands in place of what a design says.
void read_overrides(Node& node, const std::string& scenario, DesignFile& design) {
    ReadOptions& options = design.options;
    if (node.offers("object_fifos")) {
        read_fifos(node, options);
    }
    if (node.offers("arguments")) {
        Node arguments = node.child("arguments", "numbers the host hands to the sequence, by name");
        for (const std::string& name : arguments.keys()) {
            arguments.optional(name, options.arguments[name], {-(1LL << 62), 1LL << 62},
                               "an integer argument");
        }
        arguments.done();
    }
    if (node.offers("headers")) {
        Node headers = node.child(
            "headers", "packet ids in the headers that buffers' data begins with, by name");
        for (const std::string& name : headers.keys()) {
            headers.required(name, options.headers[name], kHeaderIds, "id");
        }
        headers.done();
    }
    if (node.offers("words")) {
        Node words = node.child("words", "files of what the host puts into arguments, by name");
        for (const std::string& name : words.keys()) {
            std::string file;
            words.required(name, file, "32-bit words: little-endian bytes or hexadecimal text");
            if (!file.empty()) {
                options.words[name] = read_words(words, name, beside(scenario, file), design.text);
            }
        }
        words.done();
    }
    if (node.offers("loops")) {
        read_loops(node, options);
    }
    if (node.offers("tiles")) {
        Node tiles = node.child("tiles", "column and row of logical tiles, by name");
        for (const std::string& name : tiles.keys()) {
            options.tiles[name] = read_place(tiles, name.c_str(), "column and row");
        }
        tiles.done();
    }
}

// host: [{set_lock: input_lock, value: 1}, {wait_lock: output_lock, value: 1}]
std::vector<HostStep> read_host(Node& node) {
    constexpr std::int64_t kMostLockValue = 63;
    std::vector<HostStep> steps;
    for (Node& entry : node.list("host", "what the host does to locks, after the sequence")) {
        HostStep step;
        const bool sets = entry.offers("set_lock");
        step.wait = entry.offers("wait_lock");
        if (sets) {
            entry.optional("set_lock", step.lock, "name of the lock it sets");
        }
        if (step.wait) {
            entry.optional("wait_lock", step.lock, "name of the lock it waits for");
        }
        if (sets == step.wait) {
            entry.error("", "must hold exactly one of set_lock, wait_lock");
        }
        entry.required("value", step.value, {0, kMostLockValue},
                       "set to; waited for: at least (a binary lock: exactly)");
        entry.done();
        steps.push_back(step);
    }
    return steps;
}

// An empty one would be a design, or a configuration, of nothing.
void require_content(const std::string& shown, const std::string& content) {
    if (content.find_first_not_of(" \t\r\n") == std::string::npos) {
        throw ConfigError(fmt::format("{}:1:1: the file is empty", shown));
    }
}

// The design's text from its binaries. `all`: what has been read, for the provenance.
// Nothing, and an error, where the configuration cannot be read.
std::optional<std::string> from_binaries(Node& node, const binary::NamedBytes& file,
                                         const std::string& configuration, std::int64_t part,
                                         const std::string& scenario, std::string& all) {
    const bool is_sequence = binary::is_sequence(file.bytes);
    if (configuration.empty()) {
        return is_sequence ? binary::decompiled(file, {}) : binary::decompiled({}, file, part);
    }
    if (!is_sequence) {
        throw ConfigError(
            fmt::format("{}: is a configuration itself; design.configuration goes "
                        "with a run-time sequence",
                        file.file));
    }
    const std::string path = beside(scenario, configuration);
    const auto bytes = read_named_file(node, "configuration", path);
    if (!bytes) {
        return std::nullopt;
    }
    const binary::NamedBytes other{std::filesystem::proximate(path).string(), *bytes};
    require_content(other.file, other.bytes);
    all += other.bytes;
    return binary::decompiled(file, other, part);
}

// A file whose cores are in ELF files has a sibling with their bodies.
void read_bodies(const std::string& path, const std::string& text, DesignFile& design) {
    const auto sibling = std::filesystem::path(path).parent_path() / "input_with_addresses.mlir";
    std::error_code error;
    if (text.find("elf_file") == text.npos || sibling == std::filesystem::path(path) ||
        !std::filesystem::is_regular_file(sibling, error)) {
        return;
    }
    const std::string bodies = read_file(sibling.string());
    design.text += bodies;
    design.options.bodies = std::make_shared<const Source>(
        parse_design(bodies, std::filesystem::proximate(sibling).string(), 0));
}

}  // namespace

bool is_design_file(const std::string& file) {
    const std::string extension = std::filesystem::path(file).extension().string();
    if (extension == ".mlir" || extension == ".bin" || extension == ".pdi" ||
        extension == ".xclbin" || extension == ".cdo") {
        return true;
    }
    // Binaries go by many names, and sequences are also written as text of hexadecimal words.
    std::error_code error;
    if (extension == ".yaml" || extension == ".yml" ||
        !std::filesystem::is_regular_file(file, error)) {
        return false;
    }
    const std::string text = read_file(file);
    return binary::is_hex_text(text) || binary::is_binary_design(text);
}

std::string scenario_of_design(const std::string& file) {
    const std::string path = std::filesystem::absolute(file).string();
    return fmt::format(
        "design: {{file: {}}}\n",
        nlohmann::json(path).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

DesignFile read_design_file(Node node, const std::string& scenario) {
    DesignFile design;
    std::string file;
    node.required("file", file,
                  "a design: MLIR text, or a run-time sequence or configuration as "
                  "the compiler writes it (insts.bin; CDO, PDI, xclbin)");
    std::string configuration;
    node.optional("configuration", configuration,
                  "what a run-time sequence (insts.bin) goes with: CDO, PDI or xclbin");
    std::int64_t part = 0;
    node.optional(
        "part", part, {0, 1'000'000},
        "of a file that lines \"// -----\" cut, from 1; left out: all of it; of an xclbin's "
        "configurations; left out: the first");
    node.optional("symbol", design.options.device,
                  "the aie.device to run, where the file holds several");
    node.optional("sequence", design.options.sequence,
                  "the run-time sequence to run, where there are several");
    node.optional("repeat_count", design.options.repeat_count,
                  {{"detect", RepeatCount::Detect},
                   {"after_first", RepeatCount::AfterFirst},
                   {"runs", RepeatCount::Runs}},
                  "what dma_start's repeat_count counts; detect: by who printed the file");
    node.optional("set_up", design.options.set_up, kSetUps,
                  "configurations that the sequence loads: by the firmware, or as the register "
                  "writes that the compiler puts into the sequence instead (--expand-load-pdis)");
    std::string costs;
    node.optional(
        "kernels_file", costs,
        "a file of kernels, cascade, stream, default_kernel, default_core, marked, inline");
    if (!costs.empty()) {
        const std::string path = beside(scenario, costs);
        if (const auto text = read_named_file(node, "kernels_file", path)) {
            Document document = Document::parse(*text, path);
            Node root = document.root();
            read_costs(root, design.options.costs);
            root.done();
            document.finish();
            design.text += document.text();
        }
    }
    read_costs(node, design.options.costs);
    read_overrides(node, scenario, design);
    design.options.host = read_host(node);
    node.done();
    const std::string path = beside(scenario, file);
    const auto read = file.empty() ? std::nullopt : read_named_file(node, "file", path);
    if (read) {
        std::string text = *read;
        design.text += text;
        std::string shown = std::filesystem::proximate(path).string();
        require_content(shown, text);
        if (binary::is_binary_design(text)) {
            const auto decompiled =
                from_binaries(node, {shown, text}, configuration, part, scenario, design.text);
            if (!decompiled) {
                return design;
            }
            text = *decompiled;
            part = 0;
            shown += " (decompiled)";
        } else if (text.starts_with("version https://git-lfs")) {
            throw ConfigError(fmt::format(
                "{}: a pointer of Git LFS in place of the file; git lfs pull fetches that", shown));
        } else if (text.find('\0') != text.npos || binary::is_hex_text(text)) {
            throw ConfigError(
                fmt::format("{}: neither MLIR text nor one of the binaries read here (a run-time "
                            "sequence with its header, which those of before April 2024 do not "
                            "have, CDO, PDI, xclbin)",
                            shown));
        } else if (!configuration.empty()) {
            node.error("configuration",
                       "goes with a run-time sequence (insts.bin); this file is a "
                       "whole design");
        }
        design.source = parse_design(text, shown, part);
        read_bodies(path, text, design);
    }
    return design;
}

std::string device_of_design(const DesignFile& design, std::vector<std::string>& notes) {
    const std::string target = target_of(design.source, design.options);
    if (target == kPlaceholder) {
        notes.push_back(fmt::format(
            "aie.device({}) is a placeholder: taken as npu2; --set device=xdna for npu1", target));
        return "xdna2";
    }
    const std::string device = read_target(target).device;
    if (device.empty()) {
        throw ConfigError(
            fmt::format("{}: no device of ours is meant by aie.device({}); choose "
                        "one with --set device=xdna, xdna2 or vck190",
                        design.source.file, target));
    }
    return device;
}

}  // namespace tilesim::workloads::npu::mlir::design
