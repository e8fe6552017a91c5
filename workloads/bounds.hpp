// Analytical bounds of a matrix product, printed beside every simulated result.
#pragma once

namespace tilesim::workloads {

struct GemmBounds {
    double compute_ns = 0;  // kernel calls alone, back to back on every core
    double stream_ns = 0;   // the A or B stream of a core or its shim at its full rate
    double memory_ns = 0;   // A, B and C bytes at the rate of DRAM, or of the way to it if less
    double dram_bytes = 0;
    double kernel_macs_per_cycle = 0;  // of one call
    double peak_macs_per_cycle = 0;    // of a core's mmul

    double tightest_ns() const;
    const char* binding() const;
};

}  // namespace tilesim::workloads
