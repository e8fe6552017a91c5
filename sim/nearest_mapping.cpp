#include "sim/nearest_mapping.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <queue>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/base/config.hpp"
#include "sim/case_reader.hpp"

namespace tilesim::sim {

using arch::base::config::ConfigError;
using arch::base::config::Document;
using workloads::Case;
using Json = nlohmann::ordered_json;

namespace {

constexpr int kMostTried = 600;               // choices of one kind
constexpr int kMostTriedOfOne = 64;           // values of one number, of one unit
constexpr int kMostReasons = 3;               // one behind the other
constexpr std::size_t kMostSteps = 2;         // towards what has another reason
constexpr double kOfAKey = 0.3;               // what changing one more costs, in octaves
constexpr std::int64_t kMostGrown = 1 << 20;  // beyond, nothing limits it
constexpr std::size_t kMostFitting = 2000;    // of the mappings `tune` would try

// An integer of the mapping, and what it may be instead, the nearest first.
struct Number {
    std::string key;  // "m_ct", or "product.m_ct" where keys have keys
    Json::json_pointer place;
    std::int64_t given = 0;
    std::int64_t value = 0;  // so far
    std::vector<std::int64_t> others = {};
};

double octaves(std::int64_t from, std::int64_t to) {
    return std::abs(std::log2(static_cast<double>(to + 1) / static_cast<double>(from + 1)));
}

std::vector<std::int64_t> by_nearness(std::int64_t value, std::set<std::int64_t> others) {
    others.erase(value);
    std::vector<std::int64_t> sorted(others.lower_bound(0), others.end());
    std::stable_sort(sorted.begin(), sorted.end(), [value](std::int64_t a, std::int64_t b) {
        return octaves(value, a) < octaves(value, b);
    });
    return sorted;
}

// What may be aligned: neighbours, and whole multiples of what hardware has.
std::vector<std::int64_t> near(std::int64_t value) {
    std::set<std::int64_t> others{value - 1, value + 1};
    for (const std::int64_t unit : {4, 8, 16, 64}) {
        others.insert(value / unit * unit);
        others.insert((value / unit + 1) * unit);
    }
    return by_nearness(value, others);
}

// What may fit: parts, and the double.
std::vector<std::int64_t> far(std::int64_t value) {
    return by_nearness(value, {value / 2, value / 4, value / 8, 2 * value, 1});
}

// A reason whatever its numbers are.
std::string kind_of(std::string_view reason) {
    std::string kind{reason.substr(0, reason.find('\n'))};
    std::erase_if(kind, [](unsigned char c) { return std::isdigit(c) != 0; });
    return kind;
}

class Search {
  public:
    Search(const workloads::Dataflow& dataflow, const Case& refused)
        : case_(refused),
          dataflow_(dataflow),
          name_(refused.mapping.dataflow().name()),
          keys_(refused.mapping.dataflow().describe(refused.mapping)) {
        add_numbers(keys_.value(name_, Json::object()), "", Json::json_pointer{} / name_);
    }

    std::string run() {
        std::set<std::string> known{kind_of(*reasons(values_of({})))};
        if (!solve(known) && !take_one_that_fits()) {
            return "";
        }
        draw_nearer();
        return text();
    }

  private:
    void add_numbers(const Json& keys, const std::string& prefix, const Json::json_pointer& place) {
        for (const auto& [key, value] : keys.items()) {
            if (value.is_object()) {
                add_numbers(value, prefix + key + ".", place / key);
            } else if (value.is_number_integer()) {
                const auto given = value.get<std::int64_t>();
                numbers_.push_back({prefix + key, place / key, given, given});
            }
        }
    }

    // Why it cannot be; empty: it can. Nothing where it cannot even be stated.
    std::optional<std::string> reasons(const std::vector<std::int64_t>& values) const {
        Json keys = keys_;
        for (std::size_t i = 0; i < numbers_.size(); ++i) {
            keys[numbers_[i].place] = values[i];
        }
        try {
            Document document = Document::parse(Json{{"mapping", keys}}.dump(), "");
            arch::base::config::Node root = document.root();
            Case changed = case_;
            changed.mapping = read_mapping(root);
            document.finish();
            std::vector<std::string> texts;
            for (const workloads::Refusal& refusal : dataflow_.refusals(changed)) {
                texts.push_back(refusal.reason);
            }
            return fmt::format("{}", fmt::join(texts, "\n"));
        } catch (const ConfigError&) {
            return std::nullopt;
        }
    }

    bool can_be(const std::vector<std::int64_t>& values) const {
        return reasons(values) == std::string{};
    }

    using Others = std::vector<std::int64_t> (*)(std::int64_t);
    // By number: 0 as it is, or one of its others.
    using Choice = std::vector<std::size_t>;

    // Changes numbers until it can be; false: they are as they were. Checks end at what makes
    // others pointless, so that behind one reason another may come; `known`: those met already.
    bool solve(std::set<std::string>& known) {
        std::vector<std::vector<std::int64_t>> steps;
        if (change(near, known, steps) || change(far, known, steps)) {
            return true;
        }
        const std::vector<std::int64_t> before = values_of({});
        for (const std::vector<std::int64_t>& step : steps) {
            set(step);
            if (solve(known)) {
                return true;
            }
        }
        set(before);
        return false;
    }

    // By as little as possible. `steps`: where a reason is left that is not known yet.
    bool change(Others others, std::set<std::string>& known,
                std::vector<std::vector<std::int64_t>>& steps) {
        keep_what_matters(others);
        using Entry = std::pair<double, Choice>;
        std::priority_queue<Entry, std::vector<Entry>, std::greater<>> next;
        next.push({0, Choice(numbers_.size(), 0)});
        for (int tried = 0; !next.empty() && tried < kMostTried; ++tried) {
            const Choice choice = next.top().second;
            next.pop();
            const std::vector<std::int64_t> values = values_of(choice);
            const std::optional<std::string> left = reasons(values);
            if (left && left->empty()) {
                set(values);
                return true;
            }
            if (left && steps.size() < kMostSteps && known.size() <= kMostReasons &&
                known.insert(kind_of(*left)).second) {
                steps.push_back(values);
            }
            push_further(choice, next);
        }
        return false;
    }

    // Where too much is wrong for small steps: the numbers of one that `tune` would try. False: of
    // those none can be with what else the mapping says.
    bool take_one_that_fits() {
        std::vector<std::pair<double, std::vector<std::int64_t>>> fitting;
        const std::vector<workloads::Candidate> all = case_.mapping.dataflow().candidates(case_);
        const std::size_t step = all.size() / kMostFitting + 1;
        for (std::size_t i = 0; i < all.size(); i += step) {
            const Json keys = case_.mapping.dataflow().describe(all[i].mapping);
            std::vector<std::int64_t> values;
            double cost = 0;
            for (const Number& number : numbers_) {
                const bool has =
                    keys.contains(number.place) && keys[number.place].is_number_integer();
                values.push_back(has ? keys[number.place].get<std::int64_t>() : number.given);
                cost += values.back() == number.given ? 0 : octaves(number.given, values.back());
            }
            fitting.emplace_back(cost, std::move(values));
        }
        std::stable_sort(fitting.begin(), fitting.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        const auto found = std::find_if(fitting.begin(), fitting.end(),
                                        [this](const auto& one) { return can_be(one.second); });
        if (found == fitting.end()) {
            return false;
        }
        set(found->second);
        return true;
    }

    void set(const std::vector<std::int64_t>& values) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            numbers_[i].value = values[i];
        }
    }

    // One step further with the last number that is changed, or with one behind it: every choice
    // is reached once.
    template <class Heap>
    void push_further(const Choice& choice, Heap& next) const {
        std::size_t first = choice.size();
        while (first > 0 && choice[first - 1] == 0) {
            --first;
        }
        for (std::size_t i = first == 0 ? 0 : first - 1; i < choice.size(); ++i) {
            if (choice[i] < numbers_[i].others.size()) {
                Choice further = choice;
                ++further[i];
                next.push({cost_of(further), std::move(further)});
            }
        }
    }

    // Numbers that are none of the reasons stay as they are.
    void keep_what_matters(Others others) {
        std::vector<std::int64_t> values = values_of({});
        const std::string given = reasons(values).value_or("");
        for (std::size_t i = 0; i < numbers_.size(); ++i) {
            Number& number = numbers_[i];
            number.others = others(number.value);
            const bool matters =
                std::any_of(number.others.begin(), number.others.end(), [&](std::int64_t value) {
                    values[i] = value;
                    return reasons(values) != given;
                });
            values[i] = number.value;
            if (!matters) {
                number.others.clear();
            }
        }
    }

    // Without a choice, as they are.
    std::vector<std::int64_t> values_of(const Choice& choice) const {
        std::vector<std::int64_t> values;
        for (std::size_t i = 0; i < numbers_.size(); ++i) {
            const bool changed = !choice.empty() && choice[i] > 0;
            values.push_back(changed ? numbers_[i].others[choice[i] - 1] : numbers_[i].value);
        }
        return values;
    }

    double cost_of(const Choice& choice) const {
        double cost = 0;
        for (std::size_t i = 0; i < choice.size(); ++i) {
            if (choice[i] > 0) {
                cost += kOfAKey + octaves(numbers_[i].value, numbers_[i].others[choice[i] - 1]);
            }
        }
        return cost;
    }

    // What is changed, one number or two together, as far back towards what was given as it can be.
    void draw_nearer() {
        for (std::size_t i = 0; i < numbers_.size(); ++i) {
            for (std::size_t j = i; j < numbers_.size(); ++j) {
                std::vector<std::int64_t> values = values_of({});
                values[i] = numbers_[i].given;
                values[j] = numbers_[j].given;
                if (values != values_of({}) && can_be(values)) {
                    set(values);
                }
            }
        }
        for (std::size_t i = 0; i < numbers_.size(); ++i) {
            for (std::size_t j = 0; j < numbers_.size(); ++j) {
                give_back(i, j);
            }
        }
        for (std::size_t i = 0; i < numbers_.size(); ++i) {
            if (numbers_[i].given == 0 && numbers_[i].value > 0) {
                grow(i);
            } else {
                set(drawn_nearer(values_of({}), i));
            }
        }
    }

    // The first as it was given, if the second can be nearer with that, too.
    void give_back(std::size_t i, std::size_t j) {
        std::vector<std::int64_t> values = values_of({});
        if (i == j || numbers_[i].value == numbers_[i].given) {
            return;
        }
        values[i] = numbers_[i].given;
        const std::vector<std::int64_t> nearer = drawn_nearer(values, j);
        if (nearer != values) {
            set(nearer);
        }
    }

    // With the value of `i` that is nearest to what was given, of those before the present one: by
    // whole multiples of what hardware has, since it may have to be one of another number.
    std::vector<std::int64_t> drawn_nearer(std::vector<std::int64_t> values, std::size_t i) const {
        const std::int64_t given = numbers_[i].given;
        std::int64_t& value = values[i];
        const bool down = value < given;
        std::int64_t nearest = value;
        std::int64_t first = given;  // what lies before it is known not to be
        for (const std::int64_t unit : {1024, 64, 16, 8, 4, 1}) {
            value = (down ? first : first + unit - 1) / unit * unit;
            for (int tried = 0; tried < kMostTriedOfOne && before(value, nearest, down); ++tried) {
                if (can_be(values)) {
                    nearest = value;
                    first =
                        down ? std::min(given, nearest + unit) : std::max(given, nearest - unit);
                }
                value += down ? -unit : unit;
            }
        }
        value = nearest;
        return values;
    }

    static bool before(std::int64_t value, std::int64_t nearest, bool down) {
        return down ? value > nearest : value < nearest;
    }

    // 0 stands for all there is: the most that can be is nearest to it.
    void grow(std::size_t i) {
        std::vector<std::int64_t> values = values_of({});
        while (values[i] < kMostGrown) {
            values[i] *= 2;
            if (!can_be(values)) {
                numbers_[i].value = values[i] / 2;
                return;
            }
        }
    }

    std::string text() const {
        std::vector<std::string> changes;
        for (const Number& number : numbers_) {
            if (number.value != number.given) {
                changes.push_back(fmt::format("{}: {}", number.key, number.value));
            }
        }
        return fmt::format("{}", fmt::join(changes, ", "));
    }

    const Case& case_;
    const workloads::Dataflow& dataflow_;
    const std::string name_;  // of what the mapping is of
    const Json keys_;
    std::vector<Number> numbers_;
};

}  // namespace

std::string nearest_mapping(const workloads::Dataflow& dataflow, const Case& refused) {
    return Search(dataflow, refused).run();
}

}  // namespace tilesim::sim
