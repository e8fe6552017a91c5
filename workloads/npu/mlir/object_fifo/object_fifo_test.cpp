#include "workloads/npu/mlir/object_fifo.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/base/config.hpp"
#include "arch/npu/check/ready_program.hpp"
#include "arch/npu/program/program_print.hpp"
#include "workloads/npu/mlir/design/design_testing.hpp"

namespace tilesim::workloads::npu::mlir::object_fifo {

using design::config;
using design::core;
using design::Design;
using design::error_of;
using design::kFifoTiles;
using design::lower;
using design::parse_design;
using design::read;
using design::read_npu;

namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::int64_t lock(const program::Program& program, const char* name) {
    for (const program::Lock& each : program.locks) {
        if (each.name == name) {
            return each.initial;
        }
    }
    return -1;
}

TEST(ObjectFifo, NeighboursShareThePoolOfTheProducer) {
    const program::Program p =
        read_npu(std::string{kFifoTiles} +
                 "aie.objectfifo @f(%a, {%b}, 3 : i32) : !aie.objectfifo<memref<16xi32>>\n" +
                 core("%a", "f", "Produce", 2, 1) + core("%b", "f", "Consume", 1, 1));
    ASSERT_EQ(p.buffers.size(), 3U);  // a shared pool is as deep as stated
    EXPECT_EQ(p.buffers[0].tile, (program::TileCoordinate{0, 2}));
    EXPECT_EQ(p.buffers[0].bytes, 64);
    EXPECT_TRUE(p.dmas.empty());
    EXPECT_EQ(lock(p, "f_prod_lock_0"), 3);
    EXPECT_EQ(lock(p, "f_cons_lock_0"), 0);
    const auto& take = std::get<program::AcquireOp>(p.cores.at(0).script.at(0).op);
    EXPECT_EQ(take.action.value, -2);
}

TEST(ObjectFifo, ADesignSaysWhoseMemoryIsShared) {
    const auto tile = [](const char* attributes) {
        return read_npu(kFifoTiles +
                        fmt::format("aie.objectfifo @f(%a, {{%b}}, 1 : i32) {} : "
                                    "!aie.objectfifo<memref<16xi32>>\n",
                                    attributes) +
                        core("%a", "f", "Produce", 1, 1) + core("%b", "f", "Consume", 1, 1))
            .buffers.at(0)
            .tile;
    };
    EXPECT_EQ(tile("{via_shared_mem = 0 : i32}"), (program::TileCoordinate{0, 2}));
    EXPECT_EQ(tile("{via_shared_mem = 1 : i32}"), (program::TileCoordinate{0, 3}));
    // Of a link the elements are on its common tile, here west of the core that takes them.
    const program::Program linked = read_npu(
        std::string{kFifoTiles} +
        "%east = aie.tile(1, 2)\n"
        "aie.objectfifo @in(%s, {%a}, 2 : i32) : !aie.objectfifo<memref<16xi32>>\n"
        "aie.objectfifo @on(%a, {%east}, 2 : i32) : !aie.objectfifo<memref<16xi32>>\n"
        "aie.objectfifo.allocate @on(%east)\naie.objectfifo.link [@in] -> [@on] ([] [])\n" +
        core("%east", "on", "Consume", 1, 1));
    EXPECT_EQ(linked.buffers.at(0).tile, (program::TileCoordinate{0, 2}));
    EXPECT_EQ(linked.routes.size(), 1U);
}

program::TileCoordinate place_of(const program::Program& program, const std::string& buffer) {
    for (const program::Buffer& each : program.buffers) {
        if (each.name == buffer) {
            return each.tile;
        }
    }
    return {-1, -1};
}

// The channel of the memory tile in this column that fills or empties a buffer.
std::int64_t channel_of(const program::Program& program, std::int64_t column,
                        program::Direction direction, const std::string& buffer) {
    for (const program::TileDma& dma : program.dmas) {
        for (const program::TileDma::Start& start : dma.starts) {
            const auto& descriptors = dma.descriptors;
            const bool moves =
                std::any_of(descriptors.begin(), descriptors.end(), [&](const auto& descriptor) {
                    return descriptor.id == start.task.descriptor &&
                           program.buffers[static_cast<std::size_t>(descriptor.buffer)].name ==
                               buffer;
                });
            if (dma.tile == program::TileCoordinate{column, 1} && start.direction == direction &&
                moves) {
                return start.channel;
            }
        }
    }
    return -1;
}

// 512 KiB hold two elements of 200 KiB, and the largest pool chooses first.
TEST(ObjectFifo, ElementsWithoutRoomLieInTheMemoryTileBeside) {
    const program::Program p = read_npu(
        "%s = aie.tile(1, 0) %m = aie.tile(1, 1) %c = aie.tile(1, 2)\n"
        "aie.objectfifo @small(%m, {%c}, 2 : i32) : !aie.objectfifo<memref<16xi32>>\n"
        "aie.objectfifo @large(%s, {%m}, 4 : i32) : !aie.objectfifo<memref<51200xi32>>\n"
        "aie.objectfifo @half(%s, {%m}, 1 : i32) : !aie.objectfifo<memref<65536xi32>>\n");
    EXPECT_EQ(place_of(p, "large_cons_buff_1"), (program::TileCoordinate{1, 1}));
    EXPECT_EQ(place_of(p, "large_cons_buff_2"), (program::TileCoordinate{0, 1}));  // west
    EXPECT_EQ(place_of(p, "large_cons_buff_3"), (program::TileCoordinate{0, 1}));
    EXPECT_EQ(place_of(p, "half_cons_buff_0"), (program::TileCoordinate{2, 1}));  // east
    EXPECT_EQ(place_of(p, "small_buff_0"), (program::TileCoordinate{1, 1}));
    const auto s2mm = program::Direction::S2MM;
    EXPECT_EQ(channel_of(p, 1, s2mm, "large_cons_buff_0"), 0);
    EXPECT_EQ(channel_of(p, 1, s2mm, "half_cons_buff_0"), 1);
    for (const program::Lock& each : p.locks) {
        EXPECT_LE(each.tile.column, 1) << each.name;  // locks stay
    }
}

// Of four fifos a core can receive two: it is put where it shares memory with two senders.
TEST(ObjectFifo, CoresThatNeedTooManyChannelsAreMovedBesideEachOther) {
    const program::Program p = read_npu(
        "%s = aie.logical_tile<ShimNOCTile>(?, ?)\n%a = aie.logical_tile<CoreTile>(?, ?)\n"
        "%b = aie.logical_tile<CoreTile>(?, ?)\n%c = aie.logical_tile<CoreTile>(?, ?)\n"
        "%d = aie.logical_tile<CoreTile>(?, ?)\n%e = aie.logical_tile<CoreTile>(?, ?)\n"
        "aie.objectfifo @i(%s, {%e}, 2 : i32) : !aie.objectfifo<memref<16xi32>>\n"
        "aie.objectfifo @f(%a, {%e}, 2 : i32) : !aie.objectfifo<memref<16xi32>>\n"
        "aie.objectfifo @g(%b, {%e}, 2 : i32) : !aie.objectfifo<memref<16xi32>>\n"
        "aie.objectfifo @h(%c, {%e}, 2 : i32) : !aie.objectfifo<memref<16xi32>>\n"
        "aie.objectfifo @k(%d, {%e}, 2 : i32) : !aie.objectfifo<memref<16xi32>>\n");
    std::int64_t received = 0;
    for (const program::TileDma& dma : p.dmas) {
        for (const program::TileDma::Start& start : dma.starts) {
            received += start.direction == program::Direction::S2MM ? 1 : 0;
        }
    }
    EXPECT_EQ(received, 2);  // the shim's and one core's
}

// Several flows may leave from one channel, and a trace port is none.
TEST(ObjectFifo, FlowsOfOneChannelNeedOneChannel) {
    const std::string flows =
        "%s = aie.logical_tile<ShimNOCTile>(0, 0)\n%a = aie.tile(0, 2) %b = aie.tile(0, 3) "
        "%c = aie.tile(0, 4)\n"
        "aie.flow(%s, DMA : 0, %a, DMA : 0)\naie.flow(%s, DMA : 0, %b, DMA : 0)\n"
        "aie.flow(%s, DMA : 0, %c, DMA : 0)\naie.flow(%s, DMA : 1, %c, DMA : 1)\n"
        "aie.packet_flow(1) { aie.packet_source<%a, Trace : 0> aie.packet_dest<%s, DMA : 0> }\n";
    EXPECT_EQ(error_of(flows), "");
}

TEST(ObjectFifo, DmaEndsHaveOneElementMoreThanIsHeld) {
    const program::Program p =
        read_npu(std::string{kFifoTiles} +
                 "aie.objectfifo @f(%a, {%far}, 5 : i32) : !aie.objectfifo<memref<16xi32>>\n" +
                 core("%a", "f", "Produce", 1, 1) + core("%far", "f", "Consume", 3, 1));
    ASSERT_EQ(p.dmas.size(), 2U);
    EXPECT_EQ(p.dmas[0].descriptors.size(), 2U);  // acquires 1
    EXPECT_EQ(p.dmas[1].descriptors.size(), 4U);  // acquires 3
    const program::BufferDescriptor& sent = p.dmas[0].descriptors[0];
    EXPECT_EQ(p.locks[static_cast<std::size_t>(sent.acquire->lock)].name, "f_cons_lock_0");
    EXPECT_EQ(p.locks[static_cast<std::size_t>(sent.release->lock)].name, "f_prod_lock_0");
    EXPECT_EQ(p.dmas[0].descriptors[1].next, sent.id);  // a ring
    ASSERT_EQ(p.routes.size(), 1U);
}

TEST(ObjectFifo, ACoreTakesWhatItDoesNotHoldYet) {
    // acquire 2, release 1, acquire 2: one more; in a loop, round for round the same.
    const program::Program p = read_npu(
        std::string{kFifoTiles} +
        "aie.objectfifo @f(%a, {%b}, 4 : i32) : !aie.objectfifo<memref<16xi32>>\n"
        "aie.core(%b) { %c0 = arith.constant 0 : index %c1 = arith.constant 1 : index "
        "%c9 = arith.constant 9 : index\nscf.for %i = %c0 to %c9 step %c1 {\n"
        "%0 = aie.objectfifo.acquire @f(Consume, 2) : !aie.objectfifosubview<memref<16xi32>>\n"
        "aie.objectfifo.release @f(Consume, 1)\n}\naie.end }\n");
    const auto& script = p.cores.at(0).script;
    EXPECT_EQ(std::get<program::AcquireOp>(script.at(0).op).action.value, -2);
    std::int64_t rounds = 0;
    for (const program::CoreOp& op : script) {
        if (const auto* loop = std::get_if<program::LoopOp>(&op.op)) {
            rounds = loop->count;
            EXPECT_EQ(std::get<program::AcquireOp>(loop->body.at(0).op).action.value, -1);
        }
    }
    EXPECT_EQ(rounds, 8);  // behind the first
    EXPECT_THAT(
        error_of(std::string{kFifoTiles} +
                 "aie.objectfifo @f(%a, {%b}, 4 : i32) : !aie.objectfifo<memref<16xi32>>\n" +
                 core("%b", "f", "Consume", 1, 2)),
        HasSubstr("the core releases 2 elements and holds 1"));
    const auto access = [](int number) {
        return error_of(
            kFifoTiles +
            fmt::format("aie.objectfifo @f(%a, {{%b}}, 4 : i32) : !aie.objectfifo<memref<16xi32>>\n"
                        "aie.core(%b) {{ %0 = aie.objectfifo.acquire @f(Consume, 2) : "
                        "!aie.objectfifosubview<memref<16xi32>>\n"
                        "%1 = aie.objectfifo.subview.access %0[{}] : "
                        "!aie.objectfifosubview<memref<16xi32>> -> memref<16xi32> aie.end }}\n",
                        number));
    };
    EXPECT_EQ(access(1), "");
    EXPECT_THAT(access(2), HasSubstr("of the 2 elements that are acquired this takes number 2"));
    EXPECT_THAT(access(-1), HasSubstr("this takes number -1, counted from 0"));
}

constexpr const char* kDistribute =
    "aie.objectfifo @in(%s, {%m}, 2 : i32) : !aie.objectfifo<memref<48xi32>>\n"
    "aie.objectfifo @x(%m, {%a}, 2 : i32) : !aie.objectfifo<memref<16xi32>>\n"
    "aie.objectfifo @y(%m, {%b}, 2 : i32) : !aie.objectfifo<memref<32xi32>>\n"
    "aie.objectfifo.link [@in] -> [@x, @y] ([] [0, 16])\n";

// The cores behind the two pieces.
std::string takers() {
    return core("%a", "x", "Consume", 1, 1) + core("%b", "y", "Consume", 1, 1);
}

// producer_mem_bank, consumer_mem_banks (2026): elements lie in these banks (core tiles: 16 KiB).
TEST(ObjectFifo, ElementsLieInTheBanksTheDesignStates) {
    const auto text = [](const char* attributes) {
        return fmt::format(
            "{}aie.objectfifo @f(%a, {{%far, %m}}, 2 : i32) {{{}}} : "
            "!aie.objectfifo<memref<16xi32>>\n",
            kFifoTiles, attributes);
    };
    const auto banks = [](const program::Program& p) {
        std::map<std::string, std::int64_t> by_name;
        for (const program::Buffer& buffer : p.buffers) {
            by_name[buffer.name] = buffer.address / (16 * 1024);
        }
        return by_name;
    };
    auto placed =
        banks(read_npu(text("producer_mem_bank = [3 : i32, 1 : i32], "
                            "consumer_mem_banks = [[2 : i32, 0 : i32], []]")));
    EXPECT_EQ(placed["f_buff_0"], 3);
    EXPECT_EQ(placed["f_buff_1"], 1);
    EXPECT_EQ(placed["f_0_cons_buff_0"], 2);
    EXPECT_EQ(placed["f_0_cons_buff_1"], 0);
    placed = banks(read_npu(text("producer_mem_bank = 2 : i32")));  // all of them
    EXPECT_EQ(placed["f_buff_0"], 2);
    EXPECT_EQ(placed["f_buff_1"], 2);
    EXPECT_THAT(error_of(text("producer_mem_bank = [0 : i32]")),
                HasSubstr("1 banks for an end 2 elements deep"));
    EXPECT_THAT(error_of(text("consumer_mem_banks = [0 : i32, 1 : i32, 2 : i32]")),
                HasSubstr("banks for each consumer"));
    EXPECT_THAT(error_of(text("producer_mem_bank = 4 : i32")),
                HasSubstr("f_buff_0: tile 0,2 has banks 0..3, not 4"));
    // What a bank has no room for lies elsewhere, which a note says.
    const auto large = read(std::string{kFifoTiles} +
                            "%x = aie.buffer(%a) {mem_bank = 1 : i32} : memref<4096xi32>\n"
                            "%y = aie.buffer(%a) {mem_bank = 1 : i32} : memref<16xi32>\n");
    EXPECT_THAT(large.notes,
                testing::Contains(HasSubstr("do not fit the banks the design states")));
}

TEST(ObjectFifo, ALinkDistributesPieceByPiece) {
    const program::Program p = read_npu(std::string{kFifoTiles} + kDistribute + takers());
    const program::TileDma& memory = p.dmas.at(0);
    ASSERT_EQ(memory.tile, (program::TileCoordinate{0, 1}));
    std::map<std::string, std::vector<std::int64_t>> lengths, offsets;
    for (const program::TileDma::Start& start : memory.starts) {
        const std::string name = program::name_of({memory.tile, start.direction, start.channel});
        std::int64_t id = start.task.descriptor;
        do {
            for (const program::BufferDescriptor& d : memory.descriptors) {
                if (d.id == id) {
                    lengths[name].push_back(d.length);
                    offsets[name].push_back(d.offset / 4);
                    id = *d.next;
                    break;
                }
            }
        } while (id != start.task.descriptor);
    }
    EXPECT_THAT(lengths["s2mm0"], testing::ElementsAre(16, 32, 16, 32));
    EXPECT_THAT(offsets["s2mm0"], testing::ElementsAre(0, 16, 0, 16));
    EXPECT_THAT(lengths["mm2s0"], testing::ElementsAre(16, 16));
    EXPECT_THAT(offsets["mm2s1"], testing::ElementsAre(16, 16));
    EXPECT_EQ(lock(p, "in_cons_prod_lock_1"), 2);
}

// The branch whose piece is empty has no descriptors; offsets may be constants of the device.
TEST(ObjectFifo, AnEmptyPieceOfALinkMovesNothing) {
    const design::Design read =
        design::read(std::string{kFifoTiles} +
                     "%zero = arith.constant 0 : index %all = arith.constant 16 : index\n"
                     "aie.objectfifo @in(%s, {%m}, 2 : i32) : !aie.objectfifo<memref<16xi32>>\n"
                     "aie.objectfifo @x(%m, {%a}, 2 : i32) : !aie.objectfifo<memref<16xi32>>\n"
                     "aie.objectfifo @y(%m, {%b}, 2 : i32) : !aie.objectfifo<memref<16xi32>>\n"
                     "aie.objectfifo.link [@in] -> [@x, @y] ([] [%zero, %all])\n");
    std::size_t descriptors = 0;
    for (const program::TileDma& dma : read.program.dmas) {
        descriptors += dma.tile == program::TileCoordinate{0, 1} ? dma.descriptors.size() : 0;
    }
    EXPECT_EQ(descriptors, 4U);
    EXPECT_THAT(read.notes, Contains(HasSubstr("@y: its piece of the link is empty")));
}

TEST(ObjectFifo, PiecesWithoutOffsetsLieOneBehindTheOther) {
    std::string without = kDistribute;
    const std::string offsets = "([] [0, 16])";
    without.replace(without.find(offsets), offsets.size(), "()");
    const auto offsets_of = [](const program::Program& program) {
        std::vector<std::int64_t> all;
        for (const program::TileDma& dma : program.dmas) {
            for (const program::BufferDescriptor& d : dma.descriptors) {
                all.push_back(d.offset);
            }
        }
        return all;
    };
    EXPECT_EQ(offsets_of(read_npu(std::string{kFifoTiles} + without + takers())),
              offsets_of(read_npu(std::string{kFifoTiles} + kDistribute + takers())));
    EXPECT_THAT(error_of(std::string{kFifoTiles} +
                         std::string{kDistribute}.replace(std::string{kDistribute}.find(offsets),
                                                          offsets.size(), "([] [0])")),
                HasSubstr("a link of 2 branches needs 2 offsets"));
    for (const char* beyond : {"([] [0, 49])", "([] [16, 0])"}) {
        EXPECT_THAT(error_of(std::string{kFifoTiles} +
                             std::string{kDistribute}.replace(
                                 std::string{kDistribute}.find(offsets), offsets.size(), beyond) +
                             takers()),
                    HasSubstr("the pieces of a link begin one behind the other in its elements of "
                              "48, not at"));
    }
}

TEST(ObjectFifo, RepeatedElementsAreTakenAsOften) {
    const program::Program p =
        read_npu(std::string{kFifoTiles} +
                 "aie.objectfifo @f(%a, {%far}, [2, 2]) {repeat_count = 3 : i32} : "
                 "!aie.objectfifo<memref<16xi32>>\n" +
                 core("%a", "f", "Produce", 1, 1) + core("%far", "f", "Consume", 1, 1));
    EXPECT_EQ(p.dmas.at(0).descriptors.size(), 6U);  // each of two, three times
    EXPECT_EQ(lock(p, "f_prod_lock_0"), 6);
    EXPECT_EQ(std::get<program::AcquireOp>(p.cores.at(0).script.at(0).op).action.value, -3);
}

TEST(ObjectFifo, TheRepeatsOf2024AreSoManyMore) {
    const auto lowered = [](const char* repeats) {
        return arch::npu::program::print(
            read_npu(fmt::format("{}aie.objectfifo @f(%m, {{%far}}, 1 : i32) {{{} : i32}} : "
                                 "!aie.objectfifo<memref<16xi32>>\n{}",
                                 kFifoTiles, repeats, core("%far", "f", "Consume", 1, 1))));
    };
    EXPECT_EQ(lowered("memtile_repeat = 2"), lowered("repeat_count = 3"));
    EXPECT_NE(lowered("memtile_repeat = 2"), lowered("repeat_count = 1"));
}

TEST(ObjectFifo, WhatElseThanZeroIsPaddedWithIsNamed) {
    const auto notes = [](const char* value) {
        return read(fmt::format("{}aie.objectfifo @f(%m dimensionsToStream [<size = 13, stride = "
                                "1>], {{%far}}, 1 : i32) {{padDimensions = "
                                "#aie<bd_pad_layout_array[<const_pad_before = 2, const_pad_after "
                                "= 1>]>{}}} : !aie.objectfifo<memref<13xi32>>\n{}",
                                kFifoTiles, value, core("%far", "f", "Consume", 1, 1)))
            .notes;
    };
    EXPECT_THAT(notes(", padValue = 7 : i32"), Contains(HasSubstr("whatever padValue says")));
    EXPECT_THAT(notes(""), Not(Contains(HasSubstr("pad with"))));
}

TEST(ObjectFifo, ScenariosReplaceWhatTheDesignSays) {
    const std::string body =
        std::string{kFifoTiles} +
        "aie.objectfifo @f(%a, {%b}, 2 : i32) : !aie.objectfifo<memref<16xi32>>\n" +
        core("%a", "f", "Produce", 1, 1) + core("%b", "f", "Consume", 1, 1);
    ReadOptions options;
    options.fifos["f"].depth = 5;
    EXPECT_EQ(read_npu(body, options).buffers.size(), 5U);
    options.fifos["f"].via_dma = true;
    EXPECT_EQ(read_npu(body, options).dmas.size(), 2U);
    options.fifos["f"] = {};
    options.fifos["f"].memory = program::TileCoordinate{0, 3};
    EXPECT_EQ(read_npu(body, options).buffers.at(0).tile, (program::TileCoordinate{0, 3}));
    options.fifos["ff"].depth = 2;
    EXPECT_THAT(error_of(body, options),
                HasSubstr("no object FIFO is named @ff; did you mean @f?"));
}

TEST(ObjectFifo, TheSequenceMeansTheShimsEnd) {
    const program::Program p =
        read_npu(std::string{kFifoTiles} + kDistribute + takers() +
                 "aie.runtime_sequence(%x: memref<96xi32>) {\n"
                 "aiex.npu.dma_memcpy_nd(%x[0, 0, 0, 0][1, 1, 1, 96][0, 0, 0, 1]) {id = 0 : i64, "
                 "metadata = @in} : memref<96xi32>\n}");
    EXPECT_EQ(std::get<program::PushTask>(p.sequence.at(1)).channel.tile,
              (program::TileCoordinate{0, 0}));
}

TEST(ObjectFifo, RegisteredBuffersInDramAreARingOfTheShim) {
    const program::Program p =
        read_npu(std::string{kFifoTiles} +
                 "%x = aie.external_buffer {sym_name = \"x\"} : memref<48xi32>\n"
                 "%y = aie.external_buffer {sym_name = \"y\"} : memref<48xi32>\n"
                 "aie.objectfifo @f(%s, {%a}, 2 : i32) : !aie.objectfifo<memref<16xi32>>\n"
                 "aie.objectfifo.register_external_buffers @f (%s, {%y, %x}) : (memref<48xi32>, "
                 "memref<48xi32>)\n" +
                 core("%a", "f", "Consume", 1, 1));
    ASSERT_EQ(p.dmas.size(), 2U);
    const program::TileDma& shim = p.dmas[0];
    EXPECT_EQ(shim.tile, (program::TileCoordinate{0, 0}));
    ASSERT_EQ(shim.descriptors.size(), 2U);
    EXPECT_EQ(shim.descriptors[0].buffer, 1);
    EXPECT_EQ(shim.descriptors[0].length, 48);  // the buffer's, not the element's
    EXPECT_EQ(shim.descriptors[1].next, shim.descriptors[0].id);
    // The host fills: nothing is there to be sent at first.
    EXPECT_EQ(lock(p, "f_prod_lock_0"), 2);
    EXPECT_EQ(lock(p, "f_cons_lock_0"), 0);
    EXPECT_EQ(p.locks[static_cast<std::size_t>(shim.descriptors[0].acquire->lock)].name,
              "f_cons_lock_0");
}

TEST(Placement, LogicalTilesGetLegalPlaces) {
    const auto source = parse_design(
        "aie.device(npu1) {\n%one = aie.logical_tile<CoreTile>(?, ?)\n"
        "%two = aie.logical_tile<CoreTile>(1, 4)\n%three = aie.logical_tile<CoreTile>(1, ?)\n"
        "%mem = aie.logical_tile<MemTile>(?, ?)\n"
        "aie.objectfifo @f(%mem, {%two, %three}, 2 : i32) : !aie.objectfifo<memref<16xi32>>\n"
        "%x = aie.buffer(%one) : memref<16xi32>\n" +
            core("%two", "f", "Consume", 1, 1) + core("%three", "f", "Consume", 1, 1) + "}",
        "d.mlir");
    const Design design = lower(source, {}, config());
    EXPECT_THAT(design.notes, Contains(HasSubstr("%one 0,2; %two 1,4; %three 1,2; %mem 1,1")));
    ReadOptions by_hand;
    by_hand.tiles["one"] = {3, 5};
    EXPECT_EQ(lower(source, by_hand, config()).program.buffers.at(0).tile,
              (program::TileCoordinate{3, 5}));
}

// Where the notes say that logical tiles lie.
std::vector<std::string> places(const std::string& body) {
    return lower(parse_design("aie.device(npu1) {\n" + body + "}", "d.mlir"), {}, config()).notes;
}
std::string fifo(const char* name, const char* from, const char* to) {
    return fmt::format(
        "aie.objectfifo @{}({}, {{{}}}, 2 : i32) : !aie.objectfifo<memref<16xi32>>\n", name, from,
        to);
}

TEST(Placement, AShimLiesBelowTheCoresBehindItsMemoryTile) {
    EXPECT_THAT(places("%s = aie.logical_tile<ShimNOCTile>(?, ?)\n"
                       "%m = aie.logical_tile<MemTile>(?, ?)\n%c = aie.tile(3, 2)\n" +
                       fifo("f", "%s", "%m") + fifo("g", "%m", "%c")),
                Contains(HasSubstr("%s 3,0; %m 3,1")));
}

// What goes to cores of columns 0 to 3 is as long from either of these: the other stream decides.
TEST(Placement, ABroadcastDrawsATileNoFurtherThanAmongItsReceivers) {
    EXPECT_THAT(places("%m = aie.logical_tile<MemTile>(?, ?)\n%a = aie.tile(0, 2)\n"
                       "%b = aie.tile(2, 2)\n%c = aie.tile(3, 2)\n" +
                       fifo("f", "%m", "%a, %b, %c") + fifo("g", "%m", "%a")),
                Contains(HasSubstr("%m 0,1")));
}

TEST(Placement, OfTilesAsNearTheOneWithFewerChannelsInUseIsTaken) {
    EXPECT_THAT(places("%p = aie.tile(0, 0)\n%a = aie.tile(1, 2)\n%b = aie.tile(1, 3)\n"
                       "%c = aie.tile(1, 4)\n%d = aie.tile(1, 5)\n%e = aie.tile(0, 2)\n"
                       "%s = aie.logical_tile<ShimNOCTile>(?, ?)\n"
                       "%t = aie.logical_tile<ShimNOCTile>(?, ?)\n"
                       "%u = aie.logical_tile<ShimNOCTile>(?, ?)\n"
                       "%v = aie.logical_tile<ShimNOCTile>(?, ?)\n" +
                       fifo("o", "%p", "%e") + fifo("f", "%s", "%a") + fifo("g", "%t", "%b") +
                       fifo("h", "%u", "%c") + fifo("i", "%v", "%d")),
                Contains(HasSubstr("%s 1,0; %t 1,0; %u 2,0; %v 0,0")));
}

// The elements of a FIFO begin with the values it states, wherever its pool lies.
TEST(ObjectFifo, ElementsHoldAtStartWhatTheFifoStates) {
    const std::string values = " = [dense<[1, 2]> : memref<2xi32>, dense<7> : memref<2xi32>]\n";
    const std::string type = " : !aie.objectfifo<memref<2xi32>>";
    const auto contents = [&](const std::string& fifos) {
        std::map<std::string, std::vector<std::int64_t>> held;
        const Design design = read(std::string{kFifoTiles} + fifos);
        for (const auto& fill : design.fills) {
            const auto index = static_cast<std::size_t>(fill.buffer.index);
            held[design.program.buffers.at(index).name] = fill.words;
        }
        return held;
    };
    using Held = std::map<std::string, std::vector<std::int64_t>>;
    const auto held = [](const std::string& name) {
        return Held{{name + "_buff_0", {1, 2}}, {name + "_buff_1", {7, 7}}};
    };
    EXPECT_EQ(contents("aie.objectfifo @f(%m, {%s}, 2 : i32)" + type + values), held("f"));
    EXPECT_EQ(contents("aie.objectfifo @f(%a, {%b}, 2 : i32)" + type + values), held("f"));
    EXPECT_EQ(contents("aie.objectfifo @f(%s, {%m}, 2 : i32)" + type +
                       "\naie.objectfifo @g(%m, {%a}, 2 : i32)" + type + values +
                       "aie.objectfifo.link [@f] -> [@g] ([] [])\n"),
              held("g"));
}

}  // namespace
}  // namespace tilesim::workloads::npu::mlir::object_fifo
