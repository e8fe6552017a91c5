#include "arch/npu/program/switch_port.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace tilesim::arch::npu::program {

namespace {

constexpr std::array<std::string_view, 9> kBundleNames{
    // in the order of Bundle
    "core", "dma", "ctrl", "fifo", "south", "west", "north", "east", "trace"};

}  // namespace

std::string_view name_of(Bundle bundle) {
    return kBundleNames[static_cast<std::size_t>(bundle)];
}

std::optional<SwitchPort> parse_port(std::string_view text) {
    for (std::size_t i = 0; i < kBundleNames.size(); ++i) {
        if (!text.starts_with(kBundleNames[i]) || text.size() == kBundleNames[i].size()) {
            continue;
        }
        SwitchPort port{static_cast<Bundle>(i), 0};
        const char* end = text.data() + text.size();
        const auto parsed = std::from_chars(text.data() + kBundleNames[i].size(), end, port.index);
        if (parsed.ec == std::errc{} && parsed.ptr == end && port.index >= 0) {
            return port;
        }
    }
    return std::nullopt;
}

std::string name_of(SwitchPort port) {
    return fmt::format("{}{}", name_of(port.bundle), port.index);
}

}  // namespace tilesim::arch::npu::program
