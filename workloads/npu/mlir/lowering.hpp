// What the parts of the lowering share: the program being built and the names of the device.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/npu/mlir/object_fifo.hpp"
#include "workloads/npu/mlir/read_options.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"
#include "workloads/npu/program_file/program_file.hpp"

namespace tilesim::workloads::npu::mlir {

constexpr std::int64_t kWordBits = 32;
using arch::npu::kWordBytes;

struct Lowering {
    const NpuConfig& config;
    const ReadOptions& options;
    const Operation& device;
    Scope names{};  // of the device's region
    program::Program program{};
    std::vector<program::TileCoordinate> tiles{};
    std::vector<MemrefType> buffer_types{};        // of Program::buffers
    std::map<std::int64_t, std::int64_t> banks{};  // they must lie in, where stated
    // What buffers hold at start, in words, where that is stated; others hold zeros.
    std::map<std::int64_t, std::vector<std::uint32_t>> contents{};
    std::vector<MemrefType> external_types{};                 // of Program::external_buffers
    std::map<std::string, program::ChannelId> allocations{};  // aie.shim_dma_allocation by symbol
    std::map<std::string, program::Packet> allocation_packets{};  // what transfers by them send
    std::vector<std::vector<std::uint32_t>> globals{};
    std::map<std::string, std::int64_t> global_symbols{};
    std::map<std::string, const Operation*> functions{};
    std::vector<ObjectFifo> fifos{};
    std::vector<FifoPool> fifo_pools{};
    std::vector<FifoLink> links{};
    std::vector<FifoStream> fifo_streams{};
    std::vector<program_file::TraceSlots> trace_slots{};
    bool repeat_counts_runs = false;  // see RepeatCount
    bool traces = false;              // trace units are set up, or streams lead from them
    // Descriptors of DMA regions that move nothing: left out, and so are tasks that name them.
    std::set<std::pair<program::TileCoordinate, std::int64_t>> empty_descriptors{};
    // Run-time parameters: a word (second) of a buffer (first) by its number in the core.
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> parameters{};
    // Loops to a parameter that do not count from 0 by 1: how often such a loop stays, in a
    // parameter of its own, which is written with the other.
    struct LoopParameter {
        std::int64_t bound = 0;  // the parameter in the design
        std::string predicate;   // of the loop's test, see times_passed
        std::int64_t first = 0, step = 1;
        std::int64_t number = 0;  // the parameter that counts
    };
    std::vector<LoopParameter> loop_parameters{};

    std::vector<std::pair<Location, std::string>> errors{};
    std::vector<std::string> notes{};
    std::vector<std::string> functional_notes{};  // of what bytes a functional run lacks

    // Runs `step`, and turns what it throws into an entry of `errors`; whether it threw nothing.
    bool attempt(const std::function<void()>& step);
    // Adds a note unless it has been said.
    void note(const std::string& sentence);
    void note_trace_units();
    // A buffer holds at start what stands behind "dense"; a note where that is not known here.
    void set_contents(std::int64_t buffer, const Item& value, const MemrefType& type);
    // The number of the core's parameter in this word of a buffer; new where there is none yet.
    std::int64_t parameter(std::int64_t buffer, std::int64_t word);
    // The parameter that counts the runs of a loop to another one.
    std::int64_t loop_parameter(std::int64_t bound, const std::string& predicate,
                                std::int64_t first, std::int64_t step);
    // Adds the sequence's write of a buffer's word; false where no core takes it for a parameter.
    bool write_parameter(std::int64_t buffer, std::int64_t word, std::int64_t value);
    // A tile's value; without one, a name that says where it lies: %shim_noc_tile_0_0.
    program::TileCoordinate tile(Cursor& cursor) const;
    program::TileDma& dma_of(program::TileCoordinate tile);
    // The operations of the device's region.
    const std::vector<Operation>& body() const;
};

// What workloads/npu/binary writes a configuration as.
constexpr std::string_view kConfiguration = "tilesim.configuration";
// A write32 that was a further word of a block write.
constexpr std::string_view kOfABlock = "of_a_block";
// Whether the device was decompiled from register writes.
bool is_configuration(const Lowering& lowering);

// Column and row of "tile_3_1" and its like: what a name that no value has stands for.
std::optional<program::TileCoordinate> tile_named(std::string_view name);
// A column, a comma and a row where the cursor stands.
program::TileCoordinate read_coordinate(Cursor& cursor);
// MM2S or S2MM where the cursor stands, then a comma and the channel's number.
program::ChannelId read_channel(Cursor& cursor, program::TileCoordinate tile);
// aie.use_lock: the lock and its request; `acquire` tells which.
struct LockUse {
    program::LockAction action;
    bool acquire = false;
    bool nothing = false;  // a computed count of 0
};
LockUse read_lock_use(const Operation& operation, const Scope& scope);
// The number of a task's runs from a repeat_count attribute.
std::int64_t runs_of(const Lowering& lowering, std::int64_t repeat_count);
std::string plain_name(const std::string& name);
// `wanted` with whatever a program file could not hold unquoted replaced, and a number behind it
// where an entry of `list` has the name already.
template <class Named>
std::string unique_name(const std::vector<Named>& list, const std::string& wanted) {
    const std::string plain = plain_name(wanted);
    std::string name = plain;
    const auto taken = [&list, &name] {
        return std::any_of(list.begin(), list.end(),
                           [&name](const Named& each) { return each.name == name; });
    };
    for (int number = 2; taken(); ++number) {
        name = fmt::format("{}_{}", plain, number);
    }
    return name;
}

}  // namespace tilesim::workloads::npu::mlir
