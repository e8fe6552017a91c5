#include "arch/memory/controller/channel.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "arch/memory/controller/memory_system.hpp"

namespace tilesim::arch::memory::controller {
namespace {

using namespace base::literals;

// Requests of one burst to one bank of one channel, all of which arrive together.
class OneBank : public port::MemoryClient, public CommandListener {
  public:
    OneBank() {
        config.bank_hash = false;
        config.refresh = false;
    }

    void request(std::int64_t row, bool write = false) {
        const std::int64_t bursts_a_row =
            config.row / config.burst * config.banks() * config.channels;
        constexpr std::int64_t kNextColumn = 1 << 6;  // of the default mapping
        const std::int64_t burst = row * bursts_a_row + column_++ * kNextColumn;
        requests_.push_back(
            {burst * config.burst.count(), config.burst.count(), write, this, 0, 100_ns});
    }

    // The columns' commands and rows, in order.
    std::vector<std::pair<device::Command, std::int64_t>> run() {
        base::EventQueue queue;
        base::stats::Group stats{"test"};
        MemorySystem memory(config, 100_ns, queue, stats);
        memory.listen(this);
        for (const port::MemoryRequest& each : requests_) {
            memory.submit(each);
        }
        queue.run_until(1'000'000_ns);
        EXPECT_TRUE(memory.idle());
        return columns_;
    }

    void on_command(std::size_t, device::Command command, std::size_t bank, std::int64_t row,
                    std::int64_t) override {
        EXPECT_EQ(bank, 0U);
        if (command == device::Command::Read || command == device::Command::Write) {
            columns_.emplace_back(command, row);
        }
        precharges += command == device::Command::Precharge ? 1 : 0;
    }
    void on_memory_complete(std::uint64_t, base::Femtoseconds) override {}

    device::MemoryConfig config;
    int precharges = 0;

  private:
    std::int64_t column_ = 0;
    std::vector<port::MemoryRequest> requests_;
    std::vector<std::pair<device::Command, std::int64_t>> columns_;
};

std::vector<std::pair<device::Command, std::int64_t>> reads(const std::vector<std::int64_t>& rows) {
    std::vector<std::pair<device::Command, std::int64_t>> commands;
    for (const std::int64_t row : rows) {
        commands.emplace_back(device::Command::Read, row);
    }
    return commands;
}

TEST(Channel, RowHitsOvertakeOlderBurstsToOtherRows) {
    OneBank bank;
    for (const std::int64_t row : {5, 6, 5, 7, 6, 5}) {
        bank.request(row);
    }
    EXPECT_EQ(bank.run(), reads({5, 5, 5, 6, 6, 7}));
    EXPECT_EQ(bank.precharges, 2);
}

TEST(Channel, ARowHitOvertakesNoOftenerThanTheCap) {
    OneBank bank;
    bank.config.controller.starvation_cap = 2;
    for (const std::int64_t row : {5, 6, 5, 5, 5, 5, 6}) {
        bank.request(row);
    }
    // The row closes although bursts to it wait, which then are the oldest.
    EXPECT_EQ(bank.run(), reads({5, 5, 5, 6, 6, 5, 5}));
    EXPECT_EQ(bank.precharges, 2);
}

TEST(Channel, WritesWaitUntilTheirQueueFillsOrReadsEnd) {
    OneBank bank;
    bank.request(5, true);
    bank.request(5);
    bank.request(5);
    EXPECT_EQ(
        bank.run(),
        (std::vector<std::pair<device::Command, std::int64_t>>{
            {device::Command::Read, 5}, {device::Command::Read, 5}, {device::Command::Write, 5}}));

    OneBank full;
    full.config.controller.write_high = 2;
    full.config.controller.write_low = 1;
    full.request(5, true);
    full.request(5, true);
    full.request(5);
    EXPECT_EQ(
        full.run(),
        (std::vector<std::pair<device::Command, std::int64_t>>{
            {device::Command::Write, 5}, {device::Command::Read, 5}, {device::Command::Write, 5}}));
}

}  // namespace
}  // namespace tilesim::arch::memory::controller
