#include "workloads/npu/binary/configuration_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <string_view>
#include <variant>

#include "arch/base/config.hpp"
#include "workloads/npu/binary/grouped_commands.hpp"
#include "workloads/npu/binary/xclbin.hpp"

namespace tilesim::workloads::npu::binary {

namespace {

constexpr std::size_t kHeaderWords = 5;
constexpr std::uint32_t kHeaderRest = 4;      // words behind the first
constexpr std::uint32_t kMagic = 0x004F4443;  // "CDO"
constexpr std::uint32_t kLongPayload = 255;

enum Command : std::uint32_t {
    kEnd = 0x100,
    kMaskWrite32 = 0x102,
    kWrite32 = 0x103,
    kBlockWrite = 0x105,
    kMaskWrite64 = 0x107,
    kWrite64 = 0x108,
    kBlockSet = 0x10C,
    kKeyholeWrite = 0x10D,
    kScatterWrite = 0x121
};
constexpr std::uint32_t kMostSet = 1 << 20;  // words: more than a tile has
constexpr std::uint32_t kEndMark = 0xFFFFFFFF;
constexpr std::uint32_t kModuleShift = 8;
constexpr std::uint32_t kGeneralModule = 1;
constexpr std::uint32_t kFirstOfItsForm = 0x132;  // 1.50; before it commands stand in sections

// Commands of the general module that write registers and are not read, or that decide which
// others are executed.
std::string_view refused(std::uint32_t opcode) {
    static constexpr std::array<std::pair<std::uint32_t, std::string_view>, 5> kRefused{
        {{0x109, "DMA transfer"},
         {0x10A, "initialisation sequence"},
         {0x11D, "break out of a block"},
         {0x11F, "power sequence"},
         {0x122, "scatter write of two values"}}};
    const auto* place = std::find_if(kRefused.begin(), kRefused.end(),
                                     [opcode](const auto& each) { return each.first == opcode; });
    return place == kRefused.end() ? "" : place->second;
}
// Commands of that module up to here are known: polls, delays, no operation, marks, logging, the
// ends of blocks, a procedure that is kept for later. They write nothing of the array.
constexpr std::uint32_t kLastKnown = 0x123;

// Above the columns of any array: the registers of other units of a device.
constexpr std::uint64_t kArrayEnd = std::uint64_t{64} << 25;
bool in_array(const Instruction& instruction) {
    const auto* write = std::get_if<Write>(&instruction);
    const auto* masked = std::get_if<MaskedWrite>(&instruction);
    const std::uint64_t address = write != nullptr ? write->address : masked->address;
    return address < kArrayEnd;
}

// The bytes of a device image as text: a heading, then a word a line, its first byte first.
std::string from_image_text(const std::string& text) {
    std::string bytes;
    std::istringstream lines(text);
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) {
            line.pop_back();
        }
        std::uint32_t word = 0;
        const char* end = line.data() + line.size();
        constexpr std::size_t kDigits = 2 * kWordSize;
        const auto read = std::from_chars(line.data(), end, word, 16);
        if (line.size() != kDigits || read.ec != std::errc() || read.ptr != end) {
            if (bytes.empty() || line.empty()) {
                continue;
            }
            throw arch::base::config::ConfigError(fmt::format(
                "line {} of a device image as text is no word of {} hexadecimal digits: '{:.20}'",
                number, kDigits, line));
        }
        for (std::size_t i = kWordSize; i-- > 0;) {
            bytes += static_cast<char>(word >> (8 * i) & 0xFF);
        }
    }
    return bytes;
}

// A file as its bytes, the lowest of a word first: some tools write text, some the highest first.
std::string as_bytes(const std::string& given) {
    static constexpr std::string_view kText{"Xilinx ASCII"};
    static constexpr std::string_view kHighestFirst{"\0\0\0\x04\0ODC", 8};
    if (given.starts_with(kText)) {
        return from_image_text(given);
    }
    std::string swapped = given;
    for (std::size_t i = 0; given.starts_with(kHighestFirst) && i + 4 <= swapped.size(); i += 4) {
        std::reverse(swapped.begin() + static_cast<std::ptrdiff_t>(i),
                     swapped.begin() + static_cast<std::ptrdiff_t>(i + 4));
    }
    return swapped;
}

std::size_t header_in(const std::string& bytes, std::size_t from) {
    static constexpr std::string_view kBegin{"\x04\0\0\0CDO\0", 8};
    return bytes.find(kBegin, from);
}

class Reader {
  public:
    Reader(const Words& words, std::vector<Instruction>& into) : words_(words), into_(into) {}

    // The words behind the header.
    void run() {
        while (at_ < words_.size() && command()) {
        }
    }

  private:
    bool command() {
        const std::size_t begin = at_;
        const std::uint32_t opcode = words_[at_] & 0xFFFF;
        std::size_t payload = words_[at_] >> 16 & 0xFF;
        ++at_;
        if (words_[begin] == kEndMark) {
            return false;
        }
        if (payload == kLongPayload) {
            payload = words_[at_++];
        }
        if (payload > words_.size() - at_) {
            words_.fail(begin, fmt::format("a command of {} words does not fit", payload));
        }
        const auto word = [&](std::size_t i) { return i < payload ? words_[at_ + i] : 0; };
        const std::uint64_t wide = static_cast<std::uint64_t>(word(0)) << 32 | word(1);
        switch (opcode) {
            case kWrite32:
                into_.push_back(Write{word(0), {word(1)}});
                break;
            case kMaskWrite32:
                into_.push_back(MaskedWrite{word(0), word(2), word(1)});
                break;
            case kWrite64:
                into_.push_back(Write{wide, {word(2)}});
                break;
            case kMaskWrite64:
                into_.push_back(MaskedWrite{wide, word(3), word(2)});
                break;
            case kBlockWrite: {
                Write write{wide, {}};
                for (std::size_t i = 2; i < payload; ++i) {
                    write.words.push_back(word(i));
                }
                into_.push_back(std::move(write));
                break;
            }
            case kBlockSet:
                if (word(2) > kMostSet) {
                    words_.fail(begin, fmt::format("a block of {} words is set", word(2)));
                }
                into_.push_back(Write{wide, std::vector<std::uint32_t>(word(2), word(3))});
                break;
            case kScatterWrite:
                for (std::size_t i = 1; i < payload; ++i) {
                    into_.push_back(Write{word(i), {word(0)}});
                }
                break;
            case kKeyholeWrite:
                if (wide < kArrayEnd) {
                    words_.fail(begin, "a keyhole write (0x10d) into the array is not modelled");
                }
                into_.push_back(Write{wide, {}});
                break;
            case kEnd:
                return false;
            default:
                pass_over(begin, opcode);
        }
        at_ += payload;
        return true;
    }

    // Other modules' commands (power, clocks) are not the array's. No module has the number 0.
    void pass_over(std::size_t begin, std::uint32_t opcode) const {
        if (opcode >> kModuleShift > kGeneralModule) {
            return;
        }
        if (const std::string_view name = refused(opcode); !name.empty()) {
            words_.fail(begin, fmt::format("a {} (command {:#x}) is not modelled", name, opcode));
        }
        if (opcode > kLastKnown || opcode < kEnd) {
            words_.fail(begin, fmt::format("command {:#x} is not known", opcode));
        }
    }

    const Words& words_;
    std::vector<Instruction>& into_;
    std::size_t at_ = 0;
};

std::string note_of_others(std::size_t images) {
    return images < 2 ? ""
                      : fmt::format(
                            "the xclbin holds {} configurations: the first is loaded; "
                            "design.part chooses, from 1",
                            images);
}

}  // namespace

bool holds_configuration(const std::string& bytes) {
    return header_in(as_bytes(bytes), 0) != bytes.npos;
}

Configuration read_configuration(const std::string& given, const std::string& file,
                                 std::int64_t part) {
    std::vector<std::string_view> images = partition_images(given, file);
    if (images.empty()) {
        images.push_back(given);
    }
    if (part > static_cast<std::int64_t>(images.size())) {
        throw arch::base::config::ConfigError(
            fmt::format("{}: holds {} configuration{}, there is no part {}", file, images.size(),
                        images.size() == 1 ? "" : "s", part));
    }
    const std::size_t chosen = part == 0 ? 0 : static_cast<std::size_t>(part) - 1;
    const std::string bytes = as_bytes(std::string(images[chosen]));
    std::vector<Instruction> writes;
    std::size_t at = header_in(bytes, 0);
    while (at != bytes.npos) {
        const Words words = words_of(bytes.substr(at), fmt::format("{} (byte {})", file, at));
        const std::uint32_t length = words[3];
        const std::uint32_t sum = words[0] + words[1] + words[2] + words[3];
        if (words[0] != kHeaderRest || words[1] != kMagic || (length != 0 && words[4] != ~sum)) {
            words.fail(4, "the header's checksum is wrong");
        }
        if (words[2] < kFirstOfItsForm) {
            words.fail(2, fmt::format("version {}.{} keeps its commands in sections; 1.50 and "
                                      "later are read",
                                      words[2] >> 8, words[2] & 0xFF));
        }
        const std::size_t rest = words.size() - kHeaderWords;
        if (const auto commands = grouped_commands(bytes, at)) {
            read_groups(words.from(kHeaderWords, rest), *commands / kWordSize, writes);
            break;  // such an image has one
        }
        const std::size_t count = length == 0 ? rest : std::min<std::size_t>(length, rest);
        if (length > rest) {
            words.fail(3, fmt::format("{} words are stated, the file has {}", length, rest));
        }
        const Words body = words.from(kHeaderWords, count);
        Reader(body, writes).run();
        at = header_in(bytes, at + (kHeaderWords + count) * sizeof(std::uint32_t));
    }
    const auto elsewhere =
        std::erase_if(writes, [](const Instruction& each) { return !in_array(each); });
    return {std::move(writes), elsewhere, part == 0 ? note_of_others(images.size()) : ""};
}

}  // namespace tilesim::workloads::npu::binary
