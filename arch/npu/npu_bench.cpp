// Cost of lock operations and of walking a descriptor's addresses.
#include <benchmark/benchmark.h>

#include "arch/npu/address_generator.hpp"
#include "arch/npu/lock_unit.hpp"

namespace tilesim::arch::npu {
namespace {

struct Nobody final : LockClient {
    void on_lock_granted(base::Cycles) override {}
};

// A hand-over: acquire one of a pair, release the other.
void lock_pair(benchmark::State& state) {
    LockUnit locks({{"free", {0, 1}, 0, 1}, {"full", {0, 1}, 1, 0}});
    Nobody client;
    std::int64_t now = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(locks.acquire({0, -1}, client));
        locks.release({1, 1}, base::Cycles{++now});
        benchmark::DoNotOptimize(locks.acquire({1, -1}, client));
        locks.release({0, 1}, base::Cycles{++now});
    }
    state.SetItemsProcessed(state.iterations() * 4);
}
BENCHMARK(lock_pair);

// A memory tile's descriptor of a GEMM: strips of a 144 x 72 tile.
void descriptor_runs(benchmark::State& state) {
    BufferDescriptor descriptor;
    descriptor.length = 144 * 72 / 4;
    descriptor.dimensions = {{2, 1}, {144, 18}, {9, 2}};
    std::int64_t runs = 0;
    for (auto _ : state) {
        AddressGenerator addresses(descriptor, 0);
        for (std::int64_t left = descriptor.length; left > 0; ++runs) {
            left -= addresses.take(left).words;
        }
    }
    state.SetItemsProcessed(runs);
}
BENCHMARK(descriptor_runs);

}  // namespace
}  // namespace tilesim::arch::npu
