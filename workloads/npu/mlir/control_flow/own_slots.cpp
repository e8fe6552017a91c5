#include "workloads/npu/mlir/control_flow/own_slots.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "workloads/npu/mlir/control_flow/flat_builder.hpp"

namespace tilesim::workloads::npu::mlir::control_flow {

using syntax::Block;
using syntax::TokenKind;

namespace {

bool is_value_at(const Operation& operation, std::size_t place) {
    return operation.items.size() > place && operation.items[place].is(TokenKind::Value);
}

// %slot[], the word without a dimension that an access names.
bool is_slot_at(const Operation& operation, std::size_t place) {
    return is_value_at(operation, place) && operation.items.size() > place + 1 &&
           operation.items[place + 1].opens("[") && operation.items[place + 1].items.empty();
}

bool loads(const Operation& operation) {
    return operation.name == "memref.load" && operation.results.size() == 1 &&
           is_slot_at(operation, 0);
}

// memref.store %value, %slot[]
bool stores(const Operation& operation) {
    return operation.name == "memref.store" && is_value_at(operation, 0) &&
           is_slot_at(operation, 2);
}

class SlotValues {
  public:
    explicit SlotValues(std::vector<FlatBlock>& blocks) : blocks_(blocks) { find_slots(); }

    void run() {
        if (slots_.empty()) {
            return;
        }
        std::vector<Names> at_end;
        for (std::size_t block = 0; block < blocks_.size(); ++block) {
            at_end.push_back(follow(block));
        }
        for (std::size_t block = 0; block < blocks_.size(); ++block) {
            for (Jump& jump : blocks_[block].jumps) {
                jump.operands.insert(jump.operands.end(), at_end[block].begin(),
                                     at_end[block].end());
            }
        }
        for (FlatBlock& block : blocks_) {
            rename(block);
        }
    }

  private:
    using Names = std::vector<std::string>;

    // Only loads and stores of their own name them, and nothing leads back to where the body
    // begins, whose arguments come from outside.
    void find_slots() {
        std::set<std::string> found;
        for (const FlatBlock& block : blocks_) {
            for (const Operation& operation : block.operations) {
                if (operation.name == "memref.alloca" && operation.results.size() == 1) {
                    found.insert(operation.results.front());
                }
            }
        }
        const auto drop = [&found](const std::string& name) { found.erase(name); };
        for (const FlatBlock& block : blocks_) {
            drop(block.condition);
            for (const Operation& operation : block.operations) {
                const std::size_t slot = stores(operation) ? 2 : 0;
                const bool access = stores(operation) || loads(operation);
                for (std::size_t i = 0; i < operation.items.size(); ++i) {
                    if (!access || i != slot) {
                        visit(operation.items[i], drop);
                    }
                }
            }
            for (const Jump& jump : block.jumps) {
                std::for_each(jump.operands.begin(), jump.operands.end(), drop);
                if (jump.to == 0) {
                    found.clear();
                }
            }
        }
        for (const std::string& name : found) {
            slots_.emplace(name, slots_.size());
        }
    }

    template <class Drop>
    static void visit(const Item& item, const Drop& drop) {
        if (item.is(TokenKind::Value)) {
            drop(item.token.text);
        }
        for (const Item& inner : item.items) {
            visit(inner, drop);
        }
        for (const Block& block : item.blocks) {
            for (const Operation& operation : block.operations) {
                for (const Item& inner : operation.items) {
                    visit(inner, drop);
                }
            }
        }
    }

    // Takes accesses out of a block. Returns what each slot holds at its end.
    Names follow(std::size_t number) {
        FlatBlock& block = blocks_[number];
        Names held(slots_.size(), std::string{kUnknown});
        for (const auto& [name, slot] : slots_) {
            if (number > 0) {
                held[slot] = fmt::format("{}$in{}", name, number);
            }
        }
        if (number > 0) {
            block.arguments.insert(block.arguments.end(), held.begin(), held.end());
        }
        std::vector<Operation> others;
        for (Operation& operation : block.operations) {
            if (!access(operation, held)) {
                others.push_back(std::move(operation));
            }
        }
        block.operations = std::move(others);
        return held;
    }

    bool access(const Operation& operation, Names& held) {
        const auto slot_named = [this](const std::string& name) {
            const auto place = slots_.find(name);
            return place == slots_.end() ? std::nullopt : std::optional{place->second};
        };
        if (operation.name == "memref.alloca" && operation.results.size() == 1) {
            const auto slot = slot_named(operation.results.front());
            if (slot) {
                held[*slot] = std::string{kUnknown};
            }
            return slot.has_value();
        }
        if (loads(operation)) {
            const auto slot = slot_named(operation.items[0].token.text);
            if (slot) {
                loaded_[operation.results.front()] = held[*slot];
            }
            return slot.has_value();
        }
        const auto slot =
            stores(operation) ? slot_named(operation.items[2].token.text) : std::nullopt;
        if (slot) {
            held[*slot] = operation.items[0].token.text;
        }
        return slot.has_value();
    }

    // What a load gave goes by the name of what it loaded, which may be a load's in turn; names
    // that lead round in a circle are used before they are defined.
    const std::string& name_of(const std::string& name) const {
        const std::string* now = &name;
        for (std::size_t hops = 0; hops < loaded_.size(); ++hops) {
            const auto place = loaded_.find(*now);
            if (place == loaded_.end()) {
                break;
            }
            now = &place->second;
        }
        return *now;
    }

    void rename(std::vector<Item>& items) const {
        for (Item& item : items) {
            if (item.is(TokenKind::Value)) {
                item.token.text = name_of(item.token.text);
            }
            rename(item.items);
        }
    }

    void rename(FlatBlock& block) const {
        for (Operation& operation : block.operations) {
            rename(operation.items);
        }
        block.condition = name_of(block.condition);
        for (Jump& jump : block.jumps) {
            for (std::string& name : jump.operands) {
                name = name_of(name);
            }
        }
    }

    std::vector<FlatBlock>& blocks_;
    std::map<std::string, std::size_t> slots_;
    std::map<std::string, std::string> loaded_;  // what each load gave
};

}  // namespace

void hand_on_slots(std::vector<FlatBlock>& blocks) {
    SlotValues(blocks).run();
}

}  // namespace tilesim::workloads::npu::mlir::control_flow
