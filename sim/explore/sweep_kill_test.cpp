// Kills sweeps as nobody should and checks that the store loses and doubles nothing.
#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/base/temporary_folder_testing.hpp"
#include "sim/explore/export.hpp"
#include "sim/explore/store.hpp"

namespace tilesim::sim::explore {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

const std::string kExecutable = std::string{TILESIM_BINARY_DIR} + "/tilesim";
constexpr int kPoints = 60;

class SweepKill : public testing::Test {
  protected:
    void SetUp() override {
        std::ofstream(folder_ / "sweep.yaml")
            << "base: " << TILESIM_SOURCE_DIR << "/configs/scenarios/xdna_functional.yaml\n"
            << "axes: [{seeds: " << kPoints << "}]\n";
        store_ = folder_ / "results.db";
    }

    pid_t start(const std::vector<std::string>& more = {}) const {
        std::vector<std::string> words{kExecutable, "sweep",  (folder_ / "sweep.yaml").string(),
                                       "--store",   store_,   "--jobs",
                                       "2",         "--quiet"};
        words.insert(words.end(), more.begin(), more.end());
        std::vector<char*> arguments;
        for (std::string& word : words) {
            arguments.push_back(word.data());
        }
        arguments.push_back(nullptr);
        const pid_t process = ::fork();
        if (process == 0) {
            const int out = ::open((folder_ / "out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
            ::dup2(out, STDOUT_FILENO);
            ::dup2(out, STDERR_FILENO);
            ::execv(arguments[0], arguments.data());
            ::_exit(127);
        }
        return process;
    }

    static int exit_code(pid_t process) {
        int status = 0;
        ::waitpid(process, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }

    /// Whether the process has not ended; who ended stays for exit_code().
    static bool runs(pid_t process) {
        siginfo_t ended{};
        ::waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOHANG | WNOWAIT);
        return ended.si_pid == 0;
    }

    /// The oldest worker of a sweep, once it has one. A process that has ended has itself: it is
    /// asked for nothing that its signal could still change.
    static pid_t first_worker(pid_t parent) {
        const std::string children =
            fmt::format("/proc/{0}/task/{0}/children", static_cast<int>(parent));
        pid_t worker = 0;
        while (!(std::ifstream(children) >> worker)) {
            if (!runs(parent)) {
                return parent;
            }
            std::this_thread::sleep_for(milliseconds{1});
        }
        return worker;
    }

    std::int64_t finished() const {
        if (!fs::exists(store_)) {
            return 0;
        }
        try {
            Store store(store_, Store::Mode::Read);
            store.check();
            const auto sweeps = store.sweeps();
            return sweeps.empty() ? 0 : sweeps[0].finished;
        } catch (const arch::base::config::ConfigError&) {
            return 0;  // killed before its tables were there
        }
    }

    void wait_for(std::int64_t points) const {
        while (finished() < points) {
            std::this_thread::sleep_for(milliseconds{2});
        }
    }

    std::int64_t finished_as(const std::string& status) const {
        Store store(store_, Store::Mode::Read);
        return std::ranges::count(store.points(pick_sweep(store, 0).id), status,
                                  &StoredPoint::status);
    }

    void expect_complete(const std::string& status) const {
        Store store(store_, Store::Mode::Read);
        store.check();
        const StoredSweep sweep = pick_sweep(store, 0);
        EXPECT_EQ(sweep.points, kPoints);
        EXPECT_EQ(sweep.finished, kPoints);
        const std::vector<StoredPoint> points = store.points(sweep.id);
        std::set<std::string> settings;
        for (const StoredPoint& point : points) {
            settings.insert(point.settings);
        }
        EXPECT_TRUE(std::ranges::is_sorted(points, {}, &StoredPoint::id));  // whichever ended first
        EXPECT_EQ(settings.size(), static_cast<std::size_t>(kPoints));
        EXPECT_EQ(finished_as(status), kPoints);
    }

    const arch::base::TemporaryFolder temporary_;
    const fs::path folder_ = temporary_.path();
    std::string store_;
};

TEST_F(SweepKill, ParentsKilledAgainAndAgainLoseAndDoubleNothing) {
    // Including before the store exists, and while it is being made.
    for (const int pause : {0, 5, 10, 15, 25, 40}) {
        const pid_t parent = start();
        std::this_thread::sleep_for(milliseconds{pause});
        ::kill(parent, SIGKILL);
        exit_code(parent);
        finished();  // checks integrity
    }
    const std::int64_t before = finished();
    const pid_t parent = start();
    wait_for(std::min<std::int64_t>(before + 10, kPoints));
    ::kill(parent, SIGKILL);
    exit_code(parent);
    EXPECT_GE(finished(), before + 10);
    EXPECT_EQ(exit_code(start()), 0);
    expect_complete("ok");
}

TEST_F(SweepKill, AKilledWorkerFailsItsPointOnlyAndCanBeRetried) {
    const pid_t parent = start();
    int killed = 0;
    while (killed < 3 && runs(parent)) {
        killed += ::kill(first_worker(parent), SIGKILL) == 0 ? 1 : 0;
        std::this_thread::sleep_for(milliseconds{5});
    }
    EXPECT_EQ(exit_code(parent), 1);
    EXPECT_EQ(finished(), kPoints);
    const std::int64_t failed = kPoints - finished_as("ok");
    EXPECT_GE(failed, 1);
    EXPECT_LE(failed, killed);
    EXPECT_EQ(exit_code(start({"--retry-failed"})), 0);
    expect_complete("ok");
}

TEST_F(SweepKill, CtrlCFinishesWhatIsInFlightAndTheSameCommandGoesOn) {
    const pid_t parent = start();
    first_worker(parent);
    ::kill(parent, SIGINT);
    EXPECT_EQ(exit_code(parent), 1);
    EXPECT_LT(finished(), kPoints);
    EXPECT_EQ(exit_code(start()), 0);
    expect_complete("ok");
}

TEST_F(SweepKill, ASecondSweepOnTheSameStoreIsRefused) {
    const pid_t parent = start();
    wait_for(1);
    EXPECT_EQ(exit_code(start()), 5);
    ::kill(parent, SIGKILL);
    exit_code(parent);
    EXPECT_EQ(exit_code(start()), 0);
}

// SQLite would go on in a file without a name, or say that the database is read-only.
TEST_F(SweepKill, AStoreThatIsTakenAwayEndsTheSweepWithOneMessage) {
    for (const bool replaced : {false, true}) {
        fs::remove(store_);
        const pid_t parent = start();
        wait_for(5);
        fs::rename(store_, store_ + ".old");
        if (replaced) {
            fs::copy_file(store_ + ".old", store_);
        }
        EXPECT_EQ(exit_code(parent), 5);
        std::ifstream said(folder_ / "out");
        std::string line;
        std::getline(said, line);
        EXPECT_NE(line.find("was removed or replaced"), line.npos) << line;
        EXPECT_FALSE(std::getline(said, line)) << line;
    }
    EXPECT_EQ(exit_code(start()), 0);  // in what has taken its place
    expect_complete("ok");
}

TEST_F(SweepKill, ShardsMergeIntoTheWholeSweep) {
    const std::string whole = store_;
    for (const char* shard : {"1/3", "2/3", "3/3"}) {
        store_ = whole + "." + shard[0];
        EXPECT_EQ(exit_code(start({"--shard", shard})), 0);
    }
    {  // broken off behind the first store
        Store store(whole, Store::Mode::Create);
        for (const char* shard : {".1", ".2", ".3"}) {
            store.announce(whole + shard);
        }
        store.merge(whole + ".1");
        const StoredSweep sweep = store.sweeps().front();
        EXPECT_EQ(sweep.points, kPoints);
        EXPECT_LT(sweep.finished, kPoints);
    }
    const std::string merge =
        kExecutable + " merge " + whole + " " + whole + ".? > " + (folder_ / "out").string();
    EXPECT_EQ(std::system(merge.c_str()), 0);
    EXPECT_EQ(std::system(merge.c_str()), 0);  // again: adds nothing
    store_ = whole;
    expect_complete("ok");
}

TEST_F(SweepKill, AnotherModelsResultsAreNotMixedIn) {
    EXPECT_EQ(exit_code(start()), 0);
    Database(store_, Database::Mode::Existing)
        .execute(
            "UPDATE points SET model = 'older'; UPDATE ids SET model = 'older'; "
            "UPDATE sweeps SET model = 'older', identity = 'older'");
    EXPECT_EQ(exit_code(start()), 2);
    EXPECT_EQ(exit_code(start({"--new-model"})), 0);
    EXPECT_EQ(exit_code(start()), 0);  // told once
    Store store(store_, Store::Mode::Read);
    EXPECT_EQ(store.sweeps().size(), 2U);
    expect_complete("ok");
}

TEST_F(SweepKill, WhatIsNoStoreIsRefusedAndLeftAsItIs) {
    std::ofstream(store_) << "not a database, but long enough to look at: "
                          << std::string(200, 'x');
    const auto size = fs::file_size(store_);
    EXPECT_EQ(exit_code(start()), 2);
    EXPECT_EQ(fs::file_size(store_), size);
    store_ = "/proc/tilesim.db";
    EXPECT_EQ(exit_code(start()), 5);
}

}  // namespace
}  // namespace tilesim::sim::explore
