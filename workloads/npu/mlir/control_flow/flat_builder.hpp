// The blocks a core's body becomes: where operations go, and names that stay apart where regions
// become one.
//
// Errors:  ReadError where a jump names no block or hands over too few values.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/npu/mlir/control_flow/control_flow.hpp"
#include "workloads/npu/mlir/syntax/cursor.hpp"

namespace tilesim::workloads::npu::mlir::control_flow {

using syntax::Cursor;

constexpr std::string_view kUnknown = "?";  // a value nobody defines

class FlatBuilder {
  protected:
    using Names = std::vector<std::string>;

    FlatBlock& current() { return blocks_[at_]; }
    std::size_t add_block(std::string label, Location where);
    std::string fresh(const std::string& name) { return fmt::format("{}${}", name, ++number_); }
    // A name that this region defines; inner regions may repeat those of others.
    std::string defined(const std::string& name);
    std::string used(const std::string& name) const;
    void rename(std::vector<Item>& items) const;
    void copy(const Operation& operation);
    // ^block, ^block(%a, %b : index, index)
    Jump jump(Cursor& cursor);
    static void check_operands(const Jump& jump, std::size_t arguments, Location where);
    // The values of a list, up to its types.
    Names values(const Item& group) const;
    Names operands(const Operation& operation) const;
    void terminator(const Operation& operation);
    // The results of a structured operation are these values from now on.
    void name_results(const Operation& operation, const Names& values);
    std::string constant(const std::string& number, Location where);
    std::string operate(const char* name, Location where, std::vector<Item> items);

    std::vector<FlatBlock> blocks_;
    std::size_t at_ = 0;
    std::map<std::string, std::string> renamed_;
    std::map<std::string, std::size_t> labels_;  // of the region being read
    int depth_ = 0;

  private:
    int number_ = 0;
};

}  // namespace tilesim::workloads::npu::mlir::control_flow
