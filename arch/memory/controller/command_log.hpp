// Every command of every channel with its bank, a line each, so that whoever reads the file can
// check all rules: "clock,command,channel,rank,group,bank,row,column,request".
//
// Clock in CK; commands ACT PREpb RD RDA WR WRA REFab REFpb REFsb, and those of processing in
// memory, which go to all banks of their channel (an empty bank) or to one. REFsb names the first
// group's bank, REFpb of a pair the first. A field that does not apply is empty.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "arch/memory/controller/channel.hpp"
#include "arch/memory/device/memory_config.hpp"

namespace tilesim::arch::memory::controller {

class CommandLog final : public CommandListener {
  public:
    static constexpr std::string_view kHeader =
        "clock,command,channel,rank,group,bank,row,column,request\n";
    static constexpr std::int64_t kEveryBank = -1;

    // Keeps at most so many bytes; then it stops listening and says so.
    explicit CommandLog(std::size_t most_bytes) : most_(most_bytes), text_(kHeader) {}

    // The memory it is about to hear, and who else hears its commands; may be null.
    void attach(const device::MemoryConfig& config, CommandListener* next);
    const std::string& text() const { return text_; }
    bool truncated() const { return truncated_; }

    void on_command(std::size_t channel, device::Command command, std::size_t bank,
                    std::int64_t row, std::int64_t now) override;
    void on_column(std::size_t channel, device::Command command, std::size_t bank, std::int64_t row,
                   std::int64_t now, const policy::Burst& burst) override;
    // A command of somebody who has borrowed the channel; `bank` may be kEveryBank.
    void on_guest_command(std::size_t channel, std::string_view command, std::int64_t bank,
                          std::int64_t row, std::int64_t now);

  private:
    void line(std::size_t channel, std::string_view command, std::int64_t bank, std::int64_t row,
              std::int64_t now, std::string_view rest);

    std::size_t most_;
    std::string text_;
    bool truncated_ = false;
    std::int64_t banks_per_rank_ = 1;
    std::int64_t banks_per_group_ = 1;
    CommandListener* next_ = nullptr;
};

}  // namespace tilesim::arch::memory::controller
