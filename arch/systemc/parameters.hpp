// What a program's command line sets by hierarchical name: "ddr.memory.channels=4" is of the module
// ddr, its key memory.channels that of the device's file.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tilesim::arch::systemc {

class Parameters {
  public:
    // Every argument that holds a '='. An argument that holds none is not for us.
    Parameters(int argc, const char* const* argv);

    // Key and value of all that is set of the module; they are taken.
    std::vector<std::pair<std::string, std::string>> take(const std::string& module);
    // What no module has taken: to be told the user.
    std::vector<std::string> left() const;

  private:
    std::vector<std::pair<std::string, std::string>> settings_;
};

}  // namespace tilesim::arch::systemc
