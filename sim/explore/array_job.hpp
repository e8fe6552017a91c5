// A sweep as a job array of a batch system: one task a shard, each with a store of its own, merged
// at the end. A task that is killed and started again goes on where its store ends.
#pragma once

#include <cstdint>
#include <string>

namespace tilesim::sim::explore {

struct ArrayJob {
    std::string sweep_file;  // absolute
    std::string name;
    std::int64_t points = 0;
    std::int64_t tasks = 0;  // 0: as many as points and limit allow
    std::int64_t limit = 0;  // of an array at this site; 0: ask Slurm, HTCondor has none
    std::string folder;      // default: <name>.slurm or <name>.condor
    bool submit = false;
    bool sampled = false;  // as `sweep --sampled`
};

// Each writes the scripts, submits them where asked to, and says what it did.
std::string write_slurm(const ArrayJob& job);
std::string write_condor(const ArrayJob& job);

}  // namespace tilesim::sim::explore
