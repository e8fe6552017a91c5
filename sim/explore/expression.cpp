#include "sim/explore/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string_view>

#include "arch/base/quantity.hpp"

namespace tilesim::sim::explore {

using Value = Expression::Value;

struct Expression::Node {
    std::string name;                         // the operator, or the operand's text
    std::shared_ptr<const Node> left, right;  // `not` has only a left one
    bool key = false;                         // a dotted name
};

namespace {

using NodePointer = std::shared_ptr<const Expression::Node>;

struct Token {
    std::string text;
    std::size_t column = 0;
    bool quoted = false;
};

bool word_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

bool space(char c) {
    return std::isspace(static_cast<unsigned char>(c)) != 0;
}

// One past the word or operator that begins here.
std::size_t end_of_token(const std::string& text, std::size_t begin) {
    std::size_t at = begin + 1;
    if (word_character(text[begin])) {
        while (at < text.size() && word_character(text[at])) {
            ++at;
        }
        return at;
    }
    const bool two = at < text.size() && text[at] == '=' &&
                     std::string_view{"<>=!"}.find(text[begin]) != std::string_view::npos;
    return two ? at + 1 : at;
}

std::vector<Token> tokens_of(const std::string& text) {
    std::vector<Token> tokens;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t begin = at;
        const char c = text[at];
        if (space(c)) {
            ++at;
        } else if (c == '\'' || c == '"') {
            const std::size_t close = text.find(c, begin + 1);
            if (close == std::string::npos) {
                throw std::invalid_argument(fmt::format("column {}: quote not closed", begin + 1));
            }
            tokens.push_back({text.substr(begin + 1, close - begin - 1), begin + 1, true});
            at = close + 1;
        } else {
            at = end_of_token(text, begin);
            tokens.push_back({text.substr(begin, at - begin), begin + 1, false});
        }
    }
    tokens.push_back({"", text.size() + 1, false});
    return tokens;
}

// Operators of one strength associate to the left; `not` stands between `and` and comparisons.
constexpr std::array<std::array<std::string_view, 6>, 5> kLevels{
    {{"or"}, {"and"}, {"==", "!=", "<", "<=", ">", ">="}, {"+", "-"}, {"*", "/", "%"}}};
constexpr std::size_t kComparisons = 2;
constexpr std::size_t kMostNesting = 50;

bool is_condition(const Expression::Node& node) {
    const auto& comparisons = kLevels[kComparisons];
    const bool joins = node.name == "and" || node.name == "or" || node.name == "not";
    const bool compares =
        std::find(comparisons.begin(), comparisons.end(), node.name) != comparisons.end();
    return node.left != nullptr && (joins || compares);
}

class Parser {
  public:
    explicit Parser(const std::string& text) : tokens_(tokens_of(text)) {}

    NodePointer parse() {
        NodePointer node = binary(0);
        if (at_ + 1 != tokens_.size()) {
            fail("an operator");
        }
        require_condition(*node, 0);
        return node;
    }

  private:
    const Token& here() const { return tokens_[at_]; }
    bool is(std::string_view text) const { return !here().quoted && here().text == text; }
    bool is_operator(std::size_t level) const {
        const auto& names = kLevels[level];
        return std::any_of(names.begin(), names.end(),
                           [this](std::string_view name) { return !name.empty() && is(name); });
    }
    [[noreturn]] void fail(std::string_view wanted) const {
        throw std::invalid_argument(
            fmt::format("column {}: {} must stand here, got {}", here().column, wanted,
                        here().text.empty() ? "the end" : fmt::format("'{}'", here().text)));
    }

    // A number that is not 0 would be true of every point. `begin`: its first token.
    void require_condition(const Expression::Node& node, std::size_t begin) const {
        if (!is_condition(node)) {
            throw std::invalid_argument(
                fmt::format("column {}: a comparison must stand here", tokens_[begin].column));
        }
    }

    NodePointer negation() {
        if (++nesting_ > kMostNesting) {
            fail("less nesting");
        }
        const std::size_t begin = ++at_;
        NodePointer of = binary(kComparisons);
        require_condition(*of, begin);
        --nesting_;
        return std::make_shared<Expression::Node>(Expression::Node{"not", of, nullptr, false});
    }

    NodePointer binary(std::size_t level) {
        if (level == kLevels.size()) {
            return operand();
        }
        if (level == kComparisons && is("not")) {
            return negation();
        }
        const std::size_t begin = at_;
        NodePointer left = binary(level + 1);
        while (true) {
            if (!is_operator(level)) {
                return left;
            }
            const std::string found = here().text;
            const std::size_t right_begin = ++at_;
            NodePointer right = binary(level + 1);
            if (level < kComparisons) {
                require_condition(*left, begin);
                require_condition(*right, right_begin);
            }
            left = std::make_shared<Expression::Node>(Expression::Node{found, left, right, false});
            if (level == kComparisons && is_operator(level)) {
                fail("'and' or 'or'");  // a < b < c would compare with c what a < b says
            }
        }
    }

    NodePointer operand() {
        if (++nesting_ > kMostNesting) {
            fail("less nesting");
        }
        NodePointer node;
        if (is("-")) {
            ++at_;
            node = std::make_shared<Expression::Node>(
                Expression::Node{"-", operand(), nullptr, false});
        } else if (is("(")) {
            ++at_;
            node = binary(0);
            if (!is(")")) {
                fail("')'");
            }
            ++at_;
        } else {
            if (is("and") || is("or") || is("not") ||
                (!here().quoted && (here().text.empty() || !word_character(here().text[0])))) {
                fail("a key or a value");
            }
            const bool number = std::isdigit(static_cast<unsigned char>(
                                    here().text.empty() ? ' ' : here().text[0])) != 0;
            const bool key =
                !here().quoted && !number &&
                (here().text.find('.') != std::string::npos || here().text == "device");
            node = std::make_shared<Expression::Node>(
                Expression::Node{here().text, nullptr, nullptr, key});
            ++at_;
        }
        --nesting_;
        return node;
    }

    std::vector<Token> tokens_;
    std::size_t at_ = 0;
    std::size_t nesting_ = 0;
};

using arch::base::config::Dimension;

// A value, and what it is a quantity of; a plain number goes with any.
struct Operand {
    Value value;
    const Dimension* dimension = nullptr;
};

double number_of(const Operand& operand, const std::string& operation) {
    if (const auto* number = std::get_if<double>(&operand.value)) {
        return *number;
    }
    throw std::invalid_argument(fmt::format("'{}' needs numbers, got '{}'", operation,
                                            std::get<std::string>(operand.value)));
}

Operand operand_of(const std::string& text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc{} && end == text.data() + text.size() && std::isfinite(number)) {
        return {number};
    }
    using namespace arch::base::config;
    for (const Dimension* dimension :
         {&kBytesDimension, &kTimeDimension, &kFrequencyDimension, &kBytesPerCycleDimension,
          &kCyclesDimension, &kBandwidthDimension, &kThroughputDimension}) {
        const auto parsed = parse_quantity(text, *dimension);
        if (const auto* count = std::get_if<std::int64_t>(&parsed)) {
            return {static_cast<double>(*count), dimension};
        }
    }
    return {text};
}

// What both are quantities of; an error where they are not of one kind.
const Dimension* common_dimension(const Operand& left, const Operand& right,
                                  const std::string& operation) {
    if (left.dimension == nullptr || right.dimension == nullptr) {
        return left.dimension == nullptr ? right.dimension : left.dimension;
    }
    if (left.dimension != right.dimension) {
        throw std::invalid_argument(fmt::format("'{}' of {} and {}", operation,
                                                left.dimension->base, right.dimension->base));
    }
    return left.dimension;
}

double arithmetic(const std::string& name, double a, double b) {
    if (name == "+") {
        return a + b;
    }
    if (name == "-") {
        return a - b;
    }
    if (name == "*") {
        return a * b;
    }
    if (b == 0) {
        throw std::invalid_argument(fmt::format("'{}' by zero", name));
    }
    return name == "/" ? a / b : std::fmod(a, b);
}

Operand evaluate(const Expression::Node& node, const Expression::Lookup& lookup);

Operand binary_value(const Expression::Node& node, const Expression::Lookup& lookup) {
    const std::string& name = node.name;
    const Operand left = evaluate(*node.left, lookup);
    if (name == "and" || name == "or") {
        const bool decided = (number_of(left, name) != 0) == (name == "or");
        return {decided ? static_cast<double>(name == "or")
                        : static_cast<double>(number_of(evaluate(*node.right, lookup), name) != 0)};
    }
    const Operand right = evaluate(*node.right, lookup);
    if (name == "*" || name == "/") {
        return {arithmetic(name, number_of(left, name), number_of(right, name))};
    }
    const Dimension* const dimension = common_dimension(left, right, name);
    if (name == "==" || name == "!=") {
        return {static_cast<double>((left.value == right.value) == (name == "=="))};
    }
    const double a = number_of(left, name);
    const double b = number_of(right, name);
    if (name == "<" || name == "<=" || name == ">" || name == ">=") {
        const bool less = name[0] == '<';
        return {static_cast<double>((less ? a < b : a > b) || (name.size() == 2 && a == b))};
    }
    return {arithmetic(name, a, b), dimension};
}

Operand evaluate(const Expression::Node& node, const Expression::Lookup& lookup) {
    if (node.right != nullptr) {
        return binary_value(node, lookup);
    }
    if (node.left != nullptr) {
        const Operand of = evaluate(*node.left, lookup);
        const double inner = number_of(of, node.name);
        return node.name == "-" ? Operand{-inner, of.dimension}
                                : Operand{static_cast<double>(inner == 0)};
    }
    if (!node.key) {
        return operand_of(node.name);
    }
    const auto text = lookup(node.name);
    if (!text) {
        throw std::invalid_argument(fmt::format("'{}' is no key of these points", node.name));
    }
    return operand_of(*text);
}

void collect_keys(const Expression::Node& node, std::vector<std::string>& keys) {
    if (node.key) {
        keys.push_back(node.name);
    }
    for (const auto& child : {node.left, node.right}) {
        if (child != nullptr) {
            collect_keys(*child, keys);
        }
    }
}

}  // namespace

Expression::Expression(const std::string& text) : root_(Parser{text}.parse()) {}

std::vector<std::string> Expression::keys() const {
    std::vector<std::string> keys;
    collect_keys(*root_, keys);
    return keys;
}

bool Expression::holds(const Lookup& lookup) const {
    return number_of(evaluate(*root_, lookup), "condition") != 0;
}

Value value_of(const std::string& text) {
    return operand_of(text).value;
}

}  // namespace tilesim::sim::explore
