#include "arch/base/stats.hpp"

#include <numeric>

namespace tilesim::arch::base::stats {

std::string_view name_of(Unit unit) {
    switch (unit) {
        case Unit::Count:
            return "count";
        case Unit::Cycle:
            return "cycle";
        case Unit::Byte:
            return "B";
        case Unit::Femtosecond:
            return "fs";
    }
    return "count";
}

Group::Group(Group& parent, std::string_view name, std::string_view component_class)
    : path_(parent.path_.empty() ? std::string{name} : parent.path_ + "." + std::string{name}),
      component_class_(component_class) {
    parent.children_.push_back(this);
}

std::int64_t StateAccount::total() const {
    return std::accumulate(spent_.begin(), spent_.end(), std::int64_t{0});
}

}  // namespace tilesim::arch::base::stats
