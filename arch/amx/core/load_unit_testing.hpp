// A load unit behind a window, with what it asks: for tests of it.
#pragma once

#include <string>
#include <vector>

#include "arch/amx/core/load_unit.hpp"
#include "arch/amx/core/window_testing.hpp"

namespace tilesim::arch::amx::core {

// Pairwise different primes.
inline AmxConfig load_unit_sample() {
    AmxConfig config;
    config.access.tile_load_to_use = base::Cycles{31};
    config.access.nontemporal_line = base::Cycles{3};
    config.access.nontemporal_gap = base::Cycles{7};
    config.access.nontemporal_to_use = base::Cycles{13};
    config.access.tile_load_after_store = base::Cycles{19};
    config.access.forward_latency = base::Cycles{11};
    config.access.vector_load_to_use = base::Cycles{2};
    config.caches.l1_latency = base::Cycles{5};
    config.caches.l2_latency = base::Cycles{17};
    return config;
}

inline constexpr std::int64_t kCold = 0x100000;

// The first 16 KiB are in the L1; the L2 holds them too, and 16 KiB from kCold on.
struct LoadBench : Window {
    explicit LoadBench(const std::string& text, const AmxConfig& given = load_unit_sample())
        : Window(text, given) {
        for (caches::Line line = 0; line < 256; ++line) {
            caches.warm(line, caches::Level::L1, false);
            caches.warm(caches::line_at(kCold) + line, caches::Level::L2, false);
        }
    }
    // Everything enters in the cycle before the first, tiles of `rows`; cycles up to and including
    // `last`.
    void run(std::int64_t last, std::int64_t rows = 16) {
        while (!stream.finished()) {
            ids.push_back(enter(now - 1, 1, rows));
        }
        for (; now <= last; ++now) {
            step();
        }
    }
    void step() {
        arrivals.clear();
        caches.advance(now, arrivals);
        for (const caches::PrivateCaches::Arrival& arrival : arrivals) {
            if ((arrival.waiter & Translation::kWalks) != 0) {
                pages.arrive(arrival.waiter, now);
            } else {
                loads.arrive(arrival.waiter, now);
            }
        }
        stores.step(now, caches);
        for (EntryId id = window.pop_due(now); id != kNoEntry; id = window.at(id).next_in_slot) {
            if (program::info_of(window.at(id).instruction->opcode).unit == program::Unit::Load &&
                window.at(id).next_line < window.at(id).lines) {
                loads.start(id);
            }
        }
        loads.step(now);
    }
    std::int64_t result(std::size_t index) const { return window.at(ids[index]).result_at; }

    LoadUnit loads{config, window, caches, stores, pages};
    std::vector<EntryId> ids;
    std::vector<caches::PrivateCaches::Arrival> arrivals;
    std::int64_t now = 1;
};

}  // namespace tilesim::arch::amx::core
