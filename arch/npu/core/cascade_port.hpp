// A core's puts and gets on its cascades.
//
// Models:  the core is in the operation until its last word has been put or got, a word a cycle or
//          as the other core takes and gives them; words got can be used `read_latency` after the
//          read of the last began.
// Source:  AMD AM020, llvm-aie schedules (read latency).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "arch/npu/core/cascade_link.hpp"
#include "arch/npu/core/core_account.hpp"
#include "arch/npu/core/core_operands.hpp"
#include "arch/npu/core/core_operation.hpp"

namespace tilesim::arch::npu::core {

class CascadePort final : public base::EventHandler, public CascadeClient {
  public:
    CascadePort(const CascadeConfig& config, CycleScheduler& scheduler, CoreOperands& operands,
                CoreAccount& account, OperationClient& core)
        : config_(config),
          scheduler_(scheduler),
          operands_(operands),
          account_(account),
          core_(core) {}

    // The operation under way: words put or got.
    const program::PutCascadeOp* putting() const { return putting_; }
    const program::GetCascadeOp* getting() const { return getting_; }

    // The cascades into and out of the core; nullptr where the program has none.
    void connect(CascadeLink* in, CascadeLink* out) {
        in_ = in;
        out_ = out;
    }
    void put(const program::PutCascadeOp& op);
    void get(const program::GetCascadeOp& op);

    void on_event(std::uint64_t tag, base::Femtoseconds now) override;
    void on_cascade_done(base::Cycles now) override;
    CriticalPath* critical_path() override { return account_.critical_path(); }

  private:
    void begin();
    std::size_t bytes_of(std::int64_t words) const {
        return static_cast<std::size_t>(words * config_.width.count());
    }

    const CascadeConfig& config_;
    CycleScheduler& scheduler_;
    CoreOperands& operands_;
    CoreAccount& account_;
    OperationClient& core_;
    CascadeLink* in_ = nullptr;
    CascadeLink* out_ = nullptr;
    const program::PutCascadeOp* putting_ = nullptr;
    const program::GetCascadeOp* getting_ = nullptr;
    base::Cycles begin_{0};
    std::vector<std::byte> got_;
};

}  // namespace tilesim::arch::npu::core
