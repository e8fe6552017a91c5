#include "workloads/npu/mlir/object_fifo/object_fifos.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "workloads/npu/mlir/object_fifo/fifo_endpoints.hpp"
#include "workloads/npu/mlir/object_fifo/fifo_pools.hpp"
#include "workloads/npu/mlir/object_fifo/object_fifo_reader.hpp"
#include "workloads/npu/mlir/syntax/attributes.hpp"
#include "workloads/npu/mlir/unknown_attributes.hpp"

namespace tilesim::workloads::npu::mlir::object_fifo {

namespace {

class FifosReader {
  public:
    explicit FifosReader(Lowering& lowering) : lowering_(lowering) {}

    void run() {
        const ObjectFifoReader reader(lowering_);
        for (const Operation& operation : lowering_.body()) {
            lowering_.attempt([&] {
                if (operation.name == "aie.objectfifo") {
                    lowering_.fifos.push_back(reader.read(operation));
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
                }
            });
        }
        overrides();
        if (!lowering_.errors.empty()) {
            return;
        }
        FifoEndpoints(lowering_).run();
        FifoPools(lowering_).run();
        spill_pools(lowering_);
    }

  private:
    std::size_t number_of(const std::string& name, Location where) const {
        const ObjectFifo& fifo = fifo_named(lowering_, name, where);
        return static_cast<std::size_t>(&fifo - lowering_.fifos.data());
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
        static const std::set<std::string_view> kKnown{
            "mode", "shared_input_channel", "src_offsets", "dst_offsets", "fifoIns", "fifoOuts"};
        note_unknown_attributes(lowering_, operation, kKnown);
        if (const auto mode = operation.attribute("mode")) {
            link.in_turns = names_time(*mode);
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
                link.offsets.push_back(lowering_.names.integer(list));
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
        const std::size_t branches = link.branches().size();
        if (link.in_turns && (branches == 1 || !link.offsets.empty())) {
            throw ReadError(operation.where,
                            "a link in time has several inputs or several outputs and no offsets");
        }
        if (branches == 1 || link.in_turns) {
            link.offsets.clear();
        } else if (link.offsets.empty()) {
            link.offsets = following(link.branches());
        } else if (link.offsets.size() != branches) {
            throw ReadError(operation.where, fmt::format("a link of {} branches needs {} offsets",
                                                         branches, branches));
        }
        if (syntax::is_true(operation, "shared_input_channel")) {
            share_channel(link);
        }
        for (const std::size_t input : link.inputs) {
            lowering_.fifos[input].linked_in = true;
        }
        for (const std::size_t output : link.outputs) {
            lowering_.fifos[output].linked_out = true;
        }
        lowering_.links.push_back(std::move(link));
    }

    // {shared_input_channel}: one channel of a shim sends all inputs of a join, told apart by their
    // headers; a task's `interleave` names the others (sequence/sequence_tasks.cpp).
    void share_channel(const FifoLink& link) {
        const auto& inputs = link.inputs;
        const std::size_t first = *std::min_element(inputs.begin(), inputs.end());
        const program::TileCoordinate tile = lowering_.fifos[first].producer.tile;
        if (inputs.size() == 1 || lowering_.config.kind_of(tile) != program::TileKind::Shim) {
            throw ReadError(link.where,
                            "shared_input_channel is for a link of several inputs from a shim");
        }
        for (const std::size_t input : inputs) {
            ObjectFifo& fifo = lowering_.fifos[input];
            if (!fifo.packets || fifo.producer.tile != tile) {
                throw ReadError(link.where, fmt::format("inputs that share a channel are packets "
                                                        "from one tile; @{} is not",
                                                        fifo.name));
            }
            if (input != first) {
                fifo.producer.shares = first;
            }
        }
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
        if (end == ends.end() || lowering_.config.kind_of(tile) != program::TileKind::Shim) {
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

    Lowering& lowering_;
};

}  // namespace

void read_object_fifos(Lowering& lowering) {
    FifosReader(lowering).run();
}

}  // namespace tilesim::workloads::npu::mlir::object_fifo
