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
#include "workloads/npu/mlir/syntax/device_tiles.hpp"
#include "workloads/npu/mlir/syntax/placed_calls.hpp"
#include "workloads/npu/mlir/syntax/tile_copies.hpp"
#include "workloads/npu/mlir/syntax/unknown_name.hpp"
#include "workloads/npu/mlir/syntax/written_out.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

namespace {

constexpr std::string_view kToken = "aiex.token";
constexpr std::string_view kUse = "aiex.useToken";

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
            if (is_core(user) || is_dma(user)) {
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
        use.core = is_core(user);
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
        const TilePlace from = place_of(device_, a.tile, a.where);
        const TilePlace to = place_of(device_, b.tile, b.where);
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
    std::vector<std::string> tokens_;
    std::vector<Use> uses_;  // in the text's order
    std::map<std::size_t, std::size_t> partner_;
    std::string locks_;
    int count_ = 0;
};

bool has_tokens(const Block& block) {
    return std::any_of(block.operations.begin(), block.operations.end(), [](const Operation& each) {
        return each.name == kToken || is_copy(each) || is_placed_call(each);
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
                    write_placed_calls_as_cores(block);
                    write_copies_as_transfers(block);
                    Tokens(block, is_first_generation(operation)).run();
                }
            }
        }
    }
}

}  // namespace tilesim::workloads::npu::mlir::syntax
