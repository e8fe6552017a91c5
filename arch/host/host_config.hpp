// Numbers of the processor beside an accelerator: cores, caches, memory, driver calls.
//
// Sources of the values: the comments in configs/devices/*.yaml.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/base/units.hpp"

namespace tilesim::arch::base::config {
class Node;
}

namespace tilesim::arch::host {

struct HostConfig {
    std::size_t profile = 0;  // host_profile.hpp: what a launch costs on this machine
    std::int64_t cores = 8;
    std::int64_t threads = 1;  // of a core, that share its caches and its ports
    base::Hertz clock{4'000'000'000};
    std::int64_t operations_per_cycle = 32;  // f32, of a core: a multiply-add counts two
    // What compiled loops reach of that with operands in the L1, in thousandths: loops that keep a
    // block of results in registers, and loops that load and store their result each time.
    std::int64_t tiled_permille = 730;
    std::int64_t streaming_permille = 300;
    base::Cycles function{3};                // an exp or tanh in a vector loop, of a core
    base::Cycles transposed_element{4};      // to copy an element across rows
    base::Bytes l1{32'768};                  // of a core
    base::BytesPerCycle l2_bandwidth{32};    // L2 to L1, of a core
    base::Bytes l3{16'777'216};              // of all cores
    base::BytesPerSecond bandwidth{0};       // of all cores, to memory
    base::BytesPerSecond core_bandwidth{0};  // of one core
    base::Bytes line{64};
    base::Femtoseconds flush_line{0};  // write one line back to memory, by one core
    base::Femtoseconds sync_call{0};   // library call that flushes a shared buffer
};

HostConfig read_host_config(base::config::Node node);

}  // namespace tilesim::arch::host
