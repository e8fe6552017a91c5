#include "arch/memory/traffic/stream_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "arch/base/config.hpp"
#include "arch/base/temporary_folder_testing.hpp"

namespace tilesim::arch::memory::traffic {
namespace {

std::vector<std::int64_t> addresses(const StreamConfig& config) {
    const StreamSource source(config);
    std::vector<std::int64_t> list;
    for (std::int64_t i = 0; i < config.requests; ++i) {
        list.push_back(source.request(i).address);
    }
    return list;
}

StreamConfig random_stream(std::uint64_t seed, std::uint64_t number) {
    StreamConfig config;
    config.pattern = StreamConfig::Pattern::Random;
    config.requests = 200;
    config.range = base::Bytes{std::int64_t{1} << 40};
    config.seed = seed;
    config.number = number;
    return config;
}

// Two streams that asked for the same places one after the other would meet in every bank.
TEST(StreamSource, StreamsAndSeedsHaveRandomNumbersOfTheirOwn) {
    std::set<std::int64_t> all;
    std::size_t count = 0;
    for (const std::uint64_t seed : {1, 2, 3}) {
        for (const std::uint64_t number : {0, 1, 5}) {
            const auto list = addresses(random_stream(seed, number));
            EXPECT_EQ(list, addresses(random_stream(seed, number)));
            all.insert(list.begin(), list.end());
            count += list.size();
        }
    }
    EXPECT_EQ(all.size(), count);
}

TEST(StreamSource, WhatIsWrittenIsRandomToo) {
    const auto writes = [](std::uint64_t seed) {
        StreamConfig config = random_stream(seed, 0);
        config.pattern = StreamConfig::Pattern::Sequential;
        config.write_permille = 500;
        const StreamSource source(config);
        std::vector<bool> list;
        for (std::int64_t i = 0; i < config.requests; ++i) {
            list.push_back(source.request(i).write);
        }
        return list;
    };
    EXPECT_NE(writes(1), writes(2));
    EXPECT_NEAR(static_cast<double>(std::ranges::count(writes(3), true)), 100, 25);
}

class Trace : public testing::Test {
  protected:
    StreamSource read(const std::string& text) const {
        std::ofstream(file) << text;
        StreamConfig config;
        config.trace = file;
        return StreamSource(config);
    }
    std::string refusal(const std::string& text) const {
        try {
            read(text);
        } catch (const base::config::ConfigError& error) {
            const std::string message = error.what();
            return message.substr(message.rfind('/') + 1);
        }
        return "";
    }
    base::TemporaryFolder folder;
    std::string file = (folder.path() / "t.csv").string();
};

TEST_F(Trace, HasCommentsAndAHeaderBeforeItsFirstRequest) {
    const StreamSource source = read("# of a board\nop,address,bytes\nR,0x40\n\nW,128,8\r\n");
    ASSERT_EQ(source.size(), 2);
    EXPECT_EQ(source.request(0).address, 64);
    EXPECT_EQ(source.request(0).bytes, 64);
    EXPECT_TRUE(source.request(1).write);
    EXPECT_EQ(source.request(1).bytes, 8);
}

TEST_F(Trace, MayBeginWithTheByteOrderMarkOfASpreadsheet) {
    EXPECT_EQ(read("\xEF\xBB\xBFop,address\nR,64\n").request(0).address, 64);
    EXPECT_EQ(read("\xEF\xBB\xBFR,64\n").request(0).address, 64);
}

TEST_F(Trace, IsRefusedWithThePlaceOfWhatIsWrong) {
    EXPECT_EQ(refusal("R,0,64\nW,12x,64\n"),
              "t.csv:2:3: address must be an integer 0..4611686018427387903, got '12x'");
    EXPECT_EQ(refusal("R,128,0\n"), "t.csv:1:7: bytes must be an integer 1..65536, got '0'");
    EXPECT_EQ(refusal("R,0\nop,address\n"),
              "t.csv:2:1: must be R or W, an address and optionally bytes, got 'op,address'");
    EXPECT_EQ(refusal("R,0,\n"), "t.csv:1:5: bytes must be an integer 1..65536, got ''");
    EXPECT_EQ(refusal("# of a board\nop,bytes,address\nR,64,4096\n"),
              "t.csv:2:1: must be op,address or op,address,bytes, got 'op,bytes,address'");
    EXPECT_EQ(refusal("op,address\n"), "t.csv:1:1: the trace holds no request");
    EXPECT_EQ(refusal("R,0\nR,\xFF\n"), "t.csv:2:3: must be UTF-8 text, got the byte 0xff");
}

}  // namespace
}  // namespace tilesim::arch::memory::traffic
