// The blocks of a device as sc_modules: no process, no port, only their place, their name, their
// statistics and their states as waveforms.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <systemc>
#include <vector>

#include "arch/base/block.hpp"

namespace tilesim::arch::systemc {

class BlockModule;
using BlockModules = std::vector<std::unique_ptr<BlockModule>>;

// A place in the hierarchy, as it is collected before it is built.
struct BlockPlace {
    std::string name;
    std::string path;  // in statistics
    std::string kind;
    const base::stats::Group* statistics = nullptr;
    std::vector<BlockPlace> children{};
};

class BlockModule final : public sc_core::sc_module {
  public:
    BlockModule(const sc_core::sc_module_name& name, const BlockPlace& place);

    const char* kind() const override { return kind_.c_str(); }
    // As in statistics, traces and errors: "npu.tile(0,1).s2mm0".
    const std::string& path() const { return path_; }
    // May be null.
    const base::stats::Group* statistics() const { return statistics_; }
    const BlockModules& children() const { return children_; }

    // What it does now; 0: nothing that is told. Only of a device that is traced (waves.hpp).
    unsigned activity() const { return activity_; }
    void set_activity(unsigned number) { activity_ = number; }
    // An activity it has not been asked for yet gets the next number.
    unsigned number_of(std::string_view activity);
    // What the numbers mean, so far: "1 row_open, 2 refresh".
    std::string legend() const;
    // Its activity and those of what is in it: `npu.tile_0_1.s2mm_0.activity`.
    void trace(sc_core::sc_trace_file* file) const override;

  private:
    std::string kind_;
    std::string path_;
    const base::stats::Group* statistics_;
    std::vector<std::string> activities_;  // from 1 on
    unsigned activity_ = 0;
    BlockModules children_;
};

// "tile(2,3)" is "tile_2_3" in SystemC, "mm2s0" is "mm2s_0".
std::string systemc_name(std::string_view segment);

// Modules for all blocks, under the module that is being constructed. `skip`: so many of the first
// segments of their paths are that module itself.
BlockModules make_modules(const std::vector<base::Block>& blocks, std::size_t skip);

// Every module below and including `object`, a line each, indented: "tile_0_1 (memory_tile)".
std::string hierarchy_text(const sc_core::sc_object& object);
// The same for all top-level objects.
std::string hierarchy_text();

}  // namespace tilesim::arch::systemc
