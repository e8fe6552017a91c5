// The arbiter of a switch's output port: packets of several sources pass one after the other.
//
// Models:  one owner at a time, held until the packet's last word (TLAST); waiting packets served
//          in order of arrival, so that a stall behind one blocks the others.
// Source:  AMD AM020; mlir-aie PR 3702 (grant held until TLAST). The order among waiting packets is
//          undocumented beyond "round robin"; order of arrival equals it for two sources.
#pragma once

#include <deque>
#include <string>

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

    const std::string& name() const { return name_; }
    const ArbiterClient* owner() const { return owner_; }

    // True when the client owns the arbiter from now on; otherwise it hears later.
    bool request(ArbiterClient& client) {
        if (owner_ == nullptr) {
            owner_ = &client;
            return true;
        }
        waiting_.push_back(&client);
        return false;
    }
    void release() {
        owner_ = nullptr;
        if (!waiting_.empty()) {
            owner_ = waiting_.front();
            waiting_.pop_front();
            owner_->on_arbiter_granted();
        }
    }

  private:
    std::string name_;
    ArbiterClient* owner_ = nullptr;
    std::deque<ArbiterClient*> waiting_;
};

}  // namespace tilesim::arch::npu::stream
