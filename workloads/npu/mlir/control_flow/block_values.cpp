#include "workloads/npu/mlir/control_flow/block_values.hpp"

#include <algorithm>
#include <boost/container_hash/hash.hpp>

#include "workloads/npu/mlir/control_flow/control_flow.hpp"

namespace tilesim::workloads::npu::mlir::control_flow {

bool same_values(const Values& a, const Values& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return x && y ? x->same_as(*y) : !x && !y;
    });
}

std::size_t hash_of(const Values& values) {
    std::size_t hash = values.size();
    for (const auto& value : values) {
        boost::hash_combine(hash, value ? value->index + value->offset_bits : -1);
    }
    return hash;
}

std::optional<Value> BlockValues::known(const std::string& name) const {
    const Value* value = scope_.find(name);
    return value == nullptr ? std::nullopt : std::optional{*value};
}

Values BlockValues::handed_by(const Jump& jump) const {
    Values values;
    for (const std::string& name : jump.operands) {
        values.push_back(known(name));
    }
    return values;
}

Values BlockValues::of(std::size_t header) const {
    Values values;
    for (const std::string& name : flow_.blocks()[header].arguments) {
        values.push_back(known(name));
    }
    return values;
}

Values BlockValues::carried_of(std::size_t number, const Values& values) const {
    const Loop& loop = flow_.loops()[number];
    const auto& arguments = flow_.blocks()[loop.header].arguments;
    Values carried(arguments.size());
    for (std::size_t i = 0; i < arguments.size() && i < values.size(); ++i) {
        const bool number_kind = !values[i] || values[i]->kind == Value::Kind::Constant;
        if (loop.steps[i].empty() && (flow_.decides(arguments[i]) || !number_kind)) {
            carried[i] = values[i];
        }
    }
    return carried;
}

void BlockValues::bind(std::size_t block, const Values& values, bool computed) {
    const auto& arguments = flow_.blocks()[block].arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (i < values.size() && values[i]) {
            Value value = *values[i];
            value.computed |= computed && value.kind == Value::Kind::Constant;
            scope_.define(arguments[i], value);
        } else {
            scope_.forget(arguments[i]);
        }
    }
}

}  // namespace tilesim::workloads::npu::mlir::control_flow
