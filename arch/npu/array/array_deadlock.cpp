// The array's standstill report: asks every component what it waits for.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "arch/npu/array/array.hpp"
#include "arch/npu/program/descriptor_chain.hpp"

namespace tilesim::arch::npu::array {

// Walks the array's components; a class of its own because it needs to see them all.
class DeadlockFinder {
  public:
    explicit DeadlockFinder(const Array& array) : array_(array) { find_releasers(); }

    base::DeadlockReport report() const {
        base::DeadlockReport result;
        for (const auto& core : array_.cores_) {
            if (const program::LockAction* action = core->waiting_for()) {
                result.waits.push_back(lock_wait(core->name(), "", *action, core->since()));
            } else if (core->spins()) {
                result.spinners.push_back({core->name(), core->calls()});
            }
            add_cascade(*core, result);
        }
        for (const auto& [id, channel] : array_.channels_) {
            add_channel(id, *channel, result);
        }
        for (const auto& core : array_.cores_) {
            if (const auto port = core->streaming()) {
                const bool in = port->direction == program::Direction::S2MM;
                const std::string words = core->streamed();
                result.waits.push_back(
                    {core->name(),
                     in ? fmt::format("{} on its stream input {}", words, port->index)
                        : fmt::format("its stream output {} to take {}", port->index, words),
                     "stream", in ? senders_to(*port) : holding_back(*port),
                     core->since().count()});
            }
        }
        const control::CommandProcessor& processor = array_.command_processor_;
        if (const program::LockAction* action = processor.waiting_for_lock()) {
            result.waits.push_back(lock_wait(processor.name(), "", *action, processor.since()));
        }
        if (const program::ChannelId* channel = processor.waiting_for()) {
            result.waits.push_back(
                {processor.name(),
                 fmt::format("{} {} (sequence operation {})",
                             processor.waits_for_token() ? "a completion token of" : "all tasks of",
                             name_of_channel(*channel), processor.position()),
                 processor.waits_for_token() ? "token" : "channel",
                 {name_of_channel(*channel)},
                 processor.since().count()});
        }
        find_last_progress(result);
        base::find_cycles(result);
        return result;
    }

  private:
    // Who can release each lock: channels by their descriptors, cores by their scripts.
    void find_releasers() {
        releasers_.resize(array_.program_.locks.size());
        for (const program::TileDma& dma : array_.program_.dmas) {
            for (const program::TileDma::Start& start : dma.starts) {
                const program::ChannelId id{dma.tile, start.direction, start.channel};
                const auto chain = program::chain_from(start.task.descriptor, dma);
                for (const program::BufferDescriptor* descriptor : chain.descriptors) {
                    add_descriptor(*descriptor, name_of_channel(id));
                }
            }
        }
        add_sequence();
        for (const auto& core : array_.cores_) {
            for (const program::CoreProgram& program : array_.program_.cores) {
                if (program.tile == core->tile()) {
                    add_script(program.script, core->name());
                }
            }
        }
    }

    void add_descriptor(const program::BufferDescriptor& descriptor, const std::string& channel) {
        if (descriptor.release) {
            add_releaser(descriptor.release->lock, channel);
        }
        if (descriptor.alternate && descriptor.alternate->release) {
            add_releaser(descriptor.alternate->release->lock, channel);
        }
    }

    // What the sequence does to locks counts as the command processor's.
    void add_sequence() {
        for (const program::SequenceOp& operation : array_.program_.sequence) {
            if (const auto* set = std::get_if<program::SetLock>(&operation)) {
                add_releaser(set->lock, array_.command_processor_.name());
            }
        }
    }

    void add_script(const std::vector<program::CoreOp>& script, const std::string& core) {
        for (const program::CoreOp& op : script) {
            if (const auto* release = std::get_if<program::ReleaseOp>(&op.op)) {
                add_releaser(release->action.lock, core);
            } else if (const auto* loop = std::get_if<program::LoopOp>(&op.op)) {
                add_script(loop->body, core);
            }
        }
    }

    void add_releaser(std::int64_t lock, const std::string& who) {
        auto& names = releasers_[static_cast<std::size_t>(lock)];
        if (std::find(names.begin(), names.end(), who) == names.end()) {
            names.push_back(who);
        }
    }

    std::string name_of_channel(const program::ChannelId& id) const {
        for (const auto& core : array_.cores_) {
            if (id.port == program::PortKind::Core && core->tile() == id.tile) {
                return core->name();
            }
        }
        const auto place = array_.channels_.find(id);
        return place == array_.channels_.end() ? "an unused channel" : place->second->name();
    }

    void find_last_progress(base::DeadlockReport& report) const {
        report.last_progress = array_.last_progress().count();
        report.last_progress_by = array_.command_processor_.name();
        for (const auto& [id, channel] : array_.channels_) {
            if (channel->first_end() && channel->last_progress() == array_.last_progress()) {
                report.last_progress_by = channel->name();
            }
        }
    }

    // `task`: what the agent wants the lock for.
    base::Wait lock_wait(const std::string& who, const std::string& task,
                         const program::LockAction& action, base::Cycles since) const {
        const program::Lock& lock = array_.program_.locks[static_cast<std::size_t>(action.lock)];
        const std::string condition = action.value < 0 ? fmt::format(">= {}", -action.value)
                                                       : fmt::format("== {}", action.value);
        return {who,
                fmt::format("lock {} (tile {},{} id {}) {}, which is {}{}{}", lock.name,
                            lock.tile.column, lock.tile.row, lock.id, condition,
                            array_.locks_.value(action.lock),
                            array_.locks_.held(action.lock) ? " and held" : "", task),
                "lock", releasers_[static_cast<std::size_t>(action.lock)], since.count()};
    }

    void add_channel(const program::ChannelId& id, const dma::DmaChannel& channel,
                     base::DeadlockReport& report) const {
        if (channel.dropped()) {
            const std::int64_t count = channel.dropped_pushes();
            report.dropped_pushes.push_back(fmt::format(
                "{} dropped {} of descriptor {}: its task queue was full", channel.name(),
                count == 1 ? "a push" : fmt::format("{} pushes, the last", count),
                channel.dropped()->descriptor));
        }
        if (channel.queued() > 0) {
            report.queued.push_back(fmt::format("{} has {} more task{} in its queue",
                                                channel.name(), channel.queued(),
                                                channel.queued() > 1 ? "s" : ""));
        }
        const base::Cycles since = channel.since();
        const program::BufferDescriptor* descriptor = channel.descriptor();
        if (channel.state() == dma::ChannelState::WaitingForLock) {
            report.waits.push_back(lock_wait(channel.name(),
                                             fmt::format(", for descriptor {}", descriptor->id),
                                             *descriptor->acquire, since));
        } else if (channel.state() == dma::ChannelState::WaitingForStream) {
            report.waits.push_back({channel.name(), "a packet, whichever descriptor it names",
                                    "stream", senders_to(id), since.count()});
        } else if (channel.state() == dma::ChannelState::Streaming) {
            const auto holders =
                id.direction == program::Direction::S2MM ? senders_to(id) : holding_back(id);
            const std::string arbiter = waiting_arbiter(id);
            report.waits.push_back(
                {channel.name(),
                 fmt::format("{} of descriptor {}",
                             id.direction == program::Direction::S2MM ? "the stream's words"
                             : arbiter.empty()
                                 ? "the stream to take the words"
                                 : fmt::format("the arbiter of {} to pass the words", arbiter),
                             descriptor->id),
                 arbiter.empty() ? "stream" : "arbiter", holders, since.count()});
        }
    }

    // The cores at the other ends of the cascades a core puts on or gets from.
    void add_cascade(const core::CoreTile& core, base::DeadlockReport& report) const {
        const bool puts = core.putting() != nullptr;
        if (!puts && core.getting() == nullptr) {
            return;
        }
        std::vector<std::string> others;
        for (const program::Cascade& cascade : array_.program_.cascades) {
            if ((puts ? cascade.from : cascade.to) == core.tile()) {
                for (const auto& other : array_.cores_) {
                    if (other->tile() == (puts ? cascade.to : cascade.from)) {
                        others.push_back(other->name());
                    }
                }
            }
        }
        report.waits.push_back(
            {core.name(),
             puts ? fmt::format("the cascade to take {} words", core.putting()->words)
                  : fmt::format("{} words from the cascade", core.getting()->words),
             "cascade", others, core.since().count()});
    }

    // The arbiter the channel's packet waits for; empty when it waits for none.
    std::string waiting_arbiter(const program::ChannelId& id) const {
        for (std::size_t r = 0; r < array_.program_.routes.size(); ++r) {
            const stream::StreamArbiter* arbiter = array_.flows_[r]->waiting_arbiter();
            if (array_.program_.routes[r].source == id && arbiter != nullptr) {
                return arbiter->name();
            }
        }
        return "";
    }

    std::vector<std::string> senders_to(const program::ChannelId& id) const {
        std::vector<std::string> names;
        for (const program::Route& route : array_.program_.routes) {
            if (std::find(route.destinations.begin(), route.destinations.end(), id) !=
                route.destinations.end()) {
                names.push_back(name_of_channel(route.source));
            }
        }
        return names;
    }

    // The receivers, or the owner of the arbiter, that keep a sender from going on.
    std::vector<std::string> holding_back(const program::ChannelId& id) const {
        std::vector<std::string> names;
        for (std::size_t r = 0; r < array_.program_.routes.size(); ++r) {
            const program::Route& route = array_.program_.routes[r];
            const stream::StreamFlow& flow = *array_.flows_[r];
            if (route.source != id || !flow.sending()) {
                continue;
            }
            if (const stream::StreamArbiter* arbiter = flow.waiting_arbiter()) {
                const auto owners = owners_of(*arbiter);
                names.insert(names.end(), owners.begin(), owners.end());
            }
            for (const stream::StreamSink* sink : flow.blocked_by()) {
                for (const auto& [channel, candidate] : array_.sinks_) {
                    if (candidate == sink) {
                        names.push_back(name_of_channel(channel));
                    }
                }
            }
        }
        return names;
    }

    // The senders whose packet it passes, or whose turn it is; where there are none, itself.
    std::vector<std::string> owners_of(const stream::StreamArbiter& arbiter) const {
        const auto owners = arbiter.next_owners();
        std::vector<std::string> names;
        for (std::size_t r = 0; r < array_.flows_.size(); ++r) {
            if (std::find(owners.begin(), owners.end(), array_.flows_[r].get()) != owners.end()) {
                names.push_back(name_of_channel(array_.program_.routes[r].source));
            }
        }
        return names.empty() ? std::vector{arbiter.name()} : names;
    }

    const Array& array_;
    std::vector<std::vector<std::string>> releasers_;
};

base::DeadlockReport Array::deadlock() const {
    return DeadlockFinder(*this).report();
}

}  // namespace tilesim::arch::npu::array
