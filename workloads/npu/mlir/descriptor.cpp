#include "workloads/npu/mlir/descriptor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "workloads/npu/mlir/transfer.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir {

namespace {

constexpr std::int64_t kMostDescriptorId = 63;  // of the header's 6 bits

struct Parts {  // what the parentheses and the dictionary of a dma_bd say
    Transfer transfer;
    std::optional<std::int64_t> length;
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> strides;
};

std::vector<std::int64_t> integers(const Item& group, const Scope& scope) {
    std::vector<std::int64_t> numbers;
    Cursor cursor(group);
    while (!cursor.done()) {
        numbers.push_back(scope.integer(cursor));
        cursor.skip(",");
    }
    return numbers;
}

// <2, 1>: what is added before and after.
bool read_plain_padding(const Item& group, const Scope& scope, Transfer& transfer) {
    Cursor entry(group);
    if (entry.done() || entry.peek()->is(TokenKind::Word)) {
        return false;
    }
    program::Padding padding;
    padding.before = scope.integer(entry);
    entry.expect(",");
    padding.after = scope.integer(entry);
    transfer.padding.push_back(padding);
    return true;
}

// [<size = 8, stride = 4>, ...] or [<const_pad_before = 2, const_pad_after = 3>, ...]
void read_layout(const Item& list, const Scope& scope, Transfer& transfer) {
    Cursor cursor(list);
    while (!cursor.done()) {
        const Item& group = cursor.group("<");
        if (read_plain_padding(group, scope, transfer)) {
            cursor.skip(",");
            continue;
        }
        Cursor entry(group);
        program::Dimension dimension{0, 0};
        program::Padding padding;
        bool pads = false;
        while (!entry.done()) {
            const Location where = entry.where();
            const std::string key = entry.word();
            entry.expect("=");
            const std::int64_t number = scope.integer(entry);
            entry.skip(",");
            if (key == "size") {
                dimension.size = number;
            } else if (key == "stride") {
                dimension.stride = number;
            } else if (key == "const_pad_before") {
                padding.before = number;
                pads = true;
            } else if (key == "const_pad_after") {
                padding.after = number;
                pads = true;
            } else {
                throw ReadError(where, fmt::format("'{}' is not modelled here; known are size, "
                                                   "stride, const_pad_before, const_pad_after",
                                                   key));
            }
        }
        if (pads) {
            transfer.padding.push_back(padding);
        } else {
            transfer.dimensions.push_back(dimension);
        }
        cursor.skip(",");
    }
}

// #aie<bd_dim_layout_array[...]>, #aie<bd_pad_layout_array[...]>
void read_layout_attribute(const std::vector<Item>& items, Location where, const Scope& scope,
                           Transfer& transfer) {
    Cursor cursor(items, where);
    while (!cursor.done() && !cursor.peek()->opens("<") && !cursor.peek()->opens("[")) {
        cursor.take();
    }
    const Item& group = cursor.take();
    if (group.opens("[")) {
        read_layout(group, scope, transfer);
    } else {
        read_layout_attribute(group.items, group.token.where, scope, transfer);
    }
}

void read_word_part(Cursor& cursor, const Scope& scope, Parts& parts) {
    const Location where = cursor.where();
    const std::string key = cursor.word();
    if (!cursor.skip("=") && !(key.starts_with("pad") && !cursor.done())) {
        cursor.fail("'='");
    }
    if (key == "offset") {
        parts.transfer.offset = scope.integer(cursor);
    } else if (key == "len") {
        parts.length = scope.integer(cursor);
    } else if (key == "sizes") {
        parts.sizes = integers(cursor.group("["), scope);
    } else if (key == "strides") {
        parts.strides = integers(cursor.group("["), scope);
    } else if (key == "pad" || key == "pads" || key == "padding") {
        read_layout(cursor.group("["), scope, parts.transfer);
    } else if (key == "pad_value") {
        scope.integer(cursor);  // what is put there takes no other time
    } else {
        throw ReadError(where, fmt::format("'{}' of a dma_bd is not modelled; known are offset, "
                                           "len, sizes, strides, pad, pad_value",
                                           key));
    }
}

struct Field {
    std::string key;
    std::int64_t number;
    Location where;
};

// The fields of an attribute #aie.name<key = number, ...>.
std::vector<Field> read_fields(const std::vector<Item>& items, Location where) {
    Cursor cursor(items, where);
    while (!cursor.done() && !cursor.peek()->opens("<")) {
        cursor.take();
    }
    Cursor inside(cursor.group("<"));
    std::vector<Field> fields;
    while (!inside.done()) {
        const Location at = inside.where();
        const std::string key = inside.word();
        inside.expect("=");
        fields.push_back({key, inside.integer(), at});
        inside.skip(",");
    }
    return fields;
}

// #aie.bd_iteration<size = 4, stride = 1024, current = 2>; the stride still in elements.
program::Iteration read_iteration(const std::vector<Item>& items, Location where) {
    program::Iteration iteration;
    for (const auto& [key, number, at] : read_fields(items, where)) {
        if ((key != "size" && key != "stride" && key != "current") || number < 0) {
            throw ReadError(at, fmt::format("an iteration has size, stride and current, not {} = "
                                            "{}",
                                            key, number));
        }
        (key == "size"     ? iteration.size
         : key == "stride" ? iteration.stride
                           : iteration.current) = number;
    }
    if (iteration.size < 1 || iteration.current >= iteration.size) {
        throw ReadError(where, "an iteration needs size >= 1 and current < size");
    }
    return iteration;
}

void read_attributes(const Operation& operation, const Scope& scope, Parts& parts,
                     StatedDescriptor& stated) {
    static constexpr std::array kIgnored{"next_bd_id", "use_next_bd", "loc"};
    for (const Item& group : operation.items) {
        if (!group.opens("{")) {
            continue;
        }
        for (std::size_t i = 0; i < group.items.size(); ++i) {
            if (i > 0 && !group.items[i - 1].is(",")) {
                continue;
            }
            const std::string& key = group.items[i].token.text;
            const Location where = group.items[i].token.where;
            const std::vector<Item> value = *operation.attribute(key);
            Cursor cursor(value, where);
            if (key == "bd_id") {
                stated.descriptor.id = cursor.integer();
                stated.has_id = true;
            } else if (key == "len") {
                parts.length = cursor.integer();
            } else if (key == "offset") {
                parts.transfer.offset = cursor.integer();
            } else if (key == "packet") {
                stated.descriptor.packet = read_packet(value, where);
            } else if (key == "out_of_order_id") {
                stated.named_descriptor = cursor.integer();
            } else if (key == "dimensions" || key == "pad_dimensions") {
                read_layout_attribute(value, where, scope, parts.transfer);
            } else if (key == "iteration") {
                stated.descriptor.iteration = read_iteration(value, where);
            } else if (key == "burst_length") {
                stated.descriptor.burst_bytes = cursor.integer();
            } else if (key == "offset_parameter" || key == "offset_state_table_idx") {
                stated.offset_of_host = true;
            } else if (key == "pad_value") {
                cursor.integer();  // what is put there takes no other time
            } else if (std::find(kIgnored.begin(), kIgnored.end(), key) == kIgnored.end()) {
                throw ReadError(where,
                                fmt::format("attribute '{}' of a dma_bd is not modelled", key));
            }
        }
    }
}

// What a shim or core descriptor has no dimension for becomes its iteration.
void split_outer(const Lowering& lowering, program::TileKind kind, const MemrefType& type,
                 Location where, Transfer& transfer, StatedDescriptor& stated) {
    const auto most = static_cast<std::size_t>(lowering.config.dma_of(kind).dimensions);
    if (transfer.dimensions.size() != most + 1 || kind == program::TileKind::Memory) {
        return;
    }
    const program::Dimension outer = transfer.dimensions.front();
    transfer.dimensions.erase(transfer.dimensions.begin());
    stated.repeat = std::max<std::int64_t>(1, outer.size);
    if (outer.size > 1 && outer.stride != 0) {
        stated.descriptor.iteration =
            program::Iteration{outer.size, words_of(outer.stride, type, where)};
    }
    if (outer.size > 1 && transfer.length % outer.size == 0) {
        std::int64_t inner = 1;
        for (const program::Dimension& d : transfer.dimensions) {
            inner *= std::clamp<std::int64_t>(d.size, 1, transfer.length);
            inner = std::min(inner, transfer.length);
        }
        // The stated length counts all runs, the descriptor's one.
        transfer.length = inner == transfer.length / outer.size ? inner : transfer.length;
    }
}

}  // namespace

void read_dimensions(const Item& list, const Scope& scope, Transfer& transfer) {
    read_layout(list, scope, transfer);
}

void read_padding(const Operation& operation, const Scope& scope, Transfer& transfer) {
    if (const auto padding = operation.attribute("padDimensions")) {
        read_layout_attribute(*padding, operation.where, scope, transfer);
    }
}

program::Packet read_packet(const std::vector<Item>& items, Location where) {
    program::Packet packet;
    for (const auto& [key, number, at] : read_fields(items, where)) {
        const bool id = key == "pkt_id";
        if (key == "out_of_order_id" && number >= 0 && number < 64) {
            packet.descriptor = number;
            continue;
        }
        if ((!id && key != "pkt_type") || number < 0 || number > (id ? 31 : 7)) {
            throw ReadError(at, fmt::format("a packet has pkt_id 0..31 and pkt_type 0..7, not {} "
                                            "= {}",
                                            key, number));
        }
        (id ? packet.id : packet.type) = number;
    }
    return packet;
}

StatedDescriptor read_dma_bd(const Lowering& lowering, const Operation& operation,
                             const Scope& scope, program::TileCoordinate tile) {
    StatedDescriptor stated;
    Parts parts;
    const program::TileKind kind = lowering.config.kind_of(tile);
    Cursor cursor(operation);
    Cursor inside(cursor.group("("));
    const bool shim = kind == program::TileKind::Shim;
    const std::string name = inside.peek() != nullptr ? inside.peek()->token.text : "";
    stated.descriptor.buffer =
        scope.index_of(inside, shim ? Value::Kind::External : Value::Kind::Buffer);
    inside.expect(":");
    const MemrefType type = shim ? read_argument_memref(inside) : read_memref(inside);
    parts.transfer.type = type;
    int position = 0;  // of offset and length, where they stand without names
    while (!inside.done()) {
        if (inside.skip(",")) {
            continue;
        }
        if (inside.peek()->opens("[")) {
            read_layout(inside.take(), scope, parts.transfer);
        } else if (inside.peek()->is(TokenKind::Word)) {
            read_word_part(inside, scope, parts);
        } else if (position++ == 0) {
            parts.transfer.offset = scope.integer(inside);
        } else {
            parts.length = scope.integer(inside);
        }
    }
    if (cursor.skip_word("bd_id_val")) {  // since 2026: an id taken from a pool
        stated.descriptor.id = scope.integer(cursor);
        stated.has_id = true;
    }
    read_attributes(operation, scope, parts, stated);
    if (parts.sizes.size() != parts.strides.size()) {
        throw ReadError(operation.where, fmt::format("{} sizes but {} strides", parts.sizes.size(),
                                                     parts.strides.size()));
    }
    for (std::size_t i = 0; i < parts.sizes.size(); ++i) {
        parts.transfer.dimensions.push_back({parts.sizes[i], parts.strides[i]});
    }
    if (!parts.length && !type.sized) {
        throw ReadError(operation.where, "a transfer of a buffer without a size needs a length");
    }
    parts.transfer.length = parts.length.value_or(type.elements - parts.transfer.offset);
    parts.transfer.offset += elements_before(*scope.find(name), type.element_bits, operation.where);
    split_outer(lowering, kind, type, operation.where, parts.transfer, stated);
    set_transfer(stated.descriptor, parts.transfer, operation.where);
    if (operation.attribute("iteration")) {
        auto& stride = stated.descriptor.iteration->stride;
        stride = words_of(stride, type, operation.where);
    }
    return stated;
}

std::int64_t DescriptorIds::next(const program::ChannelId& channel, Location where) {
    if (given_ && given_->first == channel.tile) {
        const std::int64_t id = given_->second;
        given_.reset();
        taken_[channel.tile].insert(id);
        return id;
    }
    const DmaConfig& dma = lowering_.config.dma_of(lowering_.config.kind_of(channel.tile));
    const bool upper = dma.parity_bound_descriptors && channel.index % 2 == 1;
    const bool lower = dma.parity_bound_descriptors && channel.index % 2 == 0;
    const std::int64_t first = upper ? dma.descriptors / 2 : 0;
    const std::int64_t end = lower ? dma.descriptors / 2 : dma.descriptors;
    for (std::int64_t id = first; id < end; ++id) {
        if (taken_[channel.tile].insert(id).second) {
            return id;
        }
    }
    throw ReadError(where, fmt::format("tile {},{} has no free descriptor for this channel",
                                       channel.tile.column, channel.tile.row));
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
                std::map<const Block*, std::int64_t>& ids_by_block)
        : lowering_(lowering),
          region_(region),
          channel_(channel),
          scope_(scope),
          ids_(ids),
          ids_by_block_(ids_by_block) {}

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
                block = nullptr;  // a block that only ends
            }
            if (block != nullptr) {
                link(*block);
            }
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

    void read(const Block& block, const Operation& bd) {
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
        chain_.offset_of_host |= stated.offset_of_host;
        ids_by_block_[&block] = descriptor.id;
        next_ = nullptr;
        for (const Operation& operation : block.operations) {
            step(operation, bd, descriptor);
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
        } else if (operation.name != "aie.end" && operation.name != "arith.constant" &&
                   &operation != &bd) {
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
        const auto stated = integer_attribute(*bd, "bd_id");
        if (stated) {
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
    if (chain.offset_of_host) {
        lowering.note("offsets of transfers that the host's scratchpad adds are taken as 0");
    }
}

Chain read_chain(const Lowering& lowering, const Item& region, const Block& first,
                 const program::ChannelId& channel, const Scope& scope, DescriptorIds& ids,
                 std::map<const Block*, std::int64_t>& ids_by_block) {
    return ChainReader(lowering, region, channel, scope, ids, ids_by_block).run(first);
}

}  // namespace tilesim::workloads::npu::mlir
