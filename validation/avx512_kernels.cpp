#include "validation/avx512_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace tilesim::validation {

namespace {

constexpr long kLineBytes = 64;
constexpr long kLinesAKib = 16;
constexpr long kBase = 0x1000'0000;
constexpr long kOther = 1L << 30;  // the second operand of copies lies so much further
constexpr long kOtherSkew = 2048;  //
constexpr long kUnroll = 8;
constexpr long kLongPassLines = 49'152;  // 3 MiB: beyond, a part of a pass stands for all
constexpr long kPartOfPass = 20'000;
constexpr long kUntilSteady = 96'000;  // random loads: lines of page tables are where they stay
constexpr long kPassesUntilHeld = 4;   // the L3 keeps but a part of the clean lines of each
constexpr long kAllAlike = 98'304;     // flushed lines: more take as long each
constexpr long kWarmPasses = 3;

long number_or_none(const Record& row, const char* column) {
    return row.at(column).empty() ? 0 : row.integer(column);
}

std::string word(const std::string& text) {
    return text.substr(0, text.find(' '));
}

// What one of the eight places of a loop does: `at` is its address.
std::string place(const std::string& kernel, const std::string& at, long i) {
    const std::string reg = fmt::format("zmm{}", i);
    if (kernel == "R" || kernel == "S" || kernel == "I") {
        return fmt::format("vmovups {}, [{}]\n", reg, at);
    }
    if (kernel == "W" || kernel == "WS") {
        return fmt::format("vmovups [{}], {}\n", at, reg);
    }
    if (kernel == "RW") {
        return fmt::format("vmovups {0}, [{1}]\nvmovups [{1}], {0}\n", reg, at);
    }
    const std::string other = "b" + at.substr(1);  // copies go from `a` to `b`
    if (kernel == "C") {
        return fmt::format("vmovups {}, [{}]\nvmovups [{}], {}\n", reg, at, other, reg);
    }
    if (kernel == "N") {
        return fmt::format("vmovntps [{}], {}\n", at, reg);
    }
    if (kernel == "CN") {
        return fmt::format("vmovups {}, [{}]\nvmovntps [{}], {}\n", reg, at, other, reg);
    }
    if (kernel == "PW") {
        return fmt::format("prefetchw [{0} + 2048]\nvmovups [{0}], {1}\n", at, reg);
    }
    std::string lower = kernel;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    return lower.starts_with("prefetch") ? fmt::format("{} [{}]\n", lower, at) : "";
}

bool writes(const std::string& kernel) {
    return kernel == "W" || kernel == "RW" || kernel == "WS" || kernel == "PW";
}

// `passes` over `lines` lines, `stride` lines apart.
std::string passes(const std::string& kernel, long lines, long stride, long passes) {
    const bool shuffled = kernel == "I";
    std::string text = fmt::format("loop pass {}\nloop i {}\n", passes, lines / kUnroll);
    for (long i = 0; i < kUnroll; ++i) {
        text += shuffled ? place(kernel, fmt::format("order[{} + {}*i]", i, kUnroll), i)
                         : place(kernel,
                                 fmt::format("a + {} + {}*i", i * stride * kLineBytes,
                                             kUnroll * stride * kLineBytes),
                                 i);
        if (shuffled) {  // addresses come from a table
            text += fmt::format("mov r1, [places + {} + {}*i], 4\n", 4 * i, 4 * kUnroll);
        }
    }
    return text + "end\nend\n";
}

std::string buffers(const std::string& kernel, long bytes, bool in_l3) {
    std::string text = fmt::format("buffer a {:#x} {}\n", kBase, bytes);
    const bool copy = kernel == "C" || kernel == "CN";
    if (copy) {
        text += fmt::format("buffer b {:#x} {}\n", kBase + kOther + kOtherSkew, bytes);
    }
    if (in_l3) {
        text += kernel == "C" ? "touch b l3 dirty\n" : "";
        text += writes(kernel) ? "touch a l3 dirty\n" : "touch a l3\n";
    } else {
        text += "flush a\n";
    }
    return text;
}

KernelPair streaming(const std::string& kernel, long lines, long stride) {
    const bool part = lines > kLongPassLines;
    const bool random = kernel == "I";
    const long bytes = lines * stride * kLineBytes;
    const std::string head =
        buffers(kernel, bytes, part && (!random || bytes <= kL3Bytes)) +
        (random ? fmt::format("buffer places 0x8000000 {}\n{}shuffle order {:#x} {} {}\n",
                              4 * lines, part ? "touch places l3\n" : "", kBase, lines, kLineBytes)
                : "");
    const auto text = [&](long count, long times) {
        return head + passes(kernel, count, stride, times);
    };
    if (part) {
        const long count = std::min(kPartOfPass, lines / 2);
        const long before = random ? std::min(kUntilSteady, lines - count) : count;
        return {text(before, 1), text(before + count, 1), static_cast<double>(count)};
    }
    const long more = std::max(1L, kPartOfPass / 2 / lines);
    return {text(lines, kWarmPasses), text(lines, kWarmPasses + more),
            static_cast<double>(lines * more)};
}

// Chains through all lines in a random order, each beginning at another place.
KernelPair chase(long lines, long block, long skew, long chains) {
    // Lines that only the L3 can hold, of a buffer it can't: their first pass brings them there.
    const bool sparse = lines * block > kL3Bytes && lines * kLineBytes <= kL3Bytes;
    const bool part = lines > 2 * kLongPassLines && !sparse;
    const long loads = part ? 12'000 : lines;
    const std::string head =
        fmt::format("buffer a {:#x} {}\n{}shuffle order {:#x} {} {} {}\n", kBase, lines * block,
                    lines * kLineBytes > kL3Bytes ? "flush a\n"
                    : lines > kLongPassLines / 2  ? "touch a l3\n"
                                                  : "touch a l2\n",
                    kBase, lines, block, skew);
    const auto text = [&](long count, long times) {
        std::string body = head + fmt::format("loop pass {}\nloop i {}\n", times, count / chains);
        for (long chain = 0; chain < chains; ++chain) {
            body += fmt::format("mov r{}, [order[{} + i]]\n", chain, chain * (lines / chains));
        }
        return body + "end\nend\n";
    };
    if (part) {
        const long before = std::min(kUntilSteady, lines - loads);
        return {text(before, 1), text(before + loads, 1),
                static_cast<double>(loads / chains * chains)};
    }
    const long more = std::max(sparse ? 1L : 2L, 4'000 / loads);
    const long before = sparse ? kPassesUntilHeld : 2;
    return {text(loads, before), text(loads, before + more),
            static_cast<double>(loads / chains * chains * more)};
}

long after(const std::string& text, const std::string& what) {
    const std::size_t at = text.find(what);
    return at == std::string::npos ? 0 : std::stol(text.substr(at + what.size()));
}

// G MxKxN: the loads of the 2x2 loop; a k step is 64 B.
KernelPair gemm_loads(const Record& row) {
    const std::string sizes = row.at("kernel").substr(2);
    const long m = std::stol(sizes);
    const long k = std::stol(sizes.substr(sizes.find('x') + 1));
    const long n = std::stol(sizes.substr(sizes.rfind('x') + 1));
    const long steps = k * 2 / kLineBytes;
    const long a_row = after(row.at("state"), "stride ");
    const bool packed = a_row == kLineBytes;
    const long a_bytes = packed ? m * k * 2 : m * a_row;
    const long page = 4096;
    const long b = kBase + (a_bytes + page - 1) / page * page;
    const long block = 32;
    std::string head = fmt::format("buffer a {:#x} {}\nbuffer b {:#x} {}\ntouch a l2\ntouch b l2\n",
                                   kBase, a_bytes, b, n * k * 2);
    std::string body =
        fmt::format("loop m {}\nloop n {}\nloop k {}\n", m / block, n / block, steps);
    const long tile = 1024;
    for (long half = 0; half < 2; ++half) {
        for (long r = 0; r < 16; ++r) {
            body += packed ? fmt::format("vmovups zmm{}, [a + {} + {}*m + {}*k]\n", r,
                                         half * tile + r * kLineBytes, 2 * tile * steps, 2 * tile)
                           : fmt::format("vmovups zmm{}, [a + {} + {}*m + {}*k]\n", r,
                                         (half * 16 + r) * a_row, block * a_row, kLineBytes);
        }
        for (long r = 0; r < 16; ++r) {
            body += fmt::format("vmovups zmm{}, [b + {} + {}*n + {}*k]\n", 16 + r,
                                half * tile + r * kLineBytes, 2 * tile * steps, 2 * tile);
        }
    }
    body += "end\nend\nend\n";
    const long total = m / block * (n / block) * steps;
    const long more = std::max(1L, 1'000 / total);
    const auto text = [&](long times) {
        return head + fmt::format("loop pass {}\n", times) + body + "end\n";
    };
    return {text(2), text(2 + more), static_cast<double>(more * total)};
}

// Pass `number_or_none` over lines that were flushed, or written.
KernelPair one_pass(const Record& row, long lines) {
    const std::string& kernel = row.at("kernel");
    const long pass = after(row.at("state"), "pass ");
    if (kernel == "P") {
        const std::string head =
            fmt::format("buffer a {:#x} {}\nshuffle order {:#x} {} {}\nflush a\n", kBase,
                        lines * kLineBytes, kBase, lines, kLineBytes) +
            passes("W", lines, 1, 1) + "lfence\n";
        return {head, head + fmt::format("loop j {}\nmov r0, [order[j]]\nend\n", lines),
                static_cast<double>(lines)};
    }
    const std::string head =
        buffers(kernel, lines * kLineBytes, false) +
        (kernel == "I" ? fmt::format("buffer places 0x8000000 {}\nshuffle order {:#x} {} {}\n",
                                     4 * lines, kBase, lines, kLineBytes)
                       : "");
    return {pass == 1 ? head + "scalar\n" : head + passes(kernel, lines, 1, pass - 1),
            head + passes(kernel, lines, 1, pass), static_cast<double>(lines)};
}

}  // namespace

std::optional<KernelPair> memory_kernel(const Record& row) {
    const std::string& family = row.at("family");
    const std::string& kernel = row.at("kernel");
    const long kib = number_or_none(row, "footprint_kib");
    const long lines = row.at("lines").empty() ? kib * kLinesAKib : number_or_none(row, "lines");
    if (family.ends_with("pass_by_pass")) {
        return one_pass(row, std::min(lines, kAllAlike));
    }
    if (kernel.starts_with("G ")) {
        return gemm_loads(row);
    }
    if (kernel == "P" || kernel.starts_with("Q")) {
        return chase(lines, kLineBytes, 0, kernel == "P" ? 1 : std::stol(kernel.substr(1)));
    }
    if (kernel == "P1") {
        return chase(lines, 4096, 7, 1);
    }
    if (kernel == "P2") {
        return chase(lines, 2L << 20, 67, 1);
    }
    if (!place(kernel, "a", 0).empty()) {
        return streaming(kernel, lines, std::max(number_or_none(row, "stride_lines"), 1L));
    }
    return std::nullopt;
}

std::optional<ProbeKernel> probe_kernel(const Record& row) {
    const std::string kernel = word(row.at("kernel"));
    if (kernel != "M" && kernel != "M3") {
        return std::nullopt;
    }
    const bool slow = kernel == "M3";
    const bool adjacent = row.at("kernel").find("adjacent") != std::string::npos;
    const long stride = row.at("stride_lines").empty() ? 1 : number_or_none(row, "stride_lines");
    const long lines = std::max(number_or_none(row, "lines"), 1L);
    const bool last = row.at("state").find("are the last") != std::string::npos;
    const long first = last ? kLineBytes - lines : stride < 0 ? 40 : 8;
    ProbeKernel probe;
    probe.counts_lines = !slow && !adjacent;
    const std::string head = fmt::format("buffer a {:#x} 8192\nflush a\n", kBase);
    if (slow) {  // one instruction: strides belong to it
        const std::string address =
            stride > 0 ? fmt::format("a + {} + {}*i", first * kLineBytes, stride * kLineBytes)
                       : fmt::format("a + {} - {}*i", first * kLineBytes, -stride * kLineBytes);
        probe.reads = head + fmt::format("loop i {}\nvmovups zmm0, [{}]\nlfence\npause 1200\nend\n",
                                         lines, address);
    } else {
        probe.reads = head;
        for (long i = 0; i < lines; ++i) {
            probe.reads +=
                fmt::format("vmovups zmm0, [a + {}]\n", (first + i * stride) * kLineBytes);
        }
    }
    probe.reads += "lfence\npause 9000\nlfence\n";
    const long from = first + (lines - 1) * stride;
    constexpr long kFurthest = 24;
    for (long i = 1; i <= (probe.counts_lines ? kFurthest : 1); ++i) {
        const long line = adjacent ? from ^ 1 : from + i * stride;
        probe.probes.push_back(probe.reads +
                               fmt::format("mov r0, [a + {}], 8\nlfence\n", line * kLineBytes));
    }
    return probe;
}

namespace {

// One instruction of "8x name operands".
std::string vector_instruction(const std::string& name, bool chain, long i, long reg) {
    const std::string destination = fmt::format("zmm{}", chain ? 0 : reg);
    const std::string source = chain ? "zmm0" : "zmm30";
    if (name == "kmovq") {
        return fmt::format("kmovq k1, [a + {}]\n", 8 * i);
    }
    if (name == "vpmovsdb" || name == "vpmovusdb") {
        return fmt::format("{} [a + {}], zmm30\n", name, 16 * i);
    }
    if (name == "vpmovsxbd") {
        return fmt::format("vpmovsxbd {}, [a + {}]\n", destination, 16 * i);
    }
    if (name == "vpexpandb") {
        return fmt::format("vpexpandb {}, [a + {}]\n", destination, kLineBytes * i);
    }
    if (name == "vmovups") {
        return fmt::format("vmovups {}, [a + {}]\n", destination, kLineBytes * i);
    }
    if (name == "vpslld" || name == "vpsrld") {
        return fmt::format("{} {}, {}, 16\n", name, destination, source);
    }
    if (name == "vpermt2w" || name == "vpermt2b") {
        return fmt::format("{} {}, {}, zmm31, 0\n", name, destination, source);
    }
    if (name == "vcvtneps2bf16" || name == "vcvtdq2ps" || name == "vcvtps2dq" ||
        name == "vpmovzxwd") {
        return fmt::format("{} {}, {}\n", name, destination, source);
    }
    return fmt::format("{} {}, {}, zmm31\n", name, destination, source);
}

std::string decompression(bool multiply) {
    std::string body;
    for (long row = 0; row < 16; ++row) {
        const long r = row % 4 * 4;
        body += fmt::format("vpmovsxbd zmm{0}, [a + {2}]\nvpmovsxbd zmm{1}, [a + {3}]\n", r, r + 1,
                            32 * row, 32 * row + 16);
        body += fmt::format("vcvtdq2ps zmm{0}, zmm{0}\nvcvtdq2ps zmm{1}, zmm{1}\n", r, r + 1);
        if (multiply) {
            body += fmt::format("vmulps zmm{0}, zmm{0}, zmm30\nvmulps zmm{1}, zmm{1}, zmm30\n", r,
                                r + 1);
        }
        body += fmt::format("vcvtne2ps2bf16 zmm{0}, zmm{1}, zmm{0}\nvmovups [c + {2}], zmm{0}\n", r,
                            r + 1, kLineBytes * row);
    }
    return body;
}

std::string post_row() {
    std::string body;
    for (long i = 0; i < 16; ++i) {
        body += fmt::format(
            "vmovups zmm{0}, [a + {1}]\nvcvtdq2ps zmm{0}, zmm{0}\nvmulps zmm{0}, zmm{0}, zmm31\n"
            "vmovups zmm29, [a + 4096]\nvaddps zmm{0}, zmm{0}, zmm29\n"
            "vmaxps zmm{0}, zmm{0}, zmm30\nvcvtps2dq zmm{0}, zmm{0}\nvpmovsdb [c + {2}], zmm{0}\n",
            i, kLineBytes * i, 16 * i);
    }
    return body;
}

std::string whole_loop(const std::string& loop, const std::string& body) {
    return loop + body + "end\n";
}

// Bodies that are described in words.
std::string described(const std::string& name) {
    if (name.find("decompression of 16 rows") != std::string::npos) {
        return decompression(name.find("multiplies a row") != std::string::npos);
    }
    if (name.starts_with("post row")) {
        return post_row();
    }
    if (name.starts_with("one 64 B store")) {
        return "vmovups [a], zmm0\nvmovups zmm0, [a]\n";
    }
    std::string body;
    if (name.find("load+store pairs") != std::string::npos) {
        for (long i = 0; i < kUnroll; ++i) {
            body += fmt::format(
                "vmovups zmm{0}, [a + {1} + 512*j]\nvmovups [a + {2} + 512*j], zmm{0}\n", i,
                kLineBytes * i, 8192 + kLineBytes * i);
        }
        return whole_loop(fmt::format("loop j {}\n", std::stol(name) / kUnroll), body);
    }
    if (name.find("vmovups zmm loads") != std::string::npos) {
        for (long i = 0; i < kUnroll; ++i) {
            body += fmt::format("vmovups zmm{}, [a + {} + 512*j]\n", i, kLineBytes * i);
        }
        return whole_loop(fmt::format("loop j {}\n", std::stol(name) / kUnroll), body);
    }
    return "";
}

}  // namespace

std::optional<std::string> vector_kernel(const std::string& given) {
    const std::string name = given.starts_with("V ") ? given.substr(2) : given;
    std::string body = described(name);
    if (body.empty()) {
        const bool chain = name.find("chain") != std::string::npos;
        long reg = 0;
        for (std::size_t start = 0; start < name.size();) {
            const std::size_t end = std::min(name.find(" + ", start), name.size());
            const std::string part = name.substr(start, end - start);
            start = end + 3;
            const std::size_t times = part.find("x ");
            if (times == std::string::npos || std::isdigit(part[0]) == 0) {
                return std::nullopt;
            }
            const std::string opcode = word(part.substr(times + 2));
            for (long i = 0; i < std::stol(part); ++i) {
                body += vector_instruction(opcode, chain, i, reg++ % 28);
            }
        }
    }
    return "buffer a 0x100000 32768\nbuffer c 0x110000 8192\ntouch a l1\ntouch c l1\nloop rep "
           "COUNT\n" +
           body + "end\n";
}

}  // namespace tilesim::validation
