// What object FIFOs state, and where their elements lie: shared memory or a pool at each end of a
// DMA, how deep, with which locks.
#include "workloads/npu/mlir/object_fifo.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "arch/base/config.hpp"
#include "arch/npu/check/tile_reach.hpp"
#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir {

namespace {

constexpr std::int64_t kMostDepth = 1024;
constexpr std::int64_t kMostRepeats = 65536;

class FifoReader {
  public:
    explicit FifoReader(Lowering& lowering) : lowering_(lowering) {}

    void run() {
        for (const Operation& operation : lowering_.body()) {
            lowering_.attempt([&] {
                if (operation.name == "aie.objectfifo") {
                    fifo(operation);
                }
            });
        }
        for (const Operation& operation : lowering_.body()) {
            lowering_.attempt([&] {
                if (operation.name == "aie.objectfifo.link") {
                    link(operation);
                } else if (operation.name == "aie.objectfifo.allocate") {
                    allocate(operation);
                } else if (operation.name == "aie.objectfifo.register_external_buffers") {
                    register_external(operation);
                } else if (operation.name.starts_with("aie.objectfifo.register_process")) {
                    throw ReadError(operation.where,
                                    fmt::format("{} is not modelled", operation.name));
                }
            });
        }
        overrides();
        if (!lowering_.errors.empty()) {
            return;
        }
        find_acquired();
        for (ObjectFifo& each : lowering_.fifos) {
            each.dma = needs_dma(each);
        }
        for (std::size_t i = 0; i < lowering_.links.size(); ++i) {
            lowering_.attempt([&] { link_pool(lowering_.links[i]); });
        }
        for (ObjectFifo& each : lowering_.fifos) {
            lowering_.attempt([&] { pools(each); });
        }
        spill_pools(lowering_);
    }

  private:
    // @name(%producer dimensionsToStream [..], {%consumer dimensionsFromStream [..], ..}, depth)
    void fifo(const Operation& operation) {
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
        types(cursor, fifo);
        stream_ends(operation, fifo);
        if (fifo.consumers.empty()) {
            throw ReadError(operation.where, "an object FIFO needs a consumer");
        }
        lowering_.fifos.push_back(std::move(fifo));
    }

    FifoEnd end(Cursor& cursor) const {
        FifoEnd end;
        end.tile = lowering_.tile(cursor);
        if (cursor.skip_word("dimensionsToStream") || cursor.skip_word("dimensionsFromStream") ||
            cursor.skip_word("toStream") || cursor.skip_word("fromStream")) {
            end.dimensions = &cursor.group("[");
        }
        return end;
    }

    // 2 : i32, or one for the producer and each consumer: [2, 2, 3]
    static void depths(Cursor& inside, ObjectFifo& fifo) {
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
                throw ReadError(where,
                                fmt::format("a depth must be 1..{}, got {}", kMostDepth, depth));
            }
        }
        fifo.single_depth = depths[0];
    }

    void attributes(const Operation& operation, ObjectFifo& fifo) const {
        fifo.dma = is_true(operation, "via_DMA");
        transport(operation, fifo);
        fifo.synchronized = !is_true(operation, "disable_synchronization");
        fifo.repeat = integer_attribute(operation, "repeat_count").value_or(1);
        fifo.iterations = integer_attribute(operation, "iter_count");
        fifo.pads = operation.attribute("padDimensions").has_value();
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
            throw ReadError(
                operation.where,
                fmt::format("repeat_count must be 1..{}, iter_count 1..256", kMostRepeats));
        }
    }

    // Ends that are a core's own stream port and have no elements: aie_stream says which, or each
    // its prod_port, cons_ports = [..].
    void stream_ends(const Operation& operation, ObjectFifo& fifo) const {
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

    // #aie.end_port<Core : 0>, <DMA : 1>, <DMA>
    static void end_port(Cursor& cursor, FifoEnd& end) {
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

    void check_stream_end(const Operation& operation, const FifoEnd& end,
                          std::int64_t ports) const {
        if (!end.stream_port) {
            return;
        }
        if (!is_core(end.tile)) {
            throw ReadError(operation.where, fmt::format("tile {},{} has no core, whose own stream "
                                                         "this end could be",
                                                         end.tile.column, end.tile.row));
        }
        if (*end.stream_port < 0 || *end.stream_port >= ports) {
            throw ReadError(operation.where,
                            fmt::format("stream port {}: cores have {} such port{}",
                                        *end.stream_port, ports, ports == 1 ? "" : "s"));
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

    // #aie.transport<dma, packet = ..>; before 2026 via_DMA, packet and packet_id.
    void transport(const Operation& operation, ObjectFifo& fifo) const {
        bool packets = is_true(operation, "packet") || operation.attribute("packet_id");
        if (const auto stated = operation.attribute("transport")) {
            Cursor cursor(*stated, operation.where);
            if (!cursor.skip_word("#aie.transport")) {
                cursor.fail("#aie.transport<...>");
            }
            Cursor inside(cursor.group("<"));
            fifo.dma = fifo.dma || inside.word() == "dma";
            packets = packets || inside.skip(",");
        }
        if (packets) {
            lowering_.note(
                "object FIFOs that go as packets are taken as circuits of their own: headers and "
                "arbiters are left out");
        }
    }

    // : !aie.objectfifo<memref<..>> -> !aie.objectfifo<memref<..>> = [dense<..>, ..]
    static void types(Cursor& cursor, ObjectFifo& fifo) {
        int known = 0;
        while (!cursor.done()) {
            if (cursor.skip_word("!aie.objectfifo") || cursor.skip_word("!AIE.objectFifo")) {
                Cursor inside(cursor.group("<"));
                (known++ == 0 ? fifo.element : fifo.consumer_element) = read_memref(inside);
            } else if (cursor.skip("=") && !cursor.done() && cursor.peek()->opens("[")) {
                fifo.initial_values = values_in(cursor.take());
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
    static std::int64_t values_in(const Item& list) {
        std::int64_t values = 0;
        for (const Item& item : list.items) {
            values += item.is_word("dense") || item.opens("[") ? 1 : 0;
        }
        return values;
    }

    std::size_t number_of(const std::string& name, Location where) const {
        std::vector<std::string> known;
        for (std::size_t i = 0; i < lowering_.fifos.size(); ++i) {
            if (lowering_.fifos[i].name == name) {
                return i;
            }
            known.push_back(lowering_.fifos[i].name);
        }
        const std::string near = arch::base::config::nearest_name(name, known);
        throw ReadError(where,
                        fmt::format("no object FIFO is named @{}{}", name,
                                    near.empty() ? "" : fmt::format("; did you mean @{}?", near)));
    }

    // #aie.link_mode<time>
    static bool names_time(const std::vector<Item>& mode) {
        return std::any_of(mode.begin(), mode.end(), [](const Item& item) {
            return item.is_word("time") || names_time(item.items);
        });
    }

    // [@in] -> [@a, @b] ([] [0, 8]); before 2025 without offsets: ()
    void link(const Operation& operation) {
        FifoLink link;
        link.where = operation.where;
        if (const auto mode = operation.attribute("mode"); mode && names_time(*mode)) {
            throw ReadError(operation.where,
                            "a link whose branches take turns in time is not modelled");
        }
        Cursor cursor(operation);
        const auto names = [&](std::vector<std::size_t>& into) {
            Cursor list(cursor.group("["));
            while (!list.done()) {
                const Location where = list.where();
                into.push_back(number_of(list.symbol(), where));
                list.skip(",");
            }
        };
        names(link.inputs);
        cursor.expect("->");
        names(link.outputs);
        Cursor groups(cursor.group("("));  // offsets at the input, at the output
        while (!groups.done()) {
            Cursor list(groups.group("["));
            while (!list.done()) {
                link.offsets.push_back(list.integer());
                while (!list.done() && !list.skip(",")) {
                    list.take();
                }
            }
            groups.skip(",");
        }
        if (link.inputs.empty() || link.outputs.empty() ||
            (link.inputs.size() > 1 && link.outputs.size() > 1)) {
            throw ReadError(operation.where,
                            "a link has one input or one output, and at least one of each");
        }
        const std::size_t branches = std::max(link.inputs.size(), link.outputs.size());
        if (branches == 1) {
            link.offsets.clear();
        } else if (link.offsets.empty()) {
            link.offsets = following(branches > link.outputs.size() ? link.inputs : link.outputs);
        } else if (link.offsets.size() != branches) {
            throw ReadError(operation.where, fmt::format("a link of {} branches needs {} offsets",
                                                         branches, branches));
        }
        for (const std::size_t input : link.inputs) {
            lowering_.fifos[input].linked_in = true;
        }
        for (const std::size_t output : link.outputs) {
            lowering_.fifos[output].linked_out = true;
        }
        lowering_.links.push_back(std::move(link));
    }

    // Offsets of pieces that lie one behind the other, as designs of before 2025 mean that state
    // none.
    std::vector<std::int64_t> following(const std::vector<std::size_t>& branches) const {
        std::vector<std::int64_t> offsets;
        std::int64_t next = 0;
        for (const std::size_t branch : branches) {
            offsets.push_back(next);
            next += lowering_.fifos[branch].element.elements;
        }
        return offsets;
    }

    // @name (%tile): the elements lie in this tile's memory
    void allocate(const Operation& operation) {
        Cursor cursor(operation);
        const Location where = cursor.where();
        ObjectFifo& fifo = lowering_.fifos[number_of(cursor.symbol(), where)];
        if (fifo.on_a_stream()) {
            throw ReadError(
                operation.where,
                fmt::format("an end of @{} is a core's own stream: its elements have no "
                            "memory in common",
                            fifo.name));
        }
        Cursor inside(cursor.group("("));
        fifo.memory = lowering_.tile(inside);
    }

    // @name (%shim, {%buffer, ..}): the elements of a shim's end lie in DRAM.
    void register_external(const Operation& operation) {
        Cursor cursor(operation);
        const Location where = cursor.where();
        ObjectFifo& fifo = lowering_.fifos[number_of(cursor.symbol(), where)];
        Cursor inside(cursor.group("("));
        const program::TileCoordinate tile = lowering_.tile(inside);
        inside.expect(",");
        Cursor list(inside.group("{"));
        std::vector<std::int64_t> buffers;
        while (!list.done()) {
            buffers.push_back(lowering_.names.index_of(list, Value::Kind::External));
            list.skip(",");
        }
        std::vector<FifoEnd*> ends{&fifo.producer};
        for (FifoEnd& end : fifo.consumers) {
            ends.push_back(&end);
        }
        const auto end = std::find_if(ends.begin(), ends.end(),
                                      [&](const FifoEnd* each) { return each->tile == tile; });
        if (end == ends.end() || has_memory(tile)) {
            lowering_.note(
                fmt::format("external buffers of @{} are left out, as in the compiler: "
                            "it has no end at a shim tile {},{}",
                            fifo.name, tile.column, tile.row));
            return;
        }
        (*end)->external = std::move(buffers);
    }

    void overrides() {
        for (const auto& [name, wanted] : lowering_.options.fifos) {
            lowering_.attempt([&, &key = name, &value = wanted] {
                ObjectFifo& fifo = lowering_.fifos[number_of(key, lowering_.device.where)];
                if (value.depth) {
                    fifo.single_depth = *value.depth;
                    fifo.producer.depth = *value.depth;
                    for (FifoEnd& end : fifo.consumers) {
                        end.depth = *value.depth;
                    }
                }
                fifo.forced_dma = value.via_dma;
                fifo.memory = value.memory ? value.memory : fifo.memory;
            });
        }
    }

    // The most elements each core acquires at a time.
    void find_acquired() {
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

    bool is_core(program::TileCoordinate tile) const {
        return lowering_.config.kind_of(tile) == program::TileKind::Core;
    }

    bool reaches(program::TileCoordinate from, program::TileCoordinate to) const {
        return arch::npu::check::core_reaches(lowering_.config, from, to);
    }

    bool needs_dma(const ObjectFifo& fifo) const {
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

    // --- pools ---

    std::int64_t depth_of(const ObjectFifo& fifo, std::size_t number, const FifoEnd& end,
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

    std::size_t add_pool(program::TileCoordinate tile, const MemrefType& element,
                         const std::string& name, std::int64_t depth) {
        FifoPool pool;
        pool.tile = tile;
        pool.element = element;
        for (std::int64_t i = 0; i < depth; ++i) {
            auto& buffers = lowering_.program.buffers;
            program::Buffer buffer;
            buffer.tile = tile;
            buffer.name = unique_name(buffers, fmt::format("{}_buff_{}", name, i));
            buffer.address = program::kUnplaced;
            buffer.bytes = element.bytes();
            pool.buffers.push_back(static_cast<std::int64_t>(buffers.size()));
            buffers.push_back(buffer);
            lowering_.buffer_types.push_back(element);
        }
        lowering_.fifo_pools.push_back(std::move(pool));
        return lowering_.fifo_pools.size() - 1;
    }

    std::int64_t add_lock(program::TileCoordinate tile, const std::string& name,
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

    // `values`: elements that are full at start.
    void add_locks(std::size_t number, const std::string& name, std::int64_t values) {
        FifoPool& pool = lowering_.fifo_pools[number];
        const auto depth = static_cast<std::int64_t>(pool.buffers.size());
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

    // The pool that input and output have in common, on the tile between them.
    void link_pool(FifoLink& link) {
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
            throw ReadError(link.where,
                            "a link needs elements: its ends are no core's own streams");
        }
        const bool larger_out = out.element.bytes() > in.consumer_element.bytes();
        const bool equal = out.element.bytes() == in.consumer_element.bytes();
        const bool of_output =
            joins ||
            (!distributes && (larger_out || (equal && out.initial_values > 0)) && !out.pads);
        const std::int64_t depth = of_output
                                       ? depth_of(out, link.outputs.front(), out.producer, true)
                                       : depth_of(in, link.inputs.front(), from, false);
        link.pool = add_pool(tile, of_output ? out.element : in.consumer_element,
                             of_output ? out.name : in.name + "_cons", depth);
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
        const std::size_t branches = std::max(link.inputs.size(), link.outputs.size());
        if (lowering_.config.lock_kind == LockKind::Binary && branches > 1) {
            throw ReadError(link.where,
                            "links of several branches need counting locks, which "
                            "this device does not have");
        }
        for (std::size_t i = 0; i < branches && in.synchronized && out.synchronized; ++i) {
            add_locks(link.pool, of_output ? out.name : in.name + "_cons", out.initial_values);
        }
    }

    // Registered buffers in DRAM, with locks at the shim: the host hands elements over.
    void external_pool(FifoEnd& end, const std::string& name, bool synchronized) {
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

    void pools(ObjectFifo& fifo) {
        const auto number = static_cast<std::size_t>(&fifo - lowering_.fifos.data());
        if (!fifo.dma) {
            shared_pool(fifo);
            return;
        }
        external_pool(fifo.producer, fifo.name, fifo.synchronized);
        if (!fifo.producer.pool && has_elements(fifo.producer)) {
            fifo.producer.pool = add_pool(fifo.producer.tile, fifo.element, fifo.name,
                                          depth_of(fifo, number, fifo.producer, true));
            lowering_.fifo_pools[*fifo.producer.pool].repeat = fifo.repeat;
            // What is only ever read, as often as iter_count says, needs no lock.
            const bool constant = fifo.initial_values > 0 && fifo.iterations.value_or(1) > 1;
            if (fifo.synchronized && !constant) {
                add_locks(*fifo.producer.pool, fifo.name, fifo.initial_values);
            }
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
            if (fifo.synchronized) {
                add_locks(*end.pool, name, 0);
            }
        }
    }

    bool has_memory(program::TileCoordinate tile) const {
        return lowering_.config.kind_of(tile) != program::TileKind::Shim;
    }

    bool has_elements(const FifoEnd& end) const { return has_memory(end.tile) && !end.stream_port; }

    // Where the producer writes, if the consumer reaches that.
    void shared_pool(ObjectFifo& fifo) {
        FifoEnd& consumer = fifo.consumers.front();
        const program::TileCoordinate from = fifo.producer.tile;
        const program::TileCoordinate to = consumer.tile;
        const program::TileCoordinate tile = fifo.memory         ? *fifo.memory
                                             : reaches(to, from) ? from
                                                                 : to;
        if (!reaches(from, tile) || !reaches(to, tile)) {
            throw ReadError(fifo.operation->where,
                            fmt::format("the cores of @{} do not both reach the memory of tile "
                                        "{},{}",
                                        fifo.name, tile.column, tile.row));
        }
        const auto number = static_cast<std::size_t>(&fifo - lowering_.fifos.data());
        if (!fifo.producer.pool && !consumer.pool) {
            fifo.producer.pool = add_pool(tile, fifo.element, fifo.name,
                                          depth_of(fifo, number, fifo.producer, true));
            if (fifo.synchronized) {
                add_locks(*fifo.producer.pool, fifo.name, fifo.initial_values);
            }
        }
        fifo.producer.pool = fifo.producer.pool ? fifo.producer.pool : consumer.pool;
        consumer.pool = fifo.producer.pool;
    }

    Lowering& lowering_;
    std::map<std::tuple<std::size_t, program::TileCoordinate, bool>, std::int64_t> acquired_;
};

}  // namespace

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
    for (std::size_t i = 0; i < lowering.fifos.size(); ++i) {
        if (lowering.fifos[i].name == name) {
            use.fifo = i;
            if (!port || use.count < 0 || use.count > kMostDepth) {
                throw ReadError(operation.where,
                                "an acquire or release names its port and how many "
                                "elements");
            }
            return use;
        }
    }
    throw ReadError(operation.where, fmt::format("no object FIFO is named @{}", name));
}

void read_object_fifos(Lowering& lowering) {
    FifoReader(lowering).run();
}

}  // namespace tilesim::workloads::npu::mlir
