#include "arch/npu/core/core_stream.hpp"

#include <algorithm>
#include <cstring>

#include "arch/base/check.hpp"

namespace tilesim::arch::npu::core {

void CoreOutput::begin(std::int64_t words, std::span<const std::byte> bytes, base::Cycles from,
                       CoreStreamClient& client, const Packet& packet) {
    client_ = &client;
    left_ = bytes;
    stream::PacketPart part{.header_in_data = true, .begins = under_way_ == nullptr};
    stream::StreamFlow* flow = under_way_;
    if (flow == nullptr) {
        const auto place = std::find_if(flows_.begin(), flows_.end(), [&packet](const auto& entry) {
            return entry.first == packet.id;
        });
        SIM_CHECK(place != flows_.end(), "a core puts words that no route takes");
        flow = place->second;
        part.ends = packet.ends || !packet.id;
    } else {
        part.ends = packet.ends;
    }
    under_way_ = part.ends ? nullptr : flow;
    flow->begin(words, words, from, part);
}

void CoreOutput::read_words(std::span<std::uint32_t> into) {
    std::memcpy(into.data(), left_.data(), into.size_bytes());
    left_ = left_.subspan(into.size_bytes());
}

}  // namespace tilesim::arch::npu::core
