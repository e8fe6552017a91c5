// The results of sweeps in one SQLite file.
//
// A point is keyed by its content hash and the model version, so that equal points are simulated
// once and results of different models never stand in one line. A point is written, whole, soon
// after it has ended; what was in flight when a sweep was killed has left no trace and is simulated
// again.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "arch/base/config.hpp"
#include "sim/explore/database.hpp"
#include "sim/explore/point.hpp"

namespace tilesim::sim::explore {

struct StoredPoint {
    std::int64_t id = 0;
    std::string hash;
    std::string model;   // version of the model that made it
    std::string status;  // as in a result, or invalid, fault, failed, crashed, hung, out_of_memory
    std::string error;   // what happened, where status is not ok
    std::string scenario;         // resolved, without what lies below `device.`
    std::string device_settings;  // JSON object: what the sweep set below `device.`
    std::string base_file;        // paths in the scenario are relative to its folder
    std::string result;           // JSON object as `run --format json` prints it
    double wall_s = 0;
    double peak_mib = 0;
    std::string finished_at;
    std::string settings;  // JSON object: what the sweep it was read from set
};

// A text of the point that holds a JSON object. Throws IoError where it does not.
nlohmann::ordered_json stored_json(const StoredPoint& point, const std::string& text);

// What `use` makes of stored results; one that lacks what it should hold is an IoError.
template <class Use>
auto from_stored(const std::string& store, Use use) {
    try {
        return use();
    } catch (const nlohmann::json::exception& problem) {
        throw arch::base::config::IoError(store + ": damaged: " + problem.what());
    }
}

struct StoredSweep {
    std::int64_t id = 0;
    std::string name, model, text;
    std::int64_t points = 0;    // it enumerates
    std::int64_t finished = 0;  // of them
    std::vector<std::pair<std::string, std::int64_t>> by_status;
};

// Holds the store for one sweep; another process is refused. Ends with the process.
class StoreLock {
  public:
    explicit StoreLock(const std::string& store);
    ~StoreLock();
    StoreLock(const StoreLock&) = delete;
    StoreLock& operator=(const StoreLock&) = delete;

  private:
    std::string file_;
    int descriptor_ = -1;
};

class Store {
  public:
    enum class Mode { Create, Read };
    // Throws IoError when it cannot be opened, ConfigError when it is no store of this program.
    Store(const std::string& file, Mode mode);

    // Model versions of the points it holds.
    std::vector<std::string> models();
    // Notes which points the sweep consists of; the same sweep twice is one.
    void register_sweep(const SweepFile& sweep, const std::vector<Point>& points,
                        const std::string& model);
    // Hashes of the points that have ended, whatever became of them.
    std::set<std::string> ended(const std::string& model);
    // Forgets the points that did not end well, so that they run again.
    void forget_failed(const std::string& model);
    // All of them or, where that fails, none.
    void save(const std::vector<StoredPoint>& points);

    std::vector<StoredSweep> sweeps();
    std::optional<StoredPoint> find(std::int64_t id);
    // The points of a sweep that have ended, in the sweep's order.
    std::vector<StoredPoint> points(std::int64_t sweep);
    // Mean host time and bytes of a sweep's points so far; nothing when there are none.
    struct Cost {
        double wall_s = 0;
        double bytes = 0;
    };
    std::optional<Cost> mean_cost(const std::string& sweep);
    // Copies the sweeps of the store `other` and the names of their points. Where that is done of
    // all stores before `merge`, one that is broken off leaves a store that knows what it lacks.
    void announce(const std::string& other);
    // Copies the points that `other` has and this one lacks; returns how many those were.
    std::int64_t merge(const std::string& other);
    // Throws IoError when SQLite's integrity check or a rule of ours does not hold.
    void check();

  private:
    // SQLite goes on in a file that has no name any more: throws IoError where another, or none,
    // is in its place.
    void check_place() const;
    // Gives ids to points of its sweeps that have none, in the sweeps' order: they do not depend on
    // which ends first.
    void number_members();

    Database database_;
    struct Place {
        dev_t device = 0;
        ino_t inode = 0;
    } place_;
};

}  // namespace tilesim::sim::explore
