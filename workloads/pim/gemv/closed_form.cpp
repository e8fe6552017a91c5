// What a placed product's commands take, from counts alone.
#include <algorithm>

#include "arch/base/clock.hpp"
#include "workloads/pim/gemv/pim_counts.hpp"
#include "workloads/pim/gemv/pim_placement.hpp"

namespace tilesim::workloads::pim::gemv {

using arch::base::ceil_div;
using arch::base::kBitsPerByte;
using arch::memory::device::MemoryConfig;
using arch::pim::PimConfig;

namespace {

// From the end of the last MAC's slot of a batch of inputs until its results or the next inputs can
// be written, and from the end of the last input's slot until the next MAC.
std::int64_t turns_of_batch(const arch::pim::BankTiming& times, const MemoryConfig& memory,
                            const PimConfig& pim, std::int64_t hidden) {
    const std::int64_t host =
        arch::base::Clock{memory.clock}.first_cycle_from(pim.host_turn).count();
    if (!pim.bus_turnaround) {
        const std::int64_t change =
            std::max<std::int64_t>(0, 1 + pim.mode_change.count() - pim.command_interval.count());
        return host + (pim.mode_change.count() > 0 ? 2 * change : 0);
    }
    return host + (times.write_to_mac - pim.command_interval).count() +
           std::max<std::int64_t>(0, (times.mac_to_write - pim.mac_slot()).count() - hidden);
}

// CK by which a row closes later because results were written to it shortly before its end: after
// the last of them come the next pass's inputs, and MACs up to the end of the row.
std::int64_t recovery_of_results(const GemvProblem& gemv, const PimPlacement& p,
                                 const MemoryConfig& memory, const PimConfig& pim) {
    if (pim.spill != arch::pim::Spill::Stream && pim.spill != arch::pim::Spill::Row) {
        return 0;
    }
    const arch::pim::BankTiming times(memory.timing, pim);
    const std::int64_t words_per_row = memory.row.count() * kBitsPerByte / pim.register_bits;
    const std::int64_t slot = pim.command_interval.count();
    const std::int64_t turn =
        pim.bus_turnaround
            ? (times.write_to_mac - pim.command_interval).count() +
                  arch::base::Clock{memory.clock}.first_cycle_from(pim.host_turn).count()
            : 0;
    std::int64_t words = 0;  // of a row block, but for its results
    std::int64_t factors = 0;
    for (std::int64_t from = 0; from < p.part_k; from += p.chunk) {
        const ChunkCost cost = chunk_cost(gemv, p, from, pim);
        words += cost.mac_words;
        factors += cost.scale_factors;
    }
    std::int64_t waits = 0;
    for (std::int64_t done = p.degree; done < p.row_blocks; done += p.degree) {
        const std::int64_t laid_out =
            done * words + ceil_div(done * factors * GemvProblem::kScaleBits, pim.register_bits) +
            (pim.spill == arch::pim::Spill::Row ? done * results_of(gemv, p, pim) : 0);
        const std::int64_t loads =
            std::min(p.degree, p.row_blocks - done) > 1 ? pim.accumulator_load : 0;
        const std::int64_t before_end =
            (1 + inputs_of(gemv, p, 0, pim) + loads) * slot + turn +
            (words_per_row - laid_out % words_per_row) % words_per_row * pim.mac_slot().count();
        waits += std::max<std::int64_t>(0, times.write_to_precharge.count() - before_end);
    }
    return waits;
}

// From the last command of a row until the first MAC of the next one.
std::int64_t row_switch_of(const MemoryConfig& memory, const PimConfig& pim) {
    const arch::pim::BankTiming times(memory.timing, pim);
    const std::int64_t spread = pim.activates_at_once
                                    ? 0
                                    : arch::pim::BankTiming::last_of_activates(
                                          memory.timing, memory.banks() / pim.banks_per_unit);
    return (times.precharge_all + times.activate_to_mac).count() + spread;
}

}  // namespace

std::int64_t overlap_of_vectors(const MemoryConfig& memory, const PimConfig& pim) {
    return pim.mode_change.count() > 0 ? pim.banks_per_unit * row_switch_of(memory, pim) : 0;
}

std::int64_t closed_form_cycles(const GemvProblem& gemv, const PimPlacement& p,
                                const MemoryConfig& memory, const PimConfig& pim) {
    const arch::pim::BankTiming times(memory.timing, pim);
    const std::int64_t slot = pim.command_interval.count();
    const std::int64_t passes = ceil_div(p.row_blocks, p.degree);
    const std::int64_t alone = p.degree == 1 ? p.row_blocks : p.row_blocks % p.degree == 1 ? 1 : 0;
    const std::int64_t fold = fold_commands(gemv, p, pim);
    std::int64_t commands = 0;  // at the command interval
    std::int64_t words = 0;
    std::int64_t factors = 0;
    std::int64_t turns = 0;
    for (std::int64_t from = 0; from < p.part_k; from += p.chunk) {
        const ChunkCost cost = chunk_cost(gemv, p, from, pim);
        const std::int64_t scales =
            cost.scale_factors > 0 ? std::max<std::int64_t>(1, cost.scale_commands) : 0;
        const std::int64_t to = std::min(from + p.chunk, p.part_k);
        const std::int64_t folds = folds_before(p, to, pim) - folds_before(p, from, pim);
        commands += passes * inputs_of(gemv, p, from, pim) +
                    p.row_blocks * (scales + folds * fold) +
                    (p.row_blocks - alone) * pim.accumulator_load;
        words += p.row_blocks * cost.mac_words;
        factors += p.row_blocks * cost.scale_factors;
        turns += passes * turns_of_batch(times, memory, pim, scales * slot);
        // Folds before the last wait for their own block's sums; those of a pass's last block do
        // so while the bus turns for the next inputs.
        if (folds * fold > 0 && pim.bus_turnaround && !pim.fold_overlaps_turn) {
            turns += (p.row_blocks - passes) *
                     std::max<std::int64_t>(
                         0, (times.mac_to_write - pim.mac_slot()).count() - scales * slot);
        }
    }
    const std::int64_t results = results_of(gemv, p, pim);
    commands += p.row_blocks * (fold + results);
    const std::int64_t scale_words = ceil_div(factors * GemvProblem::kScaleBits, pim.register_bits);
    const std::int64_t share =
        words + scale_words + (pim.spill == arch::pim::Spill::Row ? p.row_blocks * results : 0);
    const std::int64_t rows =
        ceil_div(share, memory.row.count() * kBitsPerByte / pim.register_bits);
    const std::int64_t last_close = (times.write_to_precharge - pim.command_interval).count();
    turns += recovery_of_results(gemv, p, memory, pim);
    const std::int64_t of_a_bank = commands * slot + words * pim.mac_slot().count() + turns +
                                   rows * row_switch_of(memory, pim);
    // The last row of a unit's first bank closes while the other works.
    return pim.banks_per_unit * of_a_bank - (pim.banks_per_unit - 1) * times.precharge_all.count() -
           (pim.program_end == arch::pim::ProgramEnd::LastCommand ? times.precharge_all.count()
                                                                  : 0) +
           (pim.ends_at_last_command() ? 0 : last_close);
}

}  // namespace tilesim::workloads::pim::gemv
