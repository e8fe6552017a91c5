#include "arch/npu/program/program_reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "arch/npu/program/program_print.hpp"

namespace tilesim::arch::npu::program {
namespace {

using base::config::ConfigError;
using base::config::Document;

constexpr const char* kProgram = R"(program: everything
external_buffers:
  - {name: A, address: 0, bytes: 4096}
locks:
  - {name: free, tile: [0, 1], id: 0, initial: 1}
buffers:
  - {name: box, tile: [0, 1], address: 0, bytes: 4096}
  - {name: tile, tile: [0, 2], address: 1024, bytes: 64}
dmas:
  - tile: [0, 1]
    descriptors:
      - {id: 0, buffer: box, offset: 64, length: 8, dimensions: [[4, 1], [2, 8]], iteration: [3, 16], iteration_current: 1, padding: [[1, 2]], acquire: {lock: free, value: -1}, release: {lock: free, value: 1}, packet: {id: 5, type: 1}, next: 0}
    starts:
      - {channel: mm2s0, descriptor: 0, repeat: 7, token: on}
routes:
  - name: out
    from: {tile: [0, 1], channel: mm2s0}
    to: [{tile: [0, 2], channel: s2mm0}, {tile: [0, 3], channel: s2mm1, keep_header: off}]
    packet_id: 5
    keep_header: on
    path: [{tile: [0, 1], in: dma0, out: north0, arbiter: 3}]
merges:
  - {tile: [0, 1], arbiter: 1, turns: [{in: dma0, packets: 3}, {in: south2, packets: 1}]}
traced:
  - {tile: [0, 0], channel: s2mm0}
kernels:
  - {name: work, kind: fixed, m: 0, k: 0, n: 0, a: int8, b: int8, c: int8, b_layout: column_major, cycles: 9, marked: off}
  - {name: cast, kind: vector, m: 4, k: 0, n: 8, a: f32, b: f32, c: bf16, b_layout: column_major, operation: cast, iteration_lanes: 16, by_element: on}
cores:
  - tile: [0, 2]
    rotations:
      - {name: x, buffers: [tile]}
      - {name: w, buffers: [tile], length: 1, offset: 2, dimensions: [[3, 1], [2, -1]]}
    enabled: 84
    parameters: [0, -3, 17]
    script:
      - loop: {count: -1}
        body:
          - acquire: {lock: free, value: 1}
          - loop: {parameter: 2}
            body:
              - call: {kernel: work, operands: [x], advance: [x]}
          - release: {lock: free, value: 1}
          - put: {words: 5, from: x}
          - get: {words: 3, in_register: 4}
          - put_stream: {port: 1, words: 7, from: x}
          - put_stream: {port: 0, words: 3, packet: 5, ends_packet: on}
          - put_stream: {port: 0, words: 1, in_register: 4}
          - put_stream: {port: 0, words: 1, value: 4294967295}
          - get_stream: {port: 0, words: 1, into: w, advance: on}
sequence:
  - write_descriptor: {tile: [0, 0], descriptor: {id: 3, buffer: A, offset: 0, length: 16, burst_bytes: 256}}
  - push: {to: {tile: [0, 0], channel: s2mm1}, descriptor: 3, repeat: 1, token: off}
  - wait: {tile: [0, 0], channel: s2mm1}
  - wait_idle: {tile: [0, 0], channel: s2mm1}
  - wait_idle: {tile: [0, 0], channel: s2mm1, queued: 3}
  - write_parameter: {tile: [0, 2], index: 2, value: 11}
  - set_lock: {lock: free, value: 3}
  - write_registers: 12
)";

TEST(ProgramReader, ReadsWhatIsPrinted) {
    auto document = Document::parse(kProgram, "p.yaml");
    auto root = document.root();
    const Program program = read_program(root);
    root.done();
    document.finish();
    EXPECT_EQ(print(program), kProgram);
}

TEST(ProgramReader, KnowsWhereEachPartStands) {
    auto document = Document::parse(kProgram, "p.yaml");
    auto root = document.root();
    const Program p = read_program(root);
    const auto at = [](const char* part) {
        const std::string_view before{kProgram, std::string_view{kProgram}.find(part)};
        return 1 + std::count(before.begin(), before.end(), '\n');
    };
    EXPECT_EQ(p.file, "p.yaml");
    EXPECT_EQ(p.external_buffers[0].where, (base::FilePlace{3, 5}));
    EXPECT_EQ(p.locks[0].where.line, at("{name: free"));
    EXPECT_EQ(p.buffers[1].where.line, at("{name: tile"));
    EXPECT_EQ(p.dmas[0].where.line, at("- tile: [0, 1]"));
    EXPECT_EQ(p.dmas[0].descriptors[0].where.line, at("{id: 0, buffer: box"));
    EXPECT_EQ(p.dmas[0].starts[0].task.where.line, at("{channel: mm2s0, desc"));
    EXPECT_EQ(p.routes[0].where.line, at("- name: out"));
    EXPECT_EQ(p.kernels[1].where.line, at("{name: cast"));
    EXPECT_EQ(p.cores[0].where.line, at("- tile: [0, 2]"));
    const auto& loop = std::get<LoopOp>(p.cores[0].script[0].op);
    EXPECT_EQ(loop.body[0].where.line, at("- acquire"));
    EXPECT_EQ(where(p.sequence[0]).line, at("- write_descriptor"));
    EXPECT_EQ(where(p.sequence[7]).line, at("- write_registers"));
}

std::string complaint(std::string from, const std::string& to) {
    std::string text = kProgram;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    auto document = Document::parse(text, "p.yaml");
    auto root = document.root();
    read_program(root);
    root.done();
    try {
        document.finish();
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

// A size of 0 is for the verifier to refuse: it was read as 1.
TEST(ProgramReader, ReadsAnIterationAsItIs) {
    auto document = Document::parse(
        "program: p\nexternal_buffers: [{name: A, address: 0, bytes: 64}]\nsequence: "
        "[{write_descriptor: {tile: [0, 0], descriptor: {id: 0, buffer: A, length: 1, iteration: "
        "[0, 4]}}}]\n",
        "p.yaml");
    auto root = document.root();
    const Program program = read_program(root);
    document.finish();
    const auto& write = std::get<WriteDescriptor>(program.sequence.at(0));
    ASSERT_TRUE(write.descriptor.iteration);
    EXPECT_EQ(write.descriptor.iteration->size, 0);
}

TEST(ProgramReader, ReadsAnEmptyProgramAsPrinted) {
    Program program;
    program.name = "nothing";
    program.columns = 2;
    program.cores.push_back({{0, 2}, {}, {}});
    auto document = Document::parse(print(program), "p.yaml");
    auto root = document.root();
    EXPECT_EQ(print(read_program(root)), print(program));
    document.finish();
}

TEST(ProgramReader, ReadsNamesThatMeanSomethingElseInYaml) {
    for (const char* name : {"null", "", "a: b", "#x", "-", "[a]", "a,b", "*a", "%a", "tile(0,2)",
                             "say \"x\"", "back\\slash", "a\tb", "\u00e9", "true", "on", "1"}) {
        Program program;
        program.name = "p";
        program.external_buffers.push_back({name, 0, 64});
        program.cores.push_back({{0, 2}, {}, {}});
        auto document = Document::parse(print(program), "p.yaml");
        auto root = document.root();
        const Program read = read_program(root);
        root.done();
        document.finish();
        EXPECT_EQ(read.external_buffers.at(0).name, name);
        EXPECT_EQ(print(read), print(program));
    }
}

TEST(ProgramReader, SaysWhereAndWhatIsWrong) {
    EXPECT_NE(complaint("acquire: {lock: free,", "acquire: {lock: fre,").find("p.yaml:12:"),
              std::string::npos);
    EXPECT_NE(
        complaint("acquire: {lock: free,", "acquire: {lock: fre,").find("did you mean 'free'?"),
        std::string::npos);
    EXPECT_NE(complaint("channel: mm2s0, desc", "channel: mm2t0, desc").find("got 'mm2t0'"),
              std::string::npos);
    EXPECT_NE(complaint("[[4, 1], [2, 8]]", "[[4, 1], [2]]").find("two integers"),
              std::string::npos);
    EXPECT_NE(complaint("{name: tile, tile", "{name: box, tile").find("declared twice"),
              std::string::npos);
    EXPECT_NE(complaint("    packet_id: 5\n", "").find("keep_header: goes with packet_id"),
              std::string::npos);
    EXPECT_NE(complaint(", cycles: 9", "").find("cycles"), std::string::npos);
    EXPECT_NE(complaint("set_lock:", "unset_lock:").find("must be write_descriptor"),
              std::string::npos);
    EXPECT_EQ(complaint("value: 11", "value: 4294967295"), "");
    EXPECT_NE(complaint("value: 11", "value: 4294967296").find("..4294967295"), std::string::npos);
    EXPECT_NE(complaint("repeat: 7", "repeat: 257").find("1..256"), std::string::npos);
    EXPECT_NE(complaint("length: 8,", "lenght: 8,").find("did you mean 'length'?"),
              std::string::npos);
}

}  // namespace
}  // namespace tilesim::arch::npu::program
