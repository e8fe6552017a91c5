// Small dense least squares: few unknowns, some dozens of rows.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace tilesim::sim::compare {

using Vector = std::vector<double>;

double sum_of_squares(const Vector& values);

// The step x for which errors + sum of x[i] * columns[i] is smallest, by the normal equations with
// a little damping; without row `left_out` where one is given.
Vector least_squares_step(const std::vector<Vector>& columns, const Vector& errors,
                          std::optional<std::size_t> left_out = std::nullopt);

// The share of a column's length that no combination of the others has, 0..1, and which of the
// others points most in its direction.
std::pair<double, std::size_t> own_share(const Vector& column, const std::vector<Vector>& others);

}  // namespace tilesim::sim::compare
