#include "workloads/pim/gemv/natural_gemv_data.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "arch/base/config.hpp"
#include "workloads/pim/gemv/natural_lowering.hpp"
#include "workloads/pim/gemv/pim_gemv_testing.hpp"

namespace tilesim::workloads::pim::gemv {
namespace {

using arch::base::DataType;
using arch::pim::PimCommand;
using arch::pim::PimConfig;
using arch::pim::PimOp;

PimConfig of_aim() {
    PimConfig config;
    config.reduction_tree = true;
    config.spill = arch::pim::Spill::Read;
    return config;
}

PimConfig of_hbm_pim() {
    PimConfig config;
    config.banks_per_unit = 2;
    config.registers = 4;
    config.output_registers = 8;
    return config;
}

using Lower = decltype(&lower_bank_rows);
using Keeps = std::function<bool(const PimCommand&)>;

bool everything(const PimCommand& /*command*/) {
    return true;
}

// What the commands make of random numbers, those left out that are not kept.
ProductCheck result_of(const GemvProblem& gemv, Lower lower, const PimConfig& pim,
                       const Keeps& keeps = everything, std::int64_t vectors = 1) {
    const auto memory = lpddr();
    const auto program = lower(gemv, vectors, memory, pim);
    NaturalGemv data(gemv, vectors, program, lower == &lower_tile_pairs ? 2 : 1, memory, pim, 7);
    for (std::size_t channel = 0; channel < static_cast<std::size_t>(memory.channels); ++channel) {
        for (const PimCommand& command : program.commands) {
            if (keeps(command)) {
                data.on_pim_command(channel, command);
            }
        }
    }
    return data.check();
}

struct Types {
    DataType weights, input, accumulate;
};

TEST(NaturalGemv, ProductsOfEveryShapeAndTypeAreRight) {
    PimConfig taking_turns = of_aim();
    taking_turns.banks_per_unit = 2;
    PimConfig few_inputs = of_aim();
    few_inputs.registers = 6;
    for (const auto& [weights, input, accumulate] :
         {Types{DataType::Int8, DataType::Int8, DataType::Int16},
          Types{DataType::Int4, DataType::Int8, DataType::Int16},
          Types{DataType::Int8, DataType::Int8, DataType::Int32},
          Types{DataType::Bf16, DataType::Bf16, DataType::Bf16},
          Types{DataType::F16, DataType::F16, DataType::F32}}) {
        for (const auto& [m, k] : {std::pair{1, 1}, {300, 700}, {1025, 64}}) {
            const GemvProblem gemv{m, k, weights, input, accumulate};
            for (const auto& check : {result_of(gemv, lower_bank_rows, of_aim()),
                                      result_of(gemv, lower_bank_rows, taking_turns),
                                      result_of(gemv, lower_bank_rows, few_inputs),
                                      result_of(gemv, lower_tile_pairs, of_hbm_pim())}) {
                EXPECT_TRUE(check.match) << m << " x " << k << ": " << check.first_mismatch;
                EXPECT_EQ(check.checked, m);
            }
        }
    }
}

// Two or three share a pass, of which the last is not full.
TEST(NaturalGemv, EveryVectorOfAProductIsRight) {
    const GemvProblem gemv{300, 700};
    PimConfig aim = of_aim();
    PimConfig hbm_pim = of_hbm_pim();
    for (const std::int64_t alus : {1, 2, 3}) {
        aim.alus = hbm_pim.alus = alus;
        for (const auto& check : {result_of(gemv, lower_bank_rows, aim, everything, 5),
                                  result_of(gemv, lower_tile_pairs, hbm_pim, everything, 5)}) {
            EXPECT_TRUE(check.match) << check.first_mismatch;
            EXPECT_EQ(check.checked, 5 * gemv.m);
        }
    }
}

// Of these commands, all counts together.
std::int64_t count_of(const arch::pim::PimProgram& program, PimOp op) {
    std::int64_t count = 0;
    for (const PimCommand& command : program.commands) {
        count += command.op == op ? command.count : 0;
    }
    return count;
}

// Their words are read once; every vector has its inputs and its sums.
TEST(NaturalGemv, VectorsWithAnAluEachShareAPass) {
    const GemvProblem gemv{300, 700};
    const auto expect_shared = [&](Lower lower, PimConfig pim, PimOp leave) {
        const auto alone = lower(gemv, 1, lpddr(), pim);
        pim.alus = 2;
        const auto together = lower(gemv, 2, lpddr(), pim);
        EXPECT_EQ(count_of(together, PimOp::Mac), count_of(alone, PimOp::Mac));
        EXPECT_EQ(count_of(together, PimOp::WriteInputs), 2 * count_of(alone, PimOp::WriteInputs));
        EXPECT_EQ(count_of(together, leave), 2 * count_of(alone, leave));
    };
    expect_shared(lower_bank_rows, of_aim(), PimOp::ReadResults);
    expect_shared(lower_tile_pairs, of_hbm_pim(), PimOp::Spill);
}

TEST(NaturalGemv, WhatIsLeftOutIsMissed) {
    const GemvProblem gemv{512, 512};
    int macs = 0;
    const Keeps one_less = [&macs](const PimCommand& command) {
        return command.op != PimOp::Mac || macs++ > 0;
    };
    EXPECT_FALSE(result_of(gemv, lower_bank_rows, of_aim(), one_less).match);
    macs = 0;
    EXPECT_FALSE(result_of(gemv, lower_tile_pairs, of_hbm_pim(), one_less).match);
    const auto without = [](PimOp op) {
        return [op](const PimCommand& command) { return command.op != op; };
    };
    using testing::HasSubstr;
    EXPECT_THAT(
        result_of(gemv, lower_bank_rows, of_aim(), without(PimOp::ReadResults)).first_mismatch,
        HasSubstr("row 0 of vector 0 has not left"));
    EXPECT_THAT(
        result_of(gemv, lower_tile_pairs, of_hbm_pim(), without(PimOp::Spill)).first_mismatch,
        HasSubstr("row 0 of vector 0 has not left"));
}

}  // namespace
}  // namespace tilesim::workloads::pim::gemv
