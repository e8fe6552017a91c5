// The memory that tests of products in memory have.
#pragma once

#include <cstdint>

#include "arch/base/config.hpp"
#include "arch/memory/controller/memory_config_reader.hpp"

namespace tilesim::workloads::pim::gemv {

// Eight channels of sixteen banks with rows of 2 KiB, which are not refreshed; a word of 256 bits
// is 32 lanes of int8.
inline arch::memory::device::MemoryConfig lpddr(std::int64_t bank_groups = 4) {
    auto document =
        arch::base::config::Document::load(TILESIM_SOURCE_DIR "/configs/devices/lpddr5x_7500.yaml");
    auto config = arch::memory::controller::read_memory_config(document.root().child("memory", ""));
    config.bank_groups = bank_groups;
    config.refresh = false;
    return config;
}

}  // namespace tilesim::workloads::pim::gemv
