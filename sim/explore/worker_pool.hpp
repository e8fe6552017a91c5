// Worker processes: each runs one piece of work and answers with a text.
//
// What a worker does to itself (a crash, endless work, too much memory) stays its own. Workers die
// with the process that started them, however that one ends.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/explore/sweep_file.hpp"

namespace tilesim::sim::explore {

struct WorkerReport {
    enum class End { Answered, Failed, Crashed, OutOfTime, OutOfMemory };
    std::uint64_t id = 0;  // as given to `start`
    End end = End::Answered;
    std::string text;  // the answer; otherwise what happened
    double wall_s = 0;
    double peak_mib = 0;  // resident memory
};

class WorkerPool {
  public:
    explicit WorkerPool(std::size_t jobs) : jobs_(jobs) {}
    ~WorkerPool();
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    bool full() const { return workers_.size() >= jobs_; }
    bool idle() const { return workers_.empty(); }

    // `work` runs in a process of its own; an exception it throws makes the report say Failed.
    void start(std::uint64_t id, const Limits& limits, const std::function<std::string()>& work);
    // How long a caller that shows progress waits at a time.
    static constexpr std::chrono::milliseconds kPatience{200};
    // The workers that have ended; waits for one, but not longer than `patience`.
    std::vector<WorkerReport> wait(std::chrono::milliseconds patience = kPatience);
    void kill_all();

  private:
    using Clock = std::chrono::steady_clock;
    struct Worker {
        std::uint64_t id = 0;
        pid_t process = 0;
        int pipe = -1;
        Clock::time_point began, deadline;
        std::string text;
        bool out_of_time = false;
    };

    bool read_some(Worker& worker);  // false at the end of its answer
    WorkerReport reap(const Worker& worker);

    std::size_t jobs_;
    std::vector<Worker> workers_;
};

}  // namespace tilesim::sim::explore
