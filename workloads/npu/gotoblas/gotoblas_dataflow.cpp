#include "workloads/npu/gotoblas/gotoblas_dataflow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "arch/base/check.hpp"
#include "arch/base/limit.hpp"
#include "arch/base/units.hpp"
#include "arch/npu/core/stream_kernel_timing.hpp"
#include "workloads/attribution.hpp"
#include "workloads/npu/gotoblas/expected_time.hpp"
#include "workloads/npu/gotoblas/gotoblas.hpp"
#include "workloads/npu/gotoblas/gotoblas_data.hpp"
#include "workloads/npu/npu_machine.hpp"
#include "workloads/npu/product_dataflow.hpp"
#include "workloads/npu/register_use.hpp"

namespace tilesim::workloads::npu::gotoblas {

using arch::npu::NpuConfig;
using Json = nlohmann::ordered_json;

namespace {

Json details_of(const arch::npu::NpuConfig& config, const GemmProblem& gemm,
                const GotoblasMapping& map, const LoweredGotoblas& lowered,
                const RunResult& result) {
    const arch::npu::core::StreamKernelTiming timing(config.kernels, config.stream);
    const auto kernel = micro_kernel(gemm, map, std::min(map.k_c, gemm.k));
    const double kernels =
        state_of(result, "core", "multiply") + state_of(result, "core", "c_load") +
        state_of(result, "core", "c_store") + state_of(result, "core", "waiting_for_stream");
    const double copies = state_of(result, "command_processor", "copying");
    return {{"fraction_of_peak",
             result.macs_per_cycle / static_cast<double>(timing.mode_of(kernel).macs)},
            {"micro_kernel_cycles", timing.cycles(kernel).total().count()},
            {"micro_kernel_calls", lowered.kernel_calls},
            {"micro_kernels_total_cycles", kernels},
            {"c_transfer_cycles",
             state_of(result, "core", "c_load") + state_of(result, "core", "c_store")},
            {"b_copies", lowered.b_panels},
            {"b_copy_cycles", copies},
            {"b_copy_wait_cycles", state_of(result, "core", "waiting_for_host")},
            {"register_block", describe(timing.registers(kernel))}};
}

// A's rate is the one thing the published simulation does not say; both answers are shown.
std::string note_on_a(const GotoblasMapping& map, const arch::npu::NpuConfig& config) {
    return map.a_stream == GotoblasMapping::AStream::Port
               ? fmt::format("A arrives at {} B/cycle, the rate of its stream port",
                             config.stream.width.count())
               : fmt::format(
                     "A is there whenever the core reads it ({} B/cycle), as in the published "
                     "simulation; a stream port carries {} B/cycle: mapping.gotoblas.a_stream=port",
                     config.kernels.stream_read.count(), config.stream.width.count());
}

std::string loops_of(const GemmProblem& gemm, const GotoblasMapping& map,
                     const LoweredGotoblas& lowered) {
    const std::int64_t k_c = std::min(map.k_c, gemm.k);
    return fmt::format(
        "# padded to {} x {} x {} (M x K x N); {} copies of B_r, {} micro-kernel calls\n"
        "# for j_c in 0..{} step {}:\n"
        "#   for p_c in 0..{} step {}:            B_c = B[p_c.., j_c..], packed in DRAM\n"
        "#     for i_c in 0..{} step {}:          A_c = A[i_c.., p_c..], packed in logic RAM\n"
        "#       for j_r in 0..{} step {}:        host copies B_r ({} x {})\n"
        "#         for i_r in 0..{} step {}:      C_r ({} x {}) += A_r * B_r\n",
        lowered.m, gemm.k, lowered.n, lowered.b_panels, lowered.kernel_calls, lowered.n, map.n_c,
        gemm.k, k_c, lowered.m, map.m_c, std::min(map.n_c, lowered.n), map.n_r, k_c, map.n_r,
        std::min(map.m_c, lowered.m), map.m_r, map.m_r, map.n_r);
}

class Gotoblas final : public ProductDataflow<GotoblasMapping> {
  public:
    std::string_view name() const override { return "gotoblas"; }
    std::string_view summary() const override { return "five loops around a micro-kernel"; }

    bool serves(const Problem& problem, const Device& device) const override {
        return problem.find<GemmProblem>() != nullptr && stream_fed(device);
    }

    // Host and core are two stages of known lengths: what is expected tells mappings apart, and
    // none needs to be simulated. `refusals` has found some that fit.
    Choice choose(const Case& a_case, Runner&) const override {
        const std::vector<Candidate> list = candidates(a_case);
        const auto best = std::min_element(
            list.begin(), list.end(),
            [](const Candidate& a, const Candidate& b) { return a.expected_ns < b.expected_ns; });
        SIM_CHECK(best != list.end(), "no mapping of {} fits, but none was refused", name());
        return {best->mapping,
                fmt::format("{} of {} the one expected to be fastest, see `mapping`",
                            a_case.mapping.empty() ? "no mapping given:"
                                                   : "what the mapping does not state is chosen:",
                            list.size())};
    }

    std::vector<Refusal> refusals(const Case& a_case) const override {
        const auto& gemm = a_case.problem.get<GemmProblem>();
        const auto& config = a_case.device.get<NpuConfig>();
        if (complete(a_case.mapping)) {
            return refused(problems_of(gemm, given(a_case).keys, config));
        }
        if (!candidates(a_case).empty()) {
            return {};
        }
        const GotoblasMapping largest = choose_gotoblas(gemm, config);
        GotoblasMapping least = stated_keys(a_case);
        least.m_c = least.m_c > 0 ? least.m_c : largest.m_c / largest.m_r * least.m_r;
        least.n_c = least.n_c > 0 ? least.n_c : largest.n_c / largest.n_r * least.n_r;
        least.k_c = least.k_c > 0 ? least.k_c : largest.k_c;
        std::vector<std::string> problems = problems_of(gemm, least, config);
        if (problems.empty()) {
            problems.emplace_back("no register block and cache blocks fit beside what it states");
        }
        return refused(std::move(problems));
    }

    std::vector<UnfeltKey> unfelt(const Case& a_case) const override {
        const auto& gemm = a_case.problem.get<GemmProblem>();
        const GotoblasMapping& map = given(a_case).keys;
        UnfeltKeys<GotoblasMapping> keys("mapping.gotoblas.", map);
        const auto whole = [&keys, &map](const char* key, std::int64_t GotoblasMapping::*block,
                                         std::int64_t size) {
            if (arch::base::spares(map.*block, size)) {
                keys.add(key, block, fmt::format("one block holds all {}", size));
            }
        };
        whole("m_c", &GotoblasMapping::m_c, arch::base::ceil_div(gemm.m, map.m_r) * map.m_r);
        whole("n_c", &GotoblasMapping::n_c, arch::base::ceil_div(gemm.n, map.n_r) * map.n_r);
        whole("k_c", &GotoblasMapping::k_c, gemm.k);
        UnfeltKeys<GemmProblem> of_problem("workload.gemm.", gemm);
        of_problem.add("b_layout", &GemmProblem::b_column_major,
                       "B is packed beforehand, however it lies");
        return together(keys.take(), of_problem.take());
    }

    std::unique_ptr<Job> lower(const Case& a_case, RunResult& result) const override {
        const auto& gemm = a_case.problem.get<GemmProblem>();
        const auto& config = a_case.device.get<NpuConfig>();
        const Given& map = given(a_case);
        result.notes.push_back(note_on_a(map.keys, config));
        const GotoblasRoom room = room_of(gemm, map.keys);
        if (arch::base::spares(panel_memory(config), room.b_r)) {
            result.not_exercised.emplace_back("npu.kernels.panel_memory");
        }
        if (arch::base::spares(config.programmable_logic.ram.count(), room.a_c)) {
            result.not_exercised.emplace_back("npu.programmable_logic.ram");
        }
        auto lowered = std::make_shared<LoweredGotoblas>(gotoblas::lower(gemm, map.keys, config));
        LoweredProduct product;
        product.macs = gemm.macs();
        product.bounds = bounds_in(a_case, map.keys);
        product.padding_waste = lowered->padding_waste(gemm);
        product.kernel_cycles = map.kernel_cycles;
        product.rounds.count = static_cast<double>(lowered->rounds());
        product.summary = loops_of(gemm, map.keys, *lowered);
        product.program = lowered->program;  // the operands stay known to `contents`
        auto data = std::make_shared<GotoblasData>(gemm, map.keys, *lowered);
        product.contents = {
            [&a_case, data, lowered](auto& store, auto&) { data->fill(a_case.run.seed, store); },
            [&a_case, data, lowered](auto& store, auto&) {
                return data->check(a_case.run.seed, store);
            }};
        product.details = [&config, &gemm, &map, lowered](RunResult& ended) {
            ended.details = details_of(config, gemm, map.keys, *lowered, ended);
        };
        return product_job(a_case, std::move(product), result);
    }

    std::vector<Candidate> candidates(const Case& a_case) const override {
        const auto& gemm = a_case.problem.get<GemmProblem>();
        const auto& config = a_case.device.get<NpuConfig>();
        std::vector<Candidate> list;
        GotoblasMapping from = stated_keys(a_case);
        from.a_stream = a_case.mapping.empty() ? from.a_stream : given(a_case).keys.a_stream;
        const auto stated = [&](const char* key) { return states(a_case, key); };
        for (const GotoblasMapping& map : mappings_of(gemm, from, config, stated)) {
            list.push_back(candidate_of(
                a_case,
                fmt::format("{} x {}, k_c {}, m_c {}, n_c {}{}", map.m_r, map.n_r, map.k_c, map.m_c,
                            map.n_c, map.b_buffers == 2 ? ", B_r double" : ""),
                map, bounds_in(a_case, map),
                expected_ns(gemm, map, config, path_of(a_case.device))));
        }
        return list;
    }

  private:
    // A is read within the calls: where their cycles are stated, its stream is no bound beside
    // them.
    static GemmBounds bounds_in(const Case& a_case, const GotoblasMapping& map) {
        GemmBounds bounds = bounds_of(a_case.problem.get<GemmProblem>(), map,
                                      a_case.device.get<NpuConfig>(), a_case.device.memory);
        if (!a_case.mapping.empty() && given(a_case).kernel_cycles.stated()) {
            bounds.stream_ns = 0;
        }
        return bounds;
    }
};

}  // namespace

const Dataflow& gotoblas_dataflow() {
    static const Gotoblas dataflow;
    return dataflow;
}

}  // namespace tilesim::workloads::npu::gotoblas
