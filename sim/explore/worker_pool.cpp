#include "sim/explore/worker_pool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>

#include "arch/base/config.hpp"

namespace tilesim::sim::explore {

using std::chrono::milliseconds;

namespace {

// How a worker says what became of it. Distinct from what a library's exit() would say.
constexpr int kAnswered = 0;
constexpr int kFailed = 101;
constexpr int kOutOfMemory = 102;

// The sanitizers reserve terabytes of address space; a limit would end every worker.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kLimitsMemory = false;
#else
constexpr bool kLimitsMemory = true;
#endif

bool write_all(int file, const std::string& text) {
    std::size_t at = 0;
    while (at < text.size()) {
        const ssize_t written = ::write(file, text.data() + at, text.size() - at);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        at += written > 0 ? static_cast<std::size_t>(written) : 0;
    }
    return true;
}

[[noreturn]] void work_as_worker(pid_t parent, int pipe, const Limits& limits,
                                 const std::function<std::string()>& work) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) {  // it ended before it could be watched
        ::_exit(kFailed);
    }
    // Ctrl-C goes to the whole group; the parent decides what it means for work in flight.
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGTERM, SIG_DFL);
    const int nowhere = ::open("/dev/null", O_RDWR);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    if (kLimitsMemory) {
        const rlimit memory{static_cast<rlim_t>(limits.memory_bytes),
                            static_cast<rlim_t>(limits.memory_bytes)};
        ::setrlimit(RLIMIT_AS, &memory);
    }
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    int code = kAnswered;
    std::string text;
    try {
        text = work();
    } catch (const std::bad_alloc&) {
        code = kOutOfMemory;
    } catch (const std::exception& error) {
        code = kFailed;
        text = error.what();
    }
    ::_exit(write_all(pipe, text) ? code : kFailed);
}

}  // namespace

WorkerPool::~WorkerPool() {
    kill_all();
}

void WorkerPool::start(std::uint64_t id, const Limits& limits,
                       const std::function<std::string()>& work) {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw arch::base::config::IoError(
            fmt::format("no pipe for a worker: {}", std::strerror(errno)));
    }
    const pid_t parent = ::getpid();
    const pid_t process = ::fork();
    if (process < 0) {
        ::close(ends[0]);
        ::close(ends[1]);
        throw arch::base::config::IoError(
            fmt::format("no process for a worker: {}", std::strerror(errno)));
    }
    if (process == 0) {
        work_as_worker(parent, ends[1], limits, work);
    }
    ::close(ends[1]);
    const auto now = Clock::now();
    workers_.push_back({id, process, ends[0], now, now + limits.time, "", false});
}

std::vector<WorkerReport> WorkerPool::wait(milliseconds patience) {
    std::vector<pollfd> files;
    auto until = Clock::now() + patience;
    for (const Worker& worker : workers_) {
        files.push_back({worker.pipe, POLLIN, 0});
        until = std::min(until, worker.deadline);
    }
    const auto left = std::chrono::ceil<milliseconds>(until - Clock::now()).count();
    ::poll(files.data(), files.size(), static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000)));
    std::vector<WorkerReport> reports;
    std::vector<Worker> going;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        Worker& worker = workers_[i];
        bool ended = files[i].revents != 0 && !read_some(worker);
        if (!ended && Clock::now() >= worker.deadline) {
            worker.out_of_time = true;
            ::kill(worker.process, SIGKILL);
            ended = true;
        }
        if (ended) {
            reports.push_back(reap(worker));
        } else {
            going.push_back(std::move(worker));
        }
    }
    workers_ = std::move(going);
    return reports;
}

bool WorkerPool::read_some(Worker& worker) {
    std::array<char, 65536> block{};
    const ssize_t got = ::read(worker.pipe, block.data(), block.size());
    if (got < 0) {
        return errno == EINTR || errno == EAGAIN;
    }
    worker.text.append(block.data(), static_cast<std::size_t>(got));
    return got > 0;
}

WorkerReport WorkerPool::reap(const Worker& worker) {
    ::close(worker.pipe);
    int status = 0;
    rusage usage{};
    while (::wait4(worker.process, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    using End = WorkerReport::End;
    WorkerReport report;
    report.id = worker.id;
    report.wall_s = std::chrono::duration<double>(Clock::now() - worker.began).count();
    constexpr double kKibPerMib = 1024.0;
    report.peak_mib = static_cast<double>(usage.ru_maxrss) / kKibPerMib;
    report.text = worker.text;
    if (worker.out_of_time) {
        report.end = End::OutOfTime;
        report.text = fmt::format("stopped after {:.1f} s of host time", report.wall_s);
    } else if (WIFSIGNALED(status)) {
        report.end = End::Crashed;
        report.text =
            fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
    } else if (WEXITSTATUS(status) == kOutOfMemory) {
        report.end = End::OutOfMemory;
        report.text = "more memory than limits.memory allows";
    } else if (WEXITSTATUS(status) == kFailed) {
        report.end = End::Failed;
    } else if (WEXITSTATUS(status) != kAnswered) {
        report.end = End::Crashed;
        report.text = fmt::format("exit code {}", WEXITSTATUS(status));
    }
    return report;
}

void WorkerPool::kill_all() {
    for (const Worker& worker : workers_) {
        ::kill(worker.process, SIGKILL);
    }
    for (const Worker& worker : workers_) {
        reap(worker);
    }
    workers_.clear();
}

}  // namespace tilesim::sim::explore
