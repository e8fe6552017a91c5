#include "workloads/npu/gotoblas/gotoblas_data.hpp"

#include <cstring>
#include <vector>

namespace tilesim::workloads::npu::gotoblas {

using arch::memory::port::BackingStore;

namespace {

using Size = std::size_t;

// A rectangle of a matrix stored row by row, `stride` elements apart.
std::vector<std::byte> read_rectangle(const BackingStore& store, std::int64_t address,
                                      std::int64_t row, std::int64_t rows, std::int64_t column,
                                      std::int64_t columns, std::int64_t stride,
                                      std::int64_t element) {
    std::vector<std::byte> bytes(static_cast<Size>(rows * columns * element));
    const auto line = static_cast<Size>(columns * element);
    for (std::int64_t r = 0; r < rows; ++r) {
        store.read(address + ((row + r) * stride + column) * element,
                   std::span{bytes}.subspan(static_cast<Size>(r) * line, line));
    }
    return bytes;
}

}  // namespace

GotoblasData::GotoblasData(const GemmProblem& problem, const GotoblasMapping& mapping,
                           const LoweredGotoblas& lowered)
    : problem_(problem), mapping_(mapping), lowered_(lowered) {
    plain_.m = lowered.m;
    plain_.k = problem.k;
    plain_.n = lowered.n;
    constexpr std::int64_t kAlignment = 1 << 20;
    const auto& packed = lowered.program.external_buffers;
    std::int64_t address = packed.back().address + packed.back().bytes;
    std::vector<std::int64_t> places;
    for (const auto& buffer : packed) {
        address = arch::base::ceil_div(address, kAlignment) * kAlignment;
        places.push_back(address);
        address += buffer.bytes;
    }
    plain_.a = places[0];
    plain_.b = places[1];
    plain_.c = places[2];
}

void GotoblasData::fill(std::uint64_t seed, BackingStore& store) const {
    fill_operands(problem_, plain_, seed, store);
    for (const GotoblasBlock& block : lowered_.blocks) {
        if (block.column == 0) {  // every A_c once, however often it is used
            pack_a(block, store);
        }
        if (block.row == 0) {
            pack_b(block, store);
        }
    }
}

// Panels of m_r rows, each column by column.
void GotoblasData::pack_a(const GotoblasBlock& block, BackingStore& store) const {
    const std::int64_t size = bytes_of(problem_.a);
    std::vector<std::byte> packed(static_cast<Size>(mapping_.m_r * block.steps * size));
    for (std::int64_t panel = 0; panel < block.rows; panel += mapping_.m_r) {
        const auto rows = read_rectangle(store, plain_.a, block.row + panel, mapping_.m_r,
                                         block.step, block.steps, plain_.k, size);
        for (std::int64_t i = 0; i < mapping_.m_r; ++i) {
            for (std::int64_t k = 0; k < block.steps; ++k) {
                std::memcpy(packed.data() + (k * mapping_.m_r + i) * size,
                            rows.data() + (i * block.steps + k) * size, static_cast<Size>(size));
            }
        }
        store.write(lowered_.program.external_buffers[0].address + block.a_offset +
                        panel * block.steps * size,
                    packed);
    }
}

// Panels of n_r columns, each row by row.
void GotoblasData::pack_b(const GotoblasBlock& block, BackingStore& store) const {
    const std::int64_t size = bytes_of(problem_.b);
    const std::int64_t address = plain_.b;
    const std::int64_t n_r = mapping_.n_r;
    std::vector<std::byte> packed(static_cast<Size>(n_r * block.steps * size));
    for (std::int64_t panel = 0; panel < block.columns; panel += n_r) {
        const std::int64_t column = block.column + panel;
        if (problem_.b_column_major) {
            const auto columns = read_rectangle(store, address, column, n_r, block.step,
                                                block.steps, plain_.k, size);
            for (std::int64_t j = 0; j < n_r; ++j) {
                for (std::int64_t k = 0; k < block.steps; ++k) {
                    std::memcpy(packed.data() + (k * n_r + j) * size,
                                columns.data() + (j * block.steps + k) * size,
                                static_cast<Size>(size));
                }
            }
        } else {
            packed = read_rectangle(store, address, block.step, block.steps, column, n_r, plain_.n,
                                    size);
        }
        store.write(lowered_.program.external_buffers[1].address + block.b_offset +
                        panel * block.steps * size,
                    packed);
    }
}

// Blocks of m_r x n_r, each column by column, m_r blocks innermost.
void GotoblasData::unpack_c(const GotoblasBlock& block, BackingStore& store) const {
    const std::int64_t size = bytes_of(problem_.c);
    const std::int64_t m_r = mapping_.m_r;
    const std::int64_t n_r = mapping_.n_r;
    std::vector<std::byte> tile(static_cast<Size>(m_r * n_r * size));
    std::vector<std::byte> line(static_cast<Size>(n_r * size));
    std::int64_t from = lowered_.program.external_buffers[2].address + block.c_offset;
    for (std::int64_t j = 0; j < block.columns; j += n_r) {
        for (std::int64_t i = 0; i < block.rows; i += m_r) {
            store.read(from, tile);
            from += static_cast<std::int64_t>(tile.size());
            for (std::int64_t row = 0; row < m_r; ++row) {
                for (std::int64_t column = 0; column < n_r; ++column) {
                    std::memcpy(line.data() + column * size,
                                tile.data() + (column * m_r + row) * size, static_cast<Size>(size));
                }
                store.write(plain_.c + ((block.row + i + row) * plain_.n + block.column + j) * size,
                            line);
            }
        }
    }
}

ProductCheck GotoblasData::check(std::uint64_t seed, BackingStore& store) const {
    for (const GotoblasBlock& block : lowered_.blocks) {
        if (block.step == 0) {
            unpack_c(block, store);
        }
    }
    return check_product(problem_, plain_, {mapping_.k_c}, seed, store);
}

}  // namespace tilesim::workloads::npu::gotoblas
