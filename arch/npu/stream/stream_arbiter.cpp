#include "arch/npu/stream/stream_arbiter.hpp"

#include <algorithm>
#include <tuple>

namespace tilesim::arch::npu::stream {

void StreamArbiter::enters(const ArbiterClient& client, program::SwitchPort by) {
    ports_.emplace_back(&client, by);
}

void StreamArbiter::take_turns(std::vector<program::Merge::Turn> turns) {
    turns_ = std::move(turns);
}

std::vector<const ArbiterClient*> StreamArbiter::next_owners() const {
    std::vector<const ArbiterClient*> owners;
    if (owner_ != nullptr) {
        owners.push_back(owner_);
    } else if (!turns_.empty()) {
        for (const auto& [client, port] : ports_) {
            if (port == turns_[turn_].in) {
                owners.push_back(client);
            }
        }
    }
    return owners;
}

program::SwitchPort StreamArbiter::port_of(const ArbiterClient& client) const {
    const auto place = std::find_if(ports_.begin(), ports_.end(), [&client](const auto& entry) {
        return entry.first == &client;
    });
    return place == ports_.end() ? program::SwitchPort{} : place->second;
}

bool StreamArbiter::may_pass(const ArbiterClient& client) const {
    return turns_.empty() || port_of(client) == turns_[turn_].in;
}

bool StreamArbiter::request(ArbiterClient& client) {
    if (owner_ == nullptr && may_pass(client)) {
        owner_ = &client;
        return true;
    }
    waiting_.push_back(&client);
    return false;
}

// SwitchPort's order is that of the registers of every kind of tile.
std::deque<ArbiterClient*>::iterator StreamArbiter::next_waiting(program::SwitchPort last) {
    const auto rank = [&](const ArbiterClient* client) {
        const program::SwitchPort port = port_of(*client);
        return std::tuple{!may_pass(*client), port <= last, port};
    };
    const auto next = std::min_element(
        waiting_.begin(), waiting_.end(),
        [&rank](const auto* one, const auto* other) { return rank(one) < rank(other); });
    return next == waiting_.end() || may_pass(**next) ? next : waiting_.end();
}

void StreamArbiter::release() {
    const program::SwitchPort last = port_of(*owner_);
    owner_ = nullptr;
    if (!turns_.empty() && ++passed_ == turns_[turn_].packets) {
        passed_ = 0;
        turn_ = (turn_ + 1) % turns_.size();
    }
    const auto next = next_waiting(last);
    if (next != waiting_.end()) {
        owner_ = *next;
        waiting_.erase(next);
        owner_->on_arbiter_granted();
    }
}

}  // namespace tilesim::arch::npu::stream
