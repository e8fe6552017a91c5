#include "workloads/npu/mlir/control_flow/loop_count.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "arch/base/clock.hpp"

namespace tilesim::workloads::npu::mlir::control_flow {

std::string negated(const std::string& predicate) {
    static const std::map<std::string, std::string> kOpposites{
        {"eq", "ne"},   {"ne", "eq"},   {"slt", "sge"}, {"sge", "slt"}, {"sle", "sgt"},
        {"sgt", "sle"}, {"ult", "uge"}, {"uge", "ult"}, {"ule", "ugt"}, {"ugt", "ule"}};
    const auto place = kOpposites.find(predicate);
    return place == kOpposites.end() ? predicate : place->second;
}

std::int64_t times_passed(const std::string& predicate, std::int64_t first, std::int64_t step,
                          std::int64_t bound) {
    using Wide = arch::base::Int128;
    Wide from = first;
    Wide to = bound;
    Wide by = step;
    if (predicate.starts_with('u')) {
        constexpr Wide kTurn = Wide{1} << 64;
        from += from < 0 ? kTurn : Wide{0};
        to += to < 0 ? kTurn : Wide{0};
    }
    if (predicate == "eq") {
        return from != to ? 0 : by == 0 ? -1 : 1;
    }
    if (predicate == "ne") {
        const bool meets = from == to || (by != 0 && (to - from) % by == 0 && (to - from) / by > 0);
        return !meets ? -1 : from == to ? 0 : static_cast<std::int64_t>((to - from) / by);
    }
    if (predicate.ends_with("gt") || predicate.ends_with("ge")) {
        from = -from;
        to = -to;
        by = -by;
    }
    to += predicate.ends_with("e") ? 1 : 0;
    if (from >= to) {
        return 0;
    }
    if (by <= 0) {
        return -1;
    }
    const Wide times = (to - from + by - 1) / by;
    return static_cast<std::int64_t>(
        std::min<Wide>(times, std::numeric_limits<std::int64_t>::max()));
}

}  // namespace tilesim::workloads::npu::mlir::control_flow
