// A window with the caches and the store buffer beside it, which a program's instructions enter one
// by one: for tests of a core's parts.
#pragma once

#include <string>

#include "arch/amx/core/scoreboard.hpp"
#include "arch/amx/core/store_buffer.hpp"
#include "arch/amx/core/translation.hpp"
#include "arch/amx/program/instruction_stream.hpp"
#include "arch/amx/program/program_text.hpp"

namespace tilesim::arch::amx::core {

struct Window {
    Window(const std::string& text, const AmxConfig& given)
        : config(given), program(program::read_program(text, "test")) {}

    // The next instruction enters in cycle `now`, its tiles of so many rows.
    EntryId enter(std::int64_t now, std::int64_t uops = 1, std::int64_t rows = 16) {
        const program::DynamicInstruction& dynamic = stream.current();
        const program::Opcode opcode = dynamic.instruction->opcode;
        const EntryId id = window.allocate(dynamic, uops, now);
        Entry& entry = window.at(id);
        const bool tile = program::info_of(opcode).tile();
        entry.rows = static_cast<std::int8_t>(tile ? rows : 1);
        const std::int64_t row_bytes = tile ? caches::kLineBytes : dynamic.bytes;
        const bool split = dynamic.address % caches::kLineBytes + row_bytes > caches::kLineBytes;
        entry.lines = static_cast<std::int8_t>(entry.rows * (split ? 2 : 1));
        if (program::is_store(opcode)) {
            entry.store = stores.push(dynamic.address, row_bytes, entry.sequence, tile);
            for (std::int64_t row = 1; row < entry.rows; ++row) {
                stores.push(dynamic.address + row * dynamic.instruction->row_stride, row_bytes,
                            entry.sequence, tile);
            }
        }
        stream.advance();
        return id;
    }

    AmxConfig config;
    program::Program program;
    program::InstructionStream stream{program};
    Scoreboard window{config.window, config.tiles};
    caches::PrivateCaches caches{config.caches, config.clock};
    Translation pages{config.pages, caches};
    StoreBuffer stores{config.window.store_buffer, config.access.tile_load_after_store.count(),
                       pages.map()};
};

}  // namespace tilesim::arch::amx::core
