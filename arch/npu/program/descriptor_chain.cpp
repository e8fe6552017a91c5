#include "arch/npu/program/descriptor_chain.hpp"

namespace tilesim::arch::npu::program {

bool DescriptorChain::contains(std::int64_t id) const {
    return std::any_of(descriptors.begin(), descriptors.end(),
                       [id](const BufferDescriptor* each) { return each->id == id; });
}

DescriptorChain chain_from(std::int64_t first, const TileDma& dma) {
    return chain_from(first, [&dma](std::int64_t id) -> const BufferDescriptor* {
        const auto place =
            std::find_if(dma.descriptors.begin(), dma.descriptors.end(),
                         [id](const BufferDescriptor& each) { return each.id == id; });
        return place == dma.descriptors.end() ? nullptr : &*place;
    });
}

}  // namespace tilesim::arch::npu::program
