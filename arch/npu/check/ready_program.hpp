// A program that may run: checked against the device, its buffers placed, its streams routed.
//
// Whatever an array executes, written by hand, lowered from a problem or read from a design, has
// gone through `prepare`.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/npu/check/device_demand.hpp"
#include "arch/npu/check/program_graph.hpp"
#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::check {

// A program that cannot run.
class ProgramRefused final : public base::config::ConfigError {
  public:
    ProgramRefused(std::vector<std::string> problems, std::vector<Shortfall> shortfalls);
    const std::vector<std::string>& problems() const { return problems_; }  // one at least
    // Limits of the device that it is beyond; of these problems are the consequences.
    const std::vector<Shortfall>& shortfalls() const { return shortfalls_; }

  private:
    std::vector<std::string> problems_;
    std::vector<Shortfall> shortfalls_;
};

class ReadyProgram {
  public:
    // Every buffer has an address, every route its path.
    const program::Program& program() const { return program_; }
    // Certain deadlocks and the bound of the steady-state period.
    const ProgramAnalysis& analysis() const { return analysis_; }
    // What may not do what was meant although it can run: warnings, then certain deadlocks.
    const std::vector<std::string>& findings() const { return findings_; }

  private:
    friend ReadyProgram prepare(program::Program program, const NpuConfig& config);
    ReadyProgram(program::Program program, ProgramAnalysis analysis,
                 std::vector<std::string> findings)
        : program_(std::move(program)),
          analysis_(std::move(analysis)),
          findings_(std::move(findings)) {}

    program::Program program_;
    ProgramAnalysis analysis_;
    std::vector<std::string> findings_;
};

// Throws ConfigError where a buffer finds no place or a route cannot be made, ProgramRefused with
// everything the first of `verify`, `check_paths` and `check_transfers` that fails finds wrong.
ReadyProgram prepare(program::Program program, const NpuConfig& config);

// The first thing `prepare` has still to do for a program to be run, "route a has no path"; empty
// where there is none.
std::string left_to_prepare(const program::Program& program);

}  // namespace tilesim::arch::npu::check
