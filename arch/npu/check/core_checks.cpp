#include "arch/npu/check/core_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "arch/npu/check/problem_list.hpp"
#include "arch/npu/check/script_words.hpp"
#include "arch/npu/check/tile_reach.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "arch/npu/core/stream_kernel_timing.hpp"
#include "arch/npu/tile/lock_unit.hpp"

namespace tilesim::arch::npu::check {

namespace {

std::string core_name(program::TileCoordinate tile) {
    return fmt::format("core {},{}", tile.column, tile.row);
}

// Bytes of each operand of a kernel, in the order of a call; empty for kernels without operands.
std::vector<std::int64_t> operand_bytes(const program::Kernel& kernel) {
    const auto bytes = [](std::int64_t elements, DataType type) {
        return elements * bits_of(type) / base::kBitsPerByte;
    };
    const std::int64_t c = bytes(kernel.m * kernel.n, kernel.c);
    switch (kernel.kind) {
        case program::KernelKind::Multiply:
            return {bytes(kernel.m * kernel.k, kernel.a), bytes(kernel.k * kernel.n, kernel.b), c};
        case program::KernelKind::Stream:
            return {bytes(kernel.k * kernel.n, kernel.b)};
        case program::KernelKind::Zero:
            return {c};
        case program::KernelKind::Add:
            return {c, c, c};
        case program::KernelKind::AddValue:
            return {c, c};
        case program::KernelKind::Matvec:
            return {kernel.m * program::row_bytes(kernel, kernel.k), bytes(kernel.k, kernel.b),
                    bytes(kernel.m, kernel.c)};
        case program::KernelKind::Vector: {
            const std::int64_t a = kernel.m * program::row_bytes(kernel, kernel.n);
            const auto second = program::second_operand(kernel.operation);
            if (second == program::SecondOperand::None) {
                return {a, c};
            }
            const std::int64_t rows = second == program::SecondOperand::Row ? 1 : kernel.m;
            return {a, bytes(rows * kernel.n, kernel.b), c};
        }
        case program::KernelKind::Fixed:
        case program::KernelKind::Inline:
            return {};
    }
    return {};
}

class CoreChecks : private ProblemList {
  public:
    CoreChecks(const program::Program& program, const NpuConfig& config)
        : ProblemList(program), program_(program), config_(config) {
        for (const program::SequenceOp& op : program.sequence) {
            if (const auto* write = std::get_if<program::WriteParameter>(&op)) {
                written_.try_emplace({write->tile, write->index}, write->where);
            }
        }
    }

    std::vector<std::string> run() {
        const core::KernelTiming timing(config_.kernels);
        const core::StreamKernelTiming stream_timing(config_.kernels, config_.stream);
        for (const program::Kernel& kernel : program_.kernels) {
            const auto about = at(kernel.where);
            const std::string problem = kernel.kind == program::KernelKind::Stream
                                            ? stream_timing.check(kernel)
                                            : timing.check(kernel);
            require(problem.empty(), "kernel {}: {}", kernel.name, problem);
        }
        std::set<program::TileCoordinate> tiles;
        for (const program::CoreProgram& core : program_.cores) {
            const auto about = at(core.where);
            require(tiles.insert(core.tile).second, "{}: has two scripts", core_name(core.tile));
            if (!config_.contains(core.tile) ||
                config_.kind_of(core.tile) != program::TileKind::Core) {
                require(false, "tile {},{}: has no core", core.tile.column, core.tile.row);
                continue;
            }
            for (const program::Rotation& rotation : core.rotations) {
                check_rotation(core, rotation);
            }
            waited_ = false;
            check_script(core, core.script);
        }
        for (const auto& [parameter, where] : written_) {
            const auto about = at(where);
            require(tiles.contains(parameter.first), "write_parameter: {} has no script",
                    core_name(parameter.first));
        }
        check_cascades();
        return take_problems();
    }

  private:
    void check_rotation(const program::CoreProgram& core, const program::Rotation& rotation) {
        for (const std::int64_t index : rotation.buffers) {
            const program::Buffer& buffer = program_.buffers[static_cast<std::size_t>(index)];
            require(buffer.bytes % rotation.parts == 0,
                    "{}: rotation {} takes its buffers in {} parts, {} has {} B",
                    core_name(core.tile), rotation.name, rotation.parts, buffer.name, buffer.bytes);
            require(core_reaches(config_, core.tile, buffer.tile),
                    "{}: does not reach buffer {} of tile {},{}", core_name(core.tile), buffer.name,
                    buffer.tile.column, buffer.tile.row);
        }
        if (rotation.length > 0) {
            check_walk(core, rotation);
        }
    }

    void check_walk(const program::CoreProgram& core, const program::Rotation& walk) {
        std::int64_t first = walk.offset;
        std::int64_t last = walk.offset;
        for (const program::Dimension& d : walk.dimensions) {
            require(d.size > 0, "{}: rotation {} makes {} steps", core_name(core.tile), walk.name,
                    d.size);
            (d.stride < 0 ? first : last) += (d.size - 1) * d.stride;
        }
        const bool alone = walk.buffers.size() == 1 && walk.parts == 1;
        require(alone, "{}: rotation {} walks through a buffer: it has one, in one part",
                core_name(core.tile), walk.name);
        const std::int64_t words =
            alone ? program_.buffers[static_cast<std::size_t>(walk.buffers[0])].bytes / kWordBytes
                  : 0;
        require(!alone || (first >= 0 && last + walk.length <= words),
                "{}: rotation {} walks over words {}..{} of a buffer of {}", core_name(core.tile),
                walk.name, first, last + walk.length - 1, words);
    }

    void check_script(const program::CoreProgram& core,
                      const std::vector<program::CoreOp>& script) {
        for (const program::CoreOp& op : script) {
            const auto about = at(op.where);
            if (const auto* acquire = std::get_if<program::AcquireOp>(&op.op)) {
                check_lock(core, acquire->action);
                waited_ = true;
            } else if (const auto* release = std::get_if<program::ReleaseOp>(&op.op)) {
                check_lock(core, release->action);
            } else if (const auto* call = std::get_if<program::CallOp>(&op.op)) {
                check_call(core, *call);
            } else if (const auto* put = std::get_if<program::PutCascadeOp>(&op.op)) {
                check_cascade_op(core, &program::Cascade::from, "puts on", put->words,
                                 put->place.operand);
            } else if (const auto* get = std::get_if<program::GetCascadeOp>(&op.op)) {
                check_cascade_op(core, &program::Cascade::to, "gets from", get->words,
                                 get->place.operand);
            } else if (const auto* sent = std::get_if<program::PutStreamOp>(&op.op)) {
                check_stream_op(core, program::Direction::MM2S, *sent);
            } else if (const auto* read = std::get_if<program::GetStreamOp>(&op.op)) {
                check_stream_op(core, program::Direction::S2MM, *read);
            } else if (const auto* loop = std::get_if<program::LoopOp>(&op.op)) {
                const bool stated =
                    loop->parameter && *loop->parameter < std::ssize(core.parameters);
                require(
                    !loop->parameter || stated || written_.contains({core.tile, *loop->parameter}),
                    "{}: a loop's count is parameter {}, which the sequence never writes",
                    core_name(core.tile), loop->parameter.value_or(0));
                require(!loop->parameter || stated || waited_,
                        "{}: reads parameter {} before it has acquired any lock, when the sequence "
                        "has not written it; let it acquire one that the sequence sets",
                        core_name(core.tile), loop->parameter.value_or(0));
                check_script(core, loop->body);
            }
        }
    }

    void check_lock(const program::CoreProgram& core, const program::LockAction& action) {
        const program::Lock& lock = program_.locks[static_cast<std::size_t>(action.lock)];
        require(core_reaches(config_, core.tile, lock.tile),
                "{}: does not reach lock {} of tile {},{}", core_name(core.tile), lock.name,
                lock.tile.column, lock.tile.row);
        require(
            config_.lock_kind == LockKind::Binary || (action.value >= -tile::LockUnit::kMost - 1 &&
                                                      action.value <= tile::LockUnit::kMost),
            "{}: value {} for lock {} is not -64..63", core_name(core.tile), action.value,
            lock.name);
    }

    void check_call(const program::CoreProgram& core, const program::CallOp& call) {
        const program::Kernel& kernel = program_.kernels[static_cast<std::size_t>(call.kernel)];
        const auto bytes = operand_bytes(kernel);
        if (call.operands.size() != bytes.size() && kernel.kind != program::KernelKind::Fixed) {
            require(false, "{}: calls {} with {} operands, it takes {}", core_name(core.tile),
                    kernel.name, call.operands.size(), bytes.size());
            return;
        }
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            check_size(core, call.operands[i], bytes[i],
                       fmt::format("operand {} of {}", i + 1, kernel.name));
        }
    }

    void check_size(const program::CoreProgram& core, std::int64_t rotation, std::int64_t bytes,
                    const std::string& what) {
        const program::Rotation& turns = core.rotations[static_cast<std::size_t>(rotation)];
        for (const std::int64_t index : turns.buffers) {
            const program::Buffer& buffer = program_.buffers[static_cast<std::size_t>(index)];
            const std::int64_t there =
                turns.length > 0 ? turns.length * kWordBytes : buffer.bytes / turns.parts;
            require(bytes <= there, "{}: {} is {} B, {}buffer {} has {} B", core_name(core.tile),
                    what, bytes, turns.parts > 1 || turns.length > 0 ? "a part of " : "",
                    buffer.name, there);
        }
    }

    void check_cascade_op(const program::CoreProgram& core,
                          program::TileCoordinate program::Cascade::*end, const char* what,
                          std::int64_t words, const std::optional<std::int64_t>& operand) {
        const bool there =
            std::any_of(program_.cascades.begin(), program_.cascades.end(),
                        [&](const program::Cascade& cascade) { return cascade.*end == core.tile; });
        require(there, "{}: {} a cascade, but none is declared there", core_name(core.tile), what);
        if (operand) {
            check_size(core, *operand, words * config_.cascade.width.count(),
                       fmt::format("what it {} the cascade", what));
        }
    }

    template <class Op>
    void check_stream_op(const program::CoreProgram& core, program::Direction direction,
                         const Op& op) {
        const program::ChannelId port{core.tile, direction, op.port, program::PortKind::Core};
        const bool puts = direction == program::Direction::MM2S;
        const std::int64_t ports = puts ? config_.core.stream_outputs : config_.core.stream_inputs;
        const bool routed = std::any_of(
            program_.routes.begin(), program_.routes.end(), [&](const program::Route& route) {
                return puts ? route.source == port
                            : std::find(route.destinations.begin(), route.destinations.end(),
                                        port) != route.destinations.end();
            });
        const std::string what =
            fmt::format("{} {}", puts ? "puts on" : "gets from", program::name_of(port));
        require(op.port >= 0 && op.port < ports, "{}: {}, but cores have {} stream {}",
                core_name(core.tile), what, ports, puts ? "outputs" : "inputs");
        require(op.port >= ports || routed, "{}: {}, which no route {}", core_name(core.tile), what,
                puts ? "leaves" : "reaches");
        if (op.place.operand) {
            check_size(core, *op.place.operand, op.words * kWordBytes,
                       fmt::format("what it {}", what));
        }
        if constexpr (std::is_same_v<Op, program::PutStreamOp>) {
            check_packet(core, port, op.packet);
        }
    }

    // A port's words are a circuit's, or each put says which packet it may begin.
    void check_packet(const program::CoreProgram& core, const program::ChannelId& port,
                      std::optional<std::int64_t> packet) {
        std::vector<std::string> ids;
        bool taken = false;
        for (const program::Route& route : program_.routes) {
            if (route.source == port) {
                taken = taken || route.packet_id == packet;
                ids.push_back(route.packet_id ? fmt::format("packet {}", *route.packet_id)
                                              : "no packets");
            }
        }
        require(ids.empty() || taken, "{}: puts {} on {}, whose routes take {}",
                core_name(core.tile),
                packet ? fmt::format("packet {}", *packet) : "words that are no packet",
                program::name_of(port), fmt::join(ids, " and "));
    }

    const program::CoreProgram* script_of(program::TileCoordinate tile) const {
        const auto place =
            std::find_if(program_.cores.begin(), program_.cores.end(),
                         [&](const program::CoreProgram& core) { return core.tile == tile; });
        return place == program_.cores.end() ? nullptr : &*place;
    }

    void check_cascades() {
        std::set<program::TileCoordinate> outs;
        std::set<program::TileCoordinate> ins;
        for (const program::Cascade& cascade : program_.cascades) {
            const auto about = at(cascade.where);
            const program::TileCoordinate from = cascade.from;
            const program::TileCoordinate to = cascade.to;
            // AIE1: a snake that begins in the west of the lowest row.
            const bool snakes = config_.core.alternating_sides;
            const std::int64_t ahead = snakes && from.row % 2 == 0 ? -1 : 1;
            const bool beside = to.row == from.row && to.column == from.column + ahead;
            const bool end = from.column + ahead < 0 || from.column + ahead >= config_.columns;
            const bool vertical =
                to.column == from.column && to.row == from.row + (snakes ? 1 : -1);
            const bool cores = config_.contains(from) && config_.contains(to) &&
                               config_.kind_of(from) == program::TileKind::Core &&
                               config_.kind_of(to) == program::TileKind::Core;
            require(cores && (beside || (vertical && (!snakes || end))),
                    "cascade {}: leads from tile {},{} to {},{}; it must lead from a core to the "
                    "one {}",
                    cascade.name, from.column, from.row, to.column, to.row,
                    !snakes     ? "east or south of it"
                    : ahead > 0 ? "east of it, at the end of its row north"
                                : "west of it, at the end of its row north");
            require(outs.insert(from).second, "cascade {}: {} has another outgoing cascade",
                    cascade.name, core_name(from));
            require(ins.insert(to).second, "cascade {}: {} has another incoming cascade",
                    cascade.name, core_name(to));
            const program::CoreProgram* sender = script_of(from);
            const program::CoreProgram* receiver = script_of(to);
            const auto put = sender == nullptr ? 0 : words_put_on_cascade(sender->script);
            const auto got = receiver == nullptr ? 0 : words_got_from_cascade(receiver->script);
            require(!put || !got || *put == *got, "cascade {}: {} puts {} words, {} gets {}",
                    cascade.name, core_name(from), put.value_or(0), core_name(to), got.value_or(0));
        }
    }

    const program::Program& program_;
    const NpuConfig& config_;
    // Run-time parameters, and where.
    std::map<std::pair<program::TileCoordinate, std::int64_t>, base::FilePlace> written_;
    bool waited_ = false;  // the script being checked has acquired a lock
};

}  // namespace

std::vector<std::string> check_cores(const program::Program& program, const NpuConfig& config) {
    return CoreChecks(program, config).run();
}

}  // namespace tilesim::arch::npu::check
