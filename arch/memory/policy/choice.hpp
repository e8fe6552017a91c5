// What a scheduler answers: a command, its bank and the first CK in which it can go.
//
// A scheduler is a class with these members, known to the channel at compile time:
//   kName                       its name in a configuration
//   kKeys                       the keys that it alone reads, where there are some
//   overtakes(lane)             whether a row hit may go before an older burst of its bank
//   choose(bursts, timing, now) the command to issue next, not before `now`: the earliest there is
// and, told of what has happened so that it can keep its plans:
//   on_turn()                   the direction has changed, or banks are kept for a refresh
//   on_step(...)                what a bank would do next has changed
//   on_precharge(bank, ...)     a PRE has gone to a bank
//   on_refresh()                a REF has gone
//   on_passive_column()         a RD or WR of the direction not being served has gone
#pragma once

#include <cstdint>

#include "arch/memory/device/command_timing.hpp"
#include "arch/memory/policy/rank.hpp"

namespace tilesim::arch::memory::policy {

struct Choice {
    device::Command command = device::Command::Activate;
    Rank rank;

    // Earlier than any command can be asked for: has to be found anew.
    void drop() { rank.when = INT64_MIN; }
    void consider(const Choice& other) {
        if (other.rank.before(rank)) {
            *this = other;
        }
    }
};

// A bank's burst to be served next, after that has changed.
struct Step {
    std::size_t bank = 0;
    Age age;
    bool waits = false;    // there is one
    bool was_hit = false;  // the next step was a column command
    bool is_hit = false;   // and is one
    bool active = false;   // of the direction being served
};

inline device::Command column_command(bool write) {
    return write ? device::Command::Write : device::Command::Read;
}

}  // namespace tilesim::arch::memory::policy
