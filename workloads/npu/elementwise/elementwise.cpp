#include "workloads/npu/elementwise/elementwise.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "arch/base/splitmix64.hpp"
#include "arch/base/units.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "arch/npu/core/vector_kernel_function.hpp"
#include "arch/npu/core/vector_kernel_timing.hpp"
#include "workloads/npu/core_placement.hpp"
#include "workloads/npu/object_fifo.hpp"

namespace tilesim::workloads::npu::elementwise {

using namespace arch::npu;
using arch::base::ceil_div;
using arch::base::kBitsPerByte;
using arch::memory::port::BackingStore;
using program::Direction;
using program::VectorOperation;

namespace {

using Size = std::size_t;

constexpr std::int64_t kA = 0, kB = 1, kC = 0;  // channels of shims and cores
constexpr std::int64_t kCallsParameter = 0;

bool has_b(const ElementwiseProblem& problem) {
    return program::has_second_operand(problem.operation);
}

// The same row goes with all of them.
bool keeps_b(const ElementwiseProblem& problem) {
    return problem.operation == VectorOperation::RmsNorm;
}

DataType b_type(const ElementwiseProblem& problem) {
    return is_float(problem.a) ? problem.a : problem.c;
}

program::Kernel kernel_of(const ElementwiseProblem& problem, std::int64_t rows) {
    program::Kernel kernel;
    kernel.name = std::string{name_of(problem.operation)};
    kernel.kind = program::KernelKind::Vector;
    kernel.operation = problem.operation;
    kernel.m = rows;
    kernel.n = problem.n;
    kernel.a = problem.a;
    kernel.b = b_type(problem);
    kernel.c = problem.c;
    kernel.scale_block = problem.scale_block;
    return kernel;
}

// Bytes of a row of each operand.
struct RowBytes {
    std::int64_t a = 0, b = 0, c = 0;
};
RowBytes row_bytes(const ElementwiseProblem& problem) {
    const program::Kernel kernel = kernel_of(problem, 1);
    const auto plain = [&](DataType type) { return problem.n * bits_of(type) / kBitsPerByte; };
    return {program::row_bytes(kernel, problem.n), has_b(problem) ? plain(kernel.b) : 0,
            plain(problem.c)};
}

std::int64_t calls_of(const ElementwiseProblem& problem, const ElementwiseMapping& map,
                      const NpuConfig& config) {
    return ceil_div(problem.m, map.rows_per_call * map.columns_of(config));
}

// Of a core: A's, B's and C's.
std::vector<std::int64_t> core_buffers(const ElementwiseProblem& problem,
                                       const ElementwiseMapping& map) {
    const RowBytes row = row_bytes(problem);
    std::vector<std::int64_t> bytes(static_cast<Size>(map.buffers), map.rows_per_call * row.a);
    if (has_b(problem)) {
        bytes.insert(bytes.end(), static_cast<Size>(keeps_b(problem) ? 1 : map.buffers),
                     keeps_b(problem) ? row.b : map.rows_per_call * row.b);
    }
    bytes.insert(bytes.end(), static_cast<Size>(map.buffers), map.rows_per_call * row.c);
    return bytes;
}

class Lowering {
  public:
    Lowering(const ElementwiseProblem& problem, const ElementwiseMapping& map,
             const NpuConfig& config)
        : problem_(problem),
          map_(map),
          config_(config),
          row_(row_bytes(problem)),
          places_(*place_in_core(core_buffers(problem, map), config.core)) {
        result_.calls = calls_of(problem, map, config);
        result_.padded_m = result_.calls * map.rows_per_call * map.columns_of(config);
    }

    LoweredElementwise lower() {
        program_.name =
            fmt::format("{}_{}x{}", name_of(problem_.operation), problem_.m, problem_.n);
        std::vector<Argument> arguments{{"A", result_.padded_m * row_.a}};
        if (has_b(problem_)) {
            arguments.push_back({"B", keeps_b(problem_) ? row_.b : result_.padded_m * row_.b});
        }
        arguments.push_back({"C", result_.padded_m * row_.c});
        place_arguments(program_, arguments);
        program::Kernel kernel = kernel_of(problem_, map_.rows_per_call);
        if (map_.cast_lanes > 0) {
            kernel.cycles = core::VectorKernelTiming(config_.kernels)
                                .without_overlap(kernel.m * kernel.n, map_.cast_lanes)
                                .count();
        }
        program_.kernels = {std::move(kernel)};
        for (std::int64_t column = 0; column < map_.columns_of(config_); ++column) {
            lower_core({column, 1 + config_.memory_rows});
            route({column, 0}, {column, 1 + config_.memory_rows});
        }
        for (const program::CoreProgram& core : program_.cores) {
            program_.sequence.push_back(
                program::WriteParameter{core.tile, kCallsParameter, result_.calls});
        }
        for (const std::int64_t lock : go_locks_) {
            program_.sequence.push_back(program::SetLock{lock, 1});
        }
        for (std::int64_t column = 0; column < map_.columns_of(config_); ++column) {
            move_rows({column, 0});
        }
        for (std::int64_t column = 0; column < map_.columns_of(config_); ++column) {
            program_.sequence.push_back(program::WaitToken{{{column, 0}, Direction::S2MM, kC}});
        }
        result_.program = std::move(program_);
        return std::move(result_);
    }

  private:
    static std::int64_t words(std::int64_t bytes) { return ceil_div(bytes, kWordBytes); }

    Fifo fifo(const char* name, program::TileCoordinate tile, std::int64_t count,
              std::int64_t bytes, std::int64_t& next) {
        std::vector<BufferPlace> places;
        for (std::int64_t i = 0; i < count; ++i) {
            places.push_back({tile, places_[static_cast<Size>(next++)]});
        }
        const std::string full = fmt::format("{}_{}_{}", name, tile.column, tile.row);
        return {add_buffers(program_, full, places, words(bytes) * kWordBytes),
                add_fifo(program_, full, tile, count)};
    }

    void lower_core(program::TileCoordinate tile) {
        const std::int64_t rows = map_.rows_per_call;
        const std::int64_t b_bytes = keeps_b(problem_) ? row_.b : rows * row_.b;
        std::int64_t next = 0;
        TileRings rings(tile, config_.core_dma);
        const Fifo a = fifo("a", tile, map_.buffers, rows * row_.a, next);
        rings.add_ring(Direction::S2MM, kA, shaped(words(rows * row_.a), {}), a.filling());
        Fifo b;
        if (has_b(problem_)) {
            b = fifo("b", tile, keeps_b(problem_) ? 1 : map_.buffers, b_bytes, next);
            rings.add_ring(Direction::S2MM, kB, shaped(words(b_bytes), {}), b.filling());
        }
        const Fifo c = fifo("c", tile, map_.buffers, rows * row_.c, next);
        rings.add_ring(Direction::MM2S, kC, shaped(words(rows * row_.c), {}), c.emptying());
        program_.dmas.push_back(rings.take());
        go_locks_.push_back(
            add_lock(program_, fmt::format("go_{}_{}", tile.column, tile.row), tile, 0));
        program_.cores.push_back(core_program(tile, a, b, c));
    }

    program::CoreProgram core_program(program::TileCoordinate tile, const Fifo& a, const Fifo& b,
                                      const Fifo& c) const {
        program::CoreProgram core;
        core.tile = tile;
        core.rotations = {{"a", a.buffers}, {"c", c.buffers}};
        program::CallOp call{0, {0, 1}, {0, 1}};
        const bool streams_b = has_b(problem_) && !keeps_b(problem_);
        if (has_b(problem_)) {
            core.rotations.push_back({"b", b.buffers});
            call.operands = {0, 2, 1};
        }
        program::LoopOp calls;
        calls.parameter = kCallsParameter;
        calls.body = {{program::AcquireOp{c.locks.take_free()}},
                      {program::AcquireOp{a.locks.take_full()}}};
        if (streams_b) {
            calls.body.push_back({program::AcquireOp{b.locks.take_full()}});
            call.advance.push_back(2);
        }
        calls.body.push_back({call});
        calls.body.push_back({program::ReleaseOp{a.locks.give_free()}});
        if (streams_b) {
            calls.body.push_back({program::ReleaseOp{b.locks.give_free()}});
        }
        calls.body.push_back({program::ReleaseOp{c.locks.give_full()}});
        core.script = {{program::AcquireOp{{go_locks_.back(), -1}}}};
        if (keeps_b(problem_)) {
            core.script.push_back({program::AcquireOp{b.locks.take_full()}});
        }
        core.script.push_back({calls});
        return core;
    }

    void route(program::TileCoordinate shim, program::TileCoordinate core) {
        const auto add = [&](const char* name, program::ChannelId from, program::ChannelId to) {
            program::Route route;
            route.name = fmt::format("{}_{}", name, shim.column);
            route.source = from;
            route.destinations = {to};
            program_.routes.push_back(std::move(route));
        };
        add("a", {shim, Direction::MM2S, kA}, {core, Direction::S2MM, kA});
        if (has_b(problem_)) {
            add("b", {shim, Direction::MM2S, kB}, {core, Direction::S2MM, kB});
        }
        add("c", {core, Direction::MM2S, kC}, {shim, Direction::S2MM, kC});
    }

    void move_rows(program::TileCoordinate shim) {
        const std::int64_t rows = result_.calls * map_.rows_per_call;
        const std::int64_t first = shim.column * rows;
        std::int64_t id = 0;
        const auto push = [&](Direction direction, std::int64_t channel, std::int64_t argument,
                              std::int64_t from, std::int64_t bytes) {
            program_.sequence.push_back(program::WriteDescriptor{
                shim, shim_descriptor(id, argument, words(from), words(bytes))});
            program_.sequence.push_back(program::PushTask{{shim, direction, channel},
                                                          {id++, 1, direction == Direction::S2MM}});
        };
        if (has_b(problem_)) {
            push(Direction::MM2S, kB, 1, keeps_b(problem_) ? 0 : first * row_.b,
                 keeps_b(problem_) ? row_.b : rows * row_.b);
        }
        push(Direction::MM2S, kA, 0, first * row_.a, rows * row_.a);
        push(Direction::S2MM, kC, has_b(problem_) ? 2 : 1, first * row_.c, rows * row_.c);
    }

    const ElementwiseProblem& problem_;
    const ElementwiseMapping& map_;
    const NpuConfig& config_;
    RowBytes row_;
    std::vector<std::int64_t> places_;
    LoweredElementwise result_;
    program::Program program_;
    std::vector<std::int64_t> go_locks_;
};

// --- the check ---

std::vector<float> read_floats(const BackingStore& store, std::int64_t address, DataType type,
                               std::int64_t count) {
    std::vector<std::byte> bytes(static_cast<Size>(count * bits_of(type) / kBitsPerByte));
    store.read(address, bytes);
    return core::as_floats(bytes, type, count);
}

std::vector<double> row_of_a(const ElementwiseProblem& problem, const BackingStore& store,
                             std::int64_t address) {
    std::vector<std::byte> bytes(static_cast<Size>(row_bytes(problem).a));
    store.read(address, bytes);
    const auto row = core::dequantised_row(kernel_of(problem, 1), bytes, problem.n);
    return {row.begin(), row.end()};
}

// In double precision, by other means than the cores' kernels.
double expected(VectorOperation operation, const std::vector<double>& a,
                const std::vector<float>& b, Size i) {
    const double x = a[i];
    switch (operation) {
        case VectorOperation::Add:
            return x + static_cast<double>(b[i]);
        case VectorOperation::Multiply:
            return x * static_cast<double>(b[i]);
        case VectorOperation::Silu:
            return x * (1 + std::tanh(x / 2)) / 2;
        case VectorOperation::RmsNorm: {
            const double squares = std::inner_product(a.begin(), a.end(), a.begin(), 0.0);
            return x * static_cast<double>(b[i]) /
                   std::sqrt(squares / static_cast<double>(a.size()) + 1e-5);
        }
        case VectorOperation::Softmax: {
            double sum = 0;
            for (const double other : a) {
                sum += std::exp(other - x);
            }
            return 1 / sum;
        }
        case VectorOperation::Rope: {
            const Size first = i - i % 2;
            const auto cosine = static_cast<double>(b[first]);
            const auto sine = static_cast<double>(b[first + 1]);
            return i == first ? a[first] * cosine - a[first + 1] * sine
                              : a[first] * sine + a[first + 1] * cosine;
        }
        case VectorOperation::Dequantise:
        case VectorOperation::Cast:
            return x;
    }
    return x;
}

// Half a unit of the last place, and what sums in f32 lose.
double tolerance(DataType type, double value) {
    if (!is_float(type)) {
        return 0.5;
    }
    const double relative = type == DataType::Bf16 ? 1.0 / 250.0 : 1e-5;
    return std::abs(value) * relative + 1e-5;
}

}  // namespace

void read_keys(arch::base::config::Node& node, ElementwiseProblem& problem) {
    const arch::base::config::Range size{1, 1 << 26};
    node.required("operation", problem.operation, program::kVectorOperations, "what is done");
    node.optional("rows", problem.m, size, "rows, each by itself where the operation goes by rows");
    node.required("elements", problem.n, size, "of a row");
    node.optional("a", problem.a, kDataTypes, "type of the operands");
    node.optional("c", problem.c, kDataTypes, "type of the result");
    node.optional("scale_block", problem.scale_block, {0, 1 << 16},
                  "dequantise: elements that share a scale factor; 0: none");
    node.done();
}

void read_keys(arch::base::config::Node& node, ElementwiseMapping& map) {
    node.optional("columns", map.columns, {0, 64}, "columns of cores used; 0: all");
    node.optional("rows_per_call", map.rows_per_call, {1, 1 << 16},
                  "rows of the operands a kernel call works on");
    node.optional("buffers", map.buffers, {1, 4}, "of each operand, per core");
    node.optional("cast_lanes", map.cast_lanes, {0, 1024},
                  "elements of an iteration of the loop that casts, one iteration after the other; "
                  "0: those of a vector instruction, iterations overlapping");
    node.done();
}

std::vector<std::string> problems_of(const ElementwiseProblem& problem,
                                     const ElementwiseMapping& map, const NpuConfig& config) {
    std::vector<std::string> problems;
    const auto require = [&problems](bool holds, std::string text) {
        if (!holds) {
            problems.push_back(std::move(text));
        }
    };
    const std::string reason =
        core::KernelTiming(config.kernels).check(kernel_of(problem, map.rows_per_call));
    require(reason.empty(), reason);
    require(map.cast_lanes == 0 || problem.operation == VectorOperation::Cast,
            fmt::format("cast_lanes is for casts, not for {}", name_of(problem.operation)));
    require(
        map.columns_of(config) <= config.columns,
        fmt::format("the mapping uses {} columns, the array has {}", map.columns, config.columns));
    const RowBytes row = row_bytes(problem);
    const std::int64_t operands = has_b(problem) ? 2 : 1;
    require(
        std::min(config.shim_dma.channels, config.core_dma.channels) >= operands,
        fmt::format("{} operands come on a stream each; shims and cores have {} and {} channels",
                    operands, config.shim_dma.channels, config.core_dma.channels));
    for (const std::int64_t bytes :
         {map.rows_per_call * row.a, map.rows_per_call * row.b, map.rows_per_call * row.c}) {
        require(bytes % kWordBytes == 0,
                fmt::format("a call's rows are {} B, no whole words of {} B; use a multiple of {} "
                            "rows_per_call",
                            bytes, kWordBytes, kWordBytes));
        const std::int64_t most = (std::int64_t{1} << config.core_dma.length_bits) - 1;
        require(bytes / kWordBytes <= most,
                fmt::format("a core's descriptor moves {} words, at most {}; use fewer "
                            "rows_per_call, or rows of fewer elements",
                            bytes / kWordBytes, most));
    }
    const auto buffers = core_buffers(problem, map);
    const std::int64_t needed =
        std::accumulate(buffers.begin(), buffers.end(), config.core.stack.count());
    require(needed <= config.core.memory.count(),
            fmt::format("a core needs {} B for {} buffers of {} rows of each operand and its "
                        "stack, it has {} B; use fewer rows_per_call or buffers",
                        needed, map.buffers, map.rows_per_call, config.core.memory.count()));
    return problems;
}

LoweredElementwise lower(const ElementwiseProblem& problem, const ElementwiseMapping& mapping,
                         const NpuConfig& config) {
    const auto problems = problems_of(problem, mapping, config);
    if (!problems.empty()) {
        throw arch::base::config::ConfigError(
            fmt::format("mapping.elementwise: {}", fmt::join(problems, "; ")));
    }
    return Lowering(problem, mapping, config).lower();
}

GemmBounds bounds_of(const ElementwiseProblem& problem, const ElementwiseMapping& map,
                     const NpuConfig& config, const MemoryPath& path) {
    const auto stream_bytes = static_cast<double>(config.stream.width.count());
    const RowBytes row = row_bytes(problem);
    const core::KernelTiming timing(config.kernels);
    const double cycle_ns = arch::base::ns_of(arch::base::Cycles{1}, config.clock);
    const auto calls = static_cast<double>(calls_of(problem, map, config));
    const auto call =
        static_cast<double>(timing.cycles(kernel_of(problem, map.rows_per_call)).total().count());
    const auto rows = static_cast<double>(map.rows_per_call);
    const std::int64_t b = keeps_b(problem) ? 0 : row.b;
    GemmBounds bounds;
    bounds.compute_ns = calls * call * cycle_ns;
    bounds.stream_ns =
        calls * rows * static_cast<double>(std::max({row.a, b, row.c})) / stream_bytes * cycle_ns;
    const std::int64_t columns = map.columns_of(config);
    const double read = calls * rows * static_cast<double>(columns * (row.a + b));
    const double written = calls * rows * static_cast<double>(columns * row.c);
    bounds.dram_bytes = read + written;
    bounds.memory_ns = path.least_ns(config.shim, {read, written, columns});
    return bounds;
}

double expected_ns(const ElementwiseProblem& problem, const ElementwiseMapping& map,
                   const NpuConfig& config, const MemoryPath& path) {
    const GemmBounds bounds = bounds_of(problem, map, config, path);
    const RowBytes row = row_bytes(problem);
    const std::int64_t columns = map.columns_of(config);
    const auto& costs = config.command_processor;
    const double task_ns = ns_of(costs.task_cycles(), costs.clock);
    const std::int64_t tasks = has_b(problem) ? 3 : 2;
    // A call takes and gives its buffers' locks.
    const auto calls = static_cast<double>(calls_of(problem, map, config));
    const std::int64_t locks = keeps_b(problem) || !has_b(problem) ? 4 : 6;
    const double core_ns =
        bounds.compute_ns +
        calls * ns_of(config.core.call_cycles + locks * config.core.lock_cycles, config.clock);

    const double of_column = calls * static_cast<double>(map.rows_per_call);
    const std::int64_t b = keeps_b(problem) ? 0 : row.b;
    const Runs read{.bytes = of_column * static_cast<double>(row.a + b)};
    const Runs written{.bytes = of_column * static_cast<double>(row.c)};
    const double port_ns =
        std::max({path.column_ns(config.shim, {read}), path.fabric_ns(config.shim, {written}, 1),
                  path.answers_ns(config.shim, {read}, 0, tasks - 1)});
    const auto all = [columns](const Runs& runs) {
        return Runs{.bytes = runs.bytes * static_cast<double>(columns)};
    };
    const double shared_ns = std::max(
        {path.fabric_ns(config.shim, {all(read)}, columns),
         path.fabric_ns(config.shim, {all(written)}, columns),
         path.answers_ns(config.shim, {all(read)}, bounds.dram_bytes, columns * (tasks - 1))});
    const double first_and_last_ns = 2 * bounds.stream_ns / calls;
    return static_cast<double>(tasks) * task_ns +
           std::max(static_cast<double>(tasks * (columns - 1)) * task_ns +
                        std::max({core_ns, bounds.stream_ns, port_ns}),
                    shared_ns) +
           first_and_last_ns;
}

std::vector<ElementwiseMapping> mappings_of(const ElementwiseProblem& problem,
                                            const NpuConfig& config) {
    std::vector<ElementwiseMapping> mappings;
    for (std::int64_t columns = config.columns; columns >= 1; columns /= 2) {
        ElementwiseMapping map;
        map.columns = columns;
        for (map.rows_per_call = 4096; map.rows_per_call >= 1; map.rows_per_call /= 2) {
            const bool wasted = map.rows_per_call > ceil_div(problem.m, columns);
            if ((!wasted || map.rows_per_call == 1) && problems_of(problem, map, config).empty()) {
                mappings.push_back(map);
            }
        }
    }
    return mappings;
}

void fill_operands(const ElementwiseProblem& problem, const LoweredElementwise& lowered,
                   std::uint64_t seed, BackingStore& store) {
    const auto& arguments = lowered.program.external_buffers;
    const RowBytes row = row_bytes(problem);
    const auto random = [&seed] {
        return (static_cast<float>(arch::base::next_splitmix64(seed) & 0xFFU) - 128.0F) / 128.0F;
    };
    const auto fill = [&](std::int64_t address, DataType type, std::int64_t bytes) {
        std::vector<std::byte> data(static_cast<Size>(bytes));
        if (is_float(type)) {
            std::vector<float> values(static_cast<Size>(bytes * kBitsPerByte / bits_of(type)));
            std::generate(values.begin(), values.end(), random);
            core::store_floats(values, type, data);
        } else {
            std::generate(data.begin(), data.end(), [&seed] {
                return static_cast<std::byte>(arch::base::next_splitmix64(seed));
            });
        }
        store.write(address, data);
    };
    const std::int64_t elements = problem.n * bits_of(problem.a) / kBitsPerByte;
    for (std::int64_t m = 0; m < problem.m; ++m) {
        fill(arguments[0].address + m * row.a, problem.a, elements);
        if (row.a > elements) {
            fill(arguments[0].address + m * row.a + elements, DataType::Bf16, row.a - elements);
        }
    }
    if (has_b(problem)) {
        fill(arguments[1].address, b_type(problem), keeps_b(problem) ? row.b : problem.m * row.b);
    }
}

ProductCheck check_result(const ElementwiseProblem& problem, const LoweredElementwise& lowered,
                          const BackingStore& store) {
    const auto& arguments = lowered.program.external_buffers;
    const RowBytes row = row_bytes(problem);
    ProductCheck check;
    check.method = "every element, within its type's rounding";
    for (std::int64_t m = 0; m < problem.m; ++m) {
        const auto a = row_of_a(problem, store, arguments[0].address + m * row.a);
        const auto b =
            has_b(problem)
                ? read_floats(store, arguments[1].address + (keeps_b(problem) ? 0 : m * row.b),
                              b_type(problem), problem.n)
                : std::vector<float>{};
        const auto c =
            read_floats(store, arguments.back().address + m * row.c, problem.c, problem.n);
        for (Size i = 0; i < c.size(); ++i, ++check.checked) {
            const double want = expected(problem.operation, a, b, i);
            if (std::abs(static_cast<double>(c[i]) - want) > tolerance(problem.c, want) &&
                check.first_mismatch.empty()) {
                check.first_mismatch =
                    fmt::format("C[{}][{}] is {}, expected {}", m, i, c[i], want);
            }
        }
    }
    check.match = check.first_mismatch.empty();
    return check;
}

}  // namespace tilesim::workloads::npu::elementwise
