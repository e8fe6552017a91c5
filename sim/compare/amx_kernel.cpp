#include "sim/compare/amx_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "arch/amx/program/instruction_stream.hpp"
#include "sim/session/session.hpp"
#include "workloads/amx/tiles/amx_dataflow.hpp"
#include "workloads/amx/tiles/kernel_text.hpp"

namespace tilesim::sim::compare {

using arch::amx::program::Instruction;
using arch::amx::program::Opcode;
using arch::amx::program::TileShape;

namespace {

// Predictions are of the long run: what more iterations take, over how many more they are.
constexpr std::int64_t kFew = 40;
constexpr std::int64_t kMany = 240;
constexpr std::int64_t kWithOneToWarmUp = 2;
constexpr std::int64_t kMostInstructions = 500'000'000;  // minutes

double elements(const TileShape& shape, std::int64_t bytes_an_element) {
    return static_cast<double>(shape.rows) * static_cast<double>(shape.row_bytes) /
           static_cast<double>(bytes_an_element);
}

// `once`: what is asked for is this one run, not the difference of two.
AmxKernelRun run_program(const sim::Scenario& like, const std::string& text,
                         const std::string& file, std::int64_t count, bool once) {
    workloads::amx::tiles::AmxProgramWorkload workload;
    workload.file = workload.path = file;
    workload.programs = workloads::amx::tiles::read_kernel(text, file, count);
    if (once && workloads::amx::tiles::states_no_caches(workload.programs)) {
        for (auto& program : workload.programs) {  // the harness warms up with a run of its own
            program.runs = std::max(program.runs, kWithOneToWarmUp);
        }
    }
    AmxKernelRun run;
    std::int64_t instructions = 0;
    for (const auto& program : workload.programs) {
        instructions += program.dynamic_instructions() * program.runs;
    }
    if (instructions > kMostInstructions) {
        throw arch::base::config::ConfigError(
            fmt::format("{}: {} instructions are too many to simulate, at most {}", file,
                        instructions, kMostInstructions));
    }
    for (const auto& program : workload.programs) {
        const AmxKernelRun work = work_of(program);
        run.operations += work.operations;
        run.bytes += work.bytes;
    }
    sim::Scenario scenario = like;
    scenario.problem = {workloads::amx::tiles::amx_program_kind(), std::move(workload)};
    scenario.mapping = {};
    run.cycles = static_cast<double>(session::Session().run_whole(scenario).cycles);
    return run;
}

}  // namespace

AmxKernelRun work_of(const arch::amx::program::Program& program) {
    AmxKernelRun work;
    std::array<TileShape, arch::amx::program::kTiles> shapes{};
    for (arch::amx::program::InstructionStream stream(program); !stream.finished();
         stream.advance()) {
        const Instruction& instruction = *stream.current().instruction;
        const auto tile = static_cast<std::size_t>(instruction.destination);
        if (instruction.opcode == Opcode::Ldtilecfg) {
            shapes = program.configs.at(static_cast<std::size_t>(instruction.immediate));
        } else if (arch::amx::program::is_dot(instruction.opcode)) {
            const TileShape& a = shapes.at(static_cast<std::size_t>(instruction.source_a));
            const std::int64_t bytes = instruction.opcode == Opcode::Tdpbf16ps ? 2 : 1;
            const double columns = static_cast<double>(shapes.at(tile).row_bytes) / sizeof(float);
            work.operations += 2 * elements(a, bytes) * columns;
        } else if (arch::amx::program::is_tile_load(instruction.opcode) ||
                   instruction.opcode == Opcode::Tilestored) {
            work.bytes += elements(shapes.at(tile), 1);
        } else if (arch::amx::program::info_of(instruction.opcode).memory() &&
                   !arch::amx::program::is_prefetch(instruction.opcode)) {
            work.bytes += static_cast<double>(stream.current().bytes);
        }
    }
    return work;
}

AmxKernelRun run_amx_kernel(const sim::Scenario& like, const std::string& text,
                            const std::string& file) {
    if (!workloads::amx::tiles::has_count(text)) {
        return run_program(like, text, file, 1, true);
    }
    const AmxKernelRun few = run_program(like, text, file, kFew, false);
    const AmxKernelRun many = run_program(like, text, file, kMany, false);
    constexpr double kIterations = kMany - kFew;
    return {(many.cycles - few.cycles) / kIterations,
            (many.operations - few.operations) / kIterations,
            (many.bytes - few.bytes) / kIterations};
}

}  // namespace tilesim::sim::compare
