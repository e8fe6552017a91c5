#include "arch/npu/core/kernel_calls.hpp"

#include <gmock/gmock.h>

#include "arch/npu/core/core_testing.hpp"

namespace tilesim::arch::npu::core {
namespace {

using ::testing::ElementsAre;
using testing::kTile;
using ::testing::Pair;

constexpr std::int64_t kCall = 13;
constexpr std::int64_t kStated = 29;
constexpr std::int64_t kStoreWidth = 19;  // bytes

program::Kernel kernel(program::KernelKind kind, std::optional<std::int64_t> cycles = {}) {
    program::Kernel result;
    result.kind = kind;
    result.m = 4;
    result.k = 24;
    result.n = 8;
    result.cycles = cycles;
    return result;
}

struct Bench {
    // `buffers`: one rotation of them is the kernel's every operand; functional mode then.
    explicit Bench(const program::Kernel& kernel, std::vector<program::Buffer> buffers = {})
        : Bench(kernel, std::move(buffers), {{"c", {0, 1}}}, {0}, true) {}
    // Timing mode: A takes turns in the first two buffers, B and C have one each.
    static Bench multiplication(const program::Kernel& kernel,
                                std::vector<program::Buffer> buffers) {
        return Bench(kernel, std::move(buffers), {{"a", {0, 1}}, {"b", {2}}, {"c", {3}}}, {0, 1, 2},
                     false);
    }
    Bench(const program::Kernel& kernel, std::vector<program::Buffer> buffers,
          std::vector<program::Rotation> turns, std::vector<std::int64_t> operands_of_call,
          bool functional)
        : program(testing::with_buffers(std::move(buffers))) {
        config.kernels.store_width = base::BytesPerCycle{kStoreWidth};
        config.kernels.modes = {{}};
        config.kernels.modes[0].fill_drain = base::Cycles{31};
        program.kernels = {kernel};
        account.connect(&states);
        if (!program.buffers.empty()) {
            if (functional) {
                memory.emplace(config, program);
            }
            rotations.rotations = std::move(turns);
            call.operands = std::move(operands_of_call);
            call.advance = {0};
        }
        operands.emplace(rotations, timing, memory ? &*memory : nullptr);
        calls.emplace(program, kTile, config, timing, ports, time.scheduler, *operands, nullptr,
                      account, core);
    }
    void run() {
        calls->begin(call);
        time.run();
        account.finish(time.scheduler.now());
    }
    NpuConfig config = testing::core_config();
    program::Program program;
    program::CoreProgram rotations{kTile, {}, {}};
    program::CallOp call{0, {}, {}};
    testing::Timeline time;
    testing::States states{time};
    base::stats::Group root{""};
    CoreAccount account{time.scheduler, root};
    testing::Core core{time};
    KernelTiming timing{config.kernels};
    CorePorts ports{config.core, time.scheduler};
    std::optional<tile::TileMemory> memory;
    std::optional<CoreOperands> operands;
    std::optional<KernelCalls> calls;
};

TEST(KernelCalls, AKernelRunsAfterItsCallForAsLongAsItStates) {
    Bench b(kernel(program::KernelKind::Fixed, kStated));
    b.run();
    EXPECT_THAT(b.states.entered, ElementsAre(Pair(0, "call"), Pair(kCall, "fixed_kernel")));
    EXPECT_THAT(b.core.done, ElementsAre(kCall + kStated));
}

TEST(KernelCalls, TheScriptsOwnInstructionsAreNotCalled) {
    Bench b(kernel(program::KernelKind::Inline, kStated));
    b.run();
    EXPECT_THAT(b.states.entered, ElementsAre(Pair(0, "call"), Pair(0, "fixed_kernel")));
    EXPECT_THAT(b.core.done, ElementsAre(kStated));
}

TEST(KernelCalls, ZeroStoresItsTileAVectorACycle) {
    Bench b(kernel(program::KernelKind::Zero));
    b.run();
    EXPECT_THAT(b.states.entered, ElementsAre(Pair(0, "call"), Pair(kCall, "zero")));
    EXPECT_THAT(b.core.done, ElementsAre(kCall + 2));  // 32 B, 19 a cycle
}

TEST(KernelCalls, ClearingIsNoWork) {
    for (const auto kind : {program::KernelKind::Zero, program::KernelKind::Add}) {
        Bench b(kernel(kind));
        b.run();
        EXPECT_EQ(b.account.stats().calls.value(), 1);
        EXPECT_EQ(b.account.working_calls(), kind == program::KernelKind::Zero ? 0 : 1);
    }
}

TEST(KernelCalls, AddingIsCountedByItself) {
    for (const auto kind : {program::KernelKind::Add, program::KernelKind::AddValue}) {
        Bench b(kernel(kind));
        b.run();
        EXPECT_THAT(b.states.entered, ElementsAre(Pair(0, "call"), Pair(kCall, "add")));
        EXPECT_THAT(b.core.done, ElementsAre(kCall + 2));
        EXPECT_EQ(b.account.stats().macs.value(), 0);
    }
}

// A in turn in two banks, B in the second; C, whose place does not matter, in the first.
std::vector<program::Buffer> operands_of_multiplication(std::int64_t bank) {
    return {{"ping", kTile, 0, 4 * 24},
            {"pong", kTile, bank, 4 * 24},
            {"b", kTile, bank + 4 * 24, 24 * 8},
            {"c", kTile, 4 * 24, 4 * 8}};
}

TEST(KernelCalls, AMultiplicationTakesWhatItsLoopsTake) {
    const std::int64_t bank = testing::core_config().core.bank.count();
    Bench b = Bench::multiplication(kernel(program::KernelKind::Multiply),
                                    operands_of_multiplication(bank));
    b.run();
    EXPECT_THAT(b.states.entered, ElementsAre(Pair(0, "call"), Pair(kCall, "multiply")));
    // One 4 x 8 x 8 mmul in each of 3 steps, which wait 2 cycles for their accumulator; C's 32 B
    // loaded in one cycle and stored in two; filling and draining the pipeline.
    EXPECT_THAT(b.core.done, ElementsAre(kCall + 3 * 2 + 1 + 2 + 31));
    EXPECT_EQ(b.account.stats().calls.value(), 1);
    EXPECT_EQ(b.account.stats().macs.value(), 4 * 24 * 8);
}

TEST(KernelCalls, AMultiplicationTakesLongerWhenItsTurnsPutAAndBInOneBank) {
    const std::int64_t bank = testing::core_config().core.bank.count();
    Bench b = Bench::multiplication(kernel(program::KernelKind::Multiply),
                                    operands_of_multiplication(bank));
    constexpr std::int64_t kApart = kCall + 3 * 2 + 1 + 2 + 31;
    // In each of 3 steps the one load of A's 4 x 8 B goes with one of B's two.
    constexpr std::int64_t kTogether = kApart + 3;
    std::int64_t end = 0;
    for (const std::int64_t taken : {kApart, kTogether, kApart}) {
        b.run();
        end += taken;
        EXPECT_EQ(b.core.done.back(), end);
    }
}

// A in the second bank, B in turn in the first one and there.
TEST(KernelCalls, TurnsOfBChangeAMultiplicationsBanksToo) {
    const std::int64_t bank = testing::core_config().core.bank.count();
    Bench b(kernel(program::KernelKind::Multiply),
            {{"a", kTile, bank, 4 * 24},
             {"ping", kTile, 0, 24 * 8},
             {"pong", kTile, bank + 4 * 24, 24 * 8},
             {"c", kTile, 24 * 8, 4 * 8}},
            {{"a", {0}}, {"b", {1, 2}}, {"c", {3}}}, {0, 1, 2}, false);
    b.call.advance = {1};
    constexpr std::int64_t kApart = kCall + 3 * 2 + 1 + 2 + 31;
    std::int64_t end = 0;
    for (const std::int64_t taken : {kApart, kApart + 3, kApart}) {
        b.run();
        end += taken;
        EXPECT_EQ(b.core.done.back(), end);
    }
}

// Three steps, and one.
TEST(KernelCalls, KernelsOnTheSameBuffersTakeTheirOwnTimes) {
    const std::int64_t bank = testing::core_config().core.bank.count();
    Bench b = Bench::multiplication(kernel(program::KernelKind::Multiply),
                                    operands_of_multiplication(bank));
    b.call.advance.clear();
    program::Kernel shorter = kernel(program::KernelKind::Multiply);
    shorter.k = 8;
    b.program.kernels.push_back(shorter);
    b.calls.emplace(b.program, kTile, b.config, b.timing, b.ports, b.time.scheduler, *b.operands,
                    nullptr, b.account, b.core);
    b.run();
    b.call.kernel = 1;
    b.run();
    constexpr std::int64_t kFirst = kCall + 3 * 2 + 1 + 2 + 31;
    EXPECT_THAT(b.core.done, ElementsAre(kFirst, kFirst + kCall + 2 + 1 + 2 + 31));
}

TEST(KernelCalls, BanksOfDifferentTilesDoNotMeet) {
    auto buffers = operands_of_multiplication(testing::core_config().core.bank.count());
    buffers[2].tile = {kTile.column, kTile.row + 1};
    Bench b = Bench::multiplication(kernel(program::KernelKind::Multiply), std::move(buffers));
    b.run();
    b.run();
    EXPECT_EQ(b.core.done.back(), 2 * (kCall + 3 * 2 + 1 + 2 + 31));
}

TEST(KernelCalls, AKernelMayStateItsCyclesInsteadOfTheTimingModels) {
    Bench b(kernel(program::KernelKind::Multiply, kStated));
    b.run();
    EXPECT_THAT(b.states.entered, ElementsAre(Pair(0, "call"), Pair(kCall, "multiply")));
    EXPECT_THAT(b.core.done, ElementsAre(kCall + kStated));
    EXPECT_EQ(b.account.stats().macs.value(), 4 * 24 * 8);
}

TEST(KernelCalls, ItsOperandsRotateWhenItHasFinished) {
    Bench b(kernel(program::KernelKind::Zero), {{"ping", kTile, 0, 32}, {"pong", kTile, 64, 32}});
    b.memory->buffer(0)[3] = std::byte{5};
    b.memory->buffer(1)[3] = std::byte{7};
    b.calls->begin(b.call);
    b.time.run_to(kCall + 1);
    EXPECT_EQ(b.operands->buffer(0), 0);
    EXPECT_EQ(b.memory->buffer(0)[3], std::byte{5});
    b.time.run();
    EXPECT_EQ(b.operands->buffer(0), 1);
    EXPECT_EQ(b.memory->buffer(0)[3], std::byte{0});
    EXPECT_EQ(b.memory->buffer(1)[3], std::byte{7});
    b.run();
    EXPECT_EQ(b.memory->buffer(1)[3], std::byte{0});
    EXPECT_EQ(b.account.stats().calls.value(), 2);
}

}  // namespace
}  // namespace tilesim::arch::npu::core
