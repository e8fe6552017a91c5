// Designs of earlier compilers in today's words.
//
// Models:  the dialects as Xilinx/mlir-aie printed them from 2020 on: AIE.useLock, AIEX.ipu.sync,
//          AIE.dmaBd(<%b : memref<8xi32>, 0, 8>, 0), object FIFOs that are values, and MLIR's own
//          operations of before 2022 without a dialect's name (func, constant, load).
// Source:  the operation definitions in the history of Xilinx/mlir-aie (AIE.td, AIEOps.td,
//          AIEX.td).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "workloads/npu/mlir/syntax/lexer.hpp"
#include "workloads/npu/mlir/syntax/syntax.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

// Names of operations and types as they are spelt today; other tokens stay.
void write_names_as_today(std::vector<Token>& tokens);

// Operations whose form has changed besides their name, in the order of the text.
class EarlierForms {
  public:
    // Throws ReadError where an earlier form is incomplete.
    void write_as_today(Operation& operation);

  private:
    void object_fifo(Operation& operation);
    void fifo_use(Operation& operation);
    void external_buffers(Operation& operation);
    void link(Operation& operation);
    void registered_process(Operation& operation) const;
    void packet_object_fifo(Operation& operation);
    Item symbol_of_value(const Item& value) const;

    // %d = dma_start("MM2S0") .. terminator(^start, ^end) .. ^start: cond_br %d, ^bd, ^end: today
    // the last is the start.
    void start_by_branch(Operation& operation);
    static void without_terminators(Operation& region);

    std::map<std::string, std::string> fifo_symbols_;  // by the value's name
    std::map<std::string, Item> channels_;             // of starts, likewise
};

}  // namespace tilesim::workloads::npu::mlir::syntax
