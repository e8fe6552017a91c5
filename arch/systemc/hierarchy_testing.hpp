// What a program finds from sc_get_top_level_objects() down.
#pragma once

#include <map>
#include <string>
#include <systemc>
#include <vector>

namespace tilesim::arch::systemc {

inline void add_kinds(const std::vector<sc_core::sc_object*>& objects,
                      std::map<std::string, std::string>& kinds) {
    for (const sc_core::sc_object* object : objects) {
        kinds[object->name()] = object->kind();
        add_kinds(object->get_child_objects(), kinds);
    }
}

// The kind of every object of the simulation, by its name.
inline std::map<std::string, std::string> kinds_by_name() {
    std::map<std::string, std::string> kinds;
    add_kinds(sc_core::sc_get_top_level_objects(), kinds);
    return kinds;
}

// How many objects there are of each kind.
inline std::map<std::string, int> kind_counts() {
    std::map<std::string, int> counts;
    for (const auto& [name, kind] : kinds_by_name()) {
        ++counts[kind];
    }
    return counts;
}

}  // namespace tilesim::arch::systemc
