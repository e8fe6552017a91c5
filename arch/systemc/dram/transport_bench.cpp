// What a request to the DRAM costs the host, by the way it comes: called directly, over
// nb_transport with annotated times, over b_transport from 64 threads. Equal streams, in turns.
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "arch/base/splitmix64.hpp"
#include "arch/systemc/dram/dram.hpp"
#include "arch/systemc/dram/stream.hpp"
#include "arch/systemc/initiators_testing.hpp"
#include "arch/systemc/measurement_testing.hpp"

namespace tilesim::arch::systemc::dram {
namespace {

constexpr int kRequests = 1'000'000;
constexpr int kOutstanding = 64;

std::uint64_t address_of(bool random, int i) {
    const auto n = static_cast<std::uint64_t>(i);
    return random ? base::splitmix64(n) % (1 << 24) * 64 : n * 64;
}

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
    Annotating(const sc_core::sc_module_name& name, bool is_random)
        : sc_core::sc_module(name), random(is_random) {
        socket.register_nb_transport_bw(this, &Annotating::nb_transport_bw);
        SC_HAS_PROCESS(Annotating);
        SC_METHOD(begin);
    }
    tlm_utils::simple_initiator_socket<Annotating> socket{"socket"};
    bool random;
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
        BlockingInitiator::prepare(payload, false, address_of(random, sent++), data, sizeof data);
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

double non_blocking(bool random) {
    TimeLine line("line");
    Dram dram("ddr", line, {}, {.outstanding = 2 * kOutstanding, .bytes = false});
    Annotating agent("agent", random);
    agent.socket.bind(dram.socket);
    return run_and_measure();
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
                    BlockingInitiator::prepare(payload, false, address_of(random, sent++), data,
                                               sizeof data);
                    self.socket->b_transport(payload, delay);
                }
            }));
        threads.back()->socket.bind(dram.socket);
    }
    return run_and_measure();
}

void report(benchmark::State& state, double (*measure)(bool), bool random) {
    for (auto _ : state) {
        state.SetIterationTime(in_child([&] { return measure(random); }));
    }
    state.SetItemsProcessed(state.iterations() * kRequests);
}

BENCHMARK_CAPTURE(report, direct_sequential, direct, false)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(report, nb_sequential, non_blocking, false)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(report, b_64_threads_sequential, blocking, false)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(report, direct_random, direct, true)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(report, nb_random, non_blocking, true)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(report, b_64_threads_random, blocking, true)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tilesim::arch::systemc::dram
