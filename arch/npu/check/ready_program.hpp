// A program that may run: checked against the device, its buffers placed, its streams routed.
//
// Whatever an array executes, written by hand, lowered from a problem or read from a design, has
// gone through `prepare`.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "arch/npu/check/program_graph.hpp"
#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::check {

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

// Throws ConfigError with everything the first check that fails finds wrong, one sentence a line:
// buffers that find no place, what `verify` and `check_paths` find, routes that cannot be made,
// errors of `check_transfers`.
ReadyProgram prepare(program::Program program, const NpuConfig& config);

// The first thing `prepare` has still to do for a program to be run, "route a has no path"; empty
// where there is none.
std::string left_to_prepare(const program::Program& program);

}  // namespace tilesim::arch::npu::check
