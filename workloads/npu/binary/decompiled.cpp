#include "workloads/npu/binary/decompiled.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "arch/npu/control/channel_words.hpp"
#include "arch/npu/control/register_map.hpp"
#include "workloads/npu/binary/configuration_data.hpp"
#include "workloads/npu/binary/switch_registers.hpp"
#include "workloads/npu/binary/transaction.hpp"

namespace tilesim::workloads::npu::binary {

namespace registers = arch::npu::control;
using arch::npu::program::Direction;
using arch::npu::program::TileKind;

namespace {

constexpr std::int64_t kGenerationOfNpu2 = 4;
constexpr std::int64_t kChannels = 2;  // a direction
constexpr std::int64_t kMemoryTileChannels = 6;

using Tile = std::pair<std::int64_t, std::int64_t>;  // column, row

Tile tile_of(std::uint64_t address) {
    const auto at = registers::split(address).tile;
    return {at.column, at.row};
}

std::string name_of(const Tile& tile) {
    return fmt::format("tile_{}_{}", tile.first, tile.second);
}

template <class... Functions>
struct Overloaded : Functions... {
    using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

std::string text_of(const Instruction& instruction) {
    return std::visit(
        Overloaded{
            [](const Write& write) {
                std::string text;
                std::uint64_t address = write.address;
                for (const std::uint32_t word : write.words) {
                    const char* const of_a_block = address == write.address ? "" : ", of_a_block";
                    text += fmt::format("aiex.npu.write32 {{address = {}, value = {}{}}}\n",
                                        address, word, of_a_block);
                    address += kWordStep;
                }
                return text;
            },
            [](const MaskedWrite& write) {
                return fmt::format("aiex.npu.maskwrite32 {{address = {}, value = {}, mask = {}}}\n",
                                   write.address, write.value, write.mask);
            },
            [](const MaskedPoll& poll) {
                return fmt::format("aiex.npu.maskpoll {{address = {}, value = {}, mask = {}}}\n",
                                   poll.address, poll.value, poll.mask);
            },
            [](const Sync& sync) {
                return fmt::format(
                    "aiex.npu.sync {{column = {}, row = {}, direction = {}, channel = "
                    "{}, column_num = {}, row_num = {}}}\n",
                    sync.column, sync.row, sync.to_stream ? 1 : 0, sync.channel, sync.columns,
                    sync.rows);
            },
            [](const Patch& patch) {
                return fmt::format(
                    "aiex.npu.address_patch {{addr = {}, arg_idx = {}, arg_plus = {}}}\n",
                    patch.address, patch.argument, patch.offset);
            },
            [](const LoadPdi& load) {
                return fmt::format("aiex.npu.load_pdi {{id = {}}}\n", load.id);
            },
            [](const Read& read) {
                std::string text;
                for (const std::uint64_t address : read.addresses) {
                    text += fmt::format("aiex.npu.read_reg(%{}, {})\n", name_of(tile_of(address)),
                                        registers::split(address).offset);
                }
                return text;
            }},
        instruction);
}

// Program memory and core control do not matter here: cores' programs are not executed.
bool matters(const Instruction& instruction) {
    constexpr std::uint64_t kProgram = 0x20000;
    constexpr std::uint64_t kControl = 0x30000;
    constexpr std::uint64_t kControlEnd = 0x3F000;
    const auto* write = std::get_if<Write>(&instruction);
    const auto* masked = std::get_if<MaskedWrite>(&instruction);
    const std::uint64_t address = write != nullptr    ? write->address
                                  : masked != nullptr ? masked->address
                                                      : 0;
    const auto offset = static_cast<std::uint64_t>(registers::split(address).offset);
    const bool core = tile_of(address).second >= 2;
    const bool core_memory = write != nullptr && core && offset < 0x10000;
    return !core_memory && !(core && offset >= kProgram && offset < kControlEnd) &&
           !(masked != nullptr && offset >= kControl && offset < kControlEnd);
}

class Decompiler {
  public:
    Decompiler(const NamedBytes& sequence, const NamedBytes& configuration, std::int64_t part) {
        if (!configuration.bytes.empty()) {
            configuration_ = read_configuration(configuration.bytes, configuration.file, part);
        }
        if (!sequence.bytes.empty()) {
            transaction_ = read_transaction(words_of(sequence.bytes, sequence.file));
        }
    }

    std::string run() {
        note_tiles(transaction_.instructions);
        note_tiles(configuration_.writes);
        std::string switches;
        for (const auto& [tile, registers] : registers_) {
            switches += switches_of(switch_kind(tile), name_of(tile), registers);
        }
        const bool alone = !transaction_.instructions.empty() && configuration_.writes.empty() &&
                           !complete(switches);
        const std::string array = alone ? "" : switches;
        std::string text = fmt::format("aie.device({}) {{\n", is_npu2() ? "npu2" : "npu1");
        for (const Tile& tile : tiles_) {
            text +=
                fmt::format("%{0} = aie.tile({1}, {2})\n", name_of(tile), tile.first, tile.second);
        }
        text += array + notes() + "tilesim.configuration {\n";
        for (const Instruction& instruction : configuration_.writes) {
            text += matters(instruction) ? text_of(instruction) : "";
        }
        text += "aie.end\n}\n";
        if (!transaction_.instructions.empty()) {
            text += "aie.runtime_sequence @sequence() {\n";
            for (const Instruction& instruction : transaction_.instructions) {
                text += alone ? text_alone(instruction) : text_of(instruction);
            }
            text += "}\n";
        }
        return text + "}\n";
    }

  private:
    static SwitchKind switch_kind(const Tile& tile) {
        return tile.second == 0   ? SwitchKind::Shim
               : tile.second == 1 ? SwitchKind::Memory
                                  : SwitchKind::Core;
    }

    static TileKind tile_kind(const Tile& tile) {
        return tile.second == 0   ? TileKind::Shim
               : tile.second == 1 ? TileKind::Memory
                                  : TileKind::Core;
    }
    static std::int64_t channels_of(const Tile& tile) {
        return tile.second == 1 ? kMemoryTileChannels : kChannels;
    }

    // A configuration does not name its device: more columns than npu1 has are npu2's.
    bool is_npu2() const {
        constexpr std::int64_t kColumnsOfNpu1 = 5;
        return transaction_.generation >= kGenerationOfNpu2 ||
               (transaction_.generation == 0 &&
                std::any_of(tiles_.begin(), tiles_.end(),
                            [](const Tile& tile) { return tile.first >= kColumnsOfNpu1; }));
    }

    // The channels whose queues get tasks, with the descriptor of the last.
    struct Start {
        Tile tile;
        registers::ChannelRegister channel;
        std::int64_t descriptor;
    };
    std::vector<Start> starts() const {
        std::vector<Start> found;
        for (const auto& [tile, registers] : registers_) {
            for (const auto& [offset, value] : registers) {
                const auto queue =
                    registers::queue_register(tile_kind(tile), channels_of(tile), offset);
                if (queue && queue->queue) {
                    found.push_back(
                        {tile, *queue, registers::decode_task(tile_kind(tile), value).descriptor});
                }
            }
        }
        return found;
    }

    // Whether a sequence that has no configuration sets the array up itself: it connects tiles,
    // and writes the descriptors that it starts.
    bool complete(const std::string& switches) const {
        const std::vector<Start> all = starts();
        return switches.find("aie.switchbox") != switches.npos &&
               std::all_of(all.begin(), all.end(), [this](const Start& start) {
                   const auto& written = registers_.at(start.tile);
                   return written.count(registers::descriptor_offset(tile_kind(start.tile),
                                                                     start.descriptor)) != 0;
               });
    }

    // Of a sequence alone: what it does to shim tiles, and its waits.
    std::string text_alone(const Instruction& instruction) const {
        return std::visit(
            Overloaded{[&](const Sync& sync) { return text_of(sync); },
                       [&](const LoadPdi& load) { return text_of(load); },
                       [&](const Read& read) { return text_of(read); },
                       [&](const auto& each) {
                           return tile_of(each.address).second == 0 ? text_of(instruction) : "";
                       }},
            instruction);
    }

    std::string notes() const {
        std::string text;
        if (!configuration_.others.empty()) {
            text = fmt::format("tilesim.note \"{}\"\n", configuration_.others);
        }
        if (configuration_.elsewhere == 0) {
            return text;
        }
        return text +
               fmt::format(
                   "tilesim.note \"{}{} writes of the configuration set up other units of the "
                   "device (its processors, memory, clocks): left out\"\n",
                   configuration_.writes.empty()
                       ? "nothing in the configuration writes an AI Engine array's registers: "
                       : "",
                   configuration_.elsewhere);
    }

    void note_tiles(const std::vector<Instruction>& instructions) {
        for (const Instruction& instruction : instructions) {
            if (const auto* write = std::get_if<Write>(&instruction)) {
                std::uint64_t address = write->address;
                for (const std::uint32_t word : write->words) {
                    note(address, word, ~0U);
                    address += kWordStep;
                }
            } else if (const auto* masked = std::get_if<MaskedWrite>(&instruction)) {
                note(masked->address, masked->value, masked->mask);
            } else if (const auto* read = std::get_if<Read>(&instruction)) {
                for (const std::uint64_t address : read->addresses) {
                    tiles_.insert(tile_of(address));
                }
            }
        }
    }
    void note(std::uint64_t address, std::uint32_t value, std::uint32_t mask) {
        const Tile tile = tile_of(address);
        tiles_.insert(tile);
        std::uint32_t& word = registers_[tile][registers::split(address).offset];
        word = (word & ~mask) | (value & mask);
    }

    Configuration configuration_;
    Transaction transaction_;
    std::set<Tile> tiles_;
    std::map<Tile, TileRegisters> registers_;
};

}  // namespace

bool is_binary_design(const std::string& bytes) {
    return holds_configuration(bytes) || is_sequence(bytes);
}

bool is_sequence(const std::string& bytes) {
    return !holds_configuration(bytes) && is_transaction(words_of(bytes, ""));
}

std::string decompiled(const NamedBytes& sequence, const NamedBytes& configuration,
                       std::int64_t part) {
    return Decompiler(sequence, configuration, part).run();
}

}  // namespace tilesim::workloads::npu::binary
