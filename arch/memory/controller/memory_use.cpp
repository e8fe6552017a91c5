#include "arch/memory/controller/memory_use.hpp"

#include <initializer_list>

namespace tilesim::arch::memory::controller {

std::vector<std::string> not_exercised(const device::MemoryConfig& config,
                                       const port::MemoryTotals& totals, bool guest) {
    std::vector<std::string> names;
    const auto name_if = [&names](bool unused, const char* map,
                                  std::initializer_list<const char*> keys) {
        for (const char* key : keys) {
            if (unused) {
                names.push_back(std::string{map} + key);
            }
        }
    };
    const bool reads = totals.bytes_read > 0;
    const bool writes = totals.bytes_written > 0;
    const bool any = totals.bursts > 0;
    const char* timing = "memory.timing.";
    const char* controller = "memory.controller.";
    // What a guest keeps to as well: rows, latencies and the turns of the bus.
    name_if(!any && !guest, timing,
            {"burst", "activate_command", "column_command", "tRCD", "tRP", "tRAS", "tRC"});
    name_if(totals.activates == 0 && !guest, timing, {"precharge_command"});
    name_if(!reads && !guest, timing, {"read_latency"});
    name_if(!writes && !guest, timing, {"write_latency", "tWR", "tWTR_L"});
    name_if(!(reads && writes) && !guest, timing, {"tRTW"});
    name_if(totals.refreshes == 0, timing, {"tREFI", "tRFC"});
    name_if(totals.activates < 2, timing, {"tRRD_S", "tRRD_L"});
    name_if(totals.activates < 5, timing, {"tFAW"});  // the fifth is the first to wait for it
    name_if(!any, timing, {"tCCD_S"});
    name_if(!reads, timing, {"tCCD_L", "tRTP"});
    name_if(!writes, timing, {"tCCD_L_WR"});
    name_if(!(reads && writes), timing, {"tWTR_S"});

    name_if(!writes && !guest, timing, {"tRCD_WR"});
    name_if(totals.activates < 2, timing, {"tPPD"});
    name_if(config.ranks == 1, timing, {"tRTRS"});
    const bool partial = config.controller.refresh_policy != "all_bank";
    name_if(!partial || totals.refreshes == 0, timing, {"tRFC_pb"});
    name_if(!partial || totals.refreshes < 2, timing, {"tREFpb_to_REFpb", "tREFpb_to_ACT"});
    name_if(partial, timing, {"tRFC"});
    name_if(totals.refreshes == 0, controller,
            {"refresh_first", "refresh_postpone", "refresh_pull_in", "refresh_after_writes"});
    names.insert(names.end(), config.overruled.begin(), config.overruled.end());
    // Of a time; energy is not one.
    name_if(true, "memory.power.", {"devices", "standby_permille"});

    name_if(!any || config.controller.page_policy != "cap", controller, {"page_cap"});
    name_if(!reads, controller, {"read_queue"});
    name_if(!writes, controller, {"write_queue", "write_high", "write_low"});
    // A burst is overtaken by row hits only where there are any.
    name_if(totals.row_hits == 0, controller, {"starvation_cap"});
    name_if(!any || config.controller.page_policy != "timeout", controller, {"page_timeout"});
    return names;
}

}  // namespace tilesim::arch::memory::controller
