// How long a call of the stream-fed micro-kernel takes: C (m x n) += A (m x k) * B (k x n), where
// the C block stays in accumulators while k runs, A comes from a stream and B from local memory.
//
// One vector instruction multiplies `macs` pairs into the lanes of one accumulator: `lanes` rows of
// one column of C, over macs / lanes steps of k. The loop body covers `steps` k steps and is
// software-pipelined, so it takes what its busiest resource takes:
//     vector slot:   (m / lanes) * n accumulators, each steps * lanes / macs instructions;
//     stream slot:   A's bytes at `stream_read` an instruction;
//     load slots:    B's vectors, and what is spilled;
//     store slot:    what is spilled.
// Spilling: bodies go through the accumulators forwards and backwards in turn, so that each begins
// with those that are in registers; every other one takes the register of the accumulator that was
// used as many places before as there are registers. Between the two uses lie the multiplication's
// latency, a store and a load, and where the instructions meanwhile are fewer the loop stands. A
// and B vectors beyond the vector registers are stored and loaded once more. An accumulator is
// moved half by half.
// Around the loop: `fill_drain` of the pipeline; C read from its stream and written to its stream,
// at the width of the port each, of which the first cycle lies under what goes before.
//
// Ignores: bank conflicts, instruction fetch; A's stream running dry (stream_fed_call.hpp).
// Source:  Lei, Flich, Quintana-Orti, PDP 2023 (loop body); AMD AM009 (registers, slots, widths).
#pragma once

#include <string>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::core {

struct StreamKernelCycles {
    base::Cycles issue{0};       // vector instructions alone: the ideal
    base::Cycles loop_extra{0};  // what reading A and B takes beyond
    base::Cycles spill{0};       // what spilling takes beyond
    base::Cycles fill_drain{0};
    base::Cycles c_load{0};
    base::Cycles c_store{0};
    base::Cycles multiply() const { return issue + loop_extra + spill + fill_drain; }
    base::Cycles total() const { return multiply() + c_load + c_store; }
};

// What a register block asks of the register file.
struct RegisterUse {
    std::int64_t lanes = 0;         // rows of C of an accumulator
    std::int64_t accumulators = 0;  // needed
    std::int64_t available = 0;
    std::int64_t spilled = 0;  // accumulators that go through memory in every loop body
    std::int64_t vectors = 0;  // registers of A and B a loop body needs
};

class StreamKernelTiming {
  public:
    // Keeps a reference to `config`, into which `find_mode` points. `stream`: of the core's ports.
    StreamKernelTiming(const KernelConfig& config, const StreamConfig& stream)
        : config_(config), words_per_cycle_(stream.words_per_cycle()) {}
    StreamKernelTiming(KernelConfig&&, const StreamConfig&) = delete;

    // The mode that multiplies the kernel's types; nullptr when the device has none.
    const StreamMode* find_mode(DataType a, DataType b, DataType c) const;
    const StreamMode& mode_of(const program::Kernel& kernel) const;
    // Why the kernel cannot run here; empty when it can.
    std::string check(const program::Kernel& kernel) const;
    // The rest needs a `kernel` that passes `check`.
    StreamKernelCycles cycles(const program::Kernel& kernel) const;
    RegisterUse registers(const program::Kernel& kernel) const;
    // What the stream ports take for C's words, each way.
    base::Cycles c_cycles(const program::Kernel& kernel) const;

  private:
    struct Body {
        base::Cycles issue{0};    // vector slot
        base::Cycles fed{0};      // with A's and B's reads
        base::Cycles spilled{0};  // with the spills as well: the body's length
        std::int64_t in_memory = 0;
    };
    std::int64_t lanes_of(const StreamMode& mode, std::int64_t m) const;
    Body body(const StreamMode& mode, const program::Kernel& kernel, std::int64_t steps) const;

    const KernelConfig& config_;
    std::int64_t words_per_cycle_;
};

// Words of C that come and go on the streams of one call.
std::int64_t c_words(const program::Kernel& kernel);
// Bytes of A one call reads from its stream, and of B it finds in memory.
std::int64_t a_bytes(const program::Kernel& kernel);
std::int64_t b_bytes(const program::Kernel& kernel);

}  // namespace tilesim::arch::npu::core
