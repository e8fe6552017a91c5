#include "sim/explore/batch.hpp"

#include <unistd.h>

#include "arch/base/yaml_block.hpp"
#include "sim/explore/interrupt.hpp"
#include "sim/explore/progress.hpp"

namespace tilesim::sim::explore {

Job without_mapping(Job job) {
    job.text = arch::base::config::without_block(job.text, "mapping");
    std::erase_if(job.overrides,
                  [](const auto& setting) { return setting.first.starts_with("mapping"); });
    return job;
}

std::vector<Simulated> simulate_all(const std::vector<Job>& jobs, std::size_t processes) {
    std::vector<Simulated> results(jobs.size());
    for (Simulated& result : results) {
        result.status = "interrupted";
    }
    const bool quiet = ::isatty(STDERR_FILENO) == 0;
    Progress progress(static_cast<std::int64_t>(jobs.size()), quiet);
    const InterruptGuard interrupt;
    WorkerPool pool(processes, {}, [&jobs](const std::string& task) {
        const Job& job = jobs[std::stoul(task)];
        return simulate(job.text, job.file, job.overrides);
    });
    std::size_t next = 0;
    const auto fill = [&] {
        for (; next < jobs.size() && !pool.full() && !interrupt.requested(); ++next) {
            pool.start(next, std::to_string(next));
        }
    };
    for (fill(); !pool.idle() && !interrupt.insisted(); fill()) {
        for (const WorkerReport& report : pool.wait()) {
            results[report.id] = simulated(report);
            progress.advance(results[report.id].good());
        }
        progress.show();
    }
    progress.finish();
    return results;
}

}  // namespace tilesim::sim::explore
