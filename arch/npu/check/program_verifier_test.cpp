#include "arch/npu/check/program_verifier.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace tilesim::arch::npu::check {
namespace {

constexpr program::TileCoordinate kTile{0, 2};

program::Program good() {
    program::Program program;
    program.buffers = {{"first", kTile, 1024, 256}, {"second", kTile, 2048, 256}};
    program.locks = {{"lock", kTile, 3, 1}};
    program::BufferDescriptor descriptor;
    descriptor.length = 64;
    program.dmas = {{kTile, {descriptor}, {{program::Direction::S2MM, 0, {0, 1, false}}}}};
    return program;
}

std::string first_problem(const std::function<void(program::Program&)>& spoil) {
    program::Program program = good();
    spoil(program);
    const auto problems = verify(program, NpuConfig{});
    return problems.empty() ? "" : problems[0];
}

TEST(ProgramVerifier, AcceptsASoundProgram) {
    EXPECT_EQ(first_problem([](program::Program&) {}), "");
}

// An operation of a script without a place of its own has its core's.
TEST(ProgramVerifier, WhatIsWrongHasAPlace) {
    const auto problem = [](base::FilePlace of_operation) {
        return first_problem([of_operation](program::Program& p) {
            p.file = "d.mlir";
            p.cores = {{kTile, {}, {{program::AcquireOp{{0, 64}}, of_operation}}}};
            p.cores[0].where = {7, 5};
        });
    };
    EXPECT_EQ(problem({}), "d.mlir:7:5: core 0,2: value 64 for lock lock is not -64..63");
    EXPECT_EQ(problem({8, 9}), "d.mlir:8:9: core 0,2: value 64 for lock lock is not -64..63");
}

TEST(ProgramVerifier, NamesEachBrokenRule) {
    EXPECT_EQ(first_problem([](program::Program& p) { p.buffers[1].address = 1100; }),
              "buffers first and second of tile 0,2 overlap");
    EXPECT_EQ(first_problem([](program::Program& p) { p.buffers[1].address = 65500; }),
              "buffer second: bytes 65500..65756 lie outside the 65536 B of tile 0,2");
    EXPECT_EQ(first_problem([](program::Program& p) { p.locks[0].id = 16; }),
              "lock lock: tile 0,2 has locks 0..15, not 16");
    EXPECT_EQ(first_problem([](program::Program& p) { p.locks[0].initial = 64; }),
              "lock lock: starts at 64, must be 0..63");
    EXPECT_EQ(first_problem([](program::Program& p) { p.dmas[0].descriptors[0].length = 65; }),
              "tile 0,2 descriptor 0: reaches byte 260 of a buffer of 256");
    EXPECT_EQ(first_problem([](program::Program& p) {
                  p.dmas[0].descriptors[0].dimensions = {{300, 1}, {1, 1}};
                  p.dmas[0].descriptors[0].length = 300;
                  p.buffers[0].bytes = 1024;
                  p.buffers[0].address = 4096;
                  p.buffers[0].bytes = 2048;
              }),
              "tile 0,2 descriptor 0: wrap 300 of dimension 0, must be 1..255 (8 bits)");
    EXPECT_TRUE(first_problem([](program::Program& p) {
                    p.dmas[0].descriptors[0].length = 0;
                }).starts_with("tile 0,2 descriptor 0: length 0 words, must be 1.."));
    EXPECT_EQ(first_problem([](program::Program& p) {
                  p.dmas[0].descriptors[0].iteration = program::Iteration{0, 1};
              }),
              "tile 0,2 descriptor 0: iteration size 0 is not 1..64");
    EXPECT_EQ(first_problem([](program::Program& p) {
                  p.dmas[0].descriptors[0].padding = {{1, 1}};
              }),
              "tile 0,2 descriptor 0: this tile cannot pad");
    EXPECT_EQ(first_problem([](program::Program& p) {
                  p.dmas[0].starts[0].task.out_of_order = true;
                  program::Route plain;
                  plain.name = "plain";
                  plain.source = {kTile, program::Direction::MM2S, 0};
                  plain.destinations = {{kTile, program::Direction::S2MM, 0}};
                  p.routes = {plain};
              }),
              "tile 0,2 s2mm0: takes packets out of order, but route plain brings it no headers; "
              "it must be a packet route with keep_header");
    EXPECT_EQ(first_problem([](program::Program& p) { p.dmas[0].descriptors[0].next = 7; }),
              "tile 0,2 s2mm0: its chain leads to descriptor 7, which does not exist");
    EXPECT_EQ(first_problem([](program::Program& p) { p.dmas[0].starts[0].channel = 2; }),
              "tile 0,2 s2mm2: no such channel; it has 0..1");
    EXPECT_EQ(first_problem([](program::Program& p) { p.dmas[0].starts[0].task.repeat = 257; }),
              "tile 0,2 s2mm0: repeat 257 is not 1..256");
    EXPECT_EQ(first_problem([](program::Program& p) {
                  p.dmas[0].tile = {1, 2};
              }),
              "tile 1,2 s2mm0: does not reach the memory of tile 0,2 (descriptor 0)");
}

// As on AIE1: no memory tiles, binary locks, linear shim transfers, few shim DMAs.
NpuConfig first_generation() {
    NpuConfig config;
    config.memory_rows = 0;
    config.lock_kind = LockKind::Binary;
    config.shim_columns = {2};
    for (DmaConfig* dma : {&config.core_dma, &config.shim_dma}) {
        dma->repeats = 1;
        dma->iteration = false;
        dma->tokens = false;
    }
    config.core_dma.dimensions = 2;
    config.core_dma.double_buffer = true;
    config.shim_dma.dimensions = 0;
    return config;
}

std::string first_generation_problem(const std::function<void(program::Program&)>& spoil) {
    program::Program program = good();
    program.dmas[0].descriptors[0].acquire = program::LockAction{0, 0};
    program.dmas[0].descriptors[0].release = program::LockAction{0, 1};
    program.external_buffers = {{"dram", 0, 4096}};
    program::BufferDescriptor shim;
    shim.length = 64;
    program.sequence = {program::WriteDescriptor{{2, 0}, shim},
                        program::PushTask{{{2, 0}, program::Direction::MM2S, 0}, {0, 1, false}}};
    spoil(program);
    const auto problems = verify(program, first_generation());
    return problems.empty() ? "" : problems[0];
}

TEST(ProgramVerifier, NamesWhatTheFirstGenerationLacks) {
    const auto problem = first_generation_problem;
    const auto push = [](program::Program& p) -> program::PushTask& {
        return std::get<program::PushTask>(p.sequence[1]);
    };
    EXPECT_EQ(problem([](program::Program&) {}), "");
    EXPECT_EQ(problem([](program::Program& p) { p.locks[0].initial = 2; }),
              "lock lock: starts at 2, must be 0..1");
    EXPECT_EQ(problem([](program::Program& p) { p.dmas[0].descriptors[0].acquire->value = -1; }),
              "tile 0,2 descriptor 0: lock lock is binary: it is acquired and released in state 0 "
              "or 1, not -1");
    EXPECT_EQ(problem([](program::Program& p) {
                  p.locks.push_back({"other", kTile, 4, 0});
                  p.dmas[0].descriptors[0].release->lock = 1;
              }),
              "tile 0,2 descriptor 0: acquires one lock and releases another; with binary locks a "
              "descriptor has one");
    EXPECT_EQ(problem([&](program::Program& p) { push(p).task.repeat = 2; }),
              "tile 2,0 mm2s0: repeat 2 is not 1..1");
    EXPECT_EQ(problem([&](program::Program& p) { push(p).task.token = true; }),
              "tile 2,0 mm2s0: this device's DMAs send no completion tokens; use wait_idle");
    EXPECT_EQ(problem([&](program::Program& p) {
                  push(p).channel.tile = {1, 0};
              }),
              "tile 1,0 mm2s0: column 1 has no shim DMA; columns 2 have");
    EXPECT_EQ(
        problem([](program::Program& p) {
            std::get<program::WriteDescriptor>(p.sequence[0]).descriptor.dimensions = {{64, 1}};
        }),
        "tile 2,0 descriptor 0: has dimensions, but this tile's transfers are linear");
    EXPECT_EQ(problem([](program::Program& p) {
                  p.dmas[0].descriptors[0].iteration = program::Iteration{2, 64};
              }),
              "tile 0,2 descriptor 0: this tile's descriptors do not iterate");
    EXPECT_EQ(problem([](program::Program& p) {
                  std::get<program::WriteDescriptor>(p.sequence[0]).descriptor.alternate =
                      program::Alternate{};
              }),
              "tile 2,0 descriptor 0: this tile's descriptors do not alternate");
    EXPECT_EQ(problem([](program::Program& p) {
                  p.dmas[0].descriptors[0].alternate = program::Alternate{1, 4, {}, {}};
              }),
              "tile 0,2 descriptor 0 (alternate): reaches byte 260 of a buffer of 256");
    EXPECT_EQ(problem([](program::Program& p) {
                  p.sequence.push_back(program::CopyToTile{0, 0, 257, 0});
              }),
              "copy of bytes 0..257 of dram (4096 B) to first (256 B) is out of range");
}

TEST(ProgramVerifier, StreamFedKernelsNeedTheirStreams) {
    const auto problem = [](const std::function<void(program::Program&)>& spoil) {
        program::Program program = good();
        program::Kernel kernel;
        kernel.name = "block";
        kernel.kind = program::KernelKind::Stream;
        kernel.m = 16;
        kernel.k = 16;
        kernel.n = 4;
        kernel.a = kernel.b = kernel.c = DataType::Int16;
        program.kernels = {kernel};
        program.cores = {{kTile, {{"b", {0}}}, {{program::CallOp{0, {0}, {}}}}}};
        program.external_buffers = {{"dram", 0, 4096}};
        program.logic_streams = {{"a", kTile, 0, 0, {{0, 512, 1}}}};
        const program::ChannelId in{kTile, program::Direction::S2MM, 1, program::PortKind::Core};
        const program::ChannelId out{kTile, program::Direction::MM2S, 0, program::PortKind::Core};
        program.routes = {{"in", {{2, 0}, program::Direction::MM2S, 0}, {in}, {}, false, {}},
                          {"out", out, {{{2, 0}, program::Direction::S2MM, 0}}, {}, false, {}}};
        program.dmas.clear();
        spoil(program);
        NpuConfig config = first_generation();
        config.core.stream_inputs = 2;
        config.programmable_logic.ram = base::Bytes{1 << 20};
        config.kernels.stream_modes = {{}};
        const auto problems = verify(program, config);
        return problems.empty() ? "" : problems[0];
    };
    EXPECT_EQ(problem([](program::Program&) {}), "");
    EXPECT_EQ(problem([](program::Program& p) { p.logic_streams.clear(); }),
              "tile 0,2 core: kernel block reads A from core_in0, which no logic stream feeds");
    EXPECT_EQ(problem([](program::Program& p) { p.routes.erase(p.routes.begin()); }),
              "tile 0,2 core: kernel block reads C from core_in1, which no route reaches");
    EXPECT_EQ(problem([](program::Program& p) { p.routes.pop_back(); }),
              "tile 0,2 core: kernel block writes C to core_out0, which no circuit leaves");
    EXPECT_EQ(problem([](program::Program& p) {
                  p.routes.push_back(p.routes[1]);
                  p.routes[2].name = "again";
                  p.routes[2].destinations[0].index = 1;
              }),
              "routes out and again: both leave tile 0,2 core_out0; a broadcast is one route with "
              "several destinations");
    EXPECT_EQ(problem([](program::Program& p) { p.kernels[0].k = 64; }),
              "tile 0,2 core: kernel block needs 512 B of B, buffer first has 256");
    EXPECT_EQ(problem([](program::Program& p) { p.routes[0].destinations[0].index = 2; }),
              "tile 0,2 core_in2: no such port; cores have 2 stream inputs and 1 outputs");
    EXPECT_EQ(problem([](program::Program& p) { p.kernels[0].c = DataType::F32; }),
              "kernel block: this device has no stream-fed int16 x int16 -> f32 multiply");
}

TEST(ProgramVerifier, CoresPutOnAndGetFromStreamsThatAreThere) {
    const auto problem = [](const std::function<void(program::Program&)>& spoil) {
        program::Program program = good();
        constexpr program::TileCoordinate kEast{1, 2};
        program.cores = {{kTile, {{"x", {0}}}, {{program::PutStreamOp{0, 64, 0}}}},
                         {kEast, {}, {{program::GetStreamOp{0, 64, {}}}}}};
        program.routes = {{"way",
                           {kTile, program::Direction::MM2S, 0, program::PortKind::Core},
                           {{kEast, program::Direction::S2MM, 0, program::PortKind::Core}},
                           {},
                           false,
                           {}}};
        spoil(program);
        const auto problems = verify(program, NpuConfig{});
        return problems.empty() ? "" : problems[0];
    };
    EXPECT_EQ(problem([](program::Program&) {}), "");
    EXPECT_EQ(problem([](program::Program& p) {
                  p.cores[0].script = {{program::PutStreamOp{1, 64, 0}}};
              }),
              "core 0,2: puts on core_out1, but cores have 1 stream outputs");
    EXPECT_EQ(problem([](program::Program& p) {
                  p.cores[1].script = {{program::GetStreamOp{2, 64, {}}}};
              }),
              "core 1,2: gets from core_in2, but cores have 1 stream inputs");
    EXPECT_EQ(problem([](program::Program& p) { p.routes[0].destinations[0].tile = kTile; }),
              "core 1,2: gets from core_in0, which no route reaches");
    EXPECT_EQ(problem([](program::Program& p) {
                  p.routes[0].source.tile = {1, 2};
              }),
              "core 0,2: puts on core_out0, which no route leaves");
    EXPECT_EQ(problem([](program::Program& p) {
                  p.cores[0].script = {{program::PutStreamOp{0, 65, 0}}};
              }),
              "core 0,2: what it puts on core_out0 is 260 B, buffer first has 256 B");
    EXPECT_EQ(problem([](program::Program& p) { p.routes[0].packet_id = 3; }),
              "core 0,2: puts words that are no packet on core_out0, whose routes take packet 3");
    EXPECT_EQ(problem([](program::Program& p) {
                  p.cores[0].script = {{program::PutStreamOp{0, 64, {0}, 5, true}}};
              }),
              "core 0,2: puts packet 5 on core_out0, whose routes take no packets");
    EXPECT_EQ(problem([](program::Program& p) {
                  p.routes[0].packet_id = 5;
                  p.cores[0].script = {{program::PutStreamOp{0, 64, {0}, 5, true}}};
              }),
              "");
}

}  // namespace
}  // namespace tilesim::arch::npu::check
