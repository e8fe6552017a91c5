// What a placed product's commands take, from counts alone.
//
// Where the device hides some of them behind others (`overlap_row_switch`, `fold_overlaps_turn`),
// or rows of results and of mode registers come between, it is no more than they take.
#include <algorithm>
#include <vector>

#include "arch/base/clock.hpp"
#include "workloads/pim/gemv/pim_counts.hpp"
#include "workloads/pim/gemv/pim_placement.hpp"

namespace tilesim::workloads::pim::gemv {

using arch::base::ceil_div;
using arch::base::kBitsPerByte;
using arch::memory::device::MemoryConfig;
using arch::pim::ModeStep;
using arch::pim::PimConfig;
using arch::pim::ProgramEnd;
using arch::pim::Spill;

namespace {

// From the last command of a row until the first MAC of the next one.
std::int64_t row_switch_of(const MemoryConfig& memory, const PimConfig& pim) {
    const arch::pim::BankTiming times(memory.timing, pim);
    const std::int64_t spread = pim.activates_at_once
                                    ? 0
                                    : arch::pim::BankTiming::last_of_activates(
                                          memory.timing, memory.banks() / pim.banks_per_unit);
    return (times.precharge_all + times.activate_to_mac).count() + spread;
}

bool opens_a_row(const arch::pim::ModeSteps& steps) {
    return std::ranges::any_of(
        steps, [](const ModeStep& step) { return step.kind != ModeStep::Kind::Wait; });
}

// Their commands and waits alone.
std::int64_t slots_of(const arch::pim::ModeSteps& steps, std::int64_t slot) {
    std::int64_t cycles = 0;
    for (const ModeStep& step : steps) {
        const bool commands =
            step.kind == ModeStep::Kind::Visit || step.kind == ModeStep::Kind::Write;
        cycles += step.kind == ModeStep::Kind::Wait ? step.count : commands ? step.count * slot : 0;
    }
    return cycles;
}

// The commands for one of a unit's banks.
class ClosedForm {
  public:
    ClosedForm(const GemvProblem& gemv, const PimPlacement& p, const MemoryConfig& memory,
               const PimConfig& pim);

    std::int64_t cycles() const {
        return batches() + p_.row_blocks * (fold_ * slot_ + words_ * mac_slot_) +
               rows() * row_switch_ + results() + modes_of_passes();
    }
    // From the slot of the last result until the rows may close.
    std::int64_t last_close() const {
        return in_stream() ? times_.write_to_precharge.count() - slot_ : 0;
    }
    std::int64_t precharge_all() const { return times_.precharge_all.count(); }

  private:
    struct Batch {  // of inputs
        ChunkCost of_block;
        std::int64_t inputs = 0;
        std::int64_t scales = 0;  // commands of a row block
        std::int64_t folds = 0;   // likewise
    };

    std::int64_t words_for(std::int64_t factors) const {
        return ceil_div(factors * GemvProblem::kScaleBits, pim_.register_bits);
    }
    bool in_stream() const { return pim_.spill == Spill::Stream || pim_.spill == Spill::Row; }
    std::int64_t laid_out(std::int64_t blocks, std::int64_t words = 0,
                          std::int64_t factors = 0) const;
    std::int64_t rows() const;
    std::int64_t turn_after_inputs() const;
    std::int64_t turn_after_macs(std::int64_t behind) const;
    std::int64_t behind_inputs(std::int64_t loads, std::int64_t at) const;
    std::int64_t pass(std::int64_t first, std::int64_t blocks) const;
    std::int64_t batches() const;
    std::int64_t results() const;
    std::int64_t reads() const;
    std::int64_t visits() const;
    std::int64_t recovery_of_results() const;
    std::int64_t modes_of_passes() const;

    const PimPlacement& p_;
    const PimConfig& pim_;
    const arch::memory::device::DramTiming& dram_;
    arch::pim::BankTiming times_;
    std::int64_t slot_;
    std::int64_t mac_slot_;
    std::int64_t host_;
    std::int64_t change_;  // from a command to one of the other kind
    std::int64_t row_switch_;
    std::int64_t words_of_row_;
    std::int64_t passes_;
    std::int64_t fold_;     // commands of a row block
    std::int64_t results_;  // likewise
    std::vector<Batch> batches_;
    std::int64_t words_ = 0;    // multiplied, of a row block
    std::int64_t factors_ = 0;  // of a row block
};

ClosedForm::ClosedForm(const GemvProblem& gemv, const PimPlacement& p, const MemoryConfig& memory,
                       const PimConfig& pim)
    : p_(p),
      pim_(pim),
      dram_(memory.timing),
      times_(memory.timing, pim),
      slot_(pim.command_interval.count()),
      mac_slot_(pim.mac_slot().count()),
      host_(arch::base::Clock{memory.clock}.first_cycle_from(pim.host_turn).count()),
      change_(pim.mode_change.count() > 0 ? 1 + pim.mode_change.count() : 0),
      row_switch_(row_switch_of(memory, pim)),
      words_of_row_(memory.row.count() * kBitsPerByte / pim.register_bits),
      passes_(ceil_div(p.row_blocks, p.degree)),
      fold_(fold_commands(gemv, p, pim)),
      results_(results_of(gemv, p, pim)) {
    for (std::int64_t from = 0; from < p.part_k; from += p.chunk) {
        Batch batch{chunk_cost(gemv, p, from, pim), inputs_of(gemv, p, from, pim)};
        batch.scales = batch.of_block.scale_factors > 0
                           ? std::max<std::int64_t>(1, batch.of_block.scale_commands)
                           : 0;
        const std::int64_t to = std::min(from + p.chunk, p.part_k);
        batch.folds = (folds_before(p, to, pim) - folds_before(p, from, pim)) * fold_;
        words_ += batch.of_block.mac_words;
        factors_ += batch.of_block.scale_factors;
        batches_.push_back(batch);
    }
}

// Words laid out when so many row blocks are done, and so many words and factors of the next pass.
std::int64_t ClosedForm::laid_out(std::int64_t blocks, std::int64_t words,
                                  std::int64_t factors) const {
    return blocks * words_ + words + words_for(blocks * factors_ + factors) +
           (pim_.spill == Spill::Row ? blocks * results_ : 0);
}

// That are opened: those of scale factors alone are not.
std::int64_t ClosedForm::rows() const {
    const std::int64_t blocks = p_.row_blocks;
    std::int64_t end = laid_out(blocks);
    if (pim_.spill != Spill::Row) {
        const std::int64_t last = batches_.back().of_block.scale_factors;
        end = blocks * words_ + words_for(blocks * factors_ - last);
    }
    std::int64_t of_factors = 0;
    for (const Batch& batch : batches_) {
        of_factors += words_for(batch.of_block.scale_factors) / words_of_row_;
    }
    return ceil_div(end, words_of_row_) - blocks * of_factors;
}

// From the end of the last input's slot until the next MAC.
std::int64_t ClosedForm::turn_after_inputs() const {
    const std::int64_t turn =
        host_ + (pim_.bus_turnaround ? times_.write_to_mac.count() - slot_ : 0);
    return std::max({std::int64_t{0}, turn, change_ - slot_});
}

// From the end of the last MAC's slot until results or the next inputs can be written, less what
// goes behind it.
std::int64_t ClosedForm::turn_after_macs(std::int64_t behind) const {
    const std::int64_t turn = pim_.bus_turnaround ? times_.mac_to_write.count() - mac_slot_ : 0;
    return std::max({std::int64_t{0}, turn - behind, change_ - std::max(slot_, mac_slot_)});
}

// What goes while the bus turns after inputs: loads, and the row of a batch whose first word `at`
// lies in another than the MAC before, unless loads wait for the turn before it.
std::int64_t ClosedForm::behind_inputs(std::int64_t loads, std::int64_t at) const {
    const std::int64_t since_mac = words_for(batches_.front().of_block.scale_factors) +
                                   (pim_.spill == Spill::Row ? p_.degree * results_ : 0);
    const bool opens = pim_.overlap_row_switch && at % words_of_row_ <= since_mac &&
                       (loads == 0 || pim_.fold_overlaps_turn);
    const std::int64_t moves = pim_.fold_overlaps_turn ? loads * slot_ : 0;
    return std::min(turn_after_inputs(), (opens ? row_switch_ : 0) + moves);
}

// Inputs, what is done to sums before the last fold, and both turns of a pass's batches.
std::int64_t ClosedForm::pass(std::int64_t first, std::int64_t blocks) const {
    const std::int64_t loads = blocks > 1 ? pim_.accumulator_load : 0;
    std::int64_t cycles = 0;
    std::int64_t words = 0;
    std::int64_t factors = 0;
    for (const Batch& batch : batches_) {
        const bool last = &batch == &batches_.back();
        cycles += (batch.inputs + blocks * (batch.scales + batch.folds + loads)) * slot_;
        cycles += turn_after_inputs() - behind_inputs(loads, laid_out(first, words, factors));
        std::int64_t behind = batch.scales * slot_;
        if (pim_.fold_overlaps_turn) {
            behind += (batch.folds + (last ? blocks * fold_ : 0)) * slot_;
            // Sums that are read need no turn.
            behind += last && pim_.spill == Spill::Read ? times_.mac_to_write.count() : 0;
        } else if (batch.folds > 0 && pim_.bus_turnaround) {
            // Folds before the last wait for their own block's sums; those of a pass's last block
            // do so while the bus turns for the next inputs.
            cycles += (blocks - 1) *
                      std::max<std::int64_t>(0, times_.mac_to_write.count() - mac_slot_ - behind);
        }
        cycles += turn_after_macs(behind);
        words += blocks * batch.of_block.mac_words;
        factors += blocks * batch.of_block.scale_factors;
    }
    return cycles;
}

std::int64_t ClosedForm::batches() const {
    const std::int64_t rest = p_.row_blocks % p_.degree;
    const std::int64_t whole = p_.row_blocks - rest;
    std::int64_t cycles = rest > 0 ? pass(whole, rest) : 0;
    if (!pim_.overlap_row_switch) {
        return cycles + (whole > 0 ? whole / p_.degree * pass(0, p_.degree) : 0);
    }
    for (std::int64_t first = 0; first < whole; first += p_.degree) {
        cycles += pass(first, p_.degree);
    }
    return cycles;
}

std::int64_t ClosedForm::results() const {
    switch (pim_.spill) {
        case Spill::Read:
            return reads();
        case Spill::Visit:
            return visits();
        default:
            return p_.row_blocks * results_ * slot_ + recovery_of_results();
    }
}

// The host waits for the last of a pass, the next one's inputs for the bus as well.
std::int64_t ClosedForm::reads() const {
    const std::int64_t latency = pim_.result_latency.count() > 0
                                     ? pim_.result_latency.count()
                                     : (dram_.read_latency + dram_.burst).count();
    const std::int64_t turn =
        pim_.bus_turnaround && !opens_a_row(pim_.modes.off) ? times_.mac_to_write.count() : 0;
    return p_.row_blocks * results_ * slot_ + std::max(latency, slot_) - slot_ +
           (passes_ - 1) * (std::max({latency, turn, slot_}) - slot_);
}

// Rows of results are opened and closed again.
std::int64_t ClosedForm::visits() const {
    const std::int64_t packed = pim_.spill_packed ? ceil_div(p_.lanes, p_.m) : 1;
    const std::int64_t of_visit = packed * p_.degree;
    const std::int64_t registers =
        (p_.row_blocks / of_visit * p_.degree + ceil_div(p_.row_blocks % of_visit, packed)) *
        results_;
    const std::int64_t opens = pim_.overlap_row_switch ? 0 : times_.activate_to_write.count();
    return registers * slot_ +
           ceil_div(p_.row_blocks, of_visit) * (opens + times_.write_to_precharge.count() - slot_);
}

// CK by which a row closes later because results were written to it shortly before its end: after
// the last of them come the next pass's inputs, and MACs up to the end of the row.
std::int64_t ClosedForm::recovery_of_results() const {
    if (opens_a_row(pim_.modes.off)) {
        return 0;
    }
    std::int64_t waits = 0;
    for (std::int64_t done = p_.degree; done < p_.row_blocks; done += p_.degree) {
        const std::int64_t loads =
            std::min(p_.degree, p_.row_blocks - done) > 1 ? pim_.accumulator_load : 0;
        const std::int64_t before_end =
            std::max(slot_, change_) + (batches_.front().inputs + loads) * slot_ +
            turn_after_inputs() +
            (words_of_row_ - laid_out(done) % words_of_row_) % words_of_row_ * mac_slot_;
        waits += std::max<std::int64_t>(0, times_.write_to_precharge.count() - before_end);
    }
    return waits;
}

// Changes of mode around each pass: their commands, the row they are written to behind it, and the
// row of the weights again, where the next pass begins within one.
std::int64_t ClosedForm::modes_of_passes() const {
    const std::int64_t slots =
        passes_ * (slots_of(pim_.modes.on, slot_) + slots_of(pim_.modes.off, slot_));
    if (!opens_a_row(pim_.modes.off)) {
        return slots;
    }
    std::int64_t again = 0;
    for (std::int64_t done = p_.degree; done < p_.row_blocks; done += p_.degree) {
        again += laid_out(done) % words_of_row_ != 0 && !pim_.overlap_row_switch ? row_switch_ : 0;
    }
    return slots + again +
           passes_ * (last_close() + (times_.precharge_all + times_.activate_to_write).count());
}

}  // namespace

std::int64_t overlap_of_vectors(const MemoryConfig& memory, const PimConfig& pim) {
    const bool row_stays = pim.program_end == ProgramEnd::LastCommand;
    return row_stays || pim.mode_change.count() > 0
               ? pim.banks_per_unit * row_switch_of(memory, pim)
               : 0;
}

std::int64_t closed_form_cycles(const GemvProblem& gemv, const PimPlacement& p,
                                const MemoryConfig& memory, const PimConfig& pim) {
    const ClosedForm form(gemv, p, memory, pim);
    // The last row of a unit's first bank closes while the other works.
    return pim.banks_per_unit * form.cycles() - (pim.banks_per_unit - 1) * form.precharge_all() -
           (pim.program_end == ProgramEnd::LastCommand ? form.precharge_all() : 0) +
           (pim.ends_at_last_command() ? 0 : form.last_close());
}

}  // namespace tilesim::workloads::pim::gemv
