// Switchboxes and shim multiplexers as a design writes them out: circuits, arbiters, packet rules.
//
// Errors:  ReadError where one is malformed or names what is not there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/routes/flows.hpp"

namespace tilesim::workloads::npu::mlir::routes {

struct Select {  // an arbiter and one of its selectors
    std::int64_t arbiter = 0;
    std::int64_t msel = 0;
    auto operator<=>(const Select&) const = default;
};
struct Rule {
    std::int64_t mask = 0;
    std::int64_t value = 0;
    Select select;
};
struct Master {
    Port port;
    std::optional<bool> keep_header;  // where it is stated
};
struct Switch {
    std::map<Port, std::vector<Port>> circuits;
    std::map<Port, std::vector<Rule>> rules;
    std::map<Select, std::vector<Master>> masters;
};
// Which South ports of the switch the shim's DMA channels are on.
struct ShimMux {
    std::map<std::int64_t, std::int64_t> entry;  // MM2S channel to South port
    std::map<std::int64_t, std::int64_t> exit;   // South port to S2MM channel
};

class SwitchSettings {
  public:
    // `routed`: its tiles have names of their own.
    SwitchSettings(Lowering& lowering, const Operation& routed);

    const std::map<program::TileCoordinate, Switch>& switches() const { return switches_; }
    const std::map<program::TileCoordinate, ShimMux>& muxes() const { return muxes_; }
    // Arbiters that pass packets in a fixed order.
    const std::vector<program::Merge>& merges() const { return merges_; }

  private:
    program::TileCoordinate tile_of(const Operation& operation);
    static std::pair<Port, Port> connection(const Operation& operation);
    void switchbox(const Operation& operation);
    // %0 = aie.amsel<1> (2): arbiter 1, selector 2
    void amsel(const Operation& operation, std::map<std::string, Select>& selects,
               program::TileCoordinate tile);
    // [<North : 1, 1>, <DMA : 0, 3>] behind deterministic_merge: a port and how many packets.
    void merge(Cursor turns, program::Merge merge);
    static Select select_of(Cursor& cursor, const std::map<std::string, Select>& selects);
    static void masterset(const Operation& operation, const std::map<std::string, Select>& selects,
                          Switch& box);
    static void packet_rules(const Operation& operation,
                             const std::map<std::string, Select>& selects, Switch& box);
    // aie.connect<DMA : 0, North : 3> in a shim_mux: MM2S 0 enters the switch on South 3;
    // <North : 2, DMA : 0>: what leaves the switch on South 2 goes to S2MM 0.
    void shim_mux(const Operation& operation);

    Lowering& lowering_;
    std::map<std::string, program::TileCoordinate> tiles_;
    std::map<program::TileCoordinate, Switch> switches_;
    std::map<program::TileCoordinate, ShimMux> muxes_;
    std::vector<program::Merge> merges_;
};

}  // namespace tilesim::workloads::npu::mlir::routes
