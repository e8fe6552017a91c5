// Object FIFOs of earlier compilers: values in place of names, counts that stood elsewhere.
#include <algorithm>
#include <string>
#include <utility>

#include "workloads/npu/mlir/syntax/cursor.hpp"
#include "workloads/npu/mlir/syntax/earlier_spellings.hpp"
#include "workloads/npu/mlir/syntax/memref_type.hpp"
#include "workloads/npu/mlir/syntax/unnamed_dimensions.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

namespace {

bool is_value(const Item& item) {
    return item.is(TokenKind::Value);
}

// For some days of 2026 an acquire's count was that of its results, objectfifo.acquire @f(Produce)
// : memref<8xi32>, a release's stood in brackets, and an endpoint had no parentheses.
void uncounted_use(Operation& operation) {
    std::vector<Item>& items = operation.items;
    if (items.size() < 2 || !items[0].is(TokenKind::Symbol)) {
        return;
    }
    const bool port = items[1].opens("(");
    const std::size_t next = port ? 2 : 1;
    if ((port && items[1].items.size() != 1) || next >= items.size() ||
        (port && !items[1].items.front().is(TokenKind::Word))) {
        return;
    }
    const Location where = items[next].token.where;
    Item count = token(TokenKind::Number, "1", where);
    if (items[next].is(":")) {
        const auto more = std::count_if(items.begin(), items.end(),
                                        [](const Item& item) { return item.is(","); });
        count.token.text = std::to_string(more + 1);
    } else if (items[next].opens("[") && items[next].items.size() == 1) {
        count = items[next].items.front();
        items.erase(items.begin() + static_cast<std::ptrdiff_t>(next));
    } else {
        return;
    }
    if (!port) {
        items.insert(items.begin() + 1,
                     {Item::Kind::Group, {TokenKind::Punctuation, "(", where}, {}, {}});
    } else {
        items[1].items.push_back(token(TokenKind::Punctuation, ",", where));
    }
    items[1].items.push_back(std::move(count));
}

// The elements of the first memref<..>; 0 where there is none.
std::int64_t elements_of(const std::vector<Item>& items, Location where) {
    Cursor cursor(items, where);
    while (!cursor.done()) {
        if (cursor.peek()->is_word("memref")) {
            return read_memref(cursor).elements;
        }
        const Item& item = cursor.take();
        if (item.opens("<")) {
            return elements_of(item.items, where);
        }
    }
    return 0;
}

// (%a toStream [<2, 4>], {%b fromStream [<8, 1>]}, 2): the dimensions of its ends.
void dimensions_of_ends(std::vector<Item>& items, const Operation& fifo) {
    for (Item& item : items) {
        if (!item.opens("[")) {
            dimensions_of_ends(item.items, fifo);
        } else if (!item.items.empty() && item.items.front().opens("<")) {
            const std::vector<Item>& first = item.items.front().items;
            if (!first.empty() && first.front().is(TokenKind::Number)) {
                name_dimensions(item, elements_of(fifo.items, fifo.where));
            }
        }
    }
}

}  // namespace

// %f = aie.objectfifo(%a, {%b}, 2) {sym_name = "f"}: today @f, and no value. Where there was one
// consumer only, it stood without braces.
void EarlierForms::object_fifo(Operation& operation) {
    const auto ends = std::find_if(operation.items.begin(), operation.items.end(),
                                   [](const Item& item) { return item.opens("("); });
    if (ends != operation.items.end()) {
        dimensions_of_ends(ends->items, operation);
    }
    if (operation.results.empty() || operation.items.empty() ||
        operation.items.front().is(TokenKind::Symbol)) {
        return;
    }
    std::string name = operation.results.front();
    const auto stated = operation.attribute("sym_name");
    if (stated && !stated->empty()) {
        name = stated->front().token.text;
    }
    fifo_symbols_[operation.results.front()] = name;
    operation.results.clear();
    constexpr std::size_t kConsumer = 2;  // behind the producer and its comma
    std::vector<Item>& inside = operation.items.front().items;
    if (inside.size() > kConsumer && is_value(inside[kConsumer])) {
        Item consumers{Item::Kind::Group, {TokenKind::Punctuation, "{", operation.where}, {}, {}};
        consumers.items.push_back(std::move(inside[kConsumer]));
        inside[kConsumer] = std::move(consumers);
    }
    operation.items.insert(operation.items.begin(),
                           token(TokenKind::Symbol, name, operation.where));
}

Item EarlierForms::symbol_of_value(const Item& value) const {
    const auto place = fifo_symbols_.find(value.token.text);
    if (place == fifo_symbols_.end()) {
        throw ReadError(value.token.where, "%" + value.token.text + " is no object FIFO");
    }
    return token(TokenKind::Symbol, place->second, value.token.where);
}

// aie.objectfifo.acquire<Produce>(%f : !aie.objectfifo<memref<8xi32>>, 1): today @f(Produce, 1).
void EarlierForms::fifo_use(Operation& operation) {
    std::vector<Item>& items = operation.items;
    if (items.size() > 2 && items[0].is(TokenKind::Symbol) && items[1].opens("<")) {
        items.erase(items.begin() + 1);  // @f <Consume>(Consume, 1)
        return;
    }
    uncounted_use(operation);
    if (items.size() < 2 || !items[0].opens("<") || !items[1].opens("(") ||
        items[0].items.empty() || items[1].items.empty() || !is_value(items[1].items.front())) {
        return;
    }
    const Location where = items[1].token.where;
    Item symbol = symbol_of_value(items[1].items.front());
    items[1].items = {items[0].items.front(), token(TokenKind::Punctuation, ",", where),
                      items[1].items.back()};
    items[0] = std::move(symbol);
}

// (%tile, %f : !aie.objectfifo<..>, {%buffer}): today @f (%tile, {%buffer}).
void EarlierForms::external_buffers(Operation& operation) {
    if (operation.items.empty() || !operation.items.front().opens("(")) {
        return;
    }
    std::vector<Item>& inside = operation.items.front().items;
    const auto list = std::find_if(inside.begin(), inside.end(), [](const Item& item) {
        return item.opens("{") || item.kind == Item::Kind::Region;
    });
    if (inside.size() < 3 || !is_value(inside[2]) || list == inside.end()) {
        return;
    }
    Item symbol = symbol_of_value(inside[2]);
    inside = {inside[0], inside[1], *list};
    operation.items.insert(operation.items.begin(), std::move(symbol));
}

// register_process<Produce>(%f : !aie.objectfifo<..>, %acquires : .., ..): today @f (Produce,
// %acquires : .., ..).
void EarlierForms::registered_process(Operation& operation) const {
    std::vector<Item>& items = operation.items;
    if (items.size() < 2 || !items[0].opens("<") || !items[1].opens("(") ||
        items[0].items.empty() || items[1].items.empty() || !is_value(items[1].items.front())) {
        return;
    }
    std::vector<Item>& inside = items[1].items;
    Item symbol = symbol_of_value(inside.front());
    inside.front() = std::move(items[0].items.front());
    const auto next =
        std::find_if(inside.begin(), inside.end(), [](const Item& item) { return item.is(","); });
    inside.erase(inside.begin() + 1, next);  // the type
    items[0] = std::move(symbol);
}

// packet_sw_objectfifo @f (..), of 2024: today an attribute says so.
void EarlierForms::packet_object_fifo(Operation& operation) {
    operation.name = "aie.objectfifo";
    Item attributes{Item::Kind::Group, {TokenKind::Punctuation, "{", operation.where}, {}, {}};
    attributes.items.push_back(token(TokenKind::Word, "packet", operation.where));
    operation.items.push_back(std::move(attributes));
    object_fifo(operation);
}

// ({%a, %b}, {%c}) : (...), or (%a, {%c}) where there is one: today [@a, @b] -> [@c] ().
void EarlierForms::link(Operation& operation) {
    if (operation.items.empty() || !operation.items.front().opens("(")) {
        return;
    }
    const Location where = operation.items.front().token.where;
    std::vector<Item> today;
    for (const Item& list : operation.items.front().items) {
        if (list.is(",")) {
            today.push_back(token(TokenKind::Punctuation, "->", where));
            continue;
        }
        Item symbols{Item::Kind::Group, {TokenKind::Punctuation, "[", where}, {}, {}};
        for (const Item& each : is_value(list) ? std::vector{list} : list.items) {
            symbols.items.push_back(is_value(each) ? symbol_of_value(each) : each);
        }
        today.push_back(std::move(symbols));
    }
    today.push_back({Item::Kind::Group, {TokenKind::Punctuation, "(", where}, {}, {}});
    operation.items = std::move(today);
}

}  // namespace tilesim::workloads::npu::mlir::syntax
