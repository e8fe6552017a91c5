// Bad input on the command line, in sweeps and in stores: one message, the right exit code, nothing
// replaced.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "arch/base/temporary_folder_testing.hpp"
#include "validation/command_line_testing.hpp"

namespace tilesim::validation {
namespace {

namespace fs = std::filesystem;

const std::string kKernel = kConfigs + "/scenarios/xdna_core_kernel.yaml";

Output shell(const std::string& command) {
    return arch::base::shell(command + " 2>&1");
}

std::string read(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

// A store of two points, in a folder of its own.
class Stores : public testing::Test {
  protected:
    void SetUp() override {
        std::ofstream(path("sweep.yaml")) << "base: " << kKernel << "\naxes: [{seeds: 2}]\n";
        ASSERT_EQ(call("sweep " + path("sweep.yaml") + " --quiet --store " + path("r.db")).code, 0);
    }
    std::string path(const std::string& name) const { return folder_.path() / name; }

    arch::base::TemporaryFolder folder_;
};

TEST_F(Stores, ExportKnowsTwoFormats) {
    EXPECT_EQ(call("export csv " + path("r.db")).code, 0);
    for (const char* wrong : {"export xml ", "export cvs ", "export --format xml "}) {
        EXPECT_EQ(call(wrong + path("r.db")).code, 2) << wrong;
    }
}

TEST_F(Stores, AMalformedResultIsNamedWithItsPoint) {
    for (const char* damaged : {"{", "[1]", R"({"cycles": "many", "time_ns": []})"}) {
        const std::string sql =
            std::string{"python3 -c \"import sqlite3,sys; d=sqlite3.connect('"} + path("r.db") +
            "'); d.execute('update points set result=?', (sys.argv[1],)); d.commit()\" '" +
            damaged + "'";
        if (shell(sql).code != 0) {
            GTEST_SKIP() << "no python3 to damage a store with";
        }
        EXPECT_EQ(call("rerun 1 --store " + path("r.db")).code, 5) << damaged;
        const int page = call("report " + path("r.db") + " -o " + path("p.html")).code;
        EXPECT_NE(page, 70) << damaged;
        EXPECT_NE(call("export json " + path("r.db")).code, 70) << damaged;
    }
}

TEST_F(Stores, WhatIsNoFileIsWrittenToAndLinksStay) {
    EXPECT_EQ(call("export csv " + path("r.db") + " --out /dev/full").code, 5);
    EXPECT_TRUE(fs::is_character_file("/dev/full"));
    std::ofstream(path("target.csv")) << "old\n";
    fs::create_symlink(path("target.csv"), path("link.csv"));
    EXPECT_EQ(call("export csv " + path("r.db") + " --out " + path("link.csv")).code, 0);
    EXPECT_TRUE(fs::is_symlink(path("link.csv")));
    EXPECT_EQ(read(path("target.csv")).substr(0, 9), "id,status");
    fs::create_symlink("not_yet.csv", path("dangling.csv"));
    EXPECT_EQ(call("export csv " + path("r.db") + " --out " + path("dangling.csv")).code, 0);
    EXPECT_TRUE(fs::is_symlink(path("dangling.csv")));
    EXPECT_EQ(read(path("not_yet.csv")).substr(0, 9), "id,status");
}

TEST(BadInput, UnknownKeysAreErrorsEverywhere) {
    for (const char* name : {"pim_opt_6.7b", "gpt2_step_xdna", "amx_gemm_int8", "xdna_core_kernel",
                             "ddr5_random", "xdna2_auto_mapping", "xdna2_design"}) {
        const std::string scenario = kConfigs + "/scenarios/" + name + ".yaml";
        for (const char* key : {"mapping.nonsense=5", "run.nonsense=5", "device.nonsense=5",
                                "workload.nonsense=5", "nonsense=5"}) {
            EXPECT_EQ(call("run " + scenario + " --set " + key).code, 2) << name << " " << key;
        }
    }
    const std::string model = kConfigs + "/scenarios/pim_opt_6.7b.yaml";
    // Agents share a memory: none sets its own.
    for (const char* key : {"npu.device.memory.clock='1 GHz'", "npu.device.memory=ddr4_3200",
                            "cpu.device.memory.channels=2"}) {
        const Output output =
            call("run " + kConfigs + "/scenarios/agents_npu_and_cpu.yaml --set agents." + key);
        EXPECT_EQ(output.code, 2) << key;
        EXPECT_NE(output.text.find("memory"), output.text.npos) << output.text;
    }
    for (const char* key : {"mapping.nonsense=5", "mapping.amx.threads=7", "device.nonsense=5"}) {
        EXPECT_EQ(call("run " + model + " --search 0 --devices lpddr5x_pim --set " + key).code, 2)
            << key;
    }
}

TEST(BadInput, EntriesOfListsAreThoseThereAre) {
    EXPECT_EQ(call("run " + kKernel + " --set 'device.npu.kernels.modes[0].block_rows=1'").code, 0);
    for (const char* key :
         {"'device.npu.kernels.modes[99].t=8'", "'device.npu.kernels.modes[x].t=8'",
          "'device.npu.kernels.modes[0].tt=8'", "'device.npu.clock[0]=8'"}) {
        EXPECT_EQ(call("run " + kKernel + " --set " + key).code, 2) << key;
    }
}

TEST(BadInput, WhatADataflowCannotTakeIsSaidWithItsPlace) {
    const arch::base::TemporaryFolder folder;
    const std::string file = folder.path() / "s.yaml";
    const struct {
        const char* text;
        const char* message;
    } cases[] = {
        {"device: vck190\nworkload: {gemm: {M: 64, K: 64, N: 64, a: int8, b: int4, c: int32}}\n",
         "no stream-fed int8 x int4 -> int32"},
        {"device: lpddr5x_pim\nworkload: {gemv: {M: 768, K: 768}}\n"
         "mapping: {pimnast: {input_registers: 99}}\n",
         ":3:1: mapping: pimnast.input_registers: must be at most 15, of 16 registers, one of "
         "which holds outputs"},
        {"device: lpddr5x_pim\nworkload: {gemv: {M: 768, K: 768, weights: int4, "
         "accumulate: int32, scale_block: 32}}\n",
         ":2:1: workload: no balanced placement fits this device: the tile of 1 x 512 needs 16 "
         "output registers for 128 sums beside 2 input registers, but there are 16; "
         "accumulate: int16 would fit; scale_block: 0 would fit"},
        {"device: xdna2\nworkload: {elementwise: {operation: rope, rows: 2, elements: 5}}\n",
         ":2:62: workload.elementwise.elements: rope turns pairs"},
        {"device: xdna2\nworkload: {elementwise: {operation: add, elements: 4, heads: 2}}\n",
         ":2:62: workload.elementwise.heads: only rope has rows"},
        {"device: xdna2\nworkload: {elementwise: {operation: rope, rows: 3, elements: 4, heads: "
         "2}}\n",
         ":2:72: workload.elementwise.heads: must divide the 3 rows"},
        {"device: xdna2\nworkload: {elementwise: {operation: copy, elements: 4, scale_block: 4}}\n",
         ":2:69: workload.elementwise.scale_block: only dequantise has"},
        {"device: sapphire_rapids\n"
         "workload: {gemm: {M: 64, K: 64, N: 64, a: int8, b: int8, c: int32}}\n"
         "mapping: {amx: {data_in: registers}}\nrun: {functional: true}\n",
         "functional mode needs operands that are loaded"},
    };
    for (const auto& [text, message] : cases) {
        std::ofstream(file) << text;
        const Output output = call("run " + file);
        EXPECT_EQ(output.code, 2) << text;
        EXPECT_NE(output.text.find(message), output.text.npos) << output.text;
    }
}

TEST(BadInput, KeysOfAScenarioAreDescribedAsTheyAreSet) {
    const auto at = [](const std::string& text, const std::string& key) {
        return text.find("\n" + key + " ") != text.npos;
    };
    const std::string alone = call("describe xdna").text;
    EXPECT_TRUE(at(alone, "npu.clock") && at(alone, "memory.clock"));
    const std::string text = call("describe " + kKernel).text;
    EXPECT_TRUE(at(text, "device.npu.clock") && at(text, "device.memory.clock"));
    EXPECT_FALSE(at(text, "npu.clock"));
    const std::string agents =
        call("describe " + kConfigs + "/scenarios/agents_npu_and_cpu.yaml").text;
    EXPECT_TRUE(at(agents, "agents.npu.device.npu.clock"));
    EXPECT_FALSE(at(agents, "agents.npu.device.memory.clock"));  // the shared one is used
}

// Key and value of each line that `describe` prints of a value.
std::vector<std::pair<std::string, std::string>> described(const std::string& text) {
    constexpr std::size_t kKeyWidth = 45;
    std::vector<std::pair<std::string, std::string>> keys;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const std::string key = line.substr(0, line.find(' '));
        if (key.ends_with(':')) {
            continue;
        }
        std::string value = line.substr(std::max(kKeyWidth, key.size() + 1));
        value.resize(std::min(value.find(" (default "), value.find(" [")));
        value.resize(value.find_last_not_of(' ') + 1);
        keys.emplace_back(key, value);
    }
    return keys;
}

TEST(BadInput, EveryKeyThatIsDescribedCanBeSetToTheValuePrinted) {
    std::size_t files = 0;
    for (const char* folder : {"devices", "scenarios", "programs"}) {
        for (const auto& entry : fs::directory_iterator(kConfigs + "/" + folder)) {
            if (entry.path().extension() != ".yaml") {
                continue;
            }
            const std::string command = "describe " + entry.path().string();
            const Output plain = call(command);
            ASSERT_EQ(plain.code, 0) << plain.text;
            const auto keys = described(plain.text);
            std::string settings;
            for (const auto& [key, value] : keys) {
                settings += " --set '" + key + "=" + value + "'";
            }
            const Output set = call(command + settings);
            EXPECT_EQ(set.code, 0) << entry.path() << "\n" << set.text;
            EXPECT_EQ(described(set.text), keys) << entry.path();
            ++files;
        }
    }
    EXPECT_GT(files, 100U);
}

TEST(BadInput, NumbersThatAreNoneAreRefused) {
    for (const char* wrong :
         {"tune S --time nan", "tune S --time -1", "compare S --against S --tolerance nan",
          "run S --sensitivity --percent nan", "run S --devices xdna --search inf"}) {
        std::string command = wrong;
        for (std::size_t at = command.find(" S"); at != command.npos; at = command.find(" S", at)) {
            command.replace(at, 2, " " + kKernel);
        }
        EXPECT_EQ(call(command).code, 2) << wrong;
    }
}

TEST(BadInput, HugeProductsAreRefusedAtOnce) {
    const arch::base::TemporaryFolder folder;
    const std::string file = folder.path() / "s.yaml";
    for (const char* device : {"xdna", "xdna2", "vck190", "sapphire_rapids", "lpddr5x_pim"}) {
        std::ofstream(file)
            << "device: " << device
            << "\nworkload: {gemm: {M: 1048576, K: 1048576, N: 1048576, a: int8, b: "
               "int8, c: int32}}\n";
        EXPECT_EQ(shell("ulimit -v 1000000; timeout 60 " + kProgram + " run " + file).code, 2)
            << device;
    }
}

TEST(BadInput, FilesThatAreNoFilesOfKeysAreRefusedUnread) {
    const arch::base::TemporaryFolder folder;
    const std::string file = folder.path() / "s.yaml";
    std::ofstream(file) << "device: xdna\nworkload:\n" << std::string(90 << 20, ' ') << "x: 1\n";
    const Output output = call("run " + file);
    EXPECT_EQ(output.code, 2);
    EXPECT_NE(output.text.find("a file of keys has at most"), output.text.npos);
}

TEST(Sweeps, AnAxisNamesAKeyAndABaseIsAScenario) {
    const arch::base::TemporaryFolder folder;
    const std::string file = folder.path() / "s.yaml";
    for (const std::string& text :
         {"base: " + kKernel + "\naxes: [{key: '', values: [1]}]\n",
          std::string{"base: s.yaml\naxes: [{seeds: 2}]\n"}, "base: " + kKernel + "\naxes: []\n"}) {
        std::ofstream(file) << text;
        const Output output = call("sweep " + file + " --dry-run");
        EXPECT_EQ(output.code, 2) << text << output.text;
        EXPECT_NE(output.text.find("s.yaml:"), output.text.npos) << output.text;
    }
}

// Before anything is simulated.
TEST(Sweeps, AStoreThatCannotBeIsSaidByItsFolder) {
    const std::string sweep = scratch("s.yaml"), store = scratch("nowhere/r.db");
    std::ofstream(sweep) << "base: " << kKernel << "\naxes: [{seeds: 2}]\n";
    const Output output = call("sweep " + sweep + " --store " + store);
    EXPECT_EQ(output.code, 5);
    EXPECT_EQ(output.text, store + ": there is no folder " + scratch("nowhere") + "\n");
}

TEST(Sweeps, ABaseThatIsNoFileIsSaid) {
    const std::string sweep = scratch("s.yaml");
    for (const auto& [base, message] :
         {std::pair{kConfigs, "s.yaml:1:7: base: " + kConfigs + ": is a directory, not a file"},
          std::pair{scenario("xdna_core_kernal"), std::string{"xdna_core_kernel.yaml'?"}}}) {
        std::ofstream(sweep) << "base: " << base << "\naxes: [{seeds: 2}]\n";
        const Output output = call("sweep " + sweep);
        EXPECT_EQ(output.code, 2);
        EXPECT_NE(output.text.find(message), output.text.npos) << output.text;
    }
}

// Those that are read only where they are given, too.
TEST(BadInput, EveryKeyThatMayBeLeftOutIsKnown) {
    const struct {
        std::string file, replaced, by;
        const char* message;
    } cases[] = {
        {program("double_buffering"), "acquire", "aquire", "did you mean 'acquire'?"},
        {program("double_buffering"), "release", "relase", "did you mean 'release'?"},
        {program("add_one"), "values: counting", "word: counting", "did you mean 'words'?"},
        {program("pim_loop"), "device:", "devce:", "did you mean 'device'?"},
        {kConfigs + "/programs/scale.mlir --kernels ", "inline", "inlin", "did you mean 'inline'?"},
    };
    for (const auto& [file, replaced, by, message] : cases) {
        const bool design = file.ends_with(' ');
        const std::string changed = scratch("changed.yaml");
        shell("sed s/'" + replaced + "'/'" + by + "'/ " +
              (design ? kConfigs + "/kernels/scale.yaml" : file) + " > " + changed);
        const Output output = call("run " + (design ? file + changed : changed));
        EXPECT_EQ(output.code, 2) << by;
        EXPECT_NE(output.text.find(message), output.text.npos) << output.text;
    }
    const Output kernels = call("run " + kKernel + " --kernels " + kKernel);
    EXPECT_EQ(kernels.code, 2);
    EXPECT_EQ(kernels.text, "--kernels: " + kKernel + " is no design\n");
}

// A message quotes what was there; of a megabyte on a line its begin and its end.
TEST(BadInput, AMessageOfALongLineCanBeRead) {
    const std::string csv = scratch("r.csv"), trace = scratch("t.csv");
    const std::string word(1'000'000, 'x');
    std::ofstream(csv) << "time_us\n" << word << "\n";
    std::ofstream(trace) << word << "\n";
    for (const std::string& command :
         {"compare " + kKernel + " --against " + csv,
          "run " + written("device: ddr5_5600\nworkload: {memory_trace: t.csv}\n"),
          "run " + kKernel + " --set workload.core_kernel.m=" + word.substr(0, 100'000)}) {
        const Output output = call(command);
        EXPECT_NE(output.code, 0);
        EXPECT_NE(output.text.find("xxx ... ("), output.text.npos);
        EXPECT_LT(output.text.size(), 2000U);
    }
}

TEST(CommandLine, StandardInputIsAFileLikeAnother) {
    const std::string pipe = "cat " + kKernel + " | " + kProgram + " ";
    const std::string result = call("run " + kKernel + " --format csv").text;
    EXPECT_EQ(shell(pipe + "run - --format csv").text, result);
    EXPECT_EQ(shell(kProgram + " run - --format csv < " + kKernel).text, result);
    for (const char* command : {"lower -", "describe -", "run - --sensitivity",
                                "run - --devices "
                                "xdna,xdna2",
                                "tune -"}) {
        const Output output = shell(pipe + command);
        EXPECT_EQ(output.text.find("-: "), output.text.npos) << output.text;
    }
    EXPECT_EQ(shell(kProgram + " lower " + program("copy") + " | " + kProgram + " run -").code, 0);
    EXPECT_EQ(shell("(echo base: " + kKernel + "; echo 'axes: [{seeds: 2}]') | " + kProgram +
                    " sweep - --quiet --store " + scratch("r.db"))
                  .code,
              0);
    const Output wrong =
        shell("sed s/core_kernel:/core_kernal:/ " + kKernel + " | " + kProgram + " run -");
    EXPECT_EQ(wrong.code, 2);
    EXPECT_NE(wrong.text.find("-:"), wrong.text.npos) << wrong.text;
    EXPECT_EQ(shell(kProgram + " run - < /dev/null").code, 2);
    EXPECT_EQ(shell(kProgram + " run - <&-").code, 5);
    EXPECT_EQ(shell(pipe + "sweep - --slurm").code, 2);
}

TEST(BadInput, EmptyDesignsAndNamesAreRefused) {
    const arch::base::TemporaryFolder folder;
    for (const char* name : {"e.mlir", "e.pdi", "e.xclbin", "e.bin"}) {
        const std::string file = folder.path() / name;
        std::ofstream(file) << "";
        EXPECT_EQ(call("run " + file).code, 2) << name;
    }
    EXPECT_EQ(call("run " + kKernel + " --devices ''").code, 2);
    // An empty sequence was a design of nothing, an empty configuration one that had ended well.
    std::ofstream(folder.path() / "empty.bin");
    for (const std::string& design :
         {std::string{"empty.bin"},
          kConfigs + "/programs/copy_insts.bin, configuration: empty.bin"}) {
        const std::string empty = folder.path() / "empty.yaml";
        std::ofstream(empty) << "design: {file: " << design << "}\n";
        const Output output = call("run " + empty);
        EXPECT_EQ(output.code, 2) << design;
        EXPECT_NE(output.text.find("empty.bin:1:1: the file is empty"), std::string::npos)
            << output.text;
    }
    // What a clone without Git LFS has in place of a file.
    const std::string file = folder.path() / "p.xclbin";
    std::ofstream(file) << "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n";
    EXPECT_NE(call("run " + file).text.find("p.xclbin: a pointer of Git LFS"), std::string::npos);
}

TEST(Sweeps, RangesGiveTheirCount) {
    const arch::base::TemporaryFolder folder;
    const std::string file = folder.path() / "s.yaml";
    const auto points = [&](const std::string& axis) {
        std::ofstream(file) << "base: " << kKernel << "\naxes: [" << axis << "]\n";
        return call("sweep " + file + " --dry-run --store " + file + ".db");
    };
    EXPECT_NE(points("{key: device.npu.clock, range: {from: 1 GHz, to: 2 GHz, points: 5}}")
                  .text.find(" 5 points"),
              std::string::npos);
    EXPECT_NE(points("{key: device.npu.clock, range: {from: 1 GHz, to: 2 GHz, factor: 1.2}}")
                  .text.find(" 4 points"),
              std::string::npos);
    EXPECT_NE(
        points("{seeds: 1000}, {key: run.max_time, range: {from: 1 s, to: 9 s, points: 1000}}")
            .text.find(" 1000000 points"),
        std::string::npos);
    EXPECT_EQ(points("{key: workload.core_kernel.k, range: {from: 1, to: 4, points: 9}}").code, 2);
}

TEST(Sweeps, UnitsStayFromRangeToCsv) {
    const arch::base::TemporaryFolder folder;
    const std::string file = folder.path() / "s.yaml";
    std::ofstream(file)
        << "base: " << kKernel
        << "\naxes: [{key: device.npu.clock, range: {from: 1 GHz, to: 2 GHz, points: "
           "5}}]\n";
    ASSERT_EQ(call("sweep " + file + " --quiet --store " + file + ".db").code, 0);
    const std::string csv = call("export csv " + file + ".db").text;
    for (const char* value : {",1 GHz,", ",1.25 GHz,", ",1.5 GHz,", ",1.75 GHz,", ",2 GHz,"}) {
        EXPECT_NE(csv.find(value), csv.npos) << value << "\n" << csv;
    }
}

TEST(Sweeps, ChannelsOfAMemoryAreOneKnob) {
    for (const char* device : {"ddr4_3200", "ddr5_4800", "ddr5_5600", "lpddr5x_7500"}) {
        for (const char* channels : {"1", "2", "16"}) {
            EXPECT_EQ(
                call("run " + kConfigs + "/scenarios/ddr5_random.yaml --set device=" + device +
                     " --set workload.memory_stream.requests=100"
                     " --set device.memory.channels=" +
                     channels)
                    .code,
                0)
                << device << " " << channels;
        }
    }
}

// An option that belongs to another changes nothing without it.
TEST(CommandLine, OptionsOfAnotherAreRefusedWithoutIt) {
    for (const char* wrong :
         {"--trace-flows", "--trace-counters", "--trace-time us", "--trace-window '1 us..2 us'",
          "--vcd-signals core", "--percent 5", "--search 1", "--rows 4"}) {
        EXPECT_EQ(call("run " + kKernel + " " + wrong).code, 2) << wrong;
    }
    const Output rows = shell(kProgram + " validate versal --rows nothing_has_this");
    EXPECT_EQ(rows.code, 2);
    EXPECT_NE(rows.text.find("no row of versal has it in its name"), rows.text.npos) << rows.text;
}

TEST(CommandLine, DescribeSaysWhatAFileIsAndTakesKeysAsItOrAScenarioHasThem) {
    for (const auto& [file, what] : {std::pair{"/models/opt_125m.yaml", "is a model"},
                                     std::pair{"/sweeps/pim_banks.yaml", "is a sweep"}}) {
        const Output output = shell(kProgram + " describe " + kConfigs + file);
        EXPECT_EQ(output.code, 2);
        EXPECT_NE(output.text.find(what), output.text.npos) << output.text;
    }
    const std::string own = call("describe ddr5_5600 --set 'memory.clock=1 GHz'").text;
    EXPECT_NE(own.find("1 GHz"), own.npos);
    EXPECT_EQ(call("describe ddr5_5600 --set 'device.memory.clock=1 GHz'").text, own);
}

// 4 channels of 8 GiB.
TEST(CommandLine, RequestsOfATraceBeyondTheMemorySayThatTheyWrap) {
    const arch::base::TemporaryFolder folder;
    const std::string trace = folder.path() / "t.csv", scenario = folder.path() / "s.yaml";
    std::ofstream(scenario) << "device: ddr5_5600\nworkload: {memory_trace: t.csv}\n";
    for (const auto& [address, wraps] :
         {std::pair{"0x7ffffffc0", false}, std::pair{"0x7ffffffc1", true}}) {
        std::ofstream(trace) << "R," << address << ",64\n";
        const Output output = call("run " + scenario);
        EXPECT_EQ(output.code, 0);
        EXPECT_EQ(
            output.text.find("beyond the memory's 32 GiB: they wrap there") != output.text.npos,
            wraps)
            << output.text;
    }
}

// A file that cannot be written is known before the work, which would take hours here.
TEST(CommandLine, OutputsThatCannotBeAreRefusedBeforeTheWork) {
    const arch::base::TemporaryFolder folder;
    const std::string path = folder.path(), long_run = path + "/long.yaml", runs = path + "/r.csv";
    std::ofstream(long_run) << "device: ddr5_5600\n"
                               "workload: {memory_stream: {pattern: random, requests: "
                               "1000000000}}\n";
    std::ofstream(runs) << "scenario,time_ns\nlong.yaml,1000\n";
    const std::string nowhere = path + "/nowhere/x";
    const std::string calibrate = "calibrate ddr5_5600 --fit memory.timing.read_latency --against ";
    const struct {
        std::string command;
        int code;
        const char* message;
    } cases[] = {
        {"run " + long_run + " --trace " + nowhere, 5, "there is no folder"},
        {"run " + long_run + " --vcd " + nowhere, 5, "there is no folder"},
        {"run " + long_run + " --commands " + nowhere, 5, "there is no folder"},
        {"run " + long_run + " --deadlock-graph " + path, 5, "is a folder"},
        {"run " + long_run + " --out " + runs + "/below", 5, "is no folder"},
        {"run " + long_run + " --trace " + long_run, 2, "would replace"},
        {"compare " + long_run + " --against " + runs + " --html " + nowhere, 5,
         "there is no folder"},
        {"compare " + long_run + " --against " + runs + " --html " + runs, 2, "would replace"},
        {calibrate + runs + " -o " + nowhere, 5, "there is no folder"},
        {calibrate + runs + " -o " + path, 5, "is a folder"},
        {calibrate + runs + " -o " + path + "/./r.csv", 2, "would replace"},
        {calibrate + runs + " -o " + long_run, 2, "would replace"},
    };
    for (const auto& [command, code, message] : cases) {
        const Output output = shell("timeout 30 " + kProgram + " " + command);
        EXPECT_EQ(output.code, code) << command;
        EXPECT_NE(output.text.find(message), output.text.npos) << command << ": " << output.text;
        EXPECT_EQ(std::count(output.text.begin(), output.text.end(), '\n'), 1) << output.text;
    }
    EXPECT_EQ(read(runs), "scenario,time_ns\nlong.yaml,1000\n");
}

TEST_F(Stores, AreNotReplacedByWhatIsMadeOfThem) {
    const std::string before = read(path("r.db"));
    for (const std::string& command : {"export csv " + path("r.db") + " --out " + path("r.db"),
                                       "report " + path("r.db") + " -o " + path("r.db")}) {
        const Output output = call(command);
        EXPECT_EQ(output.code, 2) << output.text;
        EXPECT_NE(output.text.find("would replace"), output.text.npos) << output.text;
    }
    EXPECT_EQ(read(path("r.db")), before);
}

// A figure nobody knows is no figure, not 0.
TEST(CommandLine, CsvOfARunWithoutMemoryFiguresLeavesThemOut) {
    const auto cells = [](const std::string& name) {
        const std::string row =
            call("run " + scenario(name) + " --format csv | tail -n 1 | cut -d, -f8,9").text;
        return row.substr(0, row.find('\n'));
    };
    EXPECT_EQ(cells("pim_gemv"), ",");
    const std::string known = cells("ddr5_random");
    EXPECT_GT(std::stod(known), 0);
    EXPECT_GT(std::stod(known.substr(known.find(',') + 1)), 0);
}

}  // namespace
}  // namespace tilesim::validation
