#include "arch/base/block.hpp"

#include <algorithm>

namespace tilesim::arch::base {

void add_groups(const stats::Group& root, std::vector<Block>& known) {
    for (const stats::Group* group : root.children()) {
        const auto listed = std::find_if(known.begin(), known.end(), [&](const Block& block) {
            return block.path == group->path();
        });
        if (listed == known.end()) {
            known.push_back({group->path(), group->component_class(), group});
        } else {
            listed->statistics = group;
        }
        add_groups(*group, known);
    }
}

}  // namespace tilesim::arch::base
