#include "arch/pim/pim_use.hpp"

#include <algorithm>
#include <initializer_list>

#include "arch/base/units.hpp"

namespace tilesim::arch::pim {

namespace {

// Rows up to the last that the program touches.
std::int64_t rows_of(const PimProgram& program) {
    std::int64_t words = 0;
    for (const PimCommand& command : program.commands) {
        words = std::max(words, touches_array(command.op) ? command.word + command.count : 0);
    }
    return words > 0 ? base::ceil_div(words, program.words_per_row) : 0;
}

}  // namespace

std::vector<std::string> not_exercised(const PimConfig& config, const PimProgram& program,
                                       std::int64_t rows) {
    const auto has = [&program](auto holds) {
        return std::any_of(program.commands.begin(), program.commands.end(), holds);
    };
    const auto uses = [&has](std::initializer_list<PimOp> ops) {
        return has([ops](const PimCommand& command) {
            return std::find(ops.begin(), ops.end(), command.op) != ops.end();
        });
    };
    const auto for_purpose = [&has](PimCommand::Purpose purpose) {
        return has([purpose](const PimCommand& command) {
            return command.op == PimOp::Alu && command.purpose == purpose;
        });
    };
    std::vector<std::string> names;
    const auto name_if = [&names](bool unused, const char* key) {
        if (unused) {
            names.emplace_back(key);
        }
    };
    const bool macs = uses({PimOp::Mac});
    const bool reads_rows = macs || uses({PimOp::LoadOutputs, PimOp::ReadBank, PimOp::ReadBanks});
    const bool writes_rows = uses(
        {PimOp::Spill, PimOp::SpillVisit, PimOp::WriteBank, PimOp::ModeVisit, PimOp::ModeWrite});
    const bool reads = reads_rows || uses({PimOp::ReadResults});
    const bool turns = config.bus_turnaround;
    name_if(!reads_rows, "pim.mac_to_precharge");
    name_if(!macs, "pim.mac_interval");
    name_if(!reads_rows && !writes_rows, "pim.activate_to_mac");
    name_if(!reads || !turns, "pim.mac_to_write");
    name_if(!turns, "pim.write_to_mac");
    name_if(!writes_rows, "pim.write_to_precharge");
    name_if(!reads || !turns, "pim.drain");
    name_if(!uses({PimOp::WriteInputs, PimOp::WriteBankInputs}), "pim.host_turn");
    name_if(!uses({PimOp::Barrier}), "pim.barrier");
    name_if(!uses({PimOp::ReadResults, PimOp::ReadBank}), "pim.result_latency");
    name_if(!uses({PimOp::ReadResults}), "pim.result_bits");
    name_if(!for_purpose(PimCommand::Purpose::Fold), "pim.fold_every");
    name_if(!for_purpose(PimCommand::Purpose::Load), "pim.accumulator_load");
    name_if(!for_purpose(PimCommand::Purpose::Scale), "pim.scale_commands");
    name_if(!for_purpose(PimCommand::Purpose::Scale), "pim.scale_sets");
    name_if(!has([](const PimCommand& command) {
        return command.op == PimOp::Mac && !command.banks.one();
    }),
            "pim.banks_per_unit");
    // Half as many would do; the last row switches modes.
    name_if(2 * rows_of(program) < rows, "memory.rows");
    return names;
}

}  // namespace tilesim::arch::pim
