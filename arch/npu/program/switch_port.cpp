#include "arch/npu/program/switch_port.hpp"

#include <fmt/format.h>

#include <charconv>

#include "arch/base/name_table.hpp"

namespace tilesim::arch::npu::program {

namespace {

constexpr base::NameTable<Bundle> kBundles{{
    {"core", Bundle::Core},
    {"dma", Bundle::Dma},
    {"ctrl", Bundle::Control},
    {"fifo", Bundle::Fifo},
    {"south", Bundle::South},
    {"west", Bundle::West},
    {"north", Bundle::North},
    {"east", Bundle::East},
    {"trace", Bundle::Trace},
}};

}  // namespace

std::string_view name_of(Bundle bundle) {
    return kBundles[bundle];
}

std::optional<SwitchPort> parse_port(std::string_view text) {
    for (const auto& [name, bundle] : kBundles) {
        if (!text.starts_with(name) || text.size() == name.size()) {
            continue;
        }
        SwitchPort port{bundle, 0};
        const char* end = text.data() + text.size();
        const auto parsed = std::from_chars(text.data() + name.size(), end, port.index);
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
