// The kernels of amx_public.csv in the text form: what each of U1 to U9 stands for is said there.
#pragma once

#include <cstdint>
#include <string>

namespace tilesim::validation {

struct PublicGemm {
    std::int64_t m = 256, k = 256, n = 256;
    std::int64_t a_row_lines = 8;  // 0: tiles packed
    std::int64_t threads = 1;
    bool accumulates = false;
    bool products = true;         // otherwise the TDPs are taken out
    std::int64_t blocks = 1;      // of B, one after the other, k x n each
    std::int64_t all_blocks = 0;  // that there are, where more than are multiplied
    // One for all blocks, one for all threads too ...
    enum class A { Own, One, OwnBlocks, Blocks, Matrix } a = A::Own;
    enum class Next { None, Same, Behind } next = Next::None;  // block that is prefetched
    bool clears = false;  // the first block does not accumulate
    // What the caches hold before: the operands, nothing of them (fresh), or what the source's way
    // of clearing them leaves.
    enum class State { Resident, Fresh, Cleared } state = State::Resident;
    bool in_l3 = false;  // A of all threads is there, whatever else is said
    std::int64_t runs = 1;
};
std::string public_gemm(const PublicGemm& gemm);

// Passes over a buffer, a thread's own or everybody's.
std::string public_read(std::int64_t kib, std::int64_t passes, std::int64_t threads, bool shared,
                        const std::string& state);
// 128 KiB written by thread 0, then read by the threads of `readers` one after the other, behind a
// barrier each; '-': by nobody.
std::string public_turns(const std::string& readers);

enum class Weights { Dense, CopyTwice, CopyFour, Int8, Int8PingPong, Int8Interleaved };
// `steps` k steps of weights, the same again `passes` times.
std::string public_weights(Weights weights, std::int64_t steps, std::int64_t passes, bool cold);
std::string public_few_rows(std::int64_t runs);

}  // namespace tilesim::validation
