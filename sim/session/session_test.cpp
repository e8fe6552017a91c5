#include "sim/session/session.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/base/temporary_folder_testing.hpp"
#include "arch/npu/control/descriptor_words.hpp"
#include "arch/npu/program/program_print.hpp"
#include "arch/npu/program/program_reader.hpp"
#include "sim/device_files_testing.hpp"
#include "sim/result_table.hpp"
#include "sim/scenario.hpp"
#include "workloads/attribution.hpp"

namespace tilesim::sim::session {
namespace {

namespace program = arch::npu::program;

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

workloads::RunResult launched(double dispatch_ns) {
    return session::run(parse_scenario(
        "device: xdna2\nworkload: {elementwise: {operation: add, rows: 64, elements: 64}}\n"
        "mapping: {elementwise: {columns: 1}}\n",
        "test",
        {{"device.npu.command_processor.dispatch", fmt::format("{:.0f} ns", dispatch_ns)}}));
}

// A launch of d and work of w is shorter than three launches where d > w / 2.
TEST(Session, AResultUnderThreeLaunchesLongSaysThatItIsMostlyTheHosts) {
    constexpr double kDispatch = 1000;
    const double work = launched(kDispatch).time_ns - kDispatch;
    const auto says = Contains(HasSubstr("mostly the host's time"));
    EXPECT_THAT(launched(0.49 * work).notes, Not(says));
    EXPECT_THAT(launched(0.51 * work).notes, says);
}

// Nearly half of its time it waits for its first loads: asked for in front, B comes while A does.
TEST(Session, ASmallProductOnAmxCoresAsksForItsFirstBlockOfB) {
    const auto run = [](const workloads::Overrides& overrides) {
        return session::run(
            parse_scenario("device: sapphire_rapids\n"
                           "workload: {gemm: {M: 96, K: 128, N: 128, a: bf16, b: bf16, c: f32}}\n",
                           "test", overrides));
    };
    const workloads::RunResult chosen = run({});
    nlohmann::ordered_json mapping = chosen.mapping;
    EXPECT_EQ(mapping["amx"]["prefetch_first"], true);
    mapping["amx"]["prefetch_first"] = false;
    EXPECT_LT(chosen.time_ns, run({{"mapping", mapping.dump()}}).time_ns);
}

std::string complaint(const std::string& scenario) {
    try {
        parse_scenario(scenario, "/folder/s.yaml", {});
        return "";
    } catch (const arch::base::config::ConfigError& error) {
        return error.what();
    }
}

// With buffers in tiles only, the name of none was taken for the first of those in DRAM.
TEST(Session, WordsOfABufferThatIsNotThereAreAnErrorWhateverBuffersThereAre) {
    const std::string program =
        "device: xdna\nprogram: p\nbuffers: [{name: box, tile: [0, 1], bytes: 64}]\n"
        "sequence: [{wait: {tile: [0, 0], channel: s2mm0}}]\n";
    EXPECT_THAT(
        complaint(program + "fill: [{buffer: bax, words: [1]}]\n"),
        HasSubstr("s.yaml:5:17: fill[0].buffer: no buffer is named 'bax'; did you mean 'box'?"));
    EXPECT_THAT(complaint(program + "expect: [{buffer: nix, words: [1]}]\n"),
                HasSubstr("s.yaml:5:19: expect[0].buffer: no buffer is named 'nix'"));
}

TEST(Session, AFunctionalRunThatComparesNothingClaimsNoMatch) {
    const std::string program =
        "device: xdna\nprogram: p\nrun: {functional: on}\n"
        "external_buffers: [{name: a, address: 0, bytes: 64}]\n"
        "sequence: [{write_registers: 1}]\n";
    const auto check = [&](const std::string& contents) {
        return session::run(parse_scenario(program + contents, "test", {})).functional.value();
    };
    EXPECT_FALSE(check("").compared());
    EXPECT_EQ(check("").method, "no expect says what buffers must hold");
    EXPECT_TRUE(check("expect: [{buffer: a, words: [0]}]\n").compared());
    EXPECT_THAT(complaint(program + "expect: [{buffer: a, words: []}]\n"),
                HasSubstr("expect[0].words: must list at least one word"));
}

// It was printed by the name that the file gives itself: another device's, where it is a copy.
TEST(Session, ALoweredProgramRunsOnTheDeviceThatTheScenarioNames) {
    const std::string device = std::string{TILESIM_SOURCE_DIR} + "/configs/devices/xdna.yaml";
    const Scenario scenario = parse_scenario(
        "device: " + device + "\nprogram: p\nsequence: [{write_registers: 1}]\n", "test", {});
    EXPECT_THAT(Session().lowered_text(scenario),
                testing::StartsWith("device: " + device + "\nprogram: p\n"));
}

// What the design's buffers hold at start and what the scenario expects is in what is printed.
TEST(Session, ALoweredDesignIsReadBackWithWhatItsBuffersHold) {
    const auto checked = [](const Scenario& scenario) {
        const workloads::RunResult result = session::run(scenario);
        EXPECT_TRUE(result.functional->compared());
        EXPECT_TRUE(result.functional->match);
        return std::pair{result.cycles, result.functional->checked};
    };
    for (const char* name : {"held_at_start", "merge_order", "iteration", "neighbour_memory"}) {
        const std::string file =
            fmt::format("{}/configs/programs/{}.yaml", TILESIM_SOURCE_DIR, name);
        const Scenario scenario = load_scenario(file, {{"run.functional", "on"}});
        const std::string text = Session().lowered_text(scenario);
        const Scenario again = parse_scenario(text, "lowered.yaml", {{"run.functional", "on"}});
        EXPECT_EQ(checked(again), checked(scenario)) << name;
        EXPECT_EQ(Session().lowered_text(again), text) << name;
    }
}

// Compilers' scripts name them insts.bin, x.insts, sequence.txn or insts.
TEST(Session, ABinaryIsADesignWhateverItsName) {
    const arch::base::TemporaryFolder folder;
    const std::string programs = std::string{TILESIM_SOURCE_DIR} + "/configs/programs/";
    const auto time = [](const std::string& file) {
        return session::run(load_scenario(file, {})).time_ns;
    };
    const std::string file = folder.path() / "copy.insts";
    std::filesystem::copy_file(programs + "copy_insts.bin", file);
    EXPECT_EQ(time(file), time(programs + "copy_insts.bin"));
}

// What a compiler writes of a sequence that moves nothing but the shims' data.
class Instructions {
  public:
    static std::string bytes_of(const program::Program& program) {
        Instructions all;
        for (const program::SequenceOp& op : program.sequence) {
            if (const auto* write = std::get_if<program::WriteDescriptor>(&op)) {
                all.add(*write);
            } else if (const auto* push = std::get_if<program::PushTask>(&op)) {
                all.add(*push);
            } else {
                all.add(std::get<program::WaitToken>(op));
            }
        }
        constexpr std::size_t kHeader = 4;
        std::string bytes;
        std::vector<std::uint32_t> words{
            0x06030100, 0x105, all.operations_,
            static_cast<std::uint32_t>(4 * (kHeader + all.words_.size()))};
        words.insert(words.end(), all.words_.begin(), all.words_.end());
        for (const std::uint32_t word : words) {
            for (const int shift : {0, 8, 16, 24}) {
                bytes += static_cast<char>(word >> shift & 0xFF);
            }
        }
        return bytes;
    }

  private:
    static std::uint32_t address_of(program::TileCoordinate tile, std::int64_t offset) {
        return static_cast<std::uint32_t>(tile.column << 25 | tile.row << 20 | offset);
    }
    void operation(const std::vector<std::uint32_t>& words) {
        words_.insert(words_.end(), words.begin(), words.end());
        ++operations_;
    }
    void add(const program::WriteDescriptor& write) {
        const std::uint32_t at = address_of(write.tile, 0x1D000 + 32 * write.descriptor.id);
        const auto data = arch::npu::control::encode_descriptor(
            program::TileKind::Shim, {.descriptor = write.descriptor, .address = 0});
        std::vector<std::uint32_t> block{1, 0, at,
                                         static_cast<std::uint32_t>(16 + 4 * data.size())};
        block.insert(block.end(), data.begin(), data.end());
        operation(block);
        operation({0x81, 48, 0, 0, 0, 0, at + 4, 0,
                   static_cast<std::uint32_t>(write.descriptor.buffer), 0,
                   static_cast<std::uint32_t>(write.descriptor.offset), 0});
    }
    void add(const program::PushTask& push) {
        const std::int64_t first =
            push.channel.direction == program::Direction::S2MM ? 0x1D204 : 0x1D214;
        const std::uint32_t value =
            static_cast<std::uint32_t>(push.task.descriptor | (push.task.repeat - 1) << 16 |
                                       (push.task.token ? 1LL << 31 : 0));
        operation(
            {0, 0, address_of(push.channel.tile, first + 8 * push.channel.index), 0, value, 24});
    }
    void add(const program::WaitToken& wait) {
        const std::int64_t direction = wait.channel.direction == program::Direction::S2MM ? 0 : 1;
        const program::TileCoordinate tile = wait.channel.tile;
        operation({0x80, 16,
                   static_cast<std::uint32_t>(direction | tile.row << 8 | tile.column << 16),
                   static_cast<std::uint32_t>(0x10100 | wait.channel.index << 24)});
    }

    std::vector<std::uint32_t> words_;
    std::uint32_t operations_ = 0;
};

program::Program program_of(const std::string& file) {
    auto document = arch::base::config::Document::parse(
        Session().lowered_text(load_scenario(file, {})), "p.yaml");
    auto root = document.root();
    return program::read_program(root);
}

// As it is printed, its arguments by their numbers.
std::string sequence_of(const program::Program& program) {
    program::Program alone;
    alone.sequence = program.sequence;
    for (std::size_t i = 0; i < program.external_buffers.size(); ++i) {
        alone.external_buffers.push_back({fmt::format("arg{}", i), 0, 0});
    }
    return print(alone);
}

TEST(Session, ASequenceIsReadBackFromTheInstructionsThatAreMadeOfIt) {
    const arch::base::TemporaryFolder folder;
    for (const char* name : {"element_slots", "object_fifos", "iterated_elements", "scale",
                             "fifo_pools", "spilled_elements", "carried_words"}) {
        const program::Program design =
            program_of(fmt::format("{}/configs/programs/{}.mlir", TILESIM_SOURCE_DIR, name));
        const std::string file = folder.path() / fmt::format("{}.bin", name);
        std::ofstream(file, std::ios::binary) << Instructions::bytes_of(design);
        EXPECT_EQ(sequence_of(program_of(file)), sequence_of(design)) << name;
    }
}

// The second configuration's memory tile sends what it never received.
TEST(Session, TransfersThatTheLastConfigurationLeavesAreNamed) {
    const std::string shipped =
        std::string{TILESIM_SOURCE_DIR} + "/configs/programs/two_configurations.mlir";
    std::string design = arch::base::config::read_file(shipped);
    const std::string receive = "aie.dma_start(S2MM, 0, ^receive";
    design.replace(design.rfind(receive), receive.size(), "aie.dma_start(MM2S, 0, ^receive");
    const arch::base::TemporaryFolder folder;
    const std::string file = folder.path() / "left.mlir";
    std::ofstream(file) << design;
    const auto left = Contains(HasSubstr("had not finished when the sequence ended"));
    EXPECT_THAT(session::run(load_scenario(file, {})).notes, left);
    EXPECT_THAT(session::run(load_scenario(shipped, {})).notes, Not(left));
}

TEST(Session, AFileThatIsNotThereIsSaidWhereItsKeyStands) {
    const std::string design = "device: xdna\ndesign: {file: ";
    const std::string copy = std::string{TILESIM_SOURCE_DIR} + "/configs/programs/copy_insts.bin";
    EXPECT_THAT(complaint(design + "no.mlir}\n"),
                HasSubstr("s.yaml:2:16: design.file: /folder/no.mlir: there is no such file"));
    EXPECT_THAT(complaint(design + copy + ", configuration: no.bin}\n"),
                HasSubstr("design.configuration: /folder/no.bin: there is no such file"));
    EXPECT_THAT(complaint(design + copy + ", kernels_file: no.yaml}\n"),
                HasSubstr("design.kernels_file: /folder/no.yaml: there is no such file"));
    EXPECT_THAT(complaint(design + copy + ", words: {a: no.bin}}\n"),
                HasSubstr("design.words.a: /folder/no.bin: there is no such file"));
    EXPECT_THAT(complaint("device: lpddr5x_pim\npim_program: {file: no.txt}\n"),
                HasSubstr("s.yaml:2:21: pim_program.file: /folder/no.txt: there is no such file"));
    EXPECT_THAT(complaint("device: lpddr5x_aim\npim_program: {aim_trace: no.txt}\n"),
                HasSubstr("pim_program.aim_trace: /folder/no.txt: there is no such file"));
    EXPECT_THAT(complaint("device: ddr5_4800\nworkload: {memory_trace: no.csv}\n"),
                HasSubstr("workload.memory_trace: /folder/no.csv: there is no such file"));
    EXPECT_THAT(complaint("device: spr_amx\nworkload: {amx_program: {file: no.amx}}\n"),
                HasSubstr("workload.amx_program.file: /folder/no.amx: there is no such file"));
    EXPECT_THAT(complaint("device: /no.yaml\nworkload: {memory_stream: {}}\n"),
                HasSubstr("s.yaml:1:9: device: /no.yaml: there is no such file"));
    EXPECT_THAT(complaint("memory: /no.yaml\nagents: {a: {stream: {}}}\n"),
                HasSubstr("s.yaml:1:9: memory: /no.yaml: there is no such file"));
}

TEST(Session, WhatIsWrongInAnAmxProgramIsNamedByThePathItWasFoundAt) {
    const arch::base::TemporaryFolder folder;
    const std::string program = folder.path() / "k.amx";
    const auto problem = [&](const std::string& text) -> std::string {
        std::ofstream(program) << text;
        try {
            session::run(
                parse_scenario("device: sapphire_rapids\nworkload: {amx_program: {file: k.amx}}\n",
                               folder.path() / "s.yaml", {}));
        } catch (const arch::base::config::ConfigError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(problem("foo\n"), testing::StartsWith(program + ":1:1: unknown instruction"));
    EXPECT_THAT(problem("# faults\ntilezero tmm0\n"), testing::StartsWith(program + ":2:1: "));
    EXPECT_THAT(problem("# nothing\n"), HasSubstr(program + ": holds no instruction"));
    EXPECT_THAT(problem("loop i 0\nscalar\nend\n"), HasSubstr(program + ": holds no instruction"));
}

TEST(Session, ALoopOfCountPassesAsOftenAsTheScenarioSays) {
    const arch::base::TemporaryFolder folder;
    const auto run = [&](const std::string& text, const Overrides& overrides) {
        std::ofstream(folder.path() / "k.amx") << text;
        return session::run(
            parse_scenario("device: sapphire_rapids\nworkload: {amx_program: {file: k.amx}}\n",
                           folder.path() / "s.yaml", overrides));
    };
    const std::string counted = "loop i COUNT\nscalar\nend\n";
    const workloads::RunResult once = run(counted, {});
    EXPECT_THAT(once.notes, Contains(HasSubstr("workload.amx_program.count says how often")));
    const workloads::RunResult often = run(counted, {{"workload.amx_program.count", "1000"}});
    EXPECT_GE(often.cycles, 200);  // two instructions a pass, six a cycle enter at most
    EXPECT_THAT(often.notes, Not(Contains(HasSubstr("COUNT"))));
    // What is stated stands in the result, and what changes nothing is named.
    EXPECT_EQ(often.workload["amx_program"]["count"], 1000);
    EXPECT_EQ(often.workload["amx_program"]["data_in"], "l1");
    EXPECT_THAT(run("scalar\n", {{"workload.amx_program.count", "2"}}).not_exercised,
                Contains("workload.amx_program.count"));
    EXPECT_THAT(run("buffer a 0x1000 64\nflush a\nprefetcht0 [a]\n", {}).not_exercised,
                Contains("workload.amx_program.data_in"));
    EXPECT_THAT(once.not_exercised, Not(Contains("workload.amx_program.count")));
}

// As `lower` prints a product of which the first core's share is nothing.
TEST(Session, TheFirstThreadOfAnAmxProgramMayDoNothing) {
    const arch::base::TemporaryFolder folder;
    std::ofstream(folder.path() / "k.amx") << "# thread 0\n# thread 1\nscalar\n";
    const auto result = session::run(
        parse_scenario("device: sapphire_rapids\nworkload: {amx_program: {file: k.amx}}\n",
                       folder.path() / "s.yaml", {}));
    EXPECT_EQ(result.status, workloads::Status::Ok);
}

// Four tiles of 1 KiB, and tables of pages: what a text reads is known by the lines that came.
TEST(Session, TheRooflineOfAnAmxProgramCountsWhatComesFromMemory) {
    const arch::base::TemporaryFolder folder;
    std::ofstream(folder.path() / "k.amx")
        << "buffer a 0x100000 4096\nconfig 0 16x64 16x64 16x64 16x64 16x64 16x64 16x64 16x64\n"
           "ldtilecfg 0\nloop k 4\n  tileloadd tmm0, [a + 1024*k], 64\nend\n";
    const auto run = [&](const char* data_in) {
        return session::run(
            parse_scenario(fmt::format("device: sapphire_rapids\n"
                                       "workload: {{amx_program: {{file: k.amx, data_in: {}}}}}\n",
                                       data_in),
                           folder.path() / "s.yaml", {}));
    };
    const workloads::RunResult cold = run("dram");
    EXPECT_GE(cold.bounds->dram_bytes, 4096);
    EXPECT_LE(cold.bounds->dram_bytes, static_cast<double>(cold.memory->bytes_read));
    EXPECT_GT(cold.bounds->memory_ns, 0);
    EXPECT_THAT(to_table(cold),
                HasSubstr(fmt::format("{:.0f} DRAM bytes\n", cold.bounds->dram_bytes)));
    EXPECT_THAT(to_table(run("l1")), HasSubstr("no DRAM bytes\n"));
}

// As all other paths in files, from the file's folder; from the working folder as well, where
// scripts had to count it from before.
TEST(Session, AFileNamesDevicesAndModelsFromItsFolder) {
    namespace fs = std::filesystem;
    const arch::base::TemporaryFolder folder;
    write_device_with_memory_beside(folder.path());
    fs::copy_file(fs::path{TILESIM_SOURCE_DIR} / "configs/models/opt_125m.yaml",
                  folder.path() / "model.yaml");
    const auto on = [&](const std::string& text) {
        return parse_scenario(text, (folder.path() / "s.yaml").string(), {}).device.name;
    };
    const std::string kernel =
        "\nworkload: {core_kernel: {m: 16, k: 16, n: 16, a: int8, b: int8, c: int8}}\n";
    EXPECT_EQ(on("device: memory/mine.yaml\nworkload: {memory_stream: {}}\n"), "ddr5_5600");
    EXPECT_EQ(on("device: npu.yaml" + kernel), "xdna");
    EXPECT_EQ(on("device: lpddr5x_pim\nworkload: {model: model.yaml, prompt: 8, prompt_device: "
                 "npu.yaml}\n"),
              "lpddr5x_pim");
    EXPECT_EQ(
        on("memory: memory/mine.yaml\nagents:\n  a: {device: npu.yaml, workload: {elementwise: "
           "{operation: add, rows: 8, elements: 64}}}\n"),
        "ddr5_5600");
    const fs::path from_here = fs::relative(folder.path() / "npu.yaml");
    EXPECT_EQ(on("device: " + from_here.string() + kernel), "xdna");
    EXPECT_THAT(complaint("device: nope.yaml\nworkload: {memory_stream: {}}\n"),
                HasSubstr("s.yaml:1:9: device: 'nope.yaml' is neither in the working folder nor "
                          "beside /folder/s.yaml, /folder/nope.yaml"));
}

TEST(Session, ADeviceSetByAPathThatMeansTwoFilesIsRefused) {
    const arch::base::TemporaryFolder folder;
    const arch::base::TemporaryFolder working;
    const std::string shipped = std::string{TILESIM_SOURCE_DIR} + "/configs/devices/ddr5_5600.yaml";
    std::filesystem::copy_file(shipped, folder.path() / "mine.yaml");
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(working.path());
    const auto set = [&]() -> std::string {
        try {
            parse_scenario("device: ddr5_4800\nworkload: {memory_stream: {}}\n",
                           (folder.path() / "s.yaml").string(), {{"device", "mine.yaml"}});
            return "";
        } catch (const arch::base::config::ConfigError& error) {
            return error.what();
        }
    };
    EXPECT_EQ(set(), "");
    std::filesystem::copy_file(shipped, working.path() / "mine.yaml");
    EXPECT_THAT(set(), HasSubstr("or mine.yaml in the working folder: write the whole path"));
    std::filesystem::current_path(before);
}

TEST(Session, AMappingWhereNoneIsTakenIsWhatIsWrong) {
    EXPECT_THAT(
        complaint("device: ddr5_4800\nworkload: {memory_stream: {}}\nmapping: {pimnast: {}}\n"),
        HasSubstr("s.yaml:3:1: mapping: memory_stream on 'ddr5_4800' takes none, got pimnast"));
    EXPECT_THAT(complaint("device: lpddr5x_pim\npim_program: {commands: write_input "
                          "1}\nmapping: {pimnast: {}}\n"),
                HasSubstr("mapping: pim_program on 'lpddr5x_pim' takes none, got pimnast"));
}

// Half of what a short product takes would be the way to the channels and what they need behind it.
TEST(Session, TheStatesOfUnitsInMemoryAddUpToTheProductsCycles) {
    const auto result = session::run(parse_scenario(
        "device: lpddr5x_pim\nworkload: {gemv: {M: 256, K: 256}}\nmapping: {pimnast: {split_k: "
        "8}}\n",
        "s.yaml", {}));
    ASSERT_EQ(result.status, workloads::Status::Ok);
    double spent = 0;
    for (const auto& [component, states] : result.where) {
        for (const auto& [state, cycles] : states) {
            spent += component == "pim" ? cycles : 0;
        }
    }
    EXPECT_EQ(spent, static_cast<double>(result.cycles));
    EXPECT_THAT(result.notes, testing::Contains(HasSubstr("K in 8 parts: the system on chip reads "
                                                          "and adds their sums, 0.030 us")));
}

// One product behind the other, K in so many parts.
workloads::RunResult products_in_memory(int vectors, int parts,
                                        const workloads::Overrides& overrides) {
    return session::run(parse_scenario(
        fmt::format("device: lpddr5x_pim\nworkload: {{gemm: {{M: {}, K: 256, N: 256, a: int8, "
                    "b: int8, c: int32}}}}\nmapping: {{pimnast: {{split_k: {}}}}}\n",
                    vectors, parts),
        "s.yaml", overrides));
}

// Each product's sums behind it, of which one's alone were told.
TEST(Session, WhatIsLeftToTheHostIsOfAllProducts) {
    const auto rest_ns = [](int vectors) {
        const workloads::RunResult result =
            products_in_memory(vectors, 8, {{"device.pim.split_reduction", "soc"}});
        const double rest = result.details.at("rest_on_host_ns").get<double>();
        EXPECT_NEAR(result.time_ns - rest, static_cast<double>(result.cycles) / 0.9375, 1);
        return rest;
    };
    EXPECT_GT(rest_ns(1), 0);
    EXPECT_DOUBLE_EQ(rest_ns(8), 8 * rest_ns(1));
}

TEST(Session, FewerPhasesThanAskedForAreNamed) {
    const auto notes = [](int phases) {
        const std::string scenario = fmt::format(
            "device: lpddr5x_pim\nworkload: {{gemv: {{M: 2304, K: 768}}}}\n"
            "mapping: {{pimnast: {{input_registers: 3, phases: {}}}}}\n",
            phases);
        return session::run(parse_scenario(scenario, "s.yaml", {})).notes;
    };
    EXPECT_THAT(notes(2), Not(Contains(HasSubstr("phases:"))));
    EXPECT_THAT(notes(1000), Contains(HasSubstr(" instead of 1000: the work is cut")));
}

// Each of them, and of columns that go round the banks: two tiles a column meet in every other
// bank, three in all of them.
TEST(Session, PartsOfASumAreAddedHoweverTheyCameAbout) {
    for (const auto& [rows, parts] : {std::pair{512, 64}, std::pair{768, 128}}) {
        const auto run = [rows = rows](const workloads::Overrides& overrides) {
            return session::run(parse_scenario(
                fmt::format("device: lpddr5x_pim\nworkload: {{gemv: {{M: {}, K: 1000, accumulate: "
                            "int16}}}}\nmapping: {{column_major: {{}}}}\n",
                            rows),
                "s.yaml", overrides));
        };
        const double ns = rows * (parts - 1) * 2 / 120.0;
        const workloads::RunResult charged = run({{"device.pim.split_reduction", "soc"}});
        EXPECT_NEAR(charged.details.at("rest_on_host_ns").get<double>(), ns, 1e-6);
        EXPECT_EQ(charged.details.at("uncharged_ns"), 0);
        const workloads::RunResult uncharged = run({});
        EXPECT_EQ(uncharged.details.at("rest_on_host_ns"), 0);
        EXPECT_NEAR(uncharged.details.at("uncharged_ns").get<double>(), ns, 1e-6);
        EXPECT_THAT(uncharged.notes,
                    testing::Contains(HasSubstr(fmt::format("K in {} parts", parts))));
    }
}

// Whoever has to add the parts of K may be better off with fewer.
TEST(Session, AChosenPlacementSaysWhichWereTheBestWithItsPartsAdded) {
    const auto run = [](int size, const workloads::Overrides& overrides) {
        return session::run(parse_scenario(
            fmt::format("device: lpddr5x_aim\nworkload: {{gemv: {{M: {0}, K: {0}}}}}\n", size),
            "s.yaml", overrides));
    };
    const workloads::RunResult chosen = run(256, {});
    EXPECT_EQ(chosen.mapping["pimnast"]["split_k"], 8);
    EXPECT_THAT(chosen.notes[0],
                testing::AllOf(HasSubstr("adding its 8 parts of K, 0.030 us a product, is not "
                                         "charged"),
                               HasSubstr("with it '1 input registers, degree 1, K in 2' is ")));
    const workloads::Overrides soc{{"device.pim.split_reduction", "soc"}};
    const workloads::RunResult charged = run(256, soc);
    EXPECT_EQ(charged.mapping["pimnast"]["split_k"], 2);
    EXPECT_THAT(charged.notes[0], testing::Not(HasSubstr("parts of K")));
    EXPECT_THAT(run(4096, {}).notes[0], testing::Not(HasSubstr("parts of K")));  // K in one
    EXPECT_THAT(run(1024, {{"device.soc.bandwidth", "100000 GB/s"}}).notes[0],
                HasSubstr("with it the same is the best"));
}

// Of a row of products of which some are simulated for all.
TEST(Session, TheEnergyOfProductsInMemoryIsThatOfAllOfThem) {
    const auto energy_nj = [](int vectors) {
        const workloads::Overrides currents{{"device.memory.power.core",
                                             "{voltage: 1.1 V, I0: 60 mA, I2N: 30 mA, I3N: 40 mA, "
                                             "I4R: 250 mA, I4W: 200 mA, I5B: 120 mA}"}};
        return products_in_memory(vectors, 1, currents).energy.at("read_nj").get<double>();
    };
    EXPECT_NEAR(energy_nj(4096), 4096 * energy_nj(1), energy_nj(1));
}

// It was simulated for the choice, which takes no part of the result but a note.
TEST(Session, TheRunOfAChosenMappingIsThatOfTheSameMappingGiven) {
    const auto run = [](const workloads::Overrides& overrides) {
        return session::run(
            parse_scenario("device: emerald_rapids\n"
                           "workload: {gemm: {M: 48, K: 192, N: 80, a: int8, b: int8, c: int8}}\n",
                           "test", overrides));
    };
    const workloads::RunResult chosen = run({});
    const workloads::RunResult given = run({{"mapping", chosen.mapping.dump()}});
    EXPECT_EQ(chosen.cycles, given.cycles);
    EXPECT_EQ(chosen.events, given.events);
    EXPECT_EQ(chosen.where, given.where);
    EXPECT_EQ(chosen.busy, given.busy);
    EXPECT_EQ(chosen.not_exercised, given.not_exercised);
    EXPECT_THAT(chosen.notes[0], HasSubstr("no mapping given"));
    // Of keys that change nothing it is told who has set them.
    std::vector<std::string> others;
    std::copy_if(given.notes.begin(), given.notes.end(), std::back_inserter(others),
                 [](const auto& note) { return !note.starts_with("mapping."); });
    EXPECT_LT(others.size(), given.notes.size());
    EXPECT_EQ(std::vector(chosen.notes.begin() + 1, chosen.notes.end()), others);
}

workloads::RunResult run_mapped(const std::string& device, const std::string& workload,
                                const std::string& mapping) {
    return session::run(parse_scenario(
        fmt::format("device: {}\nworkload: {{{}}}\nmapping: {{{}}}\n", device, workload, mapping),
        "test", {}));
}

workloads::RunResult run_on_xdna2(const std::string& workload, const std::string& mapping) {
    return run_mapped("xdna2", workload, mapping);
}

constexpr const char* kGemm = "gemm: {M: 96, K: 128, N: 192, a: int8, b: int8, c: int8}";
constexpr const char* kGemv =
    "gemv: {M: 128, K: 256, weights: bf16, input: bf16, accumulate: bf16}";
constexpr const char* kOnVersal = "gemm: {M: 60, K: 90, N: 20, a: int16, b: int16, c: int16}";
constexpr const char* kSilu = "elementwise: {operation: silu, elements: 16384}";

const char* device_of(std::string_view workload) {
    return workload == kOnVersal ? "vck190" : "xdna2";
}

// What is stated stays, and what is chosen is what the same mapping given whole would be.
TEST(Session, AMappingThatStatesSomeOfItsKeysHasTheOthersChosen) {
    const std::tuple<const char*, const char*, const char*> parts[] = {
        {kGemm, "weight_stationary", "{columns: 3, a_buffers: 3}"},
        {kGemm, "weight_stationary", "{m_ct: 24, reduction: memory_tile}"},
        {kGemm, "weight_stationary", "{k_ct: 64, n_ct: 24, c_buffers: 1}"},
        {kGemm, "weight_stationary", "{rows: 3}"},
        {kOnVersal, "gotoblas", "{n_r: 8, b_buffers: 1}"},
        {kOnVersal, "gotoblas", "{k_c: 40, a_stream: port}"},
        {kOnVersal, "gotoblas", "{m_r: 8, m_c: 24, n_c: 12}"},
        {kGemm, "output_stationary", "{columns: 3, c_buffers: 2}"},
        {kGemm, "output_stationary", "{m_ct: 24, rows: 2, reach: output_tile}"},
        {kGemm, "output_stationary", "{k_ct: 64, k_mt: 128}"},
        {kGemv, "gemv", "{columns: 3, a_buffers: 3}"},
        {kGemv, "gemv", "{path: memory_tile, rows: 3}"},
        {kSilu, "elementwise", "{columns: 3}"},
    };
    for (const auto& [workload, name, keys] : parts) {
        const char* const device = device_of(workload);
        const workloads::RunResult part =
            run_mapped(device, workload, fmt::format("{}: {}", name, keys));
        auto document = arch::base::config::Document::parse(keys, "test");
        for (const std::string& key : document.root().keys()) {
            const nlohmann::ordered_json& value = part.mapping[name][key];
            EXPECT_THAT(keys, HasSubstr(fmt::format(
                                  "{}: {}", key,
                                  value.is_string() ? value.get<std::string>() : value.dump())));
        }
        EXPECT_THAT(part.notes[0], HasSubstr("what the mapping does not state is chosen"));
        const std::string dump = part.mapping.dump();
        EXPECT_EQ(run_mapped(device, workload, dump.substr(1, dump.size() - 2)).cycles,
                  part.cycles);
    }
}

// Its other keys are as they are by default.
TEST(Session, AMappingThatStatesItsTileIsTakenAsItIs) {
    const workloads::RunResult whole =
        run_on_xdna2(kGemm, "output_stationary: {m_ct: 64, k_ct: 64, n_ct: 48}");
    EXPECT_EQ(whole.mapping["output_stationary"]["k_mt"], 64);
    EXPECT_EQ(whole.mapping["output_stationary"]["reach"], "output_tile");
    EXPECT_THAT(whole.notes, Not(Contains(HasSubstr("chosen"))));
    EXPECT_EQ(run_on_xdna2(kGemv, "gemv: {rows_per_call: 4}").mapping["gemv"]["columns"], 0);
}

TEST(Session, AMappingThatStatesWhatNoneCanHaveIsRefusedWithTheReason) {
    const auto refusal = [](const char* workload, const char* mapping) {
        try {
            run_mapped(device_of(workload), workload, mapping);
        } catch (const arch::base::config::ConfigError& error) {
            return std::string{error.what()};
        }
        return std::string{};
    };
    constexpr const char* kNone = "with what it states fits";
    EXPECT_THAT(refusal(kGemm, "output_stationary: {columns: 9}"),
                testing::AllOf(HasSubstr("test:3:1: mapping: no output_stationary mapping "),
                               HasSubstr(kNone), HasSubstr("the array has 8 columns")));
    EXPECT_THAT(refusal(kGemm, "output_stationary: {m_ct: 20}"),
                testing::AllOf(HasSubstr(kNone), HasSubstr("multiples of the mmul shape")));
    EXPECT_THAT(refusal(kGemm, "weight_stationary: {columns: 9}"),
                testing::AllOf(HasSubstr("no weight_stationary mapping"), HasSubstr(kNone),
                               HasSubstr("the array has 8 columns")));
    EXPECT_THAT(refusal(kGemm, "weight_stationary: {n_ct: 4096}"),
                HasSubstr("the core tiles need"));
    EXPECT_THAT(refusal(kOnVersal, "gotoblas: {m_r: 5}"), HasSubstr("m a multiple of 8"));
    EXPECT_THAT(refusal(kOnVersal, "gotoblas: {k_c: 90, n_r: 1024}"),
                HasSubstr("B_r in double size takes"));
    EXPECT_THAT(refusal(kGemv, "gemv: {columns: 9}"),
                testing::AllOf(HasSubstr("no gemv mapping"), HasSubstr(kNone),
                               HasSubstr("the array has 8 columns")));
    EXPECT_THAT(refusal(kSilu, "elementwise: {columns: 9}"),
                testing::AllOf(HasSubstr("no elementwise mapping"), HasSubstr(kNone),
                               HasSubstr("the array has 8")));
    EXPECT_THAT(refusal(kGemm, "fused_cast: {output_stationary: {columns: 4}}"),
                HasSubstr("m_ct, k_ct and n_ct must be given"));
}

// Not with what a default mapping of its own would lack.
TEST(Session, AMatrixWhoseRowsNoCoreHoldsIsRefusedWithTheMemoryItNeeds) {
    const auto refusal = [](const char* mapping) {
        try {
            session::run(parse_scenario(
                fmt::format("device: xdna2\nworkload: {{gemv: {{M: 64, K: 20000, weights: bf16, "
                            "input: bf16, accumulate: bf16}}}}\n{}",
                            mapping),
                "test", {}));
        } catch (const arch::base::config::ConfigError& error) {
            return std::string{error.what()};
        }
        return std::string{};
    };
    for (const char* mapping : {"", "mapping: {gemv: {columns: 2}}\n"}) {
        EXPECT_THAT(refusal(mapping),
                    testing::AllOf(HasSubstr("a core needs"), Not(HasSubstr("rows_per_core (1)"))));
    }
}

// Every dataflow moves bytes.
TEST(Session, AFunctionalRunChoosesTheMappingOfATimingRun) {
    const auto run = [](const char* functional) {
        return session::run(parse_scenario("device: hbm_pim\nworkload: {gemv: {M: 38, K: 96}}\n",
                                           "test", {{"run.functional", functional}}));
    };
    const workloads::RunResult timing = run("off");
    const workloads::RunResult functional = run("on");
    EXPECT_TRUE(timing.mapping.contains("tile_pairs"));
    EXPECT_EQ(functional.mapping, timing.mapping);
    EXPECT_EQ(functional.cycles, timing.cycles);
    EXPECT_TRUE(functional.functional->match) << functional.functional->first_mismatch;
}

workloads::RunResult run_fused_cast(const workloads::Overrides& overrides) {
    return session::run(parse_scenario(
        "device: xdna2\nworkload: {gemm: {M: 100, K: 96, N: 200, a: bf16, b: bf16, c: bf16}}\n"
        "mapping: {fused_cast: {output_stationary: {m_ct: 16, k_ct: 32, n_ct: 32, k_mt: 64}}}\n",
        "test", overrides));
}

TEST(Session, SumsThatASecondLaunchCastsGiveTheProduct) {
    const workloads::RunResult timing = run_fused_cast({});
    const workloads::RunResult functional = run_fused_cast({{"run.functional", "on"}});
    EXPECT_EQ(functional.cycles, timing.cycles);
    EXPECT_TRUE(functional.functional->match) << functional.functional->first_mismatch;
    EXPECT_EQ(functional.functional->checked, 100 * 200);
}

TEST(Session, LaunchesThatSetTheArrayUpPayTheirWritesAndOthersTheReconfiguration) {
    constexpr const char* kReconfiguration = "device.npu.command_processor.reconfiguration";
    constexpr const char* kSetUp = "mapping.fused_cast.set_up";
    const auto loaded = [&](const char* takes) {
        return run_fused_cast({{kSetUp, "loaded"}, {kReconfiguration, takes}});
    };
    const workloads::RunResult written = run_fused_cast({});
    EXPECT_THAT(written.not_exercised, Contains("npu.command_processor.reconfiguration"));
    EXPECT_THAT(loaded("0 us").not_exercised,
                Not(Contains("npu.command_processor.reconfiguration")));
    EXPECT_NEAR(loaded("700 us").time_ns - loaded("0 us").time_ns, 700'000, 1000);
    // 2438 writes for the product, 448 for the cast, of 84 cycles at 1267 MHz.
    EXPECT_NEAR(written.time_ns - loaded("0 us").time_ns, (2438 + 448) * 84 / 1.267, 1000);
}

workloads::RunResult run_on(const std::string& device, const std::string& gemm,
                            const workloads::Overrides& overrides = {}) {
    return session::run(parse_scenario(
        fmt::format("device: {}\nworkload: {{gemm: {{{}}}}}\n", device, gemm), "test", overrides));
}

// A channel is refreshed once an interval of 3662 CK, whatever product is under way: that costs it
// 197 CK, what it had begun, and the row opened again. A first product of its own meets the first
// refresh of 16 channels, at a sixteenth of the interval, and none of 8.
TEST(Session, ProductsInARowInTheBanksMeetRefreshesWhenTheyAreDue) {
    const auto cycles = [](int vectors, int channels, const char* refresh) {
        const auto gemm = fmt::format("M: {}, K: 256, N: 256, a: int8, b: int8, c: int16", vectors);
        return static_cast<double>(run_on("lpddr5x_pim", gemm,
                                          {{"device.memory.channels", fmt::format("{}", channels)},
                                           {"device.memory.refresh", refresh}})
                                       .cycles);
    };
    for (const int channels : {8, 16}) {
        const double one = cycles(1, channels, "off");
        EXPECT_EQ(cycles(1000, channels, "off"), 1000 * one);
        const double intervals = 1000 * one / 3662;
        EXPECT_GT(cycles(1000, channels, "on"), 1000 * one + intervals * 197) << channels;
        EXPECT_LT(cycles(1000, channels, "on"), 1000 * one + intervals * (197 + 150)) << channels;
    }
    EXPECT_EQ(cycles(1, 8, "on"), cycles(1, 8, "off"));
    EXPECT_GT(cycles(1, 16, "on"), cycles(1, 16, "off") + 197);
    EXPECT_LT(cycles(1000, 16, "on"), cycles(1000, 8, "on"));
    const auto run =
        run_on("lpddr5x_pim", "M: 1000, K: 256, N: 256, a: int8, b: int8, c: int16", {});
    EXPECT_THAT(run.notes, testing::Contains(testing::HasSubstr("of 1000 products in a row")));
}

// Sixteen lanes of two bytes leave for each of 1024 sums, of which the result would be one.
TEST(Session, LanesThatTheHostAddsCountInEveryPlacementOfAProductInTheBanks) {
    const auto run = [](const char* bandwidth) {
        return run_on("hbm_pim", "M: 1, K: 256, N: 1024, a: f16, b: f16, c: f16",
                      {{"device.soc.bandwidth", bandwidth}, {"mapping", "{tile_pairs: {}}"}});
    };
    const workloads::RunResult slow = run("15 GB/s");
    EXPECT_DOUBLE_EQ(slow.time_ns, static_cast<double>(slow.cycles) + 1024 * 15 * 2 / 15.0);
    EXPECT_EQ(run("30 GB/s").cycles, slow.cycles);
}

// Few outputs of a unit: whole columns in its bank take few commands, but each bank has a part of
// every sum, which somebody adds; the tiles of its two banks take one visit to the modes. Other
// sizes take the least of balanced placements.
TEST(Session, AProductInTheBanksTakesWhicheverPlacementIsFastest) {
    const auto fastest = [](const char* gemm, const char* reduction = "soc") {
        const std::string problem = std::string{gemm} + ", a: f16, b: f16, c: f16";
        const workloads::Overrides adds{{"device.pim.split_reduction", reduction}};
        const workloads::RunResult chosen = run_on("hbm_pim", problem, adds);
        for (const char* given : {"{pimnast: {}}", "{column_major: {order: outputs}}",
                                  "{column_major: {}}", "{tile_pairs: {}}"}) {
            workloads::Overrides placed = adds;
            placed.emplace_back("mapping", given);
            EXPECT_LE(chosen.time_ns, run_on("hbm_pim", problem, placed).time_ns) << given;
        }
        return chosen.mapping.begin().key();
    };
    EXPECT_EQ(fastest("M: 3, K: 2760, N: 119", "uncharged"), "column_major");
    EXPECT_EQ(fastest("M: 3, K: 2760, N: 119"), "pimnast");
    EXPECT_EQ(fastest("M: 1, K: 96, N: 38"), "tile_pairs");
    EXPECT_EQ(fastest("M: 1, K: 1024, N: 4096"), "pimnast");
}

// Without the refreshes that both meet, the balanced placement would seem to be faster.
TEST(Session, APlacementInTheBanksIsComparedWithOthersRefreshIncluded) {
    const auto chosen =
        run_on("gddr6_aim", "M: 1, K: 4000, N: 3000, a: bf16, b: bf16, c: bf16").mapping;
    EXPECT_EQ(chosen.begin().key(), "bank_rows");
}

// Commands reach the channels 100 CK after the start, which are not of the product's time.
TEST(Session, ABudgetOfTimeHoldsForTheTimeThatIsReported) {
    const auto status = [](const char* budget) {
        return run_on("hbm_pim", "M: 1, K: 96, N: 38, a: f16, b: f16, c: f16",
                      {{"mapping", "{tile_pairs: {}}"}, {"run.max_time", budget}})
            .status;
    };
    EXPECT_EQ(status("428 ns"), workloads::Status::Ok);
    EXPECT_EQ(status("427 ns"), workloads::Status::TimeLimit);
}

// The first one has left all in the caches.
TEST(Session, TheMemoryBesideATimeOfSeveralRunsIsThatOfTheLast) {
    const auto read = [](const char* runs) {
        const workloads::RunResult result =
            run_on("sapphire_rapids", "M: 64, K: 128, N: 64, a: int8, b: int8, c: int32",
                   {{"mapping", fmt::format("{{amx: {{data_in: dram, runs: {}}}}}", runs)}});
        EXPECT_EQ(result.bounds->dram_bytes > 0, result.memory->bytes_read > 0);
        return result.memory->bytes_read;
    };
    EXPECT_GE(read("1"), 64 * 128 * 2);
    EXPECT_EQ(read("2"), 0);
    EXPECT_EQ(read("3"), 0);
}

// B is more than the caches hold: every run reads it anew.
TEST(Session, BanksAndBussesBesideATimeOfSeveralRunsAreThoseOfTheLast) {
    const auto run = [](const char* runs) {
        return run_on("sapphire_rapids", "M: 16, K: 512, N: 1024, a: int8, b: int8, c: int32",
                      {{"device.amx.caches.l2.size", "64 KiB"},
                       {"device.amx.uncore.l3.size", "120 KiB"},
                       {"mapping", fmt::format("{{amx: {{data_in: dram, runs: {}}}}}", runs)}});
    };
    const auto bursts = [](const workloads::RunResult& result) {
        std::int64_t sum = 0;
        for (const auto& channel : result.banks->channels) {
            for (const auto& bank : channel) {
                sum += bank.reads + bank.writes;
            }
        }
        return sum;
    };
    const auto on_the_bus = [](const workloads::RunResult& result) {
        double sum = 0;
        for (const auto& [component, states] : result.where) {
            for (const auto& [state, cycles] : states) {
                sum += component == "dram_channel" ? cycles : 0;
            }
        }
        return sum;
    };
    constexpr double kClockGhz = 2.4;
    for (const char* runs : {"1", "3"}) {
        const workloads::RunResult result = run(runs);
        EXPECT_GT(bursts(result), 512 * 1024 / 64);
        EXPECT_EQ(bursts(result), result.memory->bursts) << runs;
        EXPECT_NEAR(on_the_bus(result) / (result.time_ns * kClockGhz), 1, 0.02) << runs;
        const auto busy =
            std::max_element(result.busy.begin(), result.busy.end(),
                             [](const auto& a, const auto& b) { return a.second < b.second; });
        EXPECT_LE(busy->second, 1);
    }
    EXPECT_LT(bursts(run("3")), 1.5 * static_cast<double>(bursts(run("1"))));
}

// Four rows of C on eight cores are mostly loads of B, which are asked for a block ahead.
TEST(Session, ATinyProductOnAmxCoresTakesWhatVaryingItsKeysFavours) {
    const std::string gemm = "M: 4, K: 1, N: 115, a: int8, b: int8, c: int32";
    const workloads::RunResult chosen = run_on("sapphire_rapids", gemm);
    for (const char* of_few : {"{amx: {m_acc: 3, n_acc: 1, order: switched, data_in: dram, "
                               "a_packed: on, threads: 8, partition: mn}}",
                               "{amx: {m_acc: 2, n_acc: 2, data_in: dram, a_packed: on, "
                               "threads: 4, partition: mn}}"}) {
        EXPECT_LT(1.05 * chosen.time_ns,
                  run_on("sapphire_rapids", gemm, {{"mapping", of_few}}).time_ns);
    }
}

// Blocks of 16 x 4 copy four columns of B at a time, sixteen with 16 x 16.
TEST(Session, ASmallProductOnVersalTakesBlocksOfManyColumns) {
    const std::string gemm = "M: 187, K: 5, N: 251, a: int8, b: int8, c: int8";
    const char* largest = "{gotoblas: {m_r: 16, n_r: 4, m_c: 192, n_c: 252, k_c: 5, b_buffers: 2}}";
    EXPECT_LT(1.05 * run_on("vck190", gemm).time_ns,
              run_on("vck190", gemm, {{"mapping", largest}}).time_ns);
}

// Cores that each keep a slice of B; with C in the cores, tiles this small wait for their reads.
TEST(Session, MoreOfAnArrayThanAProductHasUseForIsNoSlower) {
    const auto nanoseconds = [](const std::string& key, const std::string& value) {
        return run_on("xdna", "M: 512, K: 512, N: 512, a: int8, b: int8, c: int32", {{key, value}})
            .time_ns;
    };
    EXPECT_LE(nanoseconds("device.npu.columns", "6"), nanoseconds("device.npu.columns", "4"));
    EXPECT_LE(nanoseconds("device.npu.core_rows", "8"), nanoseconds("device.npu.core_rows", "4"));
}

TEST(Session, AProductOnAnArrayTakesTheFasterOfTheDataflows) {
    const std::string text =
        "device: xdna2\nworkload: {gemm: {M: 1024, K: 1024, N: 1024, a: int8, b: int8, c: int8}}\n";
    const workloads::RunResult chosen = session::run(parse_scenario(text, "test", {}));
    ASSERT_TRUE(chosen.mapping.contains("weight_stationary"));
    EXPECT_THAT(chosen.notes, Contains(HasSubstr("faster than the best of output_stationary")));
    const workloads::RunResult named =
        session::run(parse_scenario(text, "test", {{"mapping", chosen.mapping.dump()}}));
    EXPECT_EQ(named.time_ns, chosen.time_ns);
}

// What a sampled run says of the memory belongs to the whole of its time: standby, open rows,
// banks.
TEST(Session, ASampledRunHasTheEnergyAndTheBanksOfTheWhole) {
    const auto run = [](const char* sampled) {
        return session::run(parse_scenario(
            "device: xdna2\nworkload: {gemm: {M: 4096, K: 512, N: 2048, a: int8, b: int8, c: int8}}"
            "\nmapping: {output_stationary: {m_ct: 64, k_ct: 64, n_ct: 64, k_mt: 256}}\n",
            "test", {{"device.memory", "ddr4_2400"}, {"run.sampled", sampled}}));
    };
    const workloads::RunResult whole = run("off"), sampled = run("on");
    ASSERT_TRUE(sampled.sampled.has_value());
    for (const char* what : {"background_nj", "refresh_nj"}) {
        const double expected = whole.energy[what];
        EXPECT_NEAR(static_cast<double>(sampled.energy[what]), expected, 0.05 * expected) << what;
    }
    using Totals = arch::memory::port::MemoryTotals;
    for (const auto& [what, count] :
         {std::pair{"activate_nj", &Totals::activates}, std::pair{"read_nj", &Totals::bytes_read},
          std::pair{"write_nj", &Totals::bytes_written}}) {
        const auto of_one = [what, count](const workloads::RunResult& result) {
            return static_cast<double>(result.energy[what]) /
                   static_cast<double>(*result.memory.*count);
        };
        EXPECT_NEAR(of_one(sampled), of_one(whole), 1e-3 * of_one(whole)) << what;
    }
    std::int64_t reads = 0, writes = 0;
    for (const auto& channel : sampled.banks->channels) {
        for (const auto& bank : channel) {
            reads += bank.reads;
            writes += bank.writes;
        }
    }
    constexpr std::int64_t kBurst = 64;
    constexpr double kRounded = 32 * kBurst;  // half a burst a bank
    EXPECT_NEAR(static_cast<double>(reads * kBurst),
                static_cast<double>(sampled.memory->bytes_read), kRounded);
    EXPECT_NEAR(static_cast<double>(writes * kBurst),
                static_cast<double>(sampled.memory->bytes_written), kRounded);
}

std::string refusal_of(const std::string& text, const Overrides& overrides = {}) {
    try {
        parse_scenario(text, "test.yaml", overrides);
    } catch (const arch::base::config::ConfigError& error) {
        return error.what();
    }
    return "";
}

// A mapping as such may fit, and yet its program may be beyond the device.
TEST(Session, AProgramBeyondTheDeviceIsTheMappingsOrTheChangedLimitsFault) {
    const std::string gemm =
        "device: xdna2\nworkload:\n"
        "  gemm: {M: 32, K: 64, N: 64, a: bf16, b: bf16, c: bf16, b_layout: row_major}\n";
    const std::string mapping =
        "mapping:\n  output_stationary: {m_ct: 32, k_ct: 32, n_ct: 32, k_mt: 64}\n";
    const auto refused = [](const std::string& text, const Overrides& overrides) -> std::string {
        try {
            session::run(parse_scenario(text, "s.yaml", overrides));
        } catch (const arch::base::config::ConfigError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(refused(gemm + mapping, {{"device.npu.shim_dma.tokens", "off"}}),
              "--set device.npu.shim_dma.tokens: must be on for this mapping, got off");
    // Two locks for each of A, B and C, and one to start; of a memory tile C of four rows.
    EXPECT_EQ(refused(gemm + mapping,
                      {{"device.npu.memory_tile.locks", "2"}, {"device.npu.core.locks", "3"}}),
              "--set device.npu.core.locks: must be at least 7 for this mapping, got 3\n"
              "--set device.npu.memory_tile.locks: must be at least 12 for this mapping, got 2");
    // 32 rows of B of 2 MiB.
    const std::string wide =
        "s.yaml:4:1: mapping: device.npu.shim_dma.step_bits must be at least 24 for it (a "
        "descriptor steps by 16777216 words), 'xdna2' has 20";
    EXPECT_EQ(refused(gemm + mapping, {{"workload.gemm.N", "1048576"}}), wide);
    try {
        lowered_text(parse_scenario(gemm + mapping, "s.yaml", {{"workload.gemm.N", "1048576"}}));
        FAIL();
    } catch (const arch::base::config::ConfigError& error) {
        EXPECT_EQ(error.what(), wide);
    }
    EXPECT_EQ(refused(gemm, {{"device.npu.core.locks", "3"}}),
              "s.yaml:2:1: workload: no output_stationary mapping fits this device, these types "
              "and this size: --set device.npu.core.locks: must be at least 7 for this mapping, "
              "got 3");
}

TEST(Session, AMappingsNumberThatMayNotBeIsSaid) {
    EXPECT_EQ(refusal_of("device: lpddr5x_pim\nworkload: {gemv: {M: 64, K: 64}}\n"
                         "mapping: {pimnast: {split_k: 3}}\n"),
              "test.yaml:3:30: mapping.pimnast.split_k: must be a power of two, got 3");
}

TEST(Session, AFunctionalRunThatComparesNothingSaysSo) {
    const auto notes = [](const std::string& workload) {
        return session::run(parse_scenario("device: xdna\nworkload: " + workload + "\n", "test",
                                           {{"run.functional", "on"}}))
            .notes;
    };
    const auto says = Contains(HasSubstr("run.functional: nothing was compared"));
    EXPECT_THAT(notes("{memory_stream: {requests: 1}}"), says);
    EXPECT_THAT(notes("{core_kernel: {m: 16, k: 16, n: 16, a: int8, b: int8, c: int8}}"), says);
    EXPECT_THAT(notes("{gemm: {M: 64, K: 64, N: 64, a: int8, b: int8, c: int8}}\nmapping: "
                      "{output_stationary: {m_ct: 16, k_ct: 16, n_ct: 16}}"),
                Not(says));
}

// Two streams that differ in anything differ in what their results say they are.
TEST(Session, AStreamsResultSaysWhichRequestsItWasOf) {
    const auto said = [](const std::string& keys) {
        return session::run(parse_scenario("device: ddr5_5600\nworkload: {memory_stream: {" + keys +
                                               "requests: 10}}\n",
                                           "test", {}))
            .workload["memory_stream"];
    };
    const auto random = said("pattern: random, range: 1 MiB, write_permille: 250, ");
    EXPECT_EQ(random["pattern"], "random");
    EXPECT_EQ(random["requests"], 10);
    EXPECT_EQ(random["range"], "1 MiB");
    EXPECT_EQ(random["write_permille"], 250);
    EXPECT_EQ(said("")["pattern"], "sequential");
}

// A streamed call's C crosses the core's own ports, whose width is the streams'.
TEST(Session, ACallFeelsTheStreamsThatCarryItsC) {
    const auto widths = [](const std::string& device, const std::string& shape) {
        const std::string scenario = fmt::format(
            "device: {}\nworkload: {{core_kernel: {{{}, a: int16, b: int16, c: int16}}}}\n", device,
            shape);
        std::set<std::int64_t> cycles;
        bool named = false;
        for (const char* const width : {"4 B/cycle", "8 B/cycle"}) {
            const workloads::RunResult result = session::run(
                parse_scenario(scenario, "test", {{"device.npu.stream.width", width}}));
            cycles.insert(result.cycles);
            named = named || std::count(result.not_exercised.begin(), result.not_exercised.end(),
                                        "npu.stream.width") > 0;
        }
        return std::pair{cycles.size(), named};
    };
    EXPECT_EQ(widths("vck190", "m: 16, k: 64, n: 4"), std::pair(std::size_t{2}, false));
    EXPECT_EQ(widths("xdna", "m: 64, k: 64, n: 64"), std::pair(std::size_t{1}, true));
}

TEST(Session, AMemoryUnderADeviceIsAMemory) {
    const std::string stream = "device: xdna\nworkload: {memory_stream: {requests: 1}}\n";
    EXPECT_EQ(refusal_of(stream, {{"device.memory", "ddr4_2400"}}), "");
    EXPECT_EQ(refusal_of(stream, {{"device.memory", "lpddr5x_pim"}}),
              "--set device.memory: 'lpddr5x_pim' is of kind pim, not memory");
    EXPECT_THAT(refusal_of(stream, {{"device.memory", "ddr4_2401"}}),
                testing::AllOf(testing::StartsWith("--set device.memory: unknown device"),
                               HasSubstr("did you mean 'ddr4_2400'?")));
}

TEST(Session, KeysThatAreLeftOutAreSuggestedToo) {
    const std::string text = "device: xdna\nworkload: {memory_stream: {requests: 1}}\n";
    EXPECT_THAT(refusal_of(text + "mappin: {}\n"), HasSubstr("did you mean 'mapping'?"));
    EXPECT_THAT(refusal_of(text + "trafic: {}\n"), HasSubstr("did you mean 'traffic'?"));
    EXPECT_THAT(refusal_of(text + "desing: {}\n"), HasSubstr("did you mean 'design'?"));
}

// One bank's MACs counted as those of all sixteen.
TEST(Session, AProgramsRateIsThatOfTheBanksThatMultiply) {
    const auto macs = [](const std::string& banks) {
        const workloads::RunResult result = session::run(parse_scenario(
            "device: lpddr5x_pim\npim_program: {commands: \"write_input 2\\nmac row 0 columns "
            "0-63" +
                banks + "\\nspill 2" + banks + "\"}\n",
            "test", {}));
        return result.macs_per_cycle * static_cast<double>(result.cycles);
    };
    EXPECT_DOUBLE_EQ(macs(" banks 5"), 8 * 64 * 32);
    EXPECT_DOUBLE_EQ(macs(""), 16 * 8 * 64 * 32);
}

// Every output of a tile of HBM-PIM leaves as sixteen lanes, which the host adds: 960 of 2788 ns,
// while changing modes, which was named, takes 468.
TEST(Session, SumsThatTheHostAddsCanBeTheBottleneckOfAProductInTheBanks) {
    const auto bottleneck = [](const std::string& bandwidth) {
        return session::run(parse_scenario(
                                "device: hbm_pim\nworkload: {gemv: {M: 32768, K: 8, weights: f16, "
                                "input: f16, accumulate: f16}}\nmapping: {tile_pairs: {}}\n",
                                "test", {{"device.soc.bandwidth", bandwidth}}))
            .bottleneck;
    };
    EXPECT_EQ(bottleneck("1024 GB/s"), "SoC: bandwidth");
    EXPECT_EQ(bottleneck("4096 GB/s"), "PIM: mode_switch");
}

// A launch of 39 % of the time; streams, which move words in all that is left, share the shim's
// port and were named: of twice the width they save 5 %.
TEST(Session, ALaunchIsTheBottleneckWhereItSavesMost) {
    const auto run = [](const workloads::Overrides& overrides) {
        return session::run(parse_scenario(
            "device: xdna\nworkload: {gemm: {M: 384, K: 256, N: 288, a: int8, b: int8, c: int8}}\n"
            "mapping: {output_stationary: {m_ct: 48, k_ct: 64, n_ct: 96, k_mt: 128, c_buffers: 2, "
            "columns: 1}}\n",
            "test", overrides));
    };
    const workloads::RunResult result = run({});
    EXPECT_EQ(result.bottleneck, "dispatch");
    EXPECT_LT(run({{"device.npu.command_processor.dispatch", "30 us"}}).time_ns,
              0.81 * result.time_ns);
    EXPECT_GT(run({{"device.npu.stream.width", "8 B/cycle"}}).time_ns, 0.94 * result.time_ns);
}

// The processor writes 41 % of the time, with nothing else under way, and the way to memory is busy
// for as long while it waits: that was named, and of twice the width saves nothing.
TEST(Session, WhatNothingElseGoesOnBesideIsTheBottleneckOfAnArray) {
    const auto run = [](const workloads::Overrides& overrides) {
        return session::run(parse_scenario(
            "device: xdna\nworkload: {gemm: {M: 512, K: 768, N: 2048, a: int8, b: int8, c: int8}}\n"
            "mapping: {output_stationary: {m_ct: 64, k_ct: 128, n_ct: 128, k_mt: 128, shim_bds: "
            "sequential}}\n",
            "test", overrides));
    };
    const workloads::RunResult result = run({});
    EXPECT_EQ(result.bottleneck, "shim descriptors not programmed in time");
    EXPECT_LT(run({{"device.npu.command_processor.clock", "1200 MHz"}}).time_ns,
              0.86 * result.time_ns);
    EXPECT_GT(
        run({{"device.fabric.link_clock", "2 GHz"}, {"device.npu.shim.port_width", "16 B/cycle"}})
            .time_ns,
        0.99 * result.time_ns);
}

// The host adds beside the banks, and longer: units of twice the speed save nothing.
TEST(Session, SumsThatTheHostAddsBesideTheBanksAreTheBottleneckOnceTheyTakeLonger) {
    const auto run = [](const std::string& bandwidth, const std::string& mac) {
        return session::run(
            parse_scenario("device: lpddr5x_aim\nworkload: {gemv: {M: 8192, K: "
                           "256}}\nmapping: {pimnast: {split_k: 8}}\n",
                           "test",
                           {{"device.pim.split_reduction", "overlapped"},
                            {"device.pim.mac_interval", mac},
                            {"device.soc.bandwidth", bandwidth}}));
    };
    const workloads::RunResult result = run("25 GB/s", "4 cycle");
    EXPECT_EQ(result.bottleneck, "SoC: bandwidth");
    EXPECT_EQ(result.next_bottleneck, "PIM: mac");
    EXPECT_DOUBLE_EQ(run("25 GB/s", "2 cycle").time_ns, result.time_ns);
    EXPECT_EQ(run("50 GB/s", "4 cycle").bottleneck, "PIM: mac");
}

// Of 368 cycles 219 change between bank and register commands. `row_open` was named.
TEST(Session, ChangesBetweenBankAndRegisterCommandsAreTheBottleneckWhereTheyTakeLongest) {
    const auto run = [](const workloads::Overrides& overrides) {
        return session::run(parse_scenario(
            "device: gddr6_aim\nworkload: {gemv: {M: 208, K: 352, weights: bf16, input: bf16, "
            "accumulate: bf16}}\nmapping: {pimnast: {}}\n",
            "test", overrides));
    };
    const workloads::RunResult result = run({});
    EXPECT_EQ(result.bottleneck, "PIM: mode_switch");
    EXPECT_LT(run({{"device.pim.mode_change", "16 cycle"}}).time_ns, 0.72 * result.time_ns);
    EXPECT_GT(run({{"device.pim.activate_to_mac", "28 cycle"}}).time_ns, 0.9 * result.time_ns);
}

// Cores multiply 46 % of the time and wait for tiles 43 %. Yet a multiplier of twice the speed,
// which was named, takes as long, and half as wide a path from the L2 86 % longer.
TEST(Session, MultiplyingBehindWhichLoadsAreLateIsNotTheBottleneckOfACore) {
    const auto run = [](const std::string& key, const std::string& value) {
        return session::run(parse_scenario(
            "device: sapphire_rapids\nworkload: {gemm: {M: 192, K: 704, N: 144, a: bf16, b: bf16, "
            "c: f32}}\nmapping: {amx: {order: switched, data_in: l1, threads: 2, m_acc: 1, n_acc: "
            "2}}\n",
            "test", {{key, value}}));
    };
    const workloads::RunResult result = run("run.seed", "1");
    EXPECT_EQ(result.bottleneck, "core: load_l2");
    EXPECT_GT(workloads::state_of(result, "core", "multiply"),
              workloads::state_of(result, "core", "load_l2"));
    EXPECT_GT(run("device.amx.tiles.dot_row_percent", "50").time_ns, 0.99 * result.time_ns);
    EXPECT_GT(run("device.amx.caches.fill_width", "24 B/cycle").time_ns, 1.8 * result.time_ns);
}

TEST(Session, AFunctionalProgramSaysWhatEveryBankIsGiven) {
    const std::string text =
        "device: lpddr5x_pim\npim_program:\n  commands: |\n"
        "    write_bank_input 16\n    mac row 0 columns 0-63\n    spill 2\n";
    EXPECT_EQ(session::run(parse_scenario(text, "test.yaml", {})).status, workloads::Status::Ok);
    try {
        session::run(parse_scenario(text + "run: {functional: on}\n", "test.yaml", {}));
        FAIL();
    } catch (const arch::base::config::ConfigError& error) {
        EXPECT_THAT(error.what(), HasSubstr("test.yaml:4:5: write_bank_input: a program does not"));
    }
}

TEST(Session, ModelsAreRefusedWhatTheyCannotShow) {
    EXPECT_THAT(refusal_of("device: lpddr5x_pim\nworkload: {model: opt_125m, prompt: 1}\nrun: "
                           "{functional: on}\n"),
                HasSubstr("test.yaml:3:1: run: functional mode needs a gemv"));
    // It was a speed-up of NaN.
    EXPECT_THAT(refusal_of("device: lpddr5x_pim\nworkload: {model: opt_125m, generate: 0}\n"),
                HasSubstr("workload.generate: with a prompt of 0 there is nothing to do"));
    EXPECT_THAT(refusal_of("device: lpddr5x_pim\nworkload: {model: gpt2_124m, prompt: 1000, "
                           "generate: 25}\n"),
                HasSubstr("workload.model: 'gpt2_124m' knows 1024 positions; prompt and generate "
                          "are 1025"));
    EXPECT_THAT(refusal_of("device: xdna\nworkload: {model: mixtral_8x7b, batch: 1, sequence: 8}"),
                HasSubstr("workload.model: a training step has no router and no experts, of which "
                          "'mixtral_8x7b' has 8"));
}

}  // namespace
}  // namespace tilesim::sim::session
