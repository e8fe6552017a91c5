#include "arch/npu/program/program_work.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "arch/npu/program/descriptor_chain.hpp"

namespace tilesim::arch::npu::program {

namespace {

constexpr std::int64_t kUnknown = -1;
using Parameters = std::map<std::pair<TileCoordinate, std::int64_t>, std::int64_t>;

// Calls of one execution of `ops`; nothing: it never ends, or a count is not known.
std::optional<std::int64_t> calls_in(const std::vector<CoreOp>& ops, TileCoordinate tile,
                                     const std::vector<Kernel>& kernels,
                                     const Parameters& parameters) {
    std::int64_t calls = 0;
    for (const CoreOp& each : ops) {
        if (const auto* call = std::get_if<CallOp>(&each.op)) {
            const Kernel& kernel = kernels[static_cast<std::size_t>(call->kernel)];
            calls += kernel.kind != KernelKind::Zero ? 1 : 0;
        }
        const auto* loop = std::get_if<LoopOp>(&each.op);
        if (loop == nullptr) {
            continue;
        }
        std::int64_t count = loop->count;
        if (loop->parameter) {
            const auto known = parameters.find({tile, *loop->parameter});
            count = known == parameters.end() ? kUnknown : known->second;
        }
        const auto body = calls_in(loop->body, tile, kernels, parameters);
        if (count < 0 || !body) {
            return std::nullopt;
        }
        calls += count * *body;
    }
    return calls;
}

// The shims' descriptors as the sequence has written them so far.
class Descriptors {
  public:
    void write(const WriteDescriptor& operation) {
        tables_[operation.tile][operation.descriptor.id] = &operation.descriptor;
    }

    struct Transfer {
        std::int64_t words = 0;
        std::int64_t runs = 0;  // of descriptors
    };
    // Of a task; nothing: its chain never ends or is not known.
    std::optional<Transfer> transfer_of(const PushTask& push) const {
        const auto table = tables_.find(push.channel.tile);
        if (table == tables_.end()) {
            return std::nullopt;
        }
        const auto chain =
            chain_from(push.task.descriptor, [&](std::int64_t id) -> const BufferDescriptor* {
                const auto found = table->second.find(id);
                return found == table->second.end() ? nullptr : found->second;
            });
        if (chain.endless() || chain.missing) {
            return std::nullopt;
        }
        const std::int64_t words = std::accumulate(
            chain.descriptors.begin(), chain.descriptors.end(), std::int64_t{0},
            [](std::int64_t sum, const BufferDescriptor* each) { return sum + each->length; });
        return Transfer{words * push.task.repeat, std::ssize(chain.descriptors) * push.task.repeat};
    }

  private:
    std::map<TileCoordinate, std::map<std::int64_t, const BufferDescriptor*>> tables_;
};

}  // namespace

std::optional<ProgramWork> work_of(const Program& program) {
    ProgramWork work;
    Parameters parameters;
    Descriptors descriptors;
    std::map<ChannelId, std::int64_t> runs;
    for (const CoreProgram& core : program.cores) {
        for (std::size_t i = 0; i < core.parameters.size(); ++i) {
            parameters[{core.tile, static_cast<std::int64_t>(i)}] = core.parameters[i];
        }
    }
    for (const SequenceOp& operation : program.sequence) {
        if (const auto* parameter = std::get_if<WriteParameter>(&operation)) {
            // A core may read it before: its runs are then not known.
            const std::pair key{parameter->tile, parameter->index};
            parameters[key] = parameters.contains(key) ? kUnknown : parameter->value;
        } else if (const auto* write = std::get_if<WriteDescriptor>(&operation)) {
            descriptors.write(*write);
        } else if (const auto* push = std::get_if<PushTask>(&operation);
                   push != nullptr && push->channel.direction == Direction::S2MM) {
            const auto transfer = descriptors.transfer_of(*push);
            if (!transfer) {
                return std::nullopt;
            }
            runs[push->channel] += transfer->runs;
            work.words_written += transfer->words;
        }
    }
    for (const auto& [channel, of_channel] : runs) {
        work.write_runs = work.write_runs == 0 ? of_channel : std::min(work.write_runs, of_channel);
    }
    for (const CoreProgram& core : program.cores) {
        const auto calls = calls_in(core.script, core.tile, program.kernels, parameters);
        if (!calls) {
            return std::nullopt;
        }
        work.calls += *calls;
    }
    return work;
}

std::int64_t span_of(const BufferDescriptor& descriptor) {
    std::int64_t last = descriptor.dimensions.empty() ? descriptor.length - 1 : 0;  // words
    std::int64_t inner = 1;
    for (std::size_t i = 0; i < descriptor.dimensions.size(); ++i) {
        const Dimension& d = descriptor.dimensions[i];
        const bool outermost = i + 1 == descriptor.dimensions.size();
        const std::int64_t size =
            outermost ? std::max<std::int64_t>(1, descriptor.length / inner) : d.size;
        last += (size - 1) * d.stride;
        inner *= std::max<std::int64_t>(1, d.size);
    }
    if (descriptor.iteration) {
        last += (descriptor.iteration->size - 1) * descriptor.iteration->stride;
    }
    return (last + 1) * kWordBytes;
}

}  // namespace tilesim::arch::npu::program
