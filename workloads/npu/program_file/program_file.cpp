#include "workloads/npu/program_file/program_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <random>
#include <span>
#include <string_view>
#include <utility>

#include "arch/npu/program/program_print.hpp"
#include "arch/npu/program/program_reader.hpp"

namespace tilesim::workloads::npu::program_file {

using arch::base::config::Node;
using arch::base::config::Range;
using arch::npu::program::Program;

namespace {

using arch::npu::kWordBytes;
constexpr Range kWord{INT32_MIN, UINT32_MAX};

using BufferName = ProgramWorkload::BufferName;

constexpr std::string_view kBuffer = "buffer, in DRAM or in a tile";

using Values = ProgramWorkload::Fill::Values;
// `Words` has a key of its own.
constexpr std::array<std::pair<std::string_view, Values>, 3> kValues{
    {{"zeros", Values::Zeros}, {"counting", Values::Counting}, {"random", Values::Random}}};

// Nothing, and an error, where there is none of this name.
std::optional<BufferName> find_buffer(Node& node, std::string_view key, const std::string& name,
                                      const Program& program) {
    std::vector<std::string> known;
    const auto find = [&](const auto& list, bool external) -> std::optional<BufferName> {
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (list[i].name == name) {
                return BufferName{external, static_cast<std::int64_t>(i)};
            }
            known.push_back(list[i].name);
        }
        return std::nullopt;
    };
    if (const auto place = find(program.external_buffers, true)) {
        return place;
    }
    if (const auto place = find(program.buffers, false)) {
        return place;
    }
    node.error(key, fmt::format("no buffer is named '{}'{}", name,
                                arch::base::config::did_you_mean(name, known)));
    return std::nullopt;
}

const std::string& name_of(BufferName name, const Program& program) {
    const auto index = static_cast<std::size_t>(name.index);
    return name.external ? program.external_buffers[index].name : program.buffers[index].name;
}

std::optional<BufferName> read_buffer(Node& node, std::string_view key, const Program& program) {
    std::string name;
    node.required(key, name, kBuffer);
    return find_buffer(node, key, name, program);
}

std::size_t size_in_words(BufferName name, const Program& program) {
    const auto index = static_cast<std::size_t>(name.index);
    return static_cast<std::size_t>(
        (name.external ? program.external_buffers[index].bytes : program.buffers[index].bytes) /
        kWordBytes);
}

std::vector<std::int64_t> read_words(Node& entry, std::optional<BufferName> buffer,
                                     const Program& program) {
    std::vector<std::int64_t> words;
    for (Node& word : entry.list("words", "32-bit words")) {
        words.push_back(word.integer(kWord));
    }
    if (buffer && words.size() > size_in_words(*buffer, program)) {
        entry.error("words",
                    fmt::format("has {} words, {} holds {}", words.size(),
                                name_of(*buffer, program), size_in_words(*buffer, program)));
    }
    return words;
}

std::vector<std::uint32_t> words_of(ProgramBytes bytes, BufferName name, const Program& program) {
    std::vector<std::uint32_t> words(size_in_words(name, program));
    const auto into = std::as_writable_bytes(std::span{words});
    if (name.external) {
        const auto index = static_cast<std::size_t>(name.index);
        bytes.store.read(program.external_buffers[index].address, into);
    } else {
        const auto from = bytes.tiles.buffer(name.index);
        std::copy_n(from.begin(), into.size(), into.begin());
    }
    return words;
}

void store_words(ProgramBytes bytes, BufferName name, const Program& program,
                 std::span<const std::uint32_t> words) {
    const auto from = std::as_bytes(words);
    if (name.external) {
        const auto index = static_cast<std::size_t>(name.index);
        bytes.store.write(program.external_buffers[index].address, from);
    } else {
        const auto into = bytes.tiles.buffer(name.index);
        std::copy(from.begin(), from.end(), into.begin());
    }
}

}  // namespace

ProgramWorkload read_program_workload(Node& root) {
    ProgramWorkload workload;
    workload.program = arch::npu::program::read_program(root);
    if (workload.program.sequence.empty() && !workload.program.ends_with_sequence) {
        root.error("sequence",
                   "is needed: it starts the shim's transfers and waits for them (without one, "
                   "ends_with_sequence lets the array run until nothing moves)");
    }
    read_contents(root, workload);
    return workload;
}

void read_contents(Node& root, ProgramWorkload& workload) {
    const Program& program = workload.program;
    for (Node& entry : root.list("fill", "what buffers hold at start")) {
        ProgramWorkload::Fill fill;
        const auto buffer = read_buffer(entry, "buffer", program);
        fill.buffer = buffer.value_or(BufferName{});
        const bool words = entry.offers("words");
        if (!entry.describing() && words == entry.has("values")) {
            entry.error("", "must hold either values or words");
        }
        if (!words || entry.has("values")) {
            entry.optional("values", fill.values, std::vector(kValues.begin(), kValues.end()),
                           "32-bit words");
        }
        if (words) {
            fill.values = Values::Words;
            fill.words = read_words(entry, buffer, program);
        }
        entry.done();
        workload.fills.push_back(fill);
    }
    for (Node& entry : root.list("expect", "what buffers must hold at the end")) {
        ProgramWorkload::Expectation expectation;
        const auto buffer = read_buffer(entry, "buffer", program);
        expectation.buffer = buffer.value_or(BufferName{});
        const bool words = entry.offers("words"), equals = entry.offers("equals");
        if (!entry.describing() && equals == words) {
            entry.error("", "must hold either equals or words");
        }
        if (equals) {
            std::string other;
            entry.optional("equals", other, kBuffer);
            expectation.equals = find_buffer(entry, "equals", other, program);
            entry.optional("plus", expectation.plus, kWord, "added to every word of the other");
        }
        if (words) {
            expectation.words = read_words(entry, buffer, program);
            if (expectation.words.empty()) {
                entry.error("words", "must list at least one word");
            }
        }
        entry.done();
        workload.expectations.push_back(expectation);
    }
}

std::string print_contents(const ProgramWorkload& workload) {
    const auto name = [&workload](BufferName buffer) {
        return arch::npu::program::scalar(name_of(buffer, workload.program));
    };
    const auto words = [](const std::vector<std::int64_t>& list) {
        return fmt::format("words: [{}]", fmt::join(list, ", "));
    };
    std::string text = workload.fills.empty() ? "" : "fill:\n";
    for (const ProgramWorkload::Fill& fill : workload.fills) {
        std::string values = words(fill.words);
        for (const auto& [called, kind] : kValues) {
            values = kind == fill.values ? fmt::format("values: {}", called) : values;
        }
        text += fmt::format("  - {{buffer: {}, {}}}\n", name(fill.buffer), values);
    }
    text += workload.expectations.empty() ? "" : "expect:\n";
    for (const ProgramWorkload::Expectation& expectation : workload.expectations) {
        text += fmt::format(
            "  - {{buffer: {}, {}}}\n", name(expectation.buffer),
            expectation.equals
                ? fmt::format("equals: {}, plus: {}", name(*expectation.equals), expectation.plus)
                : words(expectation.words));
    }
    return text;
}

void fill_buffers(const ProgramWorkload& workload, std::uint64_t seed, ProgramBytes bytes) {
    std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
    for (const ProgramWorkload::Fill& fill : workload.fills) {
        std::vector<std::uint32_t> words(size_in_words(fill.buffer, workload.program));
        std::uint32_t next = 0;
        for (std::uint32_t& word : words) {
            switch (fill.values) {
                case Values::Zeros:
                    break;
                case Values::Counting:
                    word = next++;
                    break;
                case Values::Random:
                    word = static_cast<std::uint32_t>(random());
                    break;
                case Values::Words:
                    word =
                        next < fill.words.size() ? static_cast<std::uint32_t>(fill.words[next]) : 0;
                    ++next;
                    break;
            }
        }
        store_words(bytes, fill.buffer, workload.program, words);
    }
}

workloads::ProductCheck check_buffers(const ProgramWorkload& workload, ProgramBytes bytes) {
    workloads::ProductCheck check;
    check.method = workload.expectations.empty() ? "no expect says what buffers must hold"
                                                 : "words of buffers";
    check.match = true;
    const Program& program = workload.program;
    for (const ProgramWorkload::Expectation& expectation : workload.expectations) {
        const auto got = words_of(bytes, expectation.buffer, program);
        std::vector<std::uint32_t> expected;
        if (expectation.equals) {
            expected = words_of(bytes, *expectation.equals, program);
            for (std::uint32_t& word : expected) {
                word += static_cast<std::uint32_t>(expectation.plus);
            }
        } else {
            for (const std::int64_t word : expectation.words) {
                expected.push_back(static_cast<std::uint32_t>(word));
            }
        }
        for (std::size_t i = 0; i < std::min(got.size(), expected.size()); ++i) {
            ++check.checked;
            if (got[i] != expected[i] && check.match) {
                check.match = false;
                check.first_mismatch =
                    fmt::format("{} word {}: {} instead of {}",
                                name_of(expectation.buffer, program), i, got[i], expected[i]);
            }
        }
    }
    return check;
}

}  // namespace tilesim::workloads::npu::program_file
