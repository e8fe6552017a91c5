#include "workloads/npu/mlir/sequence/sequence_arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "arch/base/config.hpp"

namespace tilesim::workloads::npu::mlir::sequence {

using syntax::kNoConstant;

std::vector<RegisterWrites::Argument> SequenceArguments::read(const Operation& operation) {
    Cursor cursor(operation);
    while (!cursor.done() && !cursor.peek()->opens("(")) {
        cursor.take();
    }
    Cursor list(cursor.group("("));
    std::vector<RegisterWrites::Argument> buffers;
    while (!list.done()) {
        const std::string name = list.value();
        list.expect(":");
        if (list.peek() != nullptr && list.peek()->is_word("memref")) {
            buffers.push_back({add_buffer(name, read_argument_memref(list)), 0});
        } else {
            add_number(name);
        }
        while (!list.done() && !list.skip(",")) {
            list.take();
        }
    }
    return buffers;
}

void SequenceArguments::add_number(const std::string& name) {
    const auto stated = lowering_.options.arguments.find(name);
    if (stated != lowering_.options.arguments.end()) {
        scope_.define(name, {Value::Kind::Constant, stated->second});
        names_.emplace_back(name, Value{Value::Kind::Constant, stated->second});
        stated_.insert(name);
    } else {
        unstated_.push_back(name);
    }
}

void SequenceArguments::check_numbers(const Operation& operation, std::size_t errors_before) {
    for (const auto& [name, value] : lowering_.options.arguments) {
        if (!stated_.contains(name)) {
            lowering_.errors.emplace_back(
                operation.where,
                fmt::format("design.arguments: the sequence has no number %{}{}", name,
                            arch::base::config::did_you_mean(name, unstated_)));
        }
    }
    const bool lacks_one = std::any_of(
        lowering_.errors.begin() + static_cast<std::ptrdiff_t>(errors_before),
        lowering_.errors.end(),
        [](const auto& error) { return error.second.find(kNoConstant) != std::string::npos; });
    if (lacks_one && !unstated_.empty()) {
        // First: what else is told mostly follows from it.
        lowering_.errors.emplace(
            lowering_.errors.begin() + static_cast<std::ptrdiff_t>(errors_before), operation.where,
            fmt::format("%{} is given by the host at the launch; state it as design.arguments.{}",
                        fmt::join(unstated_, ", %"), unstated_.front()));
    }
}

std::int64_t SequenceArguments::add_buffer(const std::string& name, const MemrefType& type) {
    auto& buffers = lowering_.program.external_buffers;
    const auto number = static_cast<std::int64_t>(buffers.size());
    program::ExternalBuffer buffer;
    buffer.name = unique_name(buffers, name);
    buffer.bytes = (type.bytes() + kWordBytes - 1) / kWordBytes * kWordBytes;
    if (!type.sized) {
        lowering_.note(
            fmt::format("argument {} has no size: as large as its transfers reach", buffer.name));
    }
    const Value value{Value::Kind::External, number};
    scope_.define(name, value);
    names_.emplace_back(name, value);
    buffers.push_back(buffer);
    lowering_.external_types.push_back(type);
    return number;
}

}  // namespace tilesim::workloads::npu::mlir::sequence
