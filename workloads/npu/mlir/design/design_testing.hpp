// Reads small designs, for tests.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "arch/base/config.hpp"
#include "arch/npu/shipped_config_testing.hpp"
#include "workloads/npu/mlir/design/design.hpp"

namespace tilesim::workloads::npu::mlir::design {

inline const NpuConfig& config() {
    static const NpuConfig kConfig = arch::npu::shipped_config("xdna");
    return kConfig;
}

inline Design read(const std::string& body, const ReadOptions& options = {}) {
    const auto source = parse_design("module { aie.device(npu1) {\n" + body + "\n} }", "d.mlir");
    return lower(source, options, config());
}

inline program::Program read_npu(const std::string& body, const ReadOptions& options = {}) {
    return read(body, options).program;
}

inline std::string error_of(const std::string& body, const ReadOptions& options = {}) {
    try {
        read(body, options);
    } catch (const arch::base::config::ConfigError& error) {
        return error.what();
    }
    return "";
}

inline Design read_for(const std::string& device, const std::string& text,
                       const ReadOptions& options = {}) {
    return lower(parse_design(text, "d.mlir"), options, arch::npu::shipped_config(device));
}

inline Design read_aie1(const std::string& body, const ReadOptions& options = {}) {
    return read_for("vck190", "module @m {\n" + body + "}", options);
}

// What designs of these tests have in common: a shim, a memory and a core tile.
inline constexpr const char* kSmallDesign =
    "%s = aie.tile(0, 0) %m = aie.tile(0, 1) %c = aie.tile(0, 2)\n"
    "%b = aie.buffer(%m) : memref<64xi32> %b8 = aie.buffer(%m) : memref<64x64xi8>\n"
    "%p = aie.lock(%m, 3) {init = 2 : i32} %q = aie.lock(%m)\n"
    "%x = aie.buffer(%c) : memref<16xi32> %l = aie.lock(%c, 5)\n"
    "aie.flow(%s, DMA : 0, %m, DMA : 0) aie.shim_dma_allocation @in(%s, MM2S, 0)\n";

// The descriptor of one block of the memory tile's MM2S 0.
inline program::BufferDescriptor block(const std::string& operations) {
    const Design design = read(std::string{kSmallDesign} +
                               "aie.memtile_dma(%m) { %0 = aie.dma_start(MM2S, 0, ^a, ^e)\n^a:\n" +
                               operations + "\naie.next_bd ^e\n^e: aie.end }");
    return design.program.dmas.at(0).descriptors.at(0);
}

// Tiles of tests of object FIFOs: %a and %b share memory, %far shares with none.
inline constexpr const char* kFifoTiles =
    "%s = aie.tile(0, 0) %m = aie.tile(0, 1) %a = aie.tile(0, 2) %b = aie.tile(0, 3) "
    "%far = aie.tile(2, 4)\n";

inline constexpr const char* kPair =
    "%s = aie.tile(0, 0) %w = aie.tile(0, 3) %e = aie.tile(1, 3)\n"
    "func.func private @k()\n"
    "%x = aie.buffer(%w) : memref<16xi32>\n";

// A core that acquires and releases so many elements.
inline std::string core(const char* tile, const char* fifo, const char* port, int acquired,
                        int released) {
    return fmt::format(
        "aie.core({0}) {{ %0 = aie.objectfifo.acquire @{1}({2}, {3}) : "
        "!aie.objectfifosubview<memref<16xi32>>\n"
        "aie.objectfifo.release @{1}({2}, {4}) aie.end }}\n",
        tile, fifo, port, acquired, released);
}

}  // namespace tilesim::workloads::npu::mlir::design
