#include "workloads/npu/mlir/core/core_streams.hpp"

#include <fmt/format.h>

namespace tilesim::workloads::npu::mlir::core {

using syntax::bits_of_type;

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

}  // namespace tilesim::workloads::npu::mlir::core
