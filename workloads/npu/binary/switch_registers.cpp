#include "workloads/npu/binary/switch_registers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

namespace tilesim::workloads::npu::binary {

namespace {

struct Ports {
    std::string_view bundle;
    std::int64_t count;
};
struct Layout {
    std::int64_t masters, slaves, slots, merges;  // offsets of the first
    std::span<const Ports> out, in;               // in the order of their registers
};

constexpr std::int64_t kSlotsOfPort = 4;

constexpr Ports kCoreOut[] = {{"Core", 1},  {"DMA", 2},  {"TileControl", 1}, {"FIFO", 1},
                              {"South", 4}, {"West", 4}, {"North", 6},       {"East", 4}};
constexpr Ports kCoreIn[] = {{"Core", 1},  {"DMA", 2},   {"TileControl", 1},
                             {"FIFO", 1},  {"South", 6}, {"West", 4},
                             {"North", 4}, {"East", 4},  {"Trace", 2}};
constexpr Ports kMemoryOut[] = {{"DMA", 6}, {"TileControl", 1}, {"South", 4}, {"North", 6}};
constexpr Ports kMemoryIn[] = {
    {"DMA", 6}, {"TileControl", 1}, {"South", 6}, {"North", 4}, {"Trace", 1}};
constexpr Ports kShimOut[] = {{"TileControl", 1}, {"FIFO", 1},  {"South", 6},
                              {"West", 4},        {"North", 6}, {"East", 4}};
constexpr Ports kShimIn[] = {{"TileControl", 1}, {"FIFO", 1}, {"South", 8}, {"West", 4},
                             {"North", 4},       {"East", 4}, {"Trace", 1}};

Layout layout_of(SwitchKind kind) {
    switch (kind) {
        case SwitchKind::Core:
            return {0x3F000, 0x3F100, 0x3F200, 0x3F800, kCoreOut, kCoreIn};
        case SwitchKind::Memory:
            return {0xB0000, 0xB0100, 0xB0200, 0xB0800, kMemoryOut, kMemoryIn};
        case SwitchKind::Shim:
            return {0x3F000, 0x3F100, 0x3F200, 0x3F800, kShimOut, kShimIn};
    }
    return {};
}

// "North : 3" of the register at this place.
std::optional<std::string> port(std::span<const Ports> ports, std::int64_t number) {
    for (const Ports& each : ports) {
        if (number < each.count) {
            return fmt::format("{} : {}", each.bundle, number);
        }
        number -= each.count;
    }
    return std::nullopt;
}

std::uint32_t bits(std::uint32_t word, int high, int low) {
    return word >> low & ((1U << (high - low + 1)) - 1);
}

class SwitchText {
  public:
    SwitchText(SwitchKind kind, const TileRegisters& registers)
        : layout_(layout_of(kind)), registers_(registers) {}

    std::string run() {
        for (std::int64_t i = 0; const auto out = port(layout_.out, i); ++i) {
            master(*out, at(layout_.masters + i * kWordStep));
        }
        for (std::int64_t i = 0; const auto in = port(layout_.in, i); ++i) {
            constexpr std::uint32_t kPacket = 3U << 30;
            if ((at(layout_.slaves + i * kWordStep) & kPacket) == kPacket) {
                rules(*in, i);
            }
        }
        return selects_ + masters_ + rules_ + circuits_;
    }

  private:
    std::uint32_t at(std::int64_t offset) const {
        const auto place = registers_.find(offset);
        return place == registers_.end() ? 0 : place->second;
    }

    void master(const std::string& out, std::uint32_t word) {
        constexpr std::uint32_t kEnable = 1U << 31;
        constexpr std::uint32_t kPacket = 1U << 30;
        constexpr std::uint32_t kDropHeader = 1U << 7;
        if ((word & kEnable) == 0) {
            return;
        }
        if ((word & kPacket) == 0) {
            if (const auto in = port(layout_.in, bits(word, 4, 0))) {
                circuits_ += fmt::format("  aie.connect<{}, {}>\n", *in, out);
            }
            return;
        }
        std::string selects;
        for (std::uint32_t msel = 0; msel < 4; ++msel) {
            if ((bits(word, 6, 3) >> msel & 1) != 0) {
                selects += ", " + select(bits(word, 2, 0), msel);
            }
        }
        masters_ +=
            fmt::format("  %m{} = aie.masterset({}{}) {{keep_pkt_header = {}}}\n", number_++, out,
                        selects, (word & kDropHeader) == 0 ? "true" : "false");
    }

    // The name of an arbiter's selector.
    std::string select(std::uint32_t arbiter, std::uint32_t msel) {
        const std::string name = fmt::format("%a{}_{}", arbiter, msel);
        if (selects_.find(name + " ") == selects_.npos) {
            selects_ += fmt::format("  {} = aie.amsel<{}> ({}){}\n", name, arbiter, msel,
                                    merges_told_.insert(arbiter).second ? merge(arbiter) : "");
        }
        return name;
    }

    // The fixed order in which an arbiter passes packets, where it is enabled. Turns of no packets
    // are none.
    std::string merge(std::uint32_t arbiter) const {
        constexpr std::int64_t kStep = 0x10, kControl = 8;
        constexpr std::uint32_t kMerging = 2, kTurns = 4;
        const std::int64_t first = layout_.merges + kStep * arbiter;
        if (arbiter >= kMerging || (at(first + kControl) & 1) == 0) {
            return "";
        }
        std::vector<std::string> turns;
        for (std::uint32_t turn = 0; turn < kTurns; ++turn) {
            const std::uint32_t half = at(first + turn / 2 * kWordStep) >> (turn % 2 * 16);
            const auto in = port(layout_.in, bits(half, 4, 0));
            if (in && bits(half, 13, 8) > 0) {
                turns.push_back(fmt::format("<{}, {}>", *in, bits(half, 13, 8)));
            }
        }
        return turns.empty() ? ""
                             : fmt::format(" deterministic_merge [{}]", fmt::join(turns, ", "));
    }

    void rules(const std::string& in, std::int64_t number) {
        std::string list;
        for (std::int64_t slot = 0; slot < kSlotsOfPort; ++slot) {
            constexpr std::uint32_t kEnable = 1U << 8;
            const std::uint32_t word =
                at(layout_.slots + (number * kSlotsOfPort + slot) * kWordStep);
            if ((word & kEnable) != 0) {
                list += fmt::format("    aie.rule({}, {}, {})\n", bits(word, 20, 16),
                                    bits(word, 28, 24), select(bits(word, 2, 0), bits(word, 5, 4)));
            }
        }
        if (!list.empty()) {
            rules_ += fmt::format("  aie.packet_rules({}) {{\n{}  }}\n", in, list);
        }
    }

    Layout layout_;
    const TileRegisters& registers_;
    std::string selects_, masters_, rules_, circuits_;
    std::set<std::uint32_t> merges_told_;  // arbiters whose order is said with a selector
    int number_ = 0;
};

// Which of the shim switch's South ports are the DMA's: two bits a port, 1 is the DMA.
std::string shim_mux(const TileRegisters& registers) {
    struct Field {
        std::int64_t offset;
        int shift;
        const char* text;
    };
    static constexpr Field kFields[] = {{0x1F000, 10, "DMA : 0, North : 3"},
                                        {0x1F000, 14, "DMA : 1, North : 7"},
                                        {0x1F004, 4, "North : 2, DMA : 0"},
                                        {0x1F004, 6, "North : 3, DMA : 1"}};
    std::string text;
    for (const Field& field : kFields) {
        const auto place = registers.find(field.offset);
        if (place != registers.end() && (place->second >> field.shift & 3) == 1) {
            text += fmt::format("  aie.connect<{}>\n", field.text);
        }
    }
    return text;
}

}  // namespace

std::string switches_of(SwitchKind kind, const std::string& name, const TileRegisters& registers) {
    std::string text;
    const std::string connections = SwitchText(kind, registers).run();
    if (!connections.empty()) {
        text += fmt::format("%switch_{0} = aie.switchbox(%{0}) {{\n{1}}}\n", name, connections);
    }
    const std::string mux = kind == SwitchKind::Shim ? shim_mux(registers) : "";
    if (!mux.empty()) {
        text += fmt::format("%mux_{0} = aie.shim_mux(%{0}) {{\n{1}}}\n", name, mux);
    }
    return text;
}

}  // namespace tilesim::workloads::npu::binary
