#include "arch/amx/program/address_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "arch/base/config.hpp"

namespace tilesim::arch::amx::program {

using base::config::did_you_mean;

namespace {

// One term a loop, so that what the loop makes of the address is known.
void add_stride(Address& address, Address::Term more) {
    for (Address::Term& term : address.terms) {
        if (term.variable == more.variable) {
            term.stride += more.stride;
            return;
        }
    }
    address.terms.push_back(more);
}

}  // namespace

AddressText::Place AddressText::read(Text text) const {
    if (!text.starts_with('[') || !text.ends_with(']')) {
        line_.fail(text, fmt::format("'{}': an address in brackets must stand here", text));
    }
    const Text body = text.substr(1, text.size() - 2);
    const std::size_t open = body.find('[');
    return open == Text::npos ? sum_of(body) : indexed(text, body, open);
}

// An entry of a table.
AddressText::Place AddressText::indexed(Text text, Text body, std::size_t open) const {
    const Text name = trim(body.substr(0, open));
    const auto table = std::find_if(program_.tables.begin(), program_.tables.end(),
                                    [&](const AddressTable& t) { return t.name == name; });
    if (table == program_.tables.end() || !body.ends_with(']')) {
        line_.fail(text, fmt::format("'{}': a table's name and an index in brackets must stand "
                                     "here{}",
                                     text, did_you_mean(name, names_of(program_.tables, name))));
    }
    const Text index = body.substr(open + 1, body.size() - open - 2);
    Place result = sum_of(index);
    if (result.buffer != nullptr) {
        line_.fail(index, fmt::format("'{}': numbers and loops make an index, no buffer", index));
    }
    const std::int64_t entries = table->entries();
    if (const auto [least, most] = reach(result.address);
        least < 0 || (most >= entries && table->count == 0)) {
        line_.fail(text, fmt::format("indices {}..{} of table {}, which has {} entries", least,
                                     most, table->name, entries));
    }
    result.address.table = static_cast<int>(table - program_.tables.begin());
    return result;
}

std::pair<std::int64_t, std::int64_t> AddressText::reach(const Address& address) const {
    std::vector<Turns> turns;
    for (const OpenLoop& loop : loops_) {
        turns.push_back({loop.variable, 0, std::max<std::int64_t>(loop.count - 1, 0)});
    }
    return program::reach(address, turns);
}

bool AddressText::multiple_of(std::int64_t bytes, const Address& address) const {
    if (address.table >= 0) {
        const AddressTable& table = program_.tables[static_cast<std::size_t>(address.table)];
        return table.starts.front() % bytes == 0 && table.block % bytes == 0;
    }
    return address.base % bytes == 0 &&
           std::all_of(address.terms.begin(), address.terms.end(),
                       [bytes](const Address::Term& term) { return term.stride % bytes == 0; });
}

// Terms that are added or, behind a '-', subtracted. The first may have a sign, too.
AddressText::Place AddressText::sum_of(Text body) const {
    Place result;
    std::int64_t sign = 1;
    bool first = true;
    for (std::size_t start = 0; start <= body.size();) {
        const std::size_t end = std::min(body.find_first_of("+-", start), body.size());
        const Text term = trim(body.substr(start, end - start));
        if (!term.empty()) {
            add(result, term, sign);
        } else if (!first || end == body.size()) {
            line_.fail(body.substr(start), "a buffer, a number or NUMBER*LOOP must stand here");
        }
        first = false;
        sign = end < body.size() && body[end] == '-' ? -1 : 1;
        start = end + 1;
    }
    return result;
}

void AddressText::add(Place& result, Text term, std::int64_t sign) const {
    const auto factors = split(term, '*');
    const Text name = factors.back();
    const auto loop = std::find_if(loops_.rbegin(), loops_.rend(),
                                   [&](const OpenLoop& l) { return l.name == name; });
    if (loop != loops_.rend() && factors.size() <= 2) {
        const std::int64_t stride =
            factors.size() == 2 ? line_.integer(factors[0], kMostAddress) : 1;
        add_stride(result.address, {loop->variable, sign * stride});
        return;
    }
    if (factors.size() > 1) {
        line_.fail(term, fmt::format("'{}': a product must be NUMBER*LOOP, of a loop around this "
                                     "line{}",
                                     term, did_you_mean(name, names_of(loops_, name))));
    }
    if (std::isdigit(static_cast<unsigned char>(term[0])) == 0) {
        add_buffer(result, term, sign);
        return;
    }
    result.address.base += sign * line_.integer(term, kMostAddress);
}

void AddressText::add_buffer(Place& result, Text term, std::int64_t sign) const {
    const auto buffer = std::find_if(program_.buffers.begin(), program_.buffers.end(),
                                     [&](const Buffer& b) { return b.name == term; });
    if (buffer == program_.buffers.end()) {
        std::vector<std::string> known = names_of(program_.buffers, term);
        const std::vector<std::string> loops = names_of(loops_, term);
        known.insert(known.end(), loops.begin(), loops.end());
        line_.fail(term, fmt::format("'{}' is neither a buffer nor a loop around this line{}", term,
                                     did_you_mean(term, known)));
    }
    if (result.buffer != nullptr || sign < 0) {
        line_.fail(term, fmt::format("'{}': an address has one buffer, which is added", term));
    }
    result.address.base += buffer->address;
    result.buffer = &*buffer;
}

}  // namespace tilesim::arch::amx::program
