// A list of types of one kind, each with its name: what a configuration may choose from.
#pragma once

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
