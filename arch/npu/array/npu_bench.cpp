// Cost of lock operations, of walking a descriptor's addresses, and of a kernel's arithmetic.
#include <benchmark/benchmark.h>

#include <vector>

#include "arch/npu/core/kernel_function.hpp"
#include "arch/npu/dma/address_generator.hpp"
#include "arch/npu/tile/lock_unit.hpp"

namespace tilesim::arch::npu::array {
namespace {

struct Nobody final : tile::LockClient {
    void on_lock_granted(base::Cycles) override {}
};

// A hand-over: acquire one of a pair, release the other.
void lock_pair(benchmark::State& state) {
    tile::LockUnit locks({{"free", {0, 1}, 0, 1}, {"full", {0, 1}, 1, 0}});
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
    program::BufferDescriptor descriptor;
    descriptor.length = 144 * 72 / 4;
    descriptor.dimensions = {{2, 1}, {144, 18}, {9, 2}};
    std::int64_t runs = 0;
    for (auto _ : state) {
        dma::AddressGenerator addresses(descriptor, 0);
        for (std::int64_t left = descriptor.length; left > 0; ++runs) {
            left -= addresses.take(left).words;
        }
    }
    state.SetItemsProcessed(runs);
}
BENCHMARK(descriptor_runs);

// A core's call of a whole-array GEMM on XDNA2, in functional mode; items are multiplications.
void multiply_call(benchmark::State& state, program::Kernel kernel, const MultiplyMode& mode) {
    kernel.b_column_major = true;
    const auto bytes = [](std::int64_t elements, DataType type) {
        return std::vector<std::byte>(static_cast<std::size_t>(elements * bits_of(type) / 8));
    };
    const auto a = bytes(kernel.m * kernel.k, kernel.a);
    const auto b = bytes(kernel.k * kernel.n, kernel.b);
    auto c = bytes(kernel.m * kernel.n, kernel.c);
    for (auto _ : state) {
        core::multiply(kernel, mode, a, b, c);
        benchmark::DoNotOptimize(c.data());
    }
    state.SetItemsProcessed(state.iterations() * kernel.m * kernel.k * kernel.n);
}
program::Kernel call_of(std::int64_t m, std::int64_t k, std::int64_t n, DataType in, DataType out) {
    program::Kernel kernel;
    kernel.m = m;
    kernel.k = k;
    kernel.n = n;
    kernel.a = kernel.b = in;
    kernel.c = out;
    return kernel;
}
MultiplyMode shape_of(std::int64_t r, std::int64_t s, std::int64_t t) {
    MultiplyMode mode;
    mode.r = r;
    mode.s = s;
    mode.t = t;
    return mode;
}
BENCHMARK_CAPTURE(multiply_call, int8, call_of(144, 72, 144, DataType::Int8, DataType::Int8),
                  shape_of(8, 8, 8));
BENCHMARK_CAPTURE(multiply_call, int8_int16, call_of(128, 72, 112, DataType::Int8, DataType::Int16),
                  shape_of(8, 8, 8));
BENCHMARK_CAPTURE(multiply_call, int8_int32, call_of(96, 64, 96, DataType::Int8, DataType::Int32),
                  shape_of(8, 8, 8));
BENCHMARK_CAPTURE(multiply_call, bf16, call_of(112, 48, 96, DataType::Bf16, DataType::Bf16),
                  shape_of(8, 8, 8));

}  // namespace
}  // namespace tilesim::arch::npu::array
