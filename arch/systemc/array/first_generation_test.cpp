// A driver of a first-generation array: Versal, by the register map of AIE1.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "arch/base/splitmix64.hpp"
#include "arch/npu/control/descriptor_words.hpp"
#include "arch/npu/control/register_map.hpp"
#include "arch/npu/program/program_reader.hpp"
#include "arch/systemc/array/gemm_program_testing.hpp"
#include "arch/systemc/array/npu.hpp"
#include "arch/systemc/initiators_testing.hpp"
#include "arch/systemc/protocol_checker_testing.hpp"
#include "arch/systemc/reports_testing.hpp"

namespace tilesim::arch::systemc::array {
namespace {

using npu::control::Generation;
using npu::control::LockRequest;
using npu::program::BufferDescriptor;
using npu::program::Direction;
using npu::program::LockAction;
using npu::program::TileCoordinate;
using npu::program::TileKind;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
namespace registers = npu::control;

// What is loaded: routes, buffers, locks and what the core computes. C (16 x 4) += A (16 x 64)
// times B (64 x 4), int16, where A comes from programmable logic and C on the core's other stream;
// two panels of B, two blocks of A for each. All descriptors, starts and lock states are the
// driver's.
constexpr const char* kLoaded = R"(
program: versal_driver
external_buffers:
  - {name: A, address: 0, bytes: 4096}
locks:
  - {name: b_0, tile: [2, 1], id: 0, initial: 0}
  - {name: b_1, tile: [2, 1], id: 1, initial: 0}
  - {name: go, tile: [2, 1], id: 2, initial: 0}
  - {name: c_start, tile: [2, 1], id: 3, initial: 0}
  - {name: c_done, tile: [2, 0], id: 7, initial: 0}
buffers:
  - {name: panel_0, tile: [2, 1], address: 4096, bytes: 512}
  - {name: panel_1, tile: [2, 1], address: 8192, bytes: 512}
  - {name: start, tile: [2, 1], address: 16384, bytes: 16}
routes:
  - {name: b, from: {tile: [2, 0], channel: mm2s0}, to: [{tile: [2, 1], channel: s2mm0}]}
  - {name: c_in, from: {tile: [2, 1], channel: mm2s0}, to: [{tile: [2, 1], channel: core_in1}]}
  - {name: c_out, from: {tile: [2, 1], channel: core_out0}, to: [{tile: [2, 0], channel: s2mm0}]}
logic_streams:
  - {name: a, tile: [2, 1], buffer: A, passes: [{bytes: 4096, repeat: 2}]}
kernels:
  - {name: block, kind: stream, m: 16, k: 64, n: 4, a: int16, b: int16, c: int16, b_layout: row_major}
cores:
  - tile: [2, 1]
    rotations:
      - {name: panel_0, buffers: [panel_0]}
      - {name: panel_1, buffers: [panel_1]}
    script:
      - acquire: {lock: go, value: 1}
      - acquire: {lock: b_0, value: 1}
      - loop: {count: 2}
        body:
          - call: {kernel: block, operands: [panel_0]}
      - release: {lock: b_0, value: 0}
      - acquire: {lock: b_1, value: 1}
      - loop: {count: 2}
        body:
          - call: {kernel: block, operands: [panel_1]}
      - release: {lock: b_1, value: 0}
      - release: {lock: go, value: 0}
)";

npu::program::Program versal_program(const npu::NpuConfig& config) {
    auto document = base::config::Document::parse(kLoaded, "versal_driver.yaml");
    auto root = document.root();
    npu::program::Program program = npu::program::read_program(root);
    root.done();
    document.finish();
    return prepare_for_driver(std::move(program), config);
}

constexpr TileCoordinate kVersalShim{2, 0}, kVersalCore{2, 1};
constexpr std::int64_t kLockGo = 2, kLockStart = 3, kLockDone = 7;
constexpr std::int64_t kRows = 32, kDepth = 64, kVersalColumns = 8;  // the problem
constexpr std::int64_t kBlockRows = 16, kPanelColumns = 4;           // a call of the kernel
constexpr std::int64_t kBlocks = kRows / kBlockRows, kPanels = kVersalColumns / kPanelColumns;
constexpr std::int64_t kInA = 0x0, kInB = 0x1'0000, kOutC = 0x2'0000;  // in DRAM
constexpr std::int64_t kBWords = kDepth * kPanelColumns / 2,
                       kCWords = kBlockRows * kPanelColumns / 2;
// What C begins with: four words again and again.
constexpr std::array<std::uint32_t, 4> kStart{0x0001'0002, 0xFFF0'0100, 0x0030'0000, 0x7FFF'0005};

std::int16_t versal_element(std::uint64_t seed, std::int64_t i) {
    return static_cast<std::int16_t>(base::splitmix64(seed + static_cast<std::uint64_t>(i)) % 401) -
           200;
}
std::int16_t versal_a(std::int64_t m, std::int64_t k) {
    return versal_element(5, m * kDepth + k);
}
std::int16_t versal_b(std::int64_t k, std::int64_t n) {
    return versal_element(70'000, k * kVersalColumns + n);
}

std::uint64_t at(TileCoordinate tile, std::int64_t offset) {
    return registers::join(tile, offset, Generation::First);
}
std::uint64_t lock_at(TileCoordinate tile, const LockRequest& request) {
    const TileKind kind = tile.row == 0 ? TileKind::Shim : TileKind::Core;
    return at(tile, registers::request_offset(kind, request));
}
std::uint64_t states_at(TileCoordinate tile, Direction direction) {
    const auto& map = registers::register_map_of(tile.row == 0 ? TileKind::Shim : TileKind::Core,
                                                 Generation::First);
    return at(tile, direction == Direction::MM2S ? map.mm2s_states : map.states);
}
std::uint64_t channel_at(TileCoordinate tile, Direction direction, std::int64_t channel,
                         bool queue) {
    const TileKind kind = tile.row == 0 ? TileKind::Shim : TileKind::Core;
    return at(tile, registers::queue_offset(kind, {direction, channel, queue}, Generation::First));
}

// Operands and the product in DRAM, and a driver on an array with the program loaded.
struct Versal {
    explicit Versal(std::function<void(Versal&)> body)
        : driver("driver",
                 [this, body = std::move(body)](BlockingInitiator&) {
                     body(*this);
                     done = true;
                 }),
          binding(driver.socket, npu.control) {}
    TimeLine line{"line"};
    npu::NpuConfig config = npu::shipped_config("vck190");
    dram::Dram dram{"ddr", line, {}};
    Npu npu{"npu", dram, config, shipped_fabric("vck190"), versal_program(config), {.bytes = true}};
    BlockingInitiator driver;
    CheckedBinding binding;
    Warnings warnings;
    bool done = false;

    std::uint32_t read(std::uint64_t address) { return driver.read(address); }
    void write(std::uint64_t address, std::uint32_t value) {
        ASSERT_EQ(driver.write(address, value), tlm::TLM_OK_RESPONSE) << std::hex << address;
    }
    tlm::tlm_response_status describe(TileCoordinate tile, std::int64_t id,
                                      const BufferDescriptor& descriptor, std::int64_t address,
                                      std::uint32_t extra = 0) {
        const TileKind kind = tile.row == 0 ? TileKind::Shim : TileKind::Core;
        auto words = registers::encode_descriptor(kind, {descriptor, address}, Generation::First);
        words.back() ^= extra;
        return driver.access(true,
                             at(tile, registers::descriptor_offset(kind, id, Generation::First)),
                             words.data(), static_cast<unsigned>(words.size() * sizeof words[0]));
    }
    void enable(TileCoordinate tile, Direction direction, std::int64_t channel) {
        write(channel_at(tile, direction, channel, false), 1);
    }
    void push(TileCoordinate tile, Direction direction, std::int64_t channel, std::int64_t id) {
        write(channel_at(tile, direction, channel, true), static_cast<std::uint32_t>(id));
    }
    void store(std::int64_t address, std::span<const std::int16_t> values) {
        dram.bytes().write(address, std::as_bytes(values));
    }
};

void put_operands(Versal& system) {
    std::vector<std::int16_t> a, b;
    for (std::int64_t m = 0; m < kRows; m += kBlockRows) {
        for (std::int64_t k = 0; k < kDepth; ++k) {  // column by column
            for (std::int64_t i = 0; i < kBlockRows; ++i) {
                a.push_back(versal_a(m + i, k));
            }
        }
    }
    // Two columns of B at a time: the core's descriptor turns them into rows of four.
    for (std::int64_t n = 0; n < kVersalColumns; n += 2) {
        for (std::int64_t k = 0; k < kDepth; ++k) {
            b.push_back(versal_b(k, n));
            b.push_back(versal_b(k, n + 1));
        }
    }
    system.store(kInA, a);
    system.store(kInB, b);
}

void expect_product(Versal& system) {
    std::vector<std::int16_t> c(kRows * kVersalColumns);
    system.dram.bytes().read(kOutC, std::as_writable_bytes(std::span{c}));
    std::size_t place = 0;
    for (std::int64_t panel = 0; panel < kPanels; ++panel) {
        for (std::int64_t block = 0; block < kBlocks; ++block) {
            for (std::int64_t i = 0; i < kBlockRows * kPanelColumns; ++i) {  // column by column
                const std::int64_t m = block * kBlockRows + i % kBlockRows;
                const std::int64_t n = panel * kPanelColumns + i / kBlockRows;
                std::int32_t sum = static_cast<std::int16_t>(
                    kStart[static_cast<std::size_t>(i / 2 % 4)] >> (i % 2 * 16));
                for (std::int64_t k = 0; k < kDepth; ++k) {
                    sum += versal_a(m, k) * versal_b(k, n);
                }
                ASSERT_EQ(c[place++], static_cast<std::int16_t>(sum)) << m << ", " << n;
            }
        }
    }
}

// The core's channels: B into two buffers in turn, each handed over by a lock of its own; what C
// begins with, once `c_start` lets it.
void describe_core(Versal& system) {
    BufferDescriptor b;
    b.length = kBWords;
    b.dimensions = {{kDepth, 2}, {2, 1}};
    b.acquire = LockAction{0, 0};
    b.release = LockAction{0, 1};
    b.alternate = npu::program::Alternate{0, 8192, LockAction{1, 0}, LockAction{1, 1}};
    b.next = 5;  // itself
    EXPECT_EQ(system.describe(kVersalCore, 5, b, 4096), tlm::TLM_OK_RESPONSE);
    BufferDescriptor c;
    c.length = kCWords;
    c.dimensions = {{4, 1}, {8, 0}};
    c.acquire = LockAction{kLockStart, 1};
    c.release = LockAction{kLockStart, 1};
    EXPECT_EQ(system.describe(kVersalCore, 15, c, 16384), tlm::TLM_OK_RESPONSE);
    for (std::size_t i = 0; i < kStart.size(); ++i) {
        system.write(at(kVersalCore, 16384 + 4 * static_cast<std::int64_t>(i)), kStart[i]);
    }
    EXPECT_EQ(system.read(at(kVersalCore, 16388)), kStart[1]);
}

void describe_shim(Versal& system) {
    BufferDescriptor d;
    d.length = kPanels * kBWords;
    system.describe(kVersalShim, 0, d, kInB);
    d.length = kCWords;
    for (std::int64_t i = 0; i < 4; ++i) {
        if (i == 3) {  // the last one says so
            d.acquire = LockAction{kLockDone, 0};
            d.release = LockAction{kLockDone, 1};
        }
        system.describe(kVersalShim, 10 + i, d, kOutC + i * kCWords * 4);
    }
}

TEST(FirstGeneration, ADriverRunsAGemmThroughTheRegistersAndReadsItBack) {
    Versal system([](Versal& self) {
        describe_core(self);
        describe_shim(self);
        // B: pushed before the channel is enabled, so that it waits.
        self.push(kVersalCore, Direction::S2MM, 0, 5);
        EXPECT_EQ(self.read(states_at(kVersalCore, Direction::S2MM)), 1U << 6);  // one queued
        self.enable(kVersalCore, Direction::S2MM, 0);
        EXPECT_EQ(self.read(states_at(kVersalCore, Direction::S2MM)), 2U | 5U << 16);
        self.enable(kVersalShim, Direction::MM2S, 0);
        self.enable(kVersalShim, Direction::S2MM, 0);
        self.push(kVersalShim, Direction::MM2S, 0, 0);
        for (std::int64_t i = 0; i < 4; ++i) {
            self.push(kVersalShim, Direction::S2MM, 0, 10 + i);
        }
        // What C begins with stops at its lock until that is released in state 1.
        self.enable(kVersalCore, Direction::MM2S, 0);
        for (std::int64_t i = 0; i < 4; ++i) {
            self.push(kVersalCore, Direction::MM2S, 0, 15);
        }
        EXPECT_EQ(self.read(states_at(kVersalCore, Direction::MM2S)),
                  2U | 1U << 4 | 3U << 6 | 15U << 16);
        EXPECT_EQ(self.read(lock_at(kVersalCore, {kLockStart, false, 1})), 1U);
        EXPECT_EQ(self.read(lock_at(kVersalCore, {kLockGo, true, 0})), 1U);
        EXPECT_EQ(self.read(lock_at(kVersalCore, {kLockGo, false, 1})), 1U);
        const LockRequest finished{kLockDone, true, 1};
        int polls = 0;
        while (self.read(lock_at(kVersalShim, finished)) == 0) {
            ASSERT_LT(++polls, 100'000);
        }
        EXPECT_GT(polls, 10);
        EXPECT_EQ(self.read(states_at(kVersalShim, Direction::S2MM)) & 0xFFFU, 0U);  // idle
        EXPECT_EQ(self.read(states_at(kVersalShim, Direction::MM2S)) & 0xFFFU, 0U);
        // `c_done` is held in state 1 by the driver.
        EXPECT_EQ(self.read(at(kVersalShim, 0x14F00)), 3U << (2 * kLockDone));
    });
    put_operands(system);
    sc_core::sc_start();
    ASSERT_TRUE(system.done);
    EXPECT_THAT(Warnings::texts(), testing::IsEmpty());
    expect_product(system);
}

TEST(FirstGeneration, LocksAreAcquiredAndReleasedByReads) {
    Versal system([](Versal& self) {
        const auto go = [&self](bool acquire, std::optional<std::int64_t> value) {
            return self.read(lock_at(kVersalCore, {kLockStart, acquire, value}));
        };
        const auto state = [&self] {
            return self.read(at(kVersalCore, 0x1EF00)) >> (2 * kLockStart) & 3;
        };
        EXPECT_EQ(state(), 0U);      // free, in state 0
        EXPECT_EQ(go(true, 1), 0U);  // not in state 1
        EXPECT_EQ(go(true, 0), 1U);
        EXPECT_EQ(state(), 1U);      // held
        EXPECT_EQ(go(true, 0), 0U);  // by somebody
        EXPECT_EQ(go(true, {}), 0U);
        EXPECT_EQ(go(false, 1), 1U);
        EXPECT_EQ(state(), 2U);       // free, in state 1
        EXPECT_EQ(go(true, {}), 1U);  // in whatever state
        EXPECT_EQ(state(), 3U);
        EXPECT_EQ(go(false, {}), 1U);  // which it keeps
        EXPECT_EQ(state(), 2U);
        // A look changes nothing.
        std::uint32_t answer = 7;
        tlm::tlm_generic_payload payload;
        BlockingInitiator::prepare(payload, false, lock_at(kVersalCore, {kLockStart, true, 1}),
                                   &answer, sizeof answer);
        EXPECT_EQ(self.driver.socket->transport_dbg(payload), sizeof answer);
        EXPECT_EQ(answer, 1U);
        EXPECT_EQ(state(), 2U);
    });
    sc_core::sc_start();
    ASSERT_TRUE(system.done);
    EXPECT_THAT(Warnings::texts(), testing::IsEmpty());
}

// A queue holds four tasks; a fifth is lost, which the state says. A reset empties it.
TEST(FirstGeneration, AChannelThatIsNotEnabledKeepsItsTasks) {
    Versal system([](Versal& self) {
        describe_core(self);
        for (int i = 0; i < 5; ++i) {
            self.push(kVersalCore, Direction::MM2S, 0, 15);
        }
        EXPECT_EQ(self.read(states_at(kVersalCore, Direction::MM2S)), 4U << 6 | 1U << 28);
        self.write(channel_at(kVersalCore, Direction::MM2S, 0, false), 2);
        constexpr std::uint32_t kOverflow = 1U << 28;  // whether a reset clears it is not known
        EXPECT_EQ(self.read(states_at(kVersalCore, Direction::MM2S)) & ~kOverflow, 0U);
        self.push(kVersalCore, Direction::MM2S, 0, 15);
        // As drivers do it: read, set the bit, write.
        const std::uint64_t control = channel_at(kVersalCore, Direction::MM2S, 0, false);
        EXPECT_EQ(self.read(control), 2U);
        self.write(control, 3);  // enabled, but still in reset
        EXPECT_EQ(self.read(states_at(kVersalCore, Direction::MM2S)) & ~kOverflow, 1U << 6);
        self.write(control, self.read(control) & ~2U);
        EXPECT_EQ(self.read(states_at(kVersalCore, Direction::MM2S)),
                  2U | 1U << 4 | 15U << 16 | kOverflow);
        // The other channel's bits are beside them.
        EXPECT_EQ(self.read(states_at(kVersalCore, Direction::S2MM)), 0U);
    });
    sc_core::sc_start();
    ASSERT_TRUE(system.done);
    EXPECT_THAT(Warnings::texts(), testing::IsEmpty());
}

TEST(FirstGeneration, AChannelInResetKeepsNoMoreTasksThoughItIsEnabled) {
    Versal system([](Versal& self) {
        describe_core(self);
        self.write(channel_at(kVersalCore, Direction::MM2S, 0, false), 3);
        for (int i = 0; i < 5; ++i) {
            self.push(kVersalCore, Direction::MM2S, 0, 15);
        }
        EXPECT_EQ(self.read(states_at(kVersalCore, Direction::MM2S)), 4U << 6 | 1U << 28);
    });
    sc_core::sc_start();
    ASSERT_TRUE(system.done);
}

TEST(FirstGeneration, RefusesWhatIsNotThereInItsName) {
    Versal system([](Versal& self) {
        const auto refused = [&self](std::uint64_t address) {
            EXPECT_EQ(self.driver.write(address, 5), tlm::TLM_ADDRESS_ERROR_RESPONSE)
                << std::hex << address;
        };
        const auto unreadable = [&self](std::uint64_t address) {
            std::uint32_t word = 0;
            EXPECT_EQ(self.driver.access(false, address, &word, sizeof word),
                      tlm::TLM_ADDRESS_ERROR_RESPONSE)
                << std::hex << address;
        };
        refused(at({50, 1}, 0x1D000));                                // columns 0 to 49
        refused(at({0, 0}, 0x1D000));                                 // a shim without a DMA
        refused(at(kVersalCore, 0x8000));                             // behind 32 KiB of memory
        refused(at(kVersalCore, 0x1E000));                            // requests are reads
        unreadable(lock_at(kVersalCore, {9, true, 0}));               // a lock the program has not
        unreadable(at(kVersalCore, 0x1F000));                         // where AIE-ML has its locks
        refused(channel_at(kVersalShim, Direction::S2MM, 1, true));   // in no route
        refused(channel_at(kVersalShim, Direction::MM2S, 0, false));  // 5: enables and pauses
        self.enable(kVersalShim, Direction::MM2S, 0);
        refused(channel_at(kVersalShim, Direction::MM2S, 0, true));  // nobody wrote descriptor 5
        BufferDescriptor d;
        d.length = 32;
        self.enable(kVersalCore, Direction::MM2S, 0);
        const auto started = [&](const BufferDescriptor& descriptor, std::int64_t address,
                                 std::uint32_t extra) {
            self.describe(kVersalCore, 5, descriptor, address, extra);
            refused(channel_at(kVersalCore, Direction::MM2S, 0, true));
        };
        started(d, 4096, 1U << 31);  // not valid
        started(d, 4096, 1U << 28);  // FIFO
        started(d, 64, 0);           // no buffer there
        d.length = 8000;
        started(d, 8192, 0);  // 8192 words in all
        d.length = 32;
        d.acquire = LockAction{9, 0};
        started(d, 4096, 0);
    });
    sc_core::sc_start();
    ASSERT_TRUE(system.done);
    const auto texts = Warnings::texts();
    const std::vector<std::string> expected{
        "outside the array",
        "the shim tile 0,0 has no DMA",
        "no register is modelled at 0x8000 of tile 2,1",
        "no register is modelled at 0x1e000 of tile 2,1",
        "the program has no lock 9 in tile 2,1",
        "no register is modelled at 0x1f000 of tile 2,1",
        "s2mm1 of tile 2,0 is in none of the program's routes",
        "mm2s0 of tile 2,0: pauses are not modelled",
        "starts descriptor 5, which nobody has written",
        "starts descriptor 5, which nobody has written as valid",
        "descriptor 5 of tile 2,1: the FIFO mode",
        "none of the program's buffers lies at 0x40",
        "leave the memory of 32768 B",
        "the program has no lock 9 in tile 2,1"};
    ASSERT_EQ(texts.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_THAT(texts[i], AllOf(StartsWith("npu: "), HasSubstr(expected[i])));
    }
}

}  // namespace
}  // namespace tilesim::arch::systemc::array
