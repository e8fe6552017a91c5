// What a channel has done, and where the time of its data bus went.
#pragma once

#include <string_view>

#include "arch/base/stats.hpp"

namespace tilesim::arch::memory::controller {

enum class BusState : std::size_t { Idle, Read, Write, Turnaround, RowMiss, Refresh, Guest };

inline constexpr base::stats::StateTable<BusState> kBusStates{{
    {BusState::Idle, "idle", "nothing queued"},
    {BusState::Read, "read", "read data on the bus"},
    {BusState::Write, "write", "write data on the bus"},
    {BusState::Turnaround, "turnaround", "between read and write data, or column spacing"},
    {BusState::RowMiss, "row_miss", "waiting for a row to close and open"},
    {BusState::Refresh, "refresh", "waiting for a refresh"},
    {BusState::Guest, "guest", "lent to processing in memory"},
}};

struct ChannelStats : base::stats::Group {
    using Group::Group;
    base::stats::StateAccount bus{*this, "data_bus", base::stats::Unit::Cycle, kBusStates};
    base::stats::Counter reads{*this, "reads", base::stats::Unit::Count, "RD commands"};
    base::stats::Counter writes{*this, "writes", base::stats::Unit::Count, "WR commands"};
    base::stats::Counter activates{*this, "activates", base::stats::Unit::Count, "ACT commands"};
    base::stats::Counter precharges{*this, "precharges", base::stats::Unit::Count, "PRE commands"};
    base::stats::Counter refreshes{*this, "refreshes", base::stats::Unit::Count, "REF commands"};
    base::stats::Counter row_open{*this, "row_open", base::stats::Unit::Cycle,
                                  "rows open, summed over the banks"};
    base::stats::Counter any_row_open{*this, "any_row_open", base::stats::Unit::Cycle,
                                      "one row of a rank at least open, summed over ranks"};
    base::stats::Counter row_hits{*this, "row_hits", base::stats::Unit::Count,
                                  "bursts that found their row open"};
};

}  // namespace tilesim::arch::memory::controller
