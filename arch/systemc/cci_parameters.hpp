// The keys of a device as parameters of Accellera's CCI, for platforms that are configured by it.
// tilesim is built without CCI: this header is for programs that have it, and link its library.
#pragma once

#include <cci_configuration>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arch/base/config.hpp"

namespace tilesim::arch::systemc {

class CciParameters {
  public:
    // Made before the module is: MODULE.KEY for every value of the device's documents, as read;
    // whole numbers are std::int64_t, all else text as in the file, "1.8 GHz". What was preset in
    // the global broker is its value, and nothing changes it after that. CCI reports a preset of
    // another type.
    CciParameters(const std::string& module, std::span<const base::config::Document> documents) {
        const cci::cci_originator owner(module + "_parameters");
        const cci::cci_broker_handle broker = cci::cci_get_global_broker(owner);
        for (const base::config::Document& document : documents) {
            for (const base::config::KeyDescription& key : document.descriptions()) {
                const std::string name = module + "." + key.path;
                const bool value = key.type != "map" && key.type != "list";
                if (!value || key.path == "name" || key.path == "kind") {
                    continue;
                }
                if (key.type == "integer") {
                    add<std::int64_t>(name, std::stoll(key.value), key.description, owner);
                } else {
                    add<std::string>(name, key.value, key.description, owner);
                }
                if (broker.has_preset_value(name)) {
                    const cci::cci_value preset = parameters_.back()->get_cci_value();
                    preset_.emplace_back(
                        key.path, preset.is_string() ? preset.get_string() : preset.to_json());
                }
            }
        }
    }

    // Keys of the device and the values preset for them: the overrides to load it with.
    const std::vector<std::pair<std::string, std::string>>& preset() const { return preset_; }

  private:
    template <typename Value>
    void add(const std::string& name, const Value& value, const std::string& description,
             const cci::cci_originator& owner) {
        parameters_.push_back(std::make_unique<cci::cci_param<Value, cci::CCI_IMMUTABLE_PARAM>>(
            name, value, description, cci::CCI_ABSOLUTE_NAME, owner));
    }

    std::vector<std::unique_ptr<cci::cci_param_untyped>> parameters_;
    std::vector<std::pair<std::string, std::string>> preset_;
};

}  // namespace tilesim::arch::systemc
