#include "workloads/amx/tiles/kernel_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "arch/amx/program/program_text.hpp"
#include "arch/base/config.hpp"

namespace tilesim::workloads::amx::tiles {

using arch::amx::program::Opcode;
using arch::amx::program::Program;
using arch::amx::program::Statement;
using arch::base::config::ConfigError;

namespace {

constexpr std::string_view kCount = "COUNT";
constexpr std::string_view kThread = "# thread ";

// Each thread's part, behind as many empty lines as stand in front of it: lines keep their numbers.
std::vector<std::string> parts_of(const std::string& text) {
    std::vector<std::string> parts(1);
    bool thread_named = false;
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = std::min(text.find('\n', start), text.size() - 1) + 1;
        const std::string_view line = std::string_view{text}.substr(start, end - start);
        if (line.starts_with(kThread)) {
            if (thread_named) {
                const auto lines =
                    std::count(text.begin(), text.begin() + static_cast<long>(start), '\n');
                parts.emplace_back(static_cast<std::size_t>(lines), '\n');
            }
            thread_named = true;
        }
        parts.back() += line;
        start = end;
    }
    return parts;
}

std::int64_t barriers_of(const Program& program) {
    std::int64_t barriers = 0;
    std::int64_t times = 1;
    std::vector<std::int64_t> outer;
    for (const Statement& statement : program.statements) {
        if (statement.kind == Statement::Kind::LoopBegin) {
            outer.push_back(times);
            times *= statement.count;
        } else if (statement.kind == Statement::Kind::LoopEnd) {
            times = outer.back();
            outer.pop_back();
        } else if (statement.instruction.opcode == Opcode::Barrier) {
            barriers += times;
        }
    }
    return barriers;
}

}  // namespace

bool has_count(const std::string& text) {
    return text.find(kCount) != std::string::npos;
}

std::vector<Program> read_kernel(const std::string& text, const std::string& file,
                                 std::int64_t count) {
    std::vector<Program> programs;
    std::int64_t expected = 0;
    for (std::string part : parts_of(text)) {
        if (const std::size_t at = part.find(kCount); at != std::string::npos) {
            part.replace(at, kCount.size(), std::to_string(count));
        }
        programs.push_back(arch::amx::program::read_program(part, file));
        // A thread without work comes to no barrier; all others meet.
        const std::int64_t barriers = barriers_of(programs.back());
        if (barriers > 0 && expected > 0 && barriers != expected) {
            throw ConfigError(
                fmt::format("{}: thread {} comes to {} barriers, threads before it to {}", file,
                            programs.size() - 1, barriers, expected));
        }
        expected = std::max(expected, barriers);
    }
    return programs;
}

void state_buffers(Program& program, arch::amx::program::Preparation::To level) {
    if (!program.preparations.empty()) {
        return;
    }
    for (std::size_t i = 0; i < program.buffers.size(); ++i) {
        program.preparations.push_back({i, level});
    }
}

}  // namespace tilesim::workloads::amx::tiles
