#include "workloads/amx/tiles/convolution.hpp"

#include <algorithm>

#include "arch/amx/program/tile_config.hpp"
#include "arch/base/units.hpp"

namespace tilesim::workloads::amx::tiles {

GemmProblem gemm_of(const ConvolutionProblem& conv) {
    GemmProblem gemm;
    gemm.m = conv.width;
    gemm.k = conv.channels;
    gemm.n = conv.filters;
    gemm.a = conv.a;
    gemm.b = conv.b;
    gemm.c = conv.c;
    return gemm;
}

GemmProblem tap_shape(const ConvolutionProblem& conv, const AmxMapping& map) {
    const bool joined = map.output_rows == AmxMapping::OutputRows::Joined;
    GemmProblem gemm = gemm_of(conv);
    gemm.m = joined ? conv.joined_rows() : conv.width;
    return gemm;
}

GemmProblem shared_shape(const ConvolutionProblem& conv, const AmxMapping& map) {
    GemmProblem gemm = gemm_of(conv);
    const std::int64_t width = map.m_acc * arch::amx::program::kMaxRows;
    gemm.m = map.output_rows == AmxMapping::OutputRows::Joined
                 ? arch::base::ceil_div(conv.joined_rows(), width) * width
                 : conv.height * width;
    return gemm;
}

AmxMapping shared_mapping(const ConvolutionProblem& conv, const AmxMapping& map) {
    AmxMapping shared = map;
    if (map.partition == AmxMapping::Partition::MN) {
        const std::int64_t taps = conv.kh * conv.kw;
        const std::int64_t inputs = std::min(conv.stride * conv.stride, taps);  // an output
        shared.threads_n = shares_of_n(shared_shape(conv, map), map,
                                       static_cast<double>(inputs) / static_cast<double>(taps));
    }
    return shared;
}

void read_convolution(arch::base::config::Node& node, ConvolutionProblem& p) {
    const arch::base::config::Range size{1, 1 << 14};
    const arch::base::config::Range tap{1, 16};
    node.required("height", p.height, size, "rows of the output");
    node.required("width", p.width, size, "columns of the output");
    node.required("channels", p.channels, size, "of the input");
    node.required("filters", p.filters, size, "channels of the output");
    node.required("kh", p.kh, tap, "rows of the filter");
    node.required("kw", p.kw, tap, "columns of the filter");
    node.optional("stride", p.stride, tap, "of the filter, both ways");
    node.required("a", p.a, arch::base::kDataTypes, "type of the input");
    node.required("b", p.b, arch::base::kDataTypes, "type of the weights");
    node.required("c", p.c, arch::base::kDataTypes, "type of the output");
    node.done();
}

}  // namespace tilesim::workloads::amx::tiles
