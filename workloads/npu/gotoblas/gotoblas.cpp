#include "workloads/npu/gotoblas/gotoblas.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "arch/base/units.hpp"
#include "arch/npu/core/stream_kernel_timing.hpp"

namespace tilesim::workloads::npu::gotoblas {

using namespace arch::npu;
using arch::base::ceil_div;
using arch::base::config::ConfigError;

namespace {

using arch::base::kNanosecondsPerSecond;

// States of a B_r lock.
constexpr std::int64_t kFree = 0;
constexpr std::int64_t kFull = 1;

constexpr std::int64_t kCIn = 0;  // shim descriptors
constexpr std::int64_t kCOut = 1;

std::int64_t rounded_up(std::int64_t x, std::int64_t to) {
    return ceil_div(x, to) * to;
}

// Of a type that may be smaller than a byte: no mapping of it fits, but it is asked for.
std::int64_t elements_in(std::int64_t bytes, DataType type) {
    return bytes * arch::base::kBitsPerByte / arch::base::bits_of(type);
}

class Lowering {
  public:
    Lowering(const GemmProblem& problem, const GotoblasMapping& mapping, const NpuConfig& config)
        : problem_(problem), map_(mapping), config_(config) {
        const std::int64_t column = config.shim_columns.empty() ? 0 : config.shim_columns.front();
        shim_ = {column, 0};
        core_ = {column, 1 + config.memory_rows};
        out_.m = rounded_up(problem.m, map_.m_r);
        out_.n = rounded_up(problem.n, map_.n_r);
    }

    LoweredGotoblas lower() {
        program().name = "gotoblas";
        storage();
        routes();
        out_.blocks = blocks_of(problem_, map_);
        for (const GotoblasBlock& block : out_.blocks) {
            add_block(block);
        }
        return std::move(out_);
    }

  private:
    program::Program& program() { return out_.program; }

    void storage() {
        std::int64_t address = 0;
        const auto external = [&](const char* name, std::int64_t elements, DataType type) {
            const std::int64_t bytes = rounded_up(elements * bytes_of(type), kWordBytes);
            program().external_buffers.push_back({name, address, bytes});
            address = rounded_up(address + bytes, 1 << 20);
        };
        external("A_packed", out_.m * problem_.k, problem_.a);
        external("B_packed", problem_.k * out_.n, problem_.b);
        external("C_packed", out_.m * out_.n, problem_.c);
        const std::int64_t panel =
            rounded_up(std::min(map_.k_c, problem_.k) * map_.n_r * bytes_of(problem_.b), 32);
        program::CoreProgram core;
        core.tile = core_;
        for (std::int64_t i = 0; i < map_.b_buffers; ++i) {
            const std::string name = fmt::format("B_r{}", i);
            program().buffers.push_back(
                {name, core_, config_.core.stack.count() + i * panel, panel});
            program().locks.push_back({name + "_lock", core_, i, kFree});
            core.rotations.push_back({name, {i}});
        }
        program().cores.push_back(core);
    }

    void routes() {
        c_in_ = {shim_, program::Direction::MM2S, 0};
        c_out_ = {shim_, program::Direction::S2MM, 0};
        program::Route in;
        in.name = "C_in";
        in.source = c_in_;
        in.destinations = {{core_, program::Direction::S2MM, 1, program::PortKind::Core}};
        program::Route out;
        out.name = "C_out";
        out.source = {core_, program::Direction::MM2S, 0, program::PortKind::Core};
        out.destinations = {c_out_};
        program().routes = {in, out};
        program::LogicStream a;
        a.name = "A_stream";
        a.tile = core_;
        a.bytes_per_cycle =
            map_.a_stream == GotoblasMapping::AStream::Port ? config_.stream.width.count() : 0;
        program().logic_streams = {a};
    }

    void add_block(const GotoblasBlock& block) {
        const std::int64_t panels = block.columns / map_.n_r;
        const std::int64_t calls = block.rows / map_.m_r;
        out_.b_panels += panels;
        out_.kernel_calls += panels * calls;
        program().logic_streams[0].passes.push_back(
            {block.a_offset, block.rows * block.steps * bytes_of(problem_.a), panels});
        transfer_c(block, kCIn, c_in_);
        transfer_c(block, kCOut, c_out_);
        const std::int64_t panel = block.steps * map_.n_r * bytes_of(problem_.b);
        for (std::int64_t j = 0; j < panels; ++j) {
            const std::int64_t half = (next_panel_ + j) % map_.b_buffers;
            program().sequence.push_back(program::AcquireLock{{half, kFree}});
            program().sequence.push_back(
                program::CopyToTile{1, block.b_offset + j * panel, panel, half});
            program().sequence.push_back(program::SetLock{half, kFull});
        }
        // The next block may read C where this one writes it.
        program().sequence.push_back(program::WaitIdle{c_out_});
        add_loops(panels, calls, kernel_of(block.steps));
        next_panel_ += panels;
    }

    void transfer_c(const GotoblasBlock& block, std::int64_t id,
                    const program::ChannelId& channel) {
        program::BufferDescriptor descriptor;
        descriptor.id = id;
        descriptor.buffer = 2;
        descriptor.offset = block.c_offset;
        descriptor.length = block.rows * block.columns * bytes_of(problem_.c) / kWordBytes;
        program().sequence.push_back(program::WriteDescriptor{shim_, descriptor});
        program().sequence.push_back(program::PushTask{channel, {id, 1, false}});
    }

    // L4 and L5 of a block on the core: panels take the B_r buffers in turn, from the one the
    // block before left off at.
    void add_loops(std::int64_t panels, std::int64_t calls, std::int64_t kernel) {
        std::vector<program::CoreOp>& script = program().cores[0].script;
        const auto panel = [&](std::int64_t half, std::vector<program::CoreOp>& into) {
            into.push_back({program::AcquireOp{{half, kFull}}});
            into.push_back(
                {program::LoopOp{calls, std::nullopt, {{program::CallOp{kernel, {half}, {}}}}}});
            into.push_back({program::ReleaseOp{{half, kFree}}});
        };
        const std::int64_t rounds = panels / map_.b_buffers;
        program::LoopOp loop{rounds, std::nullopt, {}};
        for (std::int64_t i = 0; i < map_.b_buffers; ++i) {
            panel((next_panel_ + i) % map_.b_buffers, loop.body);
        }
        if (rounds > 0) {
            script.push_back({loop});
        }
        for (std::int64_t i = rounds * map_.b_buffers; i < panels; ++i) {
            panel((next_panel_ + i) % map_.b_buffers, script);
        }
    }

    std::int64_t kernel_of(std::int64_t steps) {
        const auto [place, added] =
            kernels_.try_emplace(steps, static_cast<std::int64_t>(program().kernels.size()));
        if (added) {
            program().kernels.push_back(micro_kernel(problem_, map_, steps));
        }
        return place->second;
    }

    const GemmProblem& problem_;
    GotoblasMapping map_;
    const NpuConfig& config_;
    LoweredGotoblas out_;
    program::TileCoordinate shim_;
    program::TileCoordinate core_;
    program::ChannelId c_in_;
    program::ChannelId c_out_;
    std::int64_t next_panel_ = 0;
    std::map<std::int64_t, std::int64_t> kernels_;  // by k steps
};

}  // namespace

std::vector<GotoblasBlock> blocks_of(const GemmProblem& problem, const GotoblasMapping& map) {
    const std::int64_t m = rounded_up(problem.m, map.m_r);
    const std::int64_t n = rounded_up(problem.n, map.n_r);
    std::vector<GotoblasBlock> blocks;
    for (std::int64_t j = 0; j < n; j += map.n_c) {
        const std::int64_t columns = std::min(map.n_c, n - j);
        for (std::int64_t p = 0; p < problem.k; p += map.k_c) {
            const std::int64_t steps = std::min(map.k_c, problem.k - p);
            for (std::int64_t i = 0; i < m; i += map.m_c) {
                const std::int64_t rows = std::min(map.m_c, m - i);
                blocks.push_back({i, rows, p, steps, j, columns,
                                  (p * m + i * steps) * bytes_of(problem.a),
                                  (j * problem.k + p * columns) * bytes_of(problem.b),
                                  (j * m + i * columns) * bytes_of(problem.c)});
            }
        }
    }
    return blocks;
}

std::int64_t panel_memory(const NpuConfig& config) {
    const std::int64_t given = config.kernels.panel_memory.count();
    return given > 0 ? given : (config.core.memory - config.core.stack).count();
}

GotoblasRoom room_of(const GemmProblem& problem, const GotoblasMapping& map) {
    constexpr std::int64_t kHalves = 2;  // whether the second is used or not
    const std::int64_t steps = std::min(map.k_c, problem.k);
    const std::int64_t rows = std::min(map.m_c, rounded_up(problem.m, map.m_r));
    return {kHalves * steps * map.n_r * bytes_of(problem.b), rows * steps * bytes_of(problem.a)};
}

void read_keys(arch::base::config::Node& node, GotoblasMapping& map) {
    const arch::base::config::Range size{0, 1 << 20};
    node.optional("m_r", map.m_r, {1, 1024}, "rows of the register block");
    node.optional("n_r", map.n_r, {1, 1024}, "columns of the register block");
    node.optional("m_c", map.m_c, size,
                  "rows of A_c, a multiple of m_r; 0: chosen, with whatever else is not stated");
    node.optional("n_c", map.n_c, size, "columns of B_c, a multiple of n_r; 0: chosen, as m_c");
    node.optional("k_c", map.k_c, size, "columns of A_c, rows of B_c; 0: chosen, as m_c");
    node.optional("b_buffers", map.b_buffers, {1, 2},
                  "B_r buffers: 2 copies the next one while one is in use");
    using AStream = GotoblasMapping::AStream;
    node.optional("a_stream", map.a_stream, {{"as_read", AStream::AsRead}, {"port", AStream::Port}},
                  "A arrives as fast as the core reads it, or at the rate of its stream port");
    node.done();
}

bool leaves_open(const arch::base::config::Node&, const GotoblasMapping& map) {
    return map.m_c == 0 || map.n_c == 0 || map.k_c == 0;
}

std::int64_t LoweredGotoblas::rounds() const {
    const bool equal = std::ranges::all_of(blocks, [this](const GotoblasBlock& block) {
        return block.rows == blocks.front().rows && block.steps == blocks.front().steps;
    });
    return equal ? b_panels : 0;
}

double LoweredGotoblas::padding_waste(const GemmProblem& problem) const {
    return 1.0 - static_cast<double>(problem.m) * static_cast<double>(problem.n) /
                     (static_cast<double>(m) * static_cast<double>(n));
}

program::Kernel micro_kernel(const GemmProblem& problem, const GotoblasMapping& mapping,
                             std::int64_t k) {
    program::Kernel kernel;
    kernel.name = fmt::format("micro_kernel_{}", k);
    kernel.kind = program::KernelKind::Stream;
    kernel.m = mapping.m_r;
    kernel.k = k;
    kernel.n = mapping.n_r;
    kernel.a = problem.a;
    kernel.b = problem.b;
    kernel.c = problem.c;
    kernel.b_column_major = false;
    return kernel;
}

std::vector<std::string> problems_of(const GemmProblem& problem, const GotoblasMapping& map,
                                     const NpuConfig& config) {
    std::vector<std::string> problems;
    const std::int64_t steps = std::min(map.k_c, problem.k);
    if (std::string reason = core::StreamKernelTiming(config.kernels, config.stream)
                                 .check(micro_kernel(problem, map, steps));
        !reason.empty()) {
        return {reason};
    }
    if (config.lock_kind != LockKind::Binary) {
        return {
            "core and host hand B_r on by the states of its lock, which takes binary locks; "
            "the device's (npu.lock_kind) are counting"};
    }
    if (map.m_c % map.m_r != 0 || map.n_c % map.n_r != 0) {
        problems.push_back(
            fmt::format("m_c ({}) must be a multiple of m_r ({}), n_c ({}) of n_r ({})", map.m_c,
                        map.m_r, map.n_c, map.n_r));
    }
    constexpr std::int64_t kMostPanels = std::int64_t{1} << 18;  // each some KB of the sequence
    const std::int64_t panels =
        ceil_div(problem.n, map.n_r) * ceil_div(problem.k, steps) * ceil_div(problem.m, map.m_c);
    if (panels > kMostPanels) {
        return {fmt::format(
            "{} x {} x {} (M x K x N) copies {} B_r, each of n_r {} x k_c {}, once for each of "
            "{} blocks of m_c {}; at most {} are simulated",
            problem.m, problem.k, problem.n, panels, map.n_r, steps, ceil_div(problem.m, map.m_c),
            map.m_c, kMostPanels)};
    }
    const GotoblasRoom room = room_of(problem, map);
    if (room.b_r > panel_memory(config)) {
        problems.push_back(fmt::format(
            "B_r in double size takes 2 x k_c {} x n_r {} x {} B = {} B, the core has {} B for it; "
            "with n_r = {} k_c is at most {}",
            steps, map.n_r, bytes_of(problem.b), room.b_r, panel_memory(config), map.n_r,
            panel_memory(config) / (room.b_r / steps)));
    }
    const std::int64_t rows = std::min(map.m_c, rounded_up(problem.m, map.m_r));
    if (room.a_c > config.programmable_logic.ram.count()) {
        problems.push_back(fmt::format(
            "A_c takes m_c {} x k_c {} x {} B = {} B, the programmable logic has {} B of RAM", rows,
            steps, bytes_of(problem.a), room.a_c, config.programmable_logic.ram.count()));
    }
    const std::int64_t columns = std::min(map.n_c, rounded_up(problem.n, map.n_r));
    const std::int64_t words = rows * columns * bytes_of(problem.c) / kWordBytes;
    if (words >= std::int64_t{1} << config.shim_dma.length_bits) {
        problems.push_back(fmt::format(
            "a block of C (m_c {} x n_c {}) is {} words, a shim descriptor moves less than 2^{}",
            rows, columns, words, config.shim_dma.length_bits));
    }
    return problems;
}

LoweredGotoblas lower(const GemmProblem& problem, const GotoblasMapping& mapping,
                      const NpuConfig& config) {
    const auto problems = problems_of(problem, mapping, config);
    if (!problems.empty()) {
        throw ConfigError(fmt::format("mapping.gotoblas: {}", fmt::join(problems, "; ")));
    }
    return Lowering(problem, mapping, config).lower();
}

GemmBounds bounds_of(const GemmProblem& problem, const GotoblasMapping& map,
                     const NpuConfig& config, const arch::memory::device::MemoryConfig& memory) {
    GemmBounds bounds;
    const core::StreamKernelTiming timing(config.kernels, config.stream);
    const double cycle_ns = arch::base::ns_of(arch::base::Cycles{1}, config.clock);
    const bool port = map.a_stream == GotoblasMapping::AStream::Port;
    const auto a_rate =
        static_cast<double>((port ? config.stream.width : config.kernels.stream_read).count());
    double cycles = 0;
    double a_total = 0;
    for (const GotoblasBlock& block : blocks_of(problem, map)) {
        const program::Kernel kernel = micro_kernel(problem, map, block.steps);
        const std::int64_t panels = block.columns / map.n_r;
        const auto calls = static_cast<double>(panels * (block.rows / map.m_r));
        cycles += calls * static_cast<double>(timing.cycles(kernel).total().count());
        a_total += calls * static_cast<double>(core::a_bytes(kernel));
        bounds.dram_bytes += static_cast<double>(panels * core::b_bytes(kernel)) +
                             2 * calls * static_cast<double>(core::c_words(kernel) * kWordBytes);
    }
    bounds.compute_ns = cycles * cycle_ns;
    bounds.stream_ns = a_total / a_rate * cycle_ns;
    bounds.memory_ns = bounds.dram_bytes / memory.peak_bytes_per_second() * kNanosecondsPerSecond;
    bounds.kernel_macs_per_cycle = static_cast<double>(rounded_up(problem.m, map.m_r) * problem.k) *
                                   static_cast<double>(rounded_up(problem.n, map.n_r)) / cycles;
    bounds.peak_macs_per_cycle =
        static_cast<double>(timing.mode_of(micro_kernel(problem, map, problem.k)).macs);
    return bounds;
}

GotoblasMapping choose_gotoblas(const GemmProblem& problem, const NpuConfig& config) {
    GotoblasMapping map;
    const std::int64_t most_steps = elements_in(panel_memory(config), problem.b) / (2 * map.n_r);
    map.k_c = std::max<std::int64_t>(1, std::min(problem.k, most_steps));
    const std::int64_t fits =
        elements_in(config.programmable_logic.ram.count(), problem.a) / map.k_c;
    map.m_c = std::max(map.m_r, std::min(rounded_up(problem.m, map.m_r), fits / map.m_r * map.m_r));
    map.n_c = rounded_up(problem.n, map.n_r);
    // The host copies the next B_r while the core works on one, where both fit.
    map.b_buffers = 2;
    if (!problems_of(problem, map, config).empty()) {
        map.b_buffers = 1;
    }
    return map;
}

namespace {

// The longest that fits, and equal parts of K: a rest would cost a block of its own all the same.
// Parts are whole loop bodies of the micro-kernel.
std::set<std::int64_t> steps_of_blocks(const GemmProblem& problem, const GotoblasMapping& map,
                                       const NpuConfig& config) {
    const std::int64_t fit = elements_in(panel_memory(config), problem.b) / (2 * map.n_r);
    const std::int64_t longest = std::max<std::int64_t>(1, std::min(problem.k, fit));
    const StreamMode* mode = core::StreamKernelTiming(config.kernels, config.stream)
                                 .find_mode(problem.a, problem.b, problem.c);
    const std::int64_t body = mode == nullptr ? 1 : mode->steps;
    std::set<std::int64_t> steps{longest};
    for (const std::int64_t parts : {1, 2, 4}) {
        const std::int64_t part = ceil_div(problem.k, parts * ceil_div(problem.k, longest));
        steps.insert(std::min(longest, rounded_up(part, body)));
    }
    return steps;
}

}  // namespace

std::vector<GotoblasMapping> mappings_of(const GemmProblem& problem, GotoblasMapping map,
                                         const NpuConfig& config,
                                         const std::function<bool(const char*)>& stated) {
    using Sizes = std::set<std::int64_t>;
    const GotoblasMapping given = map;
    const auto sizes = [&stated](const char* key, std::int64_t size, Sizes all) {
        return stated(key) ? Sizes{size} : std::move(all);
    };
    std::vector<GotoblasMapping> mappings;
    const auto add_steps = [&](std::int64_t steps) {
        map.k_c = steps;
        const std::int64_t fits = elements_in(config.programmable_logic.ram.count(), problem.a) /
                                  map.k_c / map.m_r * map.m_r;
        map.m_c = given.m_c > 0 ? given.m_c
                                : std::min(rounded_up(problem.m, map.m_r), std::max(map.m_r, fits));
        for (const std::int64_t buffers : sizes("b_buffers", given.b_buffers, {1, 2})) {
            map.b_buffers = buffers;
            if (problems_of(problem, map, config).empty()) {
                mappings.push_back(map);
            }
        }
    };
    for (const std::int64_t m_r : sizes("m_r", given.m_r, {4, 8, 12, 16, 20, 24, 28, 32})) {
        for (const std::int64_t n_r : sizes("n_r", given.n_r, {2, 4, 8, 16})) {
            map.m_r = m_r;
            map.n_r = n_r;
            map.n_c = given.n_c > 0 ? given.n_c : rounded_up(problem.n, map.n_r);
            for (const std::int64_t steps :
                 given.k_c > 0 ? Sizes{given.k_c} : steps_of_blocks(problem, map, config)) {
                add_steps(steps);
            }
        }
    }
    return mappings;
}

}  // namespace tilesim::workloads::npu::gotoblas
