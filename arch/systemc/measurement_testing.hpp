// Processor time of simulations, for benchmarks.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <functional>
#include <systemc>

namespace tilesim::arch::systemc {

inline double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// What `measure` returns in a process of its own: SystemC elaborates once a process.
inline double in_child(const std::function<double()>& measure) {
    int ends[2];
    if (pipe(ends) != 0) {
        return 0;
    }
    const pid_t child = fork();
    if (child == 0) {
        const double seconds = measure();
        const bool told = write(ends[1], &seconds, sizeof seconds) == sizeof seconds;
        _exit(told ? 0 : 1);
    }
    double seconds = 0;
    const bool heard = read(ends[0], &seconds, sizeof seconds) == sizeof seconds;
    waitpid(child, nullptr, 0);
    close(ends[0]);
    close(ends[1]);
    return heard ? seconds : 0;
}

// Simulates until nothing is left to do.
inline double run_and_measure() {
    const double before = processor_seconds();
    sc_core::sc_start();
    return processor_seconds() - before;
}

}  // namespace tilesim::arch::systemc
