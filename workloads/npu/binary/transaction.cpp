#include "workloads/npu/binary/transaction.hpp"

#include <fmt/format.h>

#include <map>
#include <string_view>

namespace tilesim::workloads::npu::binary {

namespace {

constexpr std::size_t kOperationsFrom = 4;
constexpr std::uint32_t kVersion01 = 0x0100;  // minor, major
constexpr std::uint32_t kVersion10 = 0x0001;

// Where an operation that writes has its words. Version 0.1 has room for tiles and wide addresses
// and states its length; 1.0 leaves out what is always 0.
struct WriteLayout {
    std::size_t address, value, words;  // of a write; a masked one has one more, behind the value
    bool states_length;                 // in its last word
    std::size_t block_bytes, block_data;
};
constexpr WriteLayout kLongLayout{2, 4, 6, true, 3, 4};
constexpr WriteLayout kShortLayout{1, 2, 3, false, 2, 3};

enum Opcode : std::uint32_t {
    kWrite = 0,
    kWriteBlock = 1,
    kMaskWrite = 3,
    kMaskPoll = 4,
    kPreempt = 6,
    kLoadPdi = 8,
    kSync = 0x80,
    kPatch = 0x81,
    kRead = 0x82
};

std::string name_of(std::uint32_t opcode) {
    static const std::map<std::uint32_t, std::string_view> kNames{
        {2, "block set"},        {5, "no operation"},       {7, "busy poll"},
        {9, "load PM start"},    {10, "create scratchpad"}, {11, "update state"},
        {12, "update register"}, {0x83, "record timer"},    {0x84, "merge sync"}};
    const auto place = kNames.find(opcode);
    return place == kNames.end() ? fmt::format("{:#x}", opcode)
                                 : fmt::format("{:#x} ({})", opcode, place->second);
}

class TransactionReader {
  public:
    explicit TransactionReader(const Words& words)
        : words_(words), layout_((words[0] & 0xFFFF) == kVersion10 ? kShortLayout : kLongLayout) {}

    Transaction run() {
        Transaction result;
        result.generation = words_[0] >> 16 & 0xFF;
        result.columns = words_[1] & 0xFF;
        const std::size_t operations = words_[2];
        const std::size_t end = words_[3] / kWordSize;
        if (words_[3] % kWordSize != 0 || end > words_.size()) {
            words_.fail(3, fmt::format("{} bytes are stated, the file has {}", words_[3],
                                       words_.size() * kWordSize));
        }
        std::size_t read = 0;
        while (at_ < end) {
            operation(result);
            ++read;
        }
        if (read != operations || at_ != end) {
            words_.fail(2,
                        fmt::format("{} operations are stated, {} were found", operations, read));
        }
        return result;
    }

  private:
    std::uint32_t word(std::size_t ahead) const { return words_[at_ + ahead]; }

    std::size_t length(std::size_t words) const {
        return layout_.states_length ? word(words - 1) : words * kWordSize;
    }

    void operation(Transaction& result) {
        const std::uint32_t opcode = word(0) & 0xFF;
        std::size_t bytes = 0;
        switch (opcode) {
            case kWrite:
                result.instructions.push_back(Write{word(layout_.address), {word(layout_.value)}});
                bytes = length(layout_.words);
                break;
            case kWriteBlock:
                bytes = word(layout_.block_bytes);
                result.instructions.push_back(block(bytes));
                break;
            case kMaskWrite:
                result.instructions.push_back(MaskedWrite{
                    word(layout_.address), word(layout_.value), word(layout_.value + 1)});
                bytes = length(layout_.words + 1);
                break;
            case kMaskPoll:
                result.instructions.push_back(MaskedPoll{word(layout_.address), word(layout_.value),
                                                         word(layout_.value + 1)});
                bytes = length(layout_.words + 1);
                break;
            case kSync:
                bytes = word(1);
                result.instructions.push_back(Sync{word(2) >> 16 & 0xFF, word(2) >> 8 & 0xFF,
                                                   word(3) >> 16 & 0xFF, word(3) >> 8 & 0xFF,
                                                   (word(2) & 0xFF) != 0, word(3) >> 24});
                break;
            case kPatch: {
                bytes = word(1);
                // The short one: operation, bytes, register, argument, offset of 64 bits.
                constexpr std::size_t kShortBytes = 24;
                const bool is_short = bytes == kShortBytes;
                constexpr std::uint32_t kFromFive = 0x80000000;
                const std::uint32_t argument = word(is_short ? 3 : 8);
                const std::uint32_t offset = word(is_short ? 4 : 10);
                result.instructions.push_back(Patch{word(is_short ? 2 : 6), argument,
                                                    argument >= 5 ? offset & ~kFromFive : offset});
                break;
            }
            case kRead:
                bytes = word(1);
                result.instructions.push_back(read(bytes));
                break;
            case kLoadPdi:
                bytes = 4 * kWordSize;
                result.instructions.push_back(LoadPdi{word(0) >> 16});
                break;
            case kPreempt:
                bytes = kWordSize;
                break;
            default:
                words_.fail(at_, fmt::format("operation {} is not modelled", name_of(opcode)));
        }
        if (bytes == 0 || bytes % kWordSize != 0 || bytes / kWordSize > words_.size() - at_) {
            words_.fail(at_, fmt::format("an operation of {} bytes does not fit", bytes));
        }
        at_ += bytes / kWordSize;
    }

    // Operation, bytes, how many addresses, and these: 64 bits each behind a word of padding, or 32
    // bits each, as the first compilers that could read wrote them.
    Read read(std::size_t bytes) const {
        const std::size_t count = word(2);
        const bool wide = bytes == (4 + 2 * count) * kWordSize;
        if (count > words_.size() || (!wide && bytes != (3 + count) * kWordSize)) {
            words_.fail(at_,
                        fmt::format("a read of {} registers does not have {} bytes", count, bytes));
        }
        Read result;
        for (std::size_t i = 0; i < count; ++i) {
            result.addresses.push_back(word(wide ? 4 + 2 * i : 3 + i));
        }
        return result;
    }

    Write block(std::size_t bytes) const {
        Write write{word(layout_.address), {}};
        if (bytes < layout_.block_data * kWordSize || bytes / kWordSize > words_.size() - at_) {
            words_.fail(at_, fmt::format("a block write of {} bytes does not fit", bytes));
        }
        for (std::size_t i = layout_.block_data; i < bytes / kWordSize; ++i) {
            write.words.push_back(word(i));
        }
        return write;
    }

    const Words& words_;
    WriteLayout layout_;
    std::size_t at_ = kOperationsFrom;
};

}  // namespace

bool is_transaction(const Words& words) {
    const std::uint32_t version = words.size() < kOperationsFrom ? 0 : words[0] & 0xFFFF;
    const std::uint32_t rows = words.size() > 0 ? words[0] >> 24 : 0;
    return (version == kVersion01 || version == kVersion10) && rows > 0 && rows < 32;
}

Transaction read_transaction(const Words& words) {
    return TransactionReader(words).run();
}

}  // namespace tilesim::workloads::npu::binary
