// The text form of a program: what `tilesim lower` prints and what people write by hand.
//
//     buffer a 0x100000 65536              # name, address, bytes
//     config 0 16x64 16x64 16x64 16x64 16x64 16x64 16x64 16x64   # rows x bytes of tmm0..tmm7
//     ldtilecfg 0
//     loop k 16
//       tileloadd tmm4, [a + 64*k], 1024   # memory, row stride
//       tdpbssd tmm0, tmm4, tmm6           # C += A * B
//     end
//     tilestored [c], 256, tmm0
//     vmovups zmm0, [c + 64], 32           # a length other than the usual one may follow
//     table lines 0x120000 31 0 64         # address of the first piece, lengths of all
//     vpexpandb zmm1, [lines[2]]           # piece 2: 64 bytes at 0x12001f
//     shuffle order 0x200000 4096 64       # blocks of 64 bytes in a random order; a third number:
//     vmovups zmm2, [order[k]]             # so many lines further on in each block than before
//     mov r0, [order[k]]                   # waits for the `mov` before it: a chain
//     flush a                              # the caches hold nothing of it when a run starts,
//     touch b l2                           # or hold it from this level on (`dirty`: written)
//     runs 3                               # one after the other, the third counts
//
// One statement a line; `#` starts a comment. Addresses are sums of buffer names, numbers and
// number*loop terms.
#pragma once

#include <string>
#include <string_view>

#include "arch/amx/program/instruction.hpp"

namespace tilesim::arch::amx::program {

// "tmm", "zmm", "r".
const char* prefix_of(RegisterKind registers);
// "l1", ..., "dram".
std::string_view name_of(Preparation::To level);

std::string print(const Program& program);
// Throws base::config::ConfigError: a line for each error, with `file`, line and column.
Program read_program(const std::string& text, const std::string& file);

}  // namespace tilesim::arch::amx::program
