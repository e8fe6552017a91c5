// A condition over the keys of a sweep's points: "workload.gemm.M * 2 <= 4096 and device == xdna2".
//
// Operators, weakest first: or; and; not; == != < <= > >=; + -; * / %. Operands: numbers, numbers
// with a unit ("64 KiB", quoted), dotted keys, and other words, which stand for themselves.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tilesim::sim::explore {

class Expression {
  public:
    using Value = std::variant<double, std::string>;
    // The text of a key's value; nothing where there is no such key.
    using Lookup = std::function<std::optional<std::string>(const std::string& key)>;

    // Throws std::invalid_argument with what is wrong and at which column (from 1) of the text.
    explicit Expression(const std::string& text);

    // The dotted keys it names.
    std::vector<std::string> keys() const;
    // Throws std::invalid_argument where an operator does not fit its operands.
    bool holds(const Lookup& lookup) const;

    struct Node;

  private:
    std::shared_ptr<const Node> root_;
};

// A plain number, or a quantity in its base unit ("64 KiB" is 65536), or else the text itself.
Expression::Value value_of(const std::string& text);

}  // namespace tilesim::sim::explore
