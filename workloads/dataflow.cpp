#include "workloads/dataflow.hpp"

namespace tilesim::workloads {

void RunOptions::keep_host_time() const {
    if (std::chrono::steady_clock::now() >= until) {
        throw HostTimeOver();
    }
}

}  // namespace tilesim::workloads
