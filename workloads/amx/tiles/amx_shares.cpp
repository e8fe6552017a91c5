#include "workloads/amx/tiles/amx_shares.hpp"

#include <algorithm>
#include <utility>

#include "arch/base/units.hpp"
#include "workloads/amx/tiles/amx_layout.hpp"

namespace tilesim::workloads::amx::tiles {

using arch::amx::program::Address;
using arch::amx::program::Instruction;
using arch::amx::program::kMaxRows;
using arch::amx::program::kRowBytes;
using arch::amx::program::Opcode;
using arch::amx::program::Program;
using arch::base::ceil_div;

namespace {

// Blocks [first, last) of `blocks` that thread `t` of `threads` computes.
std::pair<std::int64_t, std::int64_t> share(std::int64_t blocks, std::int64_t t,
                                            std::int64_t threads) {
    return {blocks * t / threads, blocks * (t + 1) / threads};
}

void take_rows_or_columns(TileProblem& p, const AmxMapping& map, bool by_m, std::int64_t t,
                          std::int64_t threads) {
    if (by_m && p.row_groups > 1) {  // a convolution's output rows
        const auto [first, last] = share(p.row_groups, t, threads);
        p.a += first * p.a_group;
        p.c += first * p.c_group;
        p.row_groups = last - first;
        return;
    }
    std::int64_t& size = by_m ? p.m : p.n;
    const std::int64_t width = (by_m ? map.m_acc : map.n_acc) * kMaxRows;
    const auto [first, last] = share(ceil_div(size, width), t, threads);
    const std::int64_t start = std::min(first * width, size);
    size = std::min(last * width, size) - start;
    const std::int64_t tiles = start / kMaxRows;
    if (by_m) {
        p.a += tiles * p.a_m;
        p.c += tiles * p.c_m;
    } else {
        p.b += tiles * p.b_n;
        for (TileProblem::Next& next : p.next) {
            next.base += tiles * next.n;
        }
        p.c += tiles * p.c_n;
        p.post.bias += start * kResultBytes;
    }
}

}  // namespace

void take_share(TileProblem& p, const GemmProblem& gemm, const AmxMapping& map, std::int64_t t,
                const LoweredAmx& l) {
    if (map.threads == 1) {
        return;
    }
    if (map.partition == AmxMapping::Partition::K) {
        const auto [first, last] = share(p.k_tiles, t, map.threads);
        p.a += first * p.a_k;
        p.b += first * p.b_k;
        for (TileProblem::Next& next : p.next) {
            next.base += first * next.k;
        }
        p.c += t * l.c_copy;
        p.k_tiles = last - first;
        return;
    }
    if (map.partition == AmxMapping::Partition::MN) {
        const std::int64_t across = shares_of_n(gemm, map);
        const std::int64_t down = map.threads / across;
        if (t >= down * across) {  // the grid leaves it without work
            p.n = 0;
            return;
        }
        take_rows_or_columns(p, map, true, t / across, down);
        take_rows_or_columns(p, map, false, t % across, across);
        return;
    }
    take_rows_or_columns(p, map, map.partition == AmxMapping::Partition::M, t, map.threads);
}

void add_copies(Program& program, const GemmProblem& gemm, const AmxMapping& map,
                const LoweredAmx& l, std::int64_t t) {
    const Opcode add = gemm.a == DataType::Int8 ? Opcode::Vpaddd : Opcode::Vaddps;
    Instruction barrier;
    barrier.opcode = Opcode::Barrier;
    program.emit(barrier);
    const auto [first, last] = share(l.m * l.c_row / kRowBytes, t, map.threads);
    const int i = program.open_loop("line", last - first);
    const std::int64_t own = l.c + first * kRowBytes;
    const auto line = [&](std::int64_t copy) {
        return Address{}.plus(own + copy * l.c_copy).per(i, kRowBytes);
    };
    const auto emit = [&](Opcode opcode, std::int8_t reg, const Address& address) {
        Instruction instruction;
        instruction.opcode = opcode;
        instruction.destination = reg;
        instruction.source_a = 0;
        instruction.source_b = 1;
        instruction.address = address;
        program.emit(instruction);
    };
    emit(Opcode::Vmovups, 0, line(0));
    for (std::int64_t copy = 1; copy < map.threads; ++copy) {
        emit(Opcode::Vmovups, 1, line(copy));
        emit(add, 0, {});
    }
    emit(Opcode::VmovupsStore, 0, line(0));
    program.close_loop();
}

}  // namespace tilesim::workloads::amx::tiles
