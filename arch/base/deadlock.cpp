#include "arch/base/deadlock.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>
#include <boost/range/iterator_range.hpp>
#include <map>

namespace tilesim::arch::base {

namespace {

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;

struct WaitForGraph {
    Graph graph;
    std::map<std::string, std::size_t> vertex_of;
    std::vector<std::string> names;

    std::size_t vertex(const std::string& name) {
        const auto [place, added] = vertex_of.try_emplace(name, names.size());
        if (added) {
            names.push_back(name);
            boost::add_vertex(graph);
        }
        return place->second;
    }
};

WaitForGraph graph_of(const DeadlockReport& report) {
    WaitForGraph result;
    for (const Wait& wait : report.waits) {
        const std::size_t from = result.vertex(wait.who);
        for (const std::string& holder : wait.held_by) {
            const std::size_t to = result.vertex(holder);
            boost::add_edge(from, to, result.graph);
        }
    }
    return result;
}

}  // namespace

void find_cycles(DeadlockReport& report) {
    const WaitForGraph waits = graph_of(report);
    std::vector<std::size_t> component(waits.names.size());
    const std::size_t components = boost::strong_components(
        waits.graph, boost::make_iterator_property_map(
                         component.begin(), boost::get(boost::vertex_index, waits.graph)));
    std::vector<std::size_t> size(components, 0);
    for (const std::size_t c : component) {
        ++size[c];
    }
    for (Wait& wait : report.waits) {
        const bool itself =
            std::find(wait.held_by.begin(), wait.held_by.end(), wait.who) != wait.held_by.end();
        wait.in_cycle = itself || size[component[waits.vertex_of.at(wait.who)]] > 1;
        report.cycle = report.cycle || wait.in_cycle;
    }
}

std::string DeadlockReport::text() const {
    std::string result =
        !spinners.empty()
            ? "livelock: what still moves gives nobody anything, so these waits never "
              "end\n"
        : cycle ? "deadlock: these agents wait for each other\n"
                : "standstill: nobody is left to end these waits\n";
    const auto print = [&result](const Wait& wait) {
        result += fmt::format(
            "  {} waits for {} since cycle {}; held by {}\n", wait.who, wait.what, wait.since,
            wait.held_by.empty() ? "nobody" : fmt::format("{}", fmt::join(wait.held_by, ", ")));
    };
    for (const Wait& wait : waits) {
        if (wait.in_cycle || !cycle) {
            print(wait);
        }
    }
    if (cycle && std::any_of(waits.begin(), waits.end(), [](auto& w) { return !w.in_cycle; })) {
        result += "behind them wait\n";
        for (const Wait& wait : waits) {
            if (!wait.in_cycle) {
                print(wait);
            }
        }
    }
    for (const Spinner& spinner : spinners) {
        result += fmt::format(
            "  {} runs a loop without end that releases nothing; {} kernel calls "
            "so far\n",
            spinner.who, spinner.calls);
    }
    for (const std::string& note : queued) {
        result += "  " + note + "\n";
    }
    for (const std::string& push : dropped_pushes) {
        result += "  " + push + "\n";
    }
    return result + progress() + "\n";
}

std::string DeadlockReport::progress() const {
    return fmt::format("last progress: cycle {}, {}", last_progress, last_progress_by);
}

std::string DeadlockReport::graphviz() const {
    // An edge says what is waited for, and since when; what lies on a cycle is red.
    const WaitForGraph waits_for = graph_of(*this);
    const auto wait_of = [this](const std::string& who) {
        return std::find_if(waits.begin(), waits.end(),
                            [&who](const Wait& wait) { return wait.who == who; });
    };
    std::string result = "digraph G {\n";
    for (std::size_t vertex = 0; vertex < waits_for.names.size(); ++vertex) {
        const auto wait = wait_of(waits_for.names[vertex]);
        result += fmt::format("{} [label=\"{}\"{}];\n", vertex, waits_for.names[vertex],
                              wait != waits.end() && wait->in_cycle ? ", color=red" : "");
    }
    for (const auto& edge : boost::make_iterator_range(boost::edges(waits_for.graph))) {
        const std::size_t from = boost::source(edge, waits_for.graph);
        const auto wait = wait_of(waits_for.names[from]);
        result += fmt::format("{}->{} [label=\"{}\\nsince cycle {}\"];\n", from,
                              boost::target(edge, waits_for.graph), wait->what, wait->since);
    }
    return result + "}\n";
}

}  // namespace tilesim::arch::base
