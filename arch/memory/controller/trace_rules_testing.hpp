// For tests: a data sheet's rules for the lines of a command log, read from the text alone. It
// shares no code with the scheduler, the timing state or the checker of arch/memory/device.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "arch/memory/device/memory_config.hpp"

namespace tilesim::arch::memory::controller {

class TraceRules {
  public:
    explicit TraceRules(const device::MemoryConfig& config) : config_(config), t_(config.timing) {}

    // The rules that the first line at fault breaks, each with that line.
    std::vector<std::string> check(const std::string& text) {
        std::istringstream lines(text);
        std::string line;
        std::getline(lines, line);  // the header
        while (broken_.empty() && std::getline(lines, line)) {
            hear(read(line), line);
        }
        return broken_;
    }
    std::int64_t lines() const { return lines_; }

  private:
    enum class Name { ACT, RD, RDA, WR, WRA, PREpb, PREab, REFab, REFpb, REFsb };
    struct Entry {
        std::int64_t clock = 0;
        Name name = Name::ACT;
        std::int64_t channel = 0, rank = 0, group = 0, bank = 0, row = -1;

        bool is(Name one) const { return name == one; }
        bool reads() const { return is(Name::RD) || is(Name::RDA); }
        bool writes() const { return is(Name::WR) || is(Name::WRA); }
        bool column() const { return reads() || writes(); }
        bool closes() const { return is(Name::PREpb) || is(Name::PREab); }
        bool some_refresh() const { return is(Name::REFpb) || is(Name::REFsb); }
    };
    struct Bank {
        std::int64_t row = -1;
        std::int64_t closed = -1'000'000;  // when its row was, or will have been, closed
        std::int64_t ready = -1'000'000;   // when an ACT or a refresh may follow a PREab
        std::int64_t opened = -1'000'000;
        std::int64_t busy = -1'000'000;  // refreshed until then
        std::int64_t may_close = -1'000'000;
    };
    using Place = std::array<std::int64_t, 3>;  // rank, group, bank

    static Name name_of(const std::string& text) {
        static const std::map<std::string, Name> names{
            {"ACT", Name::ACT},     {"RD", Name::RD},       {"RDA", Name::RDA},
            {"WR", Name::WR},       {"WRA", Name::WRA},     {"PREpb", Name::PREpb},
            {"PREab", Name::PREab}, {"REFab", Name::REFab}, {"REFpb", Name::REFpb},
            {"REFsb", Name::REFsb}};
        return names.at(text);
    }

    static Entry read(const std::string& line) {
        std::vector<std::string> fields;
        std::istringstream in(line);
        for (std::string field; std::getline(in, field, ',');) {
            fields.push_back(field);
        }
        fields.resize(9);
        const auto number = [&](std::size_t i) {
            return fields[i].empty() ? -1 : std::stoll(fields[i]);
        };
        return {number(0), name_of(fields[1]), number(2), number(3),
                number(4), number(5),          number(6)};
    }

    void need(bool holds, const char* rule, const std::string& line) {
        if (!holds) {
            broken_.push_back(std::string{rule} + ": " + line);
        }
    }

    std::vector<Place> places_of(const Entry& e) const {
        std::vector<Place> places;
        for (std::int64_t group = 0; group < config_.bank_groups; ++group) {
            for (std::int64_t bank = 0; bank < config_.banks_per_group; ++bank) {
                const std::int64_t index = group * config_.banks_per_group + bank;
                const std::int64_t own = e.group * config_.banks_per_group + e.bank;
                const bool pair = config_.controller.refresh_policy == "bank_pair" &&
                                  index == own + config_.banks_per_rank() / 2;
                if (e.is(Name::REFab) || e.is(Name::PREab) ||
                    (e.is(Name::REFsb) && bank == e.bank) || index == own ||
                    (e.is(Name::REFpb) && pair)) {
                    places.push_back({e.rank, group, bank});
                }
            }
        }
        return places;
    }

    void hear(const Entry& e, const std::string& line) {
        ++lines_;
        for (const Entry& old : past_[e.channel]) {
            pair(old, e, line);
        }
        for (const Place& place : places_of(e)) {
            state(e, banks_[e.channel][place], line);
        }
        window(e, line);
        std::vector<Entry>& past = past_[e.channel];
        past.push_back(e);
        constexpr std::size_t kKept = 300;
        if (past.size() > kKept) {
            past.erase(past.begin(), past.begin() + kKept / 2);
        }
    }

    // What the bank's own history says.
    void state(const Entry& e, Bank& bank, const std::string& line) {
        const auto after = [&](std::int64_t since, base::Cycles least) {
            return e.clock >= since + least.count();
        };
        if (e.is(Name::ACT)) {
            need(bank.row == -1, "ACT to an open row", line);
            need(after(bank.closed, t_.tRP), "tRP", line);
            need(e.clock >= bank.ready, "tRPab", line);
            need(after(bank.opened, t_.tRC), "tRC", line);
            need(e.clock >= bank.busy, "refreshed bank", line);
            bank.row = e.row;
            bank.opened = e.clock;
            bank.may_close = e.clock + t_.tRAS.count();
        } else if (e.column()) {
            need(bank.row == e.row, "row not open", line);
            const bool own = e.writes() && t_.tRCD_WR.count() > 0;
            need(after(bank.opened, own ? t_.tRCD_WR : t_.tRCD), "tRCD", line);
            const std::int64_t done = e.writes()
                                          ? e.clock + (t_.write_latency + t_.burst + t_.tWR).count()
                                          : e.clock + t_.tRTP.count();
            bank.may_close = std::max(bank.may_close, done);
            if (e.is(Name::RDA) || e.is(Name::WRA)) {
                bank.row = -1;
                bank.closed = bank.may_close;
            }
        } else if (e.closes()) {
            need(e.clock >= bank.may_close, "tRAS, tRTP or tWR", line);
            if (e.is(Name::PREab)) {
                bank.ready = e.clock + (t_.tRPab.count() > 0 ? t_.tRPab : t_.tRP).count();
            }
            bank.row = -1;
            bank.closed = e.clock;
        } else {
            need(bank.row == -1, "refresh of an open row", line);
            need(after(bank.closed, t_.tRP), "tRP before a refresh", line);
            need(e.clock >= bank.ready, "tRPab before a refresh", line);
            need(e.clock >= bank.busy, "refresh of a refreshed bank", line);
            bank.busy = e.clock + (e.is(Name::REFab) ? t_.tRFC : t_.tRFC_pb).count();
        }
    }

    // What two commands of a channel keep between them.
    void pair(const Entry& old, const Entry& e, const std::string& line) {
        const std::int64_t age = e.clock - old.clock;
        const bool rank = old.rank == e.rank;
        const bool group = rank && old.group == e.group;
        const auto least = [&](base::Cycles bound, const char* rule) {
            need(age >= bound.count(), rule, line);
        };
        const bool same_bus = !config_.split_command_bus || old.column() == e.column();
        if (same_bus) {
            least(old.is(Name::ACT) ? t_.activate_command
                  : old.column()    ? t_.column_command
                                    : t_.precharge_command,
                  "command bus");
        }
        if (old.is(Name::ACT) && e.is(Name::ACT) && rank) {
            least(group ? t_.tRRD_L : t_.tRRD_S, "tRRD");
        } else if (old.closes() && e.closes()) {
            least(t_.tPPD, "tPPD");
        } else if (old.column() && e.column()) {
            columns(old, e, age, rank, group, line);
        } else if (old.some_refresh() && e.some_refresh() && rank) {
            least(t_.tREFpb_to_REFpb, "refresh to refresh");
        } else if (old.some_refresh() && e.is(Name::ACT) && rank) {
            least(t_.tREFpb_to_ACT, "refresh to ACT");
        } else if (old.is(Name::ACT) && e.some_refresh() && rank) {
            least(t_.tRRD_S, "ACT to refresh");
        }
    }

    void columns(const Entry& old, const Entry& e, std::int64_t age, bool rank, bool group,
                 const std::string& line) {
        const auto start = [&](const Entry& c) {
            return c.clock + (c.reads() ? t_.read_latency : t_.write_latency).count();
        };
        const std::int64_t gap = start(e) - start(old) - t_.burst.count();
        need(gap >= 0, "data on data", line);
        if (!rank) {
            need(gap >= t_.tRTRS.count(), "tRTRS", line);
        } else if (old.reads() && e.writes()) {
            need(gap >= t_.tRTW.count(), "read to write", line);
        } else if (old.writes() && e.reads()) {
            need(e.clock - start(old) - t_.burst.count() >= (group ? t_.tWTR_L : t_.tWTR_S).count(),
                 "tWTR", line);
        } else {
            need(age >= (!group       ? t_.tCCD_S
                         : e.writes() ? t_.tCCD_L_WR
                                      : t_.tCCD_L)
                            .count(),
                 "tCCD", line);
        }
    }

    void window(const Entry& e, const std::string& line) {
        if (e.is(Name::ACT)) {
            std::vector<std::int64_t>& acts = acts_[{e.channel, e.rank}];
            if (acts.size() >= 4) {
                need(e.clock - acts[acts.size() - 4] >= t_.tFAW.count(), "tFAW", line);
            }
            acts.push_back(e.clock);
        }
    }

    const device::MemoryConfig& config_;
    const device::DramTiming& t_;
    std::map<std::int64_t, std::vector<Entry>> past_;
    std::map<std::int64_t, std::map<Place, Bank>> banks_;
    std::map<std::array<std::int64_t, 2>, std::vector<std::int64_t>> acts_;
    std::vector<std::string> broken_;
    std::int64_t lines_ = 0;
};

}  // namespace tilesim::arch::memory::controller
