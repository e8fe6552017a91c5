// For tests: a processor whose numbers are pairwise different primes.
#pragma once

#include "arch/host/host_config.hpp"

namespace tilesim::arch::host::testing {

inline HostConfig host() {
    HostConfig config;
    config.cores = 3;
    config.clock = base::Hertz{1'700'000'000};
    config.operations_per_cycle = 19;
    config.tiled_permille = 523;
    config.streaming_permille = 109;
    config.function = base::Cycles{7};
    config.transposed_element = base::Cycles{5};
    config.l1 = base::Bytes{1021};
    config.l2_bandwidth = base::BytesPerCycle{31};
    config.l3 = base::Bytes{40'009};
    config.bandwidth = base::BytesPerSecond{29'000'000'000};
    config.core_bandwidth = base::BytesPerSecond{11'000'000'000};
    config.line = base::Bytes{67};
    config.flush_line = base::Femtoseconds{13'000'000};
    config.sync_call = base::Femtoseconds{499'000'000};
    return config;
}

// The same figures as they stand in the formulas: a cycle and a byte in nanoseconds.
constexpr double kCores = 3;
constexpr double kCycle = 1 / 1.7;
constexpr double kByte = 1 / 29.0;        // all cores
constexpr double kByteOfCore = 1 / 11.0;  // one core
constexpr double kTiled = 19 * 0.523;     // operations a cycle
constexpr double kStreaming = 19 * 0.109;

}  // namespace tilesim::arch::host::testing
