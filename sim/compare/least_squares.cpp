#include "sim/compare/least_squares.hpp"

#include <cmath>
#include <numeric>

namespace tilesim::sim::compare {

namespace {

double dot(const Vector& a, const Vector& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// Gauss with the largest pivot; the matrix is positive definite.
Vector solved(std::vector<Vector> matrix, Vector right) {
    const std::size_t n = right.size();
    for (std::size_t i = 0; i < n; ++i) {
        std::size_t pivot = i;
        for (std::size_t row = i + 1; row < n; ++row) {
            pivot = std::abs(matrix[row][i]) > std::abs(matrix[pivot][i]) ? row : pivot;
        }
        std::swap(matrix[i], matrix[pivot]);
        std::swap(right[i], right[pivot]);
        for (std::size_t row = i + 1; row < n; ++row) {
            const double factor = matrix[row][i] / matrix[i][i];
            for (std::size_t column = i; column < n; ++column) {
                matrix[row][column] -= factor * matrix[i][column];
            }
            right[row] -= factor * right[i];
        }
    }
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t column = i + 1; column < n; ++column) {
            right[i] -= matrix[i][column] * right[column];
        }
        right[i] /= matrix[i][i];
    }
    return right;
}

}  // namespace

double sum_of_squares(const Vector& values) {
    return dot(values, values);
}

Vector least_squares_step(const std::vector<Vector>& columns, const Vector& errors,
                          std::optional<std::size_t> left_out) {
    std::vector<Vector> without = columns;
    Vector right_rows = errors;
    if (left_out) {
        for (Vector& column : without) {
            column[*left_out] = 0;
        }
        right_rows[*left_out] = 0;
    }
    constexpr double kDamping = 1e-6;
    std::vector<Vector> matrix(without.size(), Vector(without.size()));
    Vector right(without.size());
    for (std::size_t i = 0; i < without.size(); ++i) {
        for (std::size_t j = 0; j < without.size(); ++j) {
            matrix[i][j] = dot(without[i], without[j]);
        }
        matrix[i][i] += kDamping * matrix[i][i] + 1e-12;
        right[i] = -dot(without[i], right_rows);
    }
    return solved(std::move(matrix), std::move(right));
}

std::pair<double, std::size_t> own_share(const Vector& column, const std::vector<Vector>& others) {
    const double length = std::sqrt(sum_of_squares(column));
    if (others.empty() || length == 0) {
        return {1.0, 0};
    }
    const Vector mix = least_squares_step(others, column);
    Vector rest = column;
    std::size_t nearest = 0;
    double most = -1;
    for (std::size_t i = 0; i < others.size(); ++i) {
        const double other = std::sqrt(sum_of_squares(others[i]));
        const double along = other > 0 ? std::abs(dot(column, others[i])) / other : 0;
        if (along > most) {
            most = along;
            nearest = i;
        }
        for (std::size_t row = 0; row < rest.size(); ++row) {
            rest[row] += mix[i] * others[i][row];
        }
    }
    return {std::sqrt(sum_of_squares(rest)) / length, nearest};
}

}  // namespace tilesim::sim::compare
