// The 32-bit words of a binary file: little-endian bytes, or the same as hexadecimal text.
//
// Errors:  ConfigError, "file: word N: what is wrong".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilesim::workloads::npu::binary {

inline constexpr std::size_t kWordSize = sizeof(std::uint32_t);  // bytes

class Words {
  public:
    Words(std::string file, std::vector<std::uint32_t> words)
        : file_(std::move(file)), words_(std::move(words)) {}

    std::size_t size() const { return words_.size(); }
    std::uint32_t operator[](std::size_t at) const;  // throws where the file ends before
    Words from(std::size_t at, std::size_t count) const;
    const std::string& file() const { return file_; }

    [[noreturn]] void fail(std::size_t at, const std::string& message) const;

  private:
    std::string file_;
    std::vector<std::uint32_t> words_;
    std::size_t first_ = 0;  // of the file, for messages
};

// Whether these are words as hexadecimal text.
bool is_hex_text(const std::string& bytes);
Words words_of(const std::string& bytes, const std::string& file);

}  // namespace tilesim::workloads::npu::binary
