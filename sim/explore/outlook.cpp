#include "sim/explore/outlook.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <variant>

#include "arch/base/config.hpp"
#include "sim/explore/expression.hpp"
#include "sim/scenario.hpp"

namespace tilesim::sim::explore {

namespace {

using Json = nlohmann::ordered_json;

// What looking for a mapping takes hardly grows: by this power of the work.
constexpr double kWorkOfChoosing = 0.1;

// What the law goes by of a key the sweep sets: a number where each of its values is one.
class Feature {
  public:
    Feature(const Axis& axis, std::size_t key) : key_(axis.keys[key]) {
        for (const auto& values : axis.values) {
            words_.push_back(values[key]);
            const Expression::Value value = value_of(values[key]);
            const auto* const number = std::get_if<double>(&value);
            number_ = number_ && number != nullptr && *number > 0;
        }
    }

    void add(const Point& point, PointFeatures& features) const {
        const auto set = std::find_if(point.settings.begin(), point.settings.end(),
                                      [&](const auto& each) { return each.first == key_; });
        if (number_) {
            features.numbers.push_back(std::log(std::get<double>(value_of(set->second))));
        } else {
            const auto word = std::find(words_.begin(), words_.end(), set->second);
            features.words.push_back(static_cast<std::size_t>(word - words_.begin()));
        }
    }

  private:
    std::string key_;
    std::vector<std::string> words_;
    bool number_ = true;
};

// Logarithm of the product of what a problem counts: sizes of one sweep are compared with each
// other only.
double work_of(const Json& workload) {
    double work = 0;
    for (const Json& each : workload) {
        if (each.is_object()) {
            work += work_of(each);
        } else if (each.is_number() && each.get<double>() > 0) {
            work += std::log(each.get<double>());
        }
    }
    return work;
}

void centre(std::vector<Outlook>& list, const std::function<double&(Outlook&)>& value) {
    double sum = 0;
    for (Outlook& each : list) {
        sum += value(each);
    }
    for (Outlook& each : list) {
        value(each) -= sum / static_cast<double>(list.size());
    }
}

}  // namespace

std::vector<Outlook> outlooks(const SweepFile& sweep, const std::vector<Point>& points) {
    std::vector<Feature> features;
    for (const Axis& axis : sweep.axes) {
        for (std::size_t key = 0; key < axis.keys.size(); ++key) {
            features.emplace_back(axis, key);
        }
    }
    std::vector<Outlook> list;
    for (const Point& point : points) {
        try {
            const Scenario scenario =
                parse_scenario(sweep.base_text, sweep.base_file, overrides_of(sweep, point));
            Outlook& at = list.emplace_back();
            at.point = &point;
            at.kind = scenario.device.name + (scenario.run.functional ? ", functional" : "");
            at.sampled = scenario.run.sampled;
            if (!scenario.problem.empty()) {
                const workloads::ProblemKind& kind = scenario.problem.kind();
                // A model's rounds are those of its products: they do not say what all of them
                // take, nor do its numbers.
                at.has_rounds = kind.key() != "model";
                at.features.work = at.has_rounds ? work_of(kind.describe(scenario.problem)) : 0;
                const bool stated = !scenario.mapping.empty() &&
                                    scenario.mapping.dataflow().complete(scenario.mapping);
                at.features.work *= stated ? 1 : kWorkOfChoosing;
            }
            for (const Feature& feature : features) {
                feature.add(point, at.features);
            }
        } catch (const arch::base::config::ConfigError&) {  // costs nothing
        }
    }
    if (!list.empty()) {
        centre(list, [](Outlook& each) -> double& { return each.features.work; });
        for (std::size_t i = 0; i < list.front().features.numbers.size(); ++i) {
            centre(list, [i](Outlook& each) -> double& { return each.features.numbers[i]; });
        }
    }
    return list;
}

}  // namespace tilesim::sim::explore
