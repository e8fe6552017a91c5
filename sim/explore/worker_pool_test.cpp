#include "sim/explore/worker_pool.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

namespace tilesim::sim::explore {
namespace {

using End = WorkerReport::End;

WorkerReport next_report(WorkerPool& pool) {
    std::vector<WorkerReport> reports;
    while (reports.empty()) {
        reports = pool.wait(std::chrono::seconds{5});
    }
    EXPECT_EQ(reports.size(), 1U);
    return reports[0];
}

WorkerReport report_of(const Limits& limits, const std::function<std::string()>& work) {
    WorkerPool pool(1, limits, [&](const std::string&) { return work(); });
    pool.start(7, "");
    const WorkerReport report = next_report(pool);
    EXPECT_TRUE(pool.idle());
    EXPECT_EQ(report.id, 7U);
    return report;
}

std::string who(const std::string& /*task*/) {
    return std::to_string(::getpid());
}

TEST(WorkerPool, CarriesBackAnswersLargerThanAPipe) {
    const std::string text(1 << 20, 'x');
    const WorkerReport report = report_of({}, [&] { return text; });
    EXPECT_EQ(report.end, End::Answered);
    EXPECT_EQ(report.text, text);
}

TEST(WorkerPool, ACrashIsTheWorkersOwn) {
    const WorkerReport report = report_of({}, []() -> std::string { ::abort(); });
    EXPECT_EQ(report.end, End::Crashed);
    EXPECT_NE(report.text.find("signal 6"), std::string::npos);
    EXPECT_EQ(report_of({}, []() -> std::string { ::_exit(3); }).end, End::Crashed);
    EXPECT_EQ(report_of({},
                        []() -> std::string {
                            ::raise(SIGKILL);
                            return "";
                        })
                  .end,
              End::Crashed);
}

TEST(WorkerPool, AnExceptionIsReportedWithItsText) {
    const WorkerReport report =
        report_of({}, []() -> std::string { throw std::runtime_error("why"); });
    EXPECT_EQ(report.end, End::Failed);
    EXPECT_EQ(report.text, "why");
}

TEST(WorkerPool, EndlessWorkIsStopped) {
    Limits limits;
    limits.time = std::chrono::milliseconds{200};
    const WorkerReport report = report_of(limits, []() -> std::string {
        while (true) {
            ::pause();
        }
    });
    EXPECT_EQ(report.end, End::OutOfTime);
    EXPECT_GE(report.wall_s, 0.2);
}

TEST(WorkerPool, TooMuchMemoryIsRefused) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "the sanitizer needs the address space";
#endif
    Limits limits;
    limits.memory_bytes = std::int64_t{256} << 20;
    const WorkerReport report =
        report_of(limits, [] { return std::string(std::size_t{512} << 20, 'x').substr(0, 1); });
    EXPECT_EQ(report.end, End::OutOfMemory);
}

TEST(WorkerPool, AWorkerTakesOneTaskAfterTheOther) {
    WorkerPool pool(1, {}, [](const std::string& task) { return who(task) + " " + task; });
    pool.start(1, "one");
    const std::string first = next_report(pool).text;
    pool.start(2, "two");
    const WorkerReport second = next_report(pool);
    EXPECT_EQ(second.id, 2U);
    EXPECT_EQ(second.text, first.substr(0, first.find(' ')) + " two");
}

TEST(WorkerPool, ATaskBehindACrashGetsANewWorker) {
    WorkerPool pool(
        1, {}, [](const std::string& task) { return task == "die" ? ::abort(), "" : who(task); });
    pool.start(1, "");
    const std::string first = next_report(pool).text;
    pool.start(2, "die");
    EXPECT_EQ(next_report(pool).end, End::Crashed);
    pool.start(3, "");
    const WorkerReport third = next_report(pool);
    EXPECT_EQ(third.end, End::Answered);
    EXPECT_NE(third.text, first);
}

TEST(WorkerPool, ATaskForAWorkerThatWasKilledMeanwhileGetsANewOne) {
    WorkerPool pool(1, {}, who);
    pool.start(1, "");
    const std::string first = next_report(pool).text;
    ::kill(static_cast<pid_t>(std::stol(first)), SIGKILL);
    ::usleep(50'000);
    pool.start(2, "");
    const WorkerReport second = next_report(pool);
    EXPECT_EQ(second.end, End::Answered);
    EXPECT_NE(second.text, first);
}

// What one task leaves behind is not the next one's peak.
TEST(WorkerPool, AWorkerThatKeepsMemoryIsReplaced) {
    WorkerPool pool(1, {}, [](const std::string& task) {
        static std::string kept;
        kept.assign(std::stoul(task), 'x');
        return who(task);
    });
    pool.start(1, std::to_string(std::size_t{64} << 20));
    const WorkerReport large = next_report(pool);
    EXPECT_GT(large.peak_mib, 64);
    pool.start(2, "1");
    const WorkerReport small = next_report(pool);
    EXPECT_NE(small.text, large.text);
    EXPECT_LT(small.peak_mib, large.peak_mib - 32);
}

TEST(WorkerPool, APeakIsTheTasksOwn) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "the sanitizer keeps what is freed";
#endif
    WorkerPool pool(1, {}, [](const std::string& task) {
        const std::string taken(std::stoul(task), 'x');
        return who(taken);
    });
    pool.start(1, std::to_string(std::size_t{64} << 20));
    const WorkerReport large = next_report(pool);
    pool.start(2, "1");
    const WorkerReport small = next_report(pool);
    EXPECT_EQ(small.text, large.text);
    EXPECT_LT(small.peak_mib, large.peak_mib - 32);
}

TEST(WorkerPool, RunsAtMostItsJobsAtOnce) {
    WorkerPool pool(2, {}, [](const std::string& task) {
        ::usleep(100'000);
        return task;
    });
    pool.start(1, "");
    EXPECT_FALSE(pool.full());
    pool.start(2, "");
    EXPECT_TRUE(pool.full());
}

}  // namespace
}  // namespace tilesim::sim::explore
