// Every number of every device is felt by a small scenario, or the results name it as one that
// could not matter.
//
// A number is changed by ten percent, then halved and doubled, then divided and multiplied by
// eight. It is felt where any of these changes a result, or keeps what was asked for from being
// built on the device (a limit that is needed whole). What none of a device's scenarios feels has
// to be named by each of them. Not felt and not named in one is fair where another one feels it:
// there something longer hides it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/base/temporary_folder_testing.hpp"
#include "sim/explore/sensitivity.hpp"
#include "sim/scenario.hpp"

namespace tilesim::sim::explore {
namespace {

struct Small {
    const char* scenario;  // but for its device
    Settings sized = {};   // of the device, what is made small enough for little to fill it
};

struct Swept {
    const char* device;
    std::vector<Small> scenarios;
};

void PrintTo(const Swept& swept, std::ostream* out) {
    *out << swept.device;
}

// --- the memory alone ---

const Small kMixed{
    "workload: {memory_stream: {pattern: random, requests: 2000, write_permille: 300}}"};
// Writes that fill their queue, in few rows.
const Small kTurns{
    "workload: {memory_stream: {pattern: random, requests: 2000, write_permille: 700, "
    "range: 16 MiB, outstanding: 1000}}"};

// --- arrays ---

// A shim in every column, as a product on neighbouring columns needs.
const Small kFourCores{
    "workload: {gemm: {M: 64, K: 128, N: 64, a: int8, b: int8, c: int32}}, "
    "mapping: {output_stationary: {m_ct: 32, k_ct: 32, n_ct: 32, k_mt: 64, c_buffers: 1, "
    "columns: 2, rows: 2}}",
    {{"device.npu.columns", "4"}, {"device.npu.shim_columns", "[]"}}};
// One core that is fed faster than it computes: its streams wait for its DMA.
const Small kOneCore{
    "workload: {gemm: {M: 128, K: 512, N: 16, a: int8, b: int8, c: int8}}, "
    "mapping: {output_stationary: {m_ct: 128, k_ct: 32, n_ct: 16, k_mt: 512, columns: 1, "
    "rows: 1}}"};
// Operands that lie one behind the other over the ends of banks, from where the stack ends.
const Small kOverBanks{
    "workload: {gemm: {M: 64, K: 256, N: 128, a: int8, b: int8, c: int32}}, "
    "mapping: {weight_stationary: {m_ct: 16, k_ct: 256, n_ct: 128, columns: 1, rows: 1}}"};
const Small kStreamFed{
    "workload: {gemm: {M: 40, K: 50, N: 30, a: int16, b: int16, c: int16, b_layout: row_major}}, "
    "mapping: {gotoblas: {m_r: 16, n_r: 4, m_c: 32, n_c: 24, k_c: 32, b_buffers: 2}}",
    {{"device.npu.columns", "4"},
     {"device.npu.shim_columns", "[2, 3]"},
     {"device.fabric.link_width", "8 B/cycle"}}};
// One call, of which the rest of the device knows nothing.
const Small kTileCall{"workload: {core_kernel: {m: 64, k: 64, n: 64, a: int8, b: int8, c: int32}}"};
const Small kStreamCall{
    "workload: {core_kernel: {m: 16, k: 64, n: 4, a: int16, b: int16, c: int16}}"};

// --- processing in memory ---

const Small kBalanced{
    "workload: {gemv: {M: 2304, K: 768, scale_block: 32}}, mapping: {pimnast: {}}"};
const Small kBalancedWithoutScale{"workload: {gemv: {M: 2304, K: 768}}, mapping: {pimnast: {}}"};
const Small kBankRows{
    "workload: {gemv: {M: 1024, K: 1024, weights: bf16, input: bf16, accumulate: bf16}}, "
    "mapping: {bank_rows: {}}"};
const Small kTilePairs{
    "workload: {gemv: {M: 4096, K: 256, weights: f16, input: f16, accumulate: f16}}, "
    "mapping: {tile_pairs: {}}"};

// --- cores with tiles ---

const std::pair<std::string, std::string> kSmallL3{"device.amx.uncore.l3.size", "960 KiB"};
const Small kNear{
    "workload: {gemm: {M: 64, K: 64, N: 64, a: int8, b: int8, c: int32}}, "
    "mapping: {amx: {m_acc: 2, n_acc: 2, data_in: l2}}",
    {kSmallL3}};
// Weights that are widened first, through caches and tables of pages that they fill.
const Small kFar{
    "workload: {gemm: {M: 32, K: 512, N: 128, a: bf16, b: int8, c: f32}}, "
    "mapping: {amx: {m_acc: 2, n_acc: 2, data_in: dram, decompress: interleaved, "
    "prefetch_next: on, repeat: 2}}",
    {{"device.amx.caches.l2.size", "64 KiB"},
     {"device.amx.pages.first.entries", "12"},
     {"device.amx.pages.second.entries", "16"},
     {"device.amx.uncore.l3.size", "120 KiB"},
     {"device.amx.window.reorder_buffer", "128"}}};
const Small kPost{
    "workload: {gemm: {M: 64, K: 128, N: 64, a: int8, b: int8, c: int8}}, "
    "mapping: {amx: {m_acc: 2, n_acc: 2, data_in: l2, post: interleaved}}",
    {kSmallL3}};
// Cores that read the same lines of the L3.
const Small kTogether{
    "workload: {gemm: {M: 256, K: 128, N: 128, a: int8, b: int8, c: int32}}, "
    "mapping: {amx: {m_acc: 2, n_acc: 2, data_in: l3, threads: 8, partition: m}}",
    {kSmallL3}};
// As many scalar instructions as enter the window.
constexpr const char* kScalars =
    "loop i 100\nscalar\nscalar\nscalar\nscalar\nscalar\nscalar\nscalar\nend\n";
const Small kScalar{"workload: {amx_program: {file: scalars.amx, data_in: l1}}", {kSmallL3}};

const Swept kDevices[] = {
    {"ddr4_2400", {kMixed, kTurns}},
    {"ddr4_3200", {kMixed, kTurns}},
    {"ddr5_4800", {kMixed, kTurns}},
    {"ddr5_5600", {kMixed, kTurns}},
    {"emerald_rapids", {kNear, kFar, kPost, kScalar, kTogether, kMixed, kTurns}},
    {"gddr6_14", {kMixed, kTurns}},
    {"gddr6_16", {kMixed, kTurns}},
    {"gddr6_aim", {kBankRows, kMixed, kTurns}},
    {"hbm2_2000", {kMixed, kTurns}},
    {"hbm3_6400", {kMixed, kTurns}},
    {"hbm_pim", {kTilePairs, kMixed}},
    {"lpddr4_3200", {kMixed, kTurns}},
    {"lpddr5_3200", {kMixed, kTurns}},
    {"lpddr5_6400", {kMixed, kTurns}},
    {"lpddr5x_7500", {kMixed, kTurns}},
    {"lpddr5x_aim", {kBalancedWithoutScale, kMixed}},
    {"lpddr5x_pim", {kBalanced, kMixed}},
    {"sapphire_rapids", {kNear, kFar, kPost, kScalar, kTogether, kMixed, kTurns}},
    {"vck190", {kStreamFed, kStreamCall, kMixed}},
    {"ve2302", {kFourCores, kOverBanks, kTileCall, kMixed}},
    {"ve2802", {kFourCores, kOverBanks, kTileCall, kMixed}},
    {"ve3858", {kFourCores, kOverBanks, kTileCall, kMixed}},
    {"xdna", {kFourCores, kOverBanks, kTileCall, kMixed}},
    {"xdna2", {kFourCores, kOverBanks, kTileCall, kMixed, kOneCore}},
};

class EveryKey : public testing::TestWithParam<Swept> {
  protected:
    void sweep(const Job& job) {
        std::set<std::string> silent = left_;  // neither felt nor named here
        if (swept_once_) {
            for (const std::string& key : named_by(job)) {
                silent.erase("device." + key);
            }
        }
        std::set<std::string> built;
        for (const double percent : {10.0, 100.0, 700.0}) {
            const bool first = !std::exchange(swept_once_, true);
            for (const Sensitivity& number :
                 sensitivity(job, percent, 1, first ? nullptr : &silent).parameters) {
                if (first) {
                    silent.insert(number.key);
                    left_.insert(number.key);
                }
                if (felt(job, number, built)) {
                    left_.erase(number.key);
                    silent.erase(number.key);
                } else if (number.not_exercised) {
                    silent.erase(number.key);
                }
            }
        }
        std::set_intersection(silent.begin(), silent.end(), built.begin(), built.end(),
                              std::inserter(hidden_, hidden_.end()));
    }
    // Neither felt by any nor named by each.
    std::set<std::string> hidden() const {
        std::set<std::string> keys;
        std::set_intersection(hidden_.begin(), hidden_.end(), left_.begin(), left_.end(),
                              std::inserter(keys, keys.end()));
        return keys;
    }

  private:
    static std::vector<std::string> named_by(const Job& job) {
        return simulate_all({job}, 1)[0].result.value("not_exercised", std::vector<std::string>{});
    }
    // Whether there can be a device with this number, whatever it is to do.
    static bool can_be(const Job& job, const std::string& key, const std::string& value) {
        Settings overrides = job.overrides;
        overrides.emplace_back(key, value);
        try {
            parse_scenario(
                fmt::format("{{device: {}, workload: {{memory_stream: {{}}}}}}", GetParam().device),
                job.file, overrides);
        } catch (const arch::base::config::ConfigError&) {
            return false;
        }
        return true;
    }
    static bool felt(const Job& job, const Sensitivity& number, std::set<std::string>& built) {
        bool any = false;
        for (const Change* change : {&number.smaller, &number.larger}) {
            EXPECT_FALSE(change->differs && number.not_exercised)
                << number.key << " is named, but " << change->value << " is felt";
            const bool refused = !change->refused.empty();
            if (!refused || can_be(job, number.key, change->value)) {
                built.insert(number.key);
                any = any || refused || change->differs;
            }
        }
        return any;
    }

    bool swept_once_ = false;
    std::set<std::string> left_;    // felt by no scenario so far
    std::set<std::string> hidden_;  // neither felt nor named by one
};

TEST_P(EveryKey, IsFeltOrNamed) {
    const arch::base::TemporaryFolder folder;
    std::ofstream(folder.path() / "scalars.amx") << kScalars;
    for (const Small& small : GetParam().scenarios) {
        sweep({fmt::format("{{device: {}, {}}}\n", GetParam().device, small.scenario),
               folder.path() / "small.yaml", small.sized});
    }
    EXPECT_THAT(hidden(), testing::IsEmpty());
}

TEST(EveryKeyOfEveryDevice, IsSwept) {
    std::set<std::string> shipped;
    for (const auto& file : std::filesystem::directory_iterator(
             std::filesystem::path{TILESIM_SOURCE_DIR} / "configs" / "devices")) {
        shipped.insert(file.path().stem());
    }
    std::set<std::string> swept;
    for (const Swept& each : kDevices) {
        swept.insert(each.device);
    }
    EXPECT_EQ(swept, shipped);
}

INSTANTIATE_TEST_SUITE_P(Devices, EveryKey, testing::ValuesIn(kDevices),
                         [](const auto& each) { return std::string{each.param.device}; });

}  // namespace
}  // namespace tilesim::sim::explore
