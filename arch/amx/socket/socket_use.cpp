#include "arch/amx/socket/socket_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "arch/base/limit.hpp"

namespace tilesim::arch::amx::socket {

namespace {

using program::Opcode;
using program::Unit;

class SocketUse {
  public:
    SocketUse(const AmxConfig& config, const std::vector<program::Program>& programs,
              const Socket& socket)
        : config_(config), programs_(programs), socket_(socket) {}

    std::vector<std::string> unused() {
        name_tiles();
        name_instructions();
        name_accesses();
        name_window();
        name_caches();
        name_capacities();
        name_pages();
        name_uncore();
        name_if(socket_.simulated() == socket_.cores(),
                {"amx.simulated_cores", "amx.simulated_instructions"});
        return std::move(names_);
    }

  private:
    template <class Holds>
    bool any(Holds holds) const {
        const auto has = [&holds](const program::Program& program) {
            return std::any_of(program.statements.begin(), program.statements.end(),
                               [&holds](const program::Statement& statement) {
                                   return statement.kind == program::Statement::Kind::Instruction &&
                                          holds(statement.instruction.opcode);
                               });
        };
        return std::any_of(programs_.begin(), programs_.end(), has);
    }
    bool has(Opcode opcode) const {
        return any([opcode](Opcode other) { return other == opcode; });
    }
    template <class Count>
    bool some(Count count) const {
        for (std::size_t i = 0; i < socket_.cores(); ++i) {
            if (count(socket_.core(i)) > 0) {
                return true;
            }
        }
        return false;
    }
    void name_if(bool unused, std::initializer_list<const char*> keys) {
        if (unused) {
            names_.insert(names_.end(), keys.begin(), keys.end());
        }
    }

    // Of a product under any configuration its program sets.
    std::int64_t fewest_rows() const {
        int fewest = program::kMaxRows;
        for (const program::Program& program : programs_) {
            for (const program::Statement& statement : program.statements) {
                if (statement.kind != program::Statement::Kind::Instruction ||
                    !program::is_dot(statement.instruction.opcode)) {
                    continue;
                }
                const auto c = static_cast<std::size_t>(statement.instruction.destination);
                for (const auto& shapes : program.configs) {
                    fewest = shapes[c].rows > 0 ? std::min(fewest, shapes[c].rows) : fewest;
                }
            }
        }
        return fewest;
    }

    void name_tiles() {
        name_if(!any(program::is_dot), {"amx.tiles.dot_latency"});
        const std::int64_t fewest = fewest_rows();
        name_if(fewest == program::kMaxRows, {"amx.tiles.dot_row_percent"});
        name_if(config_.tiles.dot_cycles(fewest) > config_.tiles.dot_least.count(),
                {"amx.tiles.dot_least"});
        name_if(!has(Opcode::Tilezero), {"amx.tiles.zero_latency"});
        name_if(!has(Opcode::Ldtilecfg), {"amx.tiles.load_config"});
        name_if(!has(Opcode::Sttilecfg), {"amx.tiles.store_config"});
        name_if(!has(Opcode::Tilerelease), {"amx.tiles.release"});
    }

    void name_instructions() {
        bool vectors = false;
        for (std::size_t i = 0; i < program::kOpcodes; ++i) {
            const auto opcode = static_cast<Opcode>(i);
            if (!has_timing(opcode)) {
                continue;
            }
            vectors = vectors || has(opcode);
            name_timing(opcode);
        }
        name_if(!vectors, {"amx.vector.port5_opens", "amx.vector.port5_switch"});
    }

    void name_timing(Opcode opcode) {
        const OpcodeTiming& timing = config_.instructions[static_cast<std::size_t>(opcode)];
        const bool port5_alone =
            timing.port0 == 0 && (timing.either == 0 || config_.vector.second_port);
        for (const std::string_view key :
             {"latency", "port5_latency", "uops", "port0", "port5", "either"}) {
            if (!has(opcode) || (key == "port5_latency" && !port5_alone)) {
                names_.push_back(
                    fmt::format("amx.instructions.{}.{}", program::info_of(opcode).mnemonic, key));
            }
        }
    }

    void name_accesses() {
        const bool tile_loads = any(program::is_tile_load);
        const bool vector_loads = any([](Opcode opcode) {
            return program::info_of(opcode).unit == Unit::Load && !program::is_tile_load(opcode) &&
                   !program::is_prefetch(opcode);
        });
        const bool stores = any(program::is_store);
        name_if(!any(program::is_prefetch), {"amx.access.prefetch_port"});
        name_if(!has(Opcode::Tileloadd), {"amx.access.tile_load_to_use"});
        name_if(!tile_loads, {"amx.access.tile_load_uops"});
        name_if(!has(Opcode::Tileloaddt1),
                {"amx.access.nontemporal_line", "amx.access.nontemporal_gap",
                 "amx.access.nontemporal_to_use"});
        name_if(!has(Opcode::Tilestored), {"amx.access.tile_store_uops"});
        name_if(!tile_loads || !stores, {"amx.access.tile_load_after_store"});
        name_if(!vector_loads || !stores, {"amx.access.forward_latency"});
        name_if(!vector_loads, {"amx.access.vector_load_to_use"});
        const bool misses =
            some([](const core::Core& core) { return core.caches().counters().l1_misses; });
        name_if(!vector_loads || !misses, {"amx.access.replay_percent"});
        name_if(!has(Opcode::Vmovntps),
                {"amx.caches.streaming_stores", "amx.caches.streaming_store"});
    }

    // The most any core has come to.
    template <class Count>
    std::int64_t most(Count count) const {
        std::int64_t found = 0;
        for (std::size_t i = 0; i < socket_.cores(); ++i) {
            found = std::max<std::int64_t>(found, count(socket_.core(i)));
        }
        return found;
    }
    // A limit that no core has come near to.
    template <class Count>
    void spare(const char* key, std::int64_t limit, Count count) {
        name_if(base::spares(limit, most(count)), {key});
    }

    void name_window() {
        const WindowConfig& window = config_.window;
        spare("amx.window.reorder_buffer", window.reorder_buffer,
              [](const core::Core& core) { return core.window_peaks().uops; });
        spare("amx.window.scheduler", window.scheduler,
              [](const core::Core& core) { return core.window_peaks().waiting; });
        spare("amx.window.memory_scheduler", window.memory_scheduler,
              [](const core::Core& core) { return core.window_peaks().memory_waiting; });
        spare("amx.window.load_queue", window.load_queue,
              [](const core::Core& core) { return core.window_peaks().loads; });
        spare("amx.vector.scalar_ports", config_.vector.scalar_ports,
              [](const core::Core& core) { return core.most_scalar(); });
    }

    // Tables in which every line and page found room, and rows of misses that never grew long.
    void name_capacities() {
        const auto roomy = [this](auto cache) {
            return !some([&cache](const core::Core& core) { return cache(core).tight() ? 1 : 0; });
        };
        name_if(roomy([](const core::Core& core) -> auto& { return core.caches().l1(); }),
                {"amx.caches.l1.size", "amx.caches.l1.ways", "amx.caches.l1.random_percent"});
        name_if(roomy([](const core::Core& core) -> auto& { return core.caches().l2(); }),
                {"amx.caches.l2.size", "amx.caches.l2.ways", "amx.caches.l2.random_percent"});
        name_if(!socket_.uncore().l3().tight(),
                {"amx.uncore.l3.size", "amx.uncore.l3.ways", "amx.uncore.l3.random_percent"});
        name_if(
            roomy([](const core::Core& core) -> auto& { return core.pages().first(); }),
            {"amx.pages.first.entries", "amx.pages.first.ways", "amx.pages.first.random_percent"});
        name_if(roomy([](const core::Core& core) -> auto& { return core.pages().second(); }),
                {"amx.pages.second.entries", "amx.pages.second.ways",
                 "amx.pages.second.random_percent"});
        name_if(socket_.uncore().counters().unused_victims == 0, {"amx.uncore.clean_percent"});
        const auto misses = [](const core::Core& core) {
            return core.caches().counters().most_misses;
        };
        spare("amx.caches.l2_outstanding", config_.caches.l2_outstanding, misses);
        const auto ascended = [](const core::Core& core) {
            return core.caches().streams().most_ascended();
        };
        const std::int64_t wakes = config_.caches.l2_streamer_wakes;
        name_if(most(ascended) <= wakes, {"amx.caches.l2_streamer"});
        spare("amx.caches.l2_streamer_wakes", wakes + 1, ascended);
    }

    void name_caches() {
        const auto counts = [this](auto member) {
            return some(
                [member](const core::Core& core) { return core.caches().counters().*member; });
        };
        using caches::CacheCounters;
        name_if(!counts(&CacheCounters::l1_hits), {"amx.caches.l1_latency"});
        // A prefetch into the L2 waits for its answer, whatever that is.
        name_if(!counts(&CacheCounters::l2_hits) && !has(Opcode::Prefetcht1) &&
                    !has(Opcode::Prefetcht2),
                {"amx.caches.l2_latency"});
        name_if(!counts(&CacheCounters::fills),
                {"amx.caches.fill_width", "amx.caches.half_percent", "amx.caches.quarter_percent",
                 "amx.caches.half_backlog", "amx.caches.quarter_backlog", "amx.caches.read_percent",
                 "amx.caches.fill_percent"});
        name_if(!counts(&CacheCounters::write_backs),
                {"amx.caches.write_percent", "amx.caches.write_half_percent"});
    }

    void name_pages() {
        name_if(!some([](const core::Core& core) { return core.pages().misses(); }),
                {"amx.pages.second_latency", "amx.pages.second.entries", "amx.pages.second.ways",
                 "amx.pages.second.random_percent"});
        const bool walks = some([](const core::Core& core) { return core.pages().walks(); });
        name_if(!walks, {"amx.pages.walk"});
        // Their tables lie in the L2, where they take room from others.
        const bool tight =
            some([](const core::Core& core) { return core.caches().l2().tight() ? 1 : 0; });
        name_if(!walks && !tight, {"amx.pages.walk_loads"});
        name_if(!some([](const core::Core& core) { return core.pages().queued(); }),
                {"amx.pages.walkers"});
    }

    void name_uncore() {
        const UncoreCounters& uncore = socket_.uncore().counters();
        // Cores run in slices no longer than an answer takes: it shows even where nobody asks.
        name_if(uncore.requests == 0, {"amx.uncore.port_width", "amx.uncore.clock"});
        name_if(!socket_.uncore().snoop_filter().has_forgotten(), {"amx.uncore.snoop_filter"});
        name_if(uncore.memory_reads + uncore.memory_writes == 0, {"amx.uncore.to_memory"});
        name_if(uncore.from_cores == 0 && socket_.barriers() == 0, {"amx.uncore.from_core"});
        name_if(uncore.kept_waiting == 0,
                {"amx.uncore.slices", "amx.uncore.mesh_columns", "amx.uncore.link_width"});
    }

    const AmxConfig& config_;
    const std::vector<program::Program>& programs_;
    const Socket& socket_;
    std::vector<std::string> names_;
};

}  // namespace

std::vector<std::string> not_exercised(const AmxConfig& config,
                                       const std::vector<program::Program>& programs,
                                       const Socket& socket) {
    return SocketUse(config, programs, socket).unused();
}

}  // namespace tilesim::arch::amx::socket
