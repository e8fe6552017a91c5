// What the products and the other operators of a training step took, call by call added up.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "arch/host/roofline.hpp"
#include "workloads/npu/training/offloaded_call.hpp"
#include "workloads/npu/training/training_step.hpp"
#include "workloads/run.hpp"

namespace tilesim::workloads::npu::training {

// All calls of one size, or of one phase. Times in nanoseconds.
struct ProductTotals {
    int calls = 0;
    double flop = 0;
    CallTimes times;
    double on_host_ns = 0;  // the same products without the array

    void add(const TrainingProduct& product, const CallTimes& call, double on_host) {
        ++calls;
        flop += product.flop();
        times += call;
        on_host_ns += on_host;
    }
    double speedup() const { return times.total() > 0 ? on_host_ns / times.total() : 0; }
};

// All executions of one operator left on the processor, in one phase.
struct HostOperator {
    std::string name;
    TrainingPhase phase;
    int calls = 0;
    arch::host::Work work;
    double ns = 0;
};

// One size of product: a call on the array, and all calls.
struct SizeTotals {
    TrainingProduct::Size extents;
    RunResult array;  // of one call
    ProductTotals all;
    std::vector<std::string> uses;  // "qkv forward"
};

struct TrainingTotals {
    std::vector<SizeTotals> sizes;        // in order of their first call
    std::vector<HostOperator> operators;  // likewise
    std::map<TrainingPhase, ProductTotals> phases;
    int size_changes = 0;  // calls of another size than the one before
};

}  // namespace tilesim::workloads::npu::training
