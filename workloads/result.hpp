// What a run gives: times, rates, where the time went, provenance.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arch/base/deadlock.hpp"
#include "arch/base/units.hpp"
#include "arch/memory/port/bank_counts.hpp"
#include "arch/memory/port/memory_totals.hpp"
#include "arch/memory/traffic/stream_source.hpp"
#include "workloads/bounds.hpp"
#include "workloads/product_check.hpp"

namespace tilesim::workloads {

using arch::base::kFemtosecondsPerNanosecond;

// The steady state of an array's program: cycles of one round of a channel's descriptors.
struct SteadyState {
    std::string channel;
    double bound = 0;                   // lower bound, from the program's marked graph
    std::optional<double> simulated;    // mean over the run; nothing when it ran less than twice
    std::vector<std::string> critical;  // the tightest cycle
};

enum class Status { Ok, Mismatch, Deadlock, TimeLimit };
const char* name_of(Status status);

// Part of a result for people to read; `details` holds the same for programs.
struct ResultTable {
    std::string title;
    std::vector<std::string> header;
    std::vector<std::vector<std::string>> rows;  // each as long as the header
};

// A run of a few of its rounds: how many, and how far what follows from them may be off.
struct Sampling {
    double rounds = 0;                   // there are
    double simulated = 0;                // of them
    double error_percent = 0;            // of time and rates
    double memory_error_percent = 0;     // of the bytes the memory has moved
    double activates_error_percent = 0;  // of the rows it has opened
    double whole_wall_s = 0;             // host time of the exact run, about
};

struct RunResult {
    Status status = Status::Ok;
    std::string device;
    std::string host;  // profile of the machine that launched it, where it has one of its own
    nlohmann::ordered_json workload;
    nlohmann::ordered_json mapping;
    double time_ns = 0;
    std::int64_t cycles = 0;
    double clock_ghz = 0;
    double tops = 0;
    double macs_per_cycle = 0;  // of the whole device
    double padding_waste = 0;   // share of the multiply-accumulates spent on padding
    std::optional<GemmBounds> bounds;
    std::optional<Sampling> sampled;  // nothing: all of it was simulated
    std::optional<SteadyState> steady_state;
    std::vector<std::string> findings;       // what the checks before the run said
    std::optional<double> speedup_over_soc;  // PIM
    nlohmann::ordered_json details;          // what one machine has to say beyond the common keys
    std::vector<ResultTable> tables;         // `details` as people read it
    std::string bottleneck;
    std::string next_bottleneck;
    // Of the time, what a faster bottleneck alone spares at most, where that is known.
    std::optional<double> most_saved_percent;
    // The longest part of the critical path, where another one that needs as long leaves it so
    // little to save that it is not the bottleneck; and that other one.
    std::optional<std::pair<std::string, std::string>> faster_together;
    // Component class -> state -> cycles, averaged over the components of the class.
    std::vector<std::pair<std::string, std::vector<std::pair<std::string, double>>>> where;
    // Component -> share of its time in which it did its work.
    std::vector<std::pair<std::string, double>> busy;
    std::optional<arch::memory::port::MemoryTotals> memory;
    std::optional<arch::memory::port::BankUse> banks;
    nlohmann::ordered_json energy;  // of the memory, by what took it; or why there is no number
    std::optional<ProductCheck> functional;
    std::optional<arch::memory::traffic::StreamResult> stream;
    std::optional<arch::base::DeadlockReport> deadlock;
    std::vector<std::string> notes;  // what a reader must know: chosen mapping, overridden timing
    // Keys that were read but could not matter: of the device ("npu.cascade.fifo", or all of a
    // list's entry, "npu.kernels.modes[3]"), of the file ("mapping.amx.threads_n").
    std::vector<std::string> not_exercised;
    std::uint64_t events = 0;
    double wall_s = 0;
    nlohmann::ordered_json provenance;
};

void add_not_exercised(RunResult& result, const std::vector<std::string>& keys);
// Clock and the rates that follow from cycles, time and the multiply-accumulates done.
void set_rates(RunResult& result, double macs, arch::base::Hertz clock);

}  // namespace tilesim::workloads
