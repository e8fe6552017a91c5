#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "arch/base/config.hpp"
#include "workloads/npu/binary/configuration_data.hpp"
#include "workloads/npu/binary/decompiled.hpp"
#include "workloads/npu/binary/switch_registers.hpp"
#include "workloads/npu/binary/transaction.hpp"

namespace tilesim::workloads::npu::binary {
namespace {

using arch::base::config::ConfigError;
using testing::HasSubstr;

std::string bytes_of(const std::vector<std::uint32_t>& words) {
    std::string bytes;
    for (const std::uint32_t word : words) {
        for (const int shift : {0, 8, 16, 24}) {
            bytes += static_cast<char>(word >> shift & 0xFF);
        }
    }
    return bytes;
}

// A sequence of npu1: version 0.1, 6 rows, 5 columns.
std::vector<std::uint32_t> sequence(std::uint32_t operations,
                                    const std::vector<std::uint32_t>& body) {
    std::vector<std::uint32_t> words{0x06030100, 0x105, operations,
                                     static_cast<std::uint32_t>((body.size() + 4) * 4)};
    words.insert(words.end(), body.begin(), body.end());
    return words;
}

Transaction read(const std::vector<std::uint32_t>& words) {
    return read_transaction(words_of(bytes_of(words), "insts.bin"));
}

std::string error_of(const std::function<void()>& step) {
    try {
        step();
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

TEST(Transaction, ReadsEveryOperation) {
    const Transaction result =
        read(sequence(7, {0,          0,        0x1D214,    0,
                          0x80000003, 24,  // write
                          1,          0,        0x1D020,    24,
                          7,          11,  // block of two
                          3,          0,        0x32000,    0,
                          2,          2,        28,  // masked
                          4,          0,        0x1D228,    0,
                          0,          4U << 20, 28,                                 // poll
                          0x80,       16,       0x00020100, 0x00010100 | 3U << 24,  // sync
                          0x81,       48,       0,          0,
                          0,          0,        0x1D024,    0,
                          2,          0,        64,         0,  // patch
                          6}));
    EXPECT_EQ(result.generation, 3);
    ASSERT_EQ(result.instructions.size(), 6U);
    EXPECT_EQ(std::get<Write>(result.instructions[0]).words[0], 0x80000003U);
    EXPECT_EQ(std::get<Write>(result.instructions[1]).words, (std::vector<std::uint32_t>{7, 11}));
    EXPECT_EQ(std::get<MaskedWrite>(result.instructions[2]).mask, 2U);
    const auto& poll = std::get<MaskedPoll>(result.instructions[3]);
    EXPECT_EQ(poll.address, 0x1D228U);
    EXPECT_EQ(poll.value, 0U);
    EXPECT_EQ(poll.mask, 4U << 20);
    const Sync& sync = std::get<Sync>(result.instructions[4]);
    EXPECT_EQ(sync.column, 2);
    EXPECT_EQ(sync.row, 1);
    EXPECT_FALSE(sync.to_stream);
    EXPECT_EQ(sync.columns, 1);
    EXPECT_EQ(sync.rows, 1);
    EXPECT_EQ(sync.channel, 3);
    const Patch& patch = std::get<Patch>(result.instructions[5]);
    EXPECT_EQ(patch.address, 0x1D024U);
    EXPECT_EQ(patch.argument, 2);
    EXPECT_EQ(patch.offset, 64);
}

TEST(Transaction, ArgumentsFromTheFifthOnCarryAFlag) {
    const Transaction result =
        read(sequence(1, {0x81, 48, 0, 0, 0, 0, 0x1D024, 0, 5, 0, 0x80000000 | 128, 0}));
    EXPECT_EQ(std::get<Patch>(result.instructions[0]).offset, 128);
}

TEST(Transaction, ReadsNameTheirRegisters) {
    const Transaction result = read(sequence(2, {0x82, 32, 2, 0, 0x04300100, 0, 0x1D220, 0,  //
                                                 0x82, 16, 1, 0x04300104}));
    EXPECT_EQ(std::get<Read>(result.instructions.at(0)).addresses,
              (std::vector<std::uint64_t>{0x04300100, 0x1D220}));
    EXPECT_EQ(std::get<Read>(result.instructions.at(1)).addresses,
              std::vector<std::uint64_t>{0x04300104});
    EXPECT_THAT(error_of([] {
                    read(sequence(1, {0x82, 20, 1, 0, 0x1D220}));
                }),
                HasSubstr("a read of 1 registers does not have 20 bytes"));
    EXPECT_THAT(error_of([] {
                    read(sequence(1, {0x82, 16, 0x7FFFFFFF, 0}));
                }),
                HasSubstr("a read of 2147483647 registers"));
    EXPECT_THAT(error_of([] {
                    read(sequence(1, {0x84, 12, 0}));
                }),
                HasSubstr("operation 0x84 (merge sync) is not modelled"));
}

TEST(Transaction, WhatDoesNotAgreeIsRefused) {
    EXPECT_THAT(error_of([] { read(sequence(2, {6})); }),
                HasSubstr("insts.bin: word 2: 2 operations are stated, 1 were found"));
    EXPECT_THAT(error_of([] {
                    read(sequence(1, {7, 0, 0, 0}));
                }),
                HasSubstr("operation 0x7 (busy poll) is not modelled"));
    EXPECT_THAT(error_of([] {
                    read({0x06030100, 0x105, 0, 64});
                }),
                HasSubstr("64 bytes are stated, the file has 16"));
    EXPECT_THAT(error_of([] { read(sequence(1, {1, 0, 0, 400})); }), HasSubstr("does not fit"));
}

TEST(Transaction, TheShorterVersionLeavesOutWhatIsAlwaysZero) {
    const std::vector<std::uint32_t> body{
        0,    0x1D214, 0x80000003,  // write
        1,    0x1D020, 20,         7,
        11,                            // block of two
        3,    0x32000, 2,          5,  // masked
        0x80, 16,      0x00020100, 0x00010100 | 3U << 24,
        6,  // sync, preemption
        0x81, 24,      0x1D044,    3,
        96,   0,  // patch
    };
    std::vector<std::uint32_t> words = sequence(6, body);
    words[0] = 0x06030001;
    const Transaction result = read(words);
    ASSERT_EQ(result.instructions.size(), 5U);
    EXPECT_EQ(std::get<Patch>(result.instructions[4]).address, 0x1D044U);
    EXPECT_EQ(std::get<Patch>(result.instructions[4]).argument, 3U);
    EXPECT_EQ(std::get<Patch>(result.instructions[4]).offset, 96U);
    EXPECT_EQ(std::get<Write>(result.instructions[0]).address, 0x1D214U);
    EXPECT_EQ(std::get<Write>(result.instructions[0]).words[0], 0x80000003U);
    EXPECT_EQ(std::get<Write>(result.instructions[1]).address, 0x1D020U);
    EXPECT_EQ(std::get<Write>(result.instructions[1]).words, (std::vector<std::uint32_t>{7, 11}));
    EXPECT_EQ(std::get<MaskedWrite>(result.instructions[2]).value, 2U);
    EXPECT_EQ(std::get<MaskedWrite>(result.instructions[2]).mask, 5U);
    EXPECT_EQ(std::get<Sync>(result.instructions[3]).column, 2);
    words[0] = 0x06030002;
    EXPECT_FALSE(is_binary_design(bytes_of(words)));
}

TEST(Transaction, HexTextIsTheSame) {
    const std::string text = "06030100\n00000105\n00000001\n00000014\n00000006\n";
    EXPECT_EQ(read_transaction(words_of(text, "insts.txt")).instructions.size(), 0U);
}

std::vector<std::uint32_t> configuration(const std::vector<std::uint32_t>& commands) {
    const auto length = static_cast<std::uint32_t>(commands.size());
    std::vector<std::uint32_t> words{4, 0x004F4443, 0x200, length, 0};
    words[4] = ~(words[0] + words[1] + words[2] + words[3]);
    words.insert(words.end(), commands.begin(), commands.end());
    return words;
}

TEST(Configuration, ReadsWritesWhereverTheFileHasThem) {
    const std::vector<std::uint32_t> words = configuration({0x111,                       // nothing
                                                            0x30108, 0, 0x21F030, 1,     // write
                                                            0x40107, 0, 0x232000, 2, 3,  // masked
                                                            0xFF0105, 4, 0, 0x1D000, 5, 6,  // block
                                                            0x100});
    const std::string inside = std::string(336, '\xff') + bytes_of(words) + "behind it";
    for (const std::string& bytes : {bytes_of(words), inside}) {
        const auto writes = read_configuration(bytes, "x.pdi").writes;
        ASSERT_EQ(writes.size(), 3U);
        EXPECT_EQ(std::get<Write>(writes[0]).address, 0x21F030U);
        EXPECT_EQ(std::get<MaskedWrite>(writes[1]).mask, 2U);
        EXPECT_EQ(std::get<MaskedWrite>(writes[1]).value, 3U);
        EXPECT_EQ(std::get<Write>(writes[2]).words, (std::vector<std::uint32_t>{5, 6}));
    }
    std::vector<std::uint32_t> wrong = words;
    wrong[4] ^= 1;
    EXPECT_THAT(error_of([&] { read_configuration(bytes_of(wrong), "x.bin"); }),
                HasSubstr("checksum is wrong"));
    EXPECT_THAT(error_of([] {
                    read_configuration(bytes_of(configuration({0x101FF, 0})), "x.bin");
                }),
                HasSubstr("command 0x1ff is not known"));
}

TEST(Configuration, CommandsThatWaitAndOtherUnitsAreNotTheArrays) {
    // A poll, one of the power module's, a write of a processor's register; then one of the array.
    const std::vector<std::uint32_t> words =
        configuration({0x10101, 0, 0x10236, 7, 0x20103, 0xF7050000, 1, 0x30108, 0, 0x21F030, 1});
    EXPECT_EQ(read_configuration(bytes_of(words), "x.pdi").writes.size(), 1U);
    EXPECT_EQ(read_configuration(bytes_of(words), "x.pdi").elsewhere, 1U);
    const std::string text =
        decompiled({}, {"x.pdi", bytes_of(configuration({0x20103, 0xF7050000, 1}))});
    EXPECT_THAT(text, HasSubstr("nothing in the configuration writes an AI Engine array's "
                                "registers: 1 writes of the configuration set up other units"));
    // The highest byte first.
    std::string swapped = bytes_of(words);
    for (std::size_t i = 0; i < swapped.size(); i += 4) {
        std::swap(swapped[i], swapped[i + 3]);
        std::swap(swapped[i + 1], swapped[i + 2]);
    }
    EXPECT_TRUE(is_binary_design(swapped));
    EXPECT_EQ(read_configuration(swapped, "x.cdo").writes.size(), 1U);
}

TEST(Configuration, CommandsThatWriteSeveralRegistersAreTheirWrites) {
    const auto writes =
        read_configuration(bytes_of(configuration({
                               0x4010C,    0,       0x21F000, 3,        9,  // block set
                               0x30121,    5,       0x21F030, 0x21F040,     // scatter
                               0x2011B,    0,       0x6D616E,               // block begins
                               0x30108,    0,       0x21F050, 1,            // write
                               0x0011C,                                     // block ends
                               0x4011A,    7,       0x20103,  0x21F060, 2,  // procedure
                               0xFFFFFFFF, 0x30108, 0,        0x21F070, 1   // behind the end
                           })),
                           "x.bin")
            .writes;
    ASSERT_EQ(writes.size(), 4U);
    EXPECT_EQ(std::get<Write>(writes[0]).address, 0x21F000U);
    EXPECT_EQ(std::get<Write>(writes[0]).words, (std::vector<std::uint32_t>{9, 9, 9}));
    EXPECT_EQ(std::get<Write>(writes[1]).address, 0x21F030U);
    EXPECT_EQ(std::get<Write>(writes[2]).address, 0x21F040U);
    EXPECT_EQ(std::get<Write>(writes[2]).words, (std::vector<std::uint32_t>{5}));
    EXPECT_EQ(std::get<Write>(writes[3]).address, 0x21F050U);
}

TEST(Configuration, WhatItsFormAllowsAndIsNotReadIsRefusedByName) {
    const auto error = [](const std::vector<std::uint32_t>& commands) {
        return error_of([&] { read_configuration(bytes_of(configuration(commands)), "x.bin"); });
    };
    EXPECT_THAT(error({0x60109, 0, 0, 0, 0, 1, 0}), HasSubstr("DMA transfer (command 0x109)"));
    EXPECT_THAT(error({0x1011D, 1}), HasSubstr("break out of a block (command 0x11d)"));
    EXPECT_THAT(error({0x30122, 1, 2, 0x21F000}), HasSubstr("scatter write of two values"));
    EXPECT_THAT(error({0x4010D, 0, 0x21F000, 4, 1}), HasSubstr("keyhole write (0x10d)"));
    EXPECT_THAT(error({0x4010C, 0, 0x21F000, 0xFFFFFFFF, 1}), HasSubstr("block of 4294967295"));
    // A group of commands where no PDI's header says that they are grouped.
    EXPECT_THAT(error({3, 1, 0x21F000, 1}), HasSubstr("command 0x3 is not known"));
    // Of another unit's it is one of the writes that are counted.
    EXPECT_EQ(read_configuration(bytes_of(configuration({0x4010D, 1, 0xF1200000, 4, 1})), "x.bin")
                  .elsewhere,
              1U);
    std::vector<std::uint32_t> old = configuration({0x111});
    old[2] = 0x114;
    old[4] = ~(old[0] + old[1] + old[2] + old[3]);
    EXPECT_THAT(error_of([&] { read_configuration(bytes_of(old), "x.bin"); }),
                HasSubstr("version 1.20 keeps its commands in sections"));
}

// A PDI as xclbinutil rewrites it; its CDO's header still states the length of before.
std::string grouped(const std::vector<std::uint32_t>& commands,
                    const std::vector<std::uint32_t>& data) {
    const auto length = static_cast<std::uint32_t>(4 * commands.size());
    std::vector<std::uint32_t> words{1, length, 0x8966 | length << 16 | length >> 16, 0};
    const std::vector<std::uint32_t> header = configuration(std::vector<std::uint32_t>(1000));
    words.insert(words.end(), header.begin(), header.begin() + 5);
    words.insert(words.end(), commands.begin(), commands.end());
    words.insert(words.end(), data.begin(), data.end());
    return std::string(320, '\0') + bytes_of(words);
}

TEST(Configuration, CommandsThatXclbinutilHasGroupedAreTheSameWrites) {
    const std::vector<std::uint32_t> commands{
        3, 2,       0x21F000, 1,        0x21F010, 2,  // two writes
        2, 1,       0x35014,  0x7F,     0x3F,         // masked
        8, 1,       0,        0x21F020, 3,            // write, address of two words
        7, 1,       0,        0x232000, 2,        3,  // masked, likewise
        5, 2,       0,        0x1D000,  4,        2,
        0, 0x1D020, 0,        0x10001  // blocks: bytes into the data, words
    };
    const auto writes = read_configuration(grouped(commands, {9, 5, 6}), "x.pdi").writes;
    ASSERT_EQ(writes.size(), 7U);
    EXPECT_EQ(std::get<Write>(writes[1]).address, 0x21F010U);
    EXPECT_EQ(std::get<Write>(writes[1]).words, (std::vector<std::uint32_t>{2}));
    EXPECT_EQ(std::get<MaskedWrite>(writes[2]).address, 0x35014U);
    EXPECT_EQ(std::get<MaskedWrite>(writes[2]).mask, 0x7FU);
    EXPECT_EQ(std::get<MaskedWrite>(writes[2]).value, 0x3FU);
    EXPECT_EQ(std::get<Write>(writes[3]).address, 0x21F020U);
    EXPECT_EQ(std::get<MaskedWrite>(writes[4]).mask, 2U);
    EXPECT_EQ(std::get<MaskedWrite>(writes[4]).value, 3U);
    EXPECT_EQ(std::get<Write>(writes[5]).words, (std::vector<std::uint32_t>{5, 6}));
    EXPECT_EQ(std::get<Write>(writes[6]).address, 0x1D020U);
    EXPECT_EQ(std::get<Write>(writes[6]).words, (std::vector<std::uint32_t>{9}));
    const auto error = [&](const std::vector<std::uint32_t>& words,
                           const std::vector<std::uint32_t>& data) {
        return error_of([&] { read_configuration(grouped(words, data), "x.pdi"); });
    };
    // As versions of the tool do, which count the file without its CDO's header.
    EXPECT_THAT(error(commands, {9, 5}),
                HasSubstr("2 words at byte 4 of the data lie behind the image's end (versions of "
                          "xclbinutil cut off its last 20 bytes)"));
    EXPECT_THAT(error({3, 2, 0x21F000, 1}, {1, 2}), HasSubstr("group of 2 commands does not fit"));
    EXPECT_THAT(error({0x11, 1, 0}, {}), HasSubstr("a group of commands 0x11 is not known"));
    std::string short_file = grouped(commands, {});
    short_file.resize(short_file.size() - 8);
    EXPECT_THAT(error_of([&] { read_configuration(short_file, "x.pdi"); }),
                HasSubstr("words of commands are stated, the file has"));
}

// An xclbin as XRT lays it out: its platform's boot image, then a partition of two images.
std::string xclbin(const std::vector<std::vector<std::uint32_t>>& images) {
    constexpr std::uint32_t kBoot = 18;
    constexpr std::uint32_t kPartition = 32;
    const std::string boot = bytes_of(configuration({0x30108, 0, 0x21F000, 1}));
    std::vector<std::uint32_t> partition(46 + 24 * images.size());
    partition[30] = static_cast<std::uint32_t>(images.size());
    partition[31] = 46 * 4;
    std::string data;
    for (std::size_t i = 0; i < images.size(); ++i) {
        const std::string image = bytes_of(images[i]);
        partition[46 + 24 * i + 4] = static_cast<std::uint32_t>(image.size());
        partition[46 + 24 * i + 5] = static_cast<std::uint32_t>(partition.size() * 4 + data.size());
        data += image;
    }
    data.insert(0, bytes_of(partition));
    std::vector<std::uint32_t> head(114 + 2 * 10);
    head[0] = 0x626C6378;  // "xclb"
    head[1] = 0x00326E69;  // "in2"
    head[112] = 2;
    head[114] = kBoot;
    head[114 + 6] = static_cast<std::uint32_t>(head.size() * 4);
    head[114 + 8] = static_cast<std::uint32_t>(boot.size());
    head[124] = kPartition;
    head[124 + 6] = static_cast<std::uint32_t>(head.size() * 4 + boot.size());
    head[124 + 8] = static_cast<std::uint32_t>(data.size());
    return bytes_of(head) + boot + data;
}

TEST(Configuration, OfAnXclbinOneOfItsPartitionsImagesIsLoaded) {
    const std::vector<std::uint32_t> first = configuration({0x30108, 0, 0x21F010, 2});
    const std::vector<std::uint32_t> second = configuration({0x30108, 0, 0x21F020, 3});
    const auto address = [](const Configuration& read) {
        EXPECT_EQ(read.writes.size(), 1U);
        return std::get<Write>(read.writes[0]).address;
    };
    const Configuration only = read_configuration(xclbin({first}), "x.xclbin");
    EXPECT_EQ(address(only), 0x21F010U);
    EXPECT_EQ(only.others, "");
    const std::string both = xclbin({first, second});
    EXPECT_EQ(address(read_configuration(both, "x.xclbin")), 0x21F010U);
    EXPECT_THAT(read_configuration(both, "x.xclbin").others, HasSubstr("2 configurations"));
    EXPECT_THAT(decompiled({}, {"x.xclbin", both}), HasSubstr("tilesim.note \"the xclbin holds 2"));
    EXPECT_EQ(address(read_configuration(both, "x.xclbin", 2)), 0x21F020U);
    EXPECT_EQ(read_configuration(both, "x.xclbin", 2).others, "");
    EXPECT_THAT(error_of([&] { read_configuration(both, "x.xclbin", 3); }),
                HasSubstr("x.xclbin: holds 2 configurations, there is no part 3"));
    EXPECT_THAT(error_of([&] { read_configuration(bytes_of(first), "x.cdo", 2); }),
                HasSubstr("x.cdo: holds 1 configuration, there is no part 2"));
    EXPECT_THAT(error_of([&] { read_configuration(both.substr(0, both.size() - 1), "x.xclbin"); }),
                HasSubstr("x.xclbin: 448 bytes are stated at byte 572, it has 1019"));
}

TEST(Configuration, ADeviceImageAsTextIsTheSameBytes) {
    const std::string bytes = bytes_of(configuration({0x30108, 0, 0x21F030, 0x1F}));
    std::string text = "Xilinx ASCII PSAXIMM Deviceimage\nCreated by PCW\nBits:         288\n";
    for (std::size_t i = 0; i < bytes.size(); i += 4) {
        for (std::size_t k = i; k < i + 4; ++k) {
            text += fmt::format("{:02X}", static_cast<unsigned char>(bytes[k]));
        }
        text += "\r\n";
    }
    ASSERT_TRUE(is_binary_design(text));
    const auto writes = read_configuration(text, "x.cdo").writes;
    ASSERT_EQ(writes.size(), 1U);
    EXPECT_EQ(std::get<Write>(writes[0]).address, 0x21F030U);
    EXPECT_EQ(std::get<Write>(writes[0]).words[0], 0x1FU);
}

TEST(SwitchRegisters, CircuitsPacketsAndTheShimsMultiplexers) {
    // Core: DMA 0 out of South 1 (slave 5 + 1); master DMA 0 is the second register.
    EXPECT_EQ(switches_of(SwitchKind::Core, "t", {{0x3F004, 0x80000006}}),
              "%switch_t = aie.switchbox(%t) {\n  aie.connect<South : 1, DMA : 0>\n}\n");
    // Packets: South 0 (slave 5) to DMA 1 by arbiter 2, selector 1; id 3 under mask 31.
    const std::string packets =
        switches_of(SwitchKind::Core, "t",
                    {{0x3F008, 0xC0000080 | 2U << 3 | 2},
                     {0x3F114, 3U << 30},
                     {0x3F250, 3U << 24 | 31U << 16 | 1U << 8 | 1U << 4 | 2}});
    EXPECT_THAT(packets, HasSubstr("%a2_1 = aie.amsel<2> (1)"));
    EXPECT_THAT(packets, HasSubstr("aie.masterset(DMA : 1, %a2_1) {keep_pkt_header = false}"));
    EXPECT_THAT(packets, HasSubstr("aie.packet_rules(South : 0) {\n    aie.rule(31, 3, %a2_1)"));
    // The same arbiter in turns: one packet of South 0, two of DMA 1 (slave 2); only once enabled.
    TileRegisters merging{{0x3F008, 0xC0000080 | 2U << 3 | 1},
                          {0x3F114, 3U << 30},
                          {0x3F250, 3U << 24 | 31U << 16 | 1U << 8 | 1U << 4 | 1},
                          {0x3F810, 2U << 24 | 2U << 16 | 1U << 8 | 5}};
    EXPECT_THAT(switches_of(SwitchKind::Core, "t", merging),
                HasSubstr("%a1_1 = aie.amsel<1> (1)\n"));
    merging[0x3F818] = 1;
    EXPECT_THAT(switches_of(SwitchKind::Core, "t", merging),
                HasSubstr("aie.amsel<1> (1) deterministic_merge [<South : 0, 1>, <DMA : 1, 2>]\n"));
    EXPECT_THAT(switches_of(SwitchKind::Shim, "s", {{0x1F000, 1U << 10}, {0x1F004, 1U << 4}}),
                testing::AllOf(HasSubstr("aie.connect<DMA : 0, North : 3>"),
                               HasSubstr("aie.connect<North : 2, DMA : 0>")));
}

TEST(Decompiled, ADesignOfItsTilesSwitchesAndWrites) {
    const std::string text =
        decompiled({"insts.bin", bytes_of(sequence(1, {0, 0, 0x1D214, 0, 3, 24}))},
                   {"cdo.bin", bytes_of(configuration({0x30108, 0, 0x21F010, 2}))});
    EXPECT_THAT(text, HasSubstr("aie.device(npu1)"));
    EXPECT_THAT(text, HasSubstr("%tile_0_2 = aie.tile(0, 2)"));
    EXPECT_THAT(text, HasSubstr("tilesim.configuration {\naiex.npu.write32 {address = 2224144"));
    EXPECT_THAT(text, HasSubstr("aiex.npu.write32 {address = 119316, value = 3}"));
}

TEST(Decompiled, ABlockIsOneWrite) {
    const std::string text =
        decompiled({"insts.bin", bytes_of(sequence(1, {1, 0, 0x1D020, 24, 7, 11}))}, {});
    EXPECT_THAT(text, HasSubstr("aiex.npu.write32 {address = 118816, value = 7}\n"
                                "aiex.npu.write32 {address = 118820, value = 11, of_a_block}"));
}

TEST(Decompiled, OfASequenceAloneItsShimTransfersStay) {
    const std::string text = decompiled(
        {"insts.bin",
         bytes_of(sequence(4, {0,    0,  0x1D214,    0,         3,          24,  // a shim's task
                               0,    0,  0x21F030,   0,         1,          24,  // a core's lock
                               0,    0,  0x3F01C,    0,         0x80000000, 24,  // a switch
                               0x80, 16, 0x00000001, 0x00010100}))},
        {});
    EXPECT_THAT(text, HasSubstr("address = 119316, value = 3}"));
    EXPECT_THAT(text, HasSubstr("aiex.npu.sync {column = 0, row = 0, direction = 1, channel = 0,"));
    EXPECT_THAT(text, testing::Not(HasSubstr("value = 1}")));
    EXPECT_THAT(text, testing::Not(HasSubstr("switchbox")));
}

TEST(Decompiled, ReadsNameTheirTiles) {
    const std::string text =
        decompiled({"insts.bin", bytes_of(sequence(1, {0x82, 24, 1, 0, 0x04300100, 0}))}, {});
    EXPECT_THAT(text, HasSubstr("%tile_2_3 = aie.tile(2, 3)\n"));
    EXPECT_THAT(text, HasSubstr("aiex.npu.read_reg(%tile_2_3, 256)\n"));
}

TEST(Decompiled, MoreColumnsThanNpu1HasAreNpu2s) {
    const auto device_of = [](std::uint32_t column) {
        return decompiled({}, {"cdo.bin",
                               bytes_of(configuration({0x30108, 0, column << 25 | 0x21F010, 2}))})
            .substr(0, 16);
    };
    EXPECT_EQ(device_of(4), "aie.device(npu1)");
    EXPECT_EQ(device_of(5), "aie.device(npu2)");
}

}  // namespace
}  // namespace tilesim::workloads::npu::binary
