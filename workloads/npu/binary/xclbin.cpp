#include "workloads/npu/binary/xclbin.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "arch/base/config.hpp"
#include "workloads/npu/binary/words.hpp"

namespace tilesim::workloads::npu::binary {

namespace {

constexpr std::string_view kXclbin{"xclbin2\0", 8};
constexpr std::uint32_t kPartition = 32;  // kind of section

// In words of their structures.
constexpr std::size_t kSectionCount = 112;
constexpr std::size_t kSections = 114;
constexpr std::size_t kSectionWords = 10;
constexpr std::size_t kSectionOffset = 6;
constexpr std::size_t kSectionSize = 8;
constexpr std::size_t kImageCount = 30;
constexpr std::size_t kImages = 31;
constexpr std::size_t kImageWords = 24;
constexpr std::size_t kImageSize = 4;
constexpr std::size_t kImageOffset = 5;

std::string_view piece(std::string_view bytes, std::uint64_t offset, std::uint64_t size,
                       const std::string& file) {
    if (offset > bytes.size() || size > bytes.size() - offset) {
        throw arch::base::config::ConfigError(fmt::format(
            "{}: {} bytes are stated at byte {}, it has {}", file, size, offset, bytes.size()));
    }
    return bytes.substr(offset, size);
}

std::uint64_t wide(const Words& words, std::size_t at) {
    return static_cast<std::uint64_t>(words[at + 1]) << 32 | words[at];
}

void read_partition(std::string_view bytes, const std::string& file,
                    std::vector<std::string_view>& images) {
    const Words words = words_of(std::string(bytes), file);
    for (std::size_t i = 0; i < words[kImageCount]; ++i) {
        const std::size_t image = words[kImages] / kWordSize + i * kImageWords;
        images.push_back(
            piece(bytes, words[image + kImageOffset], words[image + kImageSize], file));
    }
}

}  // namespace

std::vector<std::string_view> partition_images(const std::string& bytes, const std::string& file) {
    std::vector<std::string_view> images;
    if (!bytes.starts_with(kXclbin)) {
        return images;
    }
    const Words words = words_of(bytes, file);
    for (std::size_t i = 0; i < words[kSectionCount]; ++i) {
        const std::size_t section = kSections + i * kSectionWords;
        if (words[section] == kPartition) {
            read_partition(piece(bytes, wide(words, section + kSectionOffset),
                                 wide(words, section + kSectionSize), file),
                           file + " (AIE partition)", images);
        }
    }
    return images;
}

}  // namespace tilesim::workloads::npu::binary
