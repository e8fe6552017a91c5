#include "sim/digest.hpp"

#include <fmt/format.h>

#include <boost/uuid/detail/sha1.hpp>

namespace tilesim::sim {

std::string sha1(const std::string& text) {
    boost::uuids::detail::sha1 hash;
    hash.process_bytes(text.data(), text.size());
    unsigned int digest[5] = {};
    hash.get_digest(digest);
    std::string hex;
    for (const unsigned int word : digest) {
        hex += fmt::format("{:08x}", word);
    }
    return hex;
}

}  // namespace tilesim::sim
