// One point of a sweep: what it sets, and the hash that says which simulation it is.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/explore/sweep_file.hpp"

namespace tilesim::sim::explore {

struct Point {
    std::int64_t ordinal = 0;  // in the whole sweep, conditions applied, from 1
    Settings settings;         // what the axes set, in their order
    std::string hash;          // equal hashes are the same simulation
};

// Part `index` of `count`; both from 1.
struct Shard {
    std::int64_t index = 1;
    std::int64_t count = 1;
};

// The sweep's points in their one order: the first axis varies slowest. A shard keeps every
// `count`-th. Throws ConfigError when a condition cannot be evaluated or nothing is left.
std::vector<Point> points_of(const SweepFile& sweep, Shard shard);

// How many there are, without listing them. Throws as `points_of` does.
std::int64_t count_points(const SweepFile& sweep, Shard shard);
// Up to so many of them, from all over the sweep and always the same, without ordinals and hashes.
std::vector<Point> some_points(const SweepFile& sweep, std::size_t most);

// Everything the point sets, parents before what lies below them.
Settings overrides_of(const SweepFile& sweep, const Point& point);

// Hashes what a simulation depends on: the scenario with its overrides, the device's files, and the
// files the scenario names. Reads each once.
class PointHasher {
  public:
    explicit PointHasher(const SweepFile& sweep) : sweep_(sweep) {}
    std::string hash(const Point& point);

  private:
    const std::string& device_text(const std::string& name);
    const std::string& file_text(const std::string& file);  // empty where there is none
    std::string file_texts(const Settings& settings);
    std::string named_texts(arch::base::config::Node root);

    const SweepFile& sweep_;
    std::map<std::string, std::string> devices_, files_;  // texts by name
    std::optional<std::string> base_texts_;  // of what the scenario every point starts from names
};

}  // namespace tilesim::sim::explore
