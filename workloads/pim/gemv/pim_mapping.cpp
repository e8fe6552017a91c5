// The keys of a mapping.
#include <fmt/format.h>

#include <bit>
#include <variant>

#include "arch/base/config.hpp"
#include "arch/base/quantity.hpp"
#include "workloads/pim/gemv/pim_placement.hpp"

namespace tilesim::workloads::pim::gemv {

using arch::base::config::Node;

namespace {

void read_phases(Node& node, PimMapping& mapping) {
    node.optional("phases", mapping.phases, {1, 100'000},
                  "parts of the work; between them the memory serves ordinary requests");
    node.optional("between", mapping.between, {1, 1'000'000'000'000'000},
                  "time for ordinary requests between two phases");
}

// Rows of a tile: a power of two, `lanes` or `auto`.
void read_tile(Node& node, PimMapping& mapping) {
    std::string rows = mapping.tile_rows == 0 ? "auto"
                       : mapping.tile_rows == PimMapping::kLanes
                           ? "lanes"
                           : std::to_string(mapping.tile_rows);
    node.optional("tile_rows", rows,
                  "rows of a tile: auto (the most that pad no further than one row does), lanes "
                  "(of a word), or a number");
    const auto parsed = arch::base::config::parse_integer(rows);
    const auto* number = std::get_if<std::int64_t>(&parsed);
    const bool given = number != nullptr && *number >= 1 &&
                       std::has_single_bit(static_cast<std::uint64_t>(*number));
    if (rows != "auto" && rows != "lanes" && !given) {
        node.error("tile_rows",
                   fmt::format("must be auto, lanes or a power of two, got '{}'", rows));
    }
    mapping.tile_rows = rows == "auto"    ? 0
                        : rows == "lanes" ? PimMapping::kLanes
                        : given           ? *number
                                          : 0;
}

}  // namespace

void read_pimnast(Node& node, PimMapping& mapping) {
    read_phases(node, mapping);
    node.optional("input_registers", mapping.input_registers, {1, 4096},
                  "registers that hold the input vector");
    std::string degree = mapping.cr_degree == 0 ? "max" : std::to_string(mapping.cr_degree);
    node.optional("cr_degree", degree, "row blocks of a pass, or max");
    const auto parsed = arch::base::config::parse_integer(degree);
    const auto* number = std::get_if<std::int64_t>(&parsed);
    if (degree != "max" && (number == nullptr || *number < 1)) {
        node.error("cr_degree", fmt::format("must be max or at least 1, got '{}'", degree));
    }
    mapping.cr_degree = degree == "max" || number == nullptr ? 0 : *number;
    node.optional("split_k", mapping.split_k, {1, 64}, "parts of K on their own channels");
    if (!std::has_single_bit(static_cast<std::uint64_t>(mapping.split_k))) {
        node.error("split_k", fmt::format("must be a power of two, got {}", mapping.split_k));
    }
    read_tile(node, mapping);
    node.optional("walk", mapping.walk,
                  {{"column_row", PimMapping::Walk::ColumnRow},
                   {"row_column", PimMapping::Walk::RowColumn},
                   {"column", PimMapping::Walk::Column}},
                  "order of tiles: cr_degree row blocks, then along K; each row block by itself; "
                  "all row blocks, then along K");
    node.optional("padding", mapping.padding, "whether rows and columns may be padded");
    node.done();
}

void read_column_major(Node& node, PimMapping& mapping) {
    mapping.placement = PimMapping::Placement::ColumnMajor;
    mapping.input_registers = 1;
    read_phases(node, mapping);
    node.optional(
        "order", mapping.order,
        {{"address", PimMapping::Order::Address}, {"outputs", PimMapping::Order::Outputs}},
        "of a bank's tiles: as they lie, outputs spilled and read back where the next "
        "tile has others; or those of the same outputs together, rows opened again");
    node.done();
}

}  // namespace tilesim::workloads::pim::gemv
