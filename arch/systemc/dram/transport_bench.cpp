// What a request to the DRAM costs the host, by the way it comes: called directly, over
// nb_transport with annotated times, over b_transport from 64 threads. Equal streams, in turns.
#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/base/splitmix64.hpp"
#include "arch/memory/controller/memory_config_reader.hpp"
#include "arch/systemc/dram/dram.hpp"
#include "arch/systemc/dram/stream.hpp"
#include "arch/systemc/initiators_testing.hpp"
#include "arch/systemc/measurement_testing.hpp"

namespace tilesim::arch::systemc::dram {
namespace {

constexpr int kRequests = 1'000'000;
constexpr int kOutstanding = 64;

// Addresses and kinds of requests, each of a granule.
struct Load {
    bool random = false;
    unsigned writes_in_ten = 0;
    unsigned granule = 64;
    std::uint64_t range = std::uint64_t{1} << 30;

    std::uint64_t address(int i) const {
        const auto n = static_cast<std::uint64_t>(i);
        return (random ? base::splitmix64(n) : n) % (range / granule) * granule;
    }
    bool write(int i) const {
        constexpr std::uint64_t kOther = std::uint64_t{1} << 32;
        return base::splitmix64(static_cast<std::uint64_t>(i) + kOther) % 10 < writes_in_ten;
    }
};

double direct(bool random) {
    memory::traffic::StreamConfig stream;
    stream.pattern = random ? memory::traffic::StreamConfig::Pattern::Random
                            : memory::traffic::StreamConfig::Pattern::Sequential;
    stream.requests = kRequests;
    stream.outstanding = kOutstanding;
    const memory::device::MemoryConfig config;
    base::EventQueue queue;
    base::stats::Group root("");
    memory::controller::MemorySystem memory(config, memory::traffic::StreamDriver::latency(config),
                                            queue, root);
    memory::traffic::StreamDriver driver(stream, memory);
    const double before = processor_seconds();
    driver.start();
    while (!driver.finished()) {
        queue.run_until(queue.next_time());
    }
    return processor_seconds() - before;
}

// Takes answers at the time that is annotated, and asks anew from there.
struct Annotating final : sc_core::sc_module, tlm::tlm_mm_interface {
    Annotating(const sc_core::sc_module_name& name, const Load& own)
        : sc_core::sc_module(name), load(own) {
        socket.register_nb_transport_bw(this, &Annotating::nb_transport_bw);
        SC_HAS_PROCESS(Annotating);
        SC_METHOD(begin);
    }
    tlm_utils::simple_initiator_socket<Annotating> socket{"socket"};
    Load load;
    int sent = 0;
    std::vector<std::unique_ptr<tlm::tlm_generic_payload>> payloads;
    unsigned char data[64];

    void begin() {
        for (int i = 0; i < kOutstanding; ++i) {
            payloads.push_back(std::make_unique<tlm::tlm_generic_payload>(this));
            payloads.back()->acquire();
            send(*payloads.back(), sc_core::SC_ZERO_TIME);
        }
    }
    void send(tlm::tlm_generic_payload& payload, sc_core::sc_time delay) {
        BlockingInitiator::prepare(payload, load.write(sent), load.address(sent), data,
                                   load.granule);
        ++sent;
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        socket->nb_transport_fw(payload, phase, delay);
    }
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) {
        if (sent < kRequests && phase == tlm::BEGIN_RESP) {
            // This payload is still the target's: another one goes.
            spare.push_back(&payload);
            if (spare.size() > 1) {
                tlm::tlm_generic_payload& next = *spare.front();
                spare.erase(spare.begin());
                send(next, delay);
            } else {
                payloads.push_back(std::make_unique<tlm::tlm_generic_payload>(this));
                payloads.back()->acquire();
                send(*payloads.back(), delay);
            }
        }
        phase = tlm::END_RESP;
        return tlm::TLM_COMPLETED;
    }
    std::vector<tlm::tlm_generic_payload*> spare;
    void free(tlm::tlm_generic_payload*) override {}
};

double non_blocking(const memory::device::MemoryConfig& config, const Load& load) {
    TimeLine line("line");
    Dram dram("ddr", line, config, {.outstanding = 2 * kOutstanding, .bytes = false});
    Annotating agent("agent", load);
    agent.socket.bind(dram.socket);
    return run_and_measure();
}

double non_blocking(bool random) {
    return non_blocking({}, {.random = random});
}

// One channel of LPDDR4-3200, its burst a request: as established simulators are measured.
double lpddr4(bool random, unsigned writes_in_ten) {
    auto document =
        base::config::Document::load(TILESIM_SOURCE_DIR "/configs/devices/lpddr4_3200.yaml");
    const auto config = memory::controller::read_memory_config(document.root().child("memory", ""));
    return non_blocking(config, {random, writes_in_ten, 32, 1 << 29});
}
double lpddr4_sequential() {
    return lpddr4(false, 0);
}
double lpddr4_random() {
    return lpddr4(true, 0);
}
double lpddr4_sequential_with_writes() {
    return lpddr4(false, 3);
}

double blocking(bool random) {
    TimeLine line("line");
    Dram dram("ddr", line, {}, {.bytes = false});
    std::vector<std::unique_ptr<BlockingInitiator>> threads;
    int sent = 0;
    for (int i = 0; i < kOutstanding; ++i) {
        threads.push_back(std::make_unique<BlockingInitiator>(
            sc_core::sc_gen_unique_name("thread"), [&](BlockingInitiator& self) {
                unsigned char data[64];
                tlm::tlm_generic_payload payload;
                sc_core::sc_time delay;
                while (sent < kRequests) {
                    BlockingInitiator::prepare(payload, false, Load{random}.address(sent++), data,
                                               sizeof data);
                    self.socket->b_transport(payload, delay);
                }
            }));
        threads.back()->socket.bind(dram.socket);
    }
    return run_and_measure();
}

void report(benchmark::State& state, const std::function<double()>& measure) {
    for (auto _ : state) {
        state.SetIterationTime(in_child(measure));
    }
    state.SetItemsProcessed(state.iterations() * kRequests);
}

// In turns: what else the machine does meets all of them.
bool register_in_turns() {
    const std::pair<const char*, std::function<double()>> cases[] = {
        {"direct_sequential", [] { return direct(false); }},
        {"nb_sequential", [] { return non_blocking(false); }},
        {"b_64_threads_sequential", [] { return blocking(false); }},
        {"direct_random", [] { return direct(true); }},
        {"nb_random", [] { return non_blocking(true); }},
        {"b_64_threads_random", [] { return blocking(true); }},
        {"nb_lpddr4_sequential", lpddr4_sequential},
        {"nb_lpddr4_random", lpddr4_random},
        {"nb_lpddr4_sequential_30_%_writes", lpddr4_sequential_with_writes}};
    constexpr int kTurns = 5;
    for (int turn = 0; turn < kTurns; ++turn) {
        for (const auto& [name, measure] : cases) {
            benchmark::RegisterBenchmark(name, report, measure)
                ->UseManualTime()
                ->Iterations(1)
                ->Unit(benchmark::kMillisecond);
        }
    }
    return true;
}

const bool kRegistered = register_in_turns();

}  // namespace
}  // namespace tilesim::arch::systemc::dram
