#include "sim/explore/array_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "arch/base/config.hpp"
#include "sim/explore/command_line.hpp"
#include "sim/write_file.hpp"

namespace tilesim::sim::explore {

namespace fs = std::filesystem;
using arch::base::config::IoError;

namespace {

constexpr std::int64_t kUsualLimit = 1000;  // Slurm's MaxArraySize is 1001 unless a site says so

std::string this_program() {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    return error ? "tilesim" : program.string();
}

std::int64_t tasks_of(const ArrayJob& job, std::int64_t limit) {
    const std::int64_t wanted = job.tasks > 0 ? job.tasks : job.points;
    return std::max<std::int64_t>(1, std::min({wanted, limit, job.points}));
}

// The largest index of an array here is one below MaxArraySize; nothing where Slurm is not at hand.
std::optional<std::int64_t> slurm_array_limit() {
    FILE* const pipe = ::popen("scontrol show config 2>/dev/null", "r");
    if (pipe == nullptr) {
        return std::nullopt;
    }
    std::optional<std::int64_t> limit;
    std::array<char, 1024> line{};
    while (std::fgets(line.data(), static_cast<int>(line.size()), pipe) != nullptr) {
        long long size = 0;
        if (std::sscanf(line.data(), "MaxArraySize = %lld", &size) == 1 && size > 1) {
            limit = size - 1;
        }
    }
    ::pclose(pipe);
    return limit;
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
                             shell_word(folder), shell_word(this_program())));
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
    const std::int64_t limit =
        job.limit > 0 ? job.limit : slurm_array_limit().value_or(kUsualLimit);
    const std::int64_t tasks = tasks_of(job, limit);
    write_script(
        folder / "job.sh",
        fmt::format("#!/bin/sh\n"
                    "#SBATCH --job-name={}\n"
                    "#SBATCH --array=1-{}\n"
                    "#SBATCH --cpus-per-task=1\n"
                    "#SBATCH --requeue\n"
                    "#SBATCH --output={}/task-%a.log\n"
                    "# --retry-failed: what killed the task may have killed a point first.\n"
                    "exec {} sweep {} --jobs 1 --quiet --retry-failed{} --shard "
                    "\"$SLURM_ARRAY_TASK_ID/{}\" "
                    "--store {}/\"shard-$SLURM_ARRAY_TASK_ID.db\"\n",
                    shell_word(job.name), tasks, folder.string(), shell_word(this_program()),
                    shell_word(job.sweep_file), job.sampled ? " --sampled" : "", tasks,
                    shell_word(folder)));
    write_merge(folder);
    return fmt::format("{} points in {} tasks\n", job.points, tasks) +
           submitted(job, fmt::format("sbatch {}", shell_word(folder / "job.sh"))) +
           fmt::format("then: {}\n", shell_word(folder / "merge.sh"));
}

std::string write_condor(const ArrayJob& job) {
    const fs::path folder = make_folder(job, ".condor");
    const std::int64_t tasks = tasks_of(job, job.limit > 0 ? job.limit : job.points);
    write_file(
        folder / "job.sub",
        fmt::format(
            "universe = vanilla\n"
            "executable = {}\n"
            "Shard = $(Process) + 1\n"
            "arguments = \"sweep '{}' --jobs 1 --quiet --retry-failed{} --shard $INT(Shard)/{} "
            "--store '{}/shard-$INT(Shard).db'\"\n"
            "request_cpus = 1\n"
            "on_exit_remove = ExitBySignal == False\n"
            "output = {}/task-$INT(Shard).log\n"
            "error = {}/task-$INT(Shard).log\n"
            "log = {}/condor.log\n"
            "queue {}\n",
            this_program(), job.sweep_file, job.sampled ? " --sampled" : "", tasks, folder.string(),
            folder.string(), folder.string(), folder.string(), tasks));
    write_merge(folder);
    return fmt::format("{} points in {} tasks\n", job.points, tasks) +
           submitted(job, fmt::format("condor_submit {}", shell_word(folder / "job.sub"))) +
           fmt::format("then: {}\n", shell_word(folder / "merge.sh"));
}

}  // namespace tilesim::sim::explore
