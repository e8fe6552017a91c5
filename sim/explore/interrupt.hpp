// Ctrl-C: once, finish what is in flight; twice, stop at once.
#pragma once

namespace tilesim::sim::explore {

// While it lives, SIGINT and SIGTERM are counted instead of ending the program.
class InterruptGuard {
  public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    bool requested() const;  // start nothing more
    bool insisted() const;   // stop what runs
};

}  // namespace tilesim::sim::explore
