#include "arch/amx/socket/mesh.hpp"

#include "arch/base/spread.hpp"

namespace tilesim::arch::amx::socket {

using base::Femtoseconds;

Mesh::Mesh(const UncoreConfig& config, std::int64_t cores)
    : slot_(
          Femtoseconds{base::Clock{config.clock}.time_of(base::Cycles{caches::kLineBytes}).count() /
                       config.link_width.count()}),
      columns_(static_cast<std::size_t>(config.mesh_columns)),
      cores_(static_cast<std::size_t>(cores)),
      slices_(static_cast<std::size_t>(config.slices)),
      links_((slices_.size() + columns_) * kDirections) {}

std::size_t Mesh::slice_of(caches::Line line) const {
    constexpr unsigned kBits = 32;  // Intel's hash is not published
    return base::spread(line, kBits) % slices_.size();
}

std::size_t Mesh::stop_of(std::size_t core) const {
    return core * slices_.size() / cores_;
}

Femtoseconds Mesh::serve(std::size_t slice, Femtoseconds now) {
    const std::int64_t slot = slot_at(now);
    return later(now, slices_[slice].take(slot, slot) - slot);
}

std::int64_t Mesh::pass(std::size_t& stop, Direction direction, std::int64_t slot,
                        std::int64_t now) {
    Lane& link = links_[stop * kDirections + direction];
    switch (direction) {
        case Up:
            stop -= columns_;
            break;
        case Down:
            stop += columns_;
            break;
        case Left:
            --stop;
            break;
        default:
            ++stop;
    }
    return link.take(slot, now);
}

Femtoseconds Mesh::carry(std::size_t from, std::size_t to, Femtoseconds at, Femtoseconds now) {
    const std::int64_t first = slot_at(at);
    std::int64_t slot = first;
    std::size_t stop = from;
    while (stop / columns_ != to / columns_) {
        slot = pass(stop, stop < to ? Down : Up, slot, slot_at(now));
    }
    while (stop != to) {
        slot = pass(stop, stop < to ? Right : Left, slot, slot_at(now));
    }
    return later(at, slot - first);
}

}  // namespace tilesim::arch::amx::socket
