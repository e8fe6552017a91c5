#include "validation/amx/harness/machine.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>

#include "arch/base/config.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace tilesim::validation::amx {

using arch::base::config::ConfigError;

namespace {

constexpr std::int64_t kPage = 4096;

std::uint64_t time_stamp() {
#if defined(__x86_64__)
    unsigned int processor = 0;
    return __rdtscp(&processor);
#else
    return 0;
#endif
}

// Core cycles of this process; -1 where the system counts none for it.
int open_cycles() {
    perf_event_attr attributes{};
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.size = sizeof attributes;
    attributes.config = PERF_COUNT_HW_CPU_CYCLES;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    return static_cast<int>(::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
}

}  // namespace

std::string why_no_tiles() {
#if defined(__x86_64__)
    constexpr unsigned int kTileBits = 1U << 24U | 1U << 25U;  // AMX-TILE, AMX-INT8
    constexpr long kRequestPermission = 0x1023;                // ARCH_REQ_XCOMP_PERM
    constexpr long kTileData = 18;
    unsigned int eax = 0;
    unsigned int ebx = 0;
    unsigned int ecx = 0;
    unsigned int edx = 0;
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0 || (edx & kTileBits) != kTileBits) {
        return "the processor has no AMX (CPUID 7.0)";
    }
    if (::syscall(SYS_arch_prctl, kRequestPermission, kTileData) != 0) {
        return "the system gives no permission to use tiles (arch_prctl)";
    }
    return "";
#else
    return "this is no x86-64 processor";
#endif
}

std::string host_name() {
    std::ifstream info("/proc/cpuinfo");
    std::string name = "unknown";
    std::string microcode;
    for (std::string line; std::getline(info, line) && !line.empty();) {
        const std::size_t colon = line.find(": ");
        if (line.starts_with("model name")) {
            name = line.substr(colon + 2);
        } else if (line.starts_with("microcode")) {
            microcode = " microcode " + line.substr(colon + 2);
        }
    }
    std::replace(name.begin(), name.end(), ',', ' ');
    return name + microcode;
}

void pin(int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(processor), &set);
    if (::sched_setaffinity(0, sizeof set, &set) != 0) {
        throw ConfigError(fmt::format("processor {} cannot be used", processor));
    }
}

ProgramMemory::ProgramMemory(const arch::amx::Program& program) {
    std::int64_t first = INT64_MAX;
    std::int64_t last = 0;
    for (const arch::amx::Buffer& buffer : program.buffers) {
        first = std::min(first, buffer.address / kPage * kPage);
        last = std::max(last, buffer.address + buffer.bytes);
    }
    first = program.buffers.empty() ? std::int64_t{1} << 20 : first;
    // A margin for prefetches and padded edges.
    configs_ = (std::max(last, first) / kPage + 2) * kPage;
    const std::int64_t images =
        static_cast<std::int64_t>(program.configs.size()) * arch::amx::kTileConfigBytes;
    bytes_ = static_cast<std::size_t>(configs_ + images + kPage - first);
    start_ = ::mmap(reinterpret_cast<void*>(first), bytes_, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_POPULATE, -1, 0);
    if (start_ == MAP_FAILED) {
        throw ConfigError(fmt::format("{:#x} cannot be mapped", first));
    }
    auto* at = reinterpret_cast<std::byte*>(configs_);
    for (const auto& shapes : program.configs) {
        const arch::amx::TileConfigImage image = arch::amx::make_image(shapes);
        std::memcpy(at, image.data(), image.size());
        at += image.size();
    }
}

ProgramMemory::~ProgramMemory() {
    ::munmap(start_, bytes_);
}

std::vector<Sample> measure(const std::vector<std::uint8_t>& code, int repetitions) {
    void* page =
        ::mmap(nullptr, code.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        throw ConfigError("no memory for code");
    }
    std::memcpy(page, code.data(), code.size());
    if (::mprotect(page, code.size(), PROT_READ | PROT_EXEC) != 0) {
        throw ConfigError("the system allows no generated code");
    }
    void (*function)() = nullptr;
    std::memcpy(&function, &page, sizeof function);
    const int counter = open_cycles();
    const auto cycles = [counter] {
        std::int64_t value = 0;
        return counter >= 0 && ::read(counter, &value, sizeof value) == sizeof value ? value : 0;
    };
    function();
    std::vector<Sample> samples;
    for (int i = 0; i < repetitions; ++i) {
        const auto wall = std::chrono::steady_clock::now();
        const std::int64_t before = cycles();
        const std::uint64_t start = time_stamp();
        function();
        Sample sample;
        sample.tsc = static_cast<std::int64_t>(time_stamp() - start);
        sample.counted = counter >= 0;
        sample.cycles = sample.counted ? cycles() - before : sample.tsc;
        sample.nanoseconds =
            std::chrono::nanoseconds(std::chrono::steady_clock::now() - wall).count();
        samples.push_back(sample);
    }
    if (counter >= 0) {
        ::close(counter);
    }
    ::munmap(page, code.size());
    return samples;
}

}  // namespace tilesim::validation::amx
