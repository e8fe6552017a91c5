// What tilesim_amx_measure wrote, beside the simulation of the same kernels.
//
// A row's kernel is the scenario itself where its name is the scenario's file; otherwise the text
// that the scenario runs, a file beside the CSV file, or a shipped kernel of that name. Each is
// simulated on as many cores as it has threads, a text from the caches that the harness leaves it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/scenario.hpp"

namespace tilesim::sim::compare {

struct AmxMeasurement {
    int line = 0;
    std::string kernel;       // "tdp.amx"
    bool core_cycles = true;  // otherwise of the time-stamp counter
    double least = 0;         // cycles an iteration, or a run
    double median = 0;        //
    double tsc = 0;           // time-stamp cycles of the median; 0 where not given
    double ghz = 0;           // core clock; 0 where not given
    std::string repetitions;  //
    std::string host;         // model and microcode
};

bool is_amx_timing(const std::string& text);
// Throws ConfigError with file, line and column.
std::vector<AmxMeasurement> parse_amx_timing(const std::string& text, const std::string& file);

struct AmxRow {
    AmxMeasurement measured;
    // 1, or what made time-stamp cycles core cycles: products take 16 (optimization manual, 20-2).
    double core_cycles_per_cycle = 1;
    double predicted = 0;  // cycles
    double operations = 0;
    double bytes = 0;
    double median() const { return measured.median * core_cycles_per_cycle; }
    double spread_percent() const { return 100 * (measured.median / measured.least - 1); }
    double error_percent() const { return 100 * (predicted / median() - 1); }
};

struct AmxComparison {
    std::string device;
    double clock_ghz = 0;  // the model's
    std::vector<AmxRow> rows;
    std::vector<std::string> refused;  // "runs.csv:7: tdpp.amx: no such kernel; ..."
    double mean_error_percent = 0;     // of the errors' sizes
    double worst_error_percent = 0;
};

// Throws ConfigError when the device has no AMX cores or no row can be compared.
AmxComparison compare_amx(const sim::Scenario& scenario, const std::string& scenario_file,
                          const std::vector<AmxMeasurement>& measured, const std::string& file);

std::string to_table(const AmxComparison& comparison);
nlohmann::ordered_json to_json(const AmxComparison& comparison);

}  // namespace tilesim::sim::compare
