#include "workloads/npu/mlir/descriptors/dma.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "workloads/npu/mlir/descriptors/descriptor.hpp"
#include "workloads/npu/mlir/descriptors/descriptor_chain.hpp"
#include "workloads/npu/mlir/descriptors/descriptor_layout.hpp"
#include "workloads/npu/mlir/syntax/attributes.hpp"
#include "workloads/npu/mlir/syntax/constant_folding.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::descriptors {

namespace {

class DmaRegion {
  public:
    DmaRegion(Lowering& lowering, const Operation& operation, DescriptorIds& ids)
        : lowering_(lowering), region_(region_of(operation)), ids_(ids), scope_(&lowering.names) {
        Cursor cursor(operation);
        Cursor inside(cursor.group("("));
        tile_ = lowering.tile(inside);
        check_kind(operation);
        walk(region_, [this](const Operation& each) {
            if (const auto id = integer_attribute(each, "bd_id"); id && each.name == "aie.dma_bd") {
                ids_.take(tile_, *id);
            }
            define_constant(each, scope_);
        });
    }

    // dma_start names the block of its transfers and the block that goes on. Blocks nothing leads
    // to, as hand-edited files have them, count in the order of the text, as in the compiler.
    void run() {
        channels_from(&region_.blocks.front());
        for (const Block& block : region_.blocks) {
            const bool starts =
                std::any_of(block.operations.begin(), block.operations.end(),
                            [](const Operation& each) { return each.name == "aie.dma_start"; });
            if (starts) {
                channels_from(&block);
            }
        }
    }

  private:
    void channels_from(const Block* block) {
        while (block != nullptr && !ids_by_block_.contains(block) && seen_.insert(block).second) {
            const Block* next = nullptr;
            for (const Operation& operation : block->operations) {
                if (operation.name == "aie.dma_bd" || operation.name == "aie.next_bd") {
                    return;  // a transfer, of a chain that is read where it starts
                }
                if (operation.name == "aie.dma_start") {
                    next = dma_start(operation);
                } else if (operation.name == "aie.dma") {
                    dma(operation);
                } else if (operation.name != "aie.use_lock") {
                    check(operation);
                }
            }
            block = next;
        }
    }

    void check_kind(const Operation& operation) const {
        const program::TileKind kind = lowering_.config.kind_of(tile_);
        const std::string_view meant = kind == program::TileKind::Shim     ? "aie.shim_dma"
                                       : kind == program::TileKind::Memory ? "aie.memtile_dma"
                                                                           : "aie.mem";
        if (operation.name != meant) {
            throw ReadError(operation.where,
                            fmt::format("the DMA of tile {},{} is {}, not {}", tile_.column,
                                        tile_.row, meant, operation.name));
        }
    }

    static void check(const Operation& operation) {
        if (operation.name != "aie.end" && !is_declaration(operation)) {
            throw ReadError(operation.where, fmt::format("{} is not modelled between the channels "
                                                         "of a DMA",
                                                         operation.name));
        }
    }

    static void check_modes(const Operation& operation) {
        if (operation.attribute("fot_mode")) {
            throw ReadError(operation.where,
                            "'fot_mode' is not modelled: a transfer ends with its "
                            "descriptor's length");
        }
    }

    // aie.dma_start(S2MM, 0, ^transfers, ^onwards, repeat_count = 1)
    const Block* dma_start(const Operation& operation) {
        check_modes(operation);
        note_pad_value(lowering_, operation, "pad_value");
        Cursor cursor(operation);
        Cursor inside(cursor.group("("));
        const program::ChannelId channel = read_channel(inside, tile_);
        const Block* targets[2] = {nullptr, nullptr};
        for (const Block*& target : targets) {
            inside.expect(",");
            if (inside.done() || !inside.peek()->is(TokenKind::BlockLabel)) {
                inside.fail("a ^block");
            }
            const Item& label = inside.take();
            target = &block_of(region_, label.token.text, label.token.where);
        }
        std::int64_t runs = 1;
        if (inside.skip(",") && inside.skip_word("repeat_count")) {
            inside.expect("=");
            runs = runs_of(lowering_, inside.integer());
        }
        if (const auto count = integer_attribute(operation, "repeat_count")) {
            runs = runs_of(lowering_, *count);
        }
        Chain chain =
            read_chain(lowering_, region_, *targets[0], channel, scope_, ids_, ids_by_block_);
        note_ignored(lowering_, chain);
        if (moves_nothing(chain)) {
            lowering_.note("tasks whose descriptors move nothing are left out");
            for (const program::BufferDescriptor& descriptor : chain.descriptors) {
                lowering_.empty_descriptors.emplace(tile_, descriptor.id);
            }
        } else {
            add(std::move(chain), behind_empty_blocks(region_, *targets[0]), channel, runs,
                operation);
        }
        return targets[1];
    }

    // What a decompiled configuration has where the sequence writes the descriptors.
    static bool moves_nothing(const Chain& chain) {
        return !chain.descriptors.empty() &&
               std::all_of(chain.descriptors.begin(), chain.descriptors.end(),
                           [](const program::BufferDescriptor& d) { return d.length == 0; });
    }

    // aie.dma(S2MM, 0) {loop = false, repeat_count = 1} [{...}, {...}]: the blocks in a row, and
    // from the last back to the first unless told not to.
    void dma(const Operation& operation) {
        check_modes(operation);
        note_pad_value(lowering_, operation, "pad_value");
        Cursor cursor(operation);
        Cursor inside(cursor.group("("));
        const program::ChannelId channel = read_channel(inside, tile_);
        const std::int64_t runs =
            runs_of(lowering_, integer_attribute(operation, "repeat_count")
                                   .value_or(lowering_.repeat_counts_runs ? 1 : 0));
        program::TileDma& tile = lowering_.dma_of(tile_);
        const std::size_t first = tile.descriptors.size();
        for (const Item* region : operation.regions()) {
            Chain part = read_chain(lowering_, *region, region->blocks.front(), channel, scope_,
                                    ids_, ids_by_block_);
            note_ignored(lowering_, part);
            for (program::BufferDescriptor& descriptor : part.descriptors) {
                if (tile.descriptors.size() > first) {
                    tile.descriptors.back().next = descriptor.id;
                }
                tile.descriptors.push_back(std::move(descriptor));
            }
        }
        if (tile.descriptors.size() == first) {
            note_no_transfer();
            return;
        }
        if (text_attribute(operation, "loop") != "false") {
            tile.descriptors.back().next = tile.descriptors[first].id;
        }
        start(operation, channel, tile.descriptors[first].id, runs);
    }

    void add(Chain chain, const Block& first, const program::ChannelId& channel, std::int64_t runs,
             const Operation& operation) {
        const auto id = ids_by_block_.find(&first);
        if (id == ids_by_block_.end()) {
            note_no_transfer();
            return;
        }
        program::TileDma& tile = lowering_.dma_of(tile_);
        tile.descriptors.insert(tile.descriptors.end(), chain.descriptors.begin(),
                                chain.descriptors.end());
        start(operation, channel, id->second, runs * chain.repeat);
    }

    void note_no_transfer() {
        lowering_.note("channels that are started without a transfer are left out");
    }

    void start(const Operation& operation, const program::ChannelId& channel,
               std::int64_t descriptor, std::int64_t runs) {
        lowering_.dma_of(tile_).starts.push_back(
            {channel.direction,
             channel.index,
             {descriptor, runs, false, is_out_of_order(operation), operation.where}});
    }

    Lowering& lowering_;
    const Item& region_;
    DescriptorIds& ids_;
    Scope scope_;
    program::TileCoordinate tile_;
    std::map<const Block*, std::int64_t> ids_by_block_;
    std::set<const Block*> seen_;
};

}  // namespace

void lower_dmas(Lowering& lowering) {
    DescriptorIds ids(lowering);
    for (const Operation& operation : lowering.body()) {
        if (operation.name == "aie.mem" || operation.name == "aie.memtile_dma" ||
            operation.name == "aie.shim_dma") {
            lowering.attempt([&] { DmaRegion(lowering, operation, ids).run(); });
        }
    }
}

}  // namespace tilesim::workloads::npu::mlir::descriptors
