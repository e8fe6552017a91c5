// Python's way in: scenarios are loaded, changed and run in this process. Results cross as JSON
// text, the same that `--format json` prints; tilesim/__init__.py makes Python objects of it.
#include <pthread.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program_fault.hpp"
#include "sim/describe.hpp"
#include "sim/explore/axis.hpp"
#include "sim/result_json.hpp"
#include "sim/scenario.hpp"
#include "sim/session/session.hpp"
#include "sim/trace/trace_options.hpp"
#include "sim/version.hpp"
#include "workloads/paths.hpp"

// libsystemc's own main calls this; the interpreter is the main here.
extern "C" __attribute__((visibility("default"))) int sc_main(int /*argc*/, char** /*argv*/) {
    return 1;
}

namespace tilesim::sim::python {
namespace {

namespace py = pybind11;
using workloads::Overrides;

// Ctrl-C, while Python's handler of signals has an exception ready.
struct Interrupted : std::exception {};

// One kernel of SystemC is in a process. A child has a turn of its own: the thread whose turn it
// was as the process forked is not in it.
class Turn {
  public:
    Turn() : lock_(*mutex()) {}

  private:
    static std::mutex*& mutex() {
        static std::mutex* own = [] {
            ::pthread_atfork(nullptr, nullptr, [] { mutex() = new std::mutex; });
            return new std::mutex;
        }();
        return own;
    }
    std::lock_guard<std::mutex> lock_;
};

// Other threads of Python go on meanwhile, but for those that want the simulator too.
template <class Action>
auto alone(const Action& action) {
    try {
        const py::gil_scoped_release released;
        const Turn turn;
        return action();
    } catch (const Interrupted&) {
        throw py::error_already_set();
    }
}

void look_for_signals(arch::base::Femtoseconds /*simulated*/) {
    const py::gil_scoped_acquire acquired;
    if (PyErr_CheckSignals() != 0) {
        throw Interrupted();
    }
}

struct Answer {
    std::string result;    // JSON
    std::string deadlock;  // who waits for whom; empty where nobody does
};

Answer run(const Scenario& scenario, const std::string& trace, const std::string& vcd) {
    trace::TraceOptions options;
    options.chrome_file = trace;
    options.vcd_file = vcd;
    trace::TraceSession session(options);
    const workloads::RunResult result = session::run(scenario, session.listener());
    const auto* npu = scenario.device.find<arch::npu::NpuConfig>();
    session.write(result, npu != nullptr ? npu->memory_rows : 0);
    return {to_json(result, true).dump(), result.deadlock ? result.deadlock->text() : ""};
}

// Loads a scenario whose runs can be interrupted.
template <class... Arguments>
auto watched(Scenario (*load)(Arguments...)) {
    return [load](const std::decay_t<Arguments>&... arguments) {
        return alone([&] {
            Scenario scenario = load(arguments...);
            scenario.watch(look_for_signals);
            return scenario;
        });
    };
}

using TextAxes = std::vector<std::pair<std::string, std::vector<std::string>>>;

// What a sweep file's reader says of its axes, at their keys; empty where they are good.
std::string problem_of(const TextAxes& axes) {
    std::vector<explore::Axis> before;
    for (const auto& [key, values] : axes) {
        explore::Axis axis{{key}, {}};
        for (const std::string& value : values) {
            axis.values.push_back({value});
        }
        std::string problem = values.empty() ? "must list at least one value" : "";
        if (const auto equal = explore::equal_values(axis); !equal.empty()) {
            problem = equal.front();
        }
        for (const explore::Axis& other : before) {
            problem = problem.empty() ? explore::set_by_both(other, axis) : problem;
        }
        if (!problem.empty()) {
            return key + ": " + problem;
        }
        before.push_back(std::move(axis));
    }
    return "";
}

// What is wrong with the first of a point's keys that the scenario does not have; empty where it
// has all of them.
std::string unknown_key(const std::optional<std::string>& text, const std::string& file,
                        const Overrides& overrides, const std::vector<std::string>& keys) {
    std::string unknown;
    try {
        text ? parse_scenario(*text, file, overrides) : load_scenario(file, overrides);
    } catch (const arch::base::config::ConfigError& refusal) {
        for (std::size_t i = 0; i < keys.size() && unknown.empty(); ++i) {
            unknown = explore::unknown_key(refusal, keys[i]);
        }
    }
    return unknown;
}

// Nothing but this module makes one: `Scenario.__new__(Scenario)` would be one of no content, which
// pybind11 makes up from whatever its memory holds.
void without_new(const py::object& type) {
    reinterpret_cast<PyTypeObject*>(type.ptr())->tp_new = nullptr;
}

PYBIND11_MODULE(_native, module) {
    module.doc() = "The simulator itself; use the package tilesim.";
    module.attr("version") = kVersion;
    py::register_exception<arch::base::config::ConfigError>(module, "ConfigError",
                                                            PyExc_ValueError);
    py::register_exception<arch::base::config::IoError>(module, "IoError", PyExc_OSError);
    py::register_exception<arch::npu::program::ProgramFault>(module, "ProgramFault",
                                                             PyExc_RuntimeError);
    without_new(
        py::class_<Scenario>(module, "Scenario").def("resolved", [](const Scenario& scenario) {
            return scenario.document->resolved();
        }));
    without_new(py::class_<Answer>(module, "Answer")
                    .def_readonly("result", &Answer::result)
                    .def_readonly("deadlock", &Answer::deadlock));
    // Scripts try many mappings: none is told the nearest that can be.
    module.def("load", watched(+[](const std::string& file, const Overrides& overrides) {
                   return load_scenario(file, overrides);
               }),
               py::arg("file"), py::arg("overrides"));
    module.def(
        "parse",
        watched(+[](const std::string& text, const std::string& file, const Overrides& overrides) {
            return parse_scenario(text, file, overrides);
        }),
        py::arg("text"), py::arg("file"), py::arg("overrides"));
    module.def(
        "run",
        [](const Scenario& scenario, const std::string& trace, const std::string& vcd) {
            return alone([&] { return run(scenario, trace, vcd); });
        },
        py::arg("scenario"), py::arg("trace"), py::arg("vcd"));
    module.def("lower", [](const Scenario& scenario) {
        return alone([&] { return session::lowered_text(scenario); });
    });
    module.def(
        "describe",
        [](const std::string& file, const Overrides& overrides) {
            return alone([&] { return description(file, overrides); });
        },
        py::arg("file"), py::arg("overrides"));
    module.def("problem_of", &problem_of, py::arg("axes"));
    module.def(
        "unknown_key",
        [](const std::optional<std::string>& text, const std::string& file,
           const Overrides& overrides, const std::vector<std::string>& keys) {
            return alone([&] { return unknown_key(text, file, overrides, keys); });
        },
        py::arg("text"), py::arg("file"), py::arg("overrides"), py::arg("keys"));
    module.def("configs_folder", &workloads::configs_folder);
}

}  // namespace
}  // namespace tilesim::sim::python
