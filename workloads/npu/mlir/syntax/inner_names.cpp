#include "workloads/npu/mlir/syntax/inner_names.hpp"

#include <fmt/format.h>

#include <set>
#include <string>

namespace tilesim::workloads::npu::mlir::syntax {

namespace {

void rename(Item& item, const std::string& from, const std::string& to);

void rename(Operation& operation, const std::string& from, const std::string& to) {
    for (std::string& result : operation.results) {
        result = result == from ? to : result;
    }
    for (Item& item : operation.items) {
        rename(item, from, to);
    }
}

void rename(Item& item, const std::string& from, const std::string& to) {
    if (item.is(TokenKind::Value) && item.token.text == from) {
        item.token.text = to;
    }
    for (Item& inner : item.items) {
        rename(inner, from, to);
    }
    for (Block& block : item.blocks) {
        for (Operation& operation : block.operations) {
            rename(operation, from, to);
        }
    }
}

class Separation {
  public:
    void run(std::vector<Operation>& operations) {
        for (Operation& operation : operations) {
            const bool dma = operation.name == "aie.mem" || operation.name == "aie.memtile_dma" ||
                             operation.name == "aie.shim_dma";
            for (std::size_t i = 0; i < operation.items.size(); ++i) {
                for (Block& block : operation.items[i].blocks) {
                    if (dma) {
                        declarations(operation, block);
                    } else if (operation.name == "module" || operation.name == "aie.device") {
                        run(block.operations);
                    }
                }
            }
        }
    }

  private:
    void declarations(Operation& dma, const Block& block) {
        for (const Operation& each : block.operations) {
            const bool declares = each.name == "aie.lock" || each.name == "aie.buffer";
            if (!declares || each.results.size() != 1 || taken_.insert(each.results[0]).second) {
                continue;
            }
            const std::string name = each.results[0];
            std::string other;
            do {
                other = fmt::format("{}.{}", name, ++number_);
            } while (!taken_.insert(other).second);
            rename(dma, name, other);
        }
    }

    std::set<std::string> taken_;
    int number_ = 1;
};

}  // namespace

void separate_inner_names(std::vector<Operation>& operations) {
    Separation{}.run(operations);
}

}  // namespace tilesim::workloads::npu::mlir::syntax
