// The chains of buffer descriptors: which ones a task executes, in which order, and where that
// ends.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::program {

// What a task's first descriptor leads to, each descriptor once. A chain ends by itself, leads back
// to one of its own, or leads to a descriptor nobody has written.
struct DescriptorChain {
    std::vector<const BufferDescriptor*> descriptors;  // in order of execution
    std::optional<std::int64_t> leads_back_to;         // id of one of them
    std::optional<std::int64_t> missing;               // id of the one that is not there

    bool endless() const { return leads_back_to.has_value(); }
    // Endless, and every round of it executes all of them.
    bool is_ring() const { return endless() && *leads_back_to == descriptors.front()->id; }
    bool contains(std::int64_t id) const;
};

// `find(id)` is the descriptor; nullptr where nobody has written it.
template <class Find>
DescriptorChain chain_from(std::int64_t first, const Find& find) {
    DescriptorChain chain;
    std::optional<std::int64_t> id = first;
    while (id) {
        if (chain.contains(*id)) {
            chain.leads_back_to = id;
            break;
        }
        const BufferDescriptor* descriptor = find(*id);
        if (descriptor == nullptr) {
            chain.missing = id;
            break;
        }
        chain.descriptors.push_back(descriptor);
        id = descriptor->next;
    }
    return chain;
}

// The chain as it is written at configuration time.
DescriptorChain chain_from(std::int64_t first, const TileDma& dma);

// A task under way: which descriptor it executes after one.
class RunningTask {
  public:
    explicit RunningTask(const Task& task) : task_(task), runs_left_(task.repeat) {}

    const Task& task() const { return task_; }
    // The descriptor that follows one that has been executed; nothing: that was the task's last.
    std::optional<std::int64_t> after(const BufferDescriptor& done) {
        if (done.next && !task_.out_of_order) {
            return done.next;
        }
        return --runs_left_ > 0 ? std::optional{task_.descriptor} : std::nullopt;
    }

  private:
    Task task_;
    std::int64_t runs_left_;  // of the chain
};

}  // namespace tilesim::arch::npu::program
