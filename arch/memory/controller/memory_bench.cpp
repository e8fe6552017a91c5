// Requests per second of host time on saturating streams.
#include <benchmark/benchmark.h>

#include "arch/base/config.hpp"
#include "arch/memory/controller/memory_config_reader.hpp"
#include "arch/memory/controller/memory_system.hpp"
#include "arch/memory/traffic/stream_driver.hpp"

namespace tilesim::arch::memory::controller {
namespace {

void stream(benchmark::State& state, const char* name, traffic::StreamConfig::Pattern pattern,
            std::int64_t writes) {
    auto document = base::config::Document::load(std::string{TILESIM_SOURCE_DIR} +
                                                 "/configs/devices/" + name + ".yaml");
    const device::MemoryConfig config = read_memory_config(document.root().child("memory", ""));
    traffic::StreamConfig requests;
    requests.pattern = pattern;
    requests.requests = 200'000;
    requests.granule = config.burst;
    requests.write_permille = writes;
    requests.outstanding = 1024;
    for (auto _ : state) {
        base::EventQueue queue;
        base::stats::Group root("");
        MemorySystem memory(config, traffic::StreamDriver::latency(config), queue, root);
        traffic::StreamDriver driver(requests, memory);
        driver.start();
        while (!driver.finished()) {
            queue.run_until(queue.next_time());
        }
    }
    state.SetItemsProcessed(state.iterations() * requests.requests);
}

using Pattern = traffic::StreamConfig::Pattern;
BENCHMARK_CAPTURE(stream, ddr5_sequential, "ddr5_5600", Pattern::Sequential, 0);
BENCHMARK_CAPTURE(stream, ddr5_random, "ddr5_5600", Pattern::Random, 0);
BENCHMARK_CAPTURE(stream, ddr5_random_30_writes, "ddr5_5600", Pattern::Random, 300);
BENCHMARK_CAPTURE(stream, lpddr5x_sequential, "lpddr5x_7500", Pattern::Sequential, 0);
BENCHMARK_CAPTURE(stream, lpddr5x_random, "lpddr5x_7500", Pattern::Random, 0);

}  // namespace
}  // namespace tilesim::arch::memory::controller
