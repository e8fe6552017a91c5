// Checks that a model keeps its own rules. A failed check is a bug of ours, never of the user's
// input: it ends the run with exit code 70.
#pragma once

#include <fmt/format.h>

#include <stdexcept>

namespace tilesim::arch::base {

class ModelError : public std::logic_error {
  public:
    using std::logic_error::logic_error;
};

}  // namespace tilesim::arch::base

// SIM_CHECK(condition, "text {}", value...): on in every build.
#define SIM_CHECK(condition, ...)                                                \
    do {                                                                         \
        if (!(condition)) [[unlikely]] {                                         \
            throw ::tilesim::arch::base::ModelError(::fmt::format(__VA_ARGS__)); \
        }                                                                        \
    } while (false)

// As SIM_CHECK, for inner loops: on in debug builds only.
#ifdef NDEBUG
#define SIM_DCHECK(condition, ...) \
    do {                           \
    } while (false)
#else
#define SIM_DCHECK(condition, ...) SIM_CHECK(condition, __VA_ARGS__)
#endif
