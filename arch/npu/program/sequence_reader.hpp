// Reads what the command processor executes, of a program file.
#pragma once

#include "arch/base/config.hpp"
#include "arch/npu/program/descriptor_reader.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::program {

class SequenceReader {
  public:
    // Adds to the program's sequence; its locks and buffers are what entries name.
    explicit SequenceReader(Program& program) : program_(program), descriptors_(program) {}

    void read(base::config::Node& entry);

  private:
    void write_descriptor(base::config::Node& entry);
    void wait_idle(base::config::Node& entry);
    void write_parameter(base::config::Node& entry);
    void set_lock(base::config::Node& entry);
    void copy(base::config::Node& entry);

    Program& program_;
    DescriptorReader descriptors_;
};

}  // namespace tilesim::arch::npu::program
