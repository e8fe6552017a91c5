// A device: what its file says, one section for each machine in it, over its memory.
#pragma once

#include <any>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/memory/device/memory_config.hpp"

namespace tilesim::workloads {

using Overrides = std::vector<std::pair<std::string, std::string>>;  // key path, value
// What messages about one begin with, before its key path.
inline constexpr std::string_view kSetOrigin = "--set ";

class Device {
  public:
    std::string name;
    std::string called;  // by whoever wants it: a shipped device's name, or a path
    std::vector<arch::base::config::Document> documents;  // the device's file, its memory's
    arch::memory::device::MemoryConfig memory;

    // The section a machine has read (NpuConfig, PimConfig, AmxConfig ...); nullptr: not there.
    template <class Section>
    const Section* find() const {
        for (const std::any& section : sections_) {
            if (const auto* found = std::any_cast<Section>(&section)) {
                return found;
            }
        }
        return nullptr;
    }
    template <class Section>
    bool has() const {
        return find<Section>() != nullptr;
    }
    // The same where it has to be there; else ConfigError.
    template <class Section>
    const Section& get() const {
        const Section* const section = find<Section>();
        if (section == nullptr) {
            refuse(typeid(Section));
        }
        return *section;
    }
    // In place of the one of its type, where there is one.
    template <class Section>
    void put(Section section) {
        std::erase_if(sections_,
                      [](const std::any& each) { return each.type() == typeid(Section); });
        sections_.emplace_back(std::move(section));
    }
    // Paths of the values, but for those in lists, for which `wanted(path)` holds.
    template <class Wanted>
    std::vector<std::string> paths(Wanted wanted) const {
        std::vector<std::string> found;
        for (const auto& document : documents) {
            for (const auto& key : document.descriptions()) {
                const bool holds = key.type == "map" || key.type == "list";
                if (!holds && key.path.find('[') == key.path.npos && wanted(key.path)) {
                    found.push_back(key.path);
                }
            }
        }
        return found;
    }

  private:
    [[noreturn]] void refuse(const std::type_info& wanted) const;

    std::vector<std::any> sections_;
};

}  // namespace tilesim::workloads
