// Post-operations of a product in AVX-512: a row of a tile from its temporary through conversion,
// scaling and bias (one fused multiply-add, both in registers), ReLU and down-conversion into C.
#pragma once

#include <cstdint>
#include <deque>

#include "arch/amx/program/instruction.hpp"
#include "workloads/amx/tiles/amx_mapping.hpp"

namespace tilesim::workloads::amx::tiles {

// What happens to a result before it is stored.
struct PostOperations {
    bool any = false;
    bool from_int32 = false;
    bool relu = false;
    DataType to = DataType::F32;
    std::int64_t scale = 0;  // addresses: one float; a row of floats
    std::int64_t bias = 0;
    std::int64_t temporary = 0;  // two times m_acc * n_acc KiB
};

class PostWriter {
  public:
    struct Row {
        std::int64_t temporary = 0;
        arch::amx::program::Address c;
        arch::amx::program::Address bias;
        std::int64_t columns = 16;
        bool new_bias = true;  // other columns than the row's before
    };

    // Keeps references to both.
    PostWriter(arch::amx::program::Program& program, const PostOperations& post)
        : program_(program), post_(post) {}

    // Where tile `index` of `tiles` of the current block waits for its post-operations.
    std::int64_t temporary(std::int64_t index, std::int64_t tiles) const;

    void constants();
    void add(const Row& row) { rows_.push_back(row); }
    void swap_temporaries() { upper_ = !upper_; }
    // Its share of the rows that wait, with so many products to go.
    void some(std::int64_t products_left);
    void rest();

  private:
    void write(const Row& row);

    arch::amx::program::Program& program_;
    const PostOperations& post_;
    std::deque<Row> rows_;
    bool upper_ = false;
    std::int8_t register_ = 0;
};

}  // namespace tilesim::workloads::amx::tiles
