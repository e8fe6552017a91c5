// A core's own stream accesses: aie.put_stream and aie.get_stream, and the ports they use.
//
// Source:  mlir-aie's operation definitions (values of 32 or 128 bits) and its lowering to AIE-ML,
//          whose cores have one port each way: the operations' port number is dropped there.
#include <fmt/format.h>

#include "arch/npu/check/script_words.hpp"
#include "workloads/npu/mlir/flows.hpp"
#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir {

namespace {

std::int64_t words_of(Cursor& cursor) {
    const Location where = cursor.where();
    const std::string type = cursor.word();
    const auto bits = bits_of_type(type);
    if (!bits || *bits % kWordBits != 0) {
        throw ReadError(where, fmt::format("a core's stream carries words of 32 bits (i32, f32, "
                                           "i128), not {}",
                                           type));
    }
    return *bits / kWordBits;
}

}  // namespace

StreamUse read_stream_use(const Operation& operation, const Scope& scope,
                          const arch::npu::CoreConfig& core) {
    const bool puts = operation.name == "aie.put_stream";
    StreamUse use;
    Cursor cursor(operation);
    Cursor inside(cursor.group("("));
    const Location where = inside.where();
    use.port = scope.integer(inside);
    const std::int64_t ports = puts ? core.stream_outputs : core.stream_inputs;
    if (ports == 1) {
        use.port = 0;
    } else if (use.port < 0 || use.port >= ports) {
        throw ReadError(where, fmt::format("port {}: cores have {} stream {}", use.port, ports,
                                           puts ? "outputs" : "inputs"));
    }
    if (!puts) {
        cursor.expect(":");
        use.words = words_of(cursor);
        return use;
    }
    if (inside.skip(":")) {  // the port's type; before 2022 it is a number
        inside.take();
    }
    inside.expect(",");
    const auto value = scope.constant(inside.value());
    inside.expect(":");
    use.words = words_of(inside);
    if (value && use.words == 1) {
        use.packet = *value & (program::kPacketIds - 1);
    }
    return use;
}

std::set<program::ChannelId> ports_in_use(const program::Program& program) {
    std::set<program::ChannelId> ports;
    for (const program::CoreProgram& core : program.cores) {
        for (const auto& [port, words] : arch::npu::check::words_on_ports(core)) {
            ports.insert(port);
        }
    }
    return ports;
}

}  // namespace tilesim::workloads::npu::mlir
