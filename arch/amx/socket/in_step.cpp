#include "arch/amx/socket/in_step.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace tilesim::arch::amx::socket {

namespace {

using program::Buffer;
using program::Instruction;
using program::Program;
using program::Statement;

bool same_terms(const program::Address& a, const program::Address& b) {
    return std::equal(a.terms.begin(), a.terms.end(), b.terms.begin(), b.terms.end(),
                      [](const auto& x, const auto& y) {
                          return x.variable == y.variable && x.stride == y.stride;
                      });
}

// But for where their operands lie.
bool same_but_place(const Statement& a, const Statement& b) {
    const auto keys = [](const Statement& s) {
        const Instruction& i = s.instruction;
        return std::tie(s.kind, s.variable, s.count, s.partner, i.opcode, i.destination, i.source_a,
                        i.source_b, i.row_stride, i.bytes, i.immediate);
    };
    return keys(a) == keys(b) && same_terms(a.instruction.address, b.instruction.address);
}

bool same_configs(const Program& a, const Program& b) {
    const auto same_shape = [](const program::TileShape& x, const program::TileShape& y) {
        return x.rows == y.rows && x.row_bytes == y.row_bytes;
    };
    return std::equal(a.configs.begin(), a.configs.end(), b.configs.begin(), b.configs.end(),
                      [&same_shape](const auto& x, const auto& y) {
                          return std::equal(x.begin(), x.end(), y.begin(), same_shape);
                      });
}

// The largest buffer the address lies in, or null.
const Buffer* buffer_of(const Program& program, std::int64_t address) {
    const Buffer* largest = nullptr;
    for (const Buffer& buffer : program.buffers) {
        const bool inside = buffer.address <= address && address < buffer.address + buffer.bytes;
        if (inside && (largest == nullptr || buffer.bytes > largest->bytes)) {
            largest = &buffer;
        }
    }
    return largest;
}

// Adds where the buffer of `address` lies; false where it has moved otherwise before.
bool add_piece(std::vector<Displacement::Piece>& pieces, const Program& program,
               std::int64_t address, std::int64_t other) {
    const Buffer* const buffer = buffer_of(program, address);
    if (buffer == nullptr || (other - address) % caches::kLineBytes != 0) {
        return false;
    }
    const Displacement::Piece piece{
        caches::line_at(buffer->address),
        caches::line_at(buffer->address + buffer->bytes + caches::kLineBytes - 1),
        (other - address) / caches::kLineBytes};
    const auto known = std::find_if(pieces.begin(), pieces.end(), [&piece](const auto& each) {
        return each.first == piece.first && each.end == piece.end;
    });
    if (known != pieces.end()) {
        return known->by == piece.by;
    }
    pieces.push_back(piece);
    return true;
}

// Programs that are alike but for the places of their data; one without instructions is like none.
std::vector<std::vector<std::size_t>> alike(const std::vector<Program>& programs) {
    std::vector<std::vector<std::size_t>> classes;
    for (std::size_t i = 0; i < programs.size(); ++i) {
        const auto fits = [&programs, i](const std::vector<std::size_t>& others) {
            return !programs[i].statements.empty() &&
                   displacement(programs[others.front()], programs[i]).has_value();
        };
        const auto found = std::find_if(classes.begin(), classes.end(), fits);
        if (found == classes.end()) {
            classes.push_back({i});
        } else {
            found->push_back(i);
        }
    }
    return classes;
}

// In all runs.
std::int64_t executed(const std::vector<Program>& programs) {
    return std::accumulate(programs.begin(), programs.end(), std::int64_t{0},
                           [](std::int64_t sum, const Program& program) {
                               return sum + program.dynamic_instructions() * program.runs;
                           });
}

}  // namespace

caches::Line Displacement::of(caches::Line line) const {
    for (const Piece& piece : pieces_) {
        if (piece.first <= line && line < piece.end) {
            return line + piece.by;
        }
    }
    return line;
}

caches::Line Displacement::back(caches::Line line) const {
    for (const Piece& piece : pieces_) {
        if (piece.first <= line - piece.by && line - piece.by < piece.end) {
            return line - piece.by;
        }
    }
    return line;
}

std::optional<Displacement> displacement(const Program& program, const Program& other) {
    const bool same = program.tables.empty() && other.tables.empty() &&
                      program.runs == other.runs && same_configs(program, other) &&
                      std::equal(program.statements.begin(), program.statements.end(),
                                 other.statements.begin(), other.statements.end(), same_but_place);
    if (!same) {
        return std::nullopt;
    }
    std::vector<Displacement::Piece> pieces;
    for (std::size_t i = 0; i < program.statements.size(); ++i) {
        const Statement& statement = program.statements[i];
        const Instruction& instruction = statement.instruction;
        if (statement.kind == Statement::Kind::Instruction &&
            program::info_of(instruction.opcode).memory() &&
            !add_piece(pieces, program, instruction.address.base,
                       other.statements[i].instruction.address.base)) {
            return std::nullopt;
        }
    }
    // What lies in the caches at the start moves too, though no instruction asks for it.
    for (std::size_t i = 0; i < std::min(program.preparations.size(), other.preparations.size());
         ++i) {
        add_piece(pieces, program, program.buffers[program.preparations[i].buffer].address,
                  other.buffers[other.preparations[i].buffer].address);
    }
    return Displacement{std::move(pieces)};
}

std::vector<Member> members_of(const std::vector<Program>& programs, std::int64_t most,
                               std::int64_t instructions) {
    const auto all = static_cast<std::int64_t>(programs.size());
    const bool every = most == 0 || executed(programs) <= instructions;
    std::vector<std::size_t> stands_for(programs.size());  // of each program: whose is simulated
    for (const std::vector<std::size_t>& group : alike(programs)) {
        const auto size = static_cast<std::int64_t>(group.size());
        const std::int64_t simulated = every ? size : size * most / all;  // 0 are one share, too
        // Neighbours, which share most, go together.
        std::int64_t share = -1;
        std::size_t first = 0;
        for (std::int64_t i = 0; i < size; ++i) {
            const std::size_t own = group[static_cast<std::size_t>(i)];
            first = i * simulated / size == share ? first : own;
            share = i * simulated / size;
            stands_for[own] = first;
        }
    }
    std::vector<Member> members;
    std::size_t cores = 0;
    for (std::size_t i = 0; i < programs.size(); ++i) {
        const std::size_t first = stands_for[i];  // is no later
        if (first == i) {
            members.push_back({cores++, true, Displacement{}});
        } else {
            members.push_back(
                {members[first].core, false, *displacement(programs[first], programs[i])});
        }
    }
    return members;
}

void InStepObserver::add(const Program& program, core::InstructionObserver& observer) {
    followers_.push_back({program::InstructionStream{program}, &observer});
}

// Barriers are shown to nobody.
void InStepObserver::on_instruction(const program::DynamicInstruction& instruction) {
    simulated_.on_instruction(instruction);
    for (Follower& follower : followers_) {
        if (follower.stream.finished()) {
            follower.stream.restart();
        }
        while (follower.stream.current().instruction->opcode == program::Opcode::Barrier) {
            follower.stream.advance();
        }
        follower.observer->on_instruction(follower.stream.current());
        follower.stream.advance();
    }
}

}  // namespace tilesim::arch::amx::socket
