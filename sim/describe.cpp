#include "sim/describe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "sim/scenario.hpp"
#include "workloads/catalogue/catalogue.hpp"
#include "workloads/npu/mlir/design/design_file.hpp"

namespace tilesim::sim {

using arch::base::config::Document;
using arch::base::config::KeyDescription;

namespace {

// `prefix`: of its keys where a scenario sets them. A memory under a device is `nested`: the
// device's key names its file, and its parts have the same prefix.
std::string table_of(const Document& document, const std::string& prefix = {},
                     bool nested = false) {
    std::string text;
    for (const KeyDescription& key : document.descriptions()) {
        if (nested && (key.path == "name" || key.path == "kind")) {
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
        text += fmt::format("{:<44} {:<16}{} [{}] {}{}\n", path, key.value, changed, allowed,
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
        const Document probe = Document::load(device_or_file);
        Document copy = probe;
        scenario =
            copy.root().has("workload") || copy.root().has("design") || copy.root().has("agents");
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
                text += table_of(documents[i], named.prefix, i > 0);
            }
        }
        return text;
    }
    const workloads::Device device = workloads::catalogue::load_device(device_or_file, overrides);
    for (const Document& document : device.documents) {
        text += table_of(document);
    }
    return text;
}

}  // namespace tilesim::sim
