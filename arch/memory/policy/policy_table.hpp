// A list of types of one kind, each with its name: what a configuration may choose from.
//
// A policy with keys of its own under `memory.controller`, which the others do not read, lists them
// as `kKeys`: results name them as without effect where another one is chosen.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/base/check.hpp"

namespace tilesim::arch::memory::policy {

template <class... Policies>
struct PolicyTable {
    // For a reader: what may stand in the file, and what it means.
    static std::vector<std::pair<std::string_view, std::string>> names() {
        return {{Policies::kName, std::string{Policies::kName}}...};
    }
    // The keys of the table's policies that the one of this name does not read; "": of all.
    static std::vector<std::string_view> keys_unread_by(std::string_view name) {
        std::vector<std::string_view> read;
        std::vector<std::string_view> keys;
        const auto collect = [&]<class Policy>() {
            if constexpr (requires { Policy::kKeys; }) {
                std::vector<std::string_view>& to = name == Policy::kName ? read : keys;
                to.insert(to.end(), std::begin(Policy::kKeys), std::end(Policy::kKeys));
            }
        };
        (collect.template operator()<Policies>(), ...);
        std::sort(keys.begin(), keys.end());
        keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
        std::erase_if(keys, [&read](std::string_view key) {
            return std::find(read.begin(), read.end(), key) != read.end();
        });
        return keys;
    }
    // Calls `make.operator()<Policy>()` with the policy of this name.
    template <class Result, class Make>
    static Result make(std::string_view name, Make make) {
        Result result;
        const bool found =
            ((name == Policies::kName ? (result = make.template operator()<Policies>(), true)
                                      : false) ||
             ...);
        SIM_CHECK(found, "there is no policy '{}'", name);
        return result;
    }
};

}  // namespace tilesim::arch::memory::policy
