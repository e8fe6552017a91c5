#include "workloads/npu/training/offloaded_call.hpp"

#include <numeric>

namespace tilesim::workloads::npu::training {

using arch::host::Work;

namespace {

constexpr double kConversion = 4;  // integer operations that round an f32 to a shorter type

double bytes_of(arch::base::DataType type) {
    return static_cast<double>(arch::base::bits_of(type)) / arch::base::kBitsPerByte;
}

}  // namespace

const char* name_of(CallStage stage) {
    constexpr std::array<const char*, kCallStages> kNames{
        "copy_in",  "transpose_in", "sync_to_device",   "reconfigure",
        "dispatch", "run",          "sync_from_device", "copy_out"};
    return kNames[static_cast<std::size_t>(stage)];
}

double CallTimes::total() const {
    return std::accumulate(ns.begin(), ns.end(), 0.0);
}

CallTimes& CallTimes::operator+=(const CallTimes& other) {
    for (std::size_t i = 0; i < kCallStages; ++i) {
        ns[i] += other.ns[i];
    }
    return *this;
}

CallTimes host_stages(const arch::host::HostConfig& host, const OffloadMapping& offload,
                      const TrainingProduct& product) {
    CallTimes times;
    const auto bring_in = [&](double elements, bool across) {
        Work work;
        work.operations = elements * kConversion;
        work.transposed_elements = across ? elements : 0;
        work.bytes_read = elements * kElementBytes;
        work.bytes_written = elements * bytes_of(offload.operands);
        work.parallel = offload.parallel_copies;
        times[across ? CallStage::TransposeIn : CallStage::CopyIn] +=
            arch::host::roofline_ns(host, work);
        times[CallStage::SyncToDevice] += arch::host::sync_ns(host, work.bytes_written);
    };
    const auto m = static_cast<double>(product.m);
    const auto k = static_cast<double>(product.k);
    const auto n = static_cast<double>(product.n);
    bring_in(m * k, product.a_column_major);
    bring_in(k * n, product.b_column_major != offload.b_column_major);
    Work out;
    const double elements = m * n;
    out.operations = elements * (product.adds || product.bias ? 1 : 0);
    out.bytes_read = elements * bytes_of(offload.result);
    // What is added to was read anyway.
    out.bytes_written = elements * kElementBytes;
    out.parallel = offload.parallel_copies;
    times[CallStage::SyncFromDevice] = arch::host::sync_ns(host, out.bytes_read);
    times[CallStage::CopyOut] = arch::host::roofline_ns(host, out);
    return times;
}

}  // namespace tilesim::workloads::npu::training
