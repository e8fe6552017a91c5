// Reads buffer descriptors, tasks and lock actions of a program file.
#pragma once

#include "arch/base/config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::program {

class DescriptorReader {
  public:
    // `program`: whose locks and buffers entries name.
    explicit DescriptorReader(const Program& program) : program_(program) {}

    LockAction action(base::config::Node node) const;
    BufferDescriptor descriptor(base::config::Node node, bool shim) const;
    static Task task(base::config::Node& node);
    TileDma dma(base::config::Node& entry) const;

  private:
    const Program& program_;
};

}  // namespace tilesim::arch::npu::program
