#include "arch/npu/dma/tile_mover.hpp"

namespace tilesim::arch::npu::dma {

using base::Cycles;

void TileReader::begin(const DescriptorTable::Entry& entry, Cycles from) {
    if (memory_ != nullptr) {
        addresses_ = AddressGenerator(entry.descriptor, entry.iteration);
        buffer_ = entry.descriptor.buffer;
        offset_ = entry.descriptor.offset;
    }
    flows_.of(entry.descriptor, channel_.name())
        .begin(entry.stream_words, entry.stream_words, from, packet_of(entry.descriptor));
}

void TileReader::read_words(std::span<std::uint32_t> into) {
    addresses_.read(memory_->buffer(buffer_).data() + offset_, into);
}

void TileWriter::begin(const DescriptorTable::Entry& entry, Cycles from) {
    entry_ = &entry;
    sink_.begin(entry.stream_words + (channel_.out_of_order() ? 1 : 0), from);
}

void TileWriter::on_stream_received(Cycles now) {
    if (memory_ != nullptr) {
        const program::BufferDescriptor& descriptor = entry_->descriptor;
        AddressGenerator addresses(descriptor, entry_->iteration);
        std::byte* bytes = memory_->buffer(descriptor.buffer).data() + descriptor.offset;
        sink_.take_words(
            [&, header = channel_.out_of_order()](std::span<const std::uint32_t> words) mutable {
                addresses.write(words.subspan(header ? 1 : 0), bytes);
                header = false;
            });
    }
    channel_.finish_transfer(now);
}

}  // namespace tilesim::arch::npu::dma
