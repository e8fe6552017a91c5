#include "arch/memory/device/address_map.hpp"

#include <array>
#include <bit>

namespace tilesim::arch::memory::device {

namespace {

constexpr std::size_t kFields = 6;

struct Piece {  // where some bits of the burst number go
    std::size_t field = 0;
    int from = 0;
    std::int64_t mask = 0;  // of its bits, moved to bit 0
    int to = 0;
};

int bits_of(std::int64_t power_of_two) {
    return std::countr_zero(static_cast<std::uint64_t>(power_of_two));
}

std::int64_t low_bits(std::int64_t value, int bits) {
    return value & ((std::int64_t{1} << bits) - 1);
}

// The bits of `value` dealt out to so many in turn: the XOR of those each of them gets.
std::int64_t fold(std::int64_t value, int bits) {
    std::int64_t sums = 0;
    for (; bits > 0 && value != 0; value >>= bits) {
        sums ^= low_bits(value, bits);
    }
    return sums;
}

// Where the configuration puts a burst.
class Rule {
  public:
    explicit Rule(const MemoryConfig& config)
        : groups_(config.bank_groups),
          group_bits_(bits_of(config.bank_groups)),
          bank_bits_(bits_of(config.banks_per_group)),
          hash_(config.bank_hash),
          hash_all_(config.bank_hash_rows == HashedRows::All) {
        std::array<int, kFields> filled{};
        int folded = 0;
        for (const AddressBits& entry : config.mapping) {
            const auto field = static_cast<std::size_t>(entry.field);
            const int bits = static_cast<int>(entry.bits);
            pieces_.push_back({field, bits_, (std::int64_t{1} << bits) - 1, filled[field]});
            if (config.channel_hash && entry.field != AddressField::Channel) {
                fold_channel(bits_, bits, bits_of(config.channels), filled, folded);
            }
            filled[field] += bits;
            bits_ += bits;
        }
    }

    int bits() const { return bits_; }  // of a burst's number that count

    Location locate(std::int64_t burst) const {
        std::array<std::int64_t, kFields> value{};
        for (const Piece& piece : pieces_) {
            value[piece.field] |= ((burst >> piece.from) & piece.mask) << piece.to;
        }
        const auto of = [&value](AddressField f) { return value[static_cast<std::size_t>(f)]; };
        const std::int64_t row = of(AddressField::Row);
        std::int64_t group = of(AddressField::BankGroup);
        std::int64_t bank = of(AddressField::Bank);
        if (hash_) {  // rows that would share a bank spread over banks
            if (hash_all_) {
                const std::int64_t sums = fold(row, bank_bits_ + group_bits_);
                bank ^= low_bits(sums, bank_bits_);
                group ^= sums >> bank_bits_;
            } else {
                group ^= low_bits(row, group_bits_);
                bank ^= low_bits(row >> group_bits_, bank_bits_);
            }
        }
        const std::int64_t of_channel = of(AddressField::Rank) * groups_ + group;
        std::int64_t channel = of(AddressField::Channel);
        for (const Fold& bit : folds_) {
            channel ^= ((burst >> bit.from) & 1) << bit.to;
        }
        return {channel, (of_channel << bank_bits_) + bank, row, of(AddressField::Column)};
    }

  private:
    struct Fold {  // a bit of the burst number that is XORed into one of the channel's
        int from = 0;
        int to = 0;
    };

    // Bits above the channel's lowest ones go to its bits in turn: whatever the stride, it changes
    // some, and what is not the channel's still names a place in it.
    void fold_channel(int from, int bits, int channel_bits, const std::array<int, kFields>& filled,
                      int& folded) {
        if (filled[static_cast<std::size_t>(AddressField::Channel)] == 0) {
            return;
        }
        for (int bit = from; bit < from + bits; ++bit) {
            folds_.push_back({bit, folded++ % channel_bits});
        }
    }

    std::vector<Piece> pieces_;
    std::vector<Fold> folds_;
    int bits_ = 0;
    // All counts are powers of two.
    std::int64_t groups_;
    int group_bits_;
    int bank_bits_;
    bool hash_;
    bool hash_all_;
};

}  // namespace

AddressMap::AddressMap(const MemoryConfig& config) {
    const Rule rule(config);
    for (int from = 0; from < rule.bits(); from += kDigitBits) {
        Digit& digit = digits_.emplace_back();
        for (std::size_t value = 0; value < kDigit; ++value) {
            digit[value] = rule.locate(static_cast<std::int64_t>(value) << from);
        }
    }
}

}  // namespace tilesim::arch::memory::device
