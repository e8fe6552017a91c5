#include "workloads/npu/mlir/syntax/generic_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "workloads/npu/mlir/syntax/cursor.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

namespace {

using Names = std::span<const std::string_view>;

constexpr std::string_view kWires[] = {"Core", "DMA",  "FIFO", "South", "West",       "North",
                                       "East", "PLIO", "NOC",  "Trace", "TileControl"};
constexpr std::string_view kLockActions[] = {"Acquire", "Release", "AcquireGreaterEqual"};
constexpr std::string_view kDirections[] = {"S2MM", "MM2S"};
constexpr std::string_view kPorts[] = {"Produce", "Consume"};
constexpr std::string_view kDevices[] = {
    "",          "xcvc1902",  "xcve2302",  "xcve2802",  "npu1",      "npu1_1col",
    "npu1_2col", "npu1_3col", "npu2",      "npu2_1col", "npu2_2col", "npu2_3col",
    "npu2_4col", "npu2_5col", "npu2_6col", "npu2_7col", "xcve3858"};
constexpr std::string_view kPredicates[] = {"eq",  "ne",  "slt", "sle", "sgt",
                                            "sge", "ult", "ule", "ugt", "uge"};

class OwnForm {
  public:
    OwnForm(const Operation& operation, const GenericParts& parts)
        : operation_(operation), parts_(parts), where_(operation.where) {}

    std::vector<Item> run() {
        using Writer = void (OwnForm::*)();
        static const std::map<std::string_view, Writer> kWriters{
            {"aie.device", &OwnForm::device},
            {"aie.tile", &OwnForm::tile},
            {"aie.lock", &OwnForm::lock},
            {"aie.use_lock", &OwnForm::use_lock},
            {"aie.dma_start", &OwnForm::dma_start},
            {"aie.dma_bd", &OwnForm::dma_bd},
            {"aie.flow", &OwnForm::flow},
            {"aie.connect", &OwnForm::connect},
            {"aie.packet_flow", &OwnForm::packet_flow},
            {"aie.packet_source", &OwnForm::packet_end},
            {"aie.packet_dest", &OwnForm::packet_end},
            {"aie.shim_dma_allocation", &OwnForm::allocation},
            {"aie.runtime_sequence", &OwnForm::function},
            {"aiex.runtime_sequence", &OwnForm::function},
            {"func.func", &OwnForm::function},
            {"func.call", &OwnForm::call},
            {"aie.objectfifo.acquire", &OwnForm::fifo_use},
            {"aie.objectfifo.release", &OwnForm::fifo_use},
            {"aiex.npu.dma_memcpy_nd", &OwnForm::memcpy_nd},
            {"aiex.dma_configure_task", &OwnForm::task},
            {"aiex.dma_configure_task_for", &OwnForm::task_for},
            {"aiex.dma_start_task", &OwnForm::of_task},
            {"aiex.dma_await_task", &OwnForm::of_task},
            {"aiex.dma_free_task", &OwnForm::of_task},
            {"arith.constant", &OwnForm::constant},
            {"arith.cmpi", &OwnForm::compare},
            {"cf.br", &OwnForm::branch},
            {"cf.cond_br", &OwnForm::branch},
            {"scf.for", &OwnForm::for_loop},
            {"scf.condition", &OwnForm::condition},
            {"memref.load", &OwnForm::access},
            {"memref.store", &OwnForm::access}};
        static constexpr std::array<std::string_view, 8> kOfOneTile{
            "aie.buffer",   "aie.core",      "aie.mem",      "aie.memtile_dma",
            "aie.shim_dma", "aie.switchbox", "aie.shim_mux", "aie.external_buffer"};
        const std::string_view name = operation_.name;
        const auto writer = kWriters.find(name);
        if (writer != kWriters.end()) {
            (this->*writer->second)();
        } else if (std::find(kOfOneTile.begin(), kOfOneTile.end(), name) != kOfOneTile.end()) {
            group("(", operands());
            rest();
        } else {
            append(operands());
            append(parts_.successors);
            rest();
        }
        return std::move(items_);
    }

  private:
    void add(Item item) { items_.push_back(std::move(item)); }
    void append(std::vector<Item> more) {
        std::move(more.begin(), more.end(), std::back_inserter(items_));
    }
    void word(std::string_view text) { add(token(TokenKind::Word, text, where_)); }
    void mark(std::string_view text) { add(token(TokenKind::Punctuation, text, where_)); }
    void group(std::string_view bracket, std::vector<Item> inside) {
        Item item{
            Item::Kind::Group, {TokenKind::Punctuation, std::string{bracket}, where_}, {}, {}};
        item.items = std::move(inside);
        add(std::move(item));
    }
    // What every form may end in: attributes, regions, types.
    void rest() {
        if (!parts_.properties.empty()) {
            group("{", parts_.properties);
        }
        append(parts_.regions);
        if (!parts_.types.empty()) {
            mark(":");
            append(parts_.types);
        }
    }

    // Operands from one on, with commas.
    std::vector<Item> operands(std::size_t from = 0, std::size_t to = SIZE_MAX) const {
        std::vector<Item> list;
        for (std::size_t i = from; i < std::min(to, parts_.operands.size()); ++i) {
            if (!list.empty()) {
                list.push_back(token(TokenKind::Punctuation, ",", where_));
            }
            list.push_back(parts_.operands[i]);
        }
        return list;
    }
    const Item& operand(std::size_t number) const {
        if (number >= parts_.operands.size()) {
            throw ReadError(where_,
                            fmt::format("\"{}\" needs {} operands", operation_.name, number + 1));
        }
        return parts_.operands[number];
    }

    std::optional<std::vector<Item>> property(std::string_view key) const {
        Operation carrier{{}, "", where_, {}};
        Item dictionary{Item::Kind::Group, {TokenKind::Punctuation, "{", where_}, {}, {}};
        dictionary.items = parts_.properties;
        carrier.items = {std::move(dictionary)};
        return carrier.attribute(key);
    }
    Item value(std::string_view key) const {
        const auto found = property(key);
        if (!found || found->empty()) {
            throw ReadError(where_, fmt::format("\"{}\" needs '{}'", operation_.name, key));
        }
        return found->front();
    }
    // The name of an enumeration's number; a name stays.
    Item named(std::string_view key, Names names) const {
        const Item item = value(key);
        const auto number = item.is(TokenKind::Number) ? to_integer(item.token.text) : std::nullopt;
        if (!number) {
            return item;
        }
        if (*number < 0 || *number >= std::ssize(names)) {
            throw ReadError(
                where_, fmt::format("\"{}\": {} = {} is not known", operation_.name, key, *number));
        }
        return token(TokenKind::Word, names[static_cast<std::size_t>(*number)], where_);
    }
    std::vector<Item> list(std::initializer_list<Item> items) const {
        std::vector<Item> result;
        for (const Item& item : items) {
            if (!result.empty() && !item.is(":") && !result.back().is(":")) {
                result.push_back(token(TokenKind::Punctuation, ",", where_));
            }
            result.push_back(item);
        }
        return result;
    }
    Item colon() const { return token(TokenKind::Punctuation, ":", where_); }
    void symbol(std::string_view key) {
        if (const auto found = property(key); found && !found->empty()) {
            add(token(TokenKind::Symbol, found->front().token.text, where_));
        }
    }

    void device() {
        group("(", {named("device", kDevices)});
        symbol("sym_name");
        rest();
    }
    void tile() {
        group("(", list({value("col"), value("row")}));
        rest();
    }
    void lock() {
        const bool numbered = property("lockID").has_value();
        group("(", numbered ? list({operand(0), value("lockID")}) : list({operand(0)}));
        rest();
    }
    void use_lock() {
        const Item action = named("action", kLockActions);
        if (parts_.operands.size() > 1) {
            group("(", list({operand(0), action, operand(1)}));
        } else {
            group("(", property("value") ? list({operand(0), action, value("value")})
                                         : list({operand(0), action}));
        }
    }
    void dma_start() {
        if (parts_.successors.size() != 2) {
            throw ReadError(where_, "\"aie.dma_start\" needs two successors");
        }
        group("(", list({named("channel_dir", kDirections), value("channel_index"),
                         parts_.successors[0], parts_.successors[1]}));
        rest();
    }
    // The first type of the operands: of the buffer.
    void dma_bd() {
        std::vector<Item> inside{operand(0), colon()};
        if (!parts_.types.empty()) {
            const std::vector<Item>& types = parts_.types.front().items;
            for (std::size_t i = 0; i < types.size() && !types[i].is(","); ++i) {
                inside.push_back(types[i]);
            }
        }
        group("(", std::move(inside));
        rest();
    }
    void flow() {
        std::vector<Item> inside =
            list({operand(0), named("source_bundle", kWires), colon(), value("source_channel"),
                  operand(1), named("dest_bundle", kWires), colon(), value("dest_channel")});
        group("(", std::move(inside));
        rest();
    }
    void connect() {
        group("<", list({named("source_bundle", kWires), colon(), value("source_channel"),
                         named("dest_bundle", kWires), colon(), value("dest_channel")}));
    }
    void packet_flow() {
        group("(", {value("ID")});
        rest();
    }
    void packet_end() {
        group("<", list({operand(0), named("bundle", kWires), colon(), value("channel")}));
    }
    void allocation() {
        symbol("sym_name");
        if (parts_.operands.empty()) {  // before 2025 the column stood in place of the tile
            group("(",
                  list({named("channel_dir", kDirections), value("channel_index"), value("col")}));
            return;
        }
        group("(", list({operand(0), named("channel_dir", kDirections), value("channel_index")}));
    }
    void task() {
        group("(", list({operand(0), named("direction", kDirections), value("channel")}));
        rest();
    }
    void task_for() {
        symbol("alloc");
        rest();
    }
    void of_task() { group("(", operands()); }
    // A name, and the arguments of the body's first block.
    void function() {
        symbol("sym_name");
        std::vector<Item> arguments;
        if (!parts_.regions.empty() && !parts_.regions.front().blocks.empty()) {
            arguments = parts_.regions.front().blocks.front().argument_items;
        }
        group("(", std::move(arguments));
        append(parts_.regions);
    }
    void call() {
        symbol("callee");
        group("(", operands());
        rest();
    }
    void fifo_use() {
        symbol("objFifo_name");
        group("(", list({named("port", kPorts), value("size")}));
    }
    void memcpy_nd() {
        std::vector<Item> inside{operand(0)};
        for (const char* key : {"static_offsets", "static_sizes", "static_strides"}) {
            Item numbers{Item::Kind::Group, {TokenKind::Punctuation, "[", where_}, {}, {}};
            const auto array = property(key);  // array<i64: 0, 0, 0, 0>
            for (const Item& item : array ? *array : std::vector<Item>{}) {
                for (const Item& each : item.items) {
                    if (each.is(TokenKind::Number) || (each.is(",") && !numbers.items.empty())) {
                        numbers.items.push_back(each);
                    }
                }
            }
            inside.push_back(std::move(numbers));
        }
        group("(", std::move(inside));
        rest();
    }
    void constant() { append(property("value").value_or(std::vector<Item>{})); }
    void compare() {
        add(named("predicate", kPredicates));
        mark(",");
        append(operands());
        rest();
    }
    // The operands behind the condition, shared out by operandSegmentSizes.
    void branch() {
        std::vector<std::size_t> counts;
        for (const Item& item : property("operandSegmentSizes").value_or(std::vector<Item>{})) {
            for (const Item& each : item.items) {
                if (each.is(TokenKind::Number)) {
                    counts.push_back(
                        static_cast<std::size_t>(to_integer(each.token.text).value_or(0)));
                }
            }
        }
        const bool conditional = operation_.name == "cf.cond_br";
        if (!conditional) {
            counts = {0, parts_.operands.size()};
        }
        if (counts.size() != parts_.successors.size() + 1) {
            throw ReadError(where_,
                            fmt::format("\"{}\" needs operandSegmentSizes", operation_.name));
        }
        std::size_t next = 0;
        if (conditional) {
            add(operand(next++));
        }
        for (std::size_t i = 0; i < parts_.successors.size(); ++i) {
            if (!items_.empty()) {
                mark(",");
            }
            add(parts_.successors[i]);
            const std::size_t count = std::min(counts[i + 1], parts_.operands.size());
            if (count > 0) {
                group("(", operands(next, next + count));
                next += count;
            }
        }
    }
    // The first block's arguments are the counter and what is carried.
    void for_loop() {
        const bool body = !parts_.regions.empty() && !parts_.regions.front().blocks.empty();
        if (!body || parts_.regions.front().blocks.front().arguments.empty()) {
            throw ReadError(where_, "\"scf.for\" needs a body with its counter");
        }
        std::vector<Item> regions = parts_.regions;
        const std::vector<std::string> arguments =
            std::exchange(regions.front().blocks.front().arguments, {});
        add(token(TokenKind::Value, arguments.front(), where_));
        mark("=");
        add(operand(0));
        word("to");
        add(operand(1));
        word("step");
        add(operand(2));
        std::vector<Item> carried;
        for (std::size_t i = 1; i < arguments.size(); ++i) {
            if (!carried.empty()) {
                carried.push_back(token(TokenKind::Punctuation, ",", where_));
            }
            carried.push_back(token(TokenKind::Value, arguments[i], where_));
            carried.push_back(token(TokenKind::Punctuation, "=", where_));
            carried.push_back(operand(2 + i));
        }
        if (!carried.empty()) {
            word("iter_args");
            group("(", std::move(carried));
        }
        append(std::move(regions));
    }
    void condition() {
        group("(", {operand(0)});
        append(operands(1));
    }
    // %buffer[%i], or %value, %buffer[%i]
    void access() {
        const std::size_t buffer = operation_.name == "memref.store" ? 1 : 0;
        append(operands(0, buffer + 1));
        group("[", operands(buffer + 1));
        rest();
    }

    const Operation& operation_;
    const GenericParts& parts_;
    Location where_;
    std::vector<Item> items_;
};

}  // namespace

std::vector<Item> own_form(const Operation& operation, const GenericParts& parts) {
    return OwnForm(operation, parts).run();
}

}  // namespace tilesim::workloads::npu::mlir::syntax
