#include "arch/amx/program/loaded_config.hpp"

#include <algorithm>
#include <optional>

namespace tilesim::arch::amx::program {

namespace {

// What an instruction leaves loaded; nothing: what it has found.
std::optional<int> loaded_by(const Statement& statement) {
    if (statement.kind == Statement::Kind::Instruction) {
        if (statement.instruction.opcode == Opcode::Ldtilecfg) {
            return static_cast<int>(statement.instruction.immediate);
        }
        if (statement.instruction.opcode == Opcode::Tilerelease) {
            return -1;
        }
    }
    return std::nullopt;
}

// By variable: what the loop has loaded by the end of a turn; nothing: no turn loads anything.
std::vector<std::optional<int>> loaded_by_loops(const Program& program) {
    std::vector<std::optional<int>> configs(program.variables.size());
    std::vector<const Statement*> open;
    for (const Statement& statement : program.statements) {
        if (statement.kind == Statement::Kind::LoopBegin) {
            open.push_back(&statement);
        } else if (statement.kind == Statement::Kind::LoopEnd) {
            open.pop_back();
        } else if (const auto config = loaded_by(statement)) {
            for (auto loop = open.rbegin(); loop != open.rend(); ++loop) {
                configs[static_cast<std::size_t>((*loop)->variable)] = config;
                if ((*loop)->count == 0) {
                    break;
                }
            }
        }
    }
    return configs;
}

class Walk {
  public:
    explicit Walk(const Program& program) : by_loops_(loaded_by_loops(program)) {}

    const std::vector<LoadedConfig>& found() const { return found_; }

    void pass(const Statement& statement) {
        if (statement.kind == Statement::Kind::LoopBegin) {
            begin(statement);
        } else if (statement.kind == Statement::Kind::LoopEnd) {
            end(statement);
        } else if (const auto config = loaded_by(statement)) {
            found_ = {{*config, around_, -1}};
        }
    }

  private:
    std::optional<int> config_of(const Statement& loop) const {
        return by_loops_[static_cast<std::size_t>(loop.variable)];
    }

    void begin(const Statement& loop) {
        const auto config = config_of(loop);
        const std::int64_t last = std::max<std::int64_t>(loop.count - 1, 0);
        in_front_.push_back(found_);
        for (LoadedConfig& each : found_) {
            each.turns.push_back({loop.variable, 0, config ? 0 : last});
        }
        if (config && last > 0) {
            found_.push_back({*config, around_, loop.variable});
            found_.back().turns.push_back({loop.variable, 1, last});
        }
        around_.push_back({loop.variable, 0, last});
    }

    void end(const Statement& loop) {
        around_.pop_back();
        const auto config = config_of(loop);
        found_ = config && loop.count > 0 ? std::vector<LoadedConfig>{{*config, around_, -1}}
                                          : std::move(in_front_.back());
        in_front_.pop_back();
    }

    std::vector<std::optional<int>> by_loops_;
    std::vector<LoadedConfig> found_{LoadedConfig{}};
    std::vector<std::vector<LoadedConfig>> in_front_;  // of each loop around the statement
    std::vector<Turns> around_;                        // all of them
};

}  // namespace

void each_loaded_config(
    const Program& program,
    const std::function<void(std::size_t statement, const LoadedConfig& loaded)>& body) {
    Walk walk(program);
    for (std::size_t i = 0; i < program.statements.size(); ++i) {
        const Statement& statement = program.statements[i];
        walk.pass(statement);
        const Opcode opcode = statement.instruction.opcode;
        if (statement.kind == Statement::Kind::Instruction && info_of(opcode).tile() &&
            info_of(opcode).memory()) {
            for (const LoadedConfig& loaded : walk.found()) {
                body(i, loaded);
            }
        }
    }
}

}  // namespace tilesim::arch::amx::program
