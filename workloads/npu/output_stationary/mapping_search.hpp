// Which output-stationary mappings there are: every core tile in steps that covers the product or
// makes aligned runs, every block along K and both bufferings of C that fit on all columns and rows
// of cores; fewer tiles on those parts of them that could be as fast.
#pragma once

#include <vector>

#include "workloads/bounds.hpp"
#include "workloads/npu/output_stationary/expected_time.hpp"
#include "workloads/npu/output_stationary/output_stationary_mapping.hpp"

namespace tilesim::workloads::npu::output_stationary {

struct TileCandidate {
    OutputStationaryMapping mapping;
    GemmBounds bounds;
    double expected_ns = 0;
    double least_ns = 0;
};

// Tiles beyond what the problem has for a core only add padding: they are left out. What `given`
// says of columns, rows, the tile and its block along K stays as it is, where it is not 0; of other
// keys only those are changed that a search starts with (buffers of C, reach).
std::vector<TileCandidate> candidates_of(const SearchContext& context,
                                         const OutputStationaryMapping& given = {});

// The mapping with one of its other keys changed: buffers, transfers ahead, tiles between the
// steps, half the columns or rows (with tiles of twice the size, too); those that fit and differ in
// what they do.
std::vector<TileCandidate> variants_of(const SearchContext& context,
                                       const OutputStationaryMapping& mapping);

}  // namespace tilesim::workloads::npu::output_stationary
