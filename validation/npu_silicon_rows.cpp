// Rows of designs and parts of arrays on silicon: ablations of the whole-array GEMM, ARIES's bf16
// GEMM, micro-measurements of control and shim.
#include <fmt/format.h>

#include <array>

#include "arch/npu/npu_config.hpp"
#include "sim/session/session.hpp"
#include "validation/npu_scenarios.hpp"
#include "validation/rows.hpp"
#include "workloads/attribution.hpp"
#include "workloads/catalogue/catalogue.hpp"

namespace tilesim::validation {

namespace {

using workloads::RunResult;

RunResult run(const std::string& text) {
    return sim::session::run(sim::parse_scenario(text, "reference row", {}));
}

// --- ablations -----------------------------------------------------------------------------------

// The cube nearest to `size` that the mapping fills without padding.
Record balanced_cube(Record record, std::int64_t size, std::int64_t rows, std::int64_t columns) {
    const auto nearest = [size](std::int64_t step) {
        return std::to_string(std::max<std::int64_t>(1, (size + step / 2) / step) * step);
    };
    record.set("M", nearest(record.integer("m_ct") * rows));
    record.set("K", nearest(record.integer("k_mt")));
    record.set("N", nearest(record.integer("n_ct") * columns));
    return record;
}

constexpr std::array<std::int64_t, 4> kCubes{1024, 2048, 4096, 8192};

// What is left of the throughput with B by rows, of that with B by columns: mean over the cubes.
Task row_major_task(const Record& record) {
    Task task;
    const auto device = workloads::catalogue::load_device(record.at("device"), {});
    const auto& config = device.get<arch::npu::NpuConfig>();
    for (const std::int64_t size : kCubes) {
        for (const char* layout : {"row_major", "column_major"}) {
            Record cube = balanced_cube(record, size, config.core_rows, config.columns);
            cube.set("b_layout", layout);
            task.parts.emplace_back([text = gemm_scenario(cube, "")] { return run(text).tops; });
        }
    }
    task.combine = [](const std::vector<double>& tops) {
        double sum = 0;
        for (std::size_t i = 0; i < tops.size(); i += 2) {
            sum += tops[i] / tops[i + 1];
        }
        return 200.0 * sum / static_cast<double>(tops.size());
    };
    return task;
}

// --- ARIES ---------------------------------------------------------------------------------------

constexpr const char* kAriesHost = "aries_phoenix";

// Its compiler's kernel is not published. The four calibrate rows want no constant for it:
// transfers limit them, and the timing model's kernel is within 1.3 % of each.
std::string aries_scenario(const Record& r) {
    const auto& at = [&r](const char* key) { return r.at(key); };
    return fmt::format(
        "device: {}\n"
        "workload: {{gemm: {{M: {}, K: {}, N: {}, a: {}, b: {}, c: {}, b_layout: row_major}}}}\n"
        "mapping:\n"
        "  output_stationary: {{m_ct: {}, k_ct: {}, n_ct: {}, k_mt: {}, c_buffers: 2, "
        "shim_bds: sequential, reach: block_row}}\n",
        at("device"), at("M"), at("K"), at("N"), at("a_dtype"), at("a_dtype"), at("c_dtype"),
        at("m_ct"), at("k_ct"), at("n_ct"), at("k_ct"));
}

double aries_latency_us(const Record& record) {
    constexpr double kNanoseconds = 1000.0;
    return sim::session::run(sim::parse_scenario(aries_scenario(record), "reference row",
                                                 {{"device.host.profile", kAriesHost}}))
               .time_ns /
           kNanoseconds;
}

// --- micro-measurements --------------------------------------------------------------------------

constexpr std::int64_t kChain = 8;  // tasks

// A chain's reads did not wait for its writes on the board: the box has room for all of them.
// The loop-back through a memory tile: `tasks` reads, then as many writes; each read awaited or
// none.
std::string loop_back(std::int64_t words, std::int64_t tasks, bool wait) {
    std::string sequence;
    for (const bool write : {false, true}) {
        const char* channel = write ? "s2mm0" : "mm2s0";
        for (std::int64_t i = 0; i < tasks; ++i) {
            const std::int64_t id = i + (write ? tasks : 0);
            sequence += fmt::format(
                "  - write_descriptor: {{tile: [0, 0], descriptor: {{id: {}, buffer: {}, offset: "
                "{}, length: {}}}}}\n"
                "  - push: {{to: {{tile: [0, 0], channel: {}}}, descriptor: {}, token: on}}\n",
                id, write ? "output" : "input", 4 * words * i, words, channel, id);
        }
        if (wait && !write) {
            sequence += "  - wait: {tile: [0, 0], channel: mm2s0}\n";
        }
    }
    for (std::int64_t i = 0; i < tasks; ++i) {
        sequence += "  - wait: {tile: [0, 0], channel: s2mm0}\n";
    }
    return fmt::format(
        "device: xdna\n"
        "program: loop_back\n"
        "external_buffers:\n"
        "  - {{name: input, address: 0, bytes: {0}}}\n"
        "  - {{name: output, address: 1048576, bytes: {0}}}\n"
        "locks:\n"
        "  - {{name: free, tile: [0, 1], id: 0, initial: {4}}}\n"
        "  - {{name: full, tile: [0, 1], id: 1, initial: 0}}\n"
        "buffers:\n"
        "  - {{name: box, tile: [0, 1], address: 0, bytes: {1}}}\n"
        "dmas:\n"
        "  - tile: [0, 1]\n"
        "    descriptors:\n"
        "      - {{id: 0, buffer: box, length: {2}, acquire: {{lock: free, value: -1}}, release: "
        "{{lock: full, value: 1}}, next: 0}}\n"
        "      - {{id: 1, buffer: box, length: {2}, acquire: {{lock: full, value: -1}}, release: "
        "{{lock: free, value: 1}}, next: 1}}\n"
        "    starts:\n"
        "      - {{channel: s2mm0, descriptor: 0}}\n"
        "      - {{channel: mm2s0, descriptor: 1}}\n"
        "routes:\n"
        "  - name: in\n"
        "    from: {{tile: [0, 0], channel: mm2s0}}\n"
        "    to: [{{tile: [0, 1], channel: s2mm0}}]\n"
        "  - name: out\n"
        "    from: {{tile: [0, 1], channel: mm2s0}}\n"
        "    to: [{{tile: [0, 0], channel: s2mm0}}]\n"
        "sequence:\n{3}",
        4 * words * tasks, 4 * words, words, sequence, tasks);
}

RunResult run_micro(const std::string& text) {
    return sim::session::run(
        sim::parse_scenario(text, "reference row", {{"device.host.profile", "emu_phoenix"}}));
}

// Cycles the channel has spent on its tasks.
double busy(const RunResult& result, const std::string& channel) {
    return static_cast<double>(result.cycles) - workloads::state_of(result, channel, "idle");
}

// The last task of a chain: what it adds to the channel's.
double last_task(std::int64_t words, std::int64_t tasks, const std::string& channel) {
    const double before =
        tasks > 1 ? busy(run_micro(loop_back(words, tasks - 1, false)), channel) : 0;
    return busy(run_micro(loop_back(words, tasks, false)), channel) - before;
}

// From the start of a task to that of the next: what a pair of tasks adds to the sequence, halved.
double start_to_start() {
    constexpr std::int64_t kWords = 64;
    const auto cycles = [](std::int64_t tasks) {
        return static_cast<double>(run_micro(loop_back(kWords, tasks, false)).cycles);
    };
    return (cycles(kChain) - cycles(kChain - 1)) / 2;
}

// Cycles of a core's code, lock instructions included; a design is named as the quantity.
double scalar_code(const std::string& design, bool optimised) {
    const RunResult result = sim::session::run(
        sim::load_scenario(design, {{"design.inline.optimised", optimised ? "on" : "off"}}));
    return workloads::state_of(result, "core", "fixed_kernel") +
           workloads::state_of(result, "core", "lock_operation");
}

std::function<double()> micro_prediction(const Record& record, const std::string& folder) {
    const std::string quantity = record.at("quantity");
    const std::string design = fmt::format("{}/{}.mlir", folder, quantity);
    if (record.at("design") == "add_one") {
        constexpr double kRounds = 8;
        return [=] { return scalar_code(design, true) / kRounds; };
    }
    if (record.at("design") == "cascade_16") {
        return [=] { return scalar_code(design, false); };
    }
    const std::int64_t words = record.integer("words");
    const std::string channel =
        quantity.find("s2mm") != std::string::npos ? "shim_s2mm0" : "shim_mm2s0";
    if (record.at("design") == "loopback_sweep") {
        return [=] { return busy(run_micro(loop_back(words, 1, true)), channel); };
    }
    if (quantity.starts_with("issue_gap")) {
        return [=] { return start_to_start() - last_task(words, kChain, channel); };
    }
    if (record.at("design") == "two_channels") {
        return [] { return start_to_start(); };
    }
    if (record.at("design") == "task_chain") {
        const bool first = quantity.ends_with("task_0");
        return [=] { return last_task(words, first ? 1 : kChain, channel); };
    }
    return [=] {
        const RunResult result = run_micro(loop_back(words, 1, true));
        return workloads::state_of(result, "memory_tile_mm2s0", "fetching") +
               workloads::state_of(result, "memory_tile_mm2s0", "streaming");
    };
}

}  // namespace

std::vector<Task> npu_ablation_tasks(const std::string& folder) {
    std::vector<Task> tasks;
    for (const Record& r : read_csv(folder + "/rows.csv")) {
        const bool loss = r.at("quantity") == "row_major_loss_mean";
        Task task;
        if (loss) {
            task = row_major_task(r);
        } else {
            task.parts = {[text = gemm_scenario(r, "")] { return run(text).tops; }};
        }
        const double value = r.number("value");
        task.row = {fmt::format("ablations/{}/{}/{}x{}x{}/{}", r.at("device"), r.at("c_dtype"),
                                r.at("m_ct"), r.at("k_ct"), r.at("n_ct"),
                                loss                               ? "row_major_kept"
                                : r.at("shim_bds") == "sequential" ? "sequential"
                                : r.at("c_buffers") == "2"         ? "double_c"
                                                                   : "unbalanced"),
                    r.at("device"),
                    loss ? "percent" : r.at("unit"),
                    loss ? 100.0 - value : value,
                    0,
                    r.at("use"),
                    "ablations"};
        if (!loss) {
            task.row.kind = {"output_stationary", r.at("a_dtype") + "/" + r.at("c_dtype"),
                             product_of(r, {"M", "K", "N"})};
        }
        tasks.push_back(std::move(task));
    }
    return tasks;
}

std::vector<Task> npu_aries_tasks(const std::string& folder) {
    std::vector<Task> tasks;
    for (const Record& r : read_csv(folder + "/rows.csv")) {
        if (!r.at("flag").empty()) {
            continue;
        }
        const std::string types = r.at("a_dtype") + "/" + r.at("c_dtype");
        Task task;
        task.row = {
            fmt::format("aries/{}/{}x{}x{}", types, r.at("M"), r.at("K"), r.at("N")),
            r.at("device"),
            r.at("unit"),
            r.number("value"),
            0,
            r.at("use"),
            "aries",
            {"output_stationary", types, product_of(r, {"M", "K", "N"}), false, kAriesHost}};
        task.parts = {[r] { return aries_latency_us(r); }};
        tasks.push_back(std::move(task));
    }
    return tasks;
}

std::vector<Task> npu_micro_tasks(const std::string& folder) {
    std::vector<Task> tasks;
    constexpr std::int64_t kLong = 1024;  // words from which on single shots are monotonic
    for (const Record& r : read_csv(folder + "/rows.csv")) {
        if (r.at("device") != "xdna") {
            continue;
        }
        const bool gap =
            r.at("quantity").find("gap") != std::string::npos || r.at("design") == "two_channels";
        const bool code = r.at("design") == "add_one" || r.at("design") == "cascade_16";
        Task task;
        task.row = {fmt::format("micro/{}/{}/{}/{}", r.at("design"), r.at("quantity"),
                                r.at("words"), r.at("condition")),
                    r.at("device"),
                    r.at("unit"),
                    r.number("value"),
                    0,
                    r.at("use"),
                    code                          ? "scalar_code"
                    : gap                         ? "micro_gaps"
                    : r.integer("words") >= kLong ? "micro_long"
                                                  : "micro_short"};
        task.parts = {micro_prediction(r, folder)};
        tasks.push_back(std::move(task));
    }
    return tasks;
}

}  // namespace tilesim::validation
