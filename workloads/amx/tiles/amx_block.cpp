#include "workloads/amx/tiles/amx_block.hpp"

#include <algorithm>

#include "arch/base/units.hpp"

namespace tilesim::workloads::amx::tiles {

using arch::amx::program::Address;
using arch::amx::program::Instruction;
using arch::amx::program::kMaxRows;
using arch::amx::program::kRowBytes;
using arch::amx::program::Opcode;

BlockWriter::BlockWriter(arch::amx::program::Program& program, LoopWriter& loops,
                         const TileProblem& problem, const AmxMapping& mapping)
    : program_(program),
      loops_(loops),
      problem_(problem),
      map_(mapping),
      registers_(mapping, problem.m, problem.n),
      post_(program, problem.post) {}

void BlockWriter::begin() {
    load_configuration();
    post_.constants();
    if (problem_.constants) {
        problem_.constants(program_);
    }
}

void BlockWriter::configure(std::int64_t rows, std::int64_t columns) {
    if (registers_.use(rows, columns)) {
        load_configuration();
    }
}

void BlockWriter::configure_most() {
    if (registers_.use_most()) {
        load_configuration();
    }
}

void BlockWriter::load_configuration() {
    emit(Opcode::Ldtilecfg, program_.add_config(registers_.shapes()));
}

void BlockWriter::emit(Opcode opcode, std::int64_t immediate) {
    Instruction instruction;
    instruction.opcode = opcode;
    instruction.immediate = immediate;
    program_.emit(instruction);
}

void BlockWriter::tile(Opcode opcode, int reg, Address address, std::int64_t row_stride) {
    if (map_.data_in == AmxMapping::DataIn::Registers) {
        return;
    }
    Instruction instruction;
    instruction.opcode = opcode;
    instruction.destination = static_cast<std::int8_t>(reg);
    instruction.address = std::move(address);
    instruction.row_stride = row_stride;
    program_.emit(instruction);
}

void BlockWriter::prefetch(const Address& address, std::int64_t row_stride, std::int64_t rows,
                           std::int64_t distance, std::int64_t step) {
    for (std::int64_t row = 0; distance > 0 && row < rows; ++row) {
        prefetch(address.plus(row * row_stride + distance * step),
                 map_.prefetch_l1 ? Opcode::Prefetcht0 : Opcode::Prefetcht1);
    }
}

void BlockWriter::prefetch(const Address& address, Opcode opcode) {
    among_.add([this, address, opcode] {
        Instruction instruction;
        instruction.opcode = opcode;
        instruction.address = address;
        program_.emit(instruction);
    });
}

void BlockWriter::add_lines(const Address& n, std::int64_t count, const Address& k,
                            std::int64_t slot) {
    for (std::int64_t i = 0; i < count; ++i) {
        const Address to =
            Address{}.plus(problem_.b + slot * problem_.slot_bytes + i * problem_.b_n);
        for (std::int64_t line = 0; line < kMaxRows; ++line) {
            among_.add([this, across = n.plus(i), k, line, to] {
                problem_.decompress_line(program_, across, k, line, to);
            });
        }
    }
}

void BlockWriter::first_prefetches() {
    const std::int64_t columns = arch::base::ceil_div(problem_.n, kMaxRows);
    for (const TileProblem::Next& next : problem_.next) {
        const std::int64_t first = next.base - map_.n_acc * next.n;
        loops_.loop("first", problem_.k_tiles, [&](const Address& k) {
            for (std::int64_t n = 0; n < std::min(map_.n_acc, columns); ++n) {
                for (std::int64_t line = 0; line < next.lines; ++line) {
                    prefetch(scaled(k, next.k, first + n * next.n + line * kRowBytes),
                             Opcode::Prefetcht2);
                }
            }
            among_.write_rest();
        });
    }
}

void BlockWriter::first_decompression(const Address& n, std::int64_t n_count) {
    for (std::int64_t k = 0; k < problem_.steps_ahead; ++k) {
        add_lines(n, n_count, Address{}.plus(k), k);
    }
    among_.write_rest();
}

// A k step reads a slot of the ring while a later one, or one of the next block's first, goes into
// a slot behind it.
void BlockWriter::ring_steps(const AccumulatorBlock& block, bool interleaves_stores) {
    const std::int64_t turns = block.k_tiles / problem_.slots;
    const auto turn = [&](const Address& first, std::int64_t slots, bool last) {
        for (std::int64_t slot = 0; slot < slots; ++slot) {
            const bool ends = slot + 1 == slots;
            const std::int64_t to = slot + problem_.steps_ahead;
            const std::int64_t round = to % slots;
            Step step;
            step.k = first.plus(slot);
            step.b.base = slot * problem_.slot_bytes;
            if (last && to >= slots) {
                add_lines(block.n.plus(block.n_count), block.next_count, Address{}.plus(round),
                          round);
            } else {
                add_lines(block.n, block.n_count, first.plus(to), round);
            }
            products(block, step, interleaves_stores && ends && last);
        }
    };
    loops_.loop("k", turns - 1, [&](const Address& k) {
        turn(scaled(k, problem_.slots, 0), problem_.slots, false);
    });
    turn(Address{}.plus((turns - 1) * problem_.slots), problem_.last_slots(), true);
}

void BlockWriter::add_prefetches(const AccumulatorBlock& block, const Step& step,
                                 const TileProblem::Next& next) {
    const Address k = sum(block.k, step.k);
    const Address taps = problem_.taps.empty() ? Address{} : step.b;
    // Every block of rows takes its part of each tile of the next columns.
    constexpr std::int64_t kLine = kRowBytes;
    const std::int64_t blocks = std::max<std::int64_t>(
        arch::base::ceil_div(arch::base::ceil_div(problem_.m, kMaxRows), map_.m_acc), 1);
    const std::int64_t lines = arch::base::ceil_div(next.lines, blocks);
    const std::int64_t part = next.lines * kLine / blocks;
    for (std::int64_t n = 0; n < block.next_count; ++n) {
        const Address column = sum(scaled(block.n, next.n, next.base + n * next.n), taps);
        const Address tile =
            sum(sum(column, k, next.k), block.m, arch::base::ceil_div(part, map_.m_acc));
        for (std::int64_t line = 0; line < lines; ++line) {
            prefetch(tile.plus(line * kLine), Opcode::Prefetcht2);
        }
    }
}

void BlockWriter::load_a(const AccumulatorBlock& block, const Step& step, std::int64_t m) {
    Address address = scaled(block.m, problem_.a_m, problem_.a + m * problem_.a_m);
    address = sum(address, block.group, problem_.a_group);
    address = sum(sum(address, block.k, problem_.a_k), step.k, problem_.a_k);
    address = sum(address, step.a);
    tile(map_.a_nontemporal ? Opcode::Tileloaddt1 : Opcode::Tileloadd, registers_.a(m), address,
         problem_.a_row);
    if (block.prefetches_a) {
        prefetch(address, problem_.a_row, block.rows, map_.prefetch_a, problem_.a_k);
    }
}

void BlockWriter::load_b(const AccumulatorBlock& block, const Step& step, std::int64_t n) {
    Address address = scaled(block.n, problem_.b_block, problem_.b + n * problem_.b_n);
    address = sum(sum(address, block.k, problem_.b_k), step.k, problem_.b_k);
    address = sum(address, step.b);
    tile(map_.b_nontemporal ? Opcode::Tileloaddt1 : Opcode::Tileloadd, registers_.b(n), address,
         problem_.b_row);
    prefetch(address, problem_.b_row, kMaxRows, map_.prefetch_b, problem_.b_k);
}

void BlockWriter::multiply(std::int64_t m, std::int64_t n) {
    Instruction instruction;
    instruction.opcode = problem_.dot;
    instruction.destination = static_cast<std::int8_t>(registers_.c(m, n));
    instruction.source_a = static_cast<std::int8_t>(registers_.a(m));
    instruction.source_b = static_cast<std::int8_t>(registers_.b(n));
    program_.emit(instruction);
    among_.write_share();
    post_.some(products_left_);
    products_left_ = std::max<std::int64_t>(products_left_ - 1, 1);
}

Address BlockWriter::c_address(const AccumulatorBlock& block, std::int64_t m,
                               std::int64_t n) const {
    Address address = scaled(block.m, problem_.c_m, problem_.c + m * problem_.c_m);
    address = sum(address, block.group, problem_.c_group);
    return sum(address, scaled(block.n, problem_.c_n, n * problem_.c_n));
}

void BlockWriter::start_c(const AccumulatorBlock& block, std::int64_t m, std::int64_t n) {
    if (block.k_first) {
        Instruction zero;
        zero.opcode = Opcode::Tilezero;
        zero.destination = static_cast<std::int8_t>(registers_.c(m, n));
        program_.emit(zero);
        return;
    }
    tile(Opcode::Tileloadd, registers_.c(m, n), c_address(block, m, n), problem_.c_row);
}

void BlockWriter::store_c(const AccumulatorBlock& block, std::int64_t m, std::int64_t n) {
    if (problem_.post.any) {
        tile(Opcode::Tilestored, registers_.c(m, n),
             Address{}.plus(post_.temporary(m * map_.n_acc + n, map_.m_acc * map_.n_acc)),
             kRowBytes);
        return;
    }
    tile(Opcode::Tilestored, registers_.c(m, n), c_address(block, m, n), problem_.c_row);
}

void BlockWriter::write(const AccumulatorBlock& block) {
    products_left_ = products(block);
    const bool interleaves_stores =
        map_.order == AmxMapping::Order::Interleaved && problem_.taps.empty() && block.k_tiles > 0;
    if (map_.order == AmxMapping::Order::KInnermost) {
        each_accumulator_alone(block);
    } else {
        all_accumulators(block, interleaves_stores);
    }
    finish_post(block);
}

std::int64_t BlockWriter::products(const AccumulatorBlock& block) const {
    std::int64_t steps = block.k_tiles * static_cast<std::int64_t>(problem_.pairs.size());
    for (const TileProblem::Tap& tap : problem_.taps) {
        steps *= tap.count;
    }
    return std::max<std::int64_t>(steps * block.m_count * block.n_count, 1);
}

void BlockWriter::each_accumulator_alone(const AccumulatorBlock& block) {
    for (std::int64_t n = 0; n < block.n_count; ++n) {
        for (std::int64_t m = 0; m < block.m_count; ++m) {
            start_c(block, m, n);
            k_steps(block.k_tiles, {}, [&](const Step& step) {
                for (const TileProblem::Pair& pair : problem_.pairs) {
                    among_.begin_step(1);
                    const Step of_parts = moved(step, pair);
                    load_a(block, of_parts, m);
                    load_b(block, of_parts, n);
                    multiply(m, n);
                }
            });
            store_c(block, m, n);
        }
    }
}

void BlockWriter::all_accumulators(const AccumulatorBlock& block, bool interleaves_stores) {
    for (std::int64_t n = 0; n < block.n_count; ++n) {
        for (std::int64_t m = 0; m < block.m_count; ++m) {
            start_c(block, m, n);
        }
    }
    if (problem_.slots > 0) {
        ring_steps(block, interleaves_stores);
    } else if (interleaves_stores) {
        k_steps(block.k_tiles - 1, {}, [&](const Step& step) { products(block, step, false); });
        k_steps(1, Address{}.plus(block.k_tiles - 1),
                [&](const Step& step) { products(block, step, true); });
    } else {
        k_steps(block.k_tiles, {}, [&](const Step& step) { products(block, step, false); });
    }
    for (std::int64_t n = 0; n < block.n_count && !interleaves_stores; ++n) {
        for (std::int64_t m = 0; m < block.m_count; ++m) {
            store_c(block, m, n);
        }
    }
}

void BlockWriter::k_steps(std::int64_t count, const Address& from,
                          const std::function<void(const Step&)>& body) {
    taps(0, {}, [&](const Step& tap) {
        loops_.loop("k", count, [&](const Address& k) {
            Step step = tap;
            step.k = sum(from, k);
            body(step);
        });
    });
}

void BlockWriter::taps(std::size_t index, const Step& outer,
                       const std::function<void(const Step&)>& body) {
    if (index == problem_.taps.size()) {
        body(outer);
        return;
    }
    const TileProblem::Tap& tap = problem_.taps[index];
    loops_.loop(tap.name, tap.count, [&](const Address& i) {
        Step inner = outer;
        inner.a = sum(outer.a, i, tap.a_stride);
        inner.b = sum(outer.b, i, tap.b_stride);
        taps(index + 1, inner, body);
    });
}

BlockWriter::Step BlockWriter::moved(Step step, const TileProblem::Pair& pair) {
    step.a.base += pair.a_offset;
    step.b.base += pair.b_offset;
    return step;
}

void BlockWriter::products(const AccumulatorBlock& block, const Step& at, bool store) {
    for (std::size_t i = 0; i < problem_.pairs.size(); ++i) {
        ordered_products(block, moved(at, problem_.pairs[i]),
                         store && i + 1 == problem_.pairs.size());
    }
}

void BlockWriter::ordered_products(const AccumulatorBlock& block, const Step& step, bool store) {
    using Order = AmxMapping::Order;
    among_.begin_step(block.m_count * block.n_count);
    among_.add_evenly([&] {
        for (const TileProblem::Next& next : problem_.next) {
            add_prefetches(block, step, next);
        }
    });
    if (map_.order == Order::Switched) {
        for (std::int64_t n = 0; n < block.n_count; ++n) {
            load_b(block, step, n);
        }
        for (std::int64_t m = 0; m < block.m_count; ++m) {
            load_a(block, step, m);
            for (std::int64_t n = 0; n < block.n_count; ++n) {
                multiply(m, n);
            }
        }
        return;
    }
    for (std::int64_t m = 0; map_.order == Order::Preloaded && m < block.m_count; ++m) {
        load_a(block, step, m);
    }
    for (std::int64_t n = 0; n < block.n_count; ++n) {
        load_b(block, step, n);
        for (std::int64_t m = 0; m < block.m_count; ++m) {
            if (map_.order == Order::Reference || (map_.order == Order::Interleaved && n == 0)) {
                load_a(block, step, m);
            }
            multiply(m, n);
            if (store) {
                store_c(block, m, n);
            }
        }
    }
}

void BlockWriter::finish_post(const AccumulatorBlock& block) {
    if (!problem_.post.any) {
        return;
    }
    post_.rest();
    for (std::int64_t n = 0; n < block.n_count; ++n) {
        for (std::int64_t m = 0; m < block.m_count; ++m) {
            for (std::int64_t row = 0; row < block.rows; ++row) {
                const std::int64_t tile_index = m * map_.n_acc + n;
                post_.add({post_.temporary(tile_index, map_.m_acc * map_.n_acc) + row * kRowBytes,
                           c_address(block, m, n).plus(row * problem_.c_row),
                           scaled(block.n, kRowBytes, problem_.post.bias + n * kRowBytes),
                           block.columns, m == 0 && row == 0});
            }
        }
    }
    if (map_.post == AmxMapping::Post::Fused) {
        post_.rest();
    } else {
        post_.swap_temporaries();
    }
}

}  // namespace tilesim::workloads::amx::tiles
