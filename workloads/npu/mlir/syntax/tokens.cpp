#include "workloads/npu/mlir/syntax/tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "workloads/npu/mlir/syntax/attributes.hpp"
#include "workloads/npu/mlir/syntax/cursor.hpp"
#include "workloads/npu/mlir/syntax/memref_type.hpp"
#include "workloads/npu/mlir/syntax/unknown_name.hpp"
#include "workloads/npu/mlir/syntax/written_out.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

namespace {

constexpr std::string_view kToken = "aiex.token";
constexpr std::string_view kUse = "aiex.useToken";
constexpr std::string_view kCopy = "aiex.memcpy";
constexpr std::string_view kCore = "aie.core";

struct Place {
    std::int64_t column = 0, row = 0;
    bool operator==(const Place&) const = default;
};

// One acquire or release of a token.
struct Use {
    Location where;
    std::string token;
    bool acquires = false;
    std::int64_t value = 0;
    std::string tile;  // whose core or DMA it is, the value's name
    bool core = false;
    std::string locks;  // what stands in its place
};

// What a release hands to an acquire.
struct Chain {
    std::size_t release = 0, acquire = 0;
};

// The tile (%a) of a core or DMA region.
std::string tile_of(const Operation& operation) {
    Cursor cursor(operation);
    return Cursor(cursor.group("(")).value();
}

bool is_dma(const Operation& operation) {
    return operation.name == "aie.mem" || operation.name == "aie.shim_dma" ||
           operation.name == "aie.memtile_dma";
}

// Visits the lists of operations in an operation's regions, the inner ones too.
template <class Visitor>
void for_lists_in(std::vector<Item>& items, const Visitor& visit) {
    for (Item& item : items) {
        for (Block& block : item.blocks) {
            visit(block.operations);
            for (Operation& operation : block.operations) {
                for_lists_in(operation.items, visit);
            }
        }
        for_lists_in(item.items, visit);
    }
}

class Tokens {
  public:
    Tokens(Block& device, bool binary) : device_(device), binary_(binary) {}

    void run() {
        make_cores();
        make_copies();
        find_tokens();
        if (tokens_.empty()) {
            return;
        }
        find_uses();
        for (std::size_t r = 0; r < uses_.size(); ++r) {
            for (std::size_t a = 0; a < uses_.size() && !uses_[r].acquires; ++a) {
                if (uses_[a].acquires && uses_[a].token == uses_[r].token &&
                    uses_[a].value == uses_[r].value) {
                    hand_over({r, a});
                }
            }
        }
        replace_uses();
        add_to_device(device_, parse_at(locks_, uses_.empty() ? Location{} : uses_.front().where));
    }

  private:
    Place place_of(const std::string& tile, Location where) const {
        for (const Operation& each : device_.operations) {
            if (each.name == "aie.tile" && each.results == std::vector{tile}) {
                Cursor cursor(each);
                Cursor inside(cursor.group("("));
                const std::int64_t column = inside.integer();
                inside.expect(",");
                return {column, inside.integer()};
            }
        }
        throw ReadError(where, fmt::format("%{} is no tile of the device", tile));
    }

    std::string tile_at(Place place, Location where) {
        for (const Operation& each : device_.operations) {
            if (each.name == "aie.tile" && !each.results.empty() &&
                place_of(each.results.front(), where) == place) {
                return each.results.front();
            }
        }
        const std::string name = fmt::format("tile_{}_{}", place.column, place.row);
        add_to_device(device_, parse_at(fmt::format("%{} = aie.tile({}, {})\n", name, place.column,
                                                    place.row),
                                        where));
        return name;
    }

    // func.call @f(%a, %b) {aie.x = 1, aie.y = 2}: the body of @f is that tile's core.
    void make_cores() {
        std::vector<Operation> calls;
        std::erase_if(device_.operations, [&calls](const Operation& each) {
            const bool placed = each.name == "func.call" && integer_attribute(each, "aie.x") &&
                                integer_attribute(each, "aie.y");
            if (placed) {
                calls.push_back(each);
            }
            return placed;
        });
        std::vector<std::string> called;
        for (const Operation& call : calls) {
            called.push_back(make_core(call));
        }
        std::erase_if(device_.operations, [&called](const Operation& each) {
            return each.name == "func.func" &&
                   std::find(called.begin(), called.end(), symbol_of(each)) != called.end();
        });
    }

    std::string make_core(const Operation& call) {
        const std::string tile = tile_at(
            {*integer_attribute(call, "aie.x"), *integer_attribute(call, "aie.y")}, call.where);
        Cursor cursor(call);
        const std::string name = cursor.symbol();
        const auto function = std::find_if(
            device_.operations.begin(), device_.operations.end(), [&name](const Operation& each) {
                return each.name == "func.func" && symbol_of(each) == name;
            });
        if (function == device_.operations.end() || function->regions().empty() ||
            function->regions().front()->blocks.size() != 1) {
            throw ReadError(call.where,
                            fmt::format("@{} is no function whose body could be a core's", name));
        }
        std::map<std::string, std::string> values;  // by the function's own names
        Cursor given(cursor.group("("));
        Cursor head(*function);
        head.symbol();
        for (Cursor formal(head.group("(")); !formal.done();) {
            const std::string argument = formal.value();
            values[argument] = given.value();
            place_buffer(values[argument], tile);
            given.skip(",");
            while (!formal.done() && !formal.skip(",")) {
                formal.take();
            }
        }
        std::vector<Operation> body = function->regions().front()->blocks.front().operations;
        std::erase_if(body, [](const Operation& each) { return each.name == "func.return"; });
        for (Operation& operation : body) {
            rename(operation.items, values);
        }
        std::vector<Operation>& core = core_of(tile, call.where);
        core.insert(core.end() - 1, std::make_move_iterator(body.begin()),
                    std::make_move_iterator(body.end()));
        return name;
    }

    static void rename(std::vector<Item>& items, const std::map<std::string, std::string>& names) {
        for (Item& item : items) {
            const auto name = item.is(TokenKind::Value) ? names.find(item.token.text) : names.end();
            if (name != names.end()) {
                item.token.text = name->second;
            }
            rename(item.items, names);
            for (Block& block : item.blocks) {
                for (Operation& operation : block.operations) {
                    rename(operation.items, names);
                }
            }
        }
    }

    // %b = memref.alloc() : memref<8xi32> of the device is a buffer of the tile that is given it.
    void place_buffer(const std::string& value, const std::string& tile) {
        for (Operation& each : device_.operations) {
            if (each.name == "memref.alloc" && each.results == std::vector{value}) {
                Cursor cursor(each);
                cursor.group("(");
                cursor.expect(":");
                const MemrefType type = read_memref(cursor);
                const std::vector<Operation> buffer =
                    parse_at(fmt::format("%{} = aie.buffer(%{}) : {}\n", value, tile, text(type)),
                             each.where);
                each = buffer.front();
            }
        }
    }

    static std::string text(const MemrefType& type) {
        return fmt::format("memref<{}xi{}>", type.elements, type.element_bits);
    }

    std::vector<Operation>& core_of(const std::string& tile, Location where) {
        const auto is_core = [&tile](const Operation& each) {
            return each.name == kCore && tile_of(each) == tile;
        };
        if (std::none_of(device_.operations.begin(), device_.operations.end(), is_core)) {
            add_to_device(device_,
                          parse_at(fmt::format("aie.core(%{}) {{\naie.end\n}}\n", tile), where));
        }
        Operation& core =
            *std::find_if(device_.operations.begin(), device_.operations.end(), is_core);
        for (Item& item : core.items) {
            if (item.kind == Item::Kind::Region && !item.blocks.empty() &&
                !item.blocks.back().operations.empty()) {
                return item.blocks.back().operations;
            }
        }
        throw ReadError(core.where, "the tile's core has no body");
    }

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

    void make_copies() {
        std::vector<Operation> copies;
        std::erase_if(device_.operations, [&copies](const Operation& each) {
            if (each.name == kCopy) {
                copies.push_back(each);
            }
            return each.name == kCopy;
        });
        for (const Operation& copy : copies) {
            add_to_device(device_, parse_at(make_copy(copy), copy.where));
        }
        for (const CopyEnds& ends : ends_) {
            add_dma(ends, copies.front().where);
        }
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
            const std::string type = text(read_memref(types));
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
        const bool shim = place_of(ends.tile, where).row == 0;
        add_to_device(device_, parse_at(fmt::format("aie.{}(%{}) {{\n{}{}^end:\naie.end\n}}\n",
                                                    shim ? "shim_dma" : "mem", ends.tile, starts,
                                                    ends.descriptors),
                                        where));
    }

    void find_tokens() {
        std::erase_if(device_.operations, [this](const Operation& each) {
            if (each.name == kToken) {
                tokens_.push_back(symbol_of(each));
            }
            return each.name == kToken;
        });
    }

    template <class Visitor>
    void for_users(const Visitor& visit) {
        for (Operation& user : device_.operations) {
            if (user.name == kCore || is_dma(user)) {
                for_lists_in(user.items,
                             [&](std::vector<Operation>& operations) { visit(user, operations); });
            }
        }
    }

    void find_uses() {
        std::map<std::string, std::vector<std::size_t>> open;  // acquires without their release
        for_users([&](const Operation& user, const std::vector<Operation>& operations) {
            for (const Operation& operation : operations) {
                if (operation.name == kUse) {
                    add_use(user, operation, open);
                }
            }
        });
    }

    void add_use(const Operation& user, const Operation& operation,
                 std::map<std::string, std::vector<std::size_t>>& open) {
        Use use;
        use.where = operation.where;
        Cursor cursor(operation);
        use.token = cursor.symbol();
        if (std::find(tokens_.begin(), tokens_.end(), use.token) == tokens_.end()) {
            throw unknown_symbol(operation.where, "aiex.token", use.token, tokens_);
        }
        Cursor inside(cursor.group("("));
        const Location where = inside.where();
        const std::string action = inside.word();
        if (action != "Acquire" && action != "Release") {
            throw ReadError(where, fmt::format("expected Acquire or Release, found '{}'", action));
        }
        use.acquires = action == "Acquire";
        inside.expect(",");
        use.value = inside.integer();
        use.tile = tile_of(user);
        use.core = user.name == kCore;
        std::vector<std::size_t>& acquires = open[use.token];
        if (use.acquires) {
            acquires.push_back(uses_.size());
        } else if (!acquires.empty()) {
            partner_[acquires.back()] = uses_.size();
            partner_[uses_.size()] = acquires.back();
            acquires.pop_back();
        }
        uses_.push_back(std::move(use));
    }

    // The tile whose locks both may use; empty where there is none: another copy's other end.
    std::string common_tile(const Use& a, const Use& b) const {
        if (a.tile == b.tile) {
            return a.tile;
        }
        if (!a.core || !b.core) {
            return "";
        }
        const Place from = place_of(a.tile, a.where), to = place_of(b.tile, b.where);
        // Of cores side by side one reaches the other's memory: in AIE1's even rows the western
        // one, else the eastern.
        const bool eastern = binary_ && from.row % 2 == 0;
        return from.row != to.row || (to.column > from.column) == eastern ? b.tile : a.tile;
    }

    void hand_over(const Chain& chain) {
        Use& release = uses_[chain.release];
        Use& acquire = uses_[chain.acquire];
        const std::string tile = common_tile(release, acquire);
        if (tile.empty()) {
            return;
        }
        const std::string name = fmt::format("{}_{}_{}", release.token, release.value, count_++);
        const auto use = [](Use& in, const std::string& lock, const char* action, int value) {
            in.locks += fmt::format("aie.use_lock(%{}, {}, {})\n", lock, action, value);
        };
        const auto before = partner_.find(chain.release);
        const auto behind = partner_.find(chain.acquire);
        locks_ += fmt::format("%{} = aie.lock(%{}) {{init = 0 : i32}}\n", name, tile);
        if (binary_) {  // one lock: 1 is handed over, 0 is free
            if (before != partner_.end()) {
                use(uses_[before->second], name, "Acquire", 0);
            }
            use(release, name, "Release", 1);
            use(acquire, name, "Acquire", 1);
            if (behind != partner_.end()) {
                use(uses_[behind->second], name, "Release", 0);
            }
            return;
        }
        if (before != partner_.end() && behind != partner_.end()) {
            const std::string free = name + "_free";
            locks_ += fmt::format("%{} = aie.lock(%{}) {{init = 1 : i32}}\n", free, tile);
            use(uses_[before->second], free, "AcquireGreaterEqual", 1);
            use(uses_[behind->second], free, "Release", 1);
        }
        use(release, name, "Release", 1);
        use(acquire, name, "AcquireGreaterEqual", 1);
    }

    void replace_uses() {
        std::size_t next = 0;
        for_users([&](const Operation&, std::vector<Operation>& operations) {
            std::vector<Operation> today;
            for (Operation& operation : operations) {
                if (operation.name != kUse) {
                    today.push_back(std::move(operation));
                    continue;
                }
                const Use& use = uses_[next++];
                std::vector<Operation> locks = parse_at(use.locks, use.where);
                today.insert(today.end(), std::make_move_iterator(locks.begin()),
                             std::make_move_iterator(locks.end()));
            }
            operations = std::move(today);
        });
    }

    Block& device_;
    bool binary_ = false;  // locks of the first generation
    std::vector<CopyEnds> ends_;
    std::vector<std::string> tokens_;
    std::vector<Use> uses_;  // in the text's order
    std::map<std::size_t, std::size_t> partner_;
    std::string locks_;
    int count_ = 0;
};

bool has_tokens(const Block& block) {
    return std::any_of(block.operations.begin(), block.operations.end(), [](const Operation& each) {
        return each.name == kToken || each.name == kCopy ||
               (each.name == "func.call" && integer_attribute(each, "aie.x"));
    });
}

// Whether a device, or a module without one, is of the first generation.
bool is_first_generation(const Operation& device) {
    if (device.name == "module") {
        return true;
    }
    Cursor cursor(device);
    return Cursor(cursor.group("(")).word() == "xcvc1902";
}

}  // namespace

void write_tokens_as_locks(std::vector<Operation>& operations) {
    for (Operation& operation : operations) {
        if (operation.name != "module" && operation.name != "aie.device") {
            continue;
        }
        for (Item& item : operation.items) {
            for (Block& block : item.blocks) {
                write_tokens_as_locks(block.operations);
                if (has_tokens(block)) {
                    Tokens(block, is_first_generation(operation)).run();
                }
            }
        }
    }
}

}  // namespace tilesim::workloads::npu::mlir::syntax
