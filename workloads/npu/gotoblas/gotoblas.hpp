// GEMM on one AI Engine tile after GotoBLAS: five loops around a micro-kernel.
//
//     L1  j_c over N by n_c
//     L2    p_c over K by k_c        B_c (k_c x n_c), packed in DRAM
//     L3      i_c over M by m_c      A_c (m_c x k_c), packed in the programmable logic's RAM
//     L4        j_r over n_c by n_r  B_r (k_c x n_r), copied to the core's memory by the host
//     L5          i_r over m_c by m_r    micro-kernel: C_r (m_r x n_r) += A_r * B_r
//
// The program: the host copies each B_r under a binary lock and starts the shim's transfers of C;
// the core acquires B_r, calls the micro-kernel m_c / m_r times, releases it. A_c is played on the
// core's first stream input, once per j_r. C is kept block by block (m_r x n_r, in the order of the
// loops), so one linear transfer each way serves an (i_c, j_c) block; where K has several k_c
// blocks the host waits for one pass over C before it starts the next. Packing A, B and C is done
// beforehand, as in the published design, and takes no time here. Source: Lei, Flich,
// Quintana-Orti, PDP 2023.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "arch/memory/device/memory_config.hpp"
#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"
#include "workloads/bounds.hpp"
#include "workloads/gemm.hpp"

namespace tilesim::workloads::npu::gotoblas {

struct GotoblasMapping {
    std::int64_t m_r = 16, n_r = 4;          // register block
    std::int64_t m_c = 0, n_c = 0, k_c = 0;  // cache blocks; 0: chosen
    std::int64_t b_buffers = 1;              // 2: the next B_r is copied while one is in use
    enum class AStream {
        AsRead,  // A is there whenever the core reads it, as in the published simulation
        Port     // at the rate of the one stream port A has
    } a_stream = AStream::AsRead;
};

// The keys below `mapping.gotoblas`.
void read_keys(arch::base::config::Node& node, GotoblasMapping& mapping);
// Whether what was read there leaves cache blocks to be chosen.
bool leaves_open(const arch::base::config::Node& node, const GotoblasMapping& mapping);

// A block of the loops L1 to L3: which part of the operands, and where it lies packed.
struct GotoblasBlock {
    std::int64_t row = 0, rows = 0;                         // of C, padded to m_r
    std::int64_t step = 0, steps = 0;                       // of K
    std::int64_t column = 0, columns = 0;                   // of C, padded to n_r
    std::int64_t a_offset = 0, b_offset = 0, c_offset = 0;  // bytes
};

// L1 to L3.
std::vector<GotoblasBlock> blocks_of(const GemmProblem& problem, const GotoblasMapping& mapping);

struct LoweredGotoblas {
    arch::npu::program::Program program;
    std::vector<GotoblasBlock> blocks;  // in order of execution
    std::int64_t m = 0, n = 0;          // padded
    std::int64_t b_panels = 0;          // copied by the host
    std::int64_t kernel_calls = 0;
    // Equal parts of the run, a copy of B_r each: none where the last blocks of rows or of K are
    // smaller, of which the first ones tell nothing.
    std::int64_t rounds() const;
    double padding_waste(const GemmProblem& problem) const;
};

// Bytes a core has for B_r.
std::int64_t panel_memory(const arch::npu::NpuConfig& config);
// What a mapping takes: B_r in double size of a core's memory, A_c of the programmable logic's.
struct GotoblasRoom {
    std::int64_t b_r = 0;
    std::int64_t a_c = 0;
};
GotoblasRoom room_of(const GemmProblem& problem, const GotoblasMapping& mapping);
// Why the mapping cannot run; empty when it can. `lower` throws these as a ConfigError.
std::vector<std::string> problems_of(const GemmProblem& problem, const GotoblasMapping& mapping,
                                     const arch::npu::NpuConfig& config);
LoweredGotoblas lower(const GemmProblem& problem, const GotoblasMapping& mapping,
                      const arch::npu::NpuConfig& config);

// The micro-kernel over `k` steps.
arch::npu::program::Kernel micro_kernel(const GemmProblem& problem, const GotoblasMapping& mapping,
                                        std::int64_t k);

// Compute: calls back to back; stream: A at the rate the core reads it or, with AStream::Port, its
// port carries; memory: B once per row block and C both ways per k_c block, at the DRAM's peak.
GemmBounds bounds_of(const GemmProblem& problem, const GotoblasMapping& mapping,
                     const arch::npu::NpuConfig& config,
                     const arch::memory::device::MemoryConfig& memory);

// The 16 x 4 block with the largest cache blocks that fit.
GotoblasMapping choose_gotoblas(const GemmProblem& problem, const arch::npu::NpuConfig& config);

// Every register block, with the largest cache blocks that fit, those of K in parts of it, too, and
// B_r in one or two buffers. Of N there is one block: B_c lies in DRAM, so that more of them have
// the same panels and a start each. Cache blocks that `given` has, the keys that are `stated`, and
// how A comes are left at that.
std::vector<GotoblasMapping> mappings_of(
    const GemmProblem& problem, GotoblasMapping given, const arch::npu::NpuConfig& config,
    const std::function<bool(const char*)>& stated = [](const char*) { return false; });

}  // namespace tilesim::workloads::npu::gotoblas
