// What a device's blocks do as waveforms: the activities its probes tell, at their time of
// SystemC's.
//
// Models tell of an activity when it is decided, ahead of its time; here it waits until then. The
// queue goes no further in between, so that a traced simulation is slower, and the same.
#pragma once

#include <cstdint>
#include <map>
#include <queue>
#include <string>
#include <string_view>
#include <systemc>
#include <vector>

#include "arch/base/probe.hpp"
#include "arch/systemc/block_tree.hpp"
#include "arch/systemc/time_line.hpp"

namespace tilesim::arch::systemc {

class Waves final : public base::ProbeListener {
  public:
    // For the blocks that are named as probes name their components. Before the simulation starts.
    Waves(TimeLine& time_line, const BlockModules& blocks);
    void add(const BlockModules& blocks);
    // The joint time at which the models' own begins.
    void set_origin(base::Femtoseconds origin) { origin_ = origin; }

    void begin(std::string_view component, std::string_view activity,
               base::Femtoseconds now) override;
    void end(std::string_view component, std::string_view activity,
             base::Femtoseconds now) override;

  private:
    struct Change {
        base::Femtoseconds time{0};
        std::uint64_t order = 0;
        BlockModule* block = nullptr;
        unsigned activity = 0;
        bool begins = false;
    };
    struct Later {
        bool operator()(const Change& a, const Change& b) const {
            return a.time != b.time ? a.time > b.time : a.order > b.order;
        }
    };
    void tell(std::string_view component, std::string_view activity, base::Femtoseconds when,
              bool begins);
    void apply();

    TimeLine& time_line_;
    std::map<std::string, BlockModule*, std::less<>> blocks_;  // by their paths in statistics
    std::priority_queue<Change, std::vector<Change>, Later> pending_;
    std::uint64_t told_ = 0;
    base::Femtoseconds origin_{0};
    sc_core::sc_event due_;
};

}  // namespace tilesim::arch::systemc
