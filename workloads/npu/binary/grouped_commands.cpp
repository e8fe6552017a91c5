#include "workloads/npu/binary/grouped_commands.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

namespace tilesim::workloads::npu::binary {

namespace {

// The end of a partition's header: what form its commands have, their bytes, a checksum of both,
// and the header's own.
constexpr std::size_t kFormWords = 4;
constexpr std::uint32_t kGrouped = 1;
constexpr std::uint32_t kMark = 0x8866;

enum class Group : std::uint32_t {
    MaskWrite32 = 2,
    Write32 = 3,
    BlockWrite = 5,
    MaskWrite64 = 7,
    Write64 = 8
};
constexpr std::uint32_t kBlockLength = 0xFFFF;  // above it, whether all words are 0

std::uint32_t word_at(const std::string& bytes, std::size_t at) {
    std::uint32_t word = 0;
    for (std::size_t i = kWordSize; i-- > 0;) {
        word = word << 8 | static_cast<std::uint8_t>(bytes[at + i]);
    }
    return word;
}

class GroupReader {
  public:
    GroupReader(const Words& words, std::size_t commands, std::vector<Instruction>& into)
        : words_(words), commands_(commands), into_(into) {}

    void run() {
        while (at_ < commands_) {
            group();
        }
    }

  private:
    void group() {
        const std::size_t begin = at_;
        const Group kind{words_[at_]};
        const std::uint32_t count = words_[at_ + 1];
        const std::size_t operands = operands_of(kind);
        if (operands == 0) {
            words_.fail(begin,
                        fmt::format("a group of commands {:#x} is not known", words_[begin]));
        }
        at_ += 2;
        if (at_ > commands_ || count > (commands_ - at_) / operands) {
            words_.fail(begin, fmt::format("a group of {} commands does not fit", count));
        }
        for (std::uint32_t i = 0; i < count; ++i, at_ += operands) {
            command(kind);
        }
    }

    static std::size_t operands_of(Group kind) {
        switch (kind) {
            case Group::Write32:
                return 2;
            case Group::MaskWrite32:
            case Group::Write64:
                return 3;
            case Group::MaskWrite64:
            case Group::BlockWrite:
                return 4;
        }
        return 0;
    }

    void command(Group kind) {
        const std::uint64_t wide = static_cast<std::uint64_t>(words_[at_]) << 32 | words_[at_ + 1];
        switch (kind) {
            case Group::Write32:
                into_.push_back(Write{words_[at_], {words_[at_ + 1]}});
                break;
            case Group::MaskWrite32:
                into_.push_back(MaskedWrite{words_[at_], words_[at_ + 2], words_[at_ + 1]});
                break;
            case Group::Write64:
                into_.push_back(Write{wide, {words_[at_ + 2]}});
                break;
            case Group::MaskWrite64:
                into_.push_back(MaskedWrite{wide, words_[at_ + 3], words_[at_ + 2]});
                break;
            case Group::BlockWrite:
                block(wide);
        }
    }

    void block(std::uint64_t address) {
        const std::uint32_t offset = words_[at_ + 2];
        const std::size_t from = commands_ + offset / kWordSize;
        const std::size_t length = words_[at_ + 3] & kBlockLength;
        taken_ += length;  // blocks share no words
        if (offset % kWordSize != 0 || from + length > words_.size() ||
            taken_ > words_.size() - commands_) {
            words_.fail(at_ + 2,
                        fmt::format("{} words at byte {} of the data lie behind the image's end "
                                    "(versions of xclbinutil cut off its last 20 bytes)",
                                    length, offset));
        }
        Write write{address, {}};
        for (std::size_t i = 0; i < length; ++i) {
            write.words.push_back(words_[from + i]);
        }
        into_.push_back(std::move(write));
    }

    const Words& words_;
    std::size_t commands_;
    std::vector<Instruction>& into_;
    std::size_t at_ = 0;
    std::size_t taken_ = 0;  // words of blocks
};

}  // namespace

std::optional<std::size_t> grouped_commands(const std::string& bytes, std::size_t header) {
    constexpr std::size_t kFormBytes = kFormWords * kWordSize;
    if (header < kFormBytes) {
        return std::nullopt;
    }
    const std::size_t at = header - kFormBytes;
    const std::uint32_t form = word_at(bytes, at);
    const std::uint32_t length = word_at(bytes, at + kWordSize);
    const std::uint32_t sum = kMark | form << 8 | (length << 16 | length >> 16);
    if (form != kGrouped || word_at(bytes, at + 2 * kWordSize) != sum) {
        return std::nullopt;
    }
    return length;
}

void read_groups(const Words& words, std::size_t commands, std::vector<Instruction>& into) {
    if (commands > words.size()) {
        words.fail(0, fmt::format("{} words of commands are stated, the file has {}", commands,
                                  words.size()));
    }
    GroupReader(words, commands, into).run();
}

}  // namespace tilesim::workloads::npu::binary
