#include "arch/host/roofline.hpp"

#include <algorithm>
#include <cmath>

#include "arch/base/units.hpp"

namespace tilesim::arch::host {

namespace {

using arch::base::kFemtosecondsPerNanosecond;
using arch::base::kNanosecondsPerSecond;
using arch::base::kPermille;

}  // namespace

Work& Work::operator+=(const Work& other) {
    operations += other.operations;
    functions += other.functions;
    transposed_elements += other.transposed_elements;
    bytes_read += other.bytes_read;
    bytes_written += other.bytes_written;
    parallel = parallel && other.parallel;
    return *this;
}

// A store to a line that is in no cache fetches the line, and the line goes back later.
double Work::memory_bytes() const {
    return bytes_read + 2 * bytes_written;
}

double roofline_ns(const HostConfig& host, const Work& work) {
    const double threads = work.parallel ? static_cast<double>(host.cores) : 1.0;
    const double cycles =
        work.operations / (static_cast<double>(host.operations_per_cycle) *
                           static_cast<double>(host.streaming_permille) / kPermille) +
        work.functions * static_cast<double>(host.function.count()) +
        work.transposed_elements * static_cast<double>(host.transposed_element.count());
    const double compute = cycles / (threads * static_cast<double>(host.clock.count()));
    const double memory =
        work.memory_bytes() /
        static_cast<double>((work.parallel ? host.bandwidth : host.core_bandwidth).count());
    return std::max(compute, memory) * kNanosecondsPerSecond;
}

double sync_ns(const HostConfig& host, double bytes) {
    const double lines = std::ceil(bytes / static_cast<double>(host.line.count()));
    return (static_cast<double>(host.sync_call.count()) +
            lines * static_cast<double>(host.flush_line.count())) /
           kFemtosecondsPerNanosecond;
}

}  // namespace tilesim::arch::host
