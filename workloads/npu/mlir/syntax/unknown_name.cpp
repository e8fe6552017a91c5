#include "workloads/npu/mlir/syntax/unknown_name.hpp"

#include <fmt/format.h>

#include "arch/base/config.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

ReadError unknown_symbol(Location where, std::string_view kind, const std::string& name,
                         const std::vector<std::string>& known) {
    return {where, fmt::format("no {} is named @{}{}", kind, name,
                               arch::base::config::did_you_mean(name, known, "@", ""))};
}

}  // namespace tilesim::workloads::npu::mlir::syntax
