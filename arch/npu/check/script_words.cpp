#include "arch/npu/check/script_words.hpp"

#include <variant>

namespace tilesim::arch::npu::check {

namespace {

using Script = std::vector<program::CoreOp>;

// Loops "for ever" of compilers have so many runs that their words are as good as endless.
constexpr std::int64_t kMostWords = std::int64_t{1} << 40;

// `moved`: words of an operation.
template <class Moved>
std::optional<std::int64_t> words_of(const Script& script, const Moved& moved) {
    std::int64_t words = 0;
    for (const program::CoreOp& op : script) {
        const auto* loop = std::get_if<program::LoopOp>(&op.op);
        if (loop == nullptr) {
            words += moved(op);
            continue;
        }
        const auto body = words_of(loop->body, moved);
        if (!body || (*body > 0 &&
                      (loop->parameter || loop->count < 0 || loop->count > kMostWords / *body))) {
            return std::nullopt;
        }
        words += *body > 0 ? *body * loop->count : 0;
    }
    return words <= kMostWords ? std::optional{words} : std::nullopt;
}

template <class Op>
std::int64_t words_if(const program::CoreOp& op) {
    const auto* move = std::get_if<Op>(&op.op);
    return move == nullptr ? 0 : move->words;
}

std::optional<program::ChannelId> port_of(program::TileCoordinate tile, const program::CoreOp& op) {
    if (const auto* put = std::get_if<program::PutStreamOp>(&op.op)) {
        return program::ChannelId{tile, program::Direction::MM2S, put->port,
                                  program::PortKind::Core};
    }
    if (const auto* get = std::get_if<program::GetStreamOp>(&op.op)) {
        return program::ChannelId{tile, program::Direction::S2MM, get->port,
                                  program::PortKind::Core};
    }
    return std::nullopt;
}

void find_ports(program::TileCoordinate tile, const Script& script,
                std::map<program::ChannelId, std::optional<std::int64_t>>& ports) {
    for (const program::CoreOp& op : script) {
        if (const auto* loop = std::get_if<program::LoopOp>(&op.op)) {
            find_ports(tile, loop->body, ports);
        } else if (const auto port = port_of(tile, op)) {
            ports.try_emplace(*port);
        }
    }
}

}  // namespace

std::optional<std::int64_t> words_put_on_cascade(const Script& script) {
    return words_of(script, words_if<program::PutCascadeOp>);
}

std::optional<std::int64_t> words_got_from_cascade(const Script& script) {
    return words_of(script, words_if<program::GetCascadeOp>);
}

std::map<program::ChannelId, std::optional<std::int64_t>> words_on_ports(
    const program::CoreProgram& core) {
    std::map<program::ChannelId, std::optional<std::int64_t>> ports;
    find_ports(core.tile, core.script, ports);
    for (auto& [port, words] : ports) {
        words = words_of(core.script, [&core, &id = port](const program::CoreOp& op) {
            return port_of(core.tile, op) == id
                       ? words_if<program::PutStreamOp>(op) + words_if<program::GetStreamOp>(op)
                       : 0;
        });
    }
    return ports;
}

}  // namespace tilesim::arch::npu::check
