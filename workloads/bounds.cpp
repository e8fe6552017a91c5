#include "workloads/bounds.hpp"

#include <algorithm>

namespace tilesim::workloads {

double GemmBounds::tightest_ns() const {
    return std::max({compute_ns, stream_ns, memory_ns});
}

const char* GemmBounds::binding() const {
    const double tightest = tightest_ns();
    return tightest == compute_ns ? "compute" : tightest == stream_ns ? "stream" : "memory";
}

}  // namespace tilesim::workloads
