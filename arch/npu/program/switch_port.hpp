// The ports of the stream switches, by name.
//
// A port is a bundle and an index: "north3" as a slave is where words from the north enter, as a
// master where words leave to the north.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tilesim::arch::npu::program {

enum class Bundle { Core, Dma, Control, Fifo, South, West, North, East, Trace };

struct SwitchPort {
    Bundle bundle = Bundle::Dma;
    std::int64_t index = 0;
    auto operator<=>(const SwitchPort&) const = default;
};

std::string_view name_of(Bundle bundle);
// "south3"; nothing when the text names no port.
std::optional<SwitchPort> parse_port(std::string_view text);
std::string name_of(SwitchPort port);

}  // namespace tilesim::arch::npu::program
