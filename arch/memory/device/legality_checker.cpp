#include "arch/memory/device/legality_checker.hpp"

#include <fmt/format.h>

namespace tilesim::arch::memory::device {

namespace {

// Commands that matter to a later one: more than any constraint but refresh can span.
constexpr std::size_t kRemembered = 600;

bool is_column(const HeardCommand& c) {
    return c.command == Command::Read || c.command == Command::Write;
}

bool share_bank(const HeardCommand& a, const HeardCommand& b) {
    return a.bank == b.bank || a.bank == kAllBanks || b.bank == kAllBanks;
}

}  // namespace

LegalityChecker::LegalityChecker(const MemoryConfig& config)
    : config_(config), open_rows_(static_cast<std::size_t>(config.banks()), kNoRow) {}

void LegalityChecker::require(bool holds, const char* rule, const HeardCommand& now) {
    if (!holds) {
        violations_.push_back(fmt::format("{} broken at {}", rule, now.when));
    }
}

void LegalityChecker::hear(const HeardCommand& heard) {
    HeardCommand command = heard;
    command.command = column_of(heard.command);
    if (heard.command == Command::PrechargeAll) {
        command.command = Command::Precharge;
        command.bank = kAllBanks;
    }
    int activates = 0;
    for (const HeardCommand& old : past_) {
        check_pair(old, command);
        activates += old.command == Command::Activate && old.bank != kAllBanks &&
                             command.when - old.when < config_.timing.tFAW.count()
                         ? 1
                         : 0;
    }
    if (command.command == Command::Activate && command.bank != kAllBanks) {
        require(activates < 4, "tFAW", command);
    }
    check_rows(command);
    remember(command);
    if (command.command != heard.command && is_column(command)) {
        const HeardCommand close{
            Command::Precharge,      heard.bank, kNoRow, earliest_close(heard.bank), true,
            base::Cycles{INT64_MAX}, true};
        check_rows(close);
        remember(close);
    }
    ++commands_;
}

void LegalityChecker::remember(const HeardCommand& command) {
    past_.push_back(command);
    if (past_.size() > kRemembered) {
        past_.pop_front();
    }
}

// JEDEC: the precharge of an RDA or WRA begins when one by command could, and no earlier.
std::int64_t LegalityChecker::earliest_close(std::size_t bank) const {
    const DramTiming& t = config_.timing;
    std::int64_t when = 0;
    for (const HeardCommand& old : past_) {
        if (old.bank != bank && old.bank != kAllBanks) {
            continue;
        }
        if (old.command == Command::Activate) {
            when = std::max(when, old.when + t.tRAS.count());
        } else if (old.command == Command::Read) {
            when = std::max(when, old.when + t.tRTP.count());
        } else if (old.command == Command::Write) {
            when = std::max(when, old.when + (t.write_latency + t.burst + t.tWR).count());
        }
    }
    return when;
}

void LegalityChecker::check_pair(const HeardCommand& old, const HeardCommand& now) {
    const DramTiming& t = config_.timing;
    const std::int64_t age = now.when - old.when;
    const bool same_bank = share_bank(old, now);
    const auto per_group = static_cast<std::size_t>(config_.banks_per_group);
    const bool same_group = same_bank || old.bank / per_group == now.bank / per_group;
    const auto at_least = [&](base::Cycles bound, const char* name) {
        require(age >= bound.count(), name, now);
    };
    if (!old.by_itself && (!config_.split_command_bus || is_column(old) == is_column(now))) {
        at_least(old.command == Command::Activate ? t.activate_command
                 : is_column(old)                 ? t.column_command
                                                  : t.precharge_command,
                 "one command at a time");
    }
    switch (now.command) {
        case Command::Activate:
            if (old.command == Command::Activate && same_bank) {
                at_least(t.tRC, "tRC");
            } else if (old.command == Command::Activate) {
                at_least(same_group ? t.tRRD_L : t.tRRD_S, "tRRD");
            } else if (old.command == Command::Precharge && same_bank) {
                at_least(old.bank == kAllBanks ? t.all_banks_tRP() : t.tRP, "tRP");
            } else if (old.command == Command::Refresh) {
                at_least(t.tRFC, "tRFC");
            }
            break;
        case Command::Read:
        case Command::Write:
            check_column(old, now, same_group);
            break;
        case Command::Precharge:
            if (!same_bank || !old.in_array) {
                break;
            }
            if (old.command == Command::Activate) {
                at_least(t.tRAS, "tRAS");
            } else if (old.command == Command::Read) {
                at_least(std::min(t.tRTP, old.read_to_precharge), "tRTP");
            } else if (old.command == Command::Write) {
                at_least(t.write_latency + t.burst + t.tWR, "tWR");
            }
            break;
        case Command::Refresh:
            if (old.command == Command::Precharge) {
                at_least(old.bank == kAllBanks ? t.all_banks_tRP() : t.tRP, "tRP before REF");
            }
            break;
        default:
            require(false, "a command whose rules are not known here", now);
            break;
    }
}

void LegalityChecker::check_column(const HeardCommand& old, const HeardCommand& now,
                                   bool same_group) {
    const DramTiming& t = config_.timing;
    const bool write = now.command == Command::Write;
    const auto at_least = [&](base::Cycles bound, const char* name) {
        require(now.when - old.when >= bound.count(), name, now);
    };
    if (old.command == Command::Activate && share_bank(old, now) && now.in_array) {
        at_least(write && t.tRCD_WR > base::Cycles{0} ? t.tRCD_WR : t.tRCD, "tRCD");
    } else if (old.command == now.command) {
        const bool array_writes = write && old.in_array && now.in_array;
        at_least(!same_group ? t.tCCD_S : array_writes ? t.tCCD_L_WR : t.tCCD_L, "tCCD");
    } else if (old.command == Command::Write) {
        at_least(t.write_latency + t.burst + (same_group ? t.tWTR_L : t.tWTR_S), "tWTR");
    } else if (old.command == Command::Read) {
        at_least(t.read_latency + t.burst + t.tRTW - t.write_latency, "tRTW");
    }
}

void LegalityChecker::check_rows(const HeardCommand& now) {
    for (std::size_t bank = 0; bank < open_rows_.size(); ++bank) {
        if (now.bank != kAllBanks && now.bank != bank && now.command != Command::Refresh) {
            continue;
        }
        std::int64_t& open = open_rows_[bank];
        if (now.command == Command::Activate) {
            require(open == kNoRow, "the bank must be closed", now);
            open = now.row;
        } else if (now.command == Command::Precharge) {
            open = kNoRow;
        } else if (now.command == Command::Refresh) {
            require(open == kNoRow, "every bank must be closed before REF", now);
        } else if (now.in_array) {
            require(open == now.row, "the row must be open", now);
        }
    }
}

}  // namespace tilesim::arch::memory::device
