// Progress on stderr: one line that is rewritten on a terminal, a line every few seconds elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace tilesim::sim::explore {

class Progress {
  public:
    // `total`: 0 where nobody knows it; `what`: is counted.
    Progress(std::int64_t total, bool quiet, std::string what = "points");

    void advance(bool good);
    // Writes when it is time to.
    void show();
    void finish();

  private:
    std::string text() const;

    using Clock = std::chrono::steady_clock;
    std::int64_t total_;
    std::string what_;
    std::int64_t done_ = 0, failed_ = 0;
    bool quiet_;
    bool terminal_;
    Clock::time_point began_, shown_;
};

}  // namespace tilesim::sim::explore
