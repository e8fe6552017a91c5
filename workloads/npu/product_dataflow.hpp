// What dataflows of matrix products on an array have in common: their own keys beside
// `mapping.kernel_cycles`.
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "arch/base/units.hpp"
#include "arch/npu/npu_config.hpp"
#include "workloads/dataflow.hpp"
#include "workloads/keys.hpp"
#include "workloads/npu/array_job.hpp"
#include "workloads/npu/shim_columns.hpp"
#include "workloads/npu/stated_keys.hpp"

namespace tilesim::workloads::npu {

// `Keys`: the dataflow's mapping struct, whose reader is `read_keys(Node&, Keys&)` beside it. Where
// there is a `leaves_open(Node, Keys)` too, which says whether the keys read leave others to be
// chosen, a mapping may state some of its keys.
template <class Keys>
class ProductDataflow : public Dataflow {
  public:
    Mapping read(arch::base::config::Node& mapping) const override {
        Given given;
        auto node = mapping.child(name(), summary());
        read_keys(node, given.keys);
        if constexpr (requires { leaves_open(node, given.keys); }) {
            if (leaves_open(node, given.keys)) {
                given.stated.emplace(node, keys_of(given.keys, kReader));
            }
        }
        given.kernel_cycles = read_kernel_cycles(mapping);
        return {*this, given};
    }

    bool complete(const Mapping& mapping) const override {
        return !mapping.empty() && !given(mapping).stated;
    }

    nlohmann::ordered_json describe(const Mapping& mapping) const override {
        const auto& given = mapping.get<Given>();
        nlohmann::ordered_json json{{name(), keys_of(given.keys, kReader)}};
        describe_kernel_cycles(given.kernel_cycles, json);
        return json;
    }

  protected:
    struct Given {
        Keys keys;
        KernelCycles kernel_cycles;
        std::optional<StatedKeys> stated;  // of a mapping that leaves others to be chosen
    };

    static const Given& given(const Mapping& mapping) { return mapping.get<Given>(); }
    static const Given& given(const Case& a_case) { return given(a_case.mapping); }

    // What the case states of a mapping it leaves open; all of it by default otherwise.
    Keys stated_keys(const Case& a_case) const {
        return states_some(a_case) ? given(a_case).keys : Keys{};
    }

    bool states(const Case& a_case, const char* key) const {
        return states_some(a_case) && given(a_case).stated->has(key);
    }

    // Of these those that hold what the case states.
    std::vector<Candidate> as_stated(const Case& a_case, std::vector<Candidate> list) const {
        if (states_some(a_case)) {
            std::erase_if(list, [&](const Candidate& each) {
                return !given(a_case).stated->hold(keys_of(given(each.mapping).keys, kReader));
            });
        }
        return list;
    }

    // These keys with what the case states in place of what they hold, what is alike once.
    std::vector<Keys> with_stated(const Case& a_case, std::vector<Keys> list) const {
        if (!states_some(a_case)) {
            return list;
        }
        std::vector<Keys> changed;
        std::set<std::string> known;
        for (const Keys& keys : list) {
            const Keys each = given(a_case).stated->over(keys, kReader);
            if (known.insert(keys_of(each, kReader).dump()).second) {
                changed.push_back(each);
            }
        }
        return changed;
    }

    // The keys as a mapping, with the kernel cycles the case gives this dataflow.
    Mapping mapping_of(const Case& a_case, const Keys& keys) const {
        return {*this,
                Given{keys, of_this(a_case) ? given(a_case).kernel_cycles : KernelCycles{}, {}}};
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
    static constexpr auto kReader = [](auto& node, Keys& keys) { read_keys(node, keys); };

    bool of_this(const Case& a_case) const {
        return !a_case.mapping.empty() && &a_case.mapping.dataflow() == this;
    }
    // Some keys of this dataflow, which leave others to be chosen.
    bool states_some(const Case& a_case) const { return of_this(a_case) && given(a_case).stated; }

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
