#include "workloads/npu/mlir/design/device_names.hpp"

#include <utility>

namespace tilesim::workloads::npu::mlir::design {

namespace {

// A target begins with the left name; what follows ("_4col") is a partition of the same array.
constexpr std::pair<std::string_view, std::string_view> kDeviceOf[] = {
    {"npu2", "xdna2"}, {"npu4", "xdna2"},      {"npu1", "xdna"},       {"npu", "xdna"},
    {"ipu", "xdna"},   {"xcvc1902", "vck190"}, {"xcve2802", "ve2802"}, {"xcve2302", "ve2302"}};

}  // namespace

std::string device_of(std::string_view target) {
    for (const auto& [prefix, device] : kDeviceOf) {
        if (target == prefix || (target.starts_with(prefix) && target[prefix.size()] == '_')) {
            return std::string{device};
        }
    }
    return "";
}

}  // namespace tilesim::workloads::npu::mlir::design
