// What an expert starts from on AMX cores: all of the socket, blocks as its caches want them.
#pragma once

#include <cstdint>

#include "arch/amx/amx_config.hpp"
#include "arch/memory/device/memory_config.hpp"
#include "workloads/amx/tiles/amx_mapping.hpp"
#include "workloads/amx/tiles/convolution.hpp"
#include "workloads/gemm.hpp"

namespace tilesim::workloads::amx::tiles {

// Elements of k that a tile of A holds.
std::int64_t k_tile_of(const GemmProblem& gemm);

// The product on as many cores as have a block each, its blocks as the private caches want them.
AmxMapping whole_socket(const GemmProblem& gemm, std::int64_t m_acc, std::int64_t n_acc,
                        const arch::amx::AmxConfig& socket);

// Its blocks of the shape expected to be fastest.
AmxMapping whole_socket(const GemmProblem& gemm, const arch::amx::AmxConfig& socket,
                        const arch::memory::device::MemoryConfig& memory);
// The convolution likewise, its output rows joined where that makes fewer tiles.
AmxMapping whole_socket(const ConvolutionProblem& convolution, std::int64_t m_acc,
                        std::int64_t n_acc, std::int64_t cores);
// As many cores as have a block each.
std::int64_t threads_of(const ConvolutionProblem& convolution, const AmxMapping& mapping,
                        std::int64_t cores);

}  // namespace tilesim::workloads::amx::tiles
