#include "sim/explore/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace tilesim::sim::explore {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds kTerminalPause{100};
constexpr milliseconds kLinePause{5000};

std::string duration_text(double seconds) {
    const auto whole = static_cast<std::int64_t>(seconds);
    constexpr std::int64_t kMinute = 60;
    constexpr std::int64_t kHour = 3600;
    return whole >= kHour ? fmt::format("{} h {:02} min", whole / kHour, whole % kHour / kMinute)
           : whole >= kMinute ? fmt::format("{} min {:02} s", whole / kMinute, whole % kMinute)
                              : fmt::format("{} s", whole);
}

}  // namespace

Progress::Progress(std::int64_t total, bool quiet, std::string what)
    : total_(total),
      what_(std::move(what)),
      quiet_(quiet),
      terminal_(::isatty(STDERR_FILENO) != 0),
      began_(Clock::now()),
      shown_(began_) {}

void Progress::advance(bool good) {
    ++done_;
    failed_ += good ? 0 : 1;
}

std::string Progress::text() const {
    const double elapsed = std::chrono::duration<double>(Clock::now() - began_).count();
    const double rate = elapsed > 0 ? static_cast<double>(done_) / elapsed : 0;
    std::string text = total_ > 0 ? fmt::format("{} of {} {}", done_, total_, what_)
                                  : fmt::format("{} {}", done_, what_);
    if (failed_ > 0) {
        text += fmt::format(", {} failed", failed_);
    }
    if (done_ > 0) {
        text += fmt::format(", {:.1f} a second", rate);
    }
    if (done_ > 0 && total_ > 0) {
        text += fmt::format(", {} left", duration_text(static_cast<double>(total_ - done_) / rate));
    }
    return text;
}

void Progress::show() {
    const auto now = Clock::now();
    if (quiet_ || now - shown_ < (terminal_ ? kTerminalPause : kLinePause)) {
        return;
    }
    shown_ = now;
    constexpr const char* kRewrite = "\r\033[K";
    std::fputs((terminal_ ? kRewrite + text() : text() + "\n").c_str(), stderr);
}

void Progress::finish() {
    if (!quiet_ && terminal_) {
        std::fputs("\r\033[K", stderr);
    }
}

}  // namespace tilesim::sim::explore
