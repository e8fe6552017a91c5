#include "workloads/npu/mlir/object_fifo.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/syntax/unknown_name.hpp"

namespace tilesim::workloads::npu::mlir {

bool ObjectFifo::on_a_stream() const {
    return producer.stream_port ||
           std::any_of(consumers.begin(), consumers.end(),
                       [](const FifoEnd& end) { return end.stream_port.has_value(); });
}

const FifoEnd* ObjectFifo::end_at(program::TileCoordinate tile, bool produces) const {
    if (produces) {
        return producer.tile == tile ? &producer : nullptr;
    }
    for (const FifoEnd& end : consumers) {
        if (end.tile == tile) {
            return &end;
        }
    }
    return nullptr;
}

FifoUse read_fifo_use(const Lowering& lowering, const Operation& operation) {
    FifoUse use;
    Cursor cursor(operation);
    std::string name;
    bool port = false;
    const auto read_port = [&](Cursor& words) {
        const std::string word = words.word();
        if (word != "Produce" && word != "Consume") {
            throw ReadError(operation.where,
                            fmt::format("expected Produce or Consume, found '{}'", word));
        }
        use.produces = word == "Produce";
        port = true;
    };
    if (!cursor.done() && cursor.peek()->is(TokenKind::Symbol)) {
        name = cursor.symbol();  // @f (Produce, 1)
    }
    Cursor inside(cursor.group(!name.empty()                                           ? "("
                               : cursor.peek() != nullptr && cursor.peek()->opens("<") ? "<"
                                                                                       : "("));
    if (name.empty() && !inside.done() && inside.peek()->is(TokenKind::Symbol)) {
        name = inside.symbol();
        inside.expect(",");
    }
    if (!inside.done() && inside.peek()->is(TokenKind::Word)) {
        read_port(inside);
        inside.expect(",");
    }
    use.count = inside.integer();
    const ObjectFifo& fifo = fifo_named(lowering, name, operation.where);
    use.fifo = static_cast<std::size_t>(&fifo - lowering.fifos.data());
    if (fifo.stated && !port) {  // the endpoint says which
        use.produces = fifo.producer.pool.has_value();
        port = true;
    }
    if (!port || use.count < 0 || use.count > kMostDepth) {
        throw ReadError(operation.where,
                        "an acquire or release names its port and how many elements");
    }
    return use;
}

const ObjectFifo& fifo_named(const Lowering& lowering, const std::string& name, Location where) {
    const auto place = std::find_if(lowering.fifos.begin(), lowering.fifos.end(),
                                    [&name](const ObjectFifo& each) { return each.name == name; });
    if (place == lowering.fifos.end()) {
        throw syntax::unknown_symbol(where, "object FIFO", name, syntax::names_of(lowering.fifos));
    }
    return *place;
}

}  // namespace tilesim::workloads::npu::mlir
