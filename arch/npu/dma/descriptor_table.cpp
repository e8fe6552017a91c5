#include "arch/npu/dma/descriptor_table.hpp"

#include "arch/npu/dma/address_generator.hpp"

namespace tilesim::arch::npu::dma {

void DescriptorTable::write(const program::BufferDescriptor& descriptor) {
    entries_.at(static_cast<std::size_t>(descriptor.id)) =
        Entry{descriptor, descriptor.iteration ? descriptor.iteration->current : 0,
              stream_words(descriptor)};
}

DescriptorTable::Entry* DescriptorTable::find(std::int64_t id) {
    const auto index = static_cast<std::size_t>(id);
    return index < entries_.size() && entries_[index] ? &*entries_[index] : nullptr;
}

}  // namespace tilesim::arch::npu::dma
