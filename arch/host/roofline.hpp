// How long the processor takes for a loop over vectors: a roofline of arithmetic and memory.
//
// Models:  arithmetic at the share of the peak such loops reach, elementary functions and
//          transposed elements at a cost each, bytes at the memory's rate, one core or all.
// Ignores: data that a previous loop left in a cache, starting and joining threads.
#pragma once

#include <cstdint>

#include "arch/host/host_config.hpp"

namespace tilesim::arch::host {

struct Work {
    double operations = 0;           // f32 additions and multiplications
    double functions = 0;            // exp, tanh and the like
    double transposed_elements = 0;  // copied across rows
    double bytes_read = 0;
    double bytes_written = 0;  // fetched first, whether their old values count or not
    bool parallel = true;      // by all cores, or by one

    Work& operator+=(const Work& other);
    // Operations with a function counted as one.
    double flop() const { return operations + functions; }
    double memory_bytes() const;
};

double roofline_ns(const HostConfig& host, const Work& work);

// Flushing a buffer the processor and a device share: one core, line by line.
double sync_ns(const HostConfig& host, double bytes);

}  // namespace tilesim::arch::host
