#include "sim/explore/worker_pool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <type_traits>

#include "arch/base/config.hpp"

namespace tilesim::sim::explore {

using std::chrono::milliseconds;

namespace {

// In front of an answer.
struct Header {
    WorkerReport::End end = WorkerReport::End::Answered;
    bool leaves = false;  // it takes no further task
    double peak_mib = 0;
    std::size_t bytes = 0;  // of the text that follows
};

// A worker that keeps more than this of what its tasks took is replaced.
constexpr std::int64_t kMostKept = std::int64_t{32} << 20;

// The sanitizers reserve terabytes of address space; a limit would end every worker.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kLimitsMemory = false;
#else
constexpr bool kLimitsMemory = true;
#endif

double resident_peak_mib(const rusage& usage) {
    constexpr double kKibPerMib = 1024.0;
    return static_cast<double>(usage.ru_maxrss) / kKibPerMib;
}

// Bytes; 0 where the host does not say.
std::int64_t resident() {
    std::ifstream pages("/proc/self/statm");
    std::int64_t whole = 0;
    std::int64_t here = 0;
    return pages >> whole >> here ? here * ::sysconf(_SC_PAGESIZE) : 0;
}

// Peaks of a task that follows count from here.
void forget_peak() {
    std::ofstream("/proc/self/clear_refs") << "5";
}

bool send_all(int line, const char* data, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes;) {
        const ssize_t sent = ::send(line, data + at, bytes - at, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) {
            return false;
        }
        at += sent > 0 ? static_cast<std::size_t>(sent) : 0;
    }
    return true;
}

bool receive_all(int line, char* data, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes;) {
        const ssize_t got = ::recv(line, data + at, bytes - at, 0);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return false;
        }
        at += got > 0 ? static_cast<std::size_t>(got) : 0;
    }
    return true;
}

template <class Value>
bool send_value(int line, const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    return send_all(line, reinterpret_cast<const char*>(&value), sizeof value);
}

template <class Value>
bool receive_value(int line, Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    return receive_all(line, reinterpret_cast<char*>(&value), sizeof value);
}

bool send_task(int line, const std::string& task) {
    return send_value(line, task.size()) && send_all(line, task.data(), task.size());
}

bool receive_task(int line, std::string& task) {
    std::size_t bytes = 0;
    if (!receive_value(line, bytes)) {
        return false;
    }
    task.resize(bytes);
    return receive_all(line, task.data(), bytes);
}

WorkerReport::End done(const WorkerPool::Work& work, const std::string& task, std::string& text) {
    try {
        text = work(task);
        return WorkerReport::End::Answered;
    } catch (const std::bad_alloc&) {
        text = "more memory than limits.memory allows";
        return WorkerReport::End::OutOfMemory;
    } catch (const std::exception& error) {
        text = error.what();
        return WorkerReport::End::Failed;
    }
}

[[noreturn]] void serve(pid_t parent, int line, const Limits& limits,
                        const WorkerPool::Work& work) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) {  // it ended before it could be watched
        ::_exit(EXIT_FAILURE);
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
    const std::int64_t at_first = resident();
    for (std::string task; receive_task(line, task);) {
        forget_peak();
        std::string text;
        Header header;
        header.end = done(work, task, text);
        rusage usage{};
        ::getrusage(RUSAGE_SELF, &usage);
        header.peak_mib = resident_peak_mib(usage);
        header.bytes = text.size();
        header.leaves =
            header.end == WorkerReport::End::OutOfMemory || resident() - at_first > kMostKept;
        if (!send_value(line, header) || !send_all(line, text.data(), text.size()) ||
            header.leaves) {
            break;
        }
    }
    ::_exit(EXIT_SUCCESS);
}

}  // namespace

WorkerPool::~WorkerPool() {
    for (const Worker& worker : workers_) {
        ::kill(worker.process, SIGKILL);
    }
    for (Worker& worker : workers_) {
        reap(worker, false);
    }
}

std::size_t WorkerPool::busy() const {
    return static_cast<std::size_t>(std::count_if(
        workers_.begin(), workers_.end(), [](const Worker& worker) { return worker.busy; }));
}

WorkerPool::Worker WorkerPool::fork_worker() const {
    std::array<int, 2> ends{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        throw arch::base::config::IoError(
            fmt::format("no line to a worker: {}", std::strerror(errno)));
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
        ::close(ends[0]);
        serve(parent, ends[1], limits_, work_);
    }
    ::close(ends[1]);
    Worker worker;
    worker.process = process;
    worker.line = ends[0];
    return worker;
}

void WorkerPool::start(std::uint64_t id, const std::string& task, milliseconds time) {
    const auto is_free = [](const Worker& worker) { return !worker.busy; };
    auto worker = std::find_if(workers_.begin(), workers_.end(), is_free);
    if (worker == workers_.end()) {
        worker = workers_.insert(worker, fork_worker());
    }
    worker->busy = true;
    worker->id = id;
    worker->began = Clock::now();
    worker->deadline = worker->began + time;
    if (!send_task(worker->line, task)) {  // it has been killed since its last one
        reap(*worker, false);
        workers_.erase(worker);
        start(id, task, time);
    }
}

std::vector<WorkerReport> WorkerPool::wait(milliseconds patience) {
    std::vector<pollfd> lines;
    auto until = Clock::now() + patience;
    for (const Worker& worker : workers_) {
        lines.push_back({worker.line, POLLIN, 0});
        until = worker.busy ? std::min(until, worker.deadline) : until;
    }
    const auto left = std::chrono::ceil<milliseconds>(until - Clock::now()).count();
    ::poll(lines.data(), lines.size(), static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000)));
    std::vector<WorkerReport> reports;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        Worker& worker = workers_[i];
        const bool there = lines[i].revents == 0 || read_some(worker);
        if (std::optional<WorkerReport> report = answer_of(worker)) {
            reports.push_back(std::move(*report));
        } else if (!there) {
            WorkerReport end = reap(worker, false);
            if (worker.busy) {
                reports.push_back(std::move(end));
            }
        } else if (worker.busy && Clock::now() >= worker.deadline) {
            ::kill(worker.process, SIGKILL);
            reports.push_back(reap(worker, true));
        }
    }
    std::erase_if(workers_, [](const Worker& worker) { return worker.process == 0; });
    return reports;
}

bool WorkerPool::read_some(Worker& worker) {
    std::array<char, 65536> block{};
    const ssize_t got = ::recv(worker.line, block.data(), block.size(), 0);
    if (got < 0) {
        return errno == EINTR || errno == EAGAIN;
    }
    worker.received.append(block.data(), static_cast<std::size_t>(got));
    return got > 0;
}

WorkerReport WorkerPool::report_on(const Worker& worker) {
    WorkerReport report;
    report.id = worker.id;
    report.wall_s = std::chrono::duration<double>(Clock::now() - worker.began).count();
    return report;
}

std::optional<WorkerReport> WorkerPool::answer_of(Worker& worker) {
    Header header;
    if (worker.received.size() < sizeof header) {
        return std::nullopt;
    }
    std::memcpy(&header, worker.received.data(), sizeof header);
    if (worker.received.size() < sizeof header + header.bytes) {
        return std::nullopt;
    }
    WorkerReport report = report_on(worker);
    report.end = header.end;
    report.peak_mib = header.peak_mib;
    report.text = worker.received.substr(sizeof header);
    worker.received.clear();
    worker.busy = false;
    if (header.leaves) {
        reap(worker, false);
    }
    return report;
}

WorkerReport WorkerPool::reap(Worker& worker, bool out_of_time) {
    ::close(worker.line);
    int status = 0;
    rusage usage{};
    while (::wait4(worker.process, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    worker.process = 0;
    WorkerReport report = report_on(worker);
    report.peak_mib = resident_peak_mib(usage);
    if (out_of_time) {
        report.end = WorkerReport::End::OutOfTime;
        report.text = fmt::format("stopped after {:.1f} s of host time", report.wall_s);
    } else {
        report.end = WorkerReport::End::Crashed;
        report.text = WIFSIGNALED(status) ? fmt::format("signal {} ({})", WTERMSIG(status),
                                                        ::strsignal(WTERMSIG(status)))
                                          : fmt::format("exit code {}", WEXITSTATUS(status));
    }
    return report;
}

}  // namespace tilesim::sim::explore
