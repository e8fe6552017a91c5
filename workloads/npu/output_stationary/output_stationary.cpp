#include "workloads/npu/output_stationary/output_stationary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "arch/npu/core/kernel_timing.hpp"
#include "workloads/npu/output_stationary/buffer_plan.hpp"

namespace tilesim::workloads::npu::output_stationary {

using namespace arch::npu;
using arch::base::ceil_div;
using arch::base::config::Node;

namespace {

constexpr std::int64_t kWordBytes = 4;
constexpr std::int64_t kShimSlots = 5;  // descriptors of A, of B and of C in flight
constexpr std::int64_t kDramAlignment = 4096;
constexpr std::int64_t kOddDescriptors = 24;  // first descriptor odd memory tile channels may use
constexpr std::int64_t kBuffers = 2;          // A and B are double-buffered

// Run-time parameters of a core.
constexpr std::int64_t kCallsParameter = 0;
constexpr std::int64_t kTilesParameter = 1;

// Channels of the memory tiles: A and B pass on 0 and 1, the C tiles of a column come in on 2 to 5.
constexpr std::int64_t kChannelA = 0;
constexpr std::int64_t kChannelB = 1;
constexpr std::int64_t kChannelC = 2;

// The locks of an object FIFO: free buffers and full ones.
struct FifoLocks {
    std::int64_t free = 0;
    std::int64_t full = 0;
};

using Places = std::vector<MemoryTilePlan::Place>;

class Lowering {
  public:
    Lowering(const GemmProblem& problem, const OutputStationaryMapping& mapping,
             const NpuConfig& config)
        : problem_(problem),
          map_(mapping),
          config_(config),
          mode_(*core::KernelTiming(config.kernels).find_mode(problem.a, problem.b, problem.c)) {
        const auto padded = [](std::int64_t x, std::int64_t to) { return ceil_div(x, to) * to; };
        result_.m = padded(problem.m, map_.m_ct * config.core_rows);
        result_.k = padded(problem.k, map_.k_mt);
        result_.n = padded(problem.n, map_.n_ct * config.columns);
        result_.output_tiles =
            result_.m / (map_.m_ct * config.core_rows) * (result_.n / (map_.n_ct * config.columns));
        result_.calls_per_tile = result_.k / map_.k_ct;
        const BufferSizes sizes = buffer_sizes(problem, mapping, config);
        core_plan_ = plan_core(sizes, mapping, config).value();  // `problems_of` has found none
        memory_plans_ = plan_memory_tiles(sizes, mapping, config).value();
    }

    LoweredGemm lower() {
        program_.name = fmt::format("gemm_{}x{}x{}_{}_{}", problem_.m, problem_.k, problem_.n,
                                    name_of(problem_.a), name_of(problem_.c));
        place_operands();
        program_.kernels = {kernel("zero", program::KernelKind::Zero),
                            kernel("multiply", program::KernelKind::Multiply)};
        for (std::int64_t column = 0; column < config_.columns; ++column) {
            lower_memory_tile(column);
        }
        for (std::int64_t column = 0; column < config_.columns; ++column) {
            for (std::int64_t row = 0; row < config_.core_rows; ++row) {
                lower_core(column, row);
            }
        }
        make_routes();
        make_sequence();
        return std::move(result_);
    }

  private:
    static std::int64_t words(std::int64_t elements, DataType type) {
        return elements * bytes_of(type) / kWordBytes;
    }
    std::int64_t words_a(std::int64_t elements) const { return words(elements, problem_.a); }
    std::int64_t words_b(std::int64_t elements) const { return words(elements, problem_.b); }
    std::int64_t words_c(std::int64_t elements) const { return words(elements, problem_.c); }

    // Along K, what a memory tile holds of B: row-major B needs no long runs along K.
    std::int64_t b_block() const { return problem_.b_column_major ? map_.k_mt : map_.k_ct; }

    program::Kernel kernel(const char* name, program::KernelKind kind) const {
        return {name,        kind,       map_.m_ct,
                map_.k_ct,   map_.n_ct,  problem_.a,
                problem_.b,  problem_.c, problem_.b_column_major,
                std::nullopt};
    }

    void place_operands() {
        std::int64_t address = 0;
        const auto place = [&](const char* name, std::int64_t bytes) {
            program_.external_buffers.push_back({name, address, bytes});
            address += ceil_div(bytes, kDramAlignment) * kDramAlignment;
        };
        place("A", result_.m * result_.k * bytes_of(problem_.a));
        place("B", result_.k * result_.n * bytes_of(problem_.b));
        place("C", result_.m * result_.n * bytes_of(problem_.c));
    }

    std::int64_t add_lock(const std::string& name, program::TileCoordinate tile, std::int64_t initial) {
        std::int64_t id = 0;
        for (const program::Lock& lock : program_.locks) {
            id += lock.tile == tile ? 1 : 0;
        }
        program_.locks.push_back({name, tile, id, initial});
        return static_cast<std::int64_t>(program_.locks.size()) - 1;
    }

    FifoLocks add_fifo(const std::string& name, program::TileCoordinate tile, std::int64_t free) {
        return {add_lock(name + "_free", tile, free), add_lock(name + "_full", tile, 0)};
    }

    void add_buffer(std::vector<std::int64_t>& indexes, const std::string& name,
                    program::TileCoordinate tile, std::int64_t address, std::int64_t bytes) {
        program_.buffers.push_back(
            {fmt::format("{}_{}", name, indexes.size()), tile, address, bytes});
        indexes.push_back(static_cast<std::int64_t>(program_.buffers.size()) - 1);
    }

    // Buffers in a core's memory, and in memory tiles'.
    std::vector<std::int64_t> add_buffers(const std::string& name, program::TileCoordinate tile,
                                          const std::vector<std::int64_t>& addresses,
                                          std::int64_t bytes) {
        std::vector<std::int64_t> indexes;
        for (const std::int64_t address : addresses) {
            add_buffer(indexes, name, tile, address, bytes);
        }
        return indexes;
    }
    std::vector<std::int64_t> add_buffers(const std::string& name, const Places& places,
                                          std::int64_t bytes) {
        std::vector<std::int64_t> indexes;
        for (const auto& [column, address] : places) {
            add_buffer(indexes, name, {column, 1}, address, bytes);
        }
        return indexes;
    }

    // A ring of descriptors, one a buffer, that repeats for ever on a channel. `shape` gives
    // length, offset and dimensions.
    void add_ring(program::TileDma& dma, program::Direction direction, std::int64_t channel, std::int64_t first_id,
                  const std::vector<std::int64_t>& buffers, const program::BufferDescriptor& shape,
                  program::LockAction acquire, program::LockAction release) {
        const auto count = static_cast<std::int64_t>(buffers.size());
        for (std::int64_t i = 0; i < count; ++i) {
            program::BufferDescriptor descriptor = shape;
            descriptor.id = first_id + i;
            descriptor.buffer = buffers[static_cast<std::size_t>(i)];
            descriptor.acquire = acquire;
            descriptor.release = release;
            descriptor.next = first_id + (i + 1) % count;
            dma.descriptors.push_back(descriptor);
        }
        dma.starts.push_back({direction, channel, {first_id, 1, false}});
    }

    static program::BufferDescriptor shaped(std::int64_t length, std::vector<program::Dimension> dimensions,
                                   std::int64_t offset = 0) {
        program::BufferDescriptor descriptor;
        descriptor.length = length;
        descriptor.offset = offset;
        descriptor.dimensions = std::move(dimensions);
        return descriptor;
    }

    // A block of `outer` rows (m_ct of A or n_ct of B) by k_mt arrives in rows and is cut into core
    // tiles; it leaves as strips of `outer` x s.
    void add_strip_operand(program::TileDma& dma, const std::string& name, std::int64_t channel,
                           std::int64_t outer, DataType type, const Places& places) {
        const program::TileCoordinate tile = dma.tile;
        const std::int64_t k = words(map_.k_ct, type);
        const std::int64_t s = words(mode_.s, type);
        const std::int64_t tiles = map_.k_mt / map_.k_ct;
        const std::int64_t length = outer * k * tiles;
        const auto buffers = add_buffers(name, places, length * kWordBytes);
        const FifoLocks locks = add_fifo(name, tile, kBuffers);
        const std::int64_t first = channel % 2 == 0 ? 0 : kOddDescriptors;
        add_ring(dma, program::Direction::S2MM, channel, first, buffers,
                 shaped(length, {{k, 1}, {tiles, outer * k}, {outer, k}}), {locks.free, -1},
                 {locks.full, 1});
        add_ring(dma, program::Direction::MM2S, channel, first + kBuffers, buffers,
                 shaped(length, {{s, 1}, {outer, k}, {k / s, s}, {tiles, outer * k}}),
                 {locks.full, -1}, {locks.free, 1});
    }

    // Row-major B: k_ct x n_ct arrives in rows of n_ct and leaves as s x t sub-tiles.
    void add_row_major_b(program::TileDma& dma, const std::string& name, const Places& places) {
        const program::TileCoordinate tile = dma.tile;
        const std::int64_t n = words_b(map_.n_ct);
        const std::int64_t t = words_b(mode_.t);
        const std::int64_t length = n * map_.k_ct;
        const auto buffers = add_buffers(name, places, length * kWordBytes);
        const FifoLocks locks = add_fifo(name, tile, kBuffers);
        add_ring(dma, program::Direction::S2MM, kChannelB, kOddDescriptors, buffers, shaped(length, {}),
                 {locks.free, -1}, {locks.full, 1});
        add_ring(
            dma, program::Direction::MM2S, kChannelB, kOddDescriptors + kBuffers, buffers,
            shaped(length, {{t, 1}, {mode_.s, n}, {n / t, t}, {map_.k_ct / mode_.s, mode_.s * n}}),
            {locks.full, -1}, {locks.free, 1});
    }

    // The C tiles of the column's cores join here and leave as rows, one core's part after the
    // other. Every part has locks of its own: with common ones a fast core could take a slow one's
    // place.
    void add_c_join(program::TileDma& dma, const std::string& name, const Places& places) {
        const program::TileCoordinate tile = dma.tile;
        const std::int64_t part = words_c(map_.m_ct * map_.n_ct);
        const std::int64_t t = words_c(mode_.t);
        const std::int64_t rows = config_.core_rows;
        const auto buffers = add_buffers(name, places, rows * part * kWordBytes);
        const std::int64_t first_out = 4 * kBuffers;
        const std::int64_t out_descriptors = rows * map_.c_buffers;
        for (std::int64_t row = 0; row < rows; ++row) {
            const FifoLocks locks = add_fifo(fmt::format("{}_{}", name, row), tile, map_.c_buffers);
            const std::int64_t channel = kChannelC + row;
            const std::int64_t offset = row * part * kWordBytes;
            const std::int64_t first =
                (channel % 2 == 0 ? 0 : kOddDescriptors) + 2 * kBuffers + row / 2 * kBuffers;
            add_ring(dma, program::Direction::S2MM, channel, first, buffers, shaped(part, {}, offset),
                     {locks.free, -1}, {locks.full, 1});
            for (std::int64_t i = 0; i < map_.c_buffers; ++i) {
                const std::int64_t position = i * rows + row;
                program::BufferDescriptor out = shaped(part,
                                              {{t, 1},
                                               {map_.n_ct / mode_.t, mode_.r * t},
                                               {mode_.r, t},
                                               {map_.m_ct / mode_.r, words_c(map_.n_ct) * mode_.r}},
                                              offset);
                out.id = first_out + position;
                out.buffer = buffers[static_cast<std::size_t>(i)];
                out.acquire = program::LockAction{locks.full, -1};
                out.release = program::LockAction{locks.free, 1};
                out.next = first_out + (position + 1) % out_descriptors;
                dma.descriptors.push_back(std::move(out));
            }
        }
        dma.starts.push_back({program::Direction::MM2S, kChannelC, {first_out, 1, false}});
    }

    void lower_memory_tile(std::int64_t column) {
        program::TileDma dma;
        dma.tile = {column, 1};
        const MemoryTilePlan& plan = memory_plans_[static_cast<std::size_t>(column)];
        if (row_of_a(column, config_)) {
            add_strip_operand(dma, fmt::format("a_mt{}", column), kChannelA, map_.m_ct, problem_.a,
                              plan.a);
        }
        const std::string b = fmt::format("b_mt{}", column);
        if (problem_.b_column_major) {
            add_strip_operand(dma, b, kChannelB, map_.n_ct, problem_.b, plan.b);
        } else {
            add_row_major_b(dma, b, plan.b);
        }
        add_c_join(dma, fmt::format("c_mt{}", column), plan.c);
        result_.memory_tile_bytes = std::max(result_.memory_tile_bytes, plan.used);
        program_.dmas.push_back(std::move(dma));
    }

    void lower_core(std::int64_t column, std::int64_t row) {
        const program::TileCoordinate tile{column, row + 2};
        const std::string suffix = fmt::format("_{}_{}", column, row + 2);
        const std::int64_t a_words = words_a(map_.m_ct * map_.k_ct);
        const std::int64_t b_words = words_b(map_.k_ct * map_.n_ct);
        const std::int64_t c_words = words_c(map_.m_ct * map_.n_ct);
        const auto a = add_buffers("a" + suffix, tile, core_plan_.a, a_words * kWordBytes);
        const auto b = add_buffers("b" + suffix, tile, core_plan_.b, b_words * kWordBytes);
        const auto c = add_buffers("c" + suffix, tile, core_plan_.c, c_words * kWordBytes);
        result_.core_bytes = core_plan_.used;
        const FifoLocks a_locks = add_fifo("a" + suffix, tile, kBuffers);
        const FifoLocks b_locks = add_fifo("b" + suffix, tile, kBuffers);
        const FifoLocks c_locks = add_fifo("c" + suffix, tile, map_.c_buffers);
        const std::int64_t go = add_lock("go" + suffix, tile, 0);
        go_locks_.push_back(go);

        program::TileDma dma;
        dma.tile = tile;
        add_ring(dma, program::Direction::S2MM, 0, 0, a,
                 strips_to_sub_tiles(a_words, map_.m_ct, mode_.r, problem_.a), {a_locks.free, -1},
                 {a_locks.full, 1});
        add_ring(dma, program::Direction::S2MM, 1, kBuffers, b,
                 problem_.b_column_major
                     ? strips_to_sub_tiles(b_words, map_.n_ct, mode_.t, problem_.b)
                     : shaped(b_words, {}),
                 {b_locks.free, -1}, {b_locks.full, 1});
        add_ring(dma, program::Direction::MM2S, 0, 2 * kBuffers, c, shaped(c_words, {}), {c_locks.full, -1},
                 {c_locks.free, 1});
        program_.dmas.push_back(std::move(dma));
        program_.cores.push_back(core_program(tile, a, b, c, a_locks, b_locks, c_locks, go));
    }

    // Strips of `outer` x s become sub-tiles of h x s, row-major over sub-tiles.
    program::BufferDescriptor strips_to_sub_tiles(std::int64_t length, std::int64_t outer, std::int64_t h,
                                         DataType type) const {
        const std::int64_t sub_tile = words(h * mode_.s, type);
        const std::int64_t strips = map_.k_ct / mode_.s;
        return shaped(length, {{sub_tile, 1}, {outer / h, strips * sub_tile}, {strips, sub_tile}});
    }

    program::CoreProgram core_program(program::TileCoordinate tile, const std::vector<std::int64_t>& a,
                             const std::vector<std::int64_t>& b, const std::vector<std::int64_t>& c,
                             FifoLocks a_locks, FifoLocks b_locks, FifoLocks c_locks,
                             std::int64_t go) const {
        constexpr std::int64_t kA = 0;
        constexpr std::int64_t kB = 1;
        constexpr std::int64_t kC = 2;
        constexpr std::int64_t kZeroed = 3;
        program::CoreProgram core;
        core.tile = tile;
        // Each zeroing moves both C rotations on: the multiplies after it use the buffer it
        // cleared.
        std::vector<std::int64_t> c_before = c;
        std::rotate(c_before.begin(), c_before.end() - 1, c_before.end());
        core.rotations = {{"a", a}, {"b", b}, {"c", c_before}, {"zeroed", c}};
        program::LoopOp calls;
        calls.parameter = kCallsParameter;
        calls.body = {{program::AcquireOp{{a_locks.full, -1}}},
                      {program::AcquireOp{{b_locks.full, -1}}},
                      {program::CallOp{1, {kA, kB, kC}, {kA, kB}}},
                      {program::ReleaseOp{{a_locks.free, 1}}},
                      {program::ReleaseOp{{b_locks.free, 1}}}};
        program::LoopOp tiles;
        tiles.parameter = kTilesParameter;
        tiles.body = {{program::AcquireOp{{c_locks.free, -1}}},
                      {program::CallOp{0, {kZeroed}, {kC, kZeroed}}},
                      {calls},
                      {program::ReleaseOp{{c_locks.full, 1}}}};
        core.script = {{program::AcquireOp{{go, -1}}}, {tiles}};
        return core;
    }

    void make_routes() {
        const auto add = [this](std::string name, program::ChannelId from, std::vector<program::ChannelId> to) {
            program::Route route;
            route.name = std::move(name);
            route.source = from;
            route.destinations = std::move(to);
            program_.routes.push_back(std::move(route));
        };
        const auto mm2s = program::Direction::MM2S;
        const auto s2mm = program::Direction::S2MM;
        for (std::int64_t row = 0; row < config_.core_rows; ++row) {
            const std::int64_t column = column_of_a(row, config_);
            std::vector<program::ChannelId> cores;
            for (std::int64_t c = 0; c < config_.columns; ++c) {
                cores.push_back({{c, row + 2}, s2mm, 0});
            }
            add(fmt::format("a_shim_{}", row), {{column, 0}, mm2s, 0},
                {{{column, 1}, s2mm, kChannelA}});
            add(fmt::format("a_row_{}", row), {{column, 1}, mm2s, kChannelA}, cores);
        }
        for (std::int64_t column = 0; column < config_.columns; ++column) {
            std::vector<program::ChannelId> cores;
            for (std::int64_t row = 0; row < config_.core_rows; ++row) {
                cores.push_back({{column, row + 2}, s2mm, 1});
                add(fmt::format("c_core_{}_{}", column, row), {{column, row + 2}, mm2s, 0},
                    {{{column, 1}, s2mm, kChannelC + row}});
            }
            add(fmt::format("b_shim_{}", column), {{column, 0}, mm2s, 1},
                {{{column, 1}, s2mm, kChannelB}});
            add(fmt::format("b_column_{}", column), {{column, 1}, mm2s, kChannelB}, cores);
            add(fmt::format("c_shim_{}", column), {{column, 1}, mm2s, kChannelC},
                {{{column, 0}, s2mm, 0}});
        }
    }

    program::BufferDescriptor shim_descriptor(std::int64_t id, std::int64_t buffer, std::int64_t offset,
                                     std::int64_t length, std::vector<program::Dimension> dimensions) const {
        program::BufferDescriptor descriptor = shaped(length, std::move(dimensions), offset);
        descriptor.id = id;
        descriptor.buffer = buffer;
        return descriptor;
    }

    // A panel of `outer` rows of K elements as a sequence of outer x k_mt blocks.
    program::BufferDescriptor k_panel(std::int64_t id, std::int64_t buffer, std::int64_t first_row,
                             std::int64_t outer, DataType type) const {
        const std::int64_t k = words(result_.k, type);
        const std::int64_t block = words(map_.k_mt, type);
        return shim_descriptor(id, buffer, first_row * k * kWordBytes, outer * k,
                               {{block, 1}, {outer, k}, {k / block, block}});
    }

    void write_and_push(std::int64_t column, program::Direction direction, std::int64_t channel,
                        const program::BufferDescriptor& descriptor, bool token) {
        program_.sequence.push_back(program::WriteDescriptor{{column, 0}, descriptor});
        program_.sequence.push_back(
            program::PushTask{{{column, 0}, direction, channel}, {descriptor.id, 1, token}});
    }

    // The transfers of one output tile of every core.
    void program_output_tile(std::int64_t tile) {
        const std::int64_t slot = tile % kShimSlots;
        const std::int64_t across = result_.n / (map_.n_ct * config_.columns);
        const std::int64_t block_row = tile / across * config_.core_rows;
        const std::int64_t block_column = tile % across * config_.columns;
        for (std::int64_t column = 0; column < config_.columns; ++column) {
            if (const auto row = row_of_a(column, config_)) {
                write_and_push(
                    column, program::Direction::MM2S, 0,
                    k_panel(slot, 0, (block_row + *row) * map_.m_ct, map_.m_ct, problem_.a), false);
            }
            const std::int64_t first_column = (block_column + column) * map_.n_ct;
            write_and_push(column, program::Direction::MM2S, 1, b_panel(kShimSlots + slot, first_column),
                           false);
            const std::int64_t n = words_c(result_.n);
            const std::int64_t run = words_c(map_.n_ct);
            const std::int64_t rows = map_.m_ct * config_.core_rows;
            write_and_push(
                column, program::Direction::S2MM, 0,
                shim_descriptor(2 * kShimSlots + slot, 2,
                                (block_row * map_.m_ct * n + words_c(first_column)) * kWordBytes,
                                rows * run, {{run, 1}, {rows, n}}),
                true);
        }
    }

    program::BufferDescriptor b_panel(std::int64_t id, std::int64_t first_column) const {
        if (problem_.b_column_major) {
            return k_panel(id, 1, first_column, map_.n_ct, problem_.b);
        }
        const std::int64_t n = words_b(result_.n);
        const std::int64_t run = words_b(map_.n_ct);
        return shim_descriptor(id, 1, words_b(first_column) * kWordBytes, result_.k * run,
                               {{run, 1}, {b_block(), n}, {result_.k / b_block(), b_block() * n}});
    }

    void wait_for_output_tile() {
        for (std::int64_t column = 0; column < config_.columns; ++column) {
            program_.sequence.push_back(program::WaitToken{{{column, 0}, program::Direction::S2MM, 0}});
        }
    }

    void make_sequence() {
        for (const program::CoreProgram& core : program_.cores) {
            program_.sequence.push_back(
                program::WriteParameter{core.tile, kCallsParameter, result_.calls_per_tile});
            program_.sequence.push_back(
                program::WriteParameter{core.tile, kTilesParameter, result_.output_tiles});
        }
        for (const std::int64_t lock : go_locks_) {
            program_.sequence.push_back(program::SetLock{lock, 1});
        }
        const bool overlapped =
            map_.shim_bds == OutputStationaryMapping::ShimDescriptors::Overlapped;
        std::int64_t finished = 0;
        for (std::int64_t tile = 0; tile < result_.output_tiles; ++tile) {
            const bool full = tile - finished == kShimSlots;
            const std::int64_t wait = !full ? 0 : overlapped ? 1 : kShimSlots;
            for (std::int64_t i = 0; i < wait; ++i, ++finished) {
                wait_for_output_tile();
            }
            program_output_tile(tile);
        }
        for (; finished < result_.output_tiles; ++finished) {
            wait_for_output_tile();
        }
    }

    const GemmProblem& problem_;
    const OutputStationaryMapping& map_;
    const NpuConfig& config_;
    MultiplyMode mode_;
    CorePlan core_plan_;
    std::vector<MemoryTilePlan> memory_plans_;
    LoweredGemm result_;
    program::Program& program_ = result_.program;
    std::vector<std::int64_t> go_locks_;
};

}  // namespace

void read_keys(Node& node, OutputStationaryMapping& map) {
    const arch::base::config::Range tile{1, 4096};
    node.required("m_ct", map.m_ct, tile, "rows of a core's C tile");
    node.required("k_ct", map.k_ct, tile, "reduced elements of a kernel call");
    node.required("n_ct", map.n_ct, tile, "columns of a core's C tile");
    map.k_mt = map.k_mt > 0 ? map.k_mt : map.k_ct;
    node.optional("k_mt", map.k_mt, {1, 1 << 20}, "memory tile block along K");
    node.optional("c_buffers", map.c_buffers, {1, 2}, "C tiles per core");
    using Shim = OutputStationaryMapping::ShimDescriptors;
    node.optional("shim_bds", map.shim_bds,
                  {{"overlapped", Shim::Overlapped}, {"sequential", Shim::Sequential}},
                  "when shim descriptors are rewritten");
    node.done();
}

std::int64_t column_of_a(std::int64_t row, const NpuConfig& config) {
    return row * config.columns / config.core_rows;
}

std::optional<std::int64_t> row_of_a(std::int64_t column, const NpuConfig& config) {
    for (std::int64_t row = 0; row < config.core_rows; ++row) {
        if (column_of_a(row, config) == column) {
            return row;
        }
    }
    return std::nullopt;
}

std::vector<std::string> problems_of(const GemmProblem& problem, const OutputStationaryMapping& map,
                                     const NpuConfig& config) {
    std::vector<std::string> problems;
    const core::KernelTiming timing(config.kernels);
    program::Kernel kernel;
    kernel.kind = program::KernelKind::Multiply;
    kernel.m = map.m_ct;
    kernel.k = map.k_ct;
    kernel.n = map.n_ct;
    kernel.a = problem.a;
    kernel.b = problem.b;
    kernel.c = problem.c;
    if (std::string reason = timing.check(kernel); !reason.empty()) {
        problems.push_back(std::move(reason));
        return problems;
    }
    if (map.k_mt % map.k_ct != 0) {
        problems.push_back(
            fmt::format("k_mt ({}) must be a multiple of k_ct ({})", map.k_mt, map.k_ct));
    }
    constexpr std::int64_t kMostRows = 4;  // a memory tile has four channels left for C
    if (config.columns < config.core_rows || config.core_rows > kMostRows) {
        problems.push_back(
            fmt::format("the dataflow needs at most {} rows of cores and as many "
                        "columns; the array has {} rows, {} columns",
                        kMostRows, config.core_rows, config.columns));
    }
    const BufferSizes sizes = buffer_sizes(problem, map, config);
    const std::int64_t a = sizes.a_core;
    const std::int64_t b = sizes.b_core;
    const std::int64_t c = sizes.c_core;
    if (!plan_core(sizes, map, config)) {
        const std::int64_t core =
            config.core.stack.count() + kBuffers * (a + b) + map.c_buffers * c;
        problems.push_back(fmt::format(
            "the core tile needs {} B (stack {} + 2 x A {} + 2 x B {} + {} x C {}), a core has {} "
            "B",
            core, config.core.stack.count(), a, b, map.c_buffers, c, config.core.memory.count()));
    }
    if (!plan_memory_tiles(sizes, map, config)) {
        const std::int64_t tile =
            kBuffers * (sizes.a_block + sizes.b_block) + map.c_buffers * sizes.c_join;
        problems.push_back(
            fmt::format("a memory tile needs {} B, it has {} B and its neighbours have not enough "
                        "left; reduce k_mt",
                        tile, config.memory_tile.memory.count()));
    }
    return problems;
}

LoweredGemm lower(const GemmProblem& problem, const OutputStationaryMapping& mapping,
                  const NpuConfig& config) {
    const auto problems = problems_of(problem, mapping, config);
    if (!problems.empty()) {
        throw arch::base::config::ConfigError(
            fmt::format("mapping.output_stationary: {}", fmt::join(problems, "; ")));
    }
    return Lowering(problem, mapping, config).lower();
}

}  // namespace tilesim::workloads::npu::output_stationary
