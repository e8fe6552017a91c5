// The dimensions of a first-generation descriptor: two counters whose steps add up.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arch/npu/control/register_layout.hpp"
#include "arch/npu/control/word_fields.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::control {

// Dimensions that visit the same words. Between two words at which a counter steps or wraps the
// address is linear, so that each such stretch is a dimension; nothing where one stretch does not
// fill the next, or where there are more of them than a descriptor can have. `length`: words.
std::optional<std::vector<program::Dimension>> counted_dimensions(const DescriptorLayout& layout,
                                                                  const FieldReader& read,
                                                                  std::int64_t length);
// The counters of at most two dimensions; what follows them goes on linearly.
void write_counters(const DescriptorLayout& layout, std::vector<program::Dimension> dimensions,
                    FieldWriter& write);

}  // namespace tilesim::arch::npu::control
