// The kernels of avx512_memory.csv in the text form: what each letter stands for is said there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "validation/rows.hpp"

namespace tilesim::validation {

constexpr long kL3Bytes = 160L << 20;  // of the machine measured: half of an L3 that others use too

// What a row asks for is what `many` takes beyond `few`, over `count`.
struct KernelPair {
    std::string few;
    std::string many;
    double count = 1;
};

// None where the row is of another kind.
std::optional<KernelPair> memory_kernel(const Record& row);
// A body of AVX-512 instructions, "8x vcvtneps2bf16 + 8x vpermd"; COUNT stands for the repetitions.
std::optional<std::string> vector_kernel(const std::string& name);

// Reads of one 4 KiB block and, in texts one after the other, a timed read of one line after them:
// of which of the lines that follow is it no miss?
struct ProbeKernel {
    std::string reads;                // alone
    std::vector<std::string> probes;  // nearest line first
    bool counts_lines = true;         // otherwise: is the nearest there, 0 or 1
};
std::optional<ProbeKernel> probe_kernel(const Record& row);

}  // namespace tilesim::validation
