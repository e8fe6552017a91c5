#include "validation/amx/harness/machine.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <exception>
#include <fstream>
#include <optional>
#include <thread>

#include "arch/base/config.hpp"
#include "arch/base/splitmix64.hpp"
#include "validation/amx/harness/cache_state.hpp"
#include "validation/amx/harness/constant_pool.hpp"
#include "validation/amx/harness/counted_expands.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace tilesim::validation::amx::harness {

using arch::amx::program::Opcode;
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

// Cycles of this core for one of the time-stamp counter, now: how long a chain of multiplications
// takes, of the tries the one that nothing interrupted.
double cycles_of_time_stamp() {
#if defined(__x86_64__)
    constexpr int kTries = 4;
    constexpr int kMultiplications = 8000;
    constexpr int kLatency =
        3;  // of IMUL r64, on Intel since Nehalem, on AMD since Zen (uops.info)
    std::uint64_t least = UINT64_MAX;
    for (int i = 0; i < kTries; ++i) {
        std::uint64_t product = 3;
        const std::uint64_t start = time_stamp();
        for (int k = 0; k < kMultiplications; ++k) {
            asm volatile("imul %0, %0" : "+r"(product));
        }
        least = std::min(least, time_stamp() - start);
    }
    return static_cast<double>(kMultiplications * kLatency) / static_cast<double>(least);
#else
    return 1;
#endif
}

// A counter of this thread; -1 where the system has none for it.
int open_counter(std::uint32_t type, std::uint64_t config) {
    perf_event_attr attributes{};
    attributes.type = type;
    attributes.size = sizeof attributes;
    attributes.config = config;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    return static_cast<int>(::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
}

// Keeps the thread on one processor.
void pin(int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (processor >= 0 && processor < CPU_SETSIZE) {
        CPU_SET(static_cast<std::size_t>(processor), &set);
    }
    if (::sched_setaffinity(0, sizeof set, &set) != 0) {
        throw ConfigError(fmt::format("processor {} cannot be used", processor));
    }
}

bool has_barrier(const arch::amx::program::Program& program) {
    return std::any_of(program.statements.begin(), program.statements.end(), [](const auto& each) {
        return each.kind == arch::amx::program::Statement::Kind::Instruction &&
               each.instruction.opcode == Opcode::Barrier;
    });
}

// Where threads wait for each other without sleeping, as often as they like.
class MeetingPoint {
  public:
    explicit MeetingPoint(std::size_t threads) : threads_(threads) {}
    void meet() {
        const std::size_t arrival = arrived_.fetch_add(1);
        const std::size_t everyone = (arrival / threads_ + 1) * threads_;
        while (arrived_.load() < everyone) {
            std::this_thread::yield();
        }
    }

  private:
    std::size_t threads_;
    std::atomic<std::size_t> arrived_ = 0;
};

// Code that may run, and the counter of its thread's cycles.
class Worker {
  public:
    explicit Worker(const Code& code) : bytes_(code.size()) {
        page_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page_ == MAP_FAILED) {
            throw ConfigError("no memory for code");
        }
        std::memcpy(page_, code.data(), bytes_);
        if (::mprotect(page_, bytes_, PROT_READ | PROT_EXEC) != 0) {
            ::munmap(page_, bytes_);
            throw ConfigError("the system allows no generated code");
        }
        std::memcpy(&function_, &page_, sizeof function_);
        counter_ = open_counter(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
        for (std::size_t i = 0; i < kEvents.size(); ++i) {
            events_[i] = open_counter(PERF_TYPE_RAW, kEvents[i].code);
        }
    }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;
    ~Worker() {
        close_counter(counter_);
        std::for_each(events_.begin(), events_.end(), close_counter);
        ::munmap(page_, bytes_);
    }

    Sample run() const {
        Sample sample;
        for (std::size_t i = 0; i < kEvents.size(); ++i) {
            sample.events[i] = events_[i] < 0 ? 0 : value_of(events_[i]);
        }
        const auto wall = std::chrono::steady_clock::now();
        const std::int64_t before = value_of(counter_);
        const std::uint64_t start = time_stamp();
        function_();
        sample.tsc = static_cast<std::int64_t>(time_stamp() - start);
        const std::int64_t after = value_of(counter_);
        sample.nanoseconds =
            std::chrono::nanoseconds(std::chrono::steady_clock::now() - wall).count();
        for (std::size_t i = 0; i < kEvents.size(); ++i) {
            sample.events[i] = events_[i] < 0 ? -1 : value_of(events_[i]) - sample.events[i];
        }
        sample.cycles =
            counter_ >= 0 ? after - before
                          : std::llround(static_cast<double>(sample.tsc) * cycles_of_time_stamp());
        return sample;
    }

  private:
    static std::int64_t value_of(int counter) {
        std::int64_t value = 0;
        return counter >= 0 && ::read(counter, &value, sizeof value) == sizeof value ? value : 0;
    }
    static void close_counter(int counter) {
        if (counter >= 0) {
            ::close(counter);
        }
    }

    void* page_ = nullptr;
    std::size_t bytes_;
    void (*function_)() = nullptr;
    int counter_ = -1;
    std::array<int, kEvents.size()> events_{};
};

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

std::string why_no_avx512() {
#if defined(__x86_64__)
    constexpr unsigned int kFoundation = 1U << 16U;
    constexpr unsigned int kBytesAndWords = 1U << 30U;
    unsigned int eax = 0;
    unsigned int ebx = 0;
    unsigned int ecx = 0;
    unsigned int edx = 0;
    constexpr unsigned int kNeeded = kFoundation | kBytesAndWords;
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0 || (ebx & kNeeded) != kNeeded) {
        return "the processor has no AVX-512 (CPUID 7.0)";
    }
    return "";
#else
    return "this is no x86-64 processor";
#endif
}

namespace {

bool uses_tiles(Opcode opcode) {
    return arch::amx::program::info_of(opcode).tile() || opcode == Opcode::Ldtilecfg ||
           opcode == Opcode::Sttilecfg || opcode == Opcode::Tilerelease;
}

// The part of AVX-512 that the instruction is of, where this processor lacks it.
std::string missing_part(const arch::amx::program::Instruction& instruction) {
#if defined(__x86_64__)
    switch (instruction.opcode) {
        case Opcode::Vpermt2b:
            return __builtin_cpu_supports("avx512vbmi") ? "" : "VBMI";
        case Opcode::Vpexpandb:
            return __builtin_cpu_supports("avx512vbmi2") ? "" : "VBMI2";
        case Opcode::Vcvtneps2bf16:
        case Opcode::Vcvtne2ps2bf16:
            return __builtin_cpu_supports("avx512bf16") ? "" : "BF16";
        default:
            break;
    }
    // Vectors of 16 and 32 bytes.
    const bool shorter = instruction.bytes > 0 && instruction.bytes < arch::amx::program::kRowBytes;
    return shorter && !__builtin_cpu_supports("avx512vl") ? "VL" : "";
#else
    static_cast<void>(instruction);
    return "";
#endif
}

}  // namespace

std::string why_not_here(const arch::amx::program::Program& program) {
    for (const auto& statement : program.statements) {
        if (statement.kind != arch::amx::program::Statement::Kind::Instruction) {
            continue;
        }
        const auto& instruction = statement.instruction;
        const std::string part = missing_part(instruction);
        const std::string reason = uses_tiles(instruction.opcode) ? why_no_tiles()
                                   : part.empty()                 ? ""
                                                  : "the processor has no AVX-512 " + part;
        if (!reason.empty()) {
            return fmt::format("{}: {}", arch::amx::program::info_of(instruction.opcode).mnemonic,
                               reason);
        }
    }
    return "";
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

ProgramMemory::ProgramMemory(const std::vector<arch::amx::program::Program>& programs,
                             bool large_pages) {
    std::int64_t first = INT64_MAX;
    std::int64_t last = 0;
    Placement placement;
    placement.parties = 0;
    for (const arch::amx::program::Program& program : programs) {
        for (const arch::amx::program::Buffer& buffer : program.buffers) {
            first = std::min(first, buffer.address / kPage * kPage);
            last = std::max(last, buffer.address + buffer.bytes);
        }
        placement.parties += has_barrier(program) ? 1 : 0;
    }
    first = last == 0 ? std::int64_t{1} << 20 : first;
    // A margin for prefetches and padded edges.
    placement.barrier = (std::max(last, first) / kPage + 2) * kPage;
    std::int64_t end = placement.barrier + kPage;
    std::vector<ConstantPool> pools;
    for (const arch::amx::program::Program& program : programs) {
        pools.emplace_back(program);
        placement.constants = end;
        placements_.push_back(placement);
        end += (static_cast<std::int64_t>(pools.back().image().size()) / kPage + 1) * kPage;
    }
    bytes_ = static_cast<std::size_t>(end - first);
    start_ = ::mmap(reinterpret_cast<void*>(first), bytes_, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (start_ == MAP_FAILED) {
        throw ConfigError(fmt::format("{:#x} cannot be mapped", first));
    }
    // A wish: where the system grants none, pages stay as they are.
    ::madvise(start_, bytes_, large_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    fill_at_random(programs);
    for (std::size_t i = 0; i < programs.size(); ++i) {
        const std::vector<std::byte>& image = pools[i].image();
        std::memcpy(reinterpret_cast<void*>(placements_[i].constants), image.data(), image.size());
    }
    try {
        for (const arch::amx::program::Program& program : programs) {
            fill_masks(program, first, last);
        }
    } catch (...) {
        ::munmap(start_, bytes_);
        throw;
    }
}

// As bf16 and as floats of 0.5 to 1 and -0.5 to -1; every page is there afterwards.
void ProgramMemory::fill_at_random(const std::vector<arch::amx::program::Program>& programs) {
    constexpr std::uint64_t kSignsAndMantissas = 0x807F'807F'807F'807FULL;
    constexpr std::uint64_t kExponents = 0x3F00'3F00'3F00'3F00ULL;
    std::memset(start_, 0, bytes_);
    std::uint64_t seed = 1;
    for (const arch::amx::program::Program& program : programs) {
        for (const arch::amx::program::Buffer& buffer : program.buffers) {
            for (std::int64_t at = 0; at + 8 <= buffer.bytes; at += 8) {
                const std::uint64_t value =
                    (arch::base::next_splitmix64(seed) & kSignsAndMantissas) | kExponents;
                std::memcpy(reinterpret_cast<void*>(buffer.address + at), &value, sizeof value);
            }
        }
    }
}

void ProgramMemory::fill_masks(const arch::amx::program::Program& program, std::int64_t first,
                               std::int64_t last) {
    for (const auto& [address, mask] : line_masks(program)) {
        if (address < first || address + static_cast<std::int64_t>(sizeof mask) > last) {
            throw ConfigError(fmt::format("the mask at {:#x} lies in no buffer", address));
        }
        std::memcpy(reinterpret_cast<void*>(address), &mask, sizeof mask);
    }
}

ProgramMemory::~ProgramMemory() {
    ::munmap(start_, bytes_);
}

namespace {

// A repetition of thread `i`: its caches as its program wants them, then its runs together with
// the others'. The last counts.
Sample repetition(const Worker& worker, CacheState& caches, MeetingPoint& together,
                  const arch::amx::program::Program* program) {
    if (program != nullptr) {
        caches.prepare(*program);
    }
    Sample sample;
    for (std::int64_t run = 0; run < (program == nullptr ? 1 : program->runs); ++run) {
        together.meet();
        sample = worker.run();
    }
    return sample;
}

}  // namespace

std::vector<Sample> measure(const std::vector<Code>& codes, const std::vector<int>& processors,
                            int repetitions,
                            const std::vector<arch::amx::program::Program>& programs) {
    if (processors.size() < codes.size()) {
        throw ConfigError(fmt::format("{} threads need as many processors, {} are named",
                                      codes.size(), processors.size()));
    }
    std::vector<std::vector<Sample>> samples(codes.size());
    std::vector<std::exception_ptr> errors(codes.size());
    std::atomic<std::size_t> failed = 0;
    MeetingPoint start(codes.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < codes.size(); ++i) {
        threads.emplace_back([&, i] {
            std::optional<Worker> worker;
            try {
                pin(processors[i]);
                worker.emplace(codes[i]);
            } catch (...) {
                errors[i] = std::current_exception();
                ++failed;
            }
            start.meet();
            CacheState caches;
            const auto* const program = i < programs.size() ? &programs[i] : nullptr;
            for (int run = 0; failed == 0 && run <= repetitions; ++run) {
                samples[i].push_back(repetition(*worker, caches, start, program));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (const std::exception_ptr& error : errors) {
        if (error) {
            std::rethrow_exception(error);
        }
    }
    std::vector<Sample> slowest;
    for (std::size_t run = 1; run <= static_cast<std::size_t>(repetitions); ++run) {
        Sample sample = samples[0][run];
        for (const std::vector<Sample>& of : samples) {
            sample = of[run].cycles > sample.cycles ? of[run] : sample;
        }
        slowest.push_back(sample);
    }
    return slowest;
}

}  // namespace tilesim::validation::amx::harness
