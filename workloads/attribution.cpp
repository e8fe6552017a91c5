#include "workloads/attribution.hpp"

#include <algorithm>
#include <map>

#include "arch/base/check.hpp"
#include "arch/base/units.hpp"
#include "workloads/result.hpp"

namespace tilesim::workloads {

using arch::base::stats::Group;
using arch::base::stats::StateAccount;

namespace {

std::int64_t spent(const StateAccount& account, std::size_t state, const ChargedBefore& before) {
    const auto charged = before.find(&account);
    // Whose a moment was may be known only later: what had been taken for idle then was not.
    return charged == before.end()
               ? account.spent(state)
               : std::max<std::int64_t>(0, account.spent(state) - charged->second[state]);
}

struct ClassTotals {
    std::vector<std::pair<std::string, double>> states;
    double members = 0;
};

void add(const Group& group, const ChargedBefore& before, std::vector<std::string>& order,
         std::map<std::string, ClassTotals>& classes) {
    for (const StateAccount* account : group.accounts()) {
        const std::string& name = group.component_class();
        if (!classes.contains(name)) {
            order.push_back(name);
            for (const auto& state : account->states()) {
                classes[name].states.emplace_back(state.name, 0.0);
            }
        }
        ClassTotals& totals = classes[name];
        totals.members += 1;
        for (std::size_t i = 0; i < totals.states.size(); ++i) {
            SIM_CHECK(account->spent(i) >= 0, "{} spent {} cycles in {}", group.path(),
                      account->spent(i), totals.states[i].first);
            totals.states[i].second += static_cast<double>(spent(*account, i, before));
        }
    }
    for (const Group* child : group.children()) {
        add(*child, before, order, classes);
    }
}

// States in which a component does what it is there for.
bool works(std::string_view state) {
    return state == "multiply" || state == "vector" || state == "add" || state == "zero" ||
           state == "fixed_kernel" || state == "streaming" || state == "read" || state == "write";
}

void add_busy(const Group& group, const ChargedBefore& before,
              std::vector<std::pair<std::string, double>>& shares) {
    for (const StateAccount* account : group.accounts()) {
        if (group.component_class().starts_with("core_")) {
            continue;  // the channels of a core do what its memory tile's do
        }
        std::int64_t busy = 0;
        std::int64_t total = 0;
        for (std::size_t i = 0; i < account->states().size(); ++i) {
            const std::int64_t cycles = spent(*account, i, before);
            total += cycles;
            busy += works(account->states()[i].name) ? cycles : 0;
        }
        if (busy > 0) {
            shares.emplace_back(group.path(),
                                static_cast<double>(busy) / static_cast<double>(total));
        }
    }
    for (const Group* child : group.children()) {
        add_busy(*child, before, shares);
    }
}

}  // namespace

std::vector<std::pair<std::string, std::vector<std::pair<std::string, double>>>> where_time_went(
    const Group& root, const ChargedBefore& before) {
    std::vector<std::string> order;
    std::map<std::string, ClassTotals> classes;
    add(root, before, order, classes);
    std::vector<std::pair<std::string, std::vector<std::pair<std::string, double>>>> result;
    std::sort(order.begin(), order.end());
    for (const std::string& name : order) {
        std::vector<std::pair<std::string, double>> states;
        for (const auto& [state, cycles] : classes[name].states) {
            if (cycles > 0) {
                states.emplace_back(state, cycles / classes[name].members);
            }
        }
        result.emplace_back(name, std::move(states));
    }
    return result;
}

std::vector<std::pair<std::string, double>> busy_shares(const Group& root,
                                                        const ChargedBefore& before) {
    std::vector<std::pair<std::string, double>> shares;
    add_busy(root, before, shares);
    return shares;
}

double state_of(const RunResult& result, const std::string& component, const std::string& state) {
    for (const auto& [name, states] : result.where) {
        for (const auto& [key, cycles] : states) {
            if (name == component && key == state) {
                return cycles;
            }
        }
    }
    return 0;
}

bool has_class(const RunResult& result, std::string_view component) {
    return std::any_of(result.where.begin(), result.where.end(),
                       [&](const auto& entry) { return entry.first == component; });
}

void take_longest(RunResult& result, std::vector<Cause> causes) {
    std::erase_if(causes, [](const Cause& cause) { return cause.first <= 0; });
    std::stable_sort(causes.begin(), causes.end(),
                     [](const Cause& a, const Cause& b) { return a.first > b.first; });
    causes.resize(2, {0, "none"});
    result.bottleneck = causes[0].second;
    result.next_bottleneck = causes[1].second;
}

void take_most_saving(RunResult& result, std::vector<Saving> savings, double total) {
    constexpr double kAlike = 0.01;
    const auto on_path = [](const Saving& a, const Saving& b) { return a.path < b.path; };
    const Saving longest =
        savings.empty() ? Saving{} : *std::max_element(savings.begin(), savings.end(), on_path);
    std::vector<Saving> ranked;
    while (!savings.empty() && ranked.size() < 2) {
        const double most =
            std::max_element(savings.begin(), savings.end(), [](const Saving& a, const Saving& b) {
                return a.half < b.half;
            })->half;
        auto first = savings.end();
        for (auto each = savings.begin(); each != savings.end(); ++each) {
            const bool close = each->half >= most - kAlike * total;
            first = close && (first == savings.end() || each->path > first->path) ? each : first;
        }
        ranked.push_back(std::move(*first));
        savings.erase(first);
    }
    ranked.resize(2);
    const auto name = [](const Saving& saving) {
        return saving.path > 0 ? saving.cause : std::string("none");
    };
    result.bottleneck = name(ranked[0]);
    result.next_bottleneck = ranked[0].limit.empty() ? name(ranked[1]) : ranked[0].limit;
    if (ranked[0].cause != longest.cause && !longest.limit.empty()) {
        result.faster_together = {longest.cause, longest.limit};
    }
    result.most_saved_percent = total > 0 ? arch::base::kPercent * ranked[0].most / total : 0;
}

void name_bottlenecks(RunResult& result, std::string_view component, const std::string& prefix) {
    std::vector<Cause> causes;
    for (const auto& [name, states] : result.where) {
        for (const auto& [state, cycles] : states) {
            if (name == component) {
                causes.emplace_back(cycles, prefix + state);
            }
        }
    }
    take_longest(result, std::move(causes));
}

}  // namespace tilesim::workloads
