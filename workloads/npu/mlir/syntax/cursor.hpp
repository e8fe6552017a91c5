// Walks the items of an operation or group and says what is wrong where it finds something else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/npu/mlir/syntax/syntax.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

class Cursor {
  public:
    // `items` must outlive the cursor. `where`: what errors name when nothing is left.
    Cursor(const std::vector<Item>& items, Location where) : items_(items), where_(where) {}
    explicit Cursor(const Operation& operation) : Cursor(operation.items, operation.where) {}
    explicit Cursor(const Item& group) : Cursor(group.items, group.token.where) {}

    bool done() const { return next_ >= items_.size(); }
    const Item* peek() const { return done() ? nullptr : &items_[next_]; }
    const Item& take();
    Location where() const { return done() ? where_ : items_[next_].token.where; }

    // True, and moves on, when the next item is this.
    bool skip(std::string_view punctuation);
    bool skip_word(std::string_view word);

    void expect(std::string_view punctuation);
    const Item& group(std::string_view bracket);
    std::string value();   // %name
    std::string symbol();  // @name
    std::string word();    // a bare or quoted word
    std::int64_t integer();

    [[noreturn]] void fail(const std::string& expected) const;

  private:
    const std::vector<Item>& items_;
    Location where_;
    std::size_t next_ = 0;
};

// Decimal or hexadecimal; nothing when it is no integer or does not fit.
std::optional<std::int64_t> to_integer(std::string_view text);
// "'memref'" or what else stands there, for messages.
std::string described(const Item& item);

}  // namespace tilesim::workloads::npu::mlir::syntax
