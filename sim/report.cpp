#include "sim/report.hpp"

#include <fmt/format.h>

#include "sim/report_figures.hpp"

namespace tilesim::sim {

std::string to_csv(const workloads::RunResult& result) {
    // Nothing is known of a memory whose banks compute: no figure, not 0.
    const auto of_memory = [&result](double figure) {
        return result.memory ? fmt::format("{}", figure) : std::string{};
    };
    return "schema,device,status,time_ns,cycles,tops,macs_per_cycle,gb_per_s,row_hit_rate,"
           "bottleneck,next_bottleneck\n" +
           fmt::format("{},{},{},{},{},{},{},{},{},\"{}\",\"{}\"\n", kResultSchema, result.device,
                       name_of(result.status), result.time_ns, result.cycles, result.tops,
                       result.macs_per_cycle, of_memory(gb_per_s(result)),
                       of_memory(result.memory ? row_hit_rate(*result.memory) : 0.0),
                       result.bottleneck, result.next_bottleneck);
}

}  // namespace tilesim::sim
