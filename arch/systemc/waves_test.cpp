#include "arch/systemc/waves.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "arch/base/temporary_folder_testing.hpp"
#include "arch/systemc/initiators_testing.hpp"

namespace tilesim::arch::systemc {
namespace {

using namespace base::literals;

// What a model tells, from the queue: at 10 ns that it computes from 12 to 30 ns, at 15 ns that it
// waits from 30 to 31 ns.
struct Model final : base::EventHandler {
    Waves* waves = nullptr;
    void on_event(std::uint64_t which, base::Femtoseconds) override {
        const auto [name, from, to] =
            which == 0 ? std::tuple{"computes", 12_ns, 30_ns} : std::tuple{"waits", 30_ns, 31_ns};
        waves->begin("chip.unit(0)", name, from);
        waves->end("chip.unit(0)", name, to);
        waves->begin("chip.unit(0).port", name, from);  // finer than the hierarchy
    }
};

struct Chip : sc_core::sc_module {
    explicit Chip(const sc_core::sc_module_name& name)
        : sc_core::sc_module(name), blocks(make_modules({{"chip.unit(0)", "unit"}}, 1)) {}
    BlockModules blocks;
};

TEST(Waves, ChangeAtTheirTimeNotWhenTheyAreTold) {
    TimeLine line("line");
    const Chip chip("chip");
    Waves waves(line, chip.blocks);
    Model model;
    model.waves = &waves;
    line.queue().at(10_ns, model, 0);
    line.queue().at(15_ns, model, 1);
    const BlockModule& unit = *chip.blocks.front();
    std::vector<unsigned> seen;
    const Process reader("reader", [&] {
        double at = 0;
        for (const double time : {11.0, 13.0, 29.0, 30.5, 32.0}) {
            sc_core::wait(time - at, sc_core::SC_NS);
            at = time;
            seen.push_back(unit.activity());
        }
    });
    sc_core::sc_start();
    EXPECT_EQ(seen, (std::vector<unsigned>{0, 1, 1, 2, 0}));
    EXPECT_EQ(unit.legend(), "1 computes, 2 waits");
}

// The same where nothing else is pending: the queue runs ahead, the waveform does not.
TEST(Waves, AreInTheFileWithTheirTimes) {
    const base::TemporaryFolder folder;
    const std::string file = (folder.path() / "waves").string();
    {
        TimeLine line("line");
        const Chip chip("chip");
        Waves waves(line, chip.blocks);
        Model model;
        model.waves = &waves;
        line.queue().at(10_ns, model, 0);
        line.queue().at(15_ns, model, 1);
        sc_core::sc_trace_file* trace = sc_core::sc_create_vcd_trace_file(file.c_str());
        trace->set_time_unit(1, sc_core::SC_NS);
        chip.blocks.front()->trace(trace);
        sc_core::sc_start();
        sc_core::sc_close_vcd_trace_file(trace);
    }
    std::ifstream in(file + ".vcd");
    std::ostringstream text;
    text << in.rdbuf();
    for (const char* change :
         {"#12\nb1 ", "#30\nb10 ", "#31\n", "$scope module unit_0 ", "  activity "}) {
        EXPECT_NE(text.str().find(change), std::string::npos) << change << "\n" << text.str();
    }
}

}  // namespace
}  // namespace tilesim::arch::systemc
