// Programs of an array, run as a user does: what is said before the run, and of one that stands.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>

#include "validation/command_line_testing.hpp"

namespace tilesim::validation {
namespace {

TEST(ProgramRuns, EveryShippedProgramEndsAsItsNameSays) {
    int programs = 0;
    for (const auto& file : std::filesystem::directory_iterator(kConfigs + "/programs")) {
        const std::string name = file.path().stem().string();
        if (file.path().extension() != ".yaml" && file.path().extension() != ".mlir") {
            continue;  // named by one of these, or by --set
        }
        std::filesystem::path scenario = file.path();
        if (file.path().extension() == ".mlir" &&
            std::filesystem::exists(scenario.replace_extension(".yaml"))) {
            continue;  // run by the scenario of its name, which has what only the host knows
        }
        const bool hangs = name.starts_with("deadlock") || name == "queue_overflow";
        const auto output = call("run " + file.path().string());
        EXPECT_EQ(output.code, hangs ? 3 : 0) << name << "\n" << output.text;
        EXPECT_EQ(output.text.find("waits for") != std::string::npos, hangs) << name;
        // All other cores' bodies are read.
        const bool assumes = name == "bodyless_core";
        EXPECT_EQ(output.text.find("no body in this file") != std::string::npos, assumes) << name;
        ++programs;
    }
    EXPECT_GE(programs, 10);
}

// 22 writes for the copy through a core's memory, 18 for that through the memory tile, 84 cycles at
// 600 MHz each, in place of a reconfiguration between them.
TEST(ProgramRuns, ConfigurationsAreLoadedOrWritten) {
    const std::string design = kConfigs + "/programs/two_configurations.mlir";
    const auto cycles = [&](const std::string& settings) {
        const auto output = call("run " + design + " --format json " + settings);
        EXPECT_EQ(output.code, 0) << output.text;
        return nlohmann::json::parse(output.text)["cycles"].get<std::int64_t>();
    };
    const std::string no_time = "--set 'device.npu.command_processor.reconfiguration=0 us' ";
    const std::int64_t between = cycles(no_time);
    EXPECT_EQ(cycles("--set 'device.npu.command_processor.reconfiguration=7 us'"), between + 7000);
    const std::int64_t written = cycles(no_time + "--set design.set_up=written");
    EXPECT_NEAR(static_cast<double>(written - between), (22 + 18) * 84 / 0.6, 4);
    EXPECT_NE(call("run " + design + " --set design.set_up=written")
                  .text.find("sets the array up in its sequence, in 22 and 18 register writes;"),
              std::string::npos);
    const auto none =
        call("run " + kConfigs + "/programs/aie1_chain.mlir --set design.set_up=written");
    EXPECT_EQ(none.code, 2);
    EXPECT_NE(none.text.find("set_up: written is for sequences that load configurations"),
              std::string::npos)
        << none.text;
}

TEST(ProgramRuns, WhatIsKnownBeforeTheRunIsSaidBeforeIt) {
    const auto dead = call("run " + program("deadlock_no_token"));
    EXPECT_EQ(dead.code, 3);
    EXPECT_EQ(dead.text.find("before the run: certain deadlock: each waits for the next"), 0U)
        << dead.text;
    EXPECT_NE(call("run " + program("queue_overflow")).text.find("more than 5 tasks are pushed"),
              std::string::npos);
    std::ostringstream copy;
    copy << std::ifstream(program("copy")).rdbuf();
    const Output shorter = run_text(std::regex_replace(
        copy.str(), std::regex("buffer: input, length: 1024"), "buffer: input, length: 1000"));
    EXPECT_EQ(shorter.code, 2);
    EXPECT_NE(shorter.text.find("tile 0,1 s2mm0 expects 1024 words, tile 0,0 mm2s0 sends 1000"),
              std::string::npos)
        << shorter.text;
    const Output starved =
        run_text(std::regex_replace(copy.str(), std::regex("id: 1, buffer: box, length: 1024"),
                                    "id: 1, buffer: box, length: 1000"));
    EXPECT_EQ(starved.code, 2);
    EXPECT_NE(starved.text.find("tile 0,0 s2mm0 expects 1024 words, tile 0,1 mm2s0 sends 1000"),
              std::string::npos)
        << starved.text;
}

TEST(ProgramRuns, TheSteadyStateIsNoFasterThanItsBound) {
    for (const char* name : {"double_buffering", "single_buffering", "add_one"}) {
        const auto result =
            nlohmann::json::parse(call("run " + program(name) + " --format json").text);
        const auto& period = result["bounds"]["period"];
        EXPECT_GT(period["cycles"], 0) << name;
        EXPECT_GE(period["simulated_cycles"], period["cycles"]) << name;
    }
}

TEST(ProgramRuns, TracingAProgramChangesNothing) {
    const std::string trace = scratch("program_trace.json");
    for (const char* name : {"cascade", "deadlock_lock_order"}) {
        const auto result_of = [&](const std::string& options) {
            const std::string out = scratch("traced");
            call("run " + program(name) + " --out " + out + options);
            std::ostringstream text;
            text << std::ifstream(out + "/result.json").rdbuf();
            // What is only watched, ports of switches, costs the simulator events of its own.
            return std::regex_replace(text.str(), std::regex("\"events\": [0-9]+"), "");
        };
        const std::string plain = result_of("");
        EXPECT_FALSE(plain.empty());
        EXPECT_EQ(plain, result_of(" --trace " + trace));
        EXPECT_GT(std::filesystem::file_size(trace), 100U);
    }
}

TEST(ProgramRuns, ALivelockIsNamedAndSlownessIsNot) {
    const auto livelock = call("run " + program("deadlock_livelock"));
    EXPECT_EQ(livelock.code, 3);
    EXPECT_NE(livelock.text.find("livelock: what still moves gives nobody anything"),
              std::string::npos);
    const auto slow = call("run " + program("double_buffering") + " --set run.max_time=\"70 us\"");
    EXPECT_EQ(slow.code, 4);
    EXPECT_NE(slow.text.find("not dead: last progress: cycle"), std::string::npos) << slow.text;
}

TEST(ProgramRuns, ADeadlockIsDrawn) {
    const std::string dot = scratch("deadlock.dot");
    EXPECT_EQ(call("run " + program("deadlock_lock_order") + " --deadlock-graph " + dot).code, 3);
    std::ostringstream text;
    text << std::ifstream(dot).rdbuf();
    EXPECT_NE(text.str().find("npu.tile(0,3).core\", color=red"), std::string::npos) << text.str();
    const std::string both = call("run " + program("deadlock_lock_order") + " --format json").text;
    const auto json = nlohmann::json::parse(both.substr(0, both.rfind("}\n") + 1));
    EXPECT_EQ(json["deadlock"]["waits"][0]["on"], "lock");
    EXPECT_GT(json["deadlock"]["last_progress_cycle"], 0);
}

TEST(ProgramRuns, ALoweredProgramRunsFromItsPrintedForm) {
    const std::string file = scratch("lowered.yaml");
    const auto cycles = [](const std::string& what) {
        const auto output = call("run " + what + " --format json");
        EXPECT_EQ(output.code, 0) << output.text;
        const std::size_t at = output.text.find("\"cycles\"");
        return output.text.substr(at, output.text.find(',', at) - at);
    };
    // aie1_chain has no sequence.
    for (const std::string& what :
         {scenario("xdna_functional"), scenario("vck190_gotoblas_functional"),
          kConfigs + "/programs/aie1_chain.mlir"}) {
        const auto lowered = call("lower " + what);
        std::ofstream(file) << lowered.text;
        EXPECT_EQ(cycles(file), cycles(what));
        // Printed again it is the same program.
        EXPECT_EQ(call("lower " + file).text, lowered.text.substr(lowered.text.find("device:")));
    }
}

}  // namespace
}  // namespace tilesim::validation
