// What a core puts on its streams and cascades and where what it gets goes, as far as its body says
// so: words of its buffers, words it got, words that are known. Functional mode then moves them.
//
// Models:  loads and stores at places that follow from the counters of loops; values that stay as
//          they are on their way, through a register.
// Ignores: what is computed: zeros in its place, with a note that names it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "workloads/npu/mlir/core/flow_walker.hpp"
#include "workloads/npu/mlir/core/script_writer.hpp"
#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir::core {

class CoreWords {
  public:
    // `loops`: those being walked, the innermost last. `rotations`: of the core.
    // Without `follows` it knows nothing and says nothing.
    CoreWords(Lowering& lowering, const HeldElements& held, const OpenLoops& loops,
              program::CoreProgram& core, bool follows)
        : lowering_(lowering), held_(held), loops_(loops), core_(core), follows_(follows) {}

    // Every operation that is walked, before anything else is done with it.
    void pass(const Operation& operation, const Scope& scope, Script& ops);
    // A function's body begins, whose names are its own.
    void enter(const Scope& scope) { definitions_.erase(&scope); }
    // An operation of the script: memory may be another one behind it.
    void event() { ++events_; }

    // What aie.put_stream or put_cascade puts: `words` of 32 bits.
    program::WordPlace put(const Operation& operation, std::int64_t words, const Scope& scope);
    // Where what aie.get_stream or get_cascade gets waits for its use: `words` of 32 bits.
    program::WordPlace get(const Operation& operation, std::int64_t words);
    // A function that is not followed is given buffers.
    void call(const Operation& operation, const std::string& function, const Scope& scope);
    // A function that is not followed puts words.
    void put_by(const std::string& function);

    // The script is complete: walks that would not meet their loops are taken back.
    void settle();

  private:
    struct Definition {
        const Operation* operation = nullptr;
        std::int64_t events = 0;             // before it
        std::optional<std::int64_t> buffer;  // an element of an object FIFO
    };
    // A number that counters make: a constant, and what each run of an open loop adds.
    struct Counted {
        std::int64_t constant = 0;
        std::map<std::size_t, std::int64_t> steps;
    };
    // Why words cannot be followed.
    struct Lost {
        std::string why;
    };

    const Definition* find(const Scope& scope, const std::string& name) const;
    // What made a value, before operations that hand its bits on.
    const Definition* origin(const Scope& scope, const std::string& name) const;
    std::optional<std::int64_t> buffer_of(const Scope& scope, const std::string& name) const;
    Counted counted(const Scope& scope, const std::string& name) const;
    std::optional<Counted> counter(const Scope& scope, const std::string& name) const;
    // The words an access moves, as a walk of the core.
    program::WordPlace walk(const Operation& mover, const Operation& access, std::int64_t words,
                            const Scope& scope);
    program::Rotation walk_of(const Counted& place, std::int64_t words) const;
    std::int64_t rotation(const Operation& mover, program::Rotation walk);
    // The buffer that an element of an object FIFO lies in: of those acquired by number, or viewed.
    std::optional<std::int64_t> element_of(const Operation& acquire, std::int64_t number) const;
    std::optional<std::int64_t> viewed_element(const Operation& access, const Scope& scope) const;
    // Remembers what computes with words that were got.
    void look_at_operands(const Operation& operation, const Scope& scope);
    void store(const Operation& operation, const Scope& scope, Script& ops);
    void lose(const Operation& operation, const std::string& why);
    bool meets_its_loops(std::int64_t number);
    // The core writes a buffer with what is not followed.
    void writes(const std::string& name, const std::string& who, Location where,
                const Scope& scope);

    Lowering& lowering_;
    const HeldElements& held_;
    const OpenLoops& loops_;
    program::CoreProgram& core_;
    bool follows_;
    std::map<const Scope*, std::map<std::string, Definition>> definitions_;
    std::int64_t events_ = 0;
    std::map<const Operation*, std::int64_t> registers_;  // by the operation that gets
    std::int64_t words_got_ = 0;                          // by the last of them
    std::map<std::int64_t, std::string> written_;         // who writes a buffer, not followed
    // Operations that get, and for each one that computes with what it got; in the order of a walk.
    std::vector<std::pair<const Operation*, const Operation*>> computed_;
    std::map<std::pair<const Operation*, std::int64_t>, std::vector<std::int64_t>> walks_;
    std::map<std::int64_t, const Operation*> walkers_;  // who walks, by rotation
};

// Whether a core's body, or a function of the design, moves words of streams or cascades.
bool moves_words(const Lowering& lowering, const Operation& core);
// What a functional run says of a core, once: words it stores are not moved.
void note_lost_store(Lowering& lowering, program::TileCoordinate core, const Operation& store);

}  // namespace tilesim::workloads::npu::mlir::core
