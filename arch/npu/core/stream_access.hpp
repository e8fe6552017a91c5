// A core's puts and gets on its own stream ports.
//
// Models:  the core is in the operation until its last word has left or, taken in a cycle, can be
//          used `stream_read_latency` after that cycle began; a word a cycle or as the stream takes
//          and gives them.
// Ignores: instructions behind a get that do not need its word and issue while it is on its way.
// Source:  AMD AM009, AM020 (ports of 32 bits); llvm-aie's schedule of AIE2 (the latency).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arch/npu/core/core_account.hpp"
#include "arch/npu/core/core_operands.hpp"
#include "arch/npu/core/core_operation.hpp"
#include "arch/npu/core/core_stream.hpp"

namespace tilesim::arch::npu::core {

class StreamAccess final : public base::EventHandler, public CoreStreamClient {
  public:
    StreamAccess(program::TileCoordinate tile, const NpuConfig& config, CorePorts& ports,
                 CycleScheduler& scheduler, CoreOperands& operands, CoreAccount& account,
                 OperationClient& core)
        : tile_(tile),
          words_per_cycle_(config.stream.words_per_cycle()),
          behind_last_word_(config.core.stream_read_latency - base::Cycles{1}),
          ports_(ports),
          scheduler_(scheduler),
          operands_(operands),
          account_(account),
          core_(core) {}

    // The port the operation under way is on, and what moves there: "3 words".
    std::optional<program::ChannelId> streaming() const { return port_; }
    std::string streamed() const;

    void put(const program::PutStreamOp& op);
    void get(const program::GetStreamOp& op);

    void on_event(std::uint64_t tag, base::Femtoseconds now) override;
    // `now`: the array's first cycle after the last word, whose streams may have a faster clock.
    void on_core_stream(base::Cycles now) override { scheduler_.at(now + latency(), *this); }
    void on_core_words(std::int64_t words, base::Cycles start) override;
    CriticalPath* critical_path() override { return account_.critical_path(); }

  private:
    void begin(program::Direction direction, std::int64_t port, std::int64_t words,
               const program::WordPlace& place);
    std::size_t bytes() const { return static_cast<std::size_t>(words_ * kWordBytes); }
    // Of the operation under way: what its last word still takes when it has moved.
    base::Cycles latency() const {
        return port_->direction == program::Direction::S2MM ? behind_last_word_ : base::Cycles{0};
    }

    program::TileCoordinate tile_;
    std::int64_t words_per_cycle_;
    base::Cycles behind_last_word_;
    CorePorts& ports_;
    CycleScheduler& scheduler_;
    CoreOperands& operands_;
    CoreAccount& account_;
    OperationClient& core_;

    std::optional<program::ChannelId> port_;  // of the operation under way, and what it says:
    std::int64_t words_ = 0;
    program::WordPlace place_;
    base::Cycles begin_{0};
    base::Cycles moved_until_{0};  // ticks of the streams' clock
    std::vector<std::uint32_t> got_;
};

}  // namespace tilesim::arch::npu::core
