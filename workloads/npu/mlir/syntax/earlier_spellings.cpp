#include "workloads/npu/mlir/syntax/earlier_spellings.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "workloads/npu/mlir/syntax/cursor.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

namespace {

using Spelling = std::pair<std::string_view, std::string_view>;  // earlier, today's

// Names behind the dialect's; a name that is not here has kept its letters.
constexpr std::array kNames{
    Spelling{"useLock", "use_lock"},
    Spelling{"dmaBd", "dma_bd"},
    Spelling{"dmaBdPacket", "dma_bd_packet"},
    Spelling{"dmaBdPckt", "dma_bd_packet"},
    Spelling{"dmaStart", "dma_start"},
    Spelling{"nextBd", "next_bd"},
    Spelling{"shimDMA", "shim_dma"},
    Spelling{"shimDMAAllocation", "shim_dma_allocation"},
    Spelling{"memTileDMA", "memtile_dma"},
    Spelling{"shimmux", "shim_mux"},
    Spelling{"packetrules", "packet_rules"},
    Spelling{"getCascade", "get_cascade"},
    Spelling{"putCascade", "put_cascade"},
    Spelling{"getStream", "get_stream"},
    Spelling{"putStream", "put_stream"},
    Spelling{"objectFifo", "objectfifo"},
    Spelling{"objectFifoSubview", "objectfifosubview"},
    Spelling{"objectFifo.createObjectFifo", "objectfifo"},
    Spelling{"objectfifo.createObjectFifo", "objectfifo"},
    Spelling{"objectFifo.acquire", "objectfifo.acquire"},
    Spelling{"objectFifo.release", "objectfifo.release"},
    Spelling{"objectFifo.subview.access", "objectfifo.subview.access"},
    Spelling{"objectFifo.link", "objectfifo.link"},
    Spelling{"objectFifo.registerExternalBuffers", "objectfifo.register_external_buffers"},
    Spelling{"objectfifo.registerExternalBuffers", "objectfifo.register_external_buffers"},
    Spelling{"objectFifo.registerProcess", "objectfifo.register_process"},
    Spelling{"broad_packet", "broadcast_packet"}};

// Keys of dimensions, before their "=".
constexpr std::array kKeys{Spelling{"wrap", "size"}, Spelling{"step", "stride"}};

// What has moved from the first dialect to the second.
constexpr std::array<std::string_view, 6> kMoved{
    "multicast", "multi_dest", "bp_id", "bp_dest", "broadcast_packet", "runtime_sequence"};

// MLIR's own operations that once needed no dialect's name.
constexpr std::array kBareNames{
    Spelling{"func", "func.func"},          Spelling{"call", "func.call"},
    Spelling{"return", "func.return"},      Spelling{"br", "cf.br"},
    Spelling{"cond_br", "cf.cond_br"},      Spelling{"constant", "arith.constant"},
    Spelling{"cmpi", "arith.cmpi"},         Spelling{"cmpf", "arith.cmpf"},
    Spelling{"select", "arith.select"},     Spelling{"index_cast", "arith.index_cast"},
    Spelling{"addi", "arith.addi"},         Spelling{"addf", "arith.addf"},
    Spelling{"subi", "arith.subi"},         Spelling{"subf", "arith.subf"},
    Spelling{"muli", "arith.muli"},         Spelling{"mulf", "arith.mulf"},
    Spelling{"divi_signed", "arith.divsi"}, Spelling{"remi_signed", "arith.remsi"},
    Spelling{"and", "arith.andi"},          Spelling{"or", "arith.ori"},
    Spelling{"xor", "arith.xori"},          Spelling{"shift_left", "arith.shli"},
    Spelling{"load", "memref.load"},        Spelling{"store", "memref.store"},
    Spelling{"alloc", "memref.alloc"},      Spelling{"alloca", "memref.alloca"}};

constexpr std::string_view kFormerStandard = "std.";  // these operations' dialect, spelled out

constexpr std::int64_t kMostProduct = std::int64_t{1} << 40;

template <std::size_t N>
const Spelling* entry_of(const std::array<Spelling, N>& table, std::string_view name) {
    const auto place = std::find_if(table.begin(), table.end(),
                                    [name](const Spelling& each) { return each.first == name; });
    return place == table.end() ? nullptr : &*place;
}

// "AIE.useLock" and "!AIE.objectFifo" as today; other words stay.
void rename(std::string& word) {
    const std::size_t from = word.starts_with('!') ? 1 : 0;
    const std::size_t dot = word.find('.');
    if (dot == std::string::npos) {
        return;
    }
    const std::string_view dialect = std::string_view{word}.substr(from, dot - from);
    const bool first = dialect == "AIE" || dialect == "aie";
    if (!first && dialect != "AIEX" && dialect != "aiex") {
        return;
    }
    constexpr std::string_view kFormerProcessor = "ipu.";
    std::string name = word.substr(dot + 1);
    const Spelling* entry = entry_of(kNames, name);
    name = entry != nullptr ? std::string{entry->second} : name;
    const bool moved =
        dialect == "AIE" && std::find(kMoved.begin(), kMoved.end(), name) != kMoved.end();
    if (name.starts_with(kFormerProcessor)) {
        name = "npu." + name.substr(kFormerProcessor.size());
    }
    word = word.substr(0, from) + (first && !moved ? "aie." : "aiex.") + name;
}

bool is_value(const Item& item) {
    return item.is(TokenKind::Value);
}

// The product of the first or second numbers of [<2, 4>, <8, 1>].
std::int64_t product(const Item& list, std::size_t which) {
    std::int64_t result = 1;
    for (const Item& entry : list.items) {
        if (entry.opens("<") && entry.items.size() == 3) {
            const auto number = to_integer(entry.items[which == 0 ? 0 : 2].token.text).value_or(0);
            result = number > 0 && number < kMostProduct / result ? result * number : kMostProduct;
        }
    }
    return result;
}

// Dimensions without names: <size, stride>, in 2023 for some months <stride, size>. The sizes are
// those whose product is the length.
void name_dimensions(Item& list, std::int64_t length) {
    const bool stride_first = product(list, 0) != length && product(list, 1) == length;
    for (Item& entry : list.items) {
        if (entry.opens("<") && entry.items.size() == 3) {
            const Location where = entry.token.where;
            entry.items = {
                token(TokenKind::Word, "size", where),   token(TokenKind::Punctuation, "=", where),
                entry.items[stride_first ? 2 : 0],       token(TokenKind::Punctuation, ",", where),
                token(TokenKind::Word, "stride", where), token(TokenKind::Punctuation, "=", where),
                entry.items[stride_first ? 0 : 2]};
        }
    }
}

// dma_bd(<%b : memref<8xi32>, 0, 8>, 0, [<2, 4>]): what is in the brackets counts, and the
// dimensions; the number behind it told two descriptors of one buffer apart.
void bracketed_descriptor(Operation& operation) {
    if (operation.items.empty() || operation.items.front().items.empty() ||
        !operation.items.front().items.front().opens("<")) {
        return;
    }
    std::vector<Item>& inside = operation.items.front().items;
    std::vector<Item> today = std::move(inside.front().items);
    const std::int64_t length = today.empty() ? 0 : to_integer(today.back().token.text).value_or(0);
    for (std::size_t i = 1; i < inside.size(); ++i) {
        if (inside[i].opens("[")) {
            name_dimensions(inside[i], length);
            today.push_back(token(TokenKind::Punctuation, ",", inside[i].token.where));
            today.push_back(std::move(inside[i]));
        }
    }
    inside = std::move(today);
}

// dma_bd(%b : memref<8xi32>, dims = [<size = 2, stride = 4>]): today without the key.
void named_dimensions(Operation& operation) {
    if (operation.items.empty()) {
        return;
    }
    std::vector<Item>& inside = operation.items.front().items;
    for (std::size_t i = 0; i + 2 < inside.size(); ++i) {
        if (inside[i].is_word("dims") && inside[i + 1].is("=") && inside[i + 2].opens("[")) {
            const auto key = inside.begin() + static_cast<std::ptrdiff_t>(i);
            inside.erase(key, key + 2);
            return;
        }
    }
}

// dma_start("MM2S0", ^bb1, ^bb2): direction and channel in one word.
void joined_channel(Operation& operation) {
    if (operation.items.empty() || operation.items.front().items.empty()) {
        return;
    }
    std::vector<Item>& inside = operation.items.front().items;
    Token& channel = inside.front().token;
    constexpr std::size_t kDirection = 4;  // letters of MM2S, S2MM
    if (channel.text.size() != kDirection + 1 ||
        (!channel.text.starts_with("MM2S") && !channel.text.starts_with("S2MM"))) {
        return;
    }
    const Location where = channel.where;
    const std::string number = channel.text.substr(kDirection);
    channel.text.resize(kDirection);
    inside.insert(inside.begin() + 1, {token(TokenKind::Punctuation, ",", where),
                                       token(TokenKind::Number, number, where)});
}

// dma_start(MM2S, 0 ^bb1, ^bb2): until 2022 no comma was asked for.
void unparted_successors(Operation& operation) {
    if (operation.items.empty()) {
        return;
    }
    std::vector<Item>& inside = operation.items.front().items;
    for (std::size_t i = 1; i < inside.size(); ++i) {
        if (inside[i].is(TokenKind::BlockLabel) && !inside[i - 1].is(",")) {
            inside.insert(inside.begin() + static_cast<std::ptrdiff_t>(i),
                          token(TokenKind::Punctuation, ",", inside[i].token.where));
        }
    }
}

// shim_dma_allocation (@name, MM2S, 0, 2): today the name stands in front.
void enclosed_allocation(Operation& operation) {
    if (operation.items.empty() || operation.items.front().items.size() < 2 ||
        !operation.items.front().items.front().is(TokenKind::Symbol)) {
        return;
    }
    std::vector<Item>& inside = operation.items.front().items;
    Item symbol = std::move(inside.front());
    inside.erase(inside.begin(), inside.begin() + 2);  // with its comma
    operation.items.insert(operation.items.begin(), std::move(symbol));
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

// dma_memcpy_nd(0, 0, %buffer[..][..][..]): what stood in front of the buffer said nothing.
void coordinates_before_buffer(Operation& operation) {
    if (operation.items.empty() || !operation.items.front().opens("(")) {
        return;
    }
    std::vector<Item>& inside = operation.items.front().items;
    std::size_t buffer = 0;
    while (buffer + 2 < inside.size() && inside[buffer + 1].is(",")) {
        buffer += 2;
    }
    if (buffer + 1 < inside.size() && inside[buffer + 1].opens("[")) {
        inside.erase(inside.begin(), inside.begin() + static_cast<std::ptrdiff_t>(buffer));
    }
}

}  // namespace

void write_names_as_today(std::vector<Token>& tokens) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        Token& word = tokens[i];
        if (word.kind != TokenKind::Word) {
            continue;
        }
        rename(word.text);
        if (word.text.starts_with(kFormerStandard)) {
            const std::string name = word.text.substr(kFormerStandard.size());
            const Spelling* entry = entry_of(kBareNames, name);
            word.text = entry != nullptr ? std::string{entry->second} : "arith." + name;
            continue;
        }
        const bool value_follows = i + 1 < tokens.size() && tokens[i + 1].is("=");
        const Spelling* dimension = value_follows ? entry_of(kKeys, word.text) : nullptr;
        if (dimension != nullptr) {
            word.text = dimension->second;
            continue;
        }
        const bool begins =
            i == 0 || tokens[i - 1].where.line != word.where.line ||
            (i > 1 && tokens[i - 1].is("=") && tokens[i - 2].kind == TokenKind::Value);
        const bool key = i + 1 < tokens.size() && (tokens[i + 1].is("=") || tokens[i + 1].is(","));
        const Spelling* bare = begins && !key ? entry_of(kBareNames, word.text) : nullptr;
        if (bare != nullptr) {
            word.text = bare->second;
        }
    }
}

void EarlierForms::write_as_today(Operation& operation) {
    if (operation.name == "aie.dma_bd") {
        bracketed_descriptor(operation);
        named_dimensions(operation);
    } else if (operation.name == "aie.dma_start") {
        joined_channel(operation);
        unparted_successors(operation);
    } else if (operation.name == "aie.shim_dma_allocation") {
        enclosed_allocation(operation);
    } else if (operation.name == "aie.objectfifo") {
        object_fifo(operation);
    } else if (operation.name == "aie.objectfifo.acquire" ||
               operation.name == "aie.objectfifo.release") {
        fifo_use(operation);
        uncounted_use(operation);
    } else if (operation.name == "aie.objectfifo.register_external_buffers") {
        external_buffers(operation);
    } else if (operation.name == "aie.objectfifo.link") {
        link(operation);
    } else if (operation.name == "aiex.npu.dma_memcpy_nd") {
        coordinates_before_buffer(operation);
    }
}

// %f = aie.objectfifo(%a, {%b}, 2) {sym_name = "f"}: today @f, and no value. Where there was one
// consumer only, it stood without braces.
void EarlierForms::object_fifo(Operation& operation) {
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
