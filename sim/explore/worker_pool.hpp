// Worker processes: each takes one task after the other, a text, and answers with another.
//
// What a worker does to itself (a crash, endless work, too much memory) stays its own and its
// task's: the next task gets a new one. So it does where a task has left much memory behind: limits
// and peaks are each task's own. Workers die with the process that started them, however that one
// ends.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
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
    // Runs in a worker, which knows what this process knew when the worker was forked; an exception
    // it throws makes the report say Failed.
    using Work = std::function<std::string(const std::string& task)>;

    WorkerPool(std::size_t jobs, const Limits& limits, Work work)
        : jobs_(jobs), limits_(limits), work_(std::move(work)) {}
    ~WorkerPool();
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    bool full() const { return busy() >= jobs_; }
    bool idle() const { return busy() == 0; }

    void start(std::uint64_t id, const std::string& task) { start(id, task, limits_.time); }
    void start(std::uint64_t id, const std::string& task, std::chrono::milliseconds time);
    // How long a caller that shows progress waits at a time.
    static constexpr std::chrono::milliseconds kPatience{200};
    // The tasks that have ended; waits for one, but not longer than `patience`.
    std::vector<WorkerReport> wait(std::chrono::milliseconds patience = kPatience);

  private:
    using Clock = std::chrono::steady_clock;
    struct Worker {
        pid_t process = 0;
        int line = -1;  // a socket: tasks go out, answers come in
        bool busy = false;
        std::uint64_t id = 0;
        Clock::time_point began, deadline;
        std::string received;
    };

    std::size_t busy() const;
    Worker fork_worker() const;
    // What there is; false at the end of the line.
    static bool read_some(Worker& worker);
    // Where its answer is complete, its report; the worker may have left with it.
    static std::optional<WorkerReport> answer_of(Worker& worker);
    static WorkerReport report_on(const Worker& worker);
    // Its end without an answer.
    static WorkerReport reap(Worker& worker, bool out_of_time);

    std::size_t jobs_;
    Limits limits_;
    Work work_;
    std::vector<Worker> workers_;
};

}  // namespace tilesim::sim::explore
