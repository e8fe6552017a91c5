#include "workloads/npu/mlir/descriptors/transfer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::descriptors {

namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 44;  // elements; beyond any address

void check(std::int64_t number, Location where) {
    if (number < 0 || number > kMost) {
        throw ReadError(where, fmt::format("{} is no offset, length, size or stride", number));
    }
}

// Whether sizes count words: until 2024 designs could say so by an innermost stride of one word.
bool counts_words(const Transfer& transfer) {
    const std::int64_t stride = transfer.dimensions.back().stride;
    std::int64_t words = 1;
    for (const program::Dimension& d : transfer.dimensions) {
        if (d.size <= 0 || words > kMost / d.size) {
            return false;
        }
        words *= d.size;
    }
    return stride * transfer.type.element_bits == kWordBits && words * stride == transfer.length;
}

// Innermost first, without steps of one, in words.
std::vector<program::Dimension> word_dimensions(const Transfer& transfer, Location where) {
    std::vector<program::Dimension> dimensions;
    const std::int64_t bits = transfer.type.element_bits;
    const std::size_t count = transfer.dimensions.size();
    for (std::size_t i = 0; i < count; ++i) {
        const program::Dimension& d = transfer.dimensions[count - 1 - i];
        check(d.size, where);
        check(d.stride, where);
        const bool innermost = i == 0;
        if (innermost && d.stride == 1) {
            dimensions.push_back({words_of(d.size, transfer.type, where), 1});
        } else if (innermost && bits > kWordBits) {  // the words of one element, then the elements
            dimensions.push_back({bits / kWordBits, 1});
            dimensions.push_back({d.size, words_of(d.stride, transfer.type, where)});
        } else if (innermost && bits < kWordBits && counts_words(transfer)) {
            dimensions.push_back({d.size, 1});
        } else if (innermost && bits < kWordBits && d.size > 1) {
            throw ReadError(where, fmt::format("the innermost stride of {} elements of {} bits is "
                                               "no whole number of 32-bit words; it must be 1",
                                               d.stride, bits));
        } else if (d.size != 1 || innermost) {
            dimensions.push_back(
                {d.size, d.size == 1 ? 1 : words_of(d.stride, transfer.type, where)});
        }
    }
    return dimensions;
}

bool linear(const std::vector<program::Dimension>& dimensions) {
    std::int64_t next = 1;
    return std::all_of(dimensions.begin(), dimensions.end(), [&next](const program::Dimension& d) {
        const bool follows = d.stride == next || d.size == 1;
        next *= d.size;
        return follows;
    });
}

}  // namespace

std::int64_t words_of(std::int64_t elements, const MemrefType& type, Location where) {
    check(elements, where);
    if (elements * type.element_bits % kWordBits != 0) {
        throw ReadError(where, fmt::format("{} elements of {} bits are no whole number of 32-bit "
                                           "words",
                                           elements, type.element_bits));
    }
    return elements * type.element_bits / kWordBits;
}

std::int64_t elements_before(const Value& view, std::int64_t element_bits, Location where) {
    if (view.offset_bits % element_bits != 0) {
        throw ReadError(where, fmt::format("a view from byte {} on is no whole number of elements "
                                           "of {} bits",
                                           view.offset_bits / 8, element_bits));
    }
    return view.offset_bits / element_bits;
}

void set_transfer(program::BufferDescriptor& descriptor, const Transfer& transfer, Location where) {
    descriptor.where = where;
    descriptor.offset = words_of(transfer.offset, transfer.type, where) * kWordBytes;
    descriptor.length = words_of(transfer.length, transfer.type, where);
    std::vector<program::Dimension> dimensions = word_dimensions(transfer, where);
    const std::size_t pads = transfer.padding.size();
    for (std::size_t i = 0; i < pads; ++i) {
        const program::Padding& p = transfer.padding[pads - 1 - i];
        descriptor.padding.push_back(
            i == 0 ? program::Padding{words_of(p.before, transfer.type, where),
                                      words_of(p.after, transfer.type, where)}
                   : p);
    }
    if (!descriptor.padding.empty()) {
        // The file's length counts the padding, the descriptor's what comes from memory.
        if (pads > dimensions.size()) {
            throw ReadError(where, "more paddings than dimensions that take more than one step");
        }
        std::int64_t padded = 1;
        std::int64_t moved = 1;
        for (std::size_t i = 0; i < dimensions.size(); ++i) {
            const program::Padding pad = i < pads ? descriptor.padding[i] : program::Padding{};
            check(pad.before, where);
            check(pad.after, where);
            padded *= dimensions[i].size + pad.before + pad.after;
            moved *= dimensions[i].size;
            check(padded, where);
        }
        if (padded != descriptor.length && moved != descriptor.length) {
            throw ReadError(where, fmt::format("the length of {} words is neither the {} with "
                                               "padding nor the {} without",
                                               descriptor.length, padded, moved));
        }
        descriptor.length = moved;
    } else if (linear(dimensions)) {
        dimensions.clear();
    }
    descriptor.dimensions = std::move(dimensions);
}

void factor_dimensions(program::BufferDescriptor& descriptor, const arch::npu::DmaConfig& dma) {
    auto& dimensions = descriptor.dimensions;
    const std::int64_t most = (std::int64_t{1} << dma.wrap_bits) - 1;
    for (std::size_t i = 0; i + 1 < dimensions.size(); ++i) {  // the outermost's end is the length
        if (dimensions[i].size <= most ||
            dimensions.size() >= static_cast<std::size_t>(dma.dimensions)) {
            continue;
        }
        std::int64_t inner = most;
        while (dimensions[i].size % inner != 0) {
            --inner;
        }
        const program::Dimension outer{dimensions[i].size / inner, dimensions[i].stride * inner};
        dimensions[i].size = inner;
        dimensions.insert(dimensions.begin() + static_cast<std::ptrdiff_t>(i) + 1, outer);
    }
}

}  // namespace tilesim::workloads::npu::mlir::descriptors
