#include "workloads/dataflow.hpp"

namespace tilesim::workloads {

void RunOptions::check_host_time() const {
    if (std::chrono::steady_clock::now() >= until) {
        throw HostTimeOver();
    }
}

}  // namespace tilesim::workloads
