// The arbiter of a switch's output port: packets of several sources pass one after the other.
//
// Models:  one owner at a time, held until the packet's last word (TLAST), so that a stall behind
//          one packet blocks the others. Of those that wait the one that comes in by the next port
//          passes, in the order of the switch's registers, counted from the last owner's (round
//          robin); or turns of so many packets of a port each, which nobody takes out of order
//          (deterministic merge).
// Ignores: which of several passes that come to an idle arbiter in the same cycle.
// Source:  AMD AM020 (round robin), AM025 (Stream_Switch_Deterministic_Merge_*); mlir-aie PR 3702
//          (held until TLAST) and PR 3537 (npu1: behind a packet from north2 one from east0 passes
//          before one from east2 that came earlier; turns are kept).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "arch/npu/program/program.hpp"
#include "arch/npu/program/switch_port.hpp"

namespace tilesim::arch::npu::stream {

class ArbiterClient {
  public:
    virtual void on_arbiter_granted() = 0;

  protected:
    ~ArbiterClient() = default;
};

class StreamArbiter {
  public:
    explicit StreamArbiter(std::string name) : name_(std::move(name)) {}

    // The client's packets come in by this port; of one that none is stated for, in order of
    // arrival.
    void enters(const ArbiterClient& client, program::SwitchPort by);
    // Packets pass in this order, again and again; nobody has asked for it yet.
    void take_turns(std::vector<program::Merge::Turn> turns);

    const std::string& name() const { return name_; }
    const ArbiterClient* owner() const { return owner_; }
    // Who owns it, or may when its next packet comes: with turns, those of the present one.
    std::vector<const ArbiterClient*> next_owners() const;

    // True when the client owns the arbiter from now on; otherwise it hears later.
    bool request(ArbiterClient& client);
    // The owner's packet has passed.
    void release();

  private:
    program::SwitchPort port_of(const ArbiterClient& client) const;
    bool may_pass(const ArbiterClient& client) const;
    std::deque<ArbiterClient*>::iterator next_waiting(program::SwitchPort last);

    std::string name_;
    ArbiterClient* owner_ = nullptr;
    std::deque<ArbiterClient*> waiting_;
    std::vector<std::pair<const ArbiterClient*, program::SwitchPort>> ports_;
    std::vector<program::Merge::Turn> turns_;  // empty: round robin
    std::size_t turn_ = 0;
    std::int64_t passed_ = 0;  // packets of the present turn
};

}  // namespace tilesim::arch::npu::stream
