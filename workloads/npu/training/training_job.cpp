#include "workloads/npu/training/training_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "arch/base/units.hpp"
#include "arch/host/host_config.hpp"
#include "arch/npu/npu_config.hpp"
#include "workloads/gemm.hpp"
#include "workloads/npu/training/offloaded_call.hpp"
#include "workloads/npu/training/training_report.hpp"
#include "workloads/npu/training/training_totals.hpp"

namespace tilesim::workloads::npu::training {

namespace {

class TrainingJob final : public Job {
  public:
    TrainingJob(const Case& a_case, OffloadMapping offload, Mapping mapping,
                std::vector<TrainingOperator> operators)
        : case_(a_case),
          npu_(a_case.device.get<arch::npu::NpuConfig>()),
          host_(a_case.device.get<arch::host::HostConfig>()),
          offload_(offload),
          mapping_(std::move(mapping)),
          operators_(std::move(operators)) {}

    void run(Runner& runner, RunResult& result) override {
        for (const TrainingOperator& each : operators_) {
            if (!each.product) {
                run_on_host(each);
            } else if (!run_product(runner, each, result)) {
                return;  // the status says why
            }
        }
        report(totals_, npu_.clock, result);
        name_unfelt(result);
    }

  private:
    // What no size's call feels; the processor does the rest.
    void name_unfelt(RunResult& result) const {
        std::vector<std::string> keys = totals_.sizes.front().array.not_exercised;
        for (const SizeTotals& size : totals_.sizes) {
            const std::vector<std::string>& here = size.array.not_exercised;
            std::erase_if(keys, [&here](const std::string& key) {
                return std::find(here.begin(), here.end(), key) == here.end();
            });
        }
        const bool whole_array =
            offload_.reconfiguration == OffloadMapping::Reconfiguration::WholeArray;
        std::erase_if(keys, [whole_array](const std::string& key) {
            return key.starts_with("host.") ||
                   (whole_array && key == "npu.command_processor.reconfiguration");
        });
        add_not_exercised(result, keys);
    }

    SizeTotals& size_of(Runner& runner, const TrainingProduct& product, RunResult& result) {
        const auto found =
            std::find_if(totals_.sizes.begin(), totals_.sizes.end(),
                         [&](const SizeTotals& size) { return size.extents == product.size(); });
        if (found != totals_.sizes.end()) {
            return *found;
        }
        Case one = case_;
        one.problem = {gemm_kind(), gemm_of(product, offload_)};
        one.mapping = mapping_;
        totals_.sizes.push_back({product.size(), runner.run(one), {}, {}});
        result.events += totals_.sizes.back().array.events;
        return totals_.sizes.back();
    }

    bool run_product(Runner& runner, const TrainingOperator& each, RunResult& result) {
        const TrainingProduct& product = *each.product;
        SizeTotals& size = size_of(runner, product, result);
        if (size.array.status != Status::Ok) {
            result.status = size.array.status;
            result.deadlock = size.array.deadlock;
            return false;
        }
        const arch::npu::CommandProcessorConfig& commands = npu_.command_processor;
        CallTimes call = host_stages(host_, offload_, product);
        call[CallStage::Dispatch] = arch::base::ns_of(commands.dispatch);
        call[CallStage::Run] = size.array.time_ns - call[CallStage::Dispatch];
        const bool other_size = product.size() != last_size_;
        last_size_ = product.size();
        totals_.size_changes += other_size ? 1 : 0;
        if (other_size && offload_.reconfiguration == OffloadMapping::Reconfiguration::WholeArray) {
            call[CallStage::Reconfigure] = arch::base::ns_of(commands.reconfiguration);
        }
        const double on_host =
            arch::host::product_ns(host_, product.loop(), static_cast<double>(product.m),
                                   static_cast<double>(product.k), static_cast<double>(product.n));
        size.all.add(product, call, on_host);
        totals_.phases[each.phase].add(product, call, on_host);
        const std::string use = fmt::format("{} {}", each.name, name_of(product.pass));
        if (std::find(size.uses.begin(), size.uses.end(), use) == size.uses.end()) {
            size.uses.push_back(use);
        }
        return true;
    }

    void run_on_host(const TrainingOperator& each) {
        arch::host::Work work = each.work;
        work.parallel = work.parallel || offload_.parallel_operators;
        const double ns = arch::host::roofline_ns(host_, work);
        auto found = std::find_if(totals_.operators.begin(), totals_.operators.end(),
                                  [&](const HostOperator& known) {
                                      return known.name == each.name && known.phase == each.phase;
                                  });
        if (found == totals_.operators.end()) {
            totals_.operators.push_back({each.name, each.phase, 0, {}, 0});
            found = std::prev(totals_.operators.end());
        }
        ++found->calls;
        found->work += work;
        found->ns += ns;
    }

    const Case& case_;
    const arch::npu::NpuConfig& npu_;
    const arch::host::HostConfig& host_;
    const OffloadMapping offload_;
    const Mapping mapping_;
    const std::vector<TrainingOperator> operators_;
    TrainingTotals totals_;
    TrainingProduct::Size last_size_;
};

}  // namespace

std::unique_ptr<Job> training_job(const Case& a_case, const OffloadMapping& offload,
                                  Mapping products, std::vector<TrainingOperator> operators) {
    return std::make_unique<TrainingJob>(a_case, offload, std::move(products),
                                         std::move(operators));
}

}  // namespace tilesim::workloads::npu::training
