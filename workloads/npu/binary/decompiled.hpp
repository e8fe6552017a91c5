// Binaries of a compiler as the design they came from, in the text the reader of designs takes: the
// run-time sequence (insts.bin) and the configuration it goes with (CDO, PDI, xclbin).
//
// Ignores: the cores' programs; what cores do is stated as kernel costs.
#pragma once

#include <cstdint>
#include <string>

namespace tilesim::workloads::npu::binary {

// Whether a file is one of these by what it holds.
bool is_binary_design(const std::string& bytes);
// Of those, a run-time sequence rather than a configuration.
bool is_sequence(const std::string& bytes);
// `sequence` or `configuration` may be empty; `part` of the latter as in read_configuration. Throws
// ConfigError, naming the files.
struct NamedBytes {
    std::string file;
    std::string bytes;
};
std::string decompiled(const NamedBytes& sequence, const NamedBytes& configuration,
                       std::int64_t part = 0);

}  // namespace tilesim::workloads::npu::binary
