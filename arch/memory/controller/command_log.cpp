#include "arch/memory/controller/command_log.hpp"

#include <fmt/format.h>

namespace tilesim::arch::memory::controller {

void CommandLog::attach(const device::MemoryConfig& config, CommandListener* next) {
    banks_per_rank_ = config.banks_per_rank();
    banks_per_group_ = config.banks_per_group;
    next_ = next;
}

void CommandLog::line(std::size_t channel, std::string_view command, std::int64_t bank,
                      std::int64_t row, std::int64_t now, std::string_view rest) {
    if (text_.size() >= most_) {
        truncated_ = true;
        return;
    }
    const std::string where =
        bank == kEveryBank
            ? ",,"
            : fmt::format("{},{},{}", bank / banks_per_rank_,
                          bank % banks_per_rank_ / banks_per_group_, bank % banks_per_group_);
    text_ += fmt::format("{},{},{},{},{},{}\n", now, command, channel, where,
                         row >= 0 ? std::to_string(row) : "", rest);
}

void CommandLog::on_command(std::size_t channel, device::Command command, std::size_t bank,
                            std::int64_t row, std::int64_t now) {
    const bool whole_rank =
        command == device::Command::Refresh || command == device::Command::PrechargeAll;
    line(channel, device::kCommandNames[command],
         static_cast<std::int64_t>(
             whole_rank ? bank - bank % static_cast<std::size_t>(banks_per_rank_) : bank),
         row, now, ",");
    if (next_ != nullptr) {
        next_->on_command(channel, command, bank, row, now);
    }
}

void CommandLog::on_column(std::size_t channel, device::Command command, std::size_t bank,
                           std::int64_t row, std::int64_t now, const policy::Burst& burst) {
    line(channel, device::kCommandNames[command], static_cast<std::int64_t>(bank), row, now,
         fmt::format("{},{}", static_cast<std::uint32_t>(burst.column), burst.request));
    if (next_ != nullptr) {
        next_->on_column(channel, command, bank, row, now, burst);
    }
}

void CommandLog::on_guest_command(std::size_t channel, std::string_view command, std::int64_t bank,
                                  std::int64_t row, std::int64_t now) {
    line(channel, command, bank, row, now, ",");
}

}  // namespace tilesim::arch::memory::controller
