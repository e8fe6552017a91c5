#include "workloads/npu/mlir/syntax/tile_copies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/npu/mlir/syntax/attributes.hpp"
#include "workloads/npu/mlir/syntax/cursor.hpp"
#include "workloads/npu/mlir/syntax/device_tiles.hpp"
#include "workloads/npu/mlir/syntax/memref_type.hpp"
#include "workloads/npu/mlir/syntax/written_out.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

namespace {

class TileCopies {
  public:
    explicit TileCopies(Block& device) : device_(device) {}

    void run() {
        const std::vector<Operation> copies = take_from_device(device_, is_copy);
        for (const Operation& copy : copies) {
            add_to_device(device_, parse_at(make_copy(copy), copy.where));
        }
        for (const CopyEnds& ends : ends_) {
            add_dma(ends, copies.front().where);
        }
    }

  private:
    // What copies make of a tile's DMA.
    struct CopyEnds {
        std::string tile;
        std::vector<std::string> starts;  // MM2S, 0, ^copy0
        std::string descriptors;
        std::map<std::string_view, int> channels;  // in use, by direction
    };
    CopyEnds& ends_at(const std::string& tile) {
        const auto place = std::find_if(ends_.begin(), ends_.end(), [&tile](const CopyEnds& each) {
            return each.tile == tile;
        });
        return place == ends_.end() ? ends_.emplace_back(CopyEnds{tile, {}, {}, {}}) : *place;
    }

    // memcpy @token(1, 2) (%t : <%b, 0, 8>, %u : <%c, 0, 8>) : (memref<8xi32>, memref<8xi32>)
    // The stream's text; both ends are remembered.
    std::string make_copy(const Operation& copy) {
        Cursor cursor(copy);
        const std::string token = cursor.symbol();
        Cursor values(cursor.group("("));
        const std::int64_t acquired = values.integer();
        values.expect(",");
        const std::int64_t released = values.integer();
        Cursor sides(cursor.group("("));
        cursor.expect(":");
        Cursor types(cursor.group("("));
        std::string flow;
        for (const std::string_view direction : {"MM2S", "S2MM"}) {
            CopyEnds& ends = ends_at(sides.value());
            sides.expect(":");
            Cursor piece(sides.group("<"));
            sides.skip(",");
            const std::string buffer = piece.value();
            piece.expect(",");
            const std::int64_t offset = piece.integer();
            piece.expect(",");
            const std::int64_t length = piece.integer();
            const std::string type = flat_memref(read_memref(types));
            types.skip(",");
            const int channel = ends.channels[direction]++;
            const std::size_t block = ends.starts.size();
            ends.starts.push_back(fmt::format("{}, {}, ^copy{}", direction, channel, block));
            ends.descriptors += fmt::format(
                "^copy{}:\naiex.useToken @{}(Acquire, {})\naie.dma_bd(%{} : {}, {}, {})\n"
                "aiex.useToken @{}(Release, {})\naie.next_bd ^end\n",
                block, token, acquired, buffer, type, offset, length, token, released);
            flow += fmt::format("{}%{}, DMA : {}", flow.empty() ? "" : ", ", ends.tile, channel);
        }
        return fmt::format("aie.flow({})\n", flow);
    }

    void add_dma(const CopyEnds& ends, Location where) {
        if (std::any_of(device_.operations.begin(), device_.operations.end(),
                        [&](const Operation& each) {
                            return is_dma(each) && tile_of(each) == ends.tile;
                        })) {
            throw ReadError(where, fmt::format("%{} has a DMA of its own beside aiex.memcpy, which "
                                               "is not modelled",
                                               ends.tile));
        }
        std::string starts;
        for (std::size_t i = 0; i < ends.starts.size(); ++i) {
            const bool last = i + 1 == ends.starts.size();
            starts += fmt::format("{}aie.dma_start({}, ^{})\n",
                                  i == 0 ? "" : fmt::format("^start{}:\n", i), ends.starts[i],
                                  last ? "end" : fmt::format("start{}", i + 1));
        }
        const bool shim = place_of(device_, ends.tile, where).row == 0;
        add_to_device(device_, parse_at(fmt::format("aie.{}(%{}) {{\n{}{}^end:\naie.end\n}}\n",
                                                    shim ? "shim_dma" : "mem", ends.tile, starts,
                                                    ends.descriptors),
                                        where));
    }

    Block& device_;
    std::vector<CopyEnds> ends_;
};

}  // namespace

bool is_copy(const Operation& operation) {
    return operation.name == "aiex.memcpy";
}

void write_copies_as_transfers(Block& device) {
    TileCopies(device).run();
}

}  // namespace tilesim::workloads::npu::mlir::syntax
