#include "workloads/npu/mlir/syntax/registered_processes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "workloads/npu/mlir/syntax/attributes.hpp"
#include "workloads/npu/mlir/syntax/cursor.hpp"
#include "workloads/npu/mlir/syntax/unknown_name.hpp"
#include "workloads/npu/mlir/syntax/written_out.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

namespace {

constexpr std::string_view kRegistration = "aie.objectfifo.register_process";
constexpr std::int64_t kMostSteps = 1'000'000;

bool is_registration(const Operation& operation) {
    return operation.name == kRegistration;
}

// The tiles at an object FIFO's ends, the producer's first: @f (%a dimensions, {%b, %c}, 2 : i32).
void collect_values(const std::vector<Item>& items, std::vector<std::string>& names) {
    for (const Item& item : items) {
        if (item.is(TokenKind::Value)) {
            names.push_back(item.token.text);
        }
        collect_values(item.items, names);
    }
}

struct Registration {
    std::string fifo;
    bool produces = false;
    std::vector<std::int64_t> acquires, releases;
    std::string callee;
    std::int64_t length = 0;  // as often a pattern of one number is walked
};

class Processes {
  public:
    explicit Processes(Block& device) : device_(device) {}

    void run() {
        for (const Operation& operation : take_from_device(device_, is_registration)) {
            const Registration process = read(operation);
            const std::string tile = tile_of(process, operation.where);
            std::vector<Operation> body = parse_at(text_of(process), operation.where);
            std::vector<Operation>& core = core_of(tile, operation.where);
            core.insert(core.begin(), std::make_move_iterator(body.begin()),
                        std::make_move_iterator(body.end()));
        }
    }

  private:
    // @f (Produce, %acquires : tensor<1xi32>, %releases : tensor<1xi32>, @function, %length)
    Registration read(const Operation& operation) const {
        Registration process;
        Cursor cursor(operation);
        process.fifo = cursor.symbol();
        Cursor inside(cursor.group("("));
        const Location port = inside.where();
        const std::string word = inside.word();
        if (word != "Produce" && word != "Consume") {
            throw ReadError(port, fmt::format("expected Produce or Consume, got '{}'", word));
        }
        process.produces = word == "Produce";
        inside.expect(",");
        process.acquires = pattern(inside);
        process.releases = pattern(inside);
        const Location function = inside.where();
        process.callee = inside.symbol();
        require_function(process.callee, function);
        inside.expect(",");
        const Location length = inside.where();
        const Operation& constant = constant_of(inside.value(), length);
        process.length = Cursor(constant).integer();
        if (process.length < 1 || process.length > kMostSteps) {
            throw ReadError(length, fmt::format("the process's length must be 1..{}, got {}",
                                                kMostSteps, process.length));
        }
        if (process.acquires.size() != process.releases.size()) {
            repeat_single(process, operation.where);
        }
        return process;
    }

    // %name : tensor<4xi32>, of arith.constant dense<[2, 3, 3, 2]> or dense<1>
    std::vector<std::int64_t> pattern(Cursor& inside) const {
        const Location where = inside.where();
        Cursor constant(constant_of(inside.value(), where));
        inside.expect(":");
        inside.word();
        Cursor type(inside.group("<"));
        inside.expect(",");
        if (!constant.skip_word("dense")) {
            constant.fail("dense<...>");
        }
        Cursor values(constant.group("<"));
        if (values.done() || !values.peek()->opens("[")) {
            const std::string shape = type.take().token.text;  // 4xi32
            const std::int64_t count = to_integer(shape.substr(0, shape.find('x'))).value_or(0);
            if (count < 1 || count > kMostSteps) {
                throw ReadError(
                    where, fmt::format("a pattern is a tensor of 1..{} numbers, got tensor<{}>",
                                       kMostSteps, shape));
            }
            return std::vector(static_cast<std::size_t>(count), values.integer());
        }
        std::vector<std::int64_t> numbers;
        for (Cursor list(values.take()); !list.done(); list.skip(",")) {
            numbers.push_back(list.integer());
        }
        if (numbers.empty() ||
            std::any_of(numbers.begin(), numbers.end(), [](std::int64_t n) { return n < 0; })) {
            throw ReadError(where, "a pattern is of numbers from 0 on, at least one");
        }
        return numbers;
    }

    // A pattern of one number stands for as many as the process is long.
    static void repeat_single(Registration& process, Location where) {
        for (auto* const pattern : {&process.acquires, &process.releases}) {
            if (pattern->size() == 1) {
                pattern->resize(static_cast<std::size_t>(process.length), pattern->front());
            }
        }
        if (process.acquires.size() != process.releases.size()) {
            throw ReadError(where,
                            fmt::format("{} acquires and {} releases do not fit each other: as "
                                        "many, or one of them and as many as the process is long",
                                        process.acquires.size(), process.releases.size()));
        }
    }

    const Operation& constant_of(const std::string& name, Location where) const {
        const auto found = std::find_if(
            device_.operations.begin(), device_.operations.end(), [&](const Operation& each) {
                return each.name == "arith.constant" &&
                       std::find(each.results.begin(), each.results.end(), name) !=
                           each.results.end();
            });
        if (found == device_.operations.end()) {
            throw ReadError(where, fmt::format("%{} is no constant of the device", name));
        }
        return *found;
    }

    void require_function(const std::string& name, Location where) const {
        const auto function = std::find_if(
            device_.operations.begin(), device_.operations.end(), [&](const Operation& each) {
                return each.name == "func.func" && symbol_of(each) == name;
            });
        if (function == device_.operations.end()) {
            throw ReadError(where, fmt::format("the device has no function @{}", name));
        }
        for (const Item& item : function->items) {
            if (item.opens("(") && !item.items.empty()) {
                throw ReadError(where,
                                fmt::format("@{} takes arguments; what is registered to an object "
                                            "FIFO is called without",
                                            name));
            }
        }
    }

    std::string tile_of(const Registration& process, Location where) {
        const auto fifo = std::find_if(
            device_.operations.begin(), device_.operations.end(), [&](const Operation& each) {
                return each.name == "aie.objectfifo" && symbol_of(each) == process.fifo;
            });
        if (fifo == device_.operations.end()) {
            std::vector<std::string> known;
            for (const Operation& each : device_.operations) {
                if (each.name == "aie.objectfifo") {
                    known.push_back(symbol_of(each));
                }
            }
            throw unknown_symbol(where, "object FIFO", process.fifo, known);
        }
        std::vector<std::string> ends;
        collect_values(fifo->items, ends);
        const std::size_t end = process.produces ? 0 : ++consumers_[process.fifo];
        if (end >= ends.size()) {
            throw ReadError(where, fmt::format("object FIFO @{} has no consumer left for another "
                                               "process",
                                               process.fifo));
        }
        return ends[end];
    }

    static std::string text_of(const Registration& process) {
        if (process.acquires.size() == 1) {
            return step(process, process.acquires.front(), process.releases.front(),
                        process.length);
        }
        std::string text;
        for (std::size_t first = 0; first < process.acquires.size();) {
            std::size_t end = first + 1;
            while (end < process.acquires.size() &&
                   process.acquires[end] == process.acquires[first] &&
                   process.releases[end] == process.releases[first]) {
                ++end;
            }
            text += step(process, process.acquires[first], process.releases[first],
                         static_cast<std::int64_t>(end - first));
            first = end;
        }
        return text;
    }

    static std::string step(const Registration& process, std::int64_t acquired,
                            std::int64_t released, std::int64_t runs) {
        const char* const port = process.produces ? "Produce" : "Consume";
        std::string text;
        if (acquired > 0) {
            text += fmt::format(
                "%registered = aie.objectfifo.acquire @{}({}, {})\n"
                "func.call @{}() : () -> ()\n",
                process.fifo, port, acquired, process.callee);
        }
        if (released > 0) {
            text +=
                fmt::format("aie.objectfifo.release @{}({}, {})\n", process.fifo, port, released);
        }
        return runs == 1 ? text
                         : fmt::format("scf.for %run = 0 to {} step 1 {{\n{}}}\n", runs, text);
    }

    // The operations of the last block of the tile's core.
    std::vector<Operation>& core_of(const std::string& tile, Location where) {
        const auto found = std::find_if(
            device_.operations.begin(), device_.operations.end(), [&](const Operation& each) {
                return each.name == "aie.core" && Cursor(each).peek() != nullptr &&
                       Cursor(Cursor(each).group("(")).value() == tile;
            });
        if (found != device_.operations.end()) {
            return last_block(*found);
        }
        add_to_device(device_,
                      parse_at(fmt::format("aie.core(%{}) {{\n  aie.end\n}}\n", tile), where));
        return core_of(tile, where);
    }

    static std::vector<Operation>& last_block(Operation& core) {
        for (Item& item : core.items) {
            if (item.kind == Item::Kind::Region && !item.blocks.empty()) {
                return item.blocks.back().operations;
            }
        }
        throw ReadError(core.where, "a process is registered to a core without a body");
    }

    Block& device_;
    std::map<std::string, std::size_t> consumers_;  // of each FIFO, that have their process
};

}  // namespace

void write_registered_processes(std::vector<Operation>& operations) {
    in_every_device(operations, [](Block& device) { Processes(device).run(); });
}

}  // namespace tilesim::workloads::npu::mlir::syntax
