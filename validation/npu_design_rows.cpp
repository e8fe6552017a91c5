#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "arch/base/config.hpp"
#include "arch/host/host_profile.hpp"
#include "sim/session/session.hpp"
#include "validation/rows.hpp"

namespace tilesim::validation {

namespace {

constexpr double kNanosecondsPerMicrosecond = 1e3;
constexpr const char* kGemvTypes = "bf16/bf16";
// Shorter ones are mostly launch, and are counted apart.
constexpr double kDispatches = 3;

// A scenario, and the machine of the row.
struct Launch {
    std::string text;
    std::string host_profile;
};

double time_us(const Launch& launch) {
    const workloads::Overrides settings{{"device.host.profile", launch.host_profile}};
    return sim::session::run(sim::parse_scenario(launch.text, "reference row", settings)).time_ns /
           kNanosecondsPerMicrosecond;
}

double dispatch_us(const std::string& host_profile) {
    constexpr double kFemtosecondsPerMicrosecond = 1e9;
    for (const arch::host::HostProfile& profile : arch::host::host_profiles()) {
        if (profile.name == host_profile) {
            return static_cast<double>(profile.dispatch.count()) / kFemtosecondsPerMicrosecond;
        }
    }
    throw arch::base::config::IoError(
        fmt::format("designs.csv: no host profile '{}'", host_profile));
}

// What designs.csv says of a row's design.
const Record& design_of(const std::vector<Record>& designs, const std::string& device,
                        const std::string& name) {
    for (const Record& design : designs) {
        if (design.at("device") == device && design.at("design") == name) {
            return design;
        }
    }
    throw arch::base::config::IoError(fmt::format("designs.csv has no {} on {}", name, device));
}

Launch gemv_launch(const Record& design, const std::string& rows, const std::string& elements,
                   const std::string& mapping) {
    return {fmt::format("device: {}\nworkload: {{gemv: {{M: {}, K: {}, weights: bf16, input: bf16, "
                        "accumulate: bf16}}}}\n"
                        "mapping: {{gemv: {{{}}}, kernel_permille: {}}}\n",
                        design.at("device"), rows, elements, mapping, design.at("kernel_permille")),
            design.at("host_profile")};
}

// Steps of a launch loop that mlir-air's compiler puts into one group, whose transfers it queues
// together and awaits together: the largest divisor of their number up to the tiling it is given.
std::int64_t grouped(std::int64_t steps, std::int64_t tiling) {
    while (steps % tiling != 0) {
        --tiling;
    }
    return tiling;
}

std::string iron_gemv_mapping(const Record& r) {
    return fmt::format("columns: {}, rows_per_call: {}, rows_per_core: {}, path: direct",
                       r.at("columns"), r.at("rows_per_call"), r.at("rows_per_core"));
}

// Groups of up to four steps; no buffer is doubled (matvec.py: omit_pingpong,
// runtime_loop_tiling_sizes).
std::string air_gemv_mapping(const Record& r) {
    return fmt::format(
        "columns: {}, rows_per_call: {}, rows_per_core: {}, path: memory_tile, order: in_turn, "
        "vector: each_call, one_vector_stream: on, a_buffers: 1, y_buffers: 1, panels: 1, "
        "reach: {}, in_flight: 1",
        r.at("columns"), r.at("rows_per_call"), r.at("rows_per_core"),
        grouped(r.integer("grid"), 4));
}

Task latency_task(const Record& r, const Record& design, std::string id, const std::string& group) {
    const double measured = r.number("value");
    const bool is_short = measured < kDispatches * dispatch_us(design.at("host_profile"));
    Task task;
    task.row = {std::move(id),
                r.at("device"),
                r.at("unit"),
                measured,
                0,
                r.at("use"),
                is_short ? group + "_short" : group};
    return task;
}

Task gemv_task(const Record& r, const Record& design) {
    Task task = latency_task(r, design,
                             fmt::format("gemv/{}/{}x{}/{}", r.at("design"), r.at("M"), r.at("K"),
                                         r.at("rows_per_call")),
                             "gemv");
    task.parts = {[launch = gemv_launch(design, r.at("M"), r.at("K"),
                                        r.at("design") == "iron_gemv" ? iron_gemv_mapping(r)
                                                                      : air_gemv_mapping(r))] {
        return time_us(launch);
    }};
    task.row.kind = {"gemv", kGemvTypes, product_of(r, {"M", "K"}), false,
                     design.at("host_profile")};
    return task;
}

// The bytes of matrix, vector and result over the time.
Task bandwidth_task(const Record& r, const Record& design) {
    const auto m = r.number("M");
    const auto k = r.number("K");
    constexpr double kBytes = 2;
    const double bytes = (m * k + m + k) * kBytes;
    Task task;
    task.row = {fmt::format("iron_gemv/{}x{}/columns={}/{}", r.at("M"), r.at("K"), r.at("columns"),
                            r.at("condition")),
                r.at("device"),
                r.at("unit"),
                r.number("value"),
                0,
                r.at("use"),
                "iron_gemv"};
    task.parts = {
        [bytes, launch = gemv_launch(design, r.at("M"), r.at("K"), iron_gemv_mapping(r))] {
            return bytes / (time_us(launch) * kNanosecondsPerMicrosecond);
        }};
    task.row.kind = {"gemv", kGemvTypes, m * k, true, design.at("host_profile")};
    return task;
}

// Whether a launch of its own casts the product's sums.
bool casts_apart(const Record& r) {
    return r.at("launches") == "2";
}

// Groups of up to two by two steps (run.py: runtime_loop_tiling_sizes), of which a descriptor moves
// those along M, or along N where M has but one; one step where the next is too far for it.
std::string air_reach(const Record& r) {
    const auto number = [&](const char* key) { return r.integer(key); };
    const std::int64_t rows = number("tile_m") * number("herd_m");
    const std::int64_t steps_m = number("M") / rows;
    std::int64_t reach = grouped(steps_m, 2);
    std::int64_t in_flight = grouped(number("N") / (number("tile_n") * number("herd_n")), 2);
    if (steps_m == 1) {
        std::swap(reach, in_flight);
    }
    constexpr std::int64_t kWordsOfStep = 1 << 20;
    const std::int64_t c_in_word = casts_apart(r) || r.at("c_dtype") == "f32" ? 1 : 2;
    const bool far =
        steps_m > 1 && rows * std::max(number("K") / 2, number("N") / c_in_word) > kWordsOfStep;
    if (reach == 1 || far) {
        return fmt::format("shim_bds: sequential, in_flight: {}", in_flight * reach);
    }
    return fmt::format("shim_bds: sequential, in_flight: {}, reach: block_row, reach_tiles: {}",
                       in_flight, reach);
}

// The drain casts element by element, sixteen in an iteration (mm_aie2p.cc: f32_to_bf16_mn), the
// compiler's own kernels convert in each block.
std::string air_sums(const Record& r) {
    if (r.at("design") == "mlir_air_drain") {
        return "sums: f32, cast_lanes: 16, cast_by: element";
    }
    return r.at("design") == "mlir_air_direct" && r.at("c_dtype") == "bf16"
               ? "sums: in_c, mode: compiled"
               : "sums: in_c";
}

std::string air_mapping(const Record& r) {
    return fmt::format(
        "a_along: column, columns: {}, rows: {}, m_ct: {}, k_ct: {}, n_ct: {}, k_mt: {}, "
        "b_k_mt: {}, c_leaves: by_line, {}, {}",
        r.at("herd_m"), r.at("herd_n"), r.at("tile_m"), r.at("k_l1"), r.at("tile_n"), r.at("k_l2"),
        r.at("k_l2"), air_sums(r), air_reach(r));
}

// The kernels transpose, register by register, what lies by columns (aie_kernels mm.cc).
std::string iron_mode(const Record& r) {
    if (r.at("device") != "xdna2") {
        return "";
    }
    const bool b = r.at("b_layout") == "column_major";
    const bool c = r.at("c_layout") == "column_major";
    return fmt::format(", mode: native{}{}{}", b || c ? "_transposed" : "", b ? "_b" : "",
                       c ? "_c" : "");
}

// What is queued together and awaited together: two rows of blocks, one where C is column-major.
// The cast's loop has no hint of how often it runs (convert_copy.cc): its iterations do not
// overlap.
std::string iron_mapping(const Record& r) {
    return fmt::format(
        "columns: {}, rows: 4, m_ct: {}, k_ct: {}, n_ct: {}, k_mt: {}, sums: f32, cast_lanes: 16, "
        "c_blocks: 2, reach: block_row, in_flight: {}, shim_bds: sequential, c_layout: {}{}",
        r.at("columns"), r.at("tile_m"), r.at("k_l1"), r.at("tile_n"), r.at("k_l2"),
        r.at("c_layout") == "column_major" ? 1 : 2, r.at("c_layout"), iron_mode(r));
}

// The second launch of a design that casts its result in DRAM: a core a column, which takes 2048
// elements at a time and converts sixteen of them an iteration, without a hint to overlap these
// (run.py: _build_cast_module).
std::string fused_mapping(const Record& r) {
    return fmt::format(
        "fused_cast: {{output_stationary: {{{}}}, elementwise: {{columns: 8, elements_per_call: "
        "2048, cast_lanes: 16}}}}",
        air_mapping(r));
}

std::string gemm_mapping(const Record& r) {
    if (casts_apart(r)) {
        return fused_mapping(r);
    }
    return fmt::format("output_stationary: {{{}}}",
                       r.at("design") == "iron_gemm" ? iron_mapping(r) : air_mapping(r));
}

Launch gemm_launch(const Record& r, const Record& design) {
    return {fmt::format("device: {}\nworkload: {{gemm: {{M: {}, K: {}, N: {}, a: bf16, b: bf16, c: "
                        "{}, b_layout: {}}}}}\n"
                        "mapping: {{{}, kernel_permille: {}}}\n",
                        r.at("device"), r.at("M"), r.at("K"), r.at("N"), r.at("c_dtype"),
                        r.at("b_layout"), gemm_mapping(r), design.at("kernel_permille")),
            design.at("host_profile")};
}

Task gemm_task(const Record& r, const Record& design) {
    Task task = latency_task(
        r, design,
        fmt::format("gemm/{}/{}/{}x{}x{}/{}x{}/{}x{}/{}/{}/{}", r.at("design"), r.at("device"),
                    r.at("M"), r.at("K"), r.at("N"), r.at("tile_m"), r.at("tile_n"), r.at("herd_m"),
                    r.at("herd_n"), r.at("b_layout"), r.at("c_layout"), r.at("c_dtype")),
        "gemm_" + r.at("design"));
    task.parts = {[launch = gemm_launch(r, design)] { return time_us(launch); }};
    task.row.kind = {casts_apart(r) ? "fused_cast" : "output_stationary", "bf16/" + r.at("c_dtype"),
                     product_of(r, {"M", "K", "N"}), false, design.at("host_profile")};
    return task;
}

}  // namespace

std::vector<Task> npu_design_tasks(const std::string& folder) {
    const std::vector<Record> designs = read_csv(folder + "/designs.csv");
    std::vector<Task> tasks;
    for (const Record& r : read_csv(folder + "/gemv.csv")) {
        tasks.push_back(gemv_task(r, design_of(designs, r.at("device"), r.at("design"))));
    }
    for (const Record& r : read_csv(folder + "/bandwidth.csv")) {
        tasks.push_back(bandwidth_task(r, design_of(designs, r.at("device"), "iron_gemv")));
    }
    for (const Record& r : read_csv(folder + "/gemm.csv")) {
        tasks.push_back(gemm_task(r, design_of(designs, r.at("device"), r.at("design"))));
    }
    return tasks;
}

}  // namespace tilesim::validation
