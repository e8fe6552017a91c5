// What a design does not say, and what a reader of it may choose.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "workloads/npu/mlir/object_fifo.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"
#include "workloads/npu/written_configuration.hpp"

namespace tilesim::workloads::npu::mlir {

// Cycles of the scalar operations between lock operations: one issues a cycle, in order, when its
// operands are there. Source: llvm-aie scheduling tables (AIE2Schedule.td).
struct InlineCosts {
    std::int64_t load = 7;      // issue to use
    std::int64_t multiply = 2;  // issue to use
    std::int64_t other = 1;     // add, store, compare ...
    std::int64_t branch = 6;    // closing a loop: compare, then the branch with 5 delay slots
    // Innermost loops without branches and events are unrolled or hardware loops, whose counters
    // and addresses take no instructions (llvm-aie: AIEBaseTargetTransformInfo.cpp). Otherwise a
    // run of a loop is its test, a step and the jump back, and each access computes its address.
    bool optimised = true;
};

// A core whose body is not in the file: it takes `inputs_per_output` blocks of every input channel,
// works `cycles` on each round, and fills a block of every output channel at the end.
struct BodylessCore {
    std::int64_t cycles = 0;
    std::int64_t inputs_per_output = 1;
};

// Words of a function's cascade accesses: it gets before it works and puts after.
struct CascadeWords {
    std::int64_t get = 0;
    std::int64_t put = 0;
};

// The same of its accesses to the core's own streams, words of 32 bits.
struct StreamWords {
    std::int64_t get = 0;
    std::int64_t put = 0;
    std::int64_t get_port = 0;
    std::int64_t put_port = 0;
    // What a call puts where packets leave by the port is one, its header first: the header's id.
    std::optional<std::int64_t> packet{};
};

// What the host does besides the run-time sequence, after it.
struct HostStep {
    bool wait = false;  // until the lock has the value (a counting lock: at least); else set it
    std::string lock;
    std::int64_t value = 0;
};

// What a design does not say: the side file's content, read by sim.
struct KernelCosts {
    std::map<std::string, std::int64_t> kernels;  // cycles of a call, by function
    std::map<std::string, CascadeWords> cascade;  // by function
    std::map<std::string, StreamWords> streams;   // by function
    std::optional<std::int64_t> default_kernel;   // of functions not listed
    // Functions whose code marks its begin and end for trace units; nothing stated: all of them.
    std::optional<std::set<std::string>> marked{};
    std::optional<BodylessCore> default_core;
    InlineCosts inline_code;
};

// How often dma_start {repeat_count = n} runs its chain: mlir-aie writes the runs after the first,
// iree-amd-aie the runs. Detect: by the way the file prints ports.
enum class RepeatCount { Detect, AfterFirst, Runs };

struct Source;

struct ReadOptions {
    std::string device;    // symbol of the aie.device to run, where the file holds several
    std::string sequence;  // symbol of the run-time sequence, likewise
    RepeatCount repeat_count = RepeatCount::Detect;
    SetUp set_up = SetUp::Loaded;                 // of configurations that the sequence loads
    std::map<std::string, FifoOverride> fifos{};  // by symbol
    std::map<std::string, program::TileCoordinate> tiles{};  // of logical tiles, by name
    KernelCosts costs;
    std::map<std::string, std::int64_t> arguments{};  // numbers among the sequence's arguments
    // What the host puts into arguments, 32-bit words by the argument's name.
    std::map<std::string, std::vector<std::uint32_t>> words{};
    std::map<std::int64_t, std::int64_t> loops{};   // runs of loops whose data decides, by line
    std::map<std::string, std::int64_t> headers{};  // packet ids in buffers' first words, by name
    std::vector<HostStep> host;
    // The same design with the bodies of its cores, which the compiler leaves beside a file where
    // they are in ELF files.
    std::shared_ptr<const Source> bodies{};
};

// A parsed file.
struct Source {
    std::string file;
    std::vector<Operation> operations;
    std::vector<std::string> notes{};  // on what was left out as the text was read
};

}  // namespace tilesim::workloads::npu::mlir
