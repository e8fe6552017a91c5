#include "sim/explore/point.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>

#include "arch/base/splitmix64.hpp"
#include "sim/digest.hpp"
#include "sim/explore/base_values.hpp"
#include "sim/scenario.hpp"
#include "workloads/catalogue/catalogue.hpp"
#include "workloads/paths.hpp"

namespace tilesim::sim::explore {

using arch::base::config::ConfigError;
using arch::base::config::Document;
using arch::base::config::Node;

namespace {

constexpr double kMostPoints = 10e6;

Settings settings_at(const SweepFile& sweep, const std::vector<std::size_t>& position) {
    Settings settings;
    for (std::size_t i = 0; i < sweep.axes.size(); ++i) {
        const Axis& axis = sweep.axes[i];
        for (std::size_t j = 0; j < axis.keys.size(); ++j) {
            settings.emplace_back(axis.keys[j], axis.values[position[i]][j]);
        }
    }
    return settings;
}

class Conditions {
  public:
    explicit Conditions(const SweepFile& sweep) : sweep_(sweep) {
        for (const auto& [text, condition] : sweep.where) {
            for (const std::string& key : condition.keys()) {
                if (!set_by_axis(key)) {
                    base_ = base_values(sweep);
                    return;
                }
            }
        }
    }

    bool hold(const Settings& settings) const {
        const auto lookup = [&](const std::string& key) -> std::optional<std::string> {
            const auto set = std::find_if(settings.begin(), settings.end(),
                                          [&key](const auto& s) { return s.first == key; });
            if (set != settings.end()) {
                return set->second;
            }
            const auto base = base_.find(key);
            return base == base_.end() ? std::nullopt : std::optional{base->second};
        };
        return std::all_of(sweep_.where.begin(), sweep_.where.end(), [&](const auto& condition) {
            try {
                return condition.second.holds(lookup);
            } catch (const std::invalid_argument& problem) {
                throw ConfigError(
                    fmt::format("{}'{}': {}", sweep_.where_place, condition.first, problem.what()));
            }
        });
    }

  private:
    bool set_by_axis(const std::string& key) const {
        return std::any_of(sweep_.axes.begin(), sweep_.axes.end(), [&key](const Axis& axis) {
            return std::find(axis.keys.begin(), axis.keys.end(), key) != axis.keys.end();
        });
    }

    const SweepFile& sweep_;
    std::map<std::string, std::string> base_;
};

// The next position of the axes that move, the last fastest; false after the last one.
bool advance(const SweepFile& sweep, const std::vector<bool>& moves,
             std::vector<std::size_t>& position) {
    for (std::size_t i = sweep.axes.size(); i > 0; --i) {
        if (!moves[i - 1]) {
            continue;
        }
        if (++position[i - 1] < sweep.axes[i - 1].values.size()) {
            return true;
        }
        position[i - 1] = 0;
    }
    return false;
}

void check_size(const SweepFile& sweep) {
    double size = 1;
    for (const Axis& axis : sweep.axes) {
        size *= static_cast<double>(axis.values.size());
    }
    if (size > kMostPoints) {
        throw ConfigError(fmt::format("{}span {:.0f} points; at most {:.0f}", sweep.axes_place,
                                      size, kMostPoints));
    }
}

ConfigError nothing_left(const SweepFile& sweep) {
    return ConfigError(sweep.where_place + "leaves no point");
}

// The axes whose keys conditions name: the others only multiply what these leave.
std::vector<bool> conditioned(const SweepFile& sweep) {
    std::vector<bool> named;
    for (const Axis& axis : sweep.axes) {
        named.push_back(std::any_of(sweep.where.begin(), sweep.where.end(), [&](const auto& each) {
            const std::vector<std::string> keys = each.second.keys();
            return std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
                return std::find(axis.keys.begin(), axis.keys.end(), key) != axis.keys.end();
            });
        }));
    }
    return named;
}

// Every value below a map or an entry of a list. What a node is not, it says to its document only,
// whose errors nobody asks for here.
void collect_scalars(Node node, std::set<std::string>& scalars) {
    scalars.insert(node.scalar());
    for (const std::string& key : node.keys()) {
        std::string value;
        node.optional(key, value, "");
        scalars.insert(value);
        collect_scalars(node.child(key, ""), scalars);
        for (const Node& entry : node.list(key, "")) {
            collect_scalars(entry, scalars);
        }
    }
    for (const Node& entry : node.entries()) {
        collect_scalars(entry, scalars);
    }
}

// A design without `device` names its own: any of these.
std::vector<std::string> shipped_devices() {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& file : std::filesystem::directory_iterator(
             std::filesystem::path{workloads::configs_folder()} / "devices", error)) {
        names.push_back(file.path().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace

std::vector<Point> points_of(const SweepFile& sweep, Shard shard) {
    check_size(sweep);
    const Conditions conditions(sweep);
    PointHasher hasher(sweep);
    std::vector<Point> points;
    std::vector<std::size_t> position(sweep.axes.size(), 0);
    std::int64_t ordinal = 0;
    do {
        Point point{0, settings_at(sweep, position), ""};
        if (!conditions.hold(point.settings)) {
            continue;
        }
        point.ordinal = ++ordinal;
        if ((ordinal - 1) % shard.count == shard.index - 1) {
            point.hash = hasher.hash(point);
            points.push_back(std::move(point));
        }
    } while (advance(sweep, std::vector<bool>(sweep.axes.size(), true), position));
    if (ordinal == 0) {
        throw nothing_left(sweep);
    }
    return points;
}

std::int64_t count_points(const SweepFile& sweep, Shard shard) {
    check_size(sweep);
    const Conditions conditions(sweep);
    const std::vector<bool> moves = conditioned(sweep);
    std::vector<std::size_t> position(sweep.axes.size(), 0);
    std::int64_t count = 0;
    do {
        count += conditions.hold(settings_at(sweep, position)) ? 1 : 0;
    } while (advance(sweep, moves, position));
    for (std::size_t i = 0; i < moves.size(); ++i) {
        count *= moves[i] ? 1 : static_cast<std::int64_t>(sweep.axes[i].values.size());
    }
    if (count == 0) {
        throw nothing_left(sweep);
    }
    return (count - shard.index + shard.count) / shard.count;
}

std::vector<Point> some_points(const SweepFile& sweep, std::size_t most) {
    const Conditions conditions(sweep);
    constexpr std::size_t kTriesEach = 200;  // conditions may leave few
    std::set<std::vector<std::size_t>> seen;
    std::vector<Point> points;
    std::uint64_t seed = 1;
    for (std::size_t tries = 0; points.size() < most && tries < kTriesEach * most; ++tries) {
        std::vector<std::size_t> position;
        for (const Axis& axis : sweep.axes) {
            position.push_back(arch::base::splitmix64(seed++) % axis.values.size());
        }
        if (seen.insert(position).second) {
            Point point{0, settings_at(sweep, position), ""};
            if (conditions.hold(point.settings)) {
                points.push_back(std::move(point));
            }
        }
    }
    return points;
}

Settings overrides_of(const SweepFile& sweep, const Point& point) {
    Settings all = sweep.fixed;
    all.insert(all.end(), point.settings.begin(), point.settings.end());
    std::sort(all.begin(), all.end());
    return all;
}

const std::string& PointHasher::device_text(const std::string& name) {
    const auto known = devices_.find(name);
    if (known != devices_.end()) {
        return known->second;
    }
    std::string text;
    try {
        const std::string file = workloads::named_in(sweep_.base_file, name);
        for (const Document& document : workloads::catalogue::load_device(file, {}).documents) {
            text += document.resolved();
        }
    } catch (const ConfigError&) {  // the point itself will say what is wrong with it
        text = name;
    }
    return devices_[name] = text;
}

const std::string& PointHasher::file_text(const std::string& file) {
    const auto known = files_.find(file);
    if (known != files_.end()) {
        return known->second;
    }
    std::ostringstream bytes;
    std::error_code error;
    if (std::filesystem::is_regular_file(file, error)) {
        bytes << std::ifstream(file, std::ios::binary).rdbuf() << "\n";
    }
    return files_[file] = bytes.str();
}

// Whatever key names them: a value that is the path of a file is taken for its name.
std::string PointHasher::file_texts(const Settings& settings) {
    if (!base_texts_) {
        std::set<std::string> scalars;
        collect_scalars(Document::parse(sweep_.base_text, sweep_.base_file).root(), scalars);
        base_texts_.emplace();
        for (const std::string& value : scalars) {
            *base_texts_ += file_text(workloads::beside(sweep_.base_file, value));
        }
    }
    std::string texts = *base_texts_;
    for (const auto& [key, value] : settings) {
        texts += file_text(workloads::beside(sweep_.base_file, value));
    }
    return texts;
}

// The texts of the devices and models the scenario names.
std::string PointHasher::named_texts(Node root) {
    const auto named = [](Node node, const char* key) {
        std::string name;
        if (node.has(key)) {
            node.optional(key, name, "");
        }
        return name;
    };
    Node workload = root.child("workload", "");
    std::string texts;
    try {
        const std::string model = named(workload, "model");
        texts +=
            model.empty()
                ? "\n"
                : file_text(workloads::model_file(workloads::named_in(sweep_.base_file, model))) +
                      "\n";
    } catch (const ConfigError&) {  // the point itself will say that there is no such model
    }
    const std::string device = named(root, "device");
    const bool any =
        device.empty() && !root.has("agents") && !root.has("stream") && !root.has("host");
    for (const std::string& name : any              ? shipped_devices()
                                   : device.empty() ? std::vector<std::string>{}
                                                    : std::vector{device}) {
        texts += device_text(name) + "\n";
    }
    const std::string prompt_device = named(workload, "prompt_device");
    texts += prompt_device.empty() ? "" : device_text(prompt_device);
    if (!root.has("agents")) {
        return texts;
    }
    texts += device_text(named(root, "memory"));
    Node agents = root.child("agents", "");
    for (const std::string& name : agents.keys()) {
        texts += named_texts(agents.child(name, ""));
    }
    return texts;
}

std::string PointHasher::hash(const Point& point) {
    Document document = Document::parse(sweep_.base_text, sweep_.base_file);
    std::string device_settings;
    const Settings settings = overrides_of(sweep_, point);
    for (const auto& [key, value] : settings) {
        if (sets_device(key)) {
            device_settings += key + "=" + value + "\n";
        } else {
            document.override_value(key, value, "set ");
        }
    }
    return sha1(document.resolved() + "\n" + device_settings + "\n" + named_texts(document.root()) +
                file_texts(settings));
}

}  // namespace tilesim::sim::explore
