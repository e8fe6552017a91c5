#include "workloads/npu/mlir/core/kernel_locks.hpp"

#include <cstdlib>
#include <map>
#include <utility>
#include <variant>
#include <vector>

namespace tilesim::workloads::npu::mlir::core {

namespace {

class KernelLocks {
  public:
    explicit KernelLocks(Lowering& lowering) : lowering_(lowering) {
        for (const program::TileDma& dma : lowering.program.dmas) {
            for (const program::BufferDescriptor& descriptor : dma.descriptors) {
                note(descriptor);
            }
        }
        for (const program::SequenceOp& operation : lowering.program.sequence) {
            if (const auto* write = std::get_if<program::WriteDescriptor>(&operation)) {
                note(write->descriptor);
            }
        }
    }

    void run() {
        for (program::CoreProgram& core : lowering_.program.cores) {
            own_.clear();
            find_own(core.script);
            core.script = settled(std::move(core.script));
        }
        if (settled_) {
            lowering_.note(
                "kernels that are given locks are taken to wait for those that a channel "
                "releases, to work, and to release those that a channel acquires, once a call");
        }
    }

  private:
    void note(const program::BufferDescriptor& descriptor) {
        if (descriptor.acquire) {
            acquired_[descriptor.acquire->lock] = std::abs(descriptor.acquire->value);
        }
        if (descriptor.release) {
            released_[descriptor.release->lock] = std::abs(descriptor.release->value);
        }
    }

    // Locks the core's body uses itself: what it hands on of them is theirs alone.
    void find_own(const std::vector<program::CoreOp>& script) {
        for (const program::CoreOp& each : script) {
            if (const auto* acquire = std::get_if<program::AcquireOp>(&each.op);
                acquire != nullptr && acquire->action.value != kGivenLock) {
                own_.insert(acquire->action.lock);
            } else if (const auto* release = std::get_if<program::ReleaseOp>(&each.op);
                       release != nullptr && release->action.value != kGivenLock) {
                own_.insert(release->action.lock);
            } else if (const auto* loop = std::get_if<program::LoopOp>(&each.op)) {
                find_own(loop->body);
            }
        }
    }

    std::vector<program::CoreOp> settled(std::vector<program::CoreOp> script) {
        std::vector<program::CoreOp> result;
        for (program::CoreOp& each : script) {
            if (auto* loop = std::get_if<program::LoopOp>(&each.op)) {
                loop->body = settled(std::move(loop->body));
            } else if (auto* acquire = std::get_if<program::AcquireOp>(&each.op);
                       acquire != nullptr && acquire->action.value == kGivenLock) {
                if (!settle(acquire->action, released_, -1)) {
                    continue;
                }
            } else if (auto* release = std::get_if<program::ReleaseOp>(&each.op);
                       release != nullptr && release->action.value == kGivenLock) {
                if (!settle(release->action, acquired_, 1)) {
                    continue;
                }
            }
            result.push_back(std::move(each));
        }
        return result;
    }

    // Whether the kernel does anything: it takes or gives what the channel gives or takes.
    bool settle(program::LockAction& action, const std::map<std::int64_t, std::int64_t>& others,
                std::int64_t sign) {
        const auto other = others.find(action.lock);
        if (other == others.end() || own_.contains(action.lock)) {
            return false;
        }
        action.value = sign * other->second;
        settled_ = true;
        return true;
    }

    Lowering& lowering_;
    std::map<std::int64_t, std::int64_t> acquired_, released_;  // by channels: how many
    std::set<std::int64_t> own_;
    bool settled_ = false;
};

}  // namespace

void settle_kernel_locks(Lowering& lowering) {
    if (lowering.config.lock_kind == LockKind::Counting) {
        KernelLocks(lowering).run();
    }
}

}  // namespace tilesim::workloads::npu::mlir::core
