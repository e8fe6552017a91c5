// A place in a design file, and the error that names it.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace tilesim::workloads::npu::mlir::syntax {

struct Location {
    std::size_t line = 1;  // both counted from 1
    std::size_t column = 1;
    bool operator==(const Location&) const = default;
};

// The design cannot be read at `where`. Caught by the reader, which puts the file's name before it.
class ReadError : public std::runtime_error {
  public:
    ReadError(Location where, const std::string& message)
        : std::runtime_error(message), where_(where) {}
    Location where() const { return where_; }

  private:
    Location where_;
};

}  // namespace tilesim::workloads::npu::mlir::syntax
