// The execution ports: TMUL, the store-data line, port 0, port 5 and the scalar ports.
//
// Each takes the oldest instruction whose operands are there and which it can execute, be it a
// store that also needs another port. A TDP holds TMUL a cycle for each row of A; a store of a tile
// that a TDP wrote holds TMUL and the store line together. What an AVX-512 instruction takes of
// ports 0 and 5 is the device's to say; where either will do, one is chosen when it enters the
// window. Port 5 takes none of those from a TDP or a TILEZERO on until `port5_opens` AVX-512
// instructions have followed it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "arch/amx/core/scoreboard.hpp"
#include "arch/amx/core/store_buffer.hpp"

namespace tilesim::arch::amx::core {

// What TMUL is doing.
enum class TmulUse : std::uint8_t { Multiply, StoreRead };

class Ports {
  public:
    Ports(const AmxConfig& config, Scoreboard& window, StoreBuffer& stores);

    // Until `tmul_free`.
    TmulUse tmul_use() const { return tmul_use_; }
    std::int64_t tmul_free() const { return tmul_free_; }
    // TMUL's cycles of the product it has just done; asked once, of others 0.
    std::int64_t take_product() { return std::exchange(product_, 0); }
    // Until then no product with a B of its own starts.
    std::int64_t b_free() const { return b_free_; }
    std::int64_t next_event(std::int64_t now) const;
    // Scalar uops that could have gone in one cycle.
    std::int64_t most_scalar() const { return most_scalar_; }

    void record(caches::StateRecord& to) const;

    // An instruction enters the window: which ports it will take.
    void bind(EntryId id, std::int64_t now);
    void start(EntryId id);
    // One cycle.
    void step(std::int64_t now) {
        if (now >= tmul_free_ && !tmul_.empty()) {
            issue_tmul(now);
        }
        if (now >= store_free_ && !store_.empty()) {
            issue_store(now);
        }
        if (!vector_.empty()) {
            issue_vector(now, UINT64_MAX);
        }
        if (!scalar_.empty()) {
            issue_scalar(now);
        }
    }

  private:
    void insert(std::vector<EntryId>& list, EntryId id);
    void issue_tmul(std::int64_t now);
    void issue_store(std::int64_t now);
    void issue_vector(std::int64_t now, std::uint64_t before);
    bool older_store_goes(const Entry& entry) const;
    void send_store(std::vector<EntryId>::iterator store, std::int64_t now);
    bool ports_free(const Entry& entry, std::int64_t now) const {
        return (entry.port0 == 0 || now >= port0_free_) && (entry.port5 == 0 || now >= port5_free_);
    }
    void issue_scalar(std::int64_t now);
    void take_ports(const Entry& entry, std::int64_t now);
    void switch_port5(bool open, std::int64_t now);
    const OpcodeTiming& timing_of(EntryId id) const;
    std::int64_t latency_of(EntryId id) const;
    void execute(EntryId id, std::int64_t now, std::int64_t latency);
    void execute_store(EntryId id, std::int64_t now, std::int64_t latency);

    const AmxConfig& config_;
    Scoreboard& window_;
    StoreBuffer& stores_;
    // Waiting with their operands there, in order of age.
    std::vector<EntryId> tmul_;
    std::vector<EntryId> store_;
    std::vector<EntryId> vector_;
    std::int64_t most_scalar_ = 0;
    std::vector<EntryId> scalar_;
    std::int64_t tmul_free_ = 0;
    std::int64_t product_ = 0;
    std::int64_t b_free_ =
        0;  // the multiplier has taken the B of its last product that brought one
    std::int64_t store_free_ = 0;
    std::int64_t port0_free_ = 0;
    std::int64_t port5_free_ = 0;
    std::int64_t bound0_ = 0;  // cycles of each port that wait in the window
    std::int64_t bound5_ = 0;
    bool port5_open_ = true;
    bool port5_next_ = false;      // whose turn it is
    std::int64_t since_tile_ = 0;  // AVX-512 instructions
    TmulUse tmul_use_ = TmulUse::Multiply;
};

}  // namespace tilesim::arch::amx::core
