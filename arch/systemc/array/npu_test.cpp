#include "arch/systemc/array/npu.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "arch/base/splitmix64.hpp"
#include "arch/npu/check/ready_program.hpp"
#include "arch/npu/control/channel_words.hpp"
#include "arch/npu/control/descriptor_words.hpp"
#include "arch/npu/control/register_map.hpp"
#include "arch/systemc/array/gemm_program_testing.hpp"
#include "arch/systemc/hierarchy_testing.hpp"
#include "arch/systemc/initiators_testing.hpp"
#include "arch/systemc/protocol_checker_testing.hpp"
#include "arch/systemc/reports_testing.hpp"

namespace tilesim::arch::systemc::array {
namespace {

using npu::program::Direction;
using npu::program::TileCoordinate;
using npu::program::TileKind;
using testing::HasSubstr;
using testing::StartsWith;
namespace control = npu::control;

constexpr TileCoordinate kShim{0, 0};
constexpr TileCoordinate kCore{0, 2};
constexpr std::int64_t kM = 32, kK = 64, kN = 32;     // the problem
constexpr std::int64_t kTm = 16, kTk = 32, kTn = 16;  // a core tile
constexpr std::int64_t kA = 0, kB = 0x10000, kC = 0x20000;

std::int8_t element(std::uint64_t seed, std::int64_t i) {
    return static_cast<std::int8_t>(base::splitmix64(seed + static_cast<std::uint64_t>(i)) % 11) -
           5;
}
std::int8_t a_of(std::int64_t m, std::int64_t k) {
    return element(1000, m * kK + k);
}
std::int8_t b_of(std::int64_t k, std::int64_t n) {
    return element(90'000, k * kN + n);
}

// Where an element of a 16 x 32 tile lies in the kernel's layout of 8 x 8 blocks.
std::int64_t blocked(std::int64_t row, std::int64_t column, std::int64_t columns) {
    return (row / 8 * (columns / 8) + column / 8) * 64 + row % 8 * 8 + column % 8;
}

// Tile by tile as the core takes them: A [m][k], B [n][k], its columns as rows.
std::vector<std::int8_t> packed_a() {
    std::vector<std::int8_t> packed(kM * kK);
    for (std::int64_t m = 0; m < kM; ++m) {
        for (std::int64_t k = 0; k < kK; ++k) {
            const std::int64_t tile = m / kTm * (kK / kTk) + k / kTk;
            packed[static_cast<std::size_t>(tile * kTm * kTk + blocked(m % kTm, k % kTk, kTk))] =
                a_of(m, k);
        }
    }
    return packed;
}
std::vector<std::int8_t> packed_b() {
    std::vector<std::int8_t> packed(kK * kN);
    for (std::int64_t n = 0; n < kN; ++n) {
        for (std::int64_t k = 0; k < kK; ++k) {
            const std::int64_t tile = n / kTn * (kK / kTk) + k / kTk;
            packed[static_cast<std::size_t>(tile * kTn * kTk + blocked(n % kTn, k % kTk, kTk))] =
                b_of(k, n);
        }
    }
    return packed;
}

// A driver: its socket to memory, its socket to the array's registers, and its interrupt.
struct Driver : sc_core::sc_module {
    SC_HAS_PROCESS(Driver);
    explicit Driver(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
        SC_THREAD(run);
    }
    tlm_utils::simple_initiator_socket<Driver> memory{"memory"};
    tlm_utils::simple_initiator_socket<Driver> registers{"registers"};
    sc_core::sc_in<bool> interrupt{"interrupt"};
    std::vector<std::int8_t> c = std::vector<std::int8_t>(kM * kN);
    bool done = false;
    std::uint32_t token = 0, idle_state = 0, busy_state = 0, go_before = 99, go_after = 99;

    void transfer(tlm_utils::simple_initiator_socket<Driver>& to, bool write, std::uint64_t address,
                  void* data, std::size_t bytes) {
        tlm::tlm_generic_payload payload;
        BlockingInitiator::prepare(payload, write, address, data, static_cast<unsigned>(bytes));
        sc_core::sc_time delay;
        to->b_transport(payload, delay);
        sc_core::wait(delay);
        ASSERT_EQ(payload.get_response_status(), tlm::TLM_OK_RESPONSE) << std::hex << address;
    }
    void set(TileCoordinate tile, std::int64_t offset, std::uint32_t value) {
        transfer(registers, true, control::join(tile, offset), &value, sizeof value);
    }
    std::uint32_t get(TileCoordinate tile, std::int64_t offset) {
        std::uint32_t value = 0;
        transfer(registers, false, control::join(tile, offset), &value, sizeof value);
        return value;
    }
    void start(Direction direction, std::int64_t channel, std::int64_t id, std::int64_t address,
               std::int64_t bytes, bool token_wanted) {
        control::RegisterDescriptor descriptor;
        descriptor.descriptor.length = bytes / 4;
        descriptor.address = address;
        auto words = control::encode_descriptor(TileKind::Shim, descriptor);
        transfer(registers, true,
                 control::join(kShim, control::descriptor_offset(TileKind::Shim, id)), words.data(),
                 words.size() * sizeof words[0]);
        set(kShim, control::queue_offset(TileKind::Shim, {direction, channel, true}),
            control::encode_task({id, 1, token_wanted}));
    }
    void run() {
        std::vector<std::int8_t> a = packed_a(), b = packed_b();
        transfer(memory, true, kA, a.data(), a.size());
        transfer(memory, true, kB, b.data(), b.size());
        const std::int64_t panel = kTm * kK, c_tile = kTm * kTn;
        idle_state = get(kShim, control::register_map_of(TileKind::Shim).mm2s_states);
        set(kCore, 4096, (kM / kTm) * (kN / kTn));  // parameter 0: C tiles
        go_before = get(kCore, control::register_map_of(TileKind::Core).locks + 6 * 16);
        set(kCore, control::register_map_of(TileKind::Core).locks + 6 * 16, 1);
        for (std::int64_t tile = 0; tile < 4; ++tile) {
            start(Direction::MM2S, 0, tile, kA + tile / 2 * panel, panel, false);
            start(Direction::MM2S, 1, 4 + tile, kB + tile % 2 * panel, panel, false);
            start(Direction::S2MM, 0, 8 + tile, kC + tile * c_tile, c_tile, tile == 3);
        }
        busy_state = get(kShim, control::register_map_of(TileKind::Shim).states);
        while (!interrupt.read()) {
            sc_core::wait(interrupt.value_changed_event());
        }
        transfer(registers, false, Npu::kTokenRegister, &token, sizeof token);
        go_after = get(kCore, control::register_map_of(TileKind::Core).locks + 6 * 16);
        transfer(memory, false, kC, c.data(), c.size());
        done = true;
    }
    void expect_product() const {
        for (std::int64_t m = 0; m < kM; ++m) {
            for (std::int64_t n = 0; n < kN; ++n) {
                std::int32_t sum = 0;
                for (std::int64_t k = 0; k < kK; ++k) {
                    sum += a_of(m, k) * b_of(k, n);
                }
                const std::int64_t tile = m / kTm * (kN / kTn) + n / kTn;
                const auto at =
                    static_cast<std::size_t>(tile * kTm * kTn + blocked(m % kTm, n % kTn, kTn));
                ASSERT_EQ(c[at], static_cast<std::int8_t>(sum)) << m << ", " << n;
            }
        }
    }
};

TEST(Npu, ADriverRunsAGemmThroughTheRegistersAndReadsItBack) {
    TimeLine line("line");
    dram::Dram dram("ddr", line, {});
    const npu::NpuConfig config = npu::shipped_config("xdna2");
    Npu npu("npu", dram, config, shipped_fabric("xdna2"), gemm_program(config), {.bytes = true});
    Driver driver("driver");
    sc_core::sc_signal<bool> interrupt("irq");
    const CheckedBinding at_memory(driver.memory, dram.socket),
        at_registers(driver.registers, npu.control);
    driver.interrupt.bind(interrupt);
    npu.interrupt.bind(interrupt);
    sc_core::sc_start();
    ASSERT_TRUE(driver.done);
    driver.expect_product();
    EXPECT_EQ(driver.token, Npu::encode_token({kShim, Direction::S2MM, 0}));
    EXPECT_EQ(driver.idle_state, 0U);
    EXPECT_NE(driver.busy_state & (1U << 19), 0U);  // running
    EXPECT_EQ(driver.go_before, 0U);
    EXPECT_EQ(driver.go_after, 0U);  // the core has taken it
    EXPECT_FALSE(interrupt.read());
}

// A memory written against TLM-2.0 alone: every access takes 60 ns, bytes are kept.
struct ForeignMemory : sc_core::sc_module {
    explicit ForeignMemory(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
        socket.register_b_transport(this, &ForeignMemory::b_transport);
    }
    tlm_utils::simple_target_socket<ForeignMemory> socket{"socket"};
    std::vector<unsigned char> bytes = std::vector<unsigned char>(1 << 18);

    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        unsigned char* at = bytes.data() + payload.get_address();
        if (payload.is_write()) {
            std::copy_n(payload.get_data_ptr(), payload.get_data_length(), at);
        } else {
            std::copy_n(at, payload.get_data_length(), payload.get_data_ptr());
        }
        delay += sc_core::sc_time(60, sc_core::SC_NS);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
};

// The driver's memory socket goes to the foreign memory as well.
TEST(Npu, RunsOverAForeignMemory) {
    TimeLine line("line");
    const npu::NpuConfig config = npu::shipped_config("xdna2");
    Npu npu("npu", line, config, shipped_fabric("xdna2"), gemm_program(config), {.bytes = true});
    Driver driver("driver");
    ForeignMemory memory("foreign");
    struct Tee : sc_core::sc_module {  // two initiators before one simple target
        explicit Tee(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
            in.register_b_transport(this, &Tee::b_transport);
        }
        tlm_utils::simple_target_socket<Tee> in{"in"};
        ForeignMemory* memory = nullptr;
        void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
            memory->b_transport(payload, delay);
        }
    } tee("tee");
    tee.memory = &memory;
    sc_core::sc_signal<bool> interrupt("irq");
    const CheckedBinding of_driver(driver.memory, tee.in),
        of_npu(npu.memory->socket, memory.socket), at_registers(driver.registers, npu.control);
    driver.interrupt.bind(interrupt);
    npu.interrupt.bind(interrupt);
    sc_core::sc_start();
    ASSERT_TRUE(driver.done);
    driver.expect_product();
    EXPECT_GT(of_npu.checker().requests, 30U);
}

// As a program that knows SystemC only lists it.
TEST(Npu, IsTheBlockDiagramOfTheArray) {
    TimeLine line("line");
    dram::Dram dram("ddr", line, {});
    const npu::NpuConfig config = npu::shipped_config("xdna2");
    const Npu npu("npu", dram, config, shipped_fabric("xdna2"), gemm_program(config));
    constexpr int kColumns = 8;  // XDNA2: rows of a shim, a memory tile and four core tiles each
    auto counts = kind_counts();
    EXPECT_EQ(counts["shim"], kColumns);
    EXPECT_EQ(counts["memory_tile"], kColumns);
    EXPECT_EQ(counts["core"], 2 * 4 * kColumns);  // the tile, and the core in it
    EXPECT_EQ(counts["lock_unit"], 6 * kColumns);
    EXPECT_EQ(counts["stream_switch"], 6 * kColumns);
    // Into and out of memory: two of a shim and of a core tile, six of a memory tile.
    EXPECT_EQ(counts["dma_channel"], 2 * (2 + 6 + 4 * 2) * kColumns);
    EXPECT_EQ(counts["command_processor"], 1);
    EXPECT_EQ(counts["sc_method_process"], 3);  // the time lines', an initiator's, the interrupt's
    const auto kinds = kinds_by_name();
    for (const auto& [name, kind] :
         std::map<std::string, std::string>{{"npu.tile_0_0.mm2s_1", "dma_channel"},
                                            {"npu.tile_0_1.s2mm_5", "dma_channel"},
                                            {"npu.tile_0_1.locks", "lock_unit"},
                                            {"npu.tile_3_2.core", "core"},
                                            {"npu.tile_3_2.stream_switch", "stream_switch"},
                                            {"npu.command_processor", "command_processor"}}) {
        ASSERT_TRUE(kinds.contains(name)) << name;
        EXPECT_EQ(kinds.at(name), kind) << name;
    }
}

TEST(Npu, WithoutAMemoryIsAnErrorThatNamesIt) {
    TimeLine line("line");
    const npu::NpuConfig config = npu::shipped_config("xdna2");
    const Npu npu("npu", line, config, shipped_fabric("xdna2"), gemm_program(config));
    EXPECT_THAT(error_of([] { sc_core::sc_start(); }), HasSubstr("npu.memory.socket"));
}

// Its words would reach the receiver at once, over no switch.
TEST(Npu, RefusesAProgramThatNobodyHasPrepared) {
    TimeLine line("line");
    dram::Dram dram("ddr", line, {});
    const npu::NpuConfig config = npu::shipped_config("xdna");
    auto document = base::config::Document::load(std::string{TILESIM_SOURCE_DIR} +
                                                 "/configs/programs/copy.yaml");
    auto root = document.root();
    const npu::program::Program raw = npu::program::read_program(root);
    EXPECT_THAT(
        error_of([&] { Npu("npu", dram, config, shipped_fabric("xdna"), raw); }),
        AllOf(StartsWith("npu: its program is not ready to run: "), HasSubstr("has no path")));
}

// It would be timed as if it lay at the memory's beginning.
TEST(Npu, WithoutAClockIsAnErrorThatNamesIt) {
    TimeLine line("line");
    npu::NpuConfig config = npu::shipped_config("xdna2");
    dram::Dram dram("ddr", line, {});
    const npu::program::Program program = gemm_program(config);
    config.clock = base::Hertz{0};
    EXPECT_EQ(error_of([&] { Npu("made", dram, config, shipped_fabric("xdna2"), program); }),
              "made: a clock of 0 Hz: must be at least 1");
}

TEST(Npu, RefusesAProgramBeyondItsMemory) {
    TimeLine line("line");
    const npu::NpuConfig config = npu::shipped_config("xdna2");
    dram::Dram dram("ddr", line, {});
    const std::int64_t capacity = dram.memory().config().capacity().count();
    const auto error_at = [&](const char* name, std::int64_t address) {
        npu::program::Program program = gemm_program(config);
        program.external_buffers = {{"operands", address, 4096}};
        return error_of([&] { Npu(name, dram, config, shipped_fabric("xdna2"), program); });
    };
    EXPECT_EQ(error_at("last", capacity - 4096), "no error");
    EXPECT_EQ(error_at("beyond", capacity - 4095),
              fmt::format("beyond: its program's DRAM buffer 'operands', 4096 B at {:#x}, lies "
                          "outside the memory's {} B",
                          capacity - 4095, capacity));
    EXPECT_THAT(error_at("before", -1), StartsWith("before: its program's DRAM buffer 'operands'"));
}

// A driver that writes registers only, on an array with the program of the others loaded.
struct RegisterWriter {
    explicit RegisterWriter(std::function<void(BlockingInitiator&)> body)
        : driver("driver", std::move(body)), binding(driver.socket, npu.control) {}
    TimeLine line{"line"};
    npu::NpuConfig config = npu::shipped_config("xdna2");
    dram::Dram dram{"ddr", line, {}};
    Npu npu{"npu", dram, config, shipped_fabric("xdna2"), gemm_program(config)};
    BlockingInitiator driver;
    CheckedBinding binding;
    Warnings warnings;
};

TEST(Npu, RefusesRegistersThatAreNoneInItsName) {
    RegisterWriter system([](BlockingInitiator& self) {
        EXPECT_EQ(self.write(control::join({0, 2}, 0x1F0F0), 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
        EXPECT_EQ(self.write(control::join({30, 2}, 0), 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
        EXPECT_EQ(self.write(control::join({1, 0}, 0x1D204), 0), tlm::TLM_ADDRESS_ERROR_RESPONSE);
        EXPECT_EQ(self.write(control::join({0, 2}, 0x3), 0), tlm::TLM_BURST_ERROR_RESPONSE);
        std::array<std::uint32_t, 2> words{};
        tlm::tlm_generic_payload payload;
        BlockingInitiator::prepare(payload, true, control::join({0, 0}, 0x1D000), words.data(), 8);
        payload.set_streaming_width(4);
        sc_core::sc_time delay;
        self.socket->b_transport(payload, delay);
        EXPECT_EQ(payload.get_response_status(), tlm::TLM_BURST_ERROR_RESPONSE);
        EXPECT_EQ(self.socket->transport_dbg(payload), 0U);
        EXPECT_EQ(payload.get_response_status(), tlm::TLM_COMMAND_ERROR_RESPONSE);
    });
    sc_core::sc_start();
    ASSERT_EQ(Warnings::texts().size(), 6U);
    EXPECT_THAT(Warnings::texts(), testing::Each(StartsWith("npu: ")));
    EXPECT_THAT(Warnings::texts()[0], HasSubstr("the program has no lock 15 in tile 0,2"));
    EXPECT_THAT(Warnings::texts()[1], HasSubstr("outside the array"));
    EXPECT_THAT(Warnings::texts()[4], HasSubstr("streaming width of 4"));
    EXPECT_THAT(Warnings::texts()[5], HasSubstr("a debug access only looks: a write of 8 B"));
}

// Two words of a descriptor, 5 us from now; there is no token yet.
TEST(Npu, AnAccessHappensAfterItsDelayAndCostsAWriteAWord) {
    RegisterWriter* bench = nullptr;
    RegisterWriter system([&bench](BlockingInitiator& self) {
        const sc_core::sc_time wait(5, sc_core::SC_US);
        std::array<std::uint32_t, 2> words{};
        tlm::tlm_generic_payload payload;
        BlockingInitiator::prepare(payload, true, control::join(kShim, 0x1D000), words.data(), 8);
        sc_core::sc_time delay = wait;
        const sc_core::sc_time before = sc_core::sc_time_stamp();
        self.socket->b_transport(payload, delay);
        EXPECT_EQ(payload.get_response_status(), tlm::TLM_OK_RESPONSE);
        EXPECT_EQ(sc_core::sc_time_stamp(), before + wait);
        const base::Femtoseconds cost = base::Clock{bench->config.clock}.time_of(
            bench->config.command_processor.write_cycles * 2);
        EXPECT_EQ(delay, sc_core::sc_time(static_cast<double>(cost.count()), sc_core::SC_FS));
        EXPECT_EQ(self.read(Npu::kTokenRegister), 0U);
    });
    bench = &system;
    sc_core::sc_start();
}

TEST(Npu, ATokenNamesItsChannel) {
    EXPECT_EQ(Npu::encode_token({{3, 2}, Direction::MM2S, 1}),
              1U << 31 | 3U << 16 | 2U << 8 | 1U << 7 | 1U);
    EXPECT_EQ(Npu::encode_token({{5, 0}, Direction::S2MM, 0}), 1U << 31 | 5U << 16);
}

// Bit 1 of its control register; what it waited for is forgotten.
TEST(Npu, AResetEmptiesAChannel) {
    RegisterWriter system([](BlockingInitiator& self) {
        const auto state = [&self] { return self.read(control::join(kCore, 0x1DF10)); };
        sc_core::wait(1, sc_core::SC_US);
        EXPECT_EQ(state(), 1U << 19 | 1U << 2);  // MM2S 0 has nothing to send yet
        EXPECT_EQ(self.write(control::join(kCore, 0x1DE10), 2), tlm::TLM_OK_RESPONSE);
        EXPECT_EQ(state(), 0U);
    });
    sc_core::sc_start();
    EXPECT_THAT(Warnings::texts(), testing::IsEmpty());
}

// A memory that takes requests and answers none.
struct MuteMemory final : sc_core::sc_module {
    explicit MuteMemory(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
        socket.register_nb_transport_fw(this, &MuteMemory::nb_transport_fw);
    }
    tlm_utils::simple_target_socket<MuteMemory> socket{"socket"};
    std::vector<tlm::tlm_generic_payload*> kept;
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time&) {
        payload.acquire();
        kept.push_back(&payload);
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
    }
};

TEST(Npu, SaysWhatItWaitsForWhereTheSimulationEndsFirst) {
    TimeLine line("line");
    const npu::NpuConfig config = npu::shipped_config("xdna");
    MuteMemory memory("mute");
    auto document = base::config::Document::load(std::string{TILESIM_SOURCE_DIR} +
                                                 "/configs/programs/copy.yaml");
    auto root = document.root();
    Npu npu("npu", line, config, shipped_fabric("xdna"),
            npu::check::prepare(npu::program::read_program(root), config).program());
    npu.memory->socket.bind(memory.socket);
    sc_core::sc_start();
    EXPECT_FALSE(npu.finished());
    EXPECT_THAT(npu.standstill(), HasSubstr("npu.tile(0,0).mm2s0 waits for"));
    EXPECT_THAT(error_of([&] { npu.cycles(); }), StartsWith("npu: has not finished"));
    EXPECT_THAT(error_of([&] { npu.finished_at(); }), StartsWith("npu: has not finished"));
    npu.finish_statistics();
}

// The chain of the third task: descriptor 5 leads to 6.
TEST(Npu, RefusesATaskWhoseDescriptorsNobodyHasWritten) {
    const auto write = [](BlockingInitiator& self, std::int64_t id,
                          std::optional<std::int64_t> next) {
        control::RegisterDescriptor descriptor;
        descriptor.descriptor.length = 64;
        descriptor.descriptor.next = next;
        auto words = control::encode_descriptor(TileKind::Shim, descriptor);
        self.access(true, control::join(kShim, 0x1D000 + 0x20 * id), words.data(),
                    static_cast<unsigned>(words.size() * sizeof words[0]));
    };
    const auto start = [](BlockingInitiator& self, std::int64_t id) {
        return self.write(control::join(kShim, 0x1D204), control::encode_task({id, 1, false}));
    };
    RegisterWriter system([&](BlockingInitiator& self) {
        EXPECT_EQ(start(self, 3), tlm::TLM_ADDRESS_ERROR_RESPONSE);
        write(self, 3, std::nullopt);
        EXPECT_EQ(start(self, 3), tlm::TLM_OK_RESPONSE);
        write(self, 5, 6);
        EXPECT_EQ(start(self, 5), tlm::TLM_ADDRESS_ERROR_RESPONSE);
        write(self, 6, 5);
        EXPECT_EQ(start(self, 5), tlm::TLM_OK_RESPONSE);
    });
    sc_core::sc_start();
    ASSERT_EQ(Warnings::texts().size(), 2U);
    EXPECT_THAT(Warnings::texts()[0],
                AllOf(StartsWith("npu: "), HasSubstr("starts descriptor 3, which nobody has")));
    EXPECT_THAT(Warnings::texts()[1], HasSubstr("leads to descriptor 6, which nobody has written"));
}

}  // namespace
}  // namespace tilesim::arch::systemc::array
