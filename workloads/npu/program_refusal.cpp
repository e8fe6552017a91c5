#include "workloads/npu/program_refusal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "arch/npu/check/ready_program.hpp"

namespace tilesim::workloads::npu {

using arch::base::config::ConfigError;
using arch::base::config::Document;
using arch::npu::check::ProgramRefused;
using arch::npu::check::Shortfall;

namespace {

// Whoever changed a limit hears of it; others chose a mapping that the device is too small for.
std::string text_of(const Shortfall& shortfall, const Device& device) {
    const std::string why = shortfall.why.empty() ? "" : fmt::format(" ({})", shortfall.why);
    for (const Document& document : device.documents) {
        if (document.overrides(shortfall.key)) {
            return document.located(fmt::format("{}: must be {} for this mapping{}, got {}",
                                                shortfall.key, shortfall.needed, why,
                                                shortfall.found));
        }
    }
    return fmt::format("mapping: device.{} must be {} for it{}, '{}' has {}", shortfall.key,
                       shortfall.needed, why, device.name, shortfall.found);
}

std::string first_of(const std::vector<std::string>& problems) {
    return problems.size() == 1
               ? problems.front()
               : fmt::format("{}; and {} more", problems.front(), problems.size() - 1);
}

}  // namespace

ConfigError refusal_of_mapping(const ConfigError& error, const Device& device) {
    const auto* refused = dynamic_cast<const ProgramRefused*>(&error);
    if (refused == nullptr || refused->shortfalls().empty()) {
        return ConfigError(
            fmt::format("mapping: its program cannot run: {}",
                        refused == nullptr ? error.what() : first_of(refused->problems())));
    }
    std::vector<std::string> lines;
    for (const Shortfall& each : refused->shortfalls()) {
        lines.push_back(text_of(each, device));
    }
    return ConfigError(fmt::format("{}", fmt::join(lines, "\n")));
}

}  // namespace tilesim::workloads::npu
