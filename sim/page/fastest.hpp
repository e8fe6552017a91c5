// Which device is fastest where: the points of a sweep over `device`, side by side.
#pragma once

#include <nlohmann/json.hpp>

namespace tilesim::sim::page {

// {"axes": the other axes, "devices": [...], "rows": [{"settings": [...], "time_ns": [one a device,
// null where it did not end well], "fastest": "xdna2"}]}; null where `device` is no axis.
nlohmann::ordered_json fastest_devices(const nlohmann::ordered_json& axes,
                                       const nlohmann::ordered_json& points);

}  // namespace tilesim::sim::page
