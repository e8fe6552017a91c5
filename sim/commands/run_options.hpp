// The options of `tilesim run` that need more than one run.
#pragma once

#include <string>

#include "sim/explore/batch.hpp"

namespace CLI {
class App;
}

namespace tilesim::sim::commands {

struct ManyRuns {
    bool sensitive = false;
    double percent = 10;
    std::string devices;  // names, with commas between them
    std::string rows;     // of A, for each of which the devices are compared; the same
    double search = 5;    // seconds for the mapping of each device and size
    std::size_t processes = 1;

    void add_to(CLI::App& command);
    bool wanted() const { return sensitive || !devices.empty() || !rows.empty(); }
    // Runs them and prints the table or JSON; returns the exit code.
    int run(const std::string& file, const explore::Settings& overrides,
            const std::string& format) const;

  private:
    void refuse_options_of_one_run(const std::string& format) const;

    const CLI::App* command_ = nullptr;
};

}  // namespace tilesim::sim::commands
