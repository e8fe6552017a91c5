// What simulating a point costs, from others that were tried: a Gaussian process on logarithms.
//
// Expected before anything is known: cost grows with the work. Each number a sweep changes may add
// a power of its own, each word a factor, and neighbours are alike beyond that.
#pragma once

#include <cstddef>
#include <vector>

namespace tilesim::sim::explore {

// What of a point its cost may depend on.
struct PointFeatures {
    double work = 0;                 // logarithm: the problem's size
    std::vector<double> numbers;     // logarithms of the numbers the sweep changes
    std::vector<std::size_t> words;  // which of its words
};

struct TriedPoint {
    PointFeatures features;
    double wall_s = 0;
};

class CostLaw {
  public:
    explicit CostLaw(std::vector<TriedPoint> tried);

    bool empty() const { return tried_.empty(); }
    struct Expected {
        double wall_s = 0;
        double log_error = 0;  // standard deviation of its logarithm
    };
    Expected at(const PointFeatures& point) const;

  private:
    std::vector<double> alike(const PointFeatures& point) const;
    std::vector<double> forward(std::vector<double> right) const;

    std::vector<TriedPoint> tried_;
    double level_ = 0;                        // mean logarithm of seconds per unit of work
    std::vector<std::vector<double>> lower_;  // Cholesky factor of the covariances
    std::vector<double> off_;                 // what each is off the level, through that factor
};

}  // namespace tilesim::sim::explore
