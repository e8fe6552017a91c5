#include "arch/amx/program/address_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace tilesim::arch::amx::program {

Address AddressText::read(Text text) const {
    if (!text.starts_with('[') || !text.ends_with(']')) {
        line_.fail(text, fmt::format("'{}': an address in brackets must stand here", text));
    }
    const Text body = text.substr(1, text.size() - 2);
    const std::size_t open = body.find('[');
    if (open == Text::npos) {
        return sum_of(body);
    }
    const auto table =
        std::find_if(program_.tables.begin(), program_.tables.end(),
                     [&](const AddressTable& t) { return t.name == trim(body.substr(0, open)); });
    if (table == program_.tables.end() || !body.ends_with(']')) {
        line_.fail(
            text,
            fmt::format("'{}': a table's name and an index in brackets must stand here", text));
    }
    Address result = sum_of(body.substr(open + 1, body.size() - open - 2));
    const std::int64_t entries = table->entries();
    if (const auto [least, most] = reach(result);
        least < 0 || (most >= entries && table->count == 0)) {
        line_.fail(text, fmt::format("indices {}..{} of table {}, which has {} entries", least,
                                     most, table->name, entries));
    }
    result.table = static_cast<int>(table - program_.tables.begin());
    return result;
}

std::pair<std::int64_t, std::int64_t> AddressText::reach(const Address& address) const {
    std::int64_t least = address.base;
    std::int64_t most = address.base;
    for (const Address::Term& term : address.terms) {
        const auto loop = std::find_if(loops_.begin(), loops_.end(), [&](const OpenLoop& l) {
            return l.variable == term.variable;
        });
        const std::int64_t last = std::max<std::int64_t>(loop->count - 1, 0);
        const std::int64_t stride = std::max<std::int64_t>(std::abs(term.stride), 1);
        const std::int64_t way = std::min(last, kMostAddress / stride + 1) * term.stride;
        (way < 0 ? least : most) += way;
    }
    return {least, most};
}

// Terms that are added or, behind a '-', subtracted.
Address AddressText::sum_of(Text body) const {
    Address result;
    std::int64_t sign = 1;
    for (std::size_t start = 0; start < body.size();) {
        const std::size_t end = std::min(body.find_first_of("+-", start), body.size());
        if (const Text term = trim(body.substr(start, end - start)); !term.empty()) {
            add(result, term, sign);
        }
        sign = end < body.size() && body[end] == '-' ? -1 : 1;
        start = end + 1;
    }
    return result;
}

void AddressText::add(Address& result, Text term, std::int64_t sign) const {
    const auto factors = split(term, '*');
    const Text name = factors.empty() ? term : factors.back();
    const auto loop = std::find_if(loops_.rbegin(), loops_.rend(),
                                   [&](const OpenLoop& l) { return l.name == name; });
    if (loop != loops_.rend() && factors.size() <= 2) {
        const std::int64_t stride =
            factors.size() == 2 ? line_.integer(factors[0], kMostAddress) : 1;
        result.terms.push_back({loop->variable, sign * stride});
        return;
    }
    const auto buffer = std::find_if(program_.buffers.begin(), program_.buffers.end(),
                                     [&](const Buffer& b) { return b.name == name; });
    if (buffer != program_.buffers.end() && factors.size() == 1) {
        result.base += sign * buffer->address;
        return;
    }
    if (std::isdigit(static_cast<unsigned char>(term[0])) == 0 || factors.size() > 1) {
        std::vector<std::string> known;
        for (const Buffer& each : program_.buffers) {
            known.push_back(each.name);
        }
        for (const OpenLoop& each : loops_) {
            known.push_back(each.name);
        }
        line_.fail(name, fmt::format("'{}' is neither a buffer nor a loop around this line{}", name,
                                     hint(name, known)));
    }
    result.base += sign * line_.integer(term, kMostAddress);
}

}  // namespace tilesim::arch::amx::program
