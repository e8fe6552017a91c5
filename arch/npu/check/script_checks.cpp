#include "arch/npu/check/script_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "arch/npu/check/program_names.hpp"
#include "arch/npu/check/storage_checks.hpp"
#include "arch/npu/core/stream_kernel_timing.hpp"

namespace tilesim::arch::npu::check {

namespace {

class ScriptChecks : private ProblemList {
  public:
    ScriptChecks(const program::Program& program, const NpuConfig& config)
        : ProblemList(program), program_(program), config_(config) {}

    std::vector<std::string> run() {
        for (const program::CoreProgram& core : program_.cores) {
            check_script(core, core.script);
        }
        return take_problems();
    }

  private:
    void check_script(const program::CoreProgram& core,
                      const std::vector<program::CoreOp>& script) {
        for (const program::CoreOp& op : script) {
            const auto about = at(op.where);
            if (const auto* loop = std::get_if<program::LoopOp>(&op.op)) {
                check_script(core, loop->body);
            } else if (const auto* acquire = std::get_if<program::AcquireOp>(&op.op)) {
                require_state(*this, program_, config_, tile_name(core.tile) + " core",
                              acquire->action);
            } else if (const auto* release = std::get_if<program::ReleaseOp>(&op.op)) {
                require_state(*this, program_, config_, tile_name(core.tile) + " core",
                              release->action);
            } else if (const auto* call = std::get_if<program::CallOp>(&op.op)) {
                const program::Kernel& kernel =
                    program_.kernels[static_cast<std::size_t>(call->kernel)];
                if (kernel.kind == program::KernelKind::Stream) {
                    check_stream_call(core, kernel, *call);
                }
            }
        }
    }

    void check_stream_call(const program::CoreProgram& core, const program::Kernel& kernel,
                           const program::CallOp& call) {
        const std::string who =
            fmt::format("{} core: kernel {}", tile_name(core.tile), kernel.name);
        require(std::any_of(program_.logic_streams.begin(), program_.logic_streams.end(),
                            [&core](const program::LogicStream& s) { return s.tile == core.tile; }),
                "{} reads A from core_in0, which no logic stream feeds", who);
        const program::ChannelId in{core.tile, program::Direction::S2MM, 1,
                                    program::PortKind::Core};
        const program::ChannelId out{core.tile, program::Direction::MM2S, 0,
                                     program::PortKind::Core};
        const auto routed = [this](auto holds) {
            return std::any_of(program_.routes.begin(), program_.routes.end(), holds);
        };
        require(routed([&in](const program::Route& route) {
                    return std::find(route.destinations.begin(), route.destinations.end(), in) !=
                           route.destinations.end();
                }),
                "{} reads C from core_in1, which no route reaches", who);
        require(routed([&out](const program::Route& route) {
                    return route.source == out && !route.packet_id;
                }),
                "{} writes C to core_out0, which no circuit leaves", who);
        if (call.operands.size() != 1) {
            require(false, "{} takes one operand, B", who);
            return;
        }
        for (const std::int64_t index :
             core.rotations[static_cast<std::size_t>(call.operands[0])].buffers) {
            const program::Buffer& b = program_.buffers[static_cast<std::size_t>(index)];
            require(b.bytes >= core::b_bytes(kernel), "{} needs {} B of B, buffer {} has {}", who,
                    core::b_bytes(kernel), b.name, b.bytes);
        }
    }

    const program::Program& program_;
    const NpuConfig& config_;
};

}  // namespace

std::vector<std::string> check_scripts(const program::Program& program, const NpuConfig& config) {
    return ScriptChecks(program, config).run();
}

}  // namespace tilesim::arch::npu::check
