#include "arch/memory/memory_system.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <map>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/memory/stream_driver.hpp"

namespace tilesim::arch::memory {
namespace {

MemoryConfig device(const std::string& name) {
    auto document = base::config::Document::load(std::string{TILESIM_SOURCE_DIR} +
                                                 "/configs/devices/" + name + ".yaml");
    return read_memory_config(document.root().child("memory", ""));
}

// Checks every command against the data sheet's rules, from nothing but the list of past commands:
// it shares no code and no state with the model's bank machines.
class LegalityChecker final : public CommandListener {
  public:
    explicit LegalityChecker(const MemoryConfig& config) : config_(config) {}

    void on_command(std::size_t channel, Command command, std::size_t bank, std::int64_t row,
                    std::int64_t now) override {
        auto& past = past_[channel];
        const DramTiming& t = config_.timing;
        const std::size_t per_group = static_cast<std::size_t>(config_.banks_per_group);
        int activates = 0;
        for (const Issued& old : past) {
            const std::int64_t age = now - old.when;
            const bool same_bank = old.bank == bank;
            const bool same_group = old.bank / per_group == bank / per_group;
            const bool column = old.command == Command::Read || old.command == Command::Write;
            at_least_bus(old.command == Command::Activate ? t.activate_command
                         : column                         ? t.column_command
                                                          : base::Cycles{1},
                         age, now);
            const std::int64_t write_end = age - (t.write_latency + t.burst).count();
            const auto at_least = [&](base::Cycles bound, const char* name) {
                require(age >= bound.count(), name, now);
            };
            switch (command) {
                case Command::Activate:
                    if (old.command == Command::Activate) {
                        at_least(same_bank    ? t.tRC
                                 : same_group ? t.tRRD_L
                                              : t.tRRD_S,
                                 "tRC / tRRD");
                        activates += age < t.tFAW.count() ? 1 : 0;
                    } else if (old.command == Command::Precharge && same_bank) {
                        at_least(t.tRP, "tRP");
                    } else if (old.command == Command::Refresh) {
                        at_least(t.tRFC, "tRFC");
                    }
                    break;
                case Command::Read:
                case Command::Write:
                    if (old.command == Command::Activate && same_bank) {
                        at_least(t.tRCD, "tRCD");
                    } else if (old.command == command) {
                        at_least(!same_group                 ? t.tCCD_S
                                 : command == Command::Write ? t.tCCD_L_WR
                                                             : t.tCCD_L,
                                 "tCCD");
                    } else if (old.command == Command::Write) {
                        require(write_end >= (same_group ? t.tWTR_L : t.tWTR_S).count(), "tWTR",
                                now);
                    } else if (old.command == Command::Read) {
                        require(age + t.write_latency.count() >=
                                    (t.read_latency + t.burst + t.tRTW).count(),
                                "tRTW", now);
                    }
                    break;
                case Command::Precharge:
                    if (same_bank && old.command == Command::Activate) {
                        at_least(t.tRAS, "tRAS");
                    } else if (same_bank && old.command == Command::Read) {
                        at_least(t.tRTP, "tRTP");
                    } else if (same_bank && old.command == Command::Write) {
                        require(write_end >= t.tWR.count(), "tWR", now);
                    }
                    break;
                case Command::Refresh:
                    if (old.command == Command::Precharge) {
                        at_least(t.tRP, "tRP before REF");
                    }
                    break;
            }
        }
        require(activates < 4, "tFAW", now);
        const auto open = open_.try_emplace({channel, bank}, kNoRow).first;
        if (command == Command::Read || command == Command::Write) {
            require(open->second == row, "the row must be open", now);
        } else if (command == Command::Activate) {
            require(open->second == kNoRow, "the bank must be closed", now);
            open->second = row;
        } else if (command == Command::Precharge) {
            open->second = kNoRow;
        }
        past.push_back({command, bank, row, now});
        while (past.size() > 600) {
            past.pop_front();
        }
        ++commands;
    }
    std::int64_t commands = 0;

  private:
    struct Issued {
        Command command;
        std::size_t bank;
        std::int64_t row;
        std::int64_t when;
    };
    static void at_least_bus(base::Cycles busy, std::int64_t age, std::int64_t now) {
        require(age >= busy.count(), "one command at a time", now);
    }
    static void require(bool holds, const char* rule, std::int64_t now) {
        EXPECT_TRUE(holds) << rule << " broken at " << now;
    }
    MemoryConfig config_;
    std::map<std::size_t, std::deque<Issued>> past_;  // by channel, the latest
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t> open_;
};

struct Outcome {
    StreamResult result;
    MemoryTotals totals;
    std::int64_t commands;
};

Outcome run(const MemoryConfig& config, const StreamConfig& stream, bool check = false) {
    base::EventQueue queue;
    base::stats::Group root("");
    MemorySystem memory(config, StreamDriver::latency(config), queue, root);
    LegalityChecker checker(config);
    if (check) {
        memory.listen(&checker);
    }
    StreamDriver driver(stream, memory);
    driver.start();
    while (!driver.finished() && !queue.empty()) {
        queue.run_until(queue.next_time());
    }
    EXPECT_TRUE(driver.finished());
    memory.finish_statistics();
    for (const auto& channel : memory.channels()) {
        EXPECT_GE(channel->stats().bus.spent(0), 0);
    }
    return {driver.result(), memory.totals(), checker.commands};
}

class Devices : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Shipped, Devices, testing::Values("ddr5_5600", "lpddr5x_7500"));

TEST_P(Devices, IdleReadTakesExactlyActivateColumnAndBurst) {
    const MemoryConfig config = device(GetParam());
    StreamConfig stream;
    stream.requests = 1;
    stream.granule = config.burst;
    const DramTiming& t = config.timing;
    const base::Clock clock{config.clock};
    EXPECT_EQ(clock.cycle_at(run(config, stream).result.latency_max + base::Femtoseconds{1}),
              t.tRCD + t.read_latency + t.burst);
}

TEST_P(Devices, SequentialReadsReachThePeakWithoutRefresh) {
    MemoryConfig config = device(GetParam());
    config.refresh = false;
    StreamConfig stream;
    stream.requests = 200'000;
    stream.granule = config.burst;
    stream.outstanding = 1024;
    const Outcome outcome = run(config, stream);
    const double seconds = static_cast<double>(outcome.result.time.count()) * 1e-15;
    const double share =
        static_cast<double>(outcome.result.bytes) / seconds / config.peak_bytes_per_second();
    EXPECT_LE(share, 1.0);
    EXPECT_GE(share, 0.97);
}

TEST_P(Devices, CommandsAreLegalUnderEveryPagePolicy) {
    for (const PagePolicy policy : {PagePolicy::Open, PagePolicy::Closed, PagePolicy::Timeout}) {
        MemoryConfig config = device(GetParam());
        config.controller.page_policy = policy;
        StreamConfig stream;
        stream.pattern = StreamConfig::Pattern::Random;
        stream.requests = 6'000;
        stream.granule = config.burst;
        stream.range = base::Bytes{1 << 20};
        stream.write_permille = 300;
        const Outcome outcome = run(config, stream, true);
        EXPECT_GT(outcome.commands, stream.requests);
        EXPECT_EQ(outcome.totals.bytes_read + outcome.totals.bytes_written,
                  outcome.totals.bytes_requested);
    }
}

TEST_P(Devices, RunsRepeatBitForBit) {
    StreamConfig stream;
    stream.pattern = StreamConfig::Pattern::Random;
    stream.requests = 5'000;
    stream.write_permille = 300;
    EXPECT_EQ(run(device(GetParam()), stream).result.time,
              run(device(GetParam()), stream).result.time);
}

TEST_P(Devices, MisalignedRequestsCostWholeBursts) {
    const MemoryConfig config = device(GetParam());
    StreamConfig stream;
    stream.requests = 10;
    stream.granule = base::Bytes{4};
    stream.pattern = StreamConfig::Pattern::Strided;
    const Outcome outcome = run(config, stream);
    EXPECT_EQ(outcome.totals.bytes_requested, 40);
    EXPECT_EQ(outcome.totals.bytes_read, 10 * config.burst.count());
}

TEST(MemoryConfig, BrokenRelationsAreNamed) {
    auto document = base::config::Document::parse(
        "memory: {timing: {tRAS: 12 cycle, tREFI: 100 cycle}}\n", "f.yaml");
    read_memory_config(document.root().child("memory", ""));
    try {
        document.finish();
        FAIL();
    } catch (const base::config::ConfigError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("tRCD <= tRAS"), std::string::npos);
        EXPECT_NE(text.find("tRFC < tREFI"), std::string::npos);
    }
}

}  // namespace
}  // namespace tilesim::arch::memory
