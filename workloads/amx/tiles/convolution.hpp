// A direct convolution: the keys of `workload.conv`.
#pragma once

#include <cstdint>

#include "arch/base/config.hpp"
#include "arch/base/data_type.hpp"
#include "workloads/amx/tiles/amx_mapping.hpp"
#include "workloads/gemm.hpp"

namespace tilesim::workloads::amx::tiles {

// C[h][w][n] = sum over kh, kw, c of A[h * stride + kh][w * stride + kw][c] * B[kh][kw][c][n].
struct ConvolutionProblem {
    std::int64_t height = 0, width = 0;  // of the output
    std::int64_t channels = 0, filters = 0;
    std::int64_t kh = 1, kw = 1, stride = 1;
    arch::base::DataType a = arch::base::DataType::Int8;
    arch::base::DataType b = arch::base::DataType::Int8;
    arch::base::DataType c = arch::base::DataType::Int32;

    std::int64_t input_height() const { return (height - 1) * stride + kh; }
    std::int64_t input_width() const { return (width - 1) * stride + kw; }
    // From the first output position to the last, what lies between rows included; stride 1.
    std::int64_t joined_rows() const { return (height - 1) * input_width() + width; }
    double macs() const {
        return static_cast<double>(height * width) * static_cast<double>(channels * filters) *
               static_cast<double>(kh * kw);
    }
};

// The product of one output row and one filter tap.
GemmProblem gemm_of(const ConvolutionProblem& convolution);
// That of one tap for an output row, or for all of them where they are joined.
GemmProblem tap_shape(const ConvolutionProblem& convolution, const AmxMapping& mapping);
// What threads share out: a convolution's joined rows, or a block of accumulators' for each of its
// output rows, which stay whole.
GemmProblem shared_shape(const ConvolutionProblem& convolution, const AmxMapping& mapping);
// The mapping, of a partition of m and n with its shares of n: all taps of a filter read a row of A
// again, each its own columns of B.
AmxMapping shared_mapping(const ConvolutionProblem& convolution, const AmxMapping& mapping);

void read_convolution(arch::base::config::Node& node, ConvolutionProblem& convolution);

}  // namespace tilesim::workloads::amx::tiles
