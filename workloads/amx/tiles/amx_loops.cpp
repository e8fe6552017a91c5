#include "workloads/amx/tiles/amx_loops.hpp"

namespace tilesim::workloads::amx::tiles {

using arch::amx::program::Address;

Address scaled(const Address& index, std::int64_t stride, std::int64_t base) {
    Address result;
    result.base = base + index.base * stride;
    for (const Address::Term& term : index.terms) {
        result.terms.push_back({term.variable, term.stride * stride});
    }
    return result;
}

Address sum(const Address& a, const Address& b, std::int64_t scale) {
    Address result = a;
    result.base += b.base * scale;
    for (const Address::Term& term : b.terms) {
        result.terms.push_back({term.variable, term.stride * scale});
    }
    return result;
}

void LoopWriter::loop(const std::string& name, std::int64_t count,
                      const std::function<void(const Address&)>& body) {
    if (count == 1) {
        body(Address{});
    } else if (unroll_) {
        for (std::int64_t i = 0; i < count; ++i) {
            body(Address{}.plus(i));
        }
    } else if (count > 1) {
        const int variable = program_.open_loop(name, count);
        body(Address{}.per(variable, 1));
        program_.close_loop();
    }
}

}  // namespace tilesim::workloads::amx::tiles
