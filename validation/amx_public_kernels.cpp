#include "validation/amx_public_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tilesim::validation {

namespace {

constexpr std::int64_t kLine = 64;
constexpr std::int64_t kTile = 1024;
constexpr std::int64_t kBlock = 32;        // rows and columns of the four accumulators
constexpr std::int64_t kOwn = 0x800'0000;  // from a thread's memory to the next one's
constexpr std::int64_t kB = 0x200'0000;    // within it
constexpr std::int64_t kCleared = 0x680'0000;
constexpr std::int64_t kClearedBytes = 0x20'0000;
constexpr int kClearings = 4;
constexpr std::int64_t kC = 0x780'0000;
constexpr std::int64_t kShared = 0x10'0000;
const char* const kWholeTiles = "config 0 16x64 16x64 16x64 16x64 16x64 16x64 16x64 16x64\n";

class GemmText {
  public:
    GemmText(const PublicGemm& gemm, std::int64_t thread)
        : g_(gemm),
          steps_(gemm.k / kBlock),
          own_(kOwn * (thread + 1)),
          shared_a_(gemm.threads > 1 && gemm.a != PublicGemm::A::Own &&
                    gemm.a != PublicGemm::A::OwnBlocks) {}

    std::string text() {
        const std::int64_t b_bytes = g_.k * g_.n * 2;
        const bool many = g_.a == PublicGemm::A::OwnBlocks || g_.a == PublicGemm::A::Blocks;
        const std::int64_t all = std::max(g_.all_blocks, g_.blocks + 1);
        const std::int64_t a_copies = many ? all : 1;
        text_ = fmt::format("buffer a {:#x} {}\nbuffer b {:#x} {}\nbuffer c {:#x} {}\n",
                            shared_a_ ? kShared : own_, a_bytes() * a_copies, own_ + kB,
                            b_bytes * all, own_ + kC, g_.m * g_.n * 4);
        text_ += fmt::format("buffer cleared {:#x} {}\n", own_ + kCleared, kClearedBytes);
        prepare();
        text_ += fmt::format("runs {}\n{}", g_.runs, kWholeTiles);
        text_ += "ldtilecfg 0\n";
        if (g_.clears) {
            blocks(0, 1, false);
        }
        blocks(g_.clears ? 1 : 0, g_.blocks, g_.accumulates);
        text_ += "tilerelease\n";
        return text_;
    }

  private:
    // Clearing is what the source does: each core writes 2 MiB of its own four times. What one core
    // wrote before, the operands, goes to the L3 by that. Of many cores it is taken as gone: with
    // an L3 full of it, to be written back, the calibrate rows come out 13 and 14 % too slow.
    void prepare() {
        const bool alone = g_.threads == 1;
        for (const char* name : {"a", "b", "c"}) {
            text_ += g_.state == PublicGemm::State::Resident ? fmt::format("touch {} l2\n", name)
                     : g_.state == PublicGemm::State::Cleared && alone
                         ? fmt::format("touch {} l2 dirty\n", name)
                         : fmt::format("flush {}\n", name);
        }
        for (int i = 0; g_.state == PublicGemm::State::Cleared && i < kClearings; ++i) {
            text_ += "touch cleared l2 dirty\n";
        }
        text_ += g_.in_l3 ? "touch a l3\n" : "";
    }
    bool packed() const { return g_.a_row_lines == 0; }
    std::int64_t a_row() const { return g_.a_row_lines * kLine; }
    std::int64_t a_bytes() const { return packed() ? g_.m * g_.k * 2 : g_.m * a_row(); }

    void line(const std::string& text) { text_ += text + "\n"; }

    void blocks(std::int64_t first, std::int64_t end, bool accumulates) {
        first_ = first;
        line(fmt::format("loop block {}", end - first));
        product(accumulates);
        line("end");
    }
    // The block's place among pieces of so many bytes.
    std::string block(std::int64_t bytes) const {
        return fmt::format(" + {} + {}*block", first_ * bytes, bytes);
    }

    std::string a_tile(std::int64_t half) const {
        std::string address =
            packed()
                ? fmt::format("a + {} + {}*m + {}*k", half * kTile, 2 * kTile * steps_, 2 * kTile)
                : fmt::format("a + {} + {}*m + {}*k", half * 16 * a_row(), kBlock * a_row(), kLine);
        if (g_.a == PublicGemm::A::Blocks || g_.a == PublicGemm::A::OwnBlocks) {
            address += block(a_bytes());
        } else if (g_.a == PublicGemm::A::Matrix) {
            address += block(steps_ * kLine);
        }
        return fmt::format("[{}], {}", address, packed() ? kLine : a_row());
    }
    std::string b_tile(std::int64_t half) const {
        return fmt::format("[b + {} + {}*n + {}*k{}], 64", half * kTile, 2 * kTile * steps_,
                           2 * kTile, block(g_.k * g_.n * 2));
    }
    std::string c_tile(std::int64_t i) const {
        return fmt::format("[c + {} + {}*m + {}*n], {}", i % 2 * 16 * g_.n * 4 + i / 2 * kLine,
                           kBlock * g_.n * 4, 2 * kLine, g_.n * 4);
    }
    void dot(std::int64_t c, std::int64_t a, std::int64_t b) {
        if (g_.products) {
            line(fmt::format("tdpbf16ps tmm{}, tmm{}, tmm{}", c, a, b));
        }
        if (g_.next != PublicGemm::Next::None) {
            const std::int64_t bytes = g_.k * g_.n * 2;
            line(fmt::format("prefetcht2 [b + {} + {}*k + {}*n + {}*m{}]",
                             c * kLine + (g_.next == PublicGemm::Next::Behind ? bytes : 0),
                             4 * kLine, 4 * kLine * steps_, 4 * kLine * steps_ * (g_.n / kBlock),
                             block(bytes)));
        }
    }

    // C00, C10, C01, C11 in tmm0 to tmm3; loaded and stored row by row of tiles.
    void product(bool accumulates) {
        line(fmt::format("loop m {}", g_.m / kBlock));
        line(fmt::format("loop n {}", g_.n / kBlock));
        for (const std::int64_t i : {0, 2, 1, 3}) {
            line(accumulates ? fmt::format("tileloadd tmm{}, {}", i, c_tile(i))
                             : fmt::format("tilezero tmm{}", i));
        }
        line(fmt::format("loop k {}", steps_));
        line("tileloadd tmm4, " + a_tile(0));
        line("tileloadd tmm6, " + b_tile(0));
        dot(0, 4, 6);
        line("tileloadd tmm5, " + a_tile(1));
        dot(1, 5, 6);
        line("tileloadd tmm7, " + b_tile(1));
        dot(2, 4, 7);
        dot(3, 5, 7);
        line("end");
        for (const std::int64_t i : {0, 2, 1, 3}) {
            const std::string tile = c_tile(i);
            line(fmt::format("tilestored {}, tmm{}", tile, i));
        }
        line("end\nend");
    }

    const PublicGemm& g_;
    std::int64_t steps_;
    std::int64_t own_;
    bool shared_a_;
    std::int64_t first_ = 0;  // block of the loop over blocks
    std::string text_;
};

std::string part(std::int64_t thread) {
    return fmt::format("# thread {}\n", thread);
}

std::string reads(const std::string& loop, std::int64_t count) {
    std::string text = fmt::format("loop {} {}\n", loop, count);
    for (std::int64_t i = 0; i < 4; ++i) {
        text += fmt::format("vmovups zmm{}, [a + {} + 256*{}]\n", i, i * kLine, loop);
    }
    return text + "end\n";
}

// Half a k step: 16 rows from `source` into the buffer, or rows [first, last) of them.
std::string decompress(Weights weights, const std::string& source, std::int64_t buffer,
                       std::int64_t first, std::int64_t last) {
    std::string text;
    const std::int64_t copies = weights == Weights::CopyTwice ? 2 : 4;
    for (std::int64_t row = first; row < last; ++row) {
        const std::int64_t r = row % 4 * 4;
        if (weights == Weights::CopyTwice || weights == Weights::CopyFour) {
            if (row % copies == 0) {
                text += fmt::format("vmovups zmm0, [{} + {}]\n", source, row / copies * kLine);
            }
            text += fmt::format("vmovups [ring + {}], zmm0\n", buffer + row * kLine);
            continue;
        }
        text += fmt::format(
            "vpmovsxbd zmm{0}, [{2} + {3}]\nvpmovsxbd zmm{1}, [{2} + {4}]\n"
            "vcvtdq2ps zmm{0}, zmm{0}\nvcvtdq2ps zmm{1}, zmm{1}\n"
            "vcvtne2ps2bf16 zmm{0}, zmm{1}, zmm{0}\nvmovups [ring + {5}], zmm{0}\n",
            r, r + 1, source, row * 32, row * 32 + 16, buffer + row * kLine);
    }
    return text;
}

std::string prefetches(const std::string& source, std::int64_t lines) {
    constexpr std::int64_t kAhead = 48 * 1024;
    std::string text;
    for (std::int64_t i = 0; i < lines; ++i) {
        text += fmt::format("prefetcht1 [{} + {}]\n", source, kAhead + i * kLine);
    }
    return text;
}

// Half `h` of k step `2k + step`.
std::string half_step(Weights weights, std::int64_t bytes, std::int64_t step, std::int64_t h) {
    const std::string source = fmt::format("w + {} + {}*k", (2 * step + h) * bytes, 4 * bytes);
    const std::string products =
        fmt::format("tdpbf16ps tmm{0}, tmm4, tmm{2}\ntdpbf16ps tmm{1}, tmm5, tmm{2}\n", 2 * h,
                    2 * h + 1, 6 + h);
    if (weights == Weights::Dense) {
        return fmt::format("tileloadd tmm{}, [{}], 64\n", 6 + h, source) + prefetches(source, 16) +
               products;
    }
    const std::int64_t buffer = (2 * step + h) * kTile;
    const std::int64_t ahead = (buffer + 2 * kTile) % (4 * kTile);
    if (weights != Weights::Int8Interleaved) {
        const bool ping_pong = weights == Weights::Int8PingPong;
        return decompress(weights, source, ping_pong ? ahead : h * kTile, 0, 16) +
               prefetches(source, bytes / kLine) +
               fmt::format("tileloadd tmm{}, [ring + {}], 64\n", 6 + h,
                           ping_pong ? buffer : h * kTile) +
               products;
    }
    const auto rows = [&](std::int64_t part) {
        return decompress(weights, source, ahead, 4 * part, 4 * part + 4);
    };
    return rows(0) + fmt::format("tileloadd tmm{}, [ring + {}], 64\n", 6 + h, buffer) + rows(1) +
           prefetches(source, bytes / kLine) +
           fmt::format("tdpbf16ps tmm{}, tmm4, tmm{}\n", 2 * h, 6 + h) + rows(2) +
           fmt::format("tdpbf16ps tmm{}, tmm5, tmm{}\n", 2 * h + 1, 6 + h) + rows(3);
}

}  // namespace

std::string public_gemm(const PublicGemm& gemm) {
    std::string text;
    for (std::int64_t thread = 0; thread < gemm.threads; ++thread) {
        text += (gemm.threads > 1 ? part(thread) : "") + GemmText(gemm, thread).text();
    }
    return text;
}

std::string public_read(std::int64_t kib, std::int64_t passes, std::int64_t threads, bool shared,
                        const std::string& state) {
    std::string text;
    for (std::int64_t thread = 0; thread < threads; ++thread) {
        text += (threads > 1 ? part(thread) : "") +
                fmt::format("buffer a {:#x} {}\n{}\n", kOwn * (shared ? 1 : thread + 1), kib * 1024,
                            state) +
                fmt::format("loop pass {}\n", passes) + reads("i", kib * 4) + "pause 25\nend\n";
    }
    return text;
}

std::string public_turns(const std::string& readers) {
    constexpr std::int64_t kBytes = 128 * 1024;
    constexpr char kThreads = 4;
    std::string text;
    for (char thread = 0; thread < kThreads; ++thread) {
        text += part(thread) + fmt::format("buffer a {:#x} {}\nflush a\n", kOwn, kBytes);
        text += thread == 0
                    ? fmt::format("loop w {}\nvmovups [a + 64*w], zmm0\nend\n", kBytes / kLine)
                    : "scalar\n";
        std::size_t turn = 0;
        for (const char reader : readers) {
            text += "barrier\n";
            text += reader - '0' == thread ? reads(fmt::format("i{}", turn), kBytes / 256) : "";
            ++turn;
        }
    }
    return text;
}

std::string public_weights(Weights weights, std::int64_t steps, std::int64_t passes, bool cold) {
    const std::int64_t bytes = weights == Weights::Dense      ? kTile
                               : weights == Weights::CopyFour ? kTile / 4
                                                              : kTile / 2;
    std::string text =
        fmt::format("buffer w {:#x} {}\nbuffer ring 0x100000 4096\nbuffer x 0x110000 4096\n", kOwn,
                    2 * steps * bytes);
    text += cold ? "flush w\n" : "touch w l1\n";
    text += fmt::format(
        "touch ring l1\n{}ldtilecfg 0\ntileloadd tmm4, [x], 64\n"
        "tileloadd tmm5, [x + 1024], 64\n",
        kWholeTiles);
    text += fmt::format("loop pass {}\nloop k {}\n", passes, steps / 2);
    for (std::int64_t step = 0; step < 2; ++step) {
        for (std::int64_t h = 0; h < 2; ++h) {
            text += half_step(weights, bytes, step, h);
        }
    }
    return text + "end\nend\n";
}

std::string public_few_rows(std::int64_t runs) {
    std::string text = fmt::format(
        "buffer a 0x100000 2048\nbuffer b 0x200000 196608\nbuffer c 0x300000 1536\ntouch a l2\n"
        "touch b l2\ntouch c l2\nruns {}\n"
        "config 0 2x64 2x64 2x64 2x64 2x64 2x64 16x64 16x64\nldtilecfg 0\nloop n 6\n"
        "tilezero tmm0\ntilezero tmm1\nloop k 16\ntileloadd tmm4, [a + 64*k], 1024\n",
        runs);
    for (std::int64_t h = 0; h < 2; ++h) {
        for (std::int64_t i = 0; i < 16; ++i) {
            text += fmt::format("prefetcht0 [b + {} + 2048*k + 32768*n]\n",
                                4096 + h * kTile + i * kLine);
        }
        text += fmt::format("tileloadd tmm{}, [b + {} + 2048*k + 32768*n], 64\n", 6 + h, h * kTile);
    }
    return text +
           "tdpbf16ps tmm0, tmm4, tmm6\ntdpbf16ps tmm1, tmm4, tmm7\nend\n"
           "tilestored [c + 128*n], 768, tmm0\ntilestored [c + 64 + 128*n], 768, tmm1\nend\n"
           "tilerelease\n";
}

}  // namespace tilesim::validation
