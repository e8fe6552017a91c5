// The names of an enum's values in files and results, beside the enum and nowhere else.
//
// They stand in the order in which a reader lists them. A value without a name, or with two, does
// not compile:
//
//     enum class PagePlace { Near, Far };
//     inline constexpr NameTable<PagePlace> kPagePlaces{{
//         {"far", PagePlace::Far},
//         {"near", PagePlace::Near},
//     }};
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "arch/base/enumerators.hpp"

namespace tilesim::arch::base {

template <class Enum>
requires std::is_enum_v<Enum>
class NameTable {
  public:
    static constexpr std::size_t kValues = enumerators<Enum>();
    using Row = std::pair<std::string_view, Enum>;

    template <std::size_t rows>
    consteval explicit NameTable(const Row (&table)[rows]) {
        static_assert(rows == kValues, "one row for each value of the enum");
        for (std::size_t i = 0; i < rows; ++i) {
            for (std::size_t earlier = 0; earlier < i; ++earlier) {
                if (table[earlier].second == table[i].second ||
                    table[earlier].first == table[i].first) {
                    throw "a value or a name stands twice";
                }
            }
            rows_[i] = table[i];
        }
    }

    constexpr std::string_view operator[](Enum value) const {
        return std::find_if(begin(), end(), [value](const Row& row) { return row.second == value; })
            ->first;
    }
    // Nothing where no value has that name.
    constexpr std::optional<Enum> find(std::string_view name) const {
        const auto row =
            std::find_if(begin(), end(), [name](const Row& each) { return each.first == name; });
        return row == end() ? std::nullopt : std::optional<Enum>{row->second};
    }
    constexpr auto begin() const { return rows_.begin(); }
    constexpr auto end() const { return rows_.end(); }
    std::vector<Row> rows() const { return {begin(), end()}; }

  private:
    std::array<Row, kValues> rows_{};
};

}  // namespace tilesim::arch::base
