#include "workloads/npu/mlir/descriptors/descriptor_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "workloads/npu/mlir/syntax/attributes.hpp"

namespace tilesim::workloads::npu::mlir::descriptors {

namespace {

constexpr std::int64_t kMostDescriptorId = 63;  // of the header's 6 bits

}  // namespace

bool is_declaration(const Operation& operation) {
    static const std::set<std::string> kNames{"aie.buffer", "aie.lock", "aie.external_buffer",
                                              "aie.tile", "arith.constant"};
    return kNames.contains(operation.name);
}

const Block& block_of(const Item& region, const std::string& label, Location where) {
    for (const Block& block : region.blocks) {
        if (block.label == label) {
            return block;
        }
    }
    throw ReadError(where, fmt::format("there is no block ^{}", label));
}

namespace {

bool leads_on(const Operation& operation) {
    return operation.name == "aie.next_bd" || operation.name == "cf.br";
}

const Block& block_led_to(const Item& region, const Operation& operation) {
    Cursor cursor(operation);
    if (cursor.done() || !cursor.peek()->is(TokenKind::BlockLabel)) {
        cursor.fail("a ^block");
    }
    const Item& label = cursor.take();
    return block_of(region, label.token.text, label.token.where);
}

}  // namespace

const Block& behind_empty_blocks(const Item& region, const Block& first) {
    const Block* block = &first;
    std::set<const Block*> seen;
    while (seen.insert(block).second && !block->operations.empty() &&
           leads_on(block->operations.front())) {
        block = &block_led_to(region, block->operations.front());
    }
    return *block;
}

namespace {

class ChainReader {
  public:
    ChainReader(const Lowering& lowering, const Item& region, const program::ChannelId& channel,
                const Scope& scope, DescriptorIds& ids,
                std::map<const Block*, std::int64_t>& ids_by_block,
                const std::optional<program::Packet>& packet)
        : lowering_(lowering),
          region_(region),
          channel_(channel),
          scope_(scope),
          ids_(ids),
          ids_by_block_(ids_by_block),
          packet_(packet) {}

    Chain run(const Block& first) {
        const Block* block = &behind_empty_blocks(region_, first);
        while (block != nullptr && !ids_by_block_.contains(block)) {
            const Operation* bd = transfer_of(*block);
            if (bd == nullptr) {
                break;
            }
            read(*block, *bd);
            block = next_;
            if (block != nullptr && transfer_of(*block) == nullptr) {
                break;
            }
            if (block != nullptr) {
                link(*block);
            }
        }
        if (block != nullptr && transfer_of(*block) == nullptr) {
            check_only_ends(*block);
        }
        return std::move(chain_);
    }

  private:
    static const Operation* transfer_of(const Block& block) {
        const auto place =
            std::find_if(block.operations.begin(), block.operations.end(),
                         [](const Operation& op) { return op.name == "aie.dma_bd"; });
        return place == block.operations.end() ? nullptr : &*place;
    }

    // Locks are a descriptor's: without a transfer nothing takes or gives them.
    static void check_only_ends(const Block& block) {
        for (const Operation& operation : block.operations) {
            if (operation.name == "aie.use_lock") {
                throw ReadError(operation.where, "this lock is used in a block without a transfer");
            }
        }
    }

    // A region of one block, as those of an aie.dma are, need not write its end.
    void check_end(const Block& block) const {
        const auto& operations = block.operations;
        const auto ends = [](const Operation& operation) {
            return operation.name == "aie.end" || leads_on(operation);
        };
        const auto end = std::find_if(operations.begin(), operations.end(), ends);
        if (end == operations.end()) {
            if (region_.blocks.size() > 1) {
                throw ReadError(operations.back().where,
                                "this block ends without aie.next_bd or aie.end");
            }
        } else if (end + 1 != operations.end()) {
            throw ReadError((end + 1)->where,
                            fmt::format("this stands behind the end of its block ({})", end->name));
        }
    }

    void read(const Block& block, const Operation& bd) {
        check_end(block);
        StatedDescriptor stated = read_dma_bd(lowering_, bd, scope_, channel_.tile);
        program::BufferDescriptor& descriptor = stated.descriptor;
        if (channel_.direction == program::Direction::S2MM && !descriptor.padding.empty()) {
            descriptor.padding.clear();
            chain_.ignored_padding = true;
        }
        if (!stated.has_id) {
            descriptor.id = ids_.next(channel_, bd.where);
        }
        chain_.repeat = std::max(chain_.repeat, stated.repeat);
        chain_.outer_sizes.push_back(stated.repeat);
        chain_.of_host |= stated.of_host;
        ids_by_block_[&block] = descriptor.id;
        next_ = nullptr;
        for (const Operation& operation : block.operations) {
            step(operation, bd, descriptor);
        }
        if (!descriptor.packet && channel_.direction == program::Direction::MM2S) {
            descriptor.packet = packet_;
        }
        if (stated.named_descriptor) {
            if (!descriptor.packet || *stated.named_descriptor < 0 ||
                *stated.named_descriptor > kMostDescriptorId) {
                throw ReadError(bd.where, fmt::format("out_of_order_id needs a packet and 0..{}",
                                                      kMostDescriptorId));
            }
            descriptor.packet->descriptor = *stated.named_descriptor;
        }
        chain_.descriptors.push_back(descriptor);
    }

    void step(const Operation& operation, const Operation& bd,
              program::BufferDescriptor& descriptor) {
        Cursor cursor(operation);
        if (operation.name == "aie.use_lock") {
            const LockUse use = read_lock_use(operation, scope_);
            auto& slot = use.acquire ? descriptor.acquire : descriptor.release;
            if (slot) {
                throw ReadError(operation.where,
                                fmt::format("a descriptor has one {}; this is its second",
                                            use.acquire ? "acquire" : "release"));
            }
            slot = use.action;
        } else if (operation.name == "aie.dma_bd_packet") {
            Cursor inside(cursor.group("("));
            program::Packet packet;
            packet.type = inside.integer();
            inside.expect(",");
            packet.id = inside.integer();
            descriptor.packet = packet;
        } else if (leads_on(operation)) {
            next_ = &behind_empty_blocks(region_, block_led_to(region_, operation));
        } else if (operation.name == "aie.dma_bd" && &operation != &bd) {
            throw ReadError(operation.where,
                            "a block of a DMA has one transfer; this is its second");
        } else if (operation.name != "aie.end" && !is_declaration(operation) && &operation != &bd) {
            throw ReadError(operation.where,
                            fmt::format("{} is not modelled in a block of a DMA", operation.name));
        }
    }

    void link(const Block& next) {
        const auto known = ids_by_block_.find(&next);
        if (known != ids_by_block_.end()) {
            chain_.descriptors.back().next = known->second;
            return;
        }
        // Its id must be known now: stated, or the next one given out.
        const Operation* bd = transfer_of(next);
        if (const auto stated = stated_id(*bd, scope_)) {
            chain_.descriptors.back().next = *stated;
        } else {
            const std::int64_t id = ids_.next(channel_, bd->where);
            ids_.free(channel_.tile, id);
            chain_.descriptors.back().next = id;
        }
    }

    const Lowering& lowering_;
    const Item& region_;
    const program::ChannelId& channel_;
    const Scope& scope_;
    DescriptorIds& ids_;
    std::map<const Block*, std::int64_t>& ids_by_block_;
    const std::optional<program::Packet>& packet_;
    const Block* next_ = nullptr;
    Chain chain_;
};

}  // namespace

void note_ignored(Lowering& lowering, const Chain& chain) {
    if (chain.ignored_padding) {
        lowering.note(
            "padding of channels that receive is left out: the hardware pads what a "
            "memory tile sends");
    }
    if (chain.of_host) {
        lowering.note(
            "offsets and lengths of transfers that the host's scratchpad adds are taken as 0");
    }
}

Chain read_chain(const Lowering& lowering, const Item& region, const Block& first,
                 const program::ChannelId& channel, const Scope& scope, DescriptorIds& ids,
                 std::map<const Block*, std::int64_t>& ids_by_block,
                 const std::optional<program::Packet>& packet) {
    return ChainReader(lowering, region, channel, scope, ids, ids_by_block, packet).run(first);
}

}  // namespace tilesim::workloads::npu::mlir::descriptors
