#include "arch/npu/core/logic_stream.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "arch/npu/program/program_fault.hpp"

namespace tilesim::arch::npu::core {

base::Cycles LogicStreamPlayer::time_of(std::int64_t bytes) const {
    return stream_.bytes_per_cycle == 0
               ? base::Cycles{0}
               : base::Cycles{base::ceil_div(bytes, stream_.bytes_per_cycle)};
}

void LogicStreamPlayer::play(std::int64_t bytes, const memory::port::BackingStore* store,
                             std::span<std::byte> into, base::Cycles now) {
    while (bytes > 0) {
        if (pass_ == stream_.passes.size()) {
            throw program::ProgramFault(fmt::format(
                "cycle {}: stream {} has ended, its core reads on", now.count(), stream_.name));
        }
        const program::LogicStream::Pass& pass = stream_.passes[pass_];
        const std::int64_t piece = std::min(bytes, pass.bytes - position_);
        if (store != nullptr) {
            const auto size = static_cast<std::size_t>(piece);
            store->read(base_ + pass.offset + position_, into.first(size));
            into = into.subspan(size);
        }
        bytes -= piece;
        position_ += piece;
        if (position_ == pass.bytes) {
            position_ = 0;
            if (++run_ == pass.repeat) {
                run_ = 0;
                ++pass_;
            }
        }
    }
}

}  // namespace tilesim::arch::npu::core
