// Chrome trace-event JSON in the form of mlir-aie's trace parser: a top-level array, "M" metadata,
// "B"/"E" pairs, one pid for each tile and unit, tid for each event, ts in cycles. A tid's name
// goes with the component of the model that was in this state, as statistics name it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "arch/base/units.hpp"
#include "sim/trace/activity_log.hpp"

namespace tilesim::sim::trace {

struct ChromeForm {
    // Times in microseconds, as viewers take them, instead of cycles.
    bool microseconds = false;
    // Counters besides the activities: busy cores, how busy DRAM is.
    bool counters = false;
    // Arrows from the release of a lock to whom it woke.
    bool flows = false;
};

// Hands the text on piece by piece: a whole trace may be hundreds of megabytes.
// `memory_rows`: rows of memory tiles the array has. `device`: whose activities they are, so that a
// comparison can tell.
void write_chrome_trace(const ActivityLog& log, arch::base::Hertz clock, std::int64_t memory_rows,
                        const std::string& device, ChromeForm form,
                        const std::function<void(std::string_view)>& out);
std::string to_chrome_trace(const ActivityLog& log, arch::base::Hertz clock,
                            std::int64_t memory_rows, const std::string& device,
                            ChromeForm form = {});

}  // namespace tilesim::sim::trace
