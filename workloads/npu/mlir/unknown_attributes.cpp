#include "workloads/npu/mlir/unknown_attributes.hpp"

#include <fmt/format.h>

#include <string>

namespace tilesim::workloads::npu::mlir {

void note_unknown_attributes(Lowering& lowering, const Operation& operation,
                             const std::set<std::string_view>& known) {
    for (const Item& group : operation.items) {
        if (!group.opens("{")) {
            continue;
        }
        for (std::size_t i = 0; i < group.items.size(); ++i) {
            const bool begins = i == 0 || group.items[i - 1].is(",");
            const std::string& key = group.items[i].token.text;
            if (begins && group.items[i].kind == Item::Kind::Token && !known.contains(key)) {
                lowering.note(fmt::format("attribute '{}' of {} is not known here and left out",
                                          key, operation.name));
            }
        }
    }
}

}  // namespace tilesim::workloads::npu::mlir
