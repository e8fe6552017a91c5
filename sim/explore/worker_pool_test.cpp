#include "sim/explore/worker_pool.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

namespace tilesim::sim::explore {
namespace {

using End = WorkerReport::End;

WorkerReport report_of(const Limits& limits, const std::function<std::string()>& work) {
    WorkerPool pool(1);
    pool.start(7, limits, work);
    std::vector<WorkerReport> reports;
    while (reports.empty()) {
        reports = pool.wait(std::chrono::seconds{5});
    }
    EXPECT_TRUE(pool.idle());
    EXPECT_EQ(reports[0].id, 7U);
    return reports[0];
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

TEST(WorkerPool, RunsAtMostItsJobsAtOnce) {
    WorkerPool pool(2);
    const auto sleep = [] {
        ::usleep(100'000);
        return std::string{};
    };
    pool.start(1, {}, sleep);
    EXPECT_FALSE(pool.full());
    pool.start(2, {}, sleep);
    EXPECT_TRUE(pool.full());
}

}  // namespace
}  // namespace tilesim::sim::explore
