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

std::string table_of(const Document& document) {
    std::string text;
    for (const KeyDescription& key : document.descriptions()) {
        if (key.type == "map" || key.type == "list") {
            text += fmt::format("{:<44} {}\n", key.path + ":", key.description);
            continue;
        }
        const std::string changed = key.value == key.default_value || key.default_value.empty()
                                        ? ""
                                        : fmt::format(" (default {})", key.default_value);
        const std::string allowed =
            !key.range.empty() ? key.range : fmt::format("{}", fmt::join(key.choices, "|"));
        text += fmt::format("{:<44} {:<16}{} [{}] {}{}\n", key.path, key.value, changed, allowed,
                            key.description, key.source.empty() ? "" : " -- " + key.source);
    }
    return text;
}

}  // namespace

std::string description(const std::string& device_or_file,
                        const std::vector<std::pair<std::string, std::string>>& overrides) {
    std::vector<Document> documents;
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
        documents = loaded.device.documents;
    } else {
        documents = workloads::catalogue::load_device(device_or_file, overrides).documents;
    }
    for (const Document& document : documents) {
        text += table_of(document);
    }
    return text;
}

}  // namespace tilesim::sim
