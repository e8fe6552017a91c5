// The scripts of cores as frames of a program's graph: a loop's body is a frame of its own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arch/npu/check/graph_parts.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "arch/npu/core/stream_kernel_timing.hpp"
#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::check {

class CoreFrames {
  public:
    // Values of cores' parameters, by tile and number: at start, or as the sequence writes them;
    // nothing where they take several.
    using Parameters =
        std::map<std::pair<program::TileCoordinate, std::int64_t>, std::optional<std::int64_t>>;

    CoreFrames(const program::Program& program, const NpuConfig& config,
               const Parameters& parameters, GraphParts& parts)
        : program_(program),
          config_(config),
          parameters_(parameters),
          parts_(parts),
          timing_(config.kernels),
          stream_timing_(config.kernels, config.stream) {}

    void add(const program::CoreProgram& core);

  private:
    using Frame = MarkedGraph::Frame;
    using Node = MarkedGraph::Node;

    // The end of what has been added of a block: what follows comes `time` later. `rounds`: of the
    // frame the node lies in, in one of the block's.
    struct Tail {
        Node node;
        double time = 0;
        double rounds = 1;
    };
    struct Body {
        Node begin, end;
        bool ends = true;  // false: it holds a loop without end
        double busy = 0;   // time of a round at least
    };
    struct Operation {
        Node first;
        Tail last;
        double busy;  // from its first node to the next operation's at least
    };

    std::optional<std::int64_t> count_of(const program::CoreProgram& core,
                                         const program::LoopOp& loop) const;
    bool counts_known(const program::CoreProgram& core,
                      const std::vector<program::CoreOp>& ops) const;
    void leave_out(const std::vector<program::CoreOp>& ops);
    void follow(const Tail& tail, Node node, double rounds);
    Body add_body(Frame frame, const std::vector<program::CoreOp>& ops, bool repeats);
    Operation add_op(Frame frame, const program::CoreOp& op);
    Operation add_words(Frame frame, const char* what, std::int64_t words,
                        std::int64_t words_per_cycle, Ends& ends, double latency);
    program::ChannelId core_port(program::Direction direction, std::int64_t index) const;
    const std::string& lock_name(const program::LockAction& action) const;

    const program::Program& program_;
    const NpuConfig& config_;
    const Parameters& parameters_;
    GraphParts& parts_;
    core::KernelTiming timing_;
    core::StreamKernelTiming stream_timing_;
    const program::CoreProgram* core_ = nullptr;  // whose script is being added
    std::string agent_;
};

}  // namespace tilesim::arch::npu::check
