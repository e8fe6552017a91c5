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

// "# thread 2": a comment that only begins like that names none.
bool names_thread(std::string_view line) {
    constexpr std::string_view kDigits = "0123456789";
    return line.starts_with(kThread) &&
           line.find_first_of(kDigits, kThread.size()) == kThread.size();
}

std::string number_in(std::string_view line) {
    const std::string_view rest = line.substr(kThread.size());
    return std::string{rest.substr(0, rest.find_first_not_of("0123456789"))};
}

// Each thread's part, behind as many empty lines as stand in front of it: lines keep their numbers.
std::vector<std::string> parts_of(const std::string& text, const std::string& file) {
    std::vector<std::string> parts(1);
    bool thread_named = false;
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = std::min(text.find('\n', start), text.size() - 1) + 1;
        const std::string_view line = std::string_view{text}.substr(start, end - start);
        if (names_thread(line)) {
            const auto lines =
                std::count(text.begin(), text.begin() + static_cast<long>(start), '\n');
            if (thread_named) {
                parts.emplace_back(static_cast<std::size_t>(lines), '\n');
            }
            thread_named = true;
            if (number_in(line) != std::to_string(parts.size() - 1)) {
                throw ConfigError(fmt::format(
                    "{}:{}:{}: thread {}: threads are numbered from 0, in order; this "
                    "one must be {}",
                    file, lines + 1, kThread.size() + 1, number_in(line), parts.size() - 1));
            }
        }
        parts.back() += line;
        start = end;
    }
    return parts;
}

// The first COUNT that no comment holds.
std::size_t place_of_count(const std::string& text) {
    std::size_t at = text.find(kCount);
    while (at != std::string::npos) {
        const std::size_t line = text.rfind('\n', at) + 1;  // of the first one: npos + 1
        if (text.find('#', line) > at) {
            break;
        }
        at = text.find(kCount, at + kCount.size());
    }
    return at;
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
    return place_of_count(text) != std::string::npos;
}

namespace {

// The line of a thread's last barrier, or of its first instruction.
int line_of(const Program& program, bool barrier) {
    int line = 0;
    for (const Statement& statement : program.statements) {
        const bool wanted = statement.kind == Statement::Kind::Instruction &&
                            (!barrier || statement.instruction.opcode == Opcode::Barrier);
        line = wanted && (barrier || line == 0) ? statement.line : line;
    }
    return line;
}

// Threads meet at barriers, but for those that come to none.
void check_barriers(const std::vector<Program>& programs, const std::string& file) {
    std::int64_t expected = 0;
    for (std::size_t i = 0; i < programs.size(); ++i) {
        const std::int64_t barriers = barriers_of(programs[i]);
        if (barriers > 0 && expected > 0 && barriers != expected) {
            throw ConfigError(
                fmt::format("{}:{}:1: thread {} comes to {} barriers, threads before it to {}",
                            file, line_of(programs[i], true), i, barriers, expected));
        }
        expected = std::max(expected, barriers);
    }
}

// Threads run as often; how often one does nothing is no matter, and becomes what the others say.
void agree_on_runs(std::vector<Program>& programs, const std::string& file) {
    const auto works = [](const Program& program) { return !program.statements.empty(); };
    const auto first = std::find_if(programs.begin(), programs.end(), works);
    for (auto program = programs.begin(); first != programs.end() && program != programs.end();
         ++program) {
        if (!works(*program)) {
            program->runs = first->runs;
        } else if (program->runs != first->runs) {
            throw ConfigError(fmt::format(
                "{}:{}:1: thread {} has runs {}, thread {} has runs {}: all of a kernel's "
                "threads run as often",
                file, line_of(*program, false), program - programs.begin(), program->runs,
                first - programs.begin(), first->runs));
        }
    }
}

}  // namespace

std::vector<Program> read_kernel(const std::string& text, const std::string& file,
                                 std::int64_t count) {
    std::vector<Program> programs;
    std::string errors;
    for (std::string part : parts_of(text, file)) {
        if (const std::size_t at = place_of_count(part); at != std::string::npos) {
            part.replace(at, kCount.size(), std::to_string(count));
        }
        try {
            programs.push_back(arch::amx::program::read_program(part, file));
        } catch (const ConfigError& error) {
            errors += (errors.empty() ? "" : "\n") + std::string{error.what()};
        }
    }
    if (!errors.empty()) {
        throw ConfigError(errors);
    }
    check_barriers(programs, file);
    agree_on_runs(programs, file);
    return programs;
}

std::vector<std::size_t> without_barrier(const std::vector<Program>& programs) {
    std::vector<std::size_t> threads;
    bool met = false;
    for (std::size_t i = 0; i < programs.size(); ++i) {
        const std::int64_t barriers = barriers_of(programs[i]);
        met = met || barriers > 0;
        if (barriers == 0 && !programs[i].statements.empty()) {
            threads.push_back(i);
        }
    }
    return met ? threads : std::vector<std::size_t>{};
}

bool does_nothing(const std::vector<Program>& programs) {
    return std::ranges::all_of(
        programs, [](const Program& program) { return program.dynamic_instructions() == 0; });
}

bool states_no_caches(const std::vector<Program>& programs) {
    return std::ranges::all_of(programs,
                               [](const Program& program) { return program.preparations.empty(); });
}

std::optional<std::string> overlap(const std::vector<Program>& programs) {
    for (std::size_t thread = 0; thread < programs.size(); ++thread) {
        auto buffers = programs[thread].buffers;
        std::stable_sort(buffers.begin(), buffers.end(),
                         [](const auto& a, const auto& b) { return a.address < b.address; });
        for (std::size_t i = 1; i < buffers.size(); ++i) {
            const auto& low = buffers[i - 1];
            const auto& high = buffers[i];
            // Had one further down reached so far, it would have overlapped its neighbour.
            if (const std::int64_t end = low.address + low.bytes; end > high.address) {
                return fmt::format("buffers {} and {}{} share bytes {:#x} to {:#x}", low.name,
                                   high.name,
                                   programs.size() > 1 ? fmt::format(" of thread {}", thread) : "",
                                   high.address, std::min(end, high.address + high.bytes) - 1);
            }
        }
    }
    return std::nullopt;
}

std::optional<std::string> long_run(const std::vector<Program>& programs) {
    constexpr std::int64_t kMinutes = 500'000'000;
    std::int64_t instructions = 0;
    for (const Program& program : programs) {
        instructions += program.dynamic_instructions() * program.runs;
    }
    if (instructions <= kMinutes) {
        return std::nullopt;
    }
    return fmt::format(
        "{} instructions take minutes for every {}, but for loops whose turns are all alike; "
        "run.max_wall_time ends the run",
        instructions, kMinutes);
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
