#include "workloads/npu/mlir/object_fifo/object_fifo_reader.hpp"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/npu/mlir/descriptors/descriptor_layout.hpp"
#include "workloads/npu/mlir/object_fifo/fifo_packets.hpp"
#include "workloads/npu/mlir/syntax/attributes.hpp"
#include "workloads/npu/mlir/unknown_attributes.hpp"

namespace tilesim::workloads::npu::mlir::object_fifo {

namespace {

constexpr std::int64_t kMostRepeats = 65536;

}  // namespace

ObjectFifo ObjectFifoReader::read(const Operation& operation) const {
    ObjectFifo fifo;
    fifo.operation = &operation;
    Cursor cursor(operation);
    fifo.name = cursor.symbol();
    Cursor inside(cursor.group("("));
    fifo.producer = end(inside);
    inside.expect(",");
    Cursor consumers(inside.group("{"));
    while (!consumers.done()) {
        fifo.consumers.push_back(end(consumers));
        consumers.skip(",");
    }
    inside.expect(",");
    depths(inside, fifo);
    attributes(operation, fifo);
    static const std::set<std::string_view> kKnown{"sym_name",
                                                   "via_DMA",
                                                   "via_shared_mem",
                                                   "transport",
                                                   "packet",
                                                   "packet_id",
                                                   "disable_synchronization",
                                                   "repeat_count",
                                                   "memtile_repeat",
                                                   "iter_count",
                                                   "iterate_bds",
                                                   "padDimensions",
                                                   "padValue",
                                                   "initValues",
                                                   "init_values",
                                                   "plio",
                                                   "prod_dma_channel",
                                                   "cons_dma_channels",
                                                   "prod_port",
                                                   "cons_ports",
                                                   "aie_stream",
                                                   "aie_stream_port",
                                                   "producer_mem_bank",
                                                   "consumer_mem_banks",
                                                   "elemNumber",
                                                   "elemType",
                                                   "dimensionsToStream",
                                                   "dimensionsFromStreamPerConsumer",
                                                   "operandSegmentSizes"};
    note_unknown_attributes(lowering_, operation, kKnown);
    banks(operation, fifo);
    types(cursor, fifo);
    stream_ends(operation, fifo);
    if (fifo.consumers.empty()) {
        throw ReadError(operation.where, "an object FIFO needs a consumer");
    }
    return fifo;
}

FifoEnd ObjectFifoReader::end(Cursor& cursor) const {
    FifoEnd end;
    end.tile = lowering_.tile(cursor);
    if (cursor.skip_word("dimensionsToStream") || cursor.skip_word("dimensionsFromStream") ||
        cursor.skip_word("toStream") || cursor.skip_word("fromStream")) {
        end.dimensions = &cursor.group("[");
    }
    return end;
}

void ObjectFifoReader::depths(Cursor& inside, ObjectFifo& fifo) {
    const Location where = inside.where();
    std::vector<std::int64_t> depths;
    if (!inside.done() && inside.peek()->opens("[")) {
        Cursor list(inside.take());
        while (!list.done()) {
            depths.push_back(list.integer());
            while (!list.done() && !list.skip(",")) {
                list.take();
            }
        }
        if (depths.size() != fifo.consumers.size() + 1) {
            throw ReadError(where,
                            "a list of depths has one for the producer and one for each "
                            "consumer");
        }
        fifo.producer.depth = depths[0];
        for (std::size_t i = 0; i < fifo.consumers.size(); ++i) {
            fifo.consumers[i].depth = depths[i + 1];
        }
    } else {
        depths.push_back(inside.integer());
    }
    for (const std::int64_t depth : depths) {
        if (depth < 1 || depth > kMostDepth) {
            throw ReadError(where, fmt::format("a depth must be 1..{}, got {}", kMostDepth, depth));
        }
    }
    fifo.single_depth = depths[0];
}

void ObjectFifoReader::attributes(const Operation& operation, ObjectFifo& fifo) const {
    fifo.dma = is_true(operation, "via_DMA");
    transport(operation, fifo);
    // Whose memory two cores share, as designs of 2024 and 2025 say it: 0 the producer's, 1 the
    // consumer's.
    const auto shared = integer_attribute(operation, "via_shared_mem");
    if (shared && fifo.consumers.size() == 1) {
        fifo.memory = *shared == 0 ? fifo.producer.tile : fifo.consumers.front().tile;
    }
    fifo.synchronized = !is_true(operation, "disable_synchronization");
    // In August 2024 memtile_repeat said how many times more.
    fifo.repeat = integer_attribute(operation, "repeat_count")
                      .value_or(integer_attribute(operation, "memtile_repeat").value_or(0) + 1);
    fifo.iterations = integer_attribute(operation, "iter_count");
    fifo.pads = operation.attribute("padDimensions").has_value();
    descriptors::note_pad_value(lowering_, operation, "padValue");
    fifo.iterates = is_true(operation, "iterate_bds");
    fifo.producer.pinned = integer_attribute(operation, "prod_dma_channel");
    if (const auto pinned = operation.attribute("cons_dma_channels")) {
        Cursor list(*pinned, operation.where);
        while (!list.done() && !list.peek()->opens("<") && !list.peek()->opens("[")) {
            list.take();
        }
        Cursor numbers(list.take());
        for (std::size_t i = 0; !numbers.done();) {
            if (!numbers.peek()->is(TokenKind::Number)) {
                numbers.take();
            } else if (i < fifo.consumers.size()) {
                fifo.consumers[i++].pinned = numbers.integer();
            } else {
                numbers.fail("a channel for each consumer");
            }
        }
    }
    if (is_true(operation, "plio")) {
        throw ReadError(operation.where,
                        "an object FIFO with plio (a port of the programmable logic) is not "
                        "modelled");
    }
    if (fifo.repeat < 1 || fifo.repeat > kMostRepeats || fifo.iterations.value_or(1) < 1 ||
        fifo.iterations.value_or(1) > 256) {
        throw ReadError(operation.where,
                        fmt::format("repeat_count must be 1..{}, iter_count 1..256", kMostRepeats));
    }
}

void ObjectFifoReader::banks(const Operation& operation, ObjectFifo& fifo) {
    const auto depth_of = [&fifo](const FifoEnd& end) {
        return end.depth.value_or(fifo.single_depth);
    };
    if (const auto stated = operation.attribute("producer_mem_bank")) {
        Cursor cursor(*stated, operation.where);
        fifo.producer.banks = banks_in(cursor, depth_of(fifo.producer));
    }
    if (const auto stated = operation.attribute("consumer_mem_banks")) {
        Cursor cursor(*stated, operation.where);
        Cursor list(cursor.group("["));
        for (FifoEnd& end : fifo.consumers) {
            end.banks = banks_in(list, depth_of(end));
            list.skip(",");
        }
        if (!list.done()) {
            list.fail("banks for each consumer");
        }
    }
}

std::vector<std::int64_t> ObjectFifoReader::banks_in(Cursor& cursor, std::int64_t depth) {
    const auto number = [](Cursor& at) {
        const std::int64_t bank = at.integer();
        if (at.skip(":")) {
            at.word();
        }
        return bank;
    };
    const Location where = cursor.where();
    std::vector<std::int64_t> numbers;
    if (cursor.done() || !cursor.peek()->opens("[")) {
        numbers.assign(static_cast<std::size_t>(depth), number(cursor));
    } else {
        for (Cursor list(cursor.take()); !list.done(); list.skip(",")) {
            numbers.push_back(number(list));
        }
    }
    if (!numbers.empty() && static_cast<std::int64_t>(numbers.size()) != depth) {
        throw ReadError(where,
                        fmt::format("{} banks for an end {} elements deep", numbers.size(), depth));
    }
    return numbers;
}

void ObjectFifoReader::stream_ends(const Operation& operation, ObjectFifo& fifo) const {
    constexpr std::int64_t kProducer = 0, kConsumers = 1, kBoth = 2;
    if (const auto stream = integer_attribute(operation, "aie_stream")) {
        const std::int64_t port = integer_attribute(operation, "aie_stream_port").value_or(0);
        if (*stream < kProducer || *stream > kBoth) {
            throw ReadError(operation.where,
                            "aie_stream must be 0 (the producer's end), 1 (the consumers') or "
                            "2 (both)");
        }
        if (*stream != kConsumers) {
            fifo.producer.stream_port = port;
        }
        for (FifoEnd& end : fifo.consumers) {
            end.stream_port = *stream != kProducer ? std::optional{port} : std::nullopt;
        }
    }
    if (const auto port = operation.attribute("prod_port")) {
        Cursor cursor(*port, operation.where);
        end_port(cursor, fifo.producer);
    }
    if (const auto ports = operation.attribute("cons_ports")) {
        Cursor cursor(*ports, operation.where);
        Cursor list(cursor.group("["));
        for (FifoEnd& end : fifo.consumers) {
            end_port(list, end);
            list.skip(",");
        }
    }
    check_stream_end(operation, fifo.producer, lowering_.config.core.stream_outputs);
    for (const FifoEnd& end : fifo.consumers) {
        check_stream_end(operation, end, lowering_.config.core.stream_inputs);
    }
    if (fifo.producer.stream_port &&
        (fifo.repeat > 1 || fifo.iterations || fifo.initial_values > 0 || fifo.pads)) {
        throw ReadError(operation.where,
                        "a producer's own stream repeats, pads and begins with nothing: it has "
                        "no elements");
    }
}

void ObjectFifoReader::end_port(Cursor& cursor, FifoEnd& end) {
    const Location where = cursor.where();
    if (!cursor.skip_word("#aie.end_port")) {
        cursor.fail("#aie.end_port<...>");
    }
    Cursor inside(cursor.group("<"));
    const std::string kind = inside.word();
    const auto number = inside.skip(":") ? std::optional{inside.integer()} : std::nullopt;
    if (kind != "DMA" && (kind != "Core" || !number)) {
        throw ReadError(where,
                        "an end of an object FIFO is a DMA channel or a core's stream port: "
                        "<DMA>, <DMA : 1>, <Core : 0>");
    }
    (kind == "DMA" ? end.pinned : end.stream_port) = number;
}

void ObjectFifoReader::check_stream_end(const Operation& operation, const FifoEnd& end,
                                        std::int64_t ports) const {
    if (!end.stream_port) {
        return;
    }
    if (lowering_.config.kind_of(end.tile) != program::TileKind::Core) {
        throw ReadError(operation.where, fmt::format("tile {},{} has no core, whose own stream "
                                                     "this end could be",
                                                     end.tile.column, end.tile.row));
    }
    if (*end.stream_port < 0 || *end.stream_port >= ports) {
        throw ReadError(operation.where,
                        fmt::format("stream port {}: cores have {} such port{}", *end.stream_port,
                                    ports, ports == 1 ? "" : "s"));
    }
    if (end.pinned) {
        throw ReadError(operation.where,
                        "the end at a core's own stream is pinned to a DMA channel: it uses "
                        "none");
    }
    if (end.dimensions != nullptr) {
        throw ReadError(operation.where,
                        "the end at a core's own stream has no dimensions: it has no elements");
    }
}

// stream, ends = producer, port = 0
void ObjectFifoReader::stream_transport(Cursor& inside, ObjectFifo& fifo) {
    std::string ends = "both";
    std::int64_t port = 0;
    const Location where = inside.where();
    while (inside.skip(",")) {
        const std::string key = inside.word();
        inside.expect("=");
        if (key == "ends") {
            ends = inside.word();
        } else if (key == "port") {
            port = inside.integer();
        } else {
            inside.fail("ends or port");
        }
    }
    if (ends != "producer" && ends != "consumer" && ends != "both") {
        throw ReadError(where, fmt::format("the ends of a stream are producer, consumer or both, "
                                           "not '{}'",
                                           ends));
    }
    if (ends != "consumer") {
        fifo.producer.stream_port = port;
    }
    for (FifoEnd& end : fifo.consumers) {
        end.stream_port = ends != "producer" ? std::optional{port} : std::nullopt;
    }
}

void ObjectFifoReader::transport(const Operation& operation, ObjectFifo& fifo) {
    read_header(operation, fifo);
    if (const auto stated = operation.attribute("transport")) {
        Cursor cursor(*stated, operation.where);
        if (!cursor.skip_word("#aie.transport")) {
            cursor.fail("#aie.transport<...>");
        }
        Cursor inside(cursor.group("<"));
        const Location where = inside.where();
        const std::string mode = inside.word();
        fifo.dma = fifo.dma || mode == "dma";
        fifo.shared = mode == "shared_mem";
        if (mode == "stream") {
            stream_transport(inside, fifo);
        } else if (mode != "dma" && mode != "shared_mem" && mode != "auto") {
            throw ReadError(where, fmt::format("an object FIFO's transport is auto, dma, "
                                               "shared_mem, stream or cascade, not '{}'",
                                               mode));
        } else if (inside.skip(",")) {  // packet = #aie.packet_info<...>
            inside.skip_word("packet");
            inside.skip("=");
            std::vector<Item> header;
            while (!inside.done()) {
                header.push_back(inside.take());
            }
            set_header(header, operation.where, fifo);
        }
    }
}

void ObjectFifoReader::types(Cursor& cursor, ObjectFifo& fifo) {
    int known = 0;
    while (!cursor.done()) {
        if (cursor.skip_word("!aie.objectfifo") || cursor.skip_word("!AIE.objectFifo")) {
            Cursor inside(cursor.group("<"));
            (known++ == 0 ? fifo.element : fifo.consumer_element) = read_memref(inside);
        } else if (cursor.skip("=") && !cursor.done() && cursor.peek()->opens("[")) {
            fifo.contents = values_in(cursor.take());
            fifo.initial_values = static_cast<std::int64_t>(fifo.contents.size());
        } else if (!cursor.done()) {
            cursor.take();
        }
    }
    if (known == 0) {
        cursor.fail("the type of its elements: !aie.objectfifo<memref<...>>");
    }
    if (known == 1) {
        fifo.consumer_element = fifo.element;
    }
}

std::vector<const Item*> ObjectFifoReader::values_in(const Item& list) {
    std::vector<const Item*> values;
    for (std::size_t i = 0; i < list.items.size(); ++i) {
        const bool dense = list.items[i].is_word("dense") && i + 1 < list.items.size();
        if (dense || list.items[i].opens("[")) {
            values.push_back(&list.items[dense ? i + 1 : i]);
        }
    }
    return values;
}

}  // namespace tilesim::workloads::npu::mlir::object_fifo
