#include "arch/npu/check/ready_program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "arch/npu/check/buffer_placement.hpp"
#include "arch/npu/check/path_checks.hpp"
#include "arch/npu/check/program_verifier.hpp"
#include "arch/npu/check/transfer_checks.hpp"
#include "arch/npu/stream/router.hpp"

namespace tilesim::arch::npu::check {

namespace {

void refuse(std::vector<std::string> problems, const program::Program& program,
            const NpuConfig& config) {
    if (!problems.empty()) {
        throw ProgramRefused(std::move(problems), shortfalls(program, config));
    }
}

}  // namespace

ProgramRefused::ProgramRefused(std::vector<std::string> problems, std::vector<Shortfall> shortfalls)
    : ConfigError(fmt::format("the program cannot run:\n  {}", fmt::join(problems, "\n  "))),
      problems_(std::move(problems)),
      shortfalls_(std::move(shortfalls)) {}

ReadyProgram prepare(program::Program program, const NpuConfig& config) {
    const NpuConfig part = config.first_columns(program.columns);
    place_buffers(program, part);
    refuse(verify(program, part), program, config);
    refuse(check_paths(program, part), program, config);  // before the router takes them as given
    stream::route(program, part);
    // Words too many are an error where the stream cannot hold them: its length must be known.
    TransferFindings transfers = check_transfers(program, part);
    refuse(std::move(transfers.errors), program, config);
    ProgramAnalysis analysis = analyse(program, part);
    std::vector<std::string> findings = std::move(transfers.warnings);
    // The router does not count rules: its ways run here, and stated they would be refused.
    for (const std::string& problem : check_paths(program, part)) {
        findings.push_back("as routed: " + problem);
    }
    for (const std::string& deadlock : analysis.deadlocks) {
        findings.push_back("certain deadlock: " + deadlock);
    }
    if (!program.then.empty()) {
        analysis.period.reset();  // of one configuration, not of the run
    }
    for (program::Program& next : program.then) {
        const std::string name = next.name;
        ReadyProgram ready = prepare(std::move(next), config);
        for (const std::string& finding : ready.findings_) {
            findings.push_back(fmt::format("configuration {}: {}", name, finding));
        }
        next = std::move(ready.program_);
    }
    return {std::move(program), std::move(analysis), std::move(findings)};
}

std::string left_to_prepare(const program::Program& program) {
    const auto buffer = std::find_if(
        program.buffers.begin(), program.buffers.end(),
        [](const program::Buffer& each) { return each.address == program::kUnplaced; });
    if (buffer != program.buffers.end()) {
        return fmt::format("buffer {} has no address", buffer->name);
    }
    const auto route = std::find_if(program.routes.begin(), program.routes.end(),
                                    [](const program::Route& each) { return each.path.empty(); });
    if (route != program.routes.end()) {
        return fmt::format("route {} has no path", route->name);
    }
    for (const program::Program& next : program.then) {
        if (const std::string left = left_to_prepare(next); !left.empty()) {
            return fmt::format("configuration {}: {}", next.name, left);
        }
    }
    return {};
}

}  // namespace tilesim::arch::npu::check
