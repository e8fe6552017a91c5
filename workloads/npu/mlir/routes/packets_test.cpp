// Packets of designs: who writes their headers, where they lead, control packets.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "arch/base/config.hpp"
#include "arch/npu/check/program_verifier.hpp"
#include "workloads/npu/mlir/design/design_testing.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::routes {

using design::Design;
using design::error_of;
using design::kPair;
using design::kSmallDesign;
using design::lower;
using design::parse_design;
using design::read_for;
using design::read_npu;

namespace {

using testing::HasSubstr;

constexpr const char* kPutsTwo =
    "aie.core(%w) { %p = arith.constant 0 : i32 %h = arith.constant 35 : i32\n"
    "aie.put_stream(%p : i32, %h : i32) aie.put_stream(%p : i32, %p : i32) aie.end }\n";

constexpr const char* kToDma = "aie.packet_source<%w, Core : 0> aie.packet_dest<%s, DMA : 0> }\n";

// 35 is a header with id 3 in its lowest five bits.
TEST(DesignStreams, TheFirstWordACorePutsInAPacketIsItsHeader) {
    const std::string flows =
        std::string{"aie.packet_flow(3) {"} + kToDma + "aie.packet_flow(4) {" + kToDma;
    const auto program =
        read_npu(std::string{kPair} + kPutsTwo + flows.substr(0, flows.size() / 2));
    ASSERT_EQ(program.routes.size(), 1U);
    EXPECT_EQ(program.routes[0].packet_id, 3);
    EXPECT_FALSE(program.routes[0].keep_header);  // a DMA's port drops it
    const auto& puts = program.cores.at(0).script;
    EXPECT_EQ(std::get<program::PutStreamOp>(puts.at(0).op).packet, 3);
    EXPECT_EQ(std::get<program::PutStreamOp>(puts.at(1).op).packet, 3);  // on its way
    EXPECT_FALSE(std::get<program::PutStreamOp>(puts.at(1).op).ends_packet);
    const auto either = read_npu(std::string{kPair} + kPutsTwo + flows).cores.at(0).script;
    EXPECT_EQ(std::get<program::PutStreamOp>(either.at(0).op).packet, 3);
    EXPECT_EQ(std::get<program::PutStreamOp>(either.at(1).op).packet, 3);
    EXPECT_THAT(
        error_of(std::string{kPair} +
                 "%b = aie.buffer(%w) : memref<4xi32>\n"
                 "aie.core(%w) { %p = arith.constant 0 : i32 %i = arith.constant 0 : index\n"
                 "%h = memref.load %b[%i] : memref<4xi32>\n"
                 "aie.put_stream(%p : i32, %h : i32) aie.end }\n" +
                 flows),
        HasSubstr("core 0,3 puts packets on its own stream, and packets 3, 4 leave there"));
}

TEST(DesignStreams, AFlowWithAMaskIsOneOfEveryIdThatIsSent) {
    const auto routes = [](const std::string& flow, int sent) {
        return read_npu(std::string{kSmallDesign} + "aie.packet_flow" + flow +
                        " { aie.packet_source<%s, DMA : 1> aie.packet_dest<%c, DMA : 0> }\n"
                        "aie.shim_dma_allocation @b(%s, MM2S, 1)\n"
                        "aie.runtime_sequence(%a: memref<8xi32>) {\n"
                        "aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1], packet = "
                        "<pkt_id = " +
                        std::to_string(sent) +
                        ", pkt_type = 0>) {id = 0 : i64, metadata = @b} : memref<8xi32> }")
            .routes;
    };
    EXPECT_EQ(routes("(6, mask = 30)", 7).back().packet_id, 7);
    EXPECT_EQ(routes("(6, mask = 30)", 6).back().packet_id, 6);
    EXPECT_EQ(routes("(6)", 6).back().packet_id, 6);
    EXPECT_THAT(error_of(std::string{kSmallDesign} +
                         "aie.packet_flow(6, mask = 32) { aie.packet_source<%s, DMA : 1> "
                         "aie.packet_dest<%c, DMA : 0> }"),
                HasSubstr("must be 0..31, got 32"));
}

TEST(DesignStreams, WhatAKernelPutsInAPacketIsOneAndSaysWhich) {
    ReadOptions options;
    options.costs.streams["k"] = {.put = 5, .packet = 4};
    const auto program = read_npu(std::string{kPair} +
                                      "aie.core(%w) { func.call @k() : () -> () aie.end }\n"
                                      "aie.packet_flow(3) {" +
                                      kToDma + "aie.packet_flow(4) {" + kToDma,
                                  options);
    const auto& put = std::get<program::PutStreamOp>(program.cores.at(0).script.at(1).op);
    EXPECT_EQ(put.packet, 4);
    EXPECT_TRUE(put.ends_packet);
}

TEST(DesignStreams, ACoreGetsTheHeadersOfItsPackets) {
    const std::string body = std::string{kPair} +
                             "aie.core(%e) { %v = aie.get_stream(0) : i32 aie.end }\n"
                             "aie.packet_flow(7) { aie.packet_source<%s, DMA : 0>\n"
                             "aie.packet_dest<%e, Core : 0>";
    const auto program = read_npu(body + " }");
    ASSERT_EQ(program.routes.size(), 1U);
    EXPECT_TRUE(program.routes[0].keep_header);
    EXPECT_TRUE(program.routes[0].without_header.empty());
    // A DMA channel's port drops them, also where a core's keeps them.
    const auto both = read_npu(body + " aie.packet_dest<%w, DMA : 0> }");
    ASSERT_EQ(both.routes.size(), 1U);
    EXPECT_TRUE(program::keeps_header(both.routes[0], both.routes[0].destinations.at(0)));
    EXPECT_FALSE(program::keeps_header(both.routes[0], both.routes[0].destinations.at(1)));
}

constexpr const char* kPassedOn =
    "%s = aie.tile(0, 0) %m = aie.tile(0, 1) %w = aie.tile(0, 2) %e = aie.tile(0, 3)\n"
    "%b = aie.buffer(%m) {sym_name = \"both\"} : memref<9xi32>\n"
    "aie.memtile_dma(%m) { aie.dma_start(S2MM, 0, ^a, ^n)\n"
    "^a: aie.dma_bd(%b : memref<9xi32>, 0, 9) aie.next_bd ^a\n"
    "^n: aie.dma_start(MM2S, 0, ^c, ^e)\n"
    "^c: aie.dma_bd(%b : memref<9xi32>, 0, 9) aie.next_bd ^c\n"
    "^e: aie.end }\n"
    "aie.packet_flow(1) { aie.packet_source<%s, DMA : 0> aie.packet_dest<%m, DMA : 0> } "
    "{keep_pkt_header = true}\n"
    "aie.packet_flow(2) { aie.packet_source<%s, DMA : 0> aie.packet_dest<%m, DMA : 0> } "
    "{keep_pkt_header = true}\n"
    "aie.packet_flow(1) { aie.packet_source<%m, DMA : 0> aie.packet_dest<%w, DMA : 0> }\n"
    "aie.packet_flow(2) { aie.packet_source<%m, DMA : 0> aie.packet_dest<%e, DMA : 0> }\n"
    "aie.shim_dma_allocation @in(%s, MM2S, 0)\n"
    "aie.runtime_sequence(%a: memref<8xi32>) {\n";

std::optional<program::Packet> passed_on(const std::string& sequence,
                                         const ReadOptions& options = {}) {
    const auto program = read_npu(std::string{kPassedOn} + sequence + "}", options);
    return program.dmas.at(0).descriptors.at(1).packet;
}

std::string send_packet(int id) {
    return fmt::format(
        "aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1], packet = "
        "<pkt_id = {}, pkt_type = 0>) {{id = 0 : i64, metadata = @in}} : "
        "memref<8xi32>\n",
        id);
}

// A buffer keeps the header it came with; what reads it sends that as its data's first word.
TEST(DesignStreams, AHeaderThatWasKeptLeadsTheDataOn) {
    const auto packet = passed_on(send_packet(2));
    ASSERT_TRUE(packet);
    EXPECT_EQ(packet->id, 2);
    EXPECT_TRUE(packet->in_data);
    EXPECT_THAT(error_of(std::string{kPassedOn} + send_packet(1) + send_packet(2) + "}"),
                HasSubstr("tile 0,1 mm2s0 sends no packets, and only packets 1, 2 leave there: the "
                          "data's first word is the header; state the id in it as "
                          "design.headers.both"));
    ReadOptions options;
    options.headers["both"] = 1;
    EXPECT_EQ(passed_on(send_packet(1) + send_packet(2), options)->id, 1);
}

TEST(DesignStreams, HeadersThatOptionsStateAreThoseOfDataThatHasOne) {
    ReadOptions options;
    options.headers["both"] = 2;
    const std::string body = std::string{kPassedOn} + send_packet(2) + "}";
    EXPECT_EQ(error_of(body, options), "");
    options.headers["bth"] = 1;
    options.headers["a"] = 1;  // the host's, sent as a packet of its own
    EXPECT_THAT(
        error_of(body, options),
        AllOf(HasSubstr("design.headers: 'bth' is no buffer whose data begins with a packet's "
                        "header; those are both; did you mean 'both'?"),
              HasSubstr("design.headers: 'a' is no buffer whose data begins with a packet's "
                        "header; those are both")));
    EXPECT_THAT(error_of("%t = aie.tile(0, 2)", options),
                HasSubstr("'both' is no buffer whose data begins with a packet's header; this "
                          "design has none"));
}

TEST(DesignStreams, HostsDataWithHeadersGoesTheOneWayThereIs) {
    const std::string send =
        "aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1]) {id = 0 : i64, "
        "metadata = @in} : memref<8xi32>\n";
    const std::string body =
        "%s = aie.tile(0, 0) %m = aie.tile(0, 1)\n"
        "aie.switchbox(%s) { %x = aie.amsel<0> (0) deterministic_merge [<South : 3, 1>, "
        "<West : 1, 3>]\n"
        "%z = aie.amsel<0> (1) deterministic_merge [<South : 3, 1>, <West : 1, 3>]\n"
        "aie.masterset(North : 1, %x)\n"
        "aie.packet_rules(South : 3) { aie.rule(31, 6, %x) } }\n"
        "aie.shim_mux(%s) { aie.connect<DMA : 0, North : 3> }\n"
        "aie.switchbox(%m) { %y = aie.amsel<0> (0) aie.masterset(DMA : 0, %y)\n"
        "aie.packet_rules(South : 1) { aie.rule(31, 6, %y) } }\n"
        "aie.shim_dma_allocation @in(%s, MM2S, 0)\n"
        "aie.runtime_sequence(%a: memref<8xi32>) {\n" +
        send + "}";
    const Design design = read_for("xdna", "module { aie.device(npu1) {\n" + body + "} }");
    ASSERT_EQ(design.program.routes.size(), 1U);
    EXPECT_EQ(design.program.routes[0].packet_id, 6);
    const auto& write = std::get<program::WriteDescriptor>(design.program.sequence.at(0));
    ASSERT_TRUE(write.descriptor.packet);
    EXPECT_TRUE(write.descriptor.packet->in_data);
    EXPECT_THAT(design.notes, testing::Contains(HasSubstr("taken to name packet 6, the only one")));
    ASSERT_EQ(design.program.merges.size(), 1U);
    const program::Merge& merge = design.program.merges[0];
    EXPECT_EQ(merge.tile, (program::TileCoordinate{0, 0}));
    EXPECT_EQ(merge.arbiter, 0);
    ASSERT_EQ(merge.turns.size(), 2U);
    EXPECT_EQ(name_of(merge.turns[1].in), "west1");
    EXPECT_EQ(merge.turns[1].packets, 3);
}

// Two allocations of one channel take turns by the packets they state.
TEST(DesignStreams, AnAllocationMayStateThePacketOfItsTransfers) {
    const auto program = read_npu(
        "%s = aie.tile(0, 0) %c = aie.tile(0, 2)\n"
        "aie.shim_dma_allocation @a(%s, MM2S, 0, <pkt_id = 2>)\n"
        "aie.shim_dma_allocation @b(%s, MM2S, 0, <pkt_type = 1, pkt_id = 3>)\n"
        "aie.packet_flow(2) { aie.packet_source<%s, DMA : 0> aie.packet_dest<%c, DMA : 0> }\n"
        "aie.packet_flow(3) { aie.packet_source<%s, DMA : 0> aie.packet_dest<%c, DMA : 1> }\n"
        "aie.runtime_sequence(%x: memref<8xi32>) {\n"
        "aiex.npu.dma_memcpy_nd(%x[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1]) {id = 0 : i64, metadata = "
        "@a} : memref<8xi32>\n"
        "%t = aiex.dma_configure_task_for @b { aie.dma_bd(%x : memref<8xi32>, 0, 8) {bd_id = 5 : "
        "i32, packet = #aie.packet_info<pkt_type = 0, pkt_id = 2>}\n"
        "aie.next_bd ^n\n^n: aie.dma_bd(%x : memref<8xi32>, 0, 8) {bd_id = 6 : i32} aie.end } }");
    const auto packet = [&program](std::size_t op) {
        return *std::get<program::WriteDescriptor>(program.sequence.at(op)).descriptor.packet;
    };
    EXPECT_EQ(packet(0).id, 2);
    EXPECT_FALSE(packet(0).in_data);
    EXPECT_EQ(packet(2).id, 2);  // its own
    EXPECT_EQ(packet(3).id, 3);
    EXPECT_EQ(packet(3).type, 1);
}

TEST(DesignStreams, OutOfOrderPacketsNameTheirDescriptor) {
    const program::Program program = read_npu(
        "%m = aie.tile(0, 1) %b = aie.buffer(%m) : memref<64xi32>\n"
        "aie.memtile_dma(%m) { %0 = aie.dma_start(S2MM, 0, ^a, ^n, repeat_count = 2) "
        "{out_of_order}\n"
        "^a: aie.dma_bd(%b : memref<64xi32>, 0, 16) {bd_id = 3 : i32} aie.next_bd ^a\n"
        "^n: %1 = aie.dma_start(MM2S, 0, ^b, ^e)\n"
        "^b: aie.dma_bd(%b : memref<64xi32>, 0, 16) {packet = #aie.packet_info<pkt_type = 0, "
        "pkt_id = 2>, out_of_order_id = 9 : i32} aie.next_bd ^e\n^e: aie.end }");
    const program::TileDma& dma = program.dmas.at(0);
    EXPECT_TRUE(dma.starts.at(0).task.out_of_order);
    EXPECT_EQ(dma.starts.at(0).task.repeat, 3);
    EXPECT_FALSE(dma.starts.at(1).task.out_of_order);
    EXPECT_EQ(dma.descriptors.at(1).packet->descriptor, 9);
}

// Packet id 1 leads to the control port of tile 0,2; id 29, marked, is tile 0,3's own.
TEST(DesignStreams, ControlPacketsWriteWhatTheHostsWordsSay) {
    const std::string text =
        "aie.device(npu1) {\n%s = aie.tile(0, 0) %c = aie.tile(0, 2) %d = aie.tile(0, 3)\n"
        "%l = aie.lock(%c, 3) %k = aie.lock(%d, 5)\n"
        "aie.packet_flow(1) { aie.packet_source<%s, DMA : 0> aie.packet_dest<%c, TileControl : 0> "
        "}\naie.packet_flow(2) { aie.packet_source<%c, TileControl : 0> aie.packet_dest<%s, DMA : "
        "1> }\naie.shim_dma_allocation @in(%s, MM2S, 0) aie.shim_dma_allocation @back(%s, S2MM, "
        "1)\naie.runtime_sequence(%a: memref<9xi32>, %b: memref<4xi32>) {\n"
        "aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 4][0, 0, 0, 1]) {id = 3 : i64, metadata = "
        "@back} : memref<4xi32>\n"
        "aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 1][1, 1, 1, 5][0, 0, 0, 1], packet = <pkt_id = 1, "
        "pkt_type = 0>) {id = 0 : i64, issue_token = true, metadata = @in} : memref<9xi32>\n"
        "aiex.npu.dma_wait {symbol = @in}\n"
        "aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 6][1, 1, 1, 2][0, 0, 0, 1], packet = <pkt_id = 29, "
        "pkt_type = 1>) {id = 1 : i64, issue_token = true, metadata = @in} : memref<9xi32>\n"
        "aiex.npu.dma_wait {symbol = @in}\naiex.npu.dma_wait {symbol = @back}\n} }";
    const Source source = parse_design(text, "d.mlir");
    const auto refused = [&](const ReadOptions& options) {
        try {
            lower(source, options, arch::npu::shipped_config("xdna"));
        } catch (const arch::base::config::ConfigError& error) {
            return std::string{error.what()};
        }
        return std::string{};
    };
    EXPECT_THAT(refused({}),
                HasSubstr("only the host has them; state their file as design.words.a"));
    ReadOptions options;
    options.words["a"] = {0, 0x8001F030, 7, 2U << 22 | 0x1F040, 11};
    EXPECT_THAT(refused(options),
                HasSubstr("words 1..5 of %a go to control ports; the file has 5"));
    // Two packets that write, then one that reads; then tile 0,3's.
    options.words["a"] = {0,  0x8001F030,          7,       2U << 22 | 0x1F040,
                          11, 1U << 22 | 3U << 20, 0x1F050, 13};
    const auto program = lower(source, options, arch::npu::shipped_config("xdna")).program;
    std::vector<std::pair<std::int64_t, std::int64_t>> set;  // row and id, value
    for (const program::SequenceOp& each : program.sequence) {
        EXPECT_FALSE(std::holds_alternative<program::PushTask>(each));
        EXPECT_FALSE(std::holds_alternative<program::WaitToken>(each));
        if (const auto* op = std::get_if<program::SetLock>(&each)) {
            const program::Lock& lock = program.locks[static_cast<std::size_t>(op->lock)];
            set.emplace_back(lock.tile.row * 100 + lock.id, op->value);
        }
    }
    EXPECT_EQ(set,
              (std::vector<std::pair<std::int64_t, std::int64_t>>{{203, 7}, {204, 11}, {305, 13}}));
    options.words = {{"aa", {}}};
    EXPECT_THAT(refused(options), HasSubstr("design.words: the sequence has no buffer %aa"));
}

// The header of each packet's stream is among the words, and says which port it leads to.
TEST(DesignStreams, ControlPacketsThatLeadNowhereOrComeInPiecesAreRefused) {
    const auto refused = [](const std::string& sizes, std::uint32_t header) -> std::string {
        const std::string text =
            "aie.device(npu1) {\n%s = aie.tile(0, 0) %c = aie.tile(0, 2)\n%l = aie.lock(%c, 3)\n"
            "aie.packet_flow(1) { aie.packet_source<%s, DMA : 0> aie.packet_dest<%c, TileControl "
            ": 0> }\naie.shim_dma_allocation @in(%s, MM2S, 0)\n"
            "aie.runtime_sequence(%a: memref<16xi32>) {\n"
            "aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0]" +
            sizes +
            ") {id = 0 : i64, issue_token = true, metadata = @in} : memref<16xi32>\n"
            "aiex.npu.dma_wait {symbol = @in}\n} }";
        ReadOptions options;
        options.words["a"] = {header, 0x1F030, 7};
        options.words["a"].resize(16);
        try {
            lower(parse_design(text, "d.mlir"), options, arch::npu::shipped_config("xdna"));
        } catch (const arch::base::config::ConfigError& error) {
            return error.what();
        }
        return {};
    };
    EXPECT_EQ(refused("[1, 1, 1, 3][0, 0, 0, 1]", 1), "");
    EXPECT_THAT(refused("[1, 1, 1, 3][0, 0, 0, 1]", 5),
                HasSubstr("a packet with id 5 leads from tile 0,0 to no control port"));
    EXPECT_THAT(refused("[1, 1, 3, 1][0, 0, 4, 1]", 1),
                HasSubstr("out of a strided, iterated or chained transfer are not modelled"));
    EXPECT_THAT(refused("[2, 1, 1, 3][4, 0, 0, 1]", 1),
                HasSubstr("out of a strided, iterated or chained transfer are not modelled"));
}

}  // namespace
}  // namespace tilesim::workloads::npu::mlir::routes
