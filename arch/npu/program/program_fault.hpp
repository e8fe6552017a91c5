// The running program did what the hardware does not survive: the user's error, found at run time.
#pragma once

#include <stdexcept>

namespace tilesim::arch::npu::program {

class ProgramFault : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace tilesim::arch::npu::program
