#include "validation/amx/harness/cache_state.hpp"

#if defined(__x86_64__)
#include <x86intrin.h>

#include "validation/amx/harness/constant_pool.hpp"
#endif

namespace tilesim::validation::amx::harness {

using arch::amx::program::Buffer;
using arch::amx::program::Preparation;

namespace {

constexpr std::size_t kBeyondL1 = 192 * 1024;
constexpr std::size_t kBeyondL2 = 6 * 1024 * 1024;

void flush(const Buffer& buffer) {
#if defined(__x86_64__)
    for (std::int64_t at = 0; at < buffer.bytes; at += kLineBytes) {
        _mm_clflush(reinterpret_cast<const void*>(buffer.address + at));
    }
    _mm_mfence();
#else
    static_cast<void>(buffer);
#endif
}

}  // namespace

CacheState::CacheState() : other_(kBeyondL2 / sizeof(std::uint64_t), 1) {}

void CacheState::prepare(const arch::amx::program::Program& program) {
    for (const Preparation& each : program.preparations) {
        const Buffer& buffer = program.buffers[each.buffer];
        if (each.to == Preparation::To::Memory) {
            flush(buffer);
            continue;
        }
        constexpr int kTimes = 2;
        for (int i = 0; i < kTimes; ++i) {
            touch(buffer, each.dirty);
            if (each.to == Preparation::To::L3) {
                displace(kBeyondL2);
            }
        }
        if (each.to == Preparation::To::L2) {
            displace(kBeyondL1);
        }
    }
}

void CacheState::touch(const Buffer& buffer, bool write) {
    for (std::int64_t at = 0; at < buffer.bytes; at += kLineBytes) {
        auto* const word = reinterpret_cast<volatile std::uint64_t*>(buffer.address + at);
        sum_ += *word;
        if (write) {
            *word = *word;
        }
    }
}

void CacheState::displace(std::size_t bytes) {
    const volatile std::uint64_t* const words = other_.data();
    for (std::size_t at = 0; at < bytes / sizeof(std::uint64_t);
         at += kLineBytes / sizeof(std::uint64_t)) {
        sum_ += words[at];
    }
}

}  // namespace tilesim::validation::amx::harness
