#include "workloads/device.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/core/demangle.hpp>

namespace tilesim::workloads {

// Sections are named by their types: whoever asks for one wrote it in C++.
void Device::refuse(const std::type_info& wanted) const {
    std::vector<std::string> there;
    for (const std::any& section : sections_) {
        there.push_back(boost::core::demangle(section.type().name()));
    }
    throw arch::base::config::ConfigError(fmt::format(
        "device '{}' has no {}; it has {}", name, boost::core::demangle(wanted.name()),
        there.empty() ? "nothing but a memory" : fmt::format("{}", fmt::join(there, ", "))));
}

}  // namespace tilesim::workloads
