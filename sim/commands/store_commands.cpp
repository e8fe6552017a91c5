// `tilesim rerun`, `export` and `merge`: what is done with the results of sweeps.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "arch/base/config.hpp"
#include "sim/commands/commands.hpp"
#include "sim/console.hpp"
#include "sim/exit_code.hpp"
#include "sim/explore/export.hpp"
#include "sim/explore/model_version.hpp"
#include "sim/explore/simulate.hpp"
#include "sim/explore/store.hpp"
#include "sim/result_table.hpp"
#include "sim/session/session.hpp"
#include "sim/write_file.hpp"

namespace tilesim::sim::commands {

using namespace explore;

using arch::base::config::ConfigError;
using Json = nlohmann::ordered_json;

namespace {

struct StoreArguments {
    std::string store = "results.db";
    std::int64_t id = 0;
    std::int64_t sweep = 0;  // 0: the newest
    std::string format = "csv";
    std::string out;
    std::vector<std::string> inputs;
};

// `export`'s words: a format, a store, or both.
void take_words(StoreArguments& arguments, const std::vector<std::string>& words) {
    std::size_t stores = 0;
    for (const std::string& word : words) {
        if (word == "csv" || word == "json") {
            arguments.format = word;
        } else if (std::error_code error; ++stores > 1 || (!word.ends_with(".db") &&
                                                           !std::filesystem::exists(word, error))) {
            throw ConfigError(
                fmt::format("export: '{}' is neither a format (csv, json) nor a store", word));
        } else {
            arguments.store = word;
        }
    }
}

// Simulates a stored point again, here and now, and compares.
int rerun(const StoreArguments& arguments) {
    const auto point = Store(arguments.store, Store::Mode::Read).find(arguments.id);
    if (!point) {
        throw ConfigError(
            fmt::format("{0}: there is no point {1}; `tilesim export csv {0}` lists them",
                        arguments.store, arguments.id));
    }
    Settings overrides;
    const Json device_settings = stored_json(*point, point->device_settings);
    for (const auto& [key, value] : device_settings.items()) {
        overrides.emplace_back(key, value);
    }
    if (point->scenario.empty()) {
        throw ConfigError(
            fmt::format("point {} never ran: {}: {}", point->id, point->status, point->error));
    }
    const workloads::RunResult result =
        session::run(parse_scenario(point->scenario, point->base_file, overrides));
    print(sim::to_table(result));
    const Json then = stored_json(*point, point->result);
    const bool same = then.value("cycles", std::int64_t{-1}) == result.cycles &&
                      point->status == name_of(result.status);
    print(fmt::format("stored: {}, {} cycles, model {}; now: {}, {} cycles, model {}: {}\n",
                      point->status, then.value("cycles", std::int64_t{0}), point->model,
                      name_of(result.status), result.cycles, model_version(),
                      same ? "the same" : "DIFFERENT"));
    return same ? kFine : kCheckFailed;
}

int export_sweep(const StoreArguments& arguments) {
    check_output("--out", arguments.out, {arguments.store});
    Store store(arguments.store, Store::Mode::Read);
    const StoredSweep sweep = pick_sweep(store, arguments.sweep);
    const std::string text = arguments.format == "json" ? points_json(store, sweep).dump(1) + "\n"
                                                        : points_csv(store, sweep);
    if (arguments.out.empty()) {
        print(text);
    } else {
        write_file(arguments.out, text);
    }
    if (sweep.finished < sweep.points) {
        complain(fmt::format("{}: {} of {} points", sweep.name, sweep.finished, sweep.points));
    }
    return kFine;
}

int merge(const StoreArguments& arguments) {
    for (const std::string& input : arguments.inputs) {
        std::error_code error;
        if (std::filesystem::equivalent(input, arguments.store, error)) {
            throw ConfigError(fmt::format("merge: {} is named twice", input));
        }
        Store(input, Store::Mode::Read).check();  // before anything is written
    }
    const StoreLock lock(arguments.store);
    Store store(arguments.store, Store::Mode::Create);
    for (const std::string& input : arguments.inputs) {
        store.announce(input);
    }
    std::int64_t added = 0;
    for (const std::string& input : arguments.inputs) {
        added += store.merge(input);
    }
    store.check();
    print(fmt::format("{}: {} points added from {} stores\n", arguments.store, added,
                      arguments.inputs.size()));
    return kFine;
}

}  // namespace

void add_store_commands(CLI::App& app, std::optional<int>& exit_code) {
    auto arguments = std::make_shared<StoreArguments>();
    CLI::App* again = app.add_subcommand("rerun", "simulate a stored point again and compare");
    again->add_option("id", arguments->id, "point, as `export` lists it")->required();
    again->add_option("--store", arguments->store, "store [results.db]");
    again->callback([arguments, &exit_code] {
        exit_code = from_stored(arguments->store, [&] { return rerun(*arguments); });
    });
    CLI::App* out = app.add_subcommand("export", "the points of a sweep as CSV or JSON");
    out->add_option_function<std::vector<std::string>>(
           "store",
           [arguments](const std::vector<std::string>& words) { take_words(*arguments, words); },
           "csv or json, store [csv results.db]")
        ->expected(-1);
    out->add_option("--sweep", arguments->sweep, "id, as `sweep --show` lists it [newest]");
    out->add_option("--format", arguments->format, "csv or json")
        ->check(CLI::IsMember({"csv", "json"}));
    out->add_option("--out", arguments->out, "file [stdout]");
    out->callback([arguments, &exit_code] {
        exit_code = from_stored(arguments->store, [&] { return export_sweep(*arguments); });
    });
    CLI::App* join = app.add_subcommand("merge", "put the points of several stores into one");
    join->add_option("store", arguments->store, "store to write to")->required();
    join->add_option("inputs", arguments->inputs, "stores to read")->required();
    join->callback([arguments, &exit_code] { exit_code = merge(*arguments); });
}

}  // namespace tilesim::sim::commands
