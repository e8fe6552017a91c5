// How many values an enum names, found by the compiler: what stands beside an enum can be checked
// against it. For enums whose values count up from 0.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace tilesim::arch::base {

// Whether the enum has a name for the value: the compiler prints it as `Colour::Red`, and a value
// without a name as `(Colour)7`.
template <auto value>
consteval bool has_enumerator() {
    constexpr std::string_view printed = __PRETTY_FUNCTION__;
    const char after_cast = printed[printed.rfind(')') + 1];
    return after_cast < '0' || after_cast > '9';
}

template <class Enum, std::size_t from = 0>
requires std::is_enum_v<Enum>
consteval std::size_t enumerators() {
    if constexpr (has_enumerator<static_cast<Enum>(from)>()) {
        return enumerators<Enum, from + 1>();
    } else {
        return from;
    }
}

}  // namespace tilesim::arch::base
