// A procedure that stops in its middle and goes on later: what an agent does between two of its
// systems' runs. It has a thread of its own, of which never more than one runs.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace tilesim::sim::session {

class Fiber {
  public:
    // Does not start it.
    explicit Fiber(std::function<void(Fiber&)> body) : body_(std::move(body)) {}
    // Unwinds what has not ended.
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    // Lets it run until it yields or ends. What it throws arrives here.
    void resume();
    bool ended() const { return ended_; }
    // From within: gives the caller of `resume` its turn back.
    void yield();

  private:
    struct Unwinding {};
    enum class Turn { Caller, Own };
    void pass(Turn to);

    std::function<void(Fiber&)> body_;
    std::thread thread_;
    std::mutex mutex_;
    std::condition_variable passed_;
    Turn turn_ = Turn::Caller;
    bool ended_ = false;
    bool unwind_ = false;
    std::exception_ptr failure_;
};

}  // namespace tilesim::sim::session
