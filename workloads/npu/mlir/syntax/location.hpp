// A place in a design file, and the error that names it.
#pragma once

#include <stdexcept>
#include <string>

#include "arch/base/file_place.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

using Location = arch::base::FilePlace;

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
