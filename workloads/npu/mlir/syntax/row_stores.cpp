#include "workloads/npu/mlir/syntax/row_stores.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "workloads/npu/mlir/syntax/attributes.hpp"
#include "workloads/npu/mlir/syntax/cursor.hpp"
#include "workloads/npu/mlir/syntax/memref_type.hpp"
#include "workloads/npu/mlir/syntax/written_out.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

namespace {

constexpr std::string_view kStore = "aie.memtile_row_store";
constexpr std::int64_t kWordBytes = 4;
constexpr std::int64_t kMostParts = 1 << 20;

// @store(%core, %mem) {part_count = 4 : i32, ..} : memref<32x96xbf16>, the type that of a part
std::string fifos(const Operation& operation) {
    Cursor cursor(operation);
    const std::string name = cursor.symbol();
    Cursor tiles(cursor.group("("));
    const std::string core = tiles.value();
    tiles.expect(",");
    const std::string memory = tiles.value();
    while (!cursor.done() && !cursor.peek()->is_word("memref")) {
        cursor.take();
    }
    const std::int64_t bytes = read_memref(cursor).bytes();
    const auto number = [&](std::string_view key, std::int64_t otherwise) {
        return integer_attribute(operation, key).value_or(otherwise);
    };
    const std::int64_t parts = number("part_count", 0);
    if (parts < 1 || parts > kMostParts || bytes % kWordBytes != 0) {
        throw ReadError(operation.where,
                        fmt::format("@{}: a row has 1..{} parts of whole words, not {} of {} B",
                                    name, kMostParts, parts, bytes));
    }
    // 0: the number for both.
    const std::int64_t both = number("compute_buffer_count", 1);
    const auto buffers = [&](std::string_view key) {
        const std::int64_t own = number(key, 0);
        return own == 0 ? both : own;
    };
    const std::int64_t rows = number("buffer_count", 1);
    const std::int64_t part = bytes / kWordBytes;
    const auto fifo = [&](std::string_view way, const std::string& from, const std::string& to,
                          std::int64_t depth_from, std::int64_t depth_to, std::int64_t channel_from,
                          std::int64_t channel_to, std::int64_t words_from, std::int64_t words_to) {
        return fmt::format(
            "aie.objectfifo @{}_{}(%{}, {{%{}}}, [{}, {}]) {{prod_dma_channel = {} : i32, "
            "cons_dma_channels = [{}]}} : !aie.objectfifo<memref<{}xi32>> -> "
            "!aie.objectfifo<memref<{}xi32>>\n",
            name, way, from, to, depth_from, depth_to, channel_from, channel_to, words_from,
            words_to);
    };
    return fifo("in", core, memory, buffers("compute_produce_buffer_count"), rows,
                number("compute_mm2s_channel", 0), number("memtile_ingress_channel", 0), part,
                part * parts) +
           fifo("out", memory, core, rows, buffers("compute_consume_buffer_count"),
                number("memtile_egress_channel", 1), number("compute_s2mm_channel", 0),
                part * parts, part) +
           fmt::format("aie.objectfifo.link [@{0}_in] -> [@{0}_out] ([] [])\n", name);
}

// .acquire @store (Produce): the element of the FIFO on that side.
void use_of_fifo(Operation& operation) {
    Cursor cursor(operation);
    cursor.symbol();
    Cursor inside(cursor.group("("));
    const bool produces = inside.word() == "Produce";
    operation.name.replace(0, kStore.size(), "aie.objectfifo");
    operation.items[0].token.text += produces ? "_in" : "_out";
    std::vector<Item>& port = operation.items[1].items;
    port.push_back(token(TokenKind::Punctuation, ",", operation.where));
    port.push_back(token(TokenKind::Number, "1", operation.where));
}

void uses_of_fifos(std::vector<Operation>& operations);
void uses_of_fifos(std::vector<Item>& items) {
    for (Item& item : items) {
        for (Block& block : item.blocks) {
            uses_of_fifos(block.operations);
        }
        uses_of_fifos(item.items);
    }
}
void uses_of_fifos(std::vector<Operation>& operations) {
    for (Operation& operation : operations) {
        if (operation.name.starts_with(kStore) && operation.name.size() > kStore.size()) {
            use_of_fifo(operation);
        }
        uses_of_fifos(operation.items);
    }
}

void write_in(Block& device) {
    const std::vector<Operation> stores =
        take_from_device(device, [](const Operation& each) { return each.name == kStore; });
    if (stores.empty()) {
        return;
    }
    for (const Operation& store : stores) {
        add_to_device(device, parse_at(fifos(store), store.where));
    }
    uses_of_fifos(device.operations);
}

}  // namespace

void write_row_stores_as_fifos(std::vector<Operation>& operations) {
    in_every_device(operations, write_in);
}

}  // namespace tilesim::workloads::npu::mlir::syntax
