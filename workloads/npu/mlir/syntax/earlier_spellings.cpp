#include "workloads/npu/mlir/syntax/earlier_spellings.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "workloads/npu/mlir/syntax/cursor.hpp"
#include "workloads/npu/mlir/syntax/unnamed_dimensions.hpp"

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
    Spelling{"shimswitchbox", "shim_switchbox"},
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
    Spelling{"objectfifo.dangling_endpoint", "route_endpoint"},
    Spelling{"objectfifo.flow", "route"},
    Spelling{"objectFifo.registerProcess", "objectfifo.register_process"},
    Spelling{"objectfifo.registerProcess", "objectfifo.register_process"},
    Spelling{"broad_packet", "broadcast_packet"}};

// Keys of dimensions, before their "=".
constexpr std::array kKeys{Spelling{"wrap", "size"}, Spelling{"step", "stride"}};

// What has moved from the first dialect to the second.
constexpr std::array<std::string_view, 9> kMoved{
    "multicast",        "multi_dest", "bp_id",    "bp_dest", "broadcast_packet",
    "runtime_sequence", "token",      "useToken", "memcpy"};

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

// shim_switchbox(3): the switchbox of the shim tile of a column, which no value stood for.
void switchbox_of_column(Operation& operation) {
    if (operation.items.empty() || operation.items.front().items.size() != 1) {
        return;
    }
    Item& column = operation.items.front().items.front();
    operation.name = "aie.switchbox";
    column = token(TokenKind::Value, "tile_" + column.token.text + "_0", column.token.where);
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

// dma_start("MM2S0"), as in 2020: without the blocks it leads to.
bool is_bare_start(const Operation& operation) {
    return operation.items.size() == 1 && operation.items.front().opens("(") &&
           operation.items.front().items.size() == 1;
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

void EarlierForms::start_by_branch(Operation& operation) {
    const auto channel =
        operation.items.empty() ? channels_.end() : channels_.find(operation.items[0].token.text);
    if (channel == channels_.end() || !operation.items[0].is(TokenKind::Value)) {
        return;
    }
    Item inside = channel->second;
    inside.items.insert(inside.items.end(), operation.items.begin() + 1, operation.items.end());
    operation.name = "aie.dma_start";
    operation.items = {std::move(inside)};
    joined_channel(operation);
}

void EarlierForms::without_terminators(Operation& region) {
    const auto ends_starts = [](const Block& block) {
        return std::any_of(block.operations.begin(), block.operations.end(),
                           [](const Operation& each) { return each.name == "aie.terminator"; });
    };
    for (Item& item : region.items) {
        // The block of the starts, whose branches are those now.
        if (item.blocks.size() > 1 && ends_starts(item.blocks.front())) {
            item.blocks.erase(item.blocks.begin());
        }
    }
}

void EarlierForms::write_as_today(Operation& operation) {
    if (operation.name == "aie.dma_bd") {
        bracketed_descriptor(operation);
        named_dimensions(operation);
    } else if (operation.name == "aie.dma_start") {
        if (is_bare_start(operation) && operation.results.size() == 1) {
            channels_.insert_or_assign(operation.results.front(), operation.items.front());
        }
        joined_channel(operation);
        unparted_successors(operation);
    } else if (operation.name == "cf.cond_br") {
        start_by_branch(operation);
    } else if (operation.name == "aie.mem" || operation.name == "aie.shim_dma") {
        without_terminators(operation);
    } else if (operation.name == "aie.shim_switchbox") {
        switchbox_of_column(operation);
    } else if (operation.name == "aie.shim_dma_allocation") {
        enclosed_allocation(operation);
    } else if (operation.name == "aie.objectfifo") {
        object_fifo(operation);
    } else if (operation.name == "aie.objectfifo.acquire" ||
               operation.name == "aie.objectfifo.release") {
        fifo_use(operation);
    } else if (operation.name == "aie.objectfifo.register_external_buffers") {
        external_buffers(operation);
    } else if (operation.name == "aie.objectfifo.link") {
        link(operation);
    } else if (operation.name == "aie.objectfifo.register_process") {
        registered_process(operation);
    } else if (operation.name == "aie.packet_sw_objectfifo") {
        packet_object_fifo(operation);
    } else if (operation.name == "aiex.npu.dma_memcpy_nd") {
        coordinates_before_buffer(operation);
    }
}

}  // namespace tilesim::workloads::npu::mlir::syntax
