#include "sim/describe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "sim/scenario.hpp"
#include "workloads/catalogue/catalogue.hpp"
#include "workloads/npu/mlir/design/design_file.hpp"

namespace tilesim::sim {

using arch::base::config::Document;
using arch::base::config::KeyDescription;
using arch::base::config::Node;

namespace {

// On one line, and as `--set` takes it.
std::string printed(const std::string& value) {
    const bool plain = !value.empty() && value.find('\n') == value.npos;
    return plain ? value : nlohmann::json(value).dump();
}

bool is_scenario(const Node& root) {
    const auto& kinds = workloads::catalogue::problem_kinds();
    return root.has("workload") || root.has("agents") ||
           std::any_of(kinds.begin(), kinds.end(), [&root](const workloads::ProblemKind* kind) {
               return kind->at_root() && kind->found(root);
           });
}

// `prefix`: of its keys where a scenario sets them. A memory under a device is `nested`: the
// device's key names its file, and its parts have the same prefix. `left_out`: a key that is not
// its own.
std::string table_of(const Document& document, const std::string& prefix = {}, bool nested = false,
                     const std::string& left_out = {}) {
    std::string text;
    for (const KeyDescription& key : document.descriptions()) {
        if (key.path == left_out || (nested && (key.path == "name" || key.path == "kind"))) {
            continue;
        }
        const std::string path = prefix + key.path;
        if (key.type == "map" || key.type == "list") {
            text += fmt::format("{:<44} {}\n", path + ":", key.description);
            continue;
        }
        const std::string changed = key.value == key.default_value || key.default_value.empty()
                                        ? ""
                                        : fmt::format(" (default {})", key.default_value);
        const std::string allowed =
            !key.range.empty() ? key.range : fmt::format("{}", fmt::join(key.choices, "|"));
        text +=
            fmt::format("{:<44} {:<16}{} [{}] {}{}\n", path, printed(key.value), changed, allowed,
                        key.description, key.source.empty() ? "" : " -- " + key.source);
    }
    return text;
}

}  // namespace

std::string description(const std::string& device_or_file,
                        const std::vector<std::pair<std::string, std::string>>& overrides) {
    bool scenario = false;
    if (workloads::npu::mlir::design::is_design_file(device_or_file)) {
        scenario = true;
    } else if (device_or_file.find('/') != std::string::npos || device_or_file.ends_with(".yaml")) {
        Document probe = Document::load(device_or_file);
        scenario = is_scenario(probe.root());
        if (!scenario) {
            refuse_sweeps_and_models(probe.root(), device_or_file);
        }
    }
    std::string text;
    if (scenario) {
        const Scenario loaded = load_scenario(device_or_file, overrides);
        text += table_of(*loaded.document);
        for (const NamedDevice& named : devices_of(loaded)) {
            const std::vector<Document>& documents = named.device.documents;
            // Agents share the first one's memory, whatever theirs would be.
            const bool agent = named.prefix != kDevicePrefix;
            for (std::size_t i = 0;
                 i < (agent ? std::min<std::size_t>(1, documents.size()) : documents.size()); ++i) {
                text += table_of(documents[i], named.prefix, i > 0, agent ? "memory" : "");
            }
        }
        return text;
    }
    Overrides own;  // as the table has them, or as a scenario does
    for (const auto& [key, value] : overrides) {
        own.emplace_back(key.starts_with(kDevicePrefix) ? key.substr(kDevicePrefix.size()) : key,
                         value);
    }
    const workloads::Device device = workloads::catalogue::load_device(device_or_file, own);
    for (std::size_t i = 0; i < device.documents.size(); ++i) {
        text += table_of(device.documents[i], {}, i > 0);
    }
    return text;
}

}  // namespace tilesim::sim
