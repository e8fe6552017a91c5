#include "sim/explore/array_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "arch/base/config.hpp"
#include "sim/report.hpp"

namespace tilesim::sim::explore {

namespace fs = std::filesystem;
using arch::base::config::IoError;

namespace {

// A word of a shell command, whatever is in it.
std::string quoted(const std::string& text) {
    std::string result = "'";
    for (const char c : text) {
        result += c == '\'' ? std::string{"'\\''"} : std::string{c};
    }
    return result + "'";
}

std::string this_program() {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    return error ? "tilesim" : program.string();
}

std::int64_t tasks_of(const ArrayJob& job) {
    const std::int64_t wanted = job.tasks > 0 ? job.tasks : job.points;
    return std::max<std::int64_t>(1, std::min({wanted, job.limit, job.points}));
}

fs::path make_folder(const ArrayJob& job, const char* ending) {
    const fs::path folder = fs::absolute(job.folder.empty() ? job.name + ending : job.folder);
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) {
        throw IoError(fmt::format("{}: {}", folder.string(), error.message()));
    }
    return folder;
}

void write_script(const fs::path& file, const std::string& text) {
    write_file(file, text);
    std::error_code error;
    fs::permissions(file, fs::perms::owner_exec | fs::perms::group_exec, fs::perm_options::add,
                    error);
}

// Run when every task has ended.
void write_merge(const fs::path& folder) {
    write_script(folder / "merge.sh",
                 fmt::format("#!/bin/sh\nset -e\ncd {}\nexec {} merge results.db shard-*.db\n",
                             quoted(folder), quoted(this_program())));
}

std::string submitted(const ArrayJob& job, const std::string& command) {
    if (!job.submit) {
        return fmt::format("submit with: {}\n", command);
    }
    if (std::system(command.c_str()) != 0) {
        throw IoError(fmt::format("'{}' failed", command));
    }
    return fmt::format("submitted: {}\n", command);
}

}  // namespace

std::string write_slurm(const ArrayJob& job) {
    const fs::path folder = make_folder(job, ".slurm");
    const std::int64_t tasks = tasks_of(job);
    write_script(
        folder / "job.sh",
        fmt::format("#!/bin/sh\n"
                    "#SBATCH --job-name={}\n"
                    "#SBATCH --array=1-{}\n"
                    "#SBATCH --cpus-per-task=1\n"
                    "#SBATCH --requeue\n"
                    "#SBATCH --output={}/task-%a.log\n"
                    "exec {} sweep {} --jobs 1 --quiet --shard \"$SLURM_ARRAY_TASK_ID/{}\" "
                    "--store {}/\"shard-$SLURM_ARRAY_TASK_ID.db\"\n",
                    quoted(job.name), tasks, folder.string(), quoted(this_program()),
                    quoted(job.sweep_file), tasks, quoted(folder)));
    write_merge(folder);
    return fmt::format("{} points in {} tasks\n", job.points, tasks) +
           submitted(job, fmt::format("sbatch {}", quoted(folder / "job.sh"))) +
           fmt::format("then: {}\n", quoted(folder / "merge.sh"));
}

std::string write_condor(const ArrayJob& job) {
    const fs::path folder = make_folder(job, ".condor");
    const std::int64_t tasks = tasks_of(job);
    write_file(folder / "job.sub",
               fmt::format("universe = vanilla\n"
                           "executable = {}\n"
                           "Shard = $(Process) + 1\n"
                           "arguments = \"sweep '{}' --jobs 1 --quiet --shard $INT(Shard)/{} "
                           "--store '{}/shard-$INT(Shard).db'\"\n"
                           "request_cpus = 1\n"
                           "on_exit_remove = ExitBySignal == False\n"
                           "output = {}/task-$INT(Shard).log\n"
                           "error = {}/task-$INT(Shard).log\n"
                           "log = {}/condor.log\n"
                           "queue {}\n",
                           this_program(), job.sweep_file, tasks, folder.string(), folder.string(),
                           folder.string(), folder.string(), tasks));
    write_merge(folder);
    return fmt::format("{} points in {} tasks\n", job.points, tasks) +
           submitted(job, fmt::format("condor_submit {}", quoted(folder / "job.sub"))) +
           fmt::format("then: {}\n", quoted(folder / "merge.sh"));
}

}  // namespace tilesim::sim::explore
