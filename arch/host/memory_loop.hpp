// A loop of the processor over memory, beside whatever else uses it: a share of the lines a core,
// each core with a bounded number of line fills under way.
//
// Models:  lines read; lines written, which are fetched first and written back; the arithmetic of a
//          line, which takes its core time and overlaps the fills of later ones; the way from a
//          core to the controllers.
// Ignores: caches (every line comes from memory), prefetches beyond the fills under way, starting
//          and joining threads.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "arch/base/stats.hpp"
#include "arch/base/units.hpp"
#include "arch/memory/port/memory_port.hpp"

namespace tilesim::arch::base::config {
class Node;
}

namespace tilesim::arch::host {

struct MemoryLoopConfig {
    base::Bytes read{0};
    base::Bytes write{0};
    std::int64_t operations = 0;  // f32 additions and multiplications, of all lines
    std::int64_t cores = 8;
    base::Hertz clock{4'000'000'000};
    std::int64_t operations_per_cycle = 32;  // of a core
    std::int64_t streaming_permille = 300;   // of them, what such loops reach in the L1
    base::Bytes line{64};
    std::int64_t fills = 12;             // under way, of a core
    base::Femtoseconds way{30'000'000};  // from a core to the controllers
};

MemoryLoopConfig read_memory_loop(base::config::Node node);

enum class LoopState { WaitingForMemory, Computing };
inline constexpr base::stats::StateTable<LoopState> kLoopStates{{
    {LoopState::WaitingForMemory, "waiting_for_memory", "the next line has not come"},
    {LoopState::Computing, "computing", "arithmetic of a line"},
}};

class MemoryLoop final : private memory::port::MemoryClient {
  public:
    MemoryLoop(const MemoryLoopConfig& config, memory::port::MemoryPort& memory,
               base::stats::Group& parent);

    // Fills leave from time 0 of the port on.
    void start();
    bool finished() const { return open_ == 0; }
    // When the last line had been computed and written back; call when finished.
    base::Femtoseconds finish_time() const { return finish_; }
    base::Femtoseconds line_time() const { return line_time_; }  // arithmetic of a line
    std::int64_t lines() const { return reads_ + writes_; }

  private:
    struct CoreStats : base::stats::Group {
        using Group::Group;
        base::stats::StateAccount time{*this, "time", base::stats::Unit::Femtosecond, kLoopStates};
    };
    struct Core {
        std::int64_t next = 0;     // line to ask for
        std::int64_t compute = 0;  // line to compute
        std::int64_t end = 0;
        base::Femtoseconds free{0};               // has computed what it could
        std::deque<base::Femtoseconds> answered;  // from `compute` on; kNever: not yet
        std::unique_ptr<CoreStats> stats;
    };
    void on_memory_complete(std::uint64_t tag, base::Femtoseconds when) override;
    void fill(std::size_t core, base::Femtoseconds now);
    void compute(std::size_t core);
    bool written(std::int64_t line) const;
    std::int64_t address_of(std::int64_t line) const;

    MemoryLoopConfig config_;
    memory::port::MemoryPort& memory_;
    std::int64_t reads_;
    std::int64_t writes_;
    base::Femtoseconds line_time_{0};
    std::vector<Core> cores_;
    std::int64_t open_ = 0;  // lines not computed, write-backs not answered
    base::Femtoseconds finish_{0};
};

}  // namespace tilesim::arch::host
