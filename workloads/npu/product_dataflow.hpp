// What dataflows of matrix products on an array have in common: their own keys beside
// `mapping.kernel_cycles`.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arch/base/units.hpp"
#include "arch/npu/npu_config.hpp"
#include "workloads/dataflow.hpp"
#include "workloads/keys.hpp"
#include "workloads/npu/array_job.hpp"
#include "workloads/npu/shim_columns.hpp"

namespace tilesim::workloads::npu {

// `Keys`: the dataflow's mapping struct, whose reader is `read_keys(Node&, Keys&)` beside it.
template <class Keys>
class ProductDataflow : public Dataflow {
  public:
    Mapping read(arch::base::config::Node& mapping) const override {
        Given given;
        auto node = mapping.child(name(), summary());
        read_keys(node, given.keys);
        given.kernel_cycles = read_kernel_cycles(mapping);
        return {*this, given};
    }

    nlohmann::ordered_json describe(const Mapping& mapping) const override {
        const auto& given = mapping.get<Given>();
        const auto reader = [](auto& node, Keys& keys) { read_keys(node, keys); };
        nlohmann::ordered_json json{{name(), keys_of(given.keys, reader)}};
        describe_kernel_cycles(given.kernel_cycles, json);
        return json;
    }

  protected:
    struct Given {
        Keys keys;
        KernelCycles kernel_cycles;
    };

    static const Given& given(const Mapping& mapping) { return mapping.get<Given>(); }
    static const Given& given(const Case& a_case) { return given(a_case.mapping); }

    // The keys as a mapping, with the kernel cycles the case gives this dataflow.
    Mapping mapping_of(const Case& a_case, const Keys& keys) const {
        const bool own = !a_case.mapping.empty() && &a_case.mapping.dataflow() == this;
        return {*this, Given{keys, own ? given(a_case).kernel_cycles : KernelCycles{}}};
    }

    // `least_ns`: what the dataflow knows no run of the model's kernels to beat.
    Candidate candidate_of(const Case& a_case, std::string name, const Keys& keys,
                           const GemmBounds& modelled, double expected_ns,
                           double least_ns = 0) const {
        const Mapping mapping = mapping_of(a_case, keys);
        const KernelCycles& kernels = given(mapping).kernel_cycles;
        const GemmBounds bounds = kernels.bounds(modelled);
        const double launched = launched_ns(a_case, bounds);
        return {std::move(name), mapping, bounds, expected_ns,
                kernels.stated() ? launched : std::max(launched, least_ns)};
    }

  private:
    // What no run beats: nothing is moved or computed before the launch has come.
    static double launched_ns(const Case& a_case, const GemmBounds& bounds) {
        const auto& config = a_case.device.get<arch::npu::NpuConfig>();
        return arch::base::ns_of(config.command_processor.dispatch) + bounds.tightest_ns();
    }

  protected:
    static std::vector<Refusal> refused(std::vector<std::string> problems) {
        std::vector<Refusal> refusals;
        for (std::string& problem : problems) {
            refusals.push_back({"mapping", std::move(problem)});
        }
        return refusals;
    }
};

}  // namespace tilesim::workloads::npu
