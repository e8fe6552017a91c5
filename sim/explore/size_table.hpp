// Matrix products of several sizes on several devices: who is fastest at which size.
//
// The sizes are a GEMM's with other numbers of rows, or those of a transformer's layers: with as
// many rows as its prompts have tokens, and with one a sequence, as token generation has them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/explore/best_run.hpp"

namespace tilesim::sim::explore {

struct Size {
    std::string product;  // "qkv"; of a gemm, "gemm"
    std::int64_t m = 0, k = 0, n = 0;
    std::int64_t layers = 0;  // that have this product; 0: no part of a model
    Job job;
    std::int64_t tokens = 0;  // a layer works on
    double matrices = 1;      // of a layer that they read: experts
};

// `rows`: those to compare; none: the model's own. Empty where the scenario is one run on each
// device: no model, and no rows asked for. Throws ConfigError for rows of what has none.
std::vector<Size> sizes_of(const Job& base, const std::vector<std::int64_t>& rows);

struct SizeTable {
    struct Row {
        std::string product;
        std::int64_t m = 0, k = 0, n = 0;            // k and n are 0 in a sum over a model's layers
        std::vector<std::optional<double>> time_ns;  // one a device; nothing where it cannot run
        std::optional<std::size_t> fastest;          // of the devices
        std::vector<BestRun> cells;                  // one a device; none in a sum
    };
    std::vector<std::string> devices;
    std::vector<Row> rows;
    std::vector<std::string> problems;  // why a device cannot run a size; each once

    bool complete() const;  // some device runs each size
};

SizeTable run_sizes(const std::vector<Size>& sizes, const std::vector<std::string>& devices,
                    const SearchEffort& effort);

std::string to_table(const SizeTable& table);
nlohmann::ordered_json to_json(const SizeTable& table);

}  // namespace tilesim::sim::explore
