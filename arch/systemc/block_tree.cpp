#include "arch/systemc/block_tree.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tilesim::arch::systemc {

namespace {

std::vector<std::string> segments_of(std::string_view path) {
    std::vector<std::string> segments(1);
    for (const char c : path) {
        if (c == '.') {
            segments.emplace_back();
        } else {
            segments.back() += c;
        }
    }
    return segments;
}

BlockPlace& child_of(BlockPlace& parent, const std::string& name, const std::string& path) {
    const auto found = std::find_if(parent.children.begin(), parent.children.end(),
                                    [&](const BlockPlace& each) { return each.name == name; });
    if (found != parent.children.end()) {
        return *found;
    }
    parent.children.push_back({.name = name, .path = path, .kind = name});
    return parent.children.back();
}

// The states its time is charged to, in the order of statistics.
std::vector<std::string> states_of(const base::stats::Group* statistics) {
    std::vector<std::string> names;
    if (statistics != nullptr && !statistics->accounts().empty()) {
        for (const base::stats::State& state : statistics->accounts().front()->states()) {
            names.emplace_back(state.name);
        }
    }
    return names;
}

BlockModules make_children(const BlockPlace& place) {
    BlockModules modules;
    for (const BlockPlace& child : place.children) {
        modules.push_back(std::make_unique<BlockModule>(child.name.c_str(), child));
    }
    return modules;
}

void add_lines(const sc_core::sc_object& object, std::size_t depth, std::string& text) {
    if (dynamic_cast<const sc_core::sc_module*>(&object) == nullptr) {
        return;
    }
    text += fmt::format("{:{}}{} ({})\n", "", depth * 2, object.basename(), object.kind());
    for (const sc_core::sc_object* child : object.get_child_objects()) {
        add_lines(*child, depth + 1, text);
    }
}

}  // namespace

std::string systemc_name(std::string_view segment) {
    std::string name;
    for (const char c : segment) {
        if (c == '(' || c == ',') {
            name += '_';
        } else if (c != ')') {
            name += c;
        }
    }
    // A number that ends a word is an index: mm2s0, but not l1.
    const std::size_t last = name.find_last_not_of("0123456789");
    if (last != std::string::npos && last >= 2 && last + 1 < name.size() && name[last] != '_') {
        name.insert(last + 1, 1, '_');
    }
    return name;
}

BlockModule::BlockModule(const sc_core::sc_module_name& name, const BlockPlace& place)
    : sc_core::sc_module(name),
      kind_(place.kind),
      path_(place.path),
      statistics_(place.statistics),
      activities_(states_of(place.statistics)),
      children_(make_children(place)) {}

unsigned BlockModule::number_of(std::string_view activity) {
    auto found = std::find(activities_.begin(), activities_.end(), activity);
    if (found == activities_.end()) {
        found = activities_.insert(found, std::string{activity});
    }
    return static_cast<unsigned>(found - activities_.begin()) + 1;
}

std::string BlockModule::legend() const {
    std::string text;
    for (std::size_t i = 0; i < activities_.size(); ++i) {
        text += fmt::format("{}{} {}", i > 0 ? ", " : "", i + 1, activities_[i]);
    }
    return text;
}

void BlockModule::trace(sc_core::sc_trace_file* file) const {
    sc_core::sc_trace(file, activity_, fmt::format("{}.activity", name()));
    for (const auto& child : children_) {
        child->trace(file);
    }
}

BlockModules make_modules(const std::vector<base::Block>& blocks, std::size_t skip) {
    BlockPlace root;
    for (const base::Block& block : blocks) {
        const std::vector<std::string> segments = segments_of(block.path);
        BlockPlace* place = &root;
        std::string path;
        for (std::size_t i = 0; i < segments.size(); ++i) {
            path += (i > 0 ? "." : "") + segments[i];
            place = i < skip ? place : &child_of(*place, systemc_name(segments[i]), path);
        }
        if (place != &root) {
            place->kind = block.kind;
            place->statistics = block.statistics;
        }
    }
    return make_children(root);
}

std::string hierarchy_text(const sc_core::sc_object& object) {
    std::string text;
    add_lines(object, 0, text);
    return text;
}

std::string hierarchy_text() {
    std::string text;
    for (const sc_core::sc_object* object : sc_core::sc_get_top_level_objects()) {
        text += hierarchy_text(*object);
    }
    return text;
}

}  // namespace tilesim::arch::systemc
