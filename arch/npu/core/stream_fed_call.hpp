// A call of the stream-fed micro-kernel: A and C on the core's own stream ports, B in memory.
//
// Models:  the multiplications, as long as A keeps up: what A's stream takes longer, the core
//          starves; C read after them and written after that, a word a cycle or as the stream gives
//          and takes them. Of a call that states its cycles, the transfers of C are a part.
// Ignores: A arriving between two calls: each call waits for its own A.
// Source:  Lei, Flich, Quintana-Orti, PDP 2023; docs/modelling.md.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arch/npu/core/core_account.hpp"
#include "arch/npu/core/core_operands.hpp"
#include "arch/npu/core/core_operation.hpp"
#include "arch/npu/core/core_stream.hpp"
#include "arch/npu/core/logic_stream.hpp"
#include "arch/npu/core/stream_kernel_timing.hpp"

namespace tilesim::arch::npu::core {

class StreamFedCall final : public base::EventHandler, public CoreStreamClient {
  public:
    // `store`: DRAM's bytes, A's among them; nullptr in timing mode.
    StreamFedCall(const program::Program& program, program::TileCoordinate tile,
                  const NpuConfig& config, CorePorts& ports, CycleScheduler& scheduler,
                  CoreOperands& operands, const memory::port::BackingStore* store,
                  CoreAccount& account, OperationClient& client);

    // The port whose transfer the core is in.
    std::optional<program::ChannelId> streaming() const;

    void begin(const program::Kernel& kernel, const program::CallOp& call);

    void on_event(std::uint64_t tag, base::Femtoseconds now) override;
    void on_core_stream(base::Cycles now) override;
    CriticalPath* critical_path() override { return account_.critical_path(); }

  private:
    void look_up(const program::Kernel& kernel);
    void read_c();
    void write_c();
    void go_on();  // with what follows a transfer

    program::TileCoordinate tile_;
    StreamKernelTiming timing_;
    CorePorts& ports_;
    CycleScheduler& scheduler_;
    CoreOperands& operands_;
    const memory::port::BackingStore* store_;
    CoreAccount& account_;
    OperationClient& client_;
    std::optional<LogicStreamPlayer> a_stream_;

    const program::CallOp* call_ = nullptr;    // under way
    const program::Kernel* kernel_ = nullptr;  // and what each of its calls costs:
    base::Cycles multiply_{0};
    base::Cycles starved_{0};         // by A's stream, after that
    std::int64_t c_words_ = 0;        // each way,
    std::int64_t c_cycles_ = 0;       // and how long they take
    base::Cycles transfer_begin_{0};  // of C's words
    std::vector<std::byte> a_;        // functional mode: of the call
    std::vector<std::uint32_t> c_;
};

}  // namespace tilesim::arch::npu::core
