#include "sim/page/bank_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <vector>

namespace tilesim::sim::page {

using Json = nlohmann::ordered_json;

namespace {

using Counts = std::vector<std::vector<std::int64_t>>;

// Bursts read and written, by channel and bank; a command that nobody gave is not in the data.
Counts accesses_of(const Json& banks) {
    Counts sum = banks["activates"].get<Counts>();
    for (auto& channel : sum) {
        std::fill(channel.begin(), channel.end(), 0);
    }
    for (const char* command : {"reads", "writes"}) {
        const Counts counts = banks.value(command, Counts{});
        for (std::size_t i = 0; i < counts.size(); ++i) {
            std::transform(counts[i].begin(), counts[i].end(), sum[i].begin(), sum[i].begin(),
                           std::plus<>());
        }
    }
    return sum;
}

}  // namespace

std::string bank_table(const Json& banks) {
    std::string text =
        "| channel | accesses | most used bank (group/bank) | least used | most over mean |\n"
        "| --- | --- | --- | --- | --- |\n";
    const auto per_group = banks["banks_per_group"].get<std::int64_t>();
    const auto accesses = accesses_of(banks);
    for (std::size_t i = 0; i < accesses.size(); ++i) {
        const auto& channel = accesses[i];
        const auto name = [&](auto bank) {
            const auto index = std::distance(channel.begin(), bank);
            return fmt::format("{}/{}: {}", index / per_group, index % per_group, *bank);
        };
        const auto [least, most] = std::minmax_element(channel.begin(), channel.end());
        const auto sum = std::accumulate(channel.begin(), channel.end(), std::int64_t{0});
        const auto first_most = std::find(channel.begin(), channel.end(), *most);
        const double mean = static_cast<double>(sum) / static_cast<double>(channel.size());
        text +=
            fmt::format("| {} | {} | {} | {} | {} |\n", i, sum, name(first_most), name(least),
                        sum > 0 ? fmt::format("{:.2f}", static_cast<double>(*most) / mean) : "-");
    }
    return text;
}

}  // namespace tilesim::sim::page
