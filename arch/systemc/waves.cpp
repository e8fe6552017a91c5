#define SC_INCLUDE_DYNAMIC_PROCESSES
#include "arch/systemc/waves.hpp"

namespace tilesim::arch::systemc {

Waves::Waves(TimeLine& time_line, const BlockModules& blocks) : time_line_(time_line) {
    add(blocks);
    sc_core::sc_spawn_options method;
    method.spawn_method();
    method.set_sensitivity(&due_);
    method.dont_initialize();
    sc_core::sc_spawn([this] { apply(); }, sc_core::sc_gen_unique_name("waves"), &method);
}

void Waves::add(const BlockModules& blocks) {
    for (const auto& block : blocks) {
        blocks_[block->path()] = block.get();
        add(block->children());
    }
}

void Waves::begin(std::string_view component, std::string_view activity, base::Femtoseconds now) {
    tell(component, activity, now, true);
}

void Waves::end(std::string_view component, std::string_view activity, base::Femtoseconds now) {
    tell(component, activity, now, false);
}

void Waves::tell(std::string_view component, std::string_view activity, base::Femtoseconds when,
                 bool begins) {
    const auto found = blocks_.find(component);
    if (found == blocks_.end()) {
        return;  // finer than the hierarchy: a single lock, a port's words
    }
    BlockModule& block = *found->second;
    pending_.push({when + origin_, told_++, &block, block.number_of(activity), begins});
    time_line_.leave(due_, pending_.top().time);
}

void Waves::apply() {
    const base::Femtoseconds now = time_line_.present();
    while (!pending_.empty() && pending_.top().time <= now) {
        const Change change = pending_.top();
        pending_.pop();
        if (change.begins) {
            change.block->set_activity(change.activity);
        } else if (change.block->activity() == change.activity) {
            change.block->set_activity(0);
        }
    }
    if (!pending_.empty()) {
        due_.notify(time_line_.until(pending_.top().time));
    }
}

}  // namespace tilesim::arch::systemc
