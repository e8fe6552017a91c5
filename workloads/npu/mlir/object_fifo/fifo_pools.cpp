#include "workloads/npu/mlir/object_fifo/fifo_pools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "arch/npu/check/tile_reach.hpp"
#include "workloads/npu/mlir/object_fifo/fifo_packets.hpp"

namespace tilesim::workloads::npu::mlir::object_fifo {

void FifoPools::run() {
    find_acquired();
    for (ObjectFifo& each : lowering_.fifos) {
        each.dma = each.stated ? each.dma : needs_dma(each);
        if (each.shared && each.dma && !each.forced_dma) {
            lowering_.errors.emplace_back(
                each.operation->where,
                fmt::format("@{} asks for memory that both of its ends reach: these are two cores "
                            "that share none, or it repeats, reshapes or is linked",
                            each.name));
        }
    }
    for (FifoLink& each : lowering_.links) {
        lowering_.attempt([&] { link_pool(each); });
    }
    for (ObjectFifo& each : lowering_.fifos) {
        if (each.iterates && !each.linked_in && !each.linked_out) {
            lowering_.errors.emplace_back(each.operation->where,
                                          fmt::format("@{}: iterate_bds is for links through a "
                                                      "memory tile",
                                                      each.name));
        }
        if (!each.stated) {
            lowering_.attempt([&] { pools(each); });
        }
    }
}

void FifoPools::find_acquired() {
    for (const Operation& core : lowering_.body()) {
        if (core.name != "aie.core" || core.regions().empty()) {
            continue;
        }
        lowering_.attempt([&] {
            Cursor cursor(core);
            Cursor inside(cursor.group("("));
            const program::TileCoordinate tile = lowering_.tile(inside);
            walk(*core.regions().front(), [&](const Operation& each) {
                if (each.name == "aie.objectfifo.acquire") {
                    const FifoUse use = read_fifo_use(lowering_, each);
                    std::int64_t& most = acquired_[{use.fifo, tile, use.produces}];
                    most = std::max(most, use.count);
                }
            });
        });
    }
}

bool FifoPools::is_core(program::TileCoordinate tile) const {
    return lowering_.config.kind_of(tile) == program::TileKind::Core;
}

bool FifoPools::reaches(program::TileCoordinate from, program::TileCoordinate to) const {
    return arch::npu::check::core_reaches(lowering_.config, from, to);
}

bool FifoPools::needs_dma(const ObjectFifo& fifo) const {
    const FifoEnd& consumer = fifo.consumers.front();
    if (fifo.on_a_stream()) {
        return true;
    }
    const bool common = is_core(fifo.producer.tile) && is_core(consumer.tile) &&
                        fifo.consumers.size() == 1 &&
                        (reaches(consumer.tile, fifo.producer.tile) ||
                         reaches(fifo.producer.tile, consumer.tile) || fifo.memory);
    const bool has_dimensions =
        fifo.producer.dimensions != nullptr ||
        std::any_of(fifo.consumers.begin(), fifo.consumers.end(),
                    [](const FifoEnd& end) { return end.dimensions != nullptr; });
    const bool other_type = fifo.element.bytes() != fifo.consumer_element.bytes();
    if (!common) {
        return true;
    }
    if (fifo.forced_dma) {
        return *fifo.forced_dma;
    }
    const bool linked = (fifo.linked_in || fifo.linked_out) && !fifo.memory;
    return fifo.dma || fifo.repeat > 1 || has_dimensions || other_type || fifo.pads || linked;
}

std::int64_t FifoPools::depth_of(const ObjectFifo& fifo, std::size_t number, const FifoEnd& end,
                                 bool produces) const {
    if (end.depth) {
        return *end.depth;
    }
    const std::int64_t depth = fifo.single_depth;
    if (!fifo.dma || !is_core(end.tile)) {
        return depth;
    }
    const auto most = acquired_.find({number, end.tile, produces});
    if (most == acquired_.end()) {
        return depth;
    }
    return most->second == 1 && depth == 1 ? 1 : most->second + 1;
}

std::size_t FifoPools::add_pool(program::TileCoordinate tile, const MemrefType& element,
                                const std::string& name, std::int64_t depth) {
    FifoPool pool;
    pool.tile = tile;
    pool.element = element;
    for (std::int64_t i = 0; i < depth; ++i) {
        pool.buffers.push_back(add_buffer(tile, element, fmt::format("{}_buff_{}", name, i)));
    }
    lowering_.fifo_pools.push_back(std::move(pool));
    return lowering_.fifo_pools.size() - 1;
}

std::size_t FifoPools::add_iterated_pool(program::TileCoordinate tile, const MemrefType& element,
                                         const std::string& name, std::int64_t depth) {
    FifoPool pool;
    pool.tile = tile;
    pool.element = element;
    pool.iterated = depth;
    MemrefType all = element;
    all.elements *= depth;
    pool.buffers.push_back(add_buffer(tile, all, name + "_buff"));
    lowering_.fifo_pools.push_back(std::move(pool));
    return lowering_.fifo_pools.size() - 1;
}

std::int64_t FifoPools::add_buffer(program::TileCoordinate tile, const MemrefType& type,
                                   const std::string& name) {
    auto& buffers = lowering_.program.buffers;
    program::Buffer buffer;
    buffer.tile = tile;
    buffer.name = unique_name(buffers, name);
    buffer.address = program::kUnplaced;
    buffer.bytes = type.bytes();
    buffers.push_back(buffer);
    lowering_.buffer_types.push_back(type);
    return static_cast<std::int64_t>(buffers.size()) - 1;
}

std::int64_t FifoPools::add_lock(program::TileCoordinate tile, const std::string& name,
                                 std::int64_t initial) {
    auto& locks = lowering_.program.locks;
    program::Lock lock;
    lock.tile = tile;
    lock.id = program::kUnplaced;  // numbered with the others
    lock.name = unique_name(locks, name);
    lock.initial = initial;
    locks.push_back(lock);
    return static_cast<std::int64_t>(locks.size()) - 1;
}

void FifoPools::add_locks(std::size_t number, const std::string& name, std::int64_t values) {
    FifoPool& pool = lowering_.fifo_pools[number];
    const std::int64_t depth = pool.depth();
    if (lowering_.config.lock_kind == LockKind::Binary) {
        for (std::int64_t i = 0; i < depth; ++i) {
            const std::int64_t lock =
                add_lock(pool.tile, fmt::format("{}_lock_{}", name, i), i < values ? 1 : 0);
            pool.locks.push_back({lock, lock});
        }
        return;
    }
    const std::size_t pair = pool.locks.size();
    const std::int64_t free = (depth - std::min(values, depth)) * pool.repeat;
    LockPair locks;
    locks.producer = add_lock(pool.tile, fmt::format("{}_prod_lock_{}", name, pair), free);
    locks.consumer = add_lock(pool.tile, fmt::format("{}_cons_lock_{}", name, pair),
                              std::min(values, depth) * pool.repeat);
    pool.locks.push_back(locks);
}

void FifoPools::fill(std::size_t number, const std::vector<const Item*>& contents) {
    const FifoPool& pool = lowering_.fifo_pools[number];
    if (pool.iterated && !contents.empty()) {
        lowering_.note(fmt::format(
            "what {} holds at start is left out: elements of one buffer",
            lowering_.program.buffers[static_cast<std::size_t>(pool.buffers.front())].name));
        return;
    }
    for (std::size_t i = 0; i < std::min(contents.size(), pool.buffers.size()); ++i) {
        lowering_.set_contents(pool.buffers[i], *contents[i], pool.element);
    }
}

void FifoPools::link_pool(FifoLink& link) {
    const bool joins = link.inputs.size() > 1;
    const bool distributes = link.outputs.size() > 1;
    ObjectFifo& in = lowering_.fifos[link.inputs.front()];
    ObjectFifo& out = lowering_.fifos[link.outputs.front()];
    const program::TileCoordinate tile = out.producer.tile;
    const auto input_end = [&](ObjectFifo& fifo) -> FifoEnd& {
        for (FifoEnd& end : fifo.consumers) {
            if (end.tile == tile) {
                return end;
            }
        }
        throw ReadError(link.where, fmt::format("@{} has no end on tile {},{}, which the link "
                                                "needs",
                                                fifo.name, tile.column, tile.row));
    };
    FifoEnd& from = input_end(in);
    if (from.stream_port || out.producer.stream_port) {
        throw ReadError(link.where, "a link needs elements: its ends are no core's own streams");
    }
    const bool larger_out = out.element.bytes() > in.consumer_element.bytes();
    const bool equal = out.element.bytes() == in.consumer_element.bytes();
    const bool of_output =
        joins || (!distributes && (larger_out || (equal && out.initial_values > 0)) && !out.pads);
    const std::int64_t depth = of_output ? depth_of(out, link.outputs.front(), out.producer, true)
                                         : depth_of(in, link.inputs.front(), from, false);
    const MemrefType& element = of_output ? out.element : in.consumer_element;
    const std::string name = of_output ? out.name : in.name + "_cons";
    link.pool = iterates(link, tile) ? add_iterated_pool(tile, element, name, depth)
                                     : add_pool(tile, element, name, depth);
    pin(link.pool, of_output ? out.producer.banks : from.banks);
    FifoPool& pool = lowering_.fifo_pools[link.pool];
    for (const std::size_t output : link.outputs) {
        ObjectFifo& each = lowering_.fifos[output];
        if (each.producer.tile != tile) {
            throw ReadError(link.where, "the outputs of a link begin on one tile");
        }
        pool.repeat = std::max(pool.repeat, each.repeat);
        each.producer.pool = link.pool;
    }
    for (const std::size_t input : link.inputs) {
        input_end(lowering_.fifos[input]).pool = link.pool;
    }
    if (link.in_turns) {
        take_turns(lowering_, link, tile);
    }
    const std::size_t branches = link.in_turns ? 1 : link.branches().size();
    if (lowering_.config.lock_kind == LockKind::Binary && branches > 1) {
        throw ReadError(link.where,
                        "links of several branches need counting locks, which "
                        "this device does not have");
    }
    for (std::size_t i = 0; i < branches && in.synchronized && out.synchronized; ++i) {
        add_locks(link.pool, name, out.initial_values);
    }
    fill(link.pool, out.contents);
}

bool FifoPools::iterates(const FifoLink& link, program::TileCoordinate tile) const {
    const auto any = [&](const std::vector<std::size_t>& fifos, const auto& has) {
        return std::any_of(fifos.begin(), fifos.end(),
                           [&](std::size_t number) { return has(lowering_.fifos[number]); });
    };
    const auto asks = [](const ObjectFifo& fifo) { return fifo.iterates; };
    if (!any(link.inputs, asks) && !any(link.outputs, asks)) {
        return false;
    }
    if (lowering_.config.kind_of(tile) != program::TileKind::Memory) {
        throw ReadError(link.where, "iterate_bds is for links through a memory tile");
    }
    if (any(link.outputs, [](const ObjectFifo& fifo) { return fifo.repeat > 1; })) {
        throw ReadError(link.where, std::string{kIteratesOnce});
    }
    return true;
}

void FifoPools::external_pool(FifoEnd& end, const std::string& name, bool synchronized) {
    if (end.external.empty()) {
        return;
    }
    const auto first = static_cast<std::size_t>(end.external.front());
    FifoPool pool;
    pool.tile = end.tile;
    pool.element = lowering_.external_types[first];
    pool.buffers = end.external;
    lowering_.fifo_pools.push_back(std::move(pool));
    end.pool = lowering_.fifo_pools.size() - 1;
    if (synchronized) {
        add_locks(*end.pool, name, 0);
    }
}

void FifoPools::pools(ObjectFifo& fifo) {
    const auto number = static_cast<std::size_t>(&fifo - lowering_.fifos.data());
    if (!fifo.dma) {
        shared_pool(fifo);
        return;
    }
    external_pool(fifo.producer, fifo.name, fifo.synchronized);
    if (!fifo.producer.pool && has_elements(fifo.producer)) {
        fifo.producer.pool = add_pool(fifo.producer.tile, fifo.element, fifo.name,
                                      depth_of(fifo, number, fifo.producer, true));
        pin(*fifo.producer.pool, fifo.producer.banks);
        lowering_.fifo_pools[*fifo.producer.pool].repeat = fifo.repeat;
        // What is only ever read, as often as iter_count says, needs no lock.
        const bool constant = fifo.initial_values > 0 && fifo.iterations.value_or(1) > 1;
        if (fifo.synchronized && !constant) {
            add_locks(*fifo.producer.pool, fifo.name, fifo.initial_values);
        }
        fill(*fifo.producer.pool, fifo.contents);
    }
    for (std::size_t i = 0; i < fifo.consumers.size(); ++i) {
        FifoEnd& end = fifo.consumers[i];
        external_pool(end, fifo.name + "_cons", fifo.synchronized);
        if (end.pool || !has_elements(end)) {
            continue;
        }
        const std::string name = fifo.consumers.size() == 1
                                     ? fifo.name + "_cons"
                                     : fmt::format("{}_{}_cons", fifo.name, i);
        end.pool =
            add_pool(end.tile, fifo.consumer_element, name, depth_of(fifo, number, end, false));
        pin(*end.pool, end.banks);
        if (fifo.synchronized) {
            add_locks(*end.pool, name, 0);
        }
    }
}

void FifoPools::pin(std::size_t number, const std::vector<std::int64_t>& banks) {
    const std::vector<std::int64_t>& buffers = lowering_.fifo_pools[number].buffers;
    for (std::size_t i = 0; i < std::min(buffers.size(), banks.size()); ++i) {
        lowering_.banks[buffers[i]] = banks[i];
    }
}

bool FifoPools::has_memory(program::TileCoordinate tile) const {
    return lowering_.config.kind_of(tile) != program::TileKind::Shim;
}

void FifoPools::shared_pool(ObjectFifo& fifo) {
    FifoEnd& consumer = fifo.consumers.front();
    const program::TileCoordinate from = fifo.producer.tile;
    const program::TileCoordinate to = consumer.tile;
    // The elements of a link are where its common tile has them, whatever else is said.
    const std::optional<std::size_t> linked =
        fifo.producer.pool ? fifo.producer.pool : consumer.pool;
    const program::TileCoordinate tile = linked              ? lowering_.fifo_pools[*linked].tile
                                         : fifo.memory       ? *fifo.memory
                                         : reaches(to, from) ? from
                                                             : to;
    if (!reaches(from, tile) || !reaches(to, tile)) {
        throw ReadError(fifo.operation->where,
                        fmt::format("the cores of @{} do not both reach the memory of tile "
                                    "{},{}",
                                    fifo.name, tile.column, tile.row));
    }
    const auto number = static_cast<std::size_t>(&fifo - lowering_.fifos.data());
    if (!linked) {
        fifo.producer.pool =
            add_pool(tile, fifo.element, fifo.name, depth_of(fifo, number, fifo.producer, true));
        pin(*fifo.producer.pool, fifo.producer.banks);
        if (fifo.synchronized) {
            add_locks(*fifo.producer.pool, fifo.name, fifo.initial_values);
        }
        fill(*fifo.producer.pool, fifo.contents);
    }
    fifo.producer.pool = fifo.producer.pool ? fifo.producer.pool : consumer.pool;
    consumer.pool = fifo.producer.pool;
}

}  // namespace tilesim::workloads::npu::mlir::object_fifo
