#include "arch/host/host_config.hpp"

#include "arch/base/config.hpp"
#include "arch/host/host_profile.hpp"

namespace tilesim::arch::host {

using base::config::Node;
using base::config::Range;

HostConfig read_host_config(Node node) {
    HostConfig config;
    constexpr std::int64_t kMega = 1'000'000;
    const Range permille{1, 1000};
    const Range bandwidth{100 * kMega, 100'000'000 * kMega};
    const Range cycles{0, 100'000};
    constexpr std::int64_t kSecond = 1'000'000'000'000'000;
    node.optional("profile", config.profile, host_profile_names(),
                  "machine whose launch cost and clocks stand in for the device file's");
    node.required("cores", config.cores, {1, 4096}, "cores that share the work");
    node.optional("threads", config.threads, {1, 8},
                  "threads of a core, which share its ports and caches; programs run on all");
    node.required("clock", config.clock, {kMega, 20'000 * kMega}, "of the cores, sustained");
    node.required("operations_per_cycle", config.operations_per_cycle, {1, 65536},
                  "f32 operations of a core; a multiply-add counts two");
    node.optional("tiled_permille", config.tiled_permille, permille,
                  "share of the operations that loops with results in registers reach");
    node.optional("streaming_permille", config.streaming_permille, permille,
                  "share of the operations that loops with results in memory reach");
    node.optional("function", config.function, cycles, "an exp or tanh in a vector loop");
    node.optional("transposed_element", config.transposed_element, cycles,
                  "to copy an element across rows");
    node.optional("l1", config.l1, {1024, 1 << 30}, "data cache of a core");
    node.optional("l2_bandwidth", config.l2_bandwidth, {1, 4096}, "L2 to L1 of a core");
    node.optional("l3", config.l3, {1024, std::int64_t{1} << 40}, "last cache, of all cores");
    node.required("bandwidth", config.bandwidth, bandwidth, "of all cores to memory");
    node.required("core_bandwidth", config.core_bandwidth, bandwidth, "of one core to memory");
    node.optional("line", config.line, {16, 4096}, "cache line");
    node.optional("flush_line", config.flush_line, {0, kSecond},
                  "to write one line of a shared buffer back to memory, by one core");
    node.optional("sync_call", config.sync_call, {0, kSecond},
                  "the library call that flushes a shared buffer, without its lines");
    if (config.core_bandwidth.count() > config.bandwidth.count()) {
        node.error("core_bandwidth", "must not exceed the bandwidth of all cores");
    }
    node.done();
    return config;
}

}  // namespace tilesim::arch::host
