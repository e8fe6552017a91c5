#include "sim/program_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <span>

#include "arch/npu/program_reader.hpp"

namespace tilesim::sim {

using arch::base::config::Node;
using arch::npu::ExternalBuffer;

namespace {

constexpr std::int64_t kWordBytes = 4;

std::int64_t read_buffer(Node& node, std::string_view key,
                         const std::vector<ExternalBuffer>& buffers) {
    std::string name;
    node.required(key, name, "external buffer");
    const auto place = std::find_if(buffers.begin(), buffers.end(),
                                    [&name](const auto& each) { return each.name == name; });
    if (place == buffers.end()) {
        node.error(key, fmt::format("no external buffer is named '{}'", name));
        return 0;
    }
    return place - buffers.begin();
}

std::vector<std::uint32_t> words_of(const arch::memory::BackingStore& store,
                                    const ExternalBuffer& buffer) {
    std::vector<std::uint32_t> words(static_cast<std::size_t>(buffer.bytes / kWordBytes));
    store.read(buffer.address, std::as_writable_bytes(std::span{words}));
    return words;
}

}  // namespace

ProgramWorkload read_program_workload(Node& root) {
    ProgramWorkload workload;
    workload.program = arch::npu::read_program(root);
    read_contents(root, workload);
    return workload;
}

void read_contents(Node& root, ProgramWorkload& workload) {
    const auto& buffers = workload.program.external_buffers;
    using Values = ProgramWorkload::Fill::Values;
    for (Node& entry : root.list("fill", "what external buffers hold at start")) {
        ProgramWorkload::Fill fill;
        fill.buffer = read_buffer(entry, "buffer", buffers);
        entry.required(
            "values", fill.values,
            {{"zeros", Values::Zeros}, {"counting", Values::Counting}, {"random", Values::Random}},
            "32-bit words");
        entry.done();
        workload.fills.push_back(fill);
    }
    for (Node& entry : root.list("expect", "what external buffers must hold at the end")) {
        ProgramWorkload::Expectation expectation;
        expectation.buffer = read_buffer(entry, "buffer", buffers);
        if (entry.has("equals") == entry.has("words")) {
            entry.error("", "must hold either equals or words");
        } else if (entry.has("equals")) {
            expectation.equals = read_buffer(entry, "equals", buffers);
        } else {
            for (Node& word : entry.list("words", "32-bit words")) {
                expectation.words.push_back(word.integer({INT32_MIN, UINT32_MAX}));
            }
        }
        entry.done();
        workload.expectations.push_back(expectation);
    }
}

void fill_buffers(const ProgramWorkload& workload, std::uint64_t seed,
                  arch::memory::BackingStore& store) {
    std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
    for (const ProgramWorkload::Fill& fill : workload.fills) {
        const ExternalBuffer& buffer =
            workload.program.external_buffers[static_cast<std::size_t>(fill.buffer)];
        std::vector<std::uint32_t> words(static_cast<std::size_t>(buffer.bytes / kWordBytes));
        std::uint32_t next = 0;
        for (std::uint32_t& word : words) {
            switch (fill.values) {
                case ProgramWorkload::Fill::Values::Zeros:
                    break;
                case ProgramWorkload::Fill::Values::Counting:
                    word = next++;
                    break;
                case ProgramWorkload::Fill::Values::Random:
                    word = static_cast<std::uint32_t>(random());
                    break;
            }
        }
        store.write(buffer.address, std::as_bytes(std::span{words}));
    }
}

workloads::ProductCheck check_buffers(const ProgramWorkload& workload,
                                      const arch::memory::BackingStore& store) {
    workloads::ProductCheck check;
    check.method = "words of external buffers";
    check.match = true;
    for (const ProgramWorkload::Expectation& expectation : workload.expectations) {
        const auto& buffers = workload.program.external_buffers;
        const ExternalBuffer& buffer = buffers[static_cast<std::size_t>(expectation.buffer)];
        const auto got = words_of(store, buffer);
        std::vector<std::uint32_t> expected;
        if (expectation.equals >= 0) {
            expected = words_of(store, buffers[static_cast<std::size_t>(expectation.equals)]);
        } else {
            for (const std::int64_t word : expectation.words) {
                expected.push_back(static_cast<std::uint32_t>(word));
            }
        }
        for (std::size_t i = 0; i < std::min(got.size(), expected.size()); ++i) {
            ++check.checked;
            if (got[i] != expected[i] && check.match) {
                check.match = false;
                check.first_mismatch = fmt::format("{} word {}: {} instead of {}", buffer.name, i,
                                                   got[i], expected[i]);
            }
        }
    }
    return check;
}

}  // namespace tilesim::sim
