// The name of a mapping in a search: what tells it from others.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace tilesim::workloads::npu {

class MappingName {
  public:
    explicit MappingName(std::string begins) : name_(std::move(begins)) {}

    // A key whose value is not the usual one.
    void other(std::string_view what, std::int64_t value, std::int64_t usually) {
        name_ += value == usually ? "" : fmt::format(", {} {}", what, value);
    }
    void add_if(bool so, std::string_view what) { name_ += so ? fmt::format(", {}", what) : ""; }
    std::string take() { return std::move(name_); }

  private:
    std::string name_;
};

}  // namespace tilesim::workloads::npu
