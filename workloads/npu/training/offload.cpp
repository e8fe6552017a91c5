#include "workloads/npu/training/offload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "arch/host/host_config.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "arch/npu/npu_config.hpp"
#include "workloads/gemm.hpp"
#include "workloads/keys.hpp"
#include "workloads/npu/npu_machine.hpp"
#include "workloads/npu/output_stationary/output_stationary_dataflow.hpp"
#include "workloads/npu/training/offload_mapping.hpp"
#include "workloads/npu/training/training_job.hpp"
#include "workloads/npu/training/training_report.hpp"
#include "workloads/npu/training/training_workload.hpp"

namespace tilesim::workloads::npu::training {

using arch::base::config::Node;
using Json = nlohmann::ordered_json;

namespace {

// An offload around the mapping its products share; that may be left out.
struct Offload {
    OffloadMapping keys;
    Mapping products;
};

class OffloadDataflow final : public Dataflow {
  public:
    std::string_view name() const override { return "offload"; }
    std::string_view summary() const override { return "to an NPU, in training"; }

    bool serves(const Problem& problem, const Device& device) const override {
        return problem.find<TrainingWorkload>() != nullptr && tile_fed(device) &&
               device.has<arch::host::HostConfig>();
    }

    bool takes(const Mapping& mapping) const override {
        return Dataflow::takes(mapping) || &mapping.dataflow() == &inner();
    }

    bool holds(const Dataflow& other) const override { return &other == &inner(); }

    Mapping read(Node& mapping) const override {
        Offload read;
        Node node = mapping.child(name(), summary());
        read_keys(node, read.keys);
        if (mapping.has(inner().name()) && !mapping.describing()) {
            read.products = inner().read(mapping);
        }
        return {*this, std::move(read)};
    }

    Json describe(const Mapping& mapping) const override {
        const auto& offload = mapping.get<Offload>();
        Json json = offload.products.empty() ? Json::object() : inner().describe(offload.products);
        json[std::string{name()}] = keys_of(offload.keys, read_keys);
        return json;
    }

    // One mapping for all sizes: another tile would need another configuration of the array.
    Choice choose(const Case& a_case, Runner& runner) const override {
        Offload offload = offload_of(a_case.mapping);
        std::map<TrainingProduct::Size, double> flop;
        std::optional<TrainingProduct> most;
        for (const TrainingOperator& each : operators_of(a_case.problem.get<TrainingWorkload>())) {
            if (each.product) {
                flop[each.product->size()] += each.product->flop();
                if (!most || flop[each.product->size()] > flop[most->size()]) {
                    most = each.product;
                }
            }
        }
        Case one = a_case;
        one.problem = {gemm_kind(), gemm_of(*most, offload.keys)};
        one.mapping = offload.products;
        offload.products = inner().choose(one, runner).mapping;
        return {{*this, std::move(offload)},
                fmt::format(
                    "{}: chosen by the bounds of the size with the most work, {}",
                    one.mapping.empty() ? "no mapping given" : "what is not stated of the mapping",
                    name_of(most->size()))};
    }

    // An offload alone leaves its products' mapping open.
    bool complete(const Mapping& mapping) const override {
        return !mapping.empty() && inner().complete(offload_of(mapping).products);
    }

    std::vector<Refusal> refusals(const Case& a_case) const override {
        std::vector<Refusal> refusals;
        if (a_case.run.functional) {
            refusals.push_back(
                {"run", "functional mode needs a gemm: a training step has no data of its own"});
        }
        const Offload offload = offload_of(a_case.mapping);
        const auto& kernels = a_case.device.get<arch::npu::NpuConfig>().kernels;
        const auto& keys = offload.keys;
        if (arch::npu::core::KernelTiming(kernels).find_mode(keys.operands, keys.operands,
                                                             keys.result) == nullptr) {
            refusals.push_back(
                {"mapping", fmt::format("offload: '{}' has no {} x {} -> {} multiply",
                                        a_case.device.name, name_of(keys.operands),
                                        name_of(keys.operands), name_of(keys.result))});
            return refusals;
        }
        if (inner().complete(offload.products)) {
            check_products(a_case, offload, refusals);
        }
        return refusals;
    }

    // Those of the products' mapping that matter to none of them.
    std::vector<UnfeltKey> unfelt(const Case& a_case) const override {
        const Offload offload = offload_of(a_case.mapping);
        std::optional<std::vector<UnfeltKey>> keys;
        for (const Case& one : products_of(a_case, offload)) {
            std::vector<UnfeltKey> more = inner().unfelt(one);
            if (keys) {
                std::erase_if(*keys, [&more](const UnfeltKey& key) {
                    return std::none_of(more.begin(), more.end(), [&key](const UnfeltKey& other) {
                        return other.key == key.key;
                    });
                });
            } else {
                keys = std::move(more);
            }
        }
        return keys.value_or(std::vector<UnfeltKey>{});
    }

    std::unique_ptr<Job> lower(const Case& a_case, RunResult&) const override {
        const auto& training = a_case.problem.get<TrainingWorkload>();
        Offload offload = offload_of(a_case.mapping);
        return training_job(a_case, offload.keys, offload.products, operators_of(training));
    }

  private:
    static const Dataflow& inner() { return output_stationary::output_stationary_dataflow(); }

    Offload offload_of(const Mapping& mapping) const {
        if (mapping.empty()) {
            return {};
        }
        return &mapping.dataflow() == this ? mapping.get<Offload>() : Offload{{}, mapping};
    }

    // What the array runs, each by itself.
    static std::vector<Case> products_of(const Case& a_case, const Offload& offload) {
        std::vector<Case> products;
        for (const TrainingOperator& each : operators_of(a_case.problem.get<TrainingWorkload>())) {
            if (each.product) {
                Case& one = products.emplace_back(a_case);
                one.problem = {gemm_kind(), gemm_of(*each.product, offload.keys)};
                one.mapping = offload.products;
            }
        }
        return products;
    }

    static void check_products(const Case& a_case, const Offload& offload,
                               std::vector<Refusal>& refusals) {
        std::set<std::string> said;  // most problems are the same for every product
        for (const Case& one : products_of(a_case, offload)) {
            for (Refusal& refusal : inner().refusals(one)) {
                if (said.insert(refusal.reason).second) {
                    refusals.push_back(std::move(refusal));
                }
            }
        }
    }
};

}  // namespace

const Dataflow& offload_dataflow() {
    static const OffloadDataflow dataflow;
    return dataflow;
}

}  // namespace tilesim::workloads::npu::training
