// A run-time sequence as the command processor reads it (insts.bin): register writes, waits,
// address patches. Version 0.1 and the shorter 1.0.
//
// Source: mlir-aie, include/aie/Runtime/TxnEncoding.h and (1.0)
// lib/Conversion/AIEToConfiguration/AIEToConfiguration.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "workloads/npu/binary/words.hpp"

namespace tilesim::workloads::npu::binary {

struct Write {
    std::uint64_t address = 0;
    std::vector<std::uint32_t> words{};  // from there on
};
struct MaskedWrite {
    std::uint64_t address = 0;
    std::uint32_t value = 0, mask = 0;
};
struct MaskedPoll {  // waits until the masked register has this value
    std::uint64_t address = 0;
    std::uint32_t value = 0, mask = 0;
};
struct Sync {
    std::int64_t column = 0, row = 0, columns = 1, rows = 1;
    bool to_stream = false;  // waits for MM2S rather than S2MM
    std::int64_t channel = 0;
};
struct Patch {
    std::uint64_t address = 0;
    std::int64_t argument = 0;
    std::int64_t offset = 0;  // bytes
};
struct LoadPdi {
    std::int64_t id = 0;
};
struct Read {  // words the host gets back
    std::vector<std::uint64_t> addresses{};
};
using Instruction = std::variant<Write, MaskedWrite, MaskedPoll, Sync, Patch, LoadPdi, Read>;

struct Transaction {
    std::int64_t generation = 0;  // 3: npu1, 4: npu2
    std::int64_t columns = 0;
    std::vector<Instruction> instructions;
};

// Whether the words begin as a sequence does.
bool is_transaction(const Words& words);
// Throws ConfigError: lengths that do not agree, operations that are not modelled, by name.
Transaction read_transaction(const Words& words);

}  // namespace tilesim::workloads::npu::binary
