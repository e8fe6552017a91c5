#include "workloads/npu/mlir/object_fifo/fifo_endpoints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "workloads/npu/mlir/descriptors/descriptor_layout.hpp"
#include "workloads/npu/mlir/object_fifo/fifo_packets.hpp"
#include "workloads/npu/mlir/object_fifo/object_fifo_reader.hpp"
#include "workloads/npu/mlir/syntax/attributes.hpp"
#include "workloads/npu/mlir/syntax/unknown_name.hpp"

namespace tilesim::workloads::npu::mlir::object_fifo {

namespace {

// [@a, @b]
std::vector<std::string> symbols_of(const Operation& operation, std::string_view key) {
    std::vector<std::string> symbols;
    const auto value = operation.attribute(key);
    for (const Item& item : value.value_or(std::vector<Item>{})) {
        for (const Item& inner : item.items) {
            if (inner.is(TokenKind::Symbol)) {
                symbols.push_back(inner.token.text);
            }
        }
    }
    return symbols;
}

// The memref behind the last ':'.
MemrefType element_of(const Operation& operation) {
    Cursor cursor(operation);
    while (!cursor.done() && !cursor.peek()->is_word("memref")) {
        cursor.take();
    }
    return read_memref(cursor);
}

// #aie<bd_dim_layout_array_array[[<size = 4, stride = 1>], []]>: the inner lists.
std::vector<std::vector<Item>> layouts_of(const Operation& operation, std::string_view key) {
    std::vector<std::vector<Item>> layouts;
    const auto value = operation.attribute(key);
    const auto visit = [&layouts](const std::vector<Item>& items, const auto& self) -> void {
        for (const Item& item : items) {
            if (!item.opens("[")) {
                self(item.items, self);
                continue;
            }
            for (const Item& inner : item.items) {
                if (inner.opens("[")) {
                    layouts.push_back(inner.items.empty() ? std::vector<Item>{}
                                                          : std::vector<Item>{inner});
                }
            }
        }
    };
    visit(value.value_or(std::vector<Item>{}), visit);
    return layouts;
}

}  // namespace

void FifoEndpoints::run() {
    const auto each = [this](std::string_view name, void (FifoEndpoints::*read)(const Operation&)) {
        for (const Operation& operation : lowering_.body()) {
            if (operation.name == name) {
                lowering_.attempt([&] { (this->*read)(operation); });
            }
        }
    };
    each("aie.objectfifo.pool", &FifoEndpoints::read_pool);
    each("aie.objectfifo.core_endpoint", &FifoEndpoints::read_core);
    each("aie.objectfifo.dma_endpoint", &FifoEndpoints::read_dma);
    each("aie.route_endpoint", &FifoEndpoints::read_route_endpoint);
    each("aie.route", &FifoEndpoints::read_route);
    for (const auto& [name, endpoint] : endpoints_) {
        lowering_.attempt([&, &dispatching = endpoint] { set_turns(dispatching); });
    }
    for (const auto& [name, endpoint] : endpoints_) {
        lowering_.attempt([&, &symbol = name, &alone = endpoint] { add_alone(symbol, alone); });
    }
}

void FifoEndpoints::read_pool(const Operation& operation) {
    Cursor cursor(operation);
    const std::string symbol = cursor.symbol();
    Cursor inside(cursor.group("("));
    const program::TileCoordinate tile = lowering_.tile(inside);
    const MemrefType element = element_of(operation);
    const std::string stated = text_attribute(operation, "fifoName");
    const std::string name = stated.empty() ? symbol : stated;
    const std::vector<std::string> buffers = symbols_of(operation, "buffers");
    const std::int64_t depth = integer_attribute(operation, "depth").value_or(1);
    const bool iterates = is_true(operation, "iterateBds");
    const std::int64_t wanted = iterates ? 1 : depth;
    if (depth < 1 || depth > kMostDepth ||
        (!buffers.empty() && static_cast<std::int64_t>(buffers.size()) != wanted)) {
        throw ReadError(operation.where,
                        fmt::format("@{}: a pool has depth 1..{} and as many buffers, not depth {} "
                                    "and {} buffers",
                                    symbol, kMostDepth, depth, buffers.size()));
    }
    std::size_t number = lowering_.fifo_pools.size();
    if (buffers.empty()) {
        number = iterates ? new_pools_.add_iterated_pool(tile, element, name, depth)
                          : new_pools_.add_pool(tile, element, name, depth);
    } else {
        FifoPool pool;
        pool.tile = tile;
        pool.element = element;
        pool.iterated = iterates ? std::optional{depth} : std::nullopt;
        for (const std::string& buffer : buffers) {
            pool.buffers.push_back(buffer_named(buffer, tile, operation.where));
        }
        lowering_.fifo_pools.push_back(std::move(pool));
    }
    FifoPool& pool = lowering_.fifo_pools[number];
    pool.repeat = integer_attribute(operation, "repeatCount").value_or(1);
    if (iterates && pool.repeat > 1) {
        throw ReadError(operation.where, std::string{kIteratesOnce});
    }
    read_segments(operation, pool);
    if (pool.segments.empty()) {
        throw ReadError(operation.where,
                        fmt::format("@{}: a pool has at least one segment", symbol));
    }
    add_pool_locks(operation, number, name);
    pools_[symbol] = number;
}

void FifoEndpoints::read_segments(const Operation& operation, FifoPool& pool) const {
    const auto stated = operation.attribute("segments");
    if (!stated && !operation.regions().empty()) {
        read_named_segments(operation, pool);
        return;
    }
    if (!stated) {
        pool.segments.push_back({0, pool.element.elements});
        return;
    }
    Cursor cursor(*stated, operation.where);
    Cursor list(cursor.group("["));
    while (!list.done()) {
        while (!list.done() && !list.peek()->opens("<")) {
            list.take();
        }
        Cursor entry(list.group("<"));
        FifoSegment segment;
        LockPair locks;
        int locked = 0;
        while (!entry.done()) {
            const Location where = entry.where();
            const std::string key = entry.word();
            entry.expect("=");
            if (key == "offset" || key == "size") {
                (key == "offset" ? segment.offset : segment.length) = entry.integer();
            } else if (key == "produceLock" || key == "consumeLock") {
                (key == "produceLock" ? locks.producer : locks.consumer) =
                    lock_named(entry.symbol(), where);
                ++locked;
            } else {
                throw ReadError(where, fmt::format("'{}' of a segment is not modelled; known are "
                                                   "offset, size, produceLock, consumeLock",
                                                   key));
            }
            entry.skip(",");
        }
        list.skip(",");
        add_segment(pool, std::move(segment), locked == 2 ? std::optional{locks} : std::nullopt,
                    operation.where);
    }
}

void FifoEndpoints::read_named_segments(const Operation& operation, FifoPool& pool) const {
    walk(region_of(operation), [&](const Operation& each) {
        if (each.name != "aie.objectfifo.segment") {
            return;
        }
        FifoSegment segment;
        segment.name = symbol_of(each);
        segment.offset = integer_attribute(each, "offset").value_or(0);
        segment.length = integer_attribute(each, "size").value_or(0);
        const std::string produce = text_attribute(each, "produceLock");
        const std::string consume = text_attribute(each, "consumeLock");
        std::optional<LockPair> locks;
        if (!produce.empty() && !consume.empty()) {
            locks = {lock_named(produce, each.where), lock_named(consume, each.where)};
        }
        add_segment(pool, std::move(segment), locks, each.where);
    });
}

void FifoEndpoints::add_segment(FifoPool& pool, FifoSegment segment,
                                const std::optional<LockPair>& locks, Location where) {
    const std::int64_t first =
        pool.segments.empty() ? 0 : pool.segments.back().offset + pool.segments.back().length;
    if (segment.length < 1 || segment.offset < first ||
        segment.offset + segment.length > pool.element.elements) {
        throw ReadError(where, "the segments of a pool lie in its element, one behind the other");
    }
    pool.segments.push_back(std::move(segment));
    if (locks) {
        pool.locks.push_back(*locks);
    }
}

void FifoEndpoints::add_pool_locks(const Operation& operation, std::size_t number,
                                   const std::string& name) {
    FifoPool& pool = lowering_.fifo_pools[number];
    for (const std::string& lock : symbols_of(operation, "locks")) {
        const std::int64_t index = lock_named(lock, operation.where);
        pool.locks.push_back({index, index});  // binary, one a buffer
    }
    const bool binary = lowering_.config.lock_kind == LockKind::Binary;
    const std::size_t wanted = binary ? pool.buffers.size() : pool.segments.size();
    const bool shim = lowering_.config.kind_of(pool.tile) == program::TileKind::Shim;
    const auto stated = operation.attribute("initValues");
    std::vector<const Item*> contents;
    for (const Item& list : stated.value_or(std::vector<Item>{})) {
        contents = ObjectFifoReader::values_in(list);
    }
    new_pools_.fill(number, contents);
    if (pool.locks.empty() && !is_true(operation, "disableSynchronization") && !shim) {
        const auto values = static_cast<std::int64_t>(contents.size());
        for (std::size_t i = 0; i < (binary ? 1 : pool.segments.size()); ++i) {
            new_pools_.add_locks(number, name, values);
        }
    } else if (!pool.locks.empty() && pool.locks.size() != wanted) {
        throw ReadError(operation.where, fmt::format("this pool needs {} locks, and {} are stated",
                                                     wanted, pool.locks.size()));
    }
}

FifoEndpoints::Endpoint FifoEndpoints::endpoint_of(const Operation& operation,
                                                   Cursor& cursor) const {
    Endpoint endpoint;
    endpoint.operation = &operation;
    endpoint.fifo = text_attribute(operation, "fifoName");
    Cursor inside(cursor.group("("));
    endpoint.end.tile = lowering_.tile(inside);
    const Location where = cursor.where();
    const std::string role = cursor.word();
    endpoint.fills = role == "fills";
    const std::string symbol = cursor.symbol();
    const auto pool = pools_.find(symbol);
    if (pool == pools_.end()) {
        throw syntax::unknown_symbol(where, "pool", symbol, syntax::keys_of(pools_));
    }
    if (!endpoint.fills && role != "drains") {
        throw ReadError(where, fmt::format("expected fills or drains, found '{}'", role));
    }
    endpoint.end.pool = pool->second;
    const std::vector<FifoSegment>& all = lowering_.fifo_pools[pool->second].segments;
    const std::size_t segments = all.size();
    std::vector<std::int64_t> wanted = integers_attribute(operation, "segments");
    for (const std::string& name : symbols_of(operation, "segments")) {
        wanted.push_back(std::find_if(all.begin(), all.end(),
                                      [&](const FifoSegment& each) { return each.name == name; }) -
                         all.begin());
    }
    for (const std::int64_t segment : wanted) {
        const auto& chosen = endpoint.end.segments;
        if (segment < 0 || segment >= static_cast<std::int64_t>(segments) ||
            (!chosen.empty() && static_cast<std::size_t>(segment) <= chosen.back())) {
            throw ReadError(operation.where,
                            fmt::format("the segments of @{} are 0..{}, named in their order",
                                        symbol, segments - 1));
        }
        endpoint.end.segments.push_back(static_cast<std::size_t>(segment));
    }
    if (endpoint.end.segments.empty()) {
        endpoint.end.segments.push_back(0);
    }
    return endpoint;
}

void FifoEndpoints::read_core(const Operation& operation) {
    Cursor cursor(operation);
    ObjectFifo fifo;
    fifo.name = cursor.symbol();
    fifo.operation = &operation;
    fifo.stated = true;
    const Endpoint endpoint = endpoint_of(operation, cursor);
    const std::vector<std::size_t>& segments = endpoint.end.segments;
    if (segments.back() - segments.front() + 1 != segments.size()) {
        throw ReadError(operation.where, "a core's segments lie one behind the other");
    }
    if (endpoint.fills) {
        fifo.producer = endpoint.end;
    } else {
        fifo.consumers.push_back(endpoint.end);
    }
    lowering_.fifos.push_back(std::move(fifo));
}

void FifoEndpoints::read_dma(const Operation& operation) {
    Cursor cursor(operation);
    const std::string symbol = cursor.symbol();
    Endpoint endpoint = endpoint_of(operation, cursor);
    FifoEnd& end = endpoint.end;
    end.pinned = integer_attribute(operation, "channelIndex");
    end.passes = integer_attribute(operation, "iterCount");
    end.segment_dimensions = layouts_of(operation, "dimensions");
    end.segment_padding = layouts_of(operation, "padDimensions");
    descriptors::note_pad_value(lowering_, operation, "padValue");
    if (!end.segment_padding.empty() && endpoint.fills) {
        throw ReadError(operation.where, "what is padded is what drains a pool");
    }
    endpoint.dispatch = symbols_of(operation, "dispatch");
    if (!endpoint.dispatch.empty() &&
        (endpoint.fills || end.segments.size() > 1 || lowering_.fifo_pools[*end.pool].iterated)) {
        throw ReadError(operation.where,
                        "an endpoint that dispatches drains a pool, a whole element of its own "
                        "buffer at a time");
    }
    for (const auto& stated : {end.segment_dimensions, end.segment_padding}) {
        if (!stated.empty() && stated.size() != end.segments.size()) {
            throw ReadError(operation.where,
                            "dimensions and padDimensions have one entry for each segment");
        }
    }
    endpoints_[symbol] = std::move(endpoint);
}

void FifoEndpoints::read_route_endpoint(const Operation& operation) {
    Cursor cursor(operation);
    const std::string symbol = cursor.symbol();
    Endpoint endpoint;
    endpoint.operation = &operation;
    endpoint.fifo = text_attribute(operation, "fifoName");
    Cursor inside(cursor.group("("));
    endpoint.end.tile = lowering_.tile(inside);
    bool core = false;
    while (!cursor.done() && cursor.peek()->is(TokenKind::Word)) {
        const std::string word = cursor.word();
        core = core || word == "Core";
        if (word == "PLIO") {
            throw ReadError(operation.where,
                            "an endpoint at a port of the programmable logic is not modelled");
        }
    }
    const auto channel = integer_attribute(operation, "channelIndex");
    if (core) {
        endpoint.end.stream_port = channel.value_or(0);
    } else {
        endpoint.end.pinned = channel;
    }
    endpoints_[symbol] = std::move(endpoint);
}

void FifoEndpoints::read_route(const Operation& operation) {
    Cursor cursor(operation);
    const auto names = [&cursor] {
        std::vector<std::string> symbols;
        if (!cursor.done() && !cursor.peek()->opens("[")) {
            symbols.push_back(cursor.symbol());
            return symbols;
        }
        for (Cursor list(cursor.group("[")); !list.done(); list.skip(",")) {
            symbols.push_back(list.symbol());
        }
        return symbols;
    };
    cursor.skip_word("from");
    const std::vector<std::string> from = names();
    cursor.skip_word("to");
    const std::vector<std::string> to = names();
    if (from.empty() || to.empty()) {
        throw ReadError(operation.where, "a route leads from an endpoint to others");
    }
    for (const std::string& source : from) {
        add_route(operation, source, to);
    }
    for (const std::string& destination : to) {
        endpoints_.at(destination).in_flow = true;
    }
    if (from.size() > 1 && !lowering_.fifos.back().packets) {
        throw ReadError(operation.where, "several sources of one route send packets");
    }
}

void FifoEndpoints::add_route(const Operation& operation, const std::string& from,
                              const std::vector<std::string>& to) {
    const std::size_t number = lowering_.fifos.size();
    ObjectFifo fifo;
    fifo.operation = &operation;
    fifo.stated = true;
    fifo.dma = true;
    read_header(operation, fifo);
    Endpoint& source = endpoint(from, operation.where);
    fifo.producer = source.end;
    fifo.name = source.fifo.empty() ? symbol_of(*source.operation) : source.fifo;
    source.in_flow = source.dispatch.empty();
    fifo.producer.shares = source.of;
    source.of = source.of.value_or(number);
    if (!source.dispatch.empty() && !fifo.packets) {
        throw ReadError(operation.where,
                        fmt::format("the routes of @{}, which dispatches, carry packets", from));
    }
    for (const std::string& name : to) {
        Endpoint& destination = endpoint(name, operation.where);
        fifo.consumers.push_back(destination.end);
        fifo.consumers.back().shares = destination.of;
        destination.of = destination.of.value_or(number);
        if (source.fifo.empty() && !destination.fifo.empty()) {
            fifo.name = destination.fifo;
        }
    }
    lowering_.fifos.push_back(std::move(fifo));
}

void FifoEndpoints::set_turns(const Endpoint& endpoint) {
    if (endpoint.dispatch.empty() || !endpoint.of) {
        return;
    }
    for (const std::string& name : endpoint.dispatch) {
        const auto destination = endpoints_.find(name);
        if (destination == endpoints_.end() || !destination->second.of) {
            throw ReadError(endpoint.operation->where,
                            fmt::format("no route leads to @{}, whose turn it would be", name));
        }
        lowering_.fifos[*endpoint.of].turns.push_back(*destination->second.of);
    }
}

std::vector<std::vector<Item>> FifoEndpoints::dispatched_headers(const Operation& operation) {
    std::vector<std::vector<Item>> headers;
    const auto stated = operation.attribute("dispatchPackets");
    for (const Item& list : stated.value_or(std::vector<Item>{})) {
        for (const Item& item : list.items) {
            if (item.opens("<")) {
                headers.push_back({item});
            }
        }
    }
    return headers;
}

void FifoEndpoints::add_alone(const std::string& name, const Endpoint& endpoint) {
    if (endpoint.in_flow || endpoint.of || !endpoint.end.pool) {
        return;
    }
    if (!endpoint.end.pinned) {
        throw ReadError(endpoint.operation->where,
                        fmt::format("@{} is in no flow and names no channel", name));
    }
    ObjectFifo fifo;
    fifo.name = name;
    fifo.operation = endpoint.operation;
    fifo.stated = true;
    fifo.dma = true;
    fifo.one_end = true;
    read_header(*endpoint.operation, fifo);
    if (endpoint.fills) {
        fifo.consumers.push_back(endpoint.end);
    } else {
        fifo.producer = endpoint.end;
    }
    const std::size_t first = lowering_.fifos.size();
    std::vector<std::size_t> turns;
    for (const std::vector<Item>& header : dispatched_headers(*endpoint.operation)) {
        set_header(header, endpoint.operation->where, fifo);
        turns.push_back(lowering_.fifos.size());
        lowering_.fifos.push_back(fifo);
        fifo.producer.shares = first;
    }
    if (turns.empty()) {
        lowering_.fifos.push_back(std::move(fifo));
    } else {
        lowering_.fifos[first].turns = std::move(turns);
    }
}

FifoEndpoints::Endpoint& FifoEndpoints::endpoint(const std::string& symbol, Location where) {
    const auto place = endpoints_.find(symbol);
    if (place == endpoints_.end()) {
        throw syntax::unknown_symbol(where, "endpoint", symbol, syntax::keys_of(endpoints_));
    }
    if (place->second.in_flow) {
        throw ReadError(where, fmt::format("@{} is in two flows", symbol));
    }
    return place->second;
}

std::int64_t FifoEndpoints::buffer_named(const std::string& symbol, program::TileCoordinate tile,
                                         Location where) const {
    const auto find = [&symbol](const auto& list) -> std::optional<std::int64_t> {
        const auto place = std::find_if(list.begin(), list.end(), [&symbol](const auto& each) {
            return each.name == plain_name(symbol);
        });
        return place == list.end() ? std::nullopt : std::optional{place - list.begin()};
    };
    const bool shim = lowering_.config.kind_of(tile) == program::TileKind::Shim;
    const auto found =
        shim ? find(lowering_.program.external_buffers) : find(lowering_.program.buffers);
    if (!found) {
        throw syntax::unknown_symbol(where, "buffer", symbol,
                                     shim ? syntax::names_of(lowering_.program.external_buffers)
                                          : syntax::names_of(lowering_.program.buffers));
    }
    return *found;
}

std::int64_t FifoEndpoints::lock_named(const std::string& symbol, Location where) const {
    const auto& locks = lowering_.program.locks;
    const auto place = std::find_if(
        locks.begin(), locks.end(),
        [&symbol](const program::Lock& each) { return each.name == plain_name(symbol); });
    if (place == locks.end()) {
        throw syntax::unknown_symbol(where, "lock", symbol, syntax::names_of(locks));
    }
    return place - locks.begin();
}

}  // namespace tilesim::workloads::npu::mlir::object_fifo
