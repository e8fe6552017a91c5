#include "arch/memory/device/power.hpp"

#include <algorithm>

namespace tilesim::arch::memory::device {

namespace {

constexpr double kMicro = 1e-6;
constexpr double kPico = 1e12;
constexpr double kMilli = 1e3;

// In volts and amperes.
struct Supply {
    Supply(const Currents& c, const MemoryConfig& config)
        : volts(static_cast<double>(c.voltage) * kMicro),
          i0(amperes(c.I0)),
          i2n(amperes(c.I2N)),
          i3n(amperes(c.I3N)) {
        const double rho = static_cast<double>(config.power.standby_permille) / 1000;
        const auto banks = static_cast<double>(config.banks_per_rank());
        common = rho * (i3n - i2n) + i2n;
        one_bank = (i3n + (banks - 1) * common) / banks;
    }
    static double amperes(std::int64_t microamperes) {
        return static_cast<double>(microamperes) * kMicro;
    }

    double volts, i0, i2n, i3n;
    double common = 0;    // active standby whichever banks are open
    double one_bank = 0;  // of one open bank
};

// The current that such refreshes take, by its key; 0: not given.
struct RefreshCurrent {
    const char* key;
    std::int64_t Currents::*microamperes;
};
RefreshCurrent current_of(Command refresh) {
    switch (refresh) {
        case Command::RefreshBank:
            return {"I5pb", &Currents::I5pb};
        case Command::RefreshSame:
            return {"I5C", &Currents::I5C};
        default:
            return {"I5B", &Currents::I5B};
    }
}

// Of refreshing some banks: the same of every group, measured beside active standby; or single
// banks or pairs, measured beside precharge standby at their interval (JESD209-5: IDD5PB at
// tREFIpb, an eighth of tREFI for sixteen banks, of which two are refreshed together).
double partial_refresh(const Currents& c, const Supply& s, const MemoryConfig& config,
                       const Refreshes& refreshes, double seconds) {
    const DramTiming& t = config.timing;
    const auto length = static_cast<double>(t.tRFC_pb.count());
    if (refreshes.command == Command::RefreshSame && c.I5C > 0) {
        const double groups = static_cast<double>(config.bank_groups);
        const double standby = s.common + groups * (s.one_bank - s.common);
        return s.volts * (Supply::amperes(c.I5C) - standby) * length * seconds * kPico;
    }
    if (refreshes.command == Command::RefreshBank && c.I5pb > 0 && length > 0) {
        const double turns =
            static_cast<double>(config.banks_per_rank()) / static_cast<double>(refreshes.banks);
        const double interval = static_cast<double>(t.tREFI.count()) / turns;
        const double during =
            (Supply::amperes(c.I5pb) * interval - s.i2n * (interval - length)) / length;
        return s.volts * (during - s.one_bank) * length * seconds * kPico;
    }
    return 0;
}

// CK in which banks take the standby of open ones, summed over them, and in which any of a rank
// does.
struct OpenTime {
    double banks = 0, any = 0;
};

// A bank that is refreshed has a row open, if not the same all the time: a refresh is counted above
// that standby. One of all banks finds every row closed; beside one of some, others are open as
// often as they are anyway.
OpenTime open_time(const MemoryConfig& config, const Refreshes& refreshes, const CommandCounts& n,
                   double time, bool refresh_known) {
    if (!refresh_known) {
        return {n.row_open, n.any_row_open};
    }
    const bool all = refreshes.command == Command::Refresh;
    const DramTiming& t = config.timing;
    const double refreshing = n.refreshes * static_cast<double>((all ? t.tRFC : t.tRFC_pb).count());
    const auto banks = static_cast<double>(all ? config.banks_per_rank() : refreshes.banks);
    const double alone = all || time == 0 ? 1 : 1 - n.any_row_open / time;
    return {n.row_open + refreshing * banks, std::min(time, n.any_row_open + refreshing * alone)};
}

}  // namespace

CommandEnergy& CommandEnergy::operator+=(const CommandEnergy& other) {
    activate += other.activate;
    precharge += other.precharge;
    read += other.read;
    write += other.write;
    refresh += other.refresh;
    closed_mw += other.closed_mw;
    open_mw += other.open_mw;
    each_bank_mw += other.each_bank_mw;
    return *this;
}

CommandEnergy energy_of(const Currents& c, const MemoryConfig& config, const Refreshes& refreshes) {
    const Supply s(c, config);
    const DramTiming& t = config.timing;
    const double cycle = 1 / static_cast<double>(config.clock.count());
    const auto charge = [&](double amperes, base::Cycles cycles) {
        return s.volts * amperes * static_cast<double>(cycles.count()) * cycle * kPico;
    };
    const auto above_standby = [&](std::int64_t microamperes, base::Cycles cycles) {
        return microamperes > 0 ? charge(Supply::amperes(microamperes) - s.i3n, cycles) : 0;
    };
    CommandEnergy energy;
    energy.activate = charge(s.i0 - s.one_bank, t.tRAS);
    energy.precharge = charge(s.i0 - s.i2n, t.tRP);
    energy.read = above_standby(c.I4R, t.burst);
    energy.write = above_standby(c.I4W, t.burst);
    energy.refresh = refreshes.command == Command::Refresh
                         ? above_standby(c.I5B, t.tRFC)
                         : partial_refresh(c, s, config, refreshes, cycle);
    energy.closed_mw = s.volts * s.i2n * kMilli;
    energy.open_mw = s.volts * s.common * kMilli;
    energy.each_bank_mw = s.volts * (s.one_bank - s.common) * kMilli;
    return energy;
}

const char* refresh_current(Command refresh) {
    return current_of(refresh).key;
}

std::optional<std::string> missing_refresh_current(const MemoryConfig& config, Command refresh) {
    const RefreshCurrent current = current_of(refresh);
    return config.power.core.*current.microamperes > 0 ? std::nullopt
                                                       : std::optional<std::string>{current.key};
}

std::optional<EnergyTable> energy_of(const MemoryConfig& config, const Refreshes& refreshes,
                                     const CommandCounts& n) {
    if (!config.power.core.given()) {
        return std::nullopt;
    }
    CommandEnergy one = energy_of(config.power.core, config, refreshes);
    one += energy_of(config.power.pump, config, refreshes);
    const auto devices = static_cast<double>(config.power.devices);
    const double to_nanojoules = devices / 1000;  // from picojoules of a device
    const double cycle_ns = 1e9 / static_cast<double>(config.clock.count());
    const double time = n.cycles * static_cast<double>(config.channels * config.ranks);
    const bool refresh_known =
        n.refreshes == 0 || !missing_refresh_current(config, refreshes.command);
    const OpenTime open = open_time(config, refreshes, n, time, refresh_known);
    // Milliwatts times nanoseconds are picojoules.
    const double background = (one.closed_mw * (time - open.any) + one.open_mw * open.any +
                               one.each_bank_mw * open.banks) *
                              cycle_ns;
    EnergyTable table{{"activate", one.activate * n.activates * to_nanojoules},
                      {"precharge", one.precharge * n.activates * to_nanojoules},
                      {"read", one.read * n.reads * to_nanojoules},
                      {"write", one.write * n.writes * to_nanojoules}};
    if (refresh_known) {
        table.emplace_back("refresh", one.refresh * n.refreshes * to_nanojoules);
    }
    table.emplace_back("background", background * to_nanojoules);
    return table;
}

}  // namespace tilesim::arch::memory::device
