#include "sim/compare/raw_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <tuple>

#include "arch/base/config.hpp"
#include "sim/trace/hardware_events.hpp"

namespace tilesim::sim::compare {

using arch::base::config::ConfigError;
using workloads::npu::program_file::TraceSlots;

namespace {

constexpr std::uint32_t kUntouched = 0xa5a5a5a5;  // memory the trace has not reached
constexpr std::uint32_t kFillers = 0xfefefefe;
constexpr std::size_t kPacketWords = 8;
constexpr std::size_t kPartingZeros = 8;
constexpr std::size_t kSampledWords = 512;  // of a file that may be a trace
constexpr std::size_t kSlots = 8;
constexpr std::uint32_t kAllSlots = 0xFF;
constexpr std::int64_t kMostIntervals = 50'000'000;
constexpr std::int64_t kMostPause = std::int64_t{1} << 40;  // cycles; beyond, it is no timer
constexpr std::size_t kTimerBytes = 7;

struct Unit {
    std::int64_t column = 0, row = 0, type = 0;
    auto operator<=>(const Unit&) const = default;
};

std::optional<Unit> unit_of(std::uint32_t header) {
    constexpr std::uint32_t kZeros = 0x70080FE0;  // bits 30..28, 19, 11..5
    if ((header & kZeros) != 0 || std::popcount(header) % 2 == 0) {
        return std::nullopt;
    }
    return Unit{header >> 21 & 0x7F, header >> 16 & 0x7, header >> 12 & 0x3};
}

// The intervals of one unit's slots, from its commands.
class Decoder {
  public:
    explicit Decoder(const std::vector<std::uint8_t>& bytes) : bytes_(bytes) {}

    void run() {
        while (at_ < bytes_.size() && intervals_total_ < kMostIntervals) {
            command(bytes_[at_]);
        }
        cut_off();
    }

    const std::array<std::vector<Interval>, kSlots>& slots() const { return slots_; }
    std::int64_t starts() const { return starts_; }
    std::int64_t unknown_pauses() const { return unknown_pauses_; }  // before starts

  private:
    std::uint32_t byte(std::size_t ahead) const {
        return at_ + ahead < bytes_.size() ? bytes_[at_ + ahead] : 0;
    }

    void command(std::uint8_t first) {
        const std::uint32_t b1 = byte(1);
        const std::uint32_t b2 = byte(2);
        const std::uint32_t b3 = byte(3);
        const auto one = [first](int shift) { return 1U << (first >> shift & 7); };
        if ((first & 0x80) == 0) {
            happen(one(4), first & 15, 1);
        } else if ((first & 0xE0) == 0x80) {
            happen(one(2), (first & 3U) << 8 | b1, 2);
        } else if ((first & 0xE0) == 0xA0) {
            happen(one(2), (first & 3U) << 16 | b1 << 8 | b2, 3);
        } else if ((first & 0xF0) == 0xC0) {
            happen((first & 15U) << 4 | b1 >> 4, b1 & 15, 2);
        } else if ((first & 0xFC) == 0xD0) {
            happen((first & 3U) << 6 | b1 >> 2, (b1 & 3) << 8 | b2, 3);
        } else if ((first & 0xFC) == 0xD4) {
            happen((first & 3U) << 6 | b1 >> 2, (b1 & 3) << 16 | b2 << 8 | b3, 4);
        } else if ((first & 0xF0) == 0xE0) {
            repeat(first & 15, 1);
        } else if ((first & 0xFC) == 0xD8) {
            repeat((first & 3U) << 8 | b1, 2);
        } else if ((first & 0xFC) == 0xDC) {
            at_ += 4;
        } else if ((first & 0xFB) == 0xF0) {
            start();
        } else {
            ++at_;  // filler, synchronisation
        }
    }

    // With the timer: of a unit that is started again the time between is known, unless it was set
    // back.
    void start() {
        std::int64_t timer = 0;
        for (std::size_t i = 1; i <= kTimerBytes; ++i) {
            timer = timer << 8 | byte(i);
        }
        at_ += 1 + kTimerBytes;
        const std::int64_t cycle = timer - timer_at_zero_;
        if (starts_ == 0 || !recorded_) {
            timer_at_zero_ = timer - cycle_;
            starts_ = 1;
            return;
        }
        ++starts_;
        cut_off();
        if (cycle > cycle_ && cycle - cycle_ < kMostPause) {
            cycle_ = cycle;
        } else {
            ++unknown_pauses_;
        }
        restarted_ = cycle_;
        restarted_slots_ = kAllSlots;
    }

    // Nothing says when those end that are on as a recording does.
    void cut_off() {
        const std::uint32_t on = on_;
        switch_off(kAllSlots, cycle_ + 1);
        for (std::size_t slot = 0; slot < kSlots; ++slot) {
            if (on >> slot & 1) {
                slots_[slot].back().end_is_cut = true;
            }
        }
    }

    void happen(std::uint32_t mask, std::uint32_t wait, std::size_t length) {
        at_ += length;
        advance(mask, wait);
    }

    // Slots that were on go off after a cycle, unless the next command follows at once and names
    // them.
    void advance(std::uint32_t mask, std::uint32_t wait) {
        recorded_ = true;
        switch_off(wait == 0 ? on_ & ~mask : on_, cycle_ + 1);
        cycle_ += 1 + static_cast<std::int64_t>(wait);
        for (std::size_t slot = 0; slot < kSlots; ++slot) {
            if ((mask >> slot & 1) != 0 && (on_ >> slot & 1) == 0) {
                begins_[slot] = cycle_;
            }
        }
        on_ |= mask;
        last_mask_ = mask;
        last_wait_ = wait;
    }

    void repeat(std::uint32_t times, std::size_t length) {
        at_ += length;
        if (last_wait_ == 0) {
            cycle_ += times;
            return;
        }
        for (std::uint32_t i = 0; i < times; ++i) {
            advance(last_mask_, last_wait_);
        }
    }

    void switch_off(std::uint32_t mask, std::int64_t cycle) {
        for (std::size_t slot = 0; slot < kSlots; ++slot) {
            if ((mask & on_) >> slot & 1) {
                Interval interval{begins_[slot], cycle};
                interval.after_restart = (restarted_slots_ >> slot & 1) != 0;
                interval.begin_is_cut = interval.after_restart && interval.begin == restarted_ + 1;
                slots_[slot].push_back(interval);
                restarted_slots_ &= ~(1U << slot);
                ++intervals_total_;
            }
        }
        on_ &= ~mask;
    }

    const std::vector<std::uint8_t>& bytes_;
    std::size_t at_ = 0;
    std::int64_t cycle_ = 0;
    std::uint32_t on_ = 0;
    std::uint32_t last_mask_ = 0, last_wait_ = 0;
    std::array<std::int64_t, kSlots> begins_{};
    std::array<std::vector<Interval>, kSlots> slots_;
    std::int64_t intervals_total_ = 0;
    std::int64_t starts_ = 0, timer_at_zero_ = 0, unknown_pauses_ = 0;
    bool recorded_ = false;              // anything yet
    std::int64_t restarted_ = 0;         // the cycle of the last start but the first
    std::uint32_t restarted_slots_ = 0;  // with nothing since
};

// The first command of a unit is its start, which says what it records: events and their times
// (0xF0, 0xF4), or program counters (mode 1) or branches (mode 2), which have no times.
bool begins_with_start(const std::vector<std::uint8_t>& commands) {
    return !commands.empty() && (commands[0] & 0xF8) == 0xF0;
}
bool has_no_times(const std::vector<std::uint8_t>& commands) {
    return begins_with_start(commands) && (commands[0] & 3) != 0;
}

bool is_hex_text(const std::string& bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') ||
               c == '\n' || c == '\r' || c == ' ' || c == 'x';
    });
}

std::vector<std::uint32_t> words_of(const std::string& bytes) {
    std::vector<std::uint32_t> words;
    if (is_hex_text(bytes)) {
        for (std::size_t at = bytes.find_first_not_of("\r\n "); at != bytes.npos;
             at = bytes.find_first_not_of("\r\n ", at)) {
            const std::size_t end = std::min(bytes.find_first_of("\r\n ", at), bytes.size());
            std::string_view text = std::string_view{bytes}.substr(at, end - at);
            text.remove_prefix(text.starts_with("0x") ? 2 : 0);
            std::uint32_t word = 0;
            for (const char c : text) {
                const auto digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
                word = word << 4 | static_cast<std::uint32_t>(digit & 15);
            }
            words.push_back(word);
            at = end;
        }
        return words;
    }
    for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
        std::uint32_t word = 0;
        for (std::size_t i = 4; i-- > 0;) {
            word = word << 8 | static_cast<std::uint8_t>(bytes[at + i]);
        }
        words.push_back(word);
    }
    return words;
}

struct Streams {
    std::map<Unit, std::vector<std::uint8_t>> bytes;
    std::int64_t lost = 0;
    bool cut = false;  // in the middle of a packet
};

// A packet whose header is no header belongs, as in mlir-aie's parser, to the unit before.
Streams streams_of(const std::vector<std::uint32_t>& words) {
    Streams streams;
    std::optional<Unit> unit;
    std::size_t at = 0;
    while (at < words.size()) {
        std::size_t zeros = 0;
        while (at + zeros < words.size() && words[at + zeros] == 0) {
            ++zeros;
        }
        const bool ends = words[at] == kFillers && at + 2 < words.size() && words[at + 1] == 0 &&
                          words[at + 2] == 0;
        if (ends) {
            constexpr std::size_t kEndWords = 3;
            at += kEndWords;
            continue;
        }
        if (words[at] == kUntouched || zeros >= kPartingZeros || (zeros > 0 && !unit)) {
            at += std::max<std::size_t>(zeros, 1);
            continue;
        }
        if (const auto named = unit_of(words[at])) {
            unit = named;
        } else {
            ++streams.lost;
        }
        const std::size_t end = std::min(at + kPacketWords, words.size());
        streams.cut |= end < at + kPacketWords;
        for (std::size_t i = at + 1; i < end && unit; ++i) {
            if (words[i] == kUntouched) {
                continue;
            }
            for (const int shift : {24, 16, 8, 0}) {
                streams.bytes[*unit].push_back(static_cast<std::uint8_t>(words[i] >> shift));
            }
        }
        at = end;
    }
    return streams;
}

std::string slot_name(const Unit& unit, std::size_t slot, std::span<const TraceSlots> all,
                      std::int64_t column_shift) {
    const auto place = std::find_if(all.begin(), all.end(), [&](const TraceSlots& slots) {
        return slots.unit == unit.type && slots.tile.row == unit.row &&
               slots.tile.column == unit.column - column_shift;
    });
    if (place == all.end()) {
        return fmt::format("slot {}", slot);
    }
    if (!place->names[slot].empty()) {
        return place->names[slot];
    }
    const auto name =
        trace::event_name(static_cast<trace::TraceUnit>(unit.type), place->events[slot]);
    return name.empty() ? fmt::format("event {}", place->events[slot]) : std::string{name};
}

std::string note_of_starts(const std::string& process, const Decoder& decoder) {
    return fmt::format("{} was started {} times: what follows its second start is not compared{}",
                       process, decoder.starts(),
                       decoder.unknown_pauses() == 0
                           ? ""
                           : ", nor is known how long it stood, as its timer was set back");
}

}  // namespace

bool is_raw_trace(const std::string& bytes) {
    const std::vector<std::uint32_t> words = words_of(bytes);
    // A trace may lie anywhere in the buffer that the host saves.
    const auto begin = std::find_if(words.begin(), words.end(), [](std::uint32_t word) {
        return word != 0 && word != kUntouched;
    });
    const std::span<const std::uint32_t> sample =
        std::span(begin, words.end())
            .first(std::min<std::size_t>(kSampledWords,
                                         static_cast<std::size_t>(words.end() - begin)));
    std::size_t known = 0;
    std::size_t packets = 0;
    for (const std::uint32_t word : sample) {
        known += word == kUntouched || word == 0 ? 1 : 0;
    }
    for (std::size_t i = 0; i < sample.size(); i += kPacketWords) {
        packets += sample[i] != 0 && unit_of(sample[i]) ? 1 : 0;
    }
    const bool shaped = is_hex_text(bytes) ? bytes.find('\n') != bytes.npos : bytes.size() % 4 == 0;
    return shaped && sample.size() >= kPacketWords && packets > 0 &&
           packets * kPacketWords + known >= sample.size() / 2;
}

bool is_unwritten_trace(const std::string& bytes) {
    const std::vector<std::uint32_t> words = words_of(bytes);
    return words.size() >= kPacketWords &&
           std::all_of(words.begin(), words.end(),
                       [](std::uint32_t word) { return word == 0 || word == kUntouched; });
}

TraceFile parse_raw_trace(const std::string& bytes, const std::string& file,
                          std::span<const TraceSlots> slots) {
    const Streams streams = streams_of(words_of(bytes));
    if (streams.bytes.empty()) {
        throw ConfigError(fmt::format("{}: is no trace: no packet of a trace unit", file));
    }
    // The loader chooses the columns; which of them are traced tells by how much they are moved.
    std::int64_t traced = INT64_MAX;
    std::int64_t designed = INT64_MAX;
    for (const auto& [unit, commands] : streams.bytes) {
        traced = std::min(traced, unit.column);
    }
    for (const TraceSlots& each : slots) {
        designed = std::min(designed, each.tile.column);
    }
    const std::int64_t shift = slots.empty() ? 0 : traced - designed;
    TraceFile trace;
    for (const auto& [unit, commands] : streams.bytes) {
        const std::string process = fmt::format(
            "{} for tile{},{}", trace::process_prefix(static_cast<trace::TraceUnit>(unit.type)),
            unit.row, unit.column);
        if (has_no_times(commands)) {
            trace.flaws.push_back(
                fmt::format("{} records no times (mode {} of its trace unit, not event-time): left "
                            "out",
                            process, commands[0] & 3));
            continue;
        }
        if (!begins_with_start(commands)) {
            trace.flaws.push_back(
                fmt::format("{} does not begin with a start: its first packets are lost", process));
        }
        Decoder decoder(commands);
        decoder.run();
        if (decoder.starts() > 1) {
            trace.notes.push_back(note_of_starts(process, decoder));
        }
        for (std::size_t slot = 0; slot < kSlots; ++slot) {
            const std::vector<Interval>& intervals = decoder.slots()[slot];
            if (!intervals.empty()) {
                trace.lanes[{process, slot_name(unit, slot, slots, shift)}] = intervals;
            }
        }
    }
    if (trace.lanes.empty()) {
        throw ConfigError(
            fmt::format("{}: is no trace: {}", file,
                        trace.flaws.empty() ? "its packets hold no event" : trace.flaws.front()));
    }
    add_kernels_between_markers(trace);
    if (streams.lost > 0) {
        trace.lost_packets = streams.lost;
        trace.flaws.push_back(fmt::format("{} packets without a valid header: lost", streams.lost));
    }
    if (streams.cut) {
        trace.flaws.push_back("the file is cut off in the middle of a packet");
    }
    if (slots.empty()) {
        trace.flaws.push_back("the design sets no trace unit up: events have no names");
    }
    return trace;
}

}  // namespace tilesim::sim::compare
