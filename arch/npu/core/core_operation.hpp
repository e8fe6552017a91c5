// What a core executes, one operation after the other: the units that do it say when it is done.
#pragma once

namespace tilesim::arch::npu::core {

class OperationClient {
  public:
    // The operation begun last has ended, in the present cycle.
    virtual void on_operation_done() = 0;

  protected:
    ~OperationClient() = default;
};

}  // namespace tilesim::arch::npu::core
