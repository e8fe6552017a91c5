#include "workloads/pim/transformer/transformer_dataflow.hpp"

#include <memory>

#include "arch/pim/pim_config.hpp"
#include "workloads/pim/gemv/gemv_dataflow.hpp"
#include "workloads/pim/transformer/model_job.hpp"
#include "workloads/pim/transformer/model_workload.hpp"

namespace tilesim::workloads::pim::transformer {

using arch::base::config::Node;
using Json = nlohmann::ordered_json;

namespace {

// Its mapping is that of its GEMVs.
class ModelDataflow final : public Dataflow {
  public:
    std::string_view name() const override { return ""; }
    bool serves(const Problem& problem, const Device& device) const override {
        return problem.find<ModelWorkload>() != nullptr && device.has<arch::pim::PimConfig>();
    }
    bool takes(const Mapping& mapping) const override {
        return mapping.empty() || &mapping.dataflow() == &gemv::pimnast_dataflow() ||
               &mapping.dataflow() == &gemv::column_major_dataflow();
    }
    Mapping read(Node&) const override { return {}; }
    Json describe(const Mapping&) const override { return Json::object(); }
    std::vector<Refusal> refusals(const Case& a_case) const override {
        return a_case.run.functional
                   ? std::vector<Refusal>{{"run",
                                           "functional mode needs a gemv: a model has no "
                                           "data of its own"}}
                   : std::vector<Refusal>{};
    }
    std::vector<UnfeltKey> unfelt(const Case& a_case) const override {
        const auto& workload = a_case.problem.get<ModelWorkload>();
        UnfeltKeys<Places> places("workload.place.", workload.places);
        if (workload.model.experts == 1) {
            places.add("router", &Places::router, "the model has no experts to choose from");
        }
        return together(gemv::unfelt_keys(a_case.mapping), places.take());
    }
    std::unique_ptr<Job> lower(const Case& a_case, RunResult& result) const override {
        if (!a_case.mapping.empty()) {
            result.mapping = a_case.mapping.dataflow().describe(a_case.mapping);
        } else {
            result.notes.emplace_back(
                "no mapping given: every matrix in the banks has the balanced placement whose "
                "commands take least, see `layer_matrices` in the details");
        }
        return model_job(a_case);
    }
};

}  // namespace

const Dataflow& model_dataflow() {
    static const ModelDataflow dataflow;
    return dataflow;
}

}  // namespace tilesim::workloads::pim::transformer
