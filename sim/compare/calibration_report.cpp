// What `tilesim calibrate` prints and writes.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "arch/base/config.hpp"
#include "sim/compare/calibration.hpp"
#include "sim/explore/yaml_value.hpp"
#include "sim/write_file.hpp"
#include "workloads/catalogue/catalogue.hpp"
#include "workloads/paths.hpp"

namespace tilesim::sim::compare {

namespace {

constexpr std::string_view kMemory = "memory.";

bool in_memory(const FittedParameter& parameter) {
    return parameter.key.starts_with(kMemory);
}

// As the device's file names it.
std::string memory_of(const workloads::Device& device) {
    std::string name;
    arch::base::config::Document document = device.documents.front();
    document.root().optional("memory", name, "");
    return name;
}

}  // namespace

std::string to_table(const Calibration& calibration) {
    std::string text = fmt::format("{:<36} {:>14} {:>14} {:>10} {:>28} {:>12}\n", "parameter",
                                   "before", "fitted", "known to", "range", "sensitivity");
    for (const FittedParameter& each : calibration.parameters) {
        const bool at_end = each.value == each.least || each.value == each.most;
        text += fmt::format("{:<36} {:>14} {:>14} {:>8.1f} % {:>28} {:>12.3f}{}\n", each.key,
                            each.text(each.before), each.text(each.value), each.known_percent,
                            each.text(each.least) + ".." + each.text(each.most), each.sensitivity,
                            at_end ? "  at the end of its range" : "");
    }
    constexpr double kNanosecondsPerMicrosecond = 1e3;
    text += fmt::format("\n{:<28} {:>14} {:>10} {:>10} {:>10}\n", "run", "measured us", "before",
                        "fitted", "left out");
    for (const CalibratedRun& run : calibration.runs) {
        text += fmt::format("{:<28} {:>14.3f} {:>+9.2f}% {:>+9.2f}% {:>+9.2f}%\n", run.name,
                            run.measured_ns / kNanosecondsPerMicrosecond, run.before_percent,
                            run.after_percent, run.left_out_percent);
    }
    return text + fmt::format(
                      "mean error: {:.2f} % before, {:.2f} % fitted, {:.2f} % of runs the fit has "
                      "not seen (leave one out); {} simulations\n",
                      calibration.mean_error(&CalibratedRun::before_percent),
                      calibration.mean_error(&CalibratedRun::after_percent),
                      calibration.mean_error(&CalibratedRun::left_out_percent),
                      calibration.simulations);
}

nlohmann::ordered_json to_json(const Calibration& calibration) {
    using Json = nlohmann::ordered_json;
    Json parameters = Json::array();
    for (const FittedParameter& each : calibration.parameters) {
        parameters.push_back({{"key", each.key},
                              {"before", each.text(each.before)},
                              {"fitted", each.text(each.value)},
                              {"known_percent", each.known_percent},
                              {"least", each.text(each.least)},
                              {"most", each.text(each.most)},
                              {"sensitivity", each.sensitivity}});
    }
    Json runs = Json::array();
    for (const CalibratedRun& run : calibration.runs) {
        runs.push_back({{"run", run.name},
                        {"measured_ns", run.measured_ns},
                        {"before_percent", run.before_percent},
                        {"fitted_percent", run.after_percent},
                        {"left_out_percent", run.left_out_percent}});
    }
    return {{"device", calibration.device},
            {"parameters", std::move(parameters)},
            {"runs", std::move(runs)},
            {"mean_left_out_percent", calibration.mean_error(&CalibratedRun::left_out_percent)},
            {"simulations", calibration.simulations}};
}

std::string memory_file_beside(const std::string& file) {
    return std::filesystem::path{file}.replace_extension(".memory.yaml").string();
}

void write_device(const Calibration& calibration, const std::string& against,
                  const std::string& file) {
    namespace fs = std::filesystem;
    const workloads::Device device = workloads::catalogue::load_device(calibration.device, {});
    const std::string comment =
        fmt::format("calibrated on {}", fs::path{against}.filename().string());
    std::string own = device.documents.front().text();
    const bool alone = device.documents.size() == 1;  // the memory is the device itself
    std::string memory = device.documents.back().text();
    bool memory_changed = false;
    for (const FittedParameter& each : calibration.parameters) {
        const bool other = in_memory(each) && !alone;
        std::string& text = other ? memory : own;
        text = explore::with_value(text, each.key, each.text(each.value), comment);
        memory_changed = memory_changed || other;
    }
    if (memory_changed) {
        const std::string beside = memory_file_beside(file);
        sim::write_file(beside, memory);
        own = explore::with_value(own, "memory", fs::path{beside}.filename().string(),
                                  "its memory, " + comment);
    } else if (const std::string named = alone ? "" : memory_of(device);
               workloads::is_path(named) && !named.starts_with('/')) {
        // Counted from the folder of the device this one was made of.
        arch::base::config::Document its_memory = device.documents.back();
        own = explore::with_value(own, "memory", fs::absolute(its_memory.root().file()).string(),
                                  "its memory");
    }
    sim::write_file(file, own);
}

}  // namespace tilesim::sim::compare
