#include "validation/amx/harness/constant_pool.hpp"

namespace tilesim::validation::amx::harness {

using arch::amx::program::kRowBytes;
using arch::amx::program::Opcode;

namespace {

void append(std::vector<std::byte>& image, const void* data, std::size_t bytes) {
    const auto* first = static_cast<const std::byte*>(data);
    image.insert(image.end(), first, first + bytes);
}

// Elements of the first register count from 0, those of the second behind them.
template <class Element>
void append_interleaving(std::vector<std::byte>& image, int half) {
    constexpr int kElements = kRowBytes / static_cast<int>(sizeof(Element));
    for (int i = 0; i < kElements; ++i) {
        const auto index =
            static_cast<Element>(half * kElements / 2 + i / 2 + (i % 2 == 0 ? 0 : kElements));
        append(image, &index, sizeof index);
    }
}

}  // namespace

ConstantPool::ConstantPool(const arch::amx::program::Program& program)
    : image_(static_cast<std::size_t>(kLineBytes)) {
    for (const auto& shapes : program.configs) {
        const arch::amx::program::TileConfigImage image = arch::amx::program::make_image(shapes);
        append(image_, image.data(), image.size());
    }
    shuffles_ = static_cast<std::int64_t>(image_.size());
    for (int half = 0; half < 2; ++half) {
        append_interleaving<std::uint8_t>(image_, half);
    }
    for (int half = 0; half < 2; ++half) {
        append_interleaving<std::uint16_t>(image_, half);
    }
    for (const arch::amx::program::AddressTable& table : program.tables) {
        tables_.push_back(static_cast<std::int64_t>(image_.size()));
        append(image_, table.starts.data(), table.starts.size() * sizeof(std::int64_t));
    }
}

std::int64_t ConstantPool::config(std::int64_t index) const {
    return kLineBytes + index * arch::amx::program::kTileConfigBytes;
}

std::int64_t ConstantPool::shuffle(Opcode opcode, std::int64_t half) const {
    return shuffles_ + ((opcode == Opcode::Vpermt2w ? 2 : 0) + (half == 0 ? 0 : 1)) * kLineBytes;
}

std::int64_t ConstantPool::starts(int table) const {
    return tables_.at(static_cast<std::size_t>(table));
}

}  // namespace tilesim::validation::amx::harness
