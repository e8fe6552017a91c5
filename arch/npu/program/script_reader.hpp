// Reads a core's rotations and script of a program file.
#pragma once

#include <vector>

#include "arch/base/config.hpp"
#include "arch/npu/program/descriptor_reader.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::program {

class ScriptReader {
  public:
    // `program`: whose locks, buffers and kernels entries name.
    explicit ScriptReader(const Program& program) : program_(program), locks_(program) {}

    CoreProgram core(base::config::Node& entry) const;

  private:
    std::vector<CoreOp> script(base::config::Node& node, const char* key,
                               const CoreProgram& core) const;
    std::vector<CoreOp> loop_body(base::config::Node& entry, const CoreProgram& core) const;
    CallOp call(base::config::Node node, const CoreProgram& core) const;

    const Program& program_;
    DescriptorReader locks_;
};

}  // namespace tilesim::arch::npu::program
