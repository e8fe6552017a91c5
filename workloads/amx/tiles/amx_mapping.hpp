// How a matrix product runs on AMX cores: the `mapping.amx` of a scenario.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/base/config.hpp"
#include "workloads/gemm.hpp"

namespace tilesim::workloads::amx::tiles {

struct AmxMapping {
    // Loop orders of the optimization manual's examples 20-8 to 20-12, inside the k loop:
    enum class Order {
        Reference,   // per n: load B; per m: load A, multiply
        KInnermost,  // one accumulator at a time, k inside
        Preloaded,   // load all A; per n: load B; per m: multiply
        Switched,    // load all B; per m: load A; per n: multiply
        Interleaved  // loads just before their first use, stores among the last products
    };
    enum class BLayout {
        Packed,    // every tile 1 KiB on its own, in order of k
        Vnni,      // re-laid as a whole: rows of N * 4 bytes
        RowMajor,  // as stored; re-laid by AVX-512 at run time
        Sparse     // bit masks and non-zero bytes, expanded by AVX-512 at run time
    };
    enum class DataIn { Registers, L1, L2, L3, Memory };
    enum class Partition { M, N, K, MN };
    enum class Outer { N, M };
    enum class Remainder { Pad, Smaller };
    enum class Post { Fused, Interleaved };
    enum class Decompress { Ahead, Interleaved };  // where B is compressed
    // Of a convolution. Joined: at stride 1 the positions of all output rows, those that the filter
    // reaches over a row's end included, are one long M.
    enum class OutputRows { Apart, Joined };

    std::int64_t m_acc = 2;
    std::int64_t n_acc = 2;
    Order order = Order::Interleaved;
    BLayout b_layout = BLayout::Packed;
    DataIn data_in = DataIn::L2;
    std::int64_t threads = 1;
    Partition partition = Partition::M;
    std::int64_t threads_n = 0;  // of a partition of m and n: shares of n; 0: as reads least
    Outer outer = Outer::N;
    std::int64_t mc = 0, nc = 0, kc = 0;  // cache blocks; 0: whole
    bool a_packed = false;
    std::int64_t a_padding = 0;  // bytes after each row of A, C
    std::int64_t c_padding = 0;
    bool a_nontemporal = false;
    bool b_nontemporal = false;
    std::int64_t prefetch_a = 0;  // k steps ahead; 0: none
    std::int64_t prefetch_b = 0;
    bool prefetch_a_once = false;  // with the first block of columns only
    bool prefetch_l1 = true;       // otherwise into the L2 only
    bool prefetch_next = false;    // B of the next block of columns, into the L2
    bool prefetch_first = false;   // of the first one too, in front
    Decompress decompress = Decompress::Ahead;
    std::int64_t decompress_steps = 1;  // k steps from interleaved decompression to its products
    Remainder remainder = Remainder::Pad;
    OutputRows output_rows = OutputRows::Apart;
    Post post = Post::Fused;
    bool relu = true;  // among the post-operations
    bool a_signed = true;
    bool b_signed = true;
    std::int64_t density_percent = 50;  // of sparse weights
    std::int64_t repeat = 1;            // how often the product is computed
    std::int64_t runs = 1;              // of the whole program; the last one counts

    bool operator==(const AmxMapping&) const = default;
};

void read_data_in(arch::base::config::Node& node, AmxMapping::DataIn& data_in);
// The keys below `mapping.amx`.
void read_amx_mapping(arch::base::config::Node& node, AmxMapping& mapping);

// Shares of n among the mapping's threads, of a partition of m and n: as given, or those with which
// the busiest thread is expected to take least. Each has as many shares of m as there are threads
// for; threads that are left have no work. Of each row and k tile `lines_of_a` lines come from
// memory: less than one where the taps of a filter read the same one.
std::int64_t shares_of_n(const GemmProblem& gemm, const AmxMapping& mapping, double lines_of_a = 1);

// Rows and columns of the busiest thread of a grid of m and n, in whole blocks of accumulators.
struct BusiestShare {
    std::int64_t m = 0, n = 0;
};
BusiestShare busiest_share(const GemmProblem& gemm, const AmxMapping& mapping, std::int64_t across);

// B is decompressed at run time: sparse weights, and int8 ones of a product of bf16.
bool decompresses(const GemmProblem& gemm, const AmxMapping& mapping);

// Its accumulators are scaled, biased and narrowed on their way to C.
bool has_post_operations(const GemmProblem& gemm);

// Tile registers a block of accumulators needs with the mapping's loop order.
std::int64_t registers_of(const AmxMapping& mapping);
std::string name_of(AmxMapping::Order order);
std::string name_of(AmxMapping::BLayout layout);
std::string name_of(AmxMapping::DataIn data_in);

}  // namespace tilesim::workloads::amx::tiles
