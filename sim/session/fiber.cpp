#include "sim/session/fiber.hpp"

#include <utility>

namespace tilesim::sim::session {

Fiber::~Fiber() {
    if (thread_.joinable()) {
        if (!ended_) {
            unwind_ = true;
            pass(Turn::Own);
        }
        thread_.join();
    }
}

// Hands the turn over and waits until it comes back.
void Fiber::pass(Turn to) {
    const Turn own = to == Turn::Own ? Turn::Caller : Turn::Own;
    std::unique_lock lock(mutex_);
    turn_ = to;
    passed_.notify_all();
    passed_.wait(lock, [&] { return turn_ == own; });
}

void Fiber::resume() {
    if (!thread_.joinable()) {
        thread_ = std::thread([this] {
            {
                std::unique_lock lock(mutex_);
                passed_.wait(lock, [this] { return turn_ == Turn::Own; });
            }
            try {
                body_(*this);
            } catch (const Unwinding&) {  // nobody waits for it any more
            } catch (...) {
                failure_ = std::current_exception();
            }
            const std::lock_guard lock(mutex_);
            ended_ = true;
            turn_ = Turn::Caller;
            passed_.notify_all();
        });
    }
    pass(Turn::Own);
    if (failure_) {
        std::rethrow_exception(std::exchange(failure_, nullptr));
    }
}

void Fiber::yield() {
    pass(Turn::Caller);
    if (unwind_) {
        throw Unwinding{};
    }
}

}  // namespace tilesim::sim::session
