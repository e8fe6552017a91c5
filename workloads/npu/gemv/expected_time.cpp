#include "workloads/npu/gemv/expected_time.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "arch/base/units.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "workloads/npu/gemv/gemv_shape.hpp"

namespace tilesim::workloads::npu::gemv {

using arch::base::ceil_div;
using arch::npu::NpuConfig;

namespace {

// When a column may take how much of its rows.
struct Column {
    double rows_ns = 0;     // its task for the matrix has been given
    double vector_ns = 0;   // the vector is there
    double results_ns = 0;  // its task for the results has been given
    double ahead = 0;       // bytes taken before the vector
    double computed = 0;    // bytes whose results fit into buffers
    double taken = 0;       // bytes

    double most(double now, double all) const {
        if (now < rows_ns) {
            return 0;
        }
        return now >= results_ns  ? all
               : now >= vector_ns ? std::min(all, ahead + computed)
                                  : std::min(all, ahead);
    }
};

// When the last byte has been taken: a column takes `pace` bytes a nanosecond, all of them `link`.
double all_taken_ns(std::vector<Column> columns, double bytes, double pace, double link) {
    const double little = 1e-9 * bytes;  // rounding
    double now = 0;
    while (true) {
        double next = std::numeric_limits<double>::infinity();
        std::int64_t active = 0;
        for (const Column& column : columns) {
            for (const double event : {column.rows_ns, column.vector_ns, column.results_ns}) {
                next = event > now ? std::min(next, event) : next;
            }
            active += column.taken + little < column.most(now, bytes) ? 1 : 0;
        }
        if (active == 0) {
            if (next == std::numeric_limits<double>::infinity()) {
                return now;
            }
            now = next;
            continue;
        }
        const double rate = std::min(pace, link / static_cast<double>(active));
        for (const Column& column : columns) {
            const double left = column.most(now, bytes) - column.taken;
            next = left > little ? std::min(next, now + left / rate) : next;
        }
        for (Column& column : columns) {
            const double most = column.most(now, bytes);
            if (column.taken + little < most) {
                column.taken = std::min(most, column.taken + rate * (next - now));
            }
        }
        now = next;
    }
}

class Expectation {
  public:
    Expectation(const MatrixVector& problem, const GemvMapping& map, const NpuConfig& config,
                const MemoryPath& path)
        : problem_(problem),
          map_(map),
          config_(config),
          path_(path),
          shape_(shape_of(problem, map, config)),
          call_(arch::npu::core::KernelTiming(config.kernels)
                    .cycles(matvec_kernel(problem, shape_.call_rows, shape_.k))
                    .total()) {}

    double total_ns() const {
        const auto& costs = config_.command_processor;
        const double first_ns = static_cast<double>(2 * shape_.cores()) * write_ns();
        const std::int64_t tasks = ceil_div(shape_.steps, shape_.reach);
        const double commands_ns =
            first_ns + static_cast<double>(tasks * given()) * task_ns() +
            static_cast<double>(tasks * shape_.columns) * ns_of(costs.sync_cycles, costs.clock);
        return ns_of(costs.dispatch) +
               std::max(
                   commands_ns,
                   all_taken_ns(columns(first_ns), column_bytes(), pace(), link()) + last_ns());
    }

  private:
    bool each_call() const { return map_.vector == GemvMapping::Vector::EachCall; }
    std::int64_t senders() const { return map_.one_vector_stream ? 1 : shape_.columns; }
    // Tasks for the matrix, the vector and the results.
    std::int64_t given() const { return 2 * shape_.columns + senders(); }
    double write_ns() const {
        const auto& costs = config_.command_processor;
        return ns_of(costs.write_cycles, costs.clock);
    }
    double task_ns() const {
        const auto& costs = config_.command_processor;
        return ns_of(costs.task_cycles(), costs.clock);
    }
    double cycles_ns(arch::base::Cycles cycles) const { return ns_of(cycles, config_.clock); }
    double stream_ns(double bytes) const {
        return bytes / static_cast<double>(config_.stream.width.count()) *
               cycles_ns(arch::base::Cycles{1});
    }
    double vector_bytes() const { return static_cast<double>(bytes_of(shape_.k, problem_.x)); }
    double rows_bytes(std::int64_t rows) const {
        return static_cast<double>(rows * shape_.row_bytes);
    }
    double column_bytes() const { return rows_bytes(shape_.steps * shape_.column_rows()); }
    // A call with its locks.
    double call_ns() const {
        const std::int64_t locks = each_call() ? 4 : 2;
        return cycles_ns(call_ + config_.core.call_cycles + locks * config_.core.lock_cycles);
    }

    std::vector<Column> columns(double first_ns) const {
        const std::int64_t results = map_.direct() ? 1 : 2;  // places they wait in
        std::vector<Column> columns(static_cast<std::size_t>(shape_.columns));
        for (std::int64_t i = 0; i < shape_.columns; ++i) {
            const auto given_ns = [&](std::int64_t tasks) {
                return first_ns + static_cast<double>(tasks) * task_ns();
            };
            Column& column = columns[static_cast<std::size_t>(i)];
            column.rows_ns = given_ns(i + 1);
            column.vector_ns =
                given_ns(shape_.columns + std::min(i + 1, senders())) + stream_ns(vector_bytes());
            column.results_ns =
                std::max(column.vector_ns, given_ns(shape_.columns + senders() + i + 1));
            column.ahead = rows_bytes(shape_.rows * map_.a_buffers * shape_.call_rows) +
                           (map_.direct() ? 0 : rows_bytes(map_.panels * shape_.column_rows()));
            column.computed = rows_bytes(results * map_.y_buffers * shape_.column_rows());
        }
        return columns;
    }

    // Bytes of the matrix a nanosecond, of a column: its stream, its port, its cores, the vector
    // where it comes with every call.
    double pace() const {
        const double bytes = column_bytes();
        const auto calls = static_cast<double>(shape_.steps * shape_.calls());
        const double port = path_.column_ns(config_.shim, {{.bytes = bytes}});
        return bytes / std::max({stream_ns(bytes), port, calls * call_ns(),
                                 each_call() ? calls * stream_ns(vector_bytes()) : 0.0});
    }

    // Of all columns.
    double link() const {
        const double bytes = column_bytes() * static_cast<double>(shape_.columns);
        const std::vector<Runs> runs{{.bytes = bytes}};
        return bytes / std::max(path_.fabric_ns(config_.shim, runs, shape_.columns),
                                path_.answers_ns(config_.shim, runs, bytes, shape_.columns));
    }

    // The last rows' way through the memory tile, their call, and the results' way out.
    double last_ns() const {
        const double part = map_.direct() ? 0.0 : stream_ns(rows_bytes(shape_.core_rows));
        const auto results = static_cast<double>(bytes_of(shape_.core_rows, problem_.y)) *
                             static_cast<double>(map_.direct() ? 1 : 1 + shape_.rows);
        const auto& costs = config_.command_processor;
        return part + call_ns() + stream_ns(results) +
               static_cast<double>(shape_.columns) * ns_of(costs.sync_cycles, costs.clock);
    }

    const MatrixVector& problem_;
    const GemvMapping& map_;
    const NpuConfig& config_;
    const MemoryPath& path_;
    GemvShape shape_;
    arch::base::Cycles call_;
};

}  // namespace

double expected_ns(const MatrixVector& problem, const GemvMapping& mapping, const NpuConfig& config,
                   const MemoryPath& path) {
    return Expectation(problem, mapping, config, path).total_ns();
}

}  // namespace tilesim::workloads::npu::gemv
