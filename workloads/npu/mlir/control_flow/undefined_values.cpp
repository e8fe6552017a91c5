#include "workloads/npu/mlir/control_flow/undefined_values.hpp"

#include <unordered_map>

#include "workloads/npu/mlir/control_flow/flat_builder.hpp"

namespace tilesim::workloads::npu::mlir::control_flow {

using syntax::Item;
using syntax::TokenKind;

namespace {

class Uses {
  public:
    Uses(const ControlFlow& flow, const std::function<bool(const std::string&)>& outside)
        : flow_(flow), outside_(outside) {
        for (std::size_t block = 0; block < flow.blocks().size(); ++block) {
            for (const std::string& name : flow.blocks()[block].arguments) {
                places_[name] = {block, 0};
            }
            std::size_t number = 0;
            for (const Operation& operation : flow.blocks()[block].operations) {
                ++number;
                for (const std::string& name : operation.results) {
                    places_[name] = {block, number};
                }
            }
        }
    }

    std::optional<UndefinedValue> first_undefined() {
        for (std::size_t block = 0; block < flow_.blocks().size() && !found_; ++block) {
            if (flow_.reachable(block)) {
                look_at(block);
            }
        }
        return found_;
    }

  private:
    struct Place {
        std::size_t block = 0;
        std::size_t number = 0;  // of the operation in its block, from 1; 0: an argument
    };

    void look_at(std::size_t number) {
        const FlatBlock& block = flow_.blocks()[number];
        Place here{number, 0};
        for (const Operation& operation : block.operations) {
            ++here.number;
            if (operation.regions().empty()) {
                look_at(operation.items, here);
            }
        }
        ++here.number;
        if (block.jumps.size() > 1) {
            look_at(block.condition, here, block.where);
        }
        for (const Jump& jump : block.jumps) {
            for (const std::string& name : jump.operands) {
                look_at(name, here, block.where);
            }
        }
    }

    void look_at(const std::vector<Item>& items, Place here) {
        for (const Item& item : items) {
            if (item.is(TokenKind::Value)) {
                look_at(item.token.text, here, item.token.where);
            }
            look_at(item.items, here);
        }
    }

    void look_at(const std::string& used, Place here, Location where) {
        const std::string name = used.substr(0, used.find('#'));  // %r#1 of %r:2
        if (found_ || name == kUnknown) {
            return;
        }
        const auto place = places_.find(name);
        const bool before =
            place != places_.end() &&
            (place->second.block == here.block ? place->second.number < here.number
                                               : flow_.dominates(place->second.block, here.block));
        if (!before && !outside_(name)) {
            found_ = UndefinedValue{name, where};
        }
    }

    const ControlFlow& flow_;
    const std::function<bool(const std::string&)>& outside_;
    std::unordered_map<std::string, Place> places_;
    std::optional<UndefinedValue> found_;
};

}  // namespace

std::optional<UndefinedValue> undefined_value(
    const ControlFlow& flow, const std::function<bool(const std::string&)>& outside) {
    return Uses(flow, outside).first_undefined();
}

}  // namespace tilesim::workloads::npu::mlir::control_flow
