#include "workloads/npu/mlir/design/device.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "workloads/npu/mlir/core/bodyless_core.hpp"
#include "workloads/npu/mlir/core/core.hpp"
#include "workloads/npu/mlir/core/enabled_cores.hpp"
#include "workloads/npu/mlir/core/kernel_locks.hpp"
#include "workloads/npu/mlir/descriptors/dma.hpp"
#include "workloads/npu/mlir/design/array_stand_in.hpp"
#include "workloads/npu/mlir/design/storage.hpp"
#include "workloads/npu/mlir/design/trace_units.hpp"
#include "workloads/npu/mlir/object_fifo/object_fifos.hpp"
#include "workloads/npu/mlir/registers/register_configuration.hpp"
#include "workloads/npu/mlir/routes/cascade.hpp"
#include "workloads/npu/mlir/routes/routes.hpp"
#include "workloads/npu/mlir/syntax/attributes.hpp"

namespace tilesim::workloads::npu::mlir::design {

using core::add_bodyless_cores;
using core::enable_cores;
using core::lower_cores;
using core::settle_kernel_locks;
using descriptors::lower_dmas;
using object_fifo::connect_object_fifos;
using registers::lower_configuration;
using routes::lower_cascades;
using routes::lower_routes;

namespace {

// Until 2022 a use_lock beside the cores was one of the host's before they start
// (mlir_aie_initialize_locks). It tries an acquire once: one that is not granted does nothing.
void use_lock_before_start(Lowering& lowering, const Operation& operation) {
    if (lowering.device.name != "module") {
        throw ReadError(operation.where, "aie.use_lock must stand in a core or a DMA");
    }
    const LockUse use = read_lock_use(operation, lowering.names);
    program::Lock& lock = lowering.program.locks[static_cast<std::size_t>(use.action.lock)];
    if (!use.acquire) {
        lock.initial = use.action.value;
    } else if (lock.initial != use.action.value) {
        lowering.note(
            fmt::format("the host asks for {} in state {} before the start, which it is not in: "
                        "that changes nothing",
                        lock.name, use.action.value));
    } else {
        throw ReadError(operation.where,
                        fmt::format("the host takes {} before the start; when it gives it back is "
                                    "not known here",
                                    lock.name));
    }
}

void use_locks_before_start(Lowering& lowering) {
    for (const Operation& operation : lowering.body()) {
        if (operation.name == "aie.use_lock") {
            lowering.attempt([&] { use_lock_before_start(lowering, operation); });
        }
    }
}

// Two declarations of one kind may not share a symbol: whoever names it means one.
void check_symbols(Lowering& lowering) {
    static const std::set<std::string> kDeclared{"aie.objectfifo",      "aie.bd_chain",
                                                 "aie.objectfifo.pool", "aie.shim_dma_allocation",
                                                 "func.func",           "memref.global"};
    std::map<std::pair<std::string, std::string>, Location> declared;  // by kind and symbol
    for (const Operation& operation : lowering.body()) {
        const std::string symbol = symbol_of(operation);
        if (!kDeclared.contains(operation.name) || symbol.empty()) {
            continue;
        }
        const auto [place, first] = declared.try_emplace({operation.name, symbol}, operation.where);
        if (!first) {
            lowering.errors.emplace_back(operation.where,
                                         fmt::format("{} declares @{} a second time, after line {}",
                                                     operation.name, symbol, place->second.line));
        }
    }
}

// Operations of the device that no part of the lowering reads.
void check_operations(Lowering& lowering) {
    static const std::set<std::string> kKnown{"aie.tile",
                                              "aie.buffer",
                                              "aie.lock",
                                              "aie.use_lock",
                                              "aie.external_buffer",
                                              "aie.mem",
                                              "aie.memtile_dma",
                                              "aie.shim_dma",
                                              "aie.core",
                                              "aie.flow",
                                              "aie.packet_flow",
                                              "aie.switchbox",
                                              "aie.shim_mux",
                                              "aie.wire",
                                              "aie.plio",  // a port of the programmable logic
                                              "aie.end",
                                              "func.func",
                                              "memref.global",
                                              "arith.constant",
                                              "aie.shim_dma_allocation",
                                              "aiex.multicast",
                                              "aiex.broadcast_packet",
                                              "aie.bd_chain",
                                              "aie.logical_tile",
                                              "tilesim.configuration",
                                              "aie.objectfifo",
                                              "aie.objectfifo.link",
                                              "aie.objectfifo.allocate",
                                              "aie.objectfifo.register_external_buffers",
                                              "aie.objectfifo_rearm_binding",
                                              "aie.objectfifo.pool",
                                              "aie.objectfifo.core_endpoint",
                                              "aie.objectfifo.dma_endpoint",
                                              "aie.route_endpoint",
                                              "aie.route",
                                              "aie.cascade_flow",
                                              "aie.configure_cascade"};
    for (const Operation& operation : lowering.body()) {
        const std::string& name = operation.name;
        if (name == "tilesim.note") {
            Cursor cursor(operation);
            lowering.note(cursor.word());
        } else if (name.starts_with("aie.trace")) {
            lowering.note_trace_units();
        } else if (name.starts_with("aiex.cert.")) {
            throw ReadError(operation.where,
                            fmt::format("{} is control code for the array's microcontrollers, "
                                        "which is not modelled; the sequence it was made of "
                                        "(before --aie-npu-to-cert) is",
                                        name));
        } else if (!kKnown.contains(name) && !name.ends_with(".runtime_sequence")) {
            lowering.errors.emplace_back(operation.where, fmt::format("{} is not modelled", name));
        }
    }
}

}  // namespace

void lower_device(Lowering& lowering, const Operation& routed, const std::function<void()>& run) {
    check_operations(lowering);
    check_symbols(lowering);
    if (lowering.errors.empty()) {
        lower_storage(lowering);
        use_locks_before_start(lowering);
        read_trace_units(lowering);
    }
    if (lowering.errors.empty()) {
        lower_dmas(lowering);
        lower_configuration(lowering);
        connect_object_fifos(lowering);
        lower_cores(lowering);
        lower_cascades(lowering);
        run();
        lower_routes(lowering, routed);
    }
    if (lowering.errors.empty()) {
        find_traced_channels(lowering);
        settle_kernel_locks(lowering);
        stand_in_for_array(lowering);
        add_bodyless_cores(lowering);
        enable_cores(lowering);
    }
}

}  // namespace tilesim::workloads::npu::mlir::design
