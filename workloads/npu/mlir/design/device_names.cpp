#include "workloads/npu/mlir/design/device_names.hpp"

#include <charconv>
#include <optional>

namespace tilesim::workloads::npu::mlir::design {

namespace {

struct Array {
    std::string_view name;
    std::string_view device;
    std::int64_t partitions = 0;  // it has those of 1 to so many columns; 0: none
    std::int64_t columns = 0;     // of our device; 0: all
};
constexpr Array kArrays[] = {{"npu2", "xdna2", 8},
                             {"npu4", "xdna2", 8},
                             {"npu1", "xdna", 4},
                             {"npu", "xdna", 4},
                             {"ipu", "xdna", 4},
                             {"xcvc1902", "vck190"},
                             {"xcve2802", "ve2802"},
                             {"xcve2302", "ve2302"},
                             {"xcve3858", "ve3858"},
                             // The same array, 24 of its 36 columns wide (96 of 144 cores).
                             {"xcve3558", "ve3858", 0, 24}};

// The columns in "_4col"; 0 for nothing at all.
std::optional<std::int64_t> columns_in(std::string_view suffix) {
    constexpr std::string_view kUnit = "col";
    std::int64_t columns = 0;
    if (suffix.empty()) {
        return columns;
    }
    const char* const end = suffix.data() + suffix.size();
    const auto [behind, error] = std::from_chars(suffix.data() + 1, end, columns);
    const bool counts = suffix.front() == '_' && error == std::errc{} && columns > 0 &&
                        std::string_view(behind, end) == kUnit;
    return counts ? std::optional{columns} : std::nullopt;
}

}  // namespace

Target read_target(std::string_view name) {
    for (const Array& array : kArrays) {
        if (name.starts_with(array.name)) {
            const auto columns = columns_in(name.substr(array.name.size()));
            if (columns && *columns <= array.partitions) {
                return {std::string{array.device}, *columns > 0 ? *columns : array.columns};
            }
        }
    }
    return {};
}

}  // namespace tilesim::workloads::npu::mlir::design
