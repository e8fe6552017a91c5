#include "workloads/npu/weight_stationary/tile_layouts.hpp"

#include "workloads/npu/object_fifo.hpp"
#include "workloads/npu/transfer_length.hpp"

namespace tilesim::workloads::npu::weight_stationary {

using arch::npu::program::BufferDescriptor;

namespace {

// Rows of `k` words leave as strips of `outer` x `s` words.
BufferDescriptor strips(std::int64_t outer, std::int64_t k, std::int64_t s) {
    return shaped(outer * k, {{s, 1}, {outer, k}, {k / s, s}});
}

// Strips become sub-tiles of h rows of `s` words, row-major over sub-tiles.
BufferDescriptor sub_tiles(std::int64_t outer, std::int64_t k, std::int64_t s, std::int64_t h) {
    return shaped(outer * k, {{h * s, 1}, {outer / h, h * k}, {k / s, h * s}});
}

}  // namespace

BufferDescriptor TileLayouts::a_leaves_memory_tile() const {
    return strips(map_.m_ct, whole_words(map_.k_ct, problem_.a), whole_words(mode_.s, problem_.a));
}

BufferDescriptor TileLayouts::a_enters_core() const {
    return sub_tiles(map_.m_ct, whole_words(map_.k_ct, problem_.a),
                     whole_words(mode_.s, problem_.a), mode_.r);
}

BufferDescriptor TileLayouts::b_leaves_memory_tile() const {
    if (problem_.b_column_major) {
        return strips(map_.n_ct, whole_words(map_.k_ct, problem_.b),
                      whole_words(mode_.s, problem_.b));
    }
    const std::int64_t n = whole_words(map_.n_ct, problem_.b);
    const std::int64_t t = whole_words(mode_.t, problem_.b);
    return shaped(n * map_.k_ct,
                  {{t, 1}, {mode_.s, n}, {n / t, t}, {map_.k_ct / mode_.s, mode_.s * n}});
}

BufferDescriptor TileLayouts::b_enters_core() const {
    return problem_.b_column_major ? sub_tiles(map_.n_ct, whole_words(map_.k_ct, problem_.b),
                                               whole_words(mode_.s, problem_.b), mode_.t)
                                   : shaped(b(), {});
}

BufferDescriptor TileLayouts::c_leaves_memory_tile() const {
    const std::int64_t t = whole_words(mode_.t, problem_.c);
    return shaped(c(), {{t, 1},
                        {map_.n_ct / mode_.t, mode_.r * t},
                        {mode_.r, t},
                        {map_.m_ct / mode_.r, whole_words(map_.n_ct, problem_.c) * mode_.r}});
}

}  // namespace tilesim::workloads::npu::weight_stationary
