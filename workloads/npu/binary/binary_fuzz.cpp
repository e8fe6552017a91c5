// libFuzzer target: any bytes as a run-time sequence and as a configuration. They must be read or
// refused.
#include <cstddef>
#include <cstdint>
#include <string>

#include "arch/base/config.hpp"
#include "workloads/npu/binary/decompiled.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tilesim::workloads::npu::binary;
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    for (const bool sequence : {true, false}) {
        try {
            const NamedBytes named{"fuzz", bytes};
            is_binary_design(bytes);
            decompiled(sequence ? named : NamedBytes{}, sequence ? NamedBytes{} : named);
        } catch (const tilesim::arch::base::config::ConfigError&) {
            // Refused: fine.
        }
    }
    return 0;
}
