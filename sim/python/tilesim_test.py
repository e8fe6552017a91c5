"""The package against the command line: same results, same errors, no leak."""

import copy
import gc
import json
import os
import pathlib
import pickle
import resource
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

import tilesim

PROGRAM = os.environ["TILESIM"]
SCENARIOS = os.path.join(tilesim.configs(), "scenarios")
GEMV = os.path.join(SCENARIOS, "pim_gemv.yaml")
DEAD = os.path.join(tilesim.configs(), "programs", "deadlock_lock_order.yaml")
OF_THE_HOST = ("wall_s",)

try:
    import pandas
except ImportError:
    pandas = None


def command_line(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)


class RunTest(unittest.TestCase):
    def test_gives_the_object_that_the_command_line_prints(self):
        printed = json.loads(command_line("run", GEMV, "--format", "json").stdout)
        result = dict(tilesim.run(GEMV))
        for key in OF_THE_HOST:
            printed.pop(key), result.pop(key)
        self.assertEqual(result, printed)

    def test_set_makes_another_scenario(self):
        scenario = tilesim.load(GEMV)
        smaller = scenario.set("workload.gemv.M", 4096)
        self.assertLess(smaller.run().time_us, scenario.run().time_us)
        self.assertIn("4096", smaller.resolved)

    def test_scalars_of_numpy_are_values(self):
        class Scalar:  # as numpy's are, which need not be here
            ndim = 0

            def __init__(self, value):
                self.value = value

            def item(self):
                return self.value

            def __str__(self):
                return f"numpy({self.value})"

        sizes = {"workload.gemv.M": Scalar(512), "workload.gemv.K": 512}
        result = tilesim.load(GEMV).set({**sizes, "run.functional": Scalar(True)}).run()
        self.assertTrue(result["functional"]["match"])
        rows = tilesim.sweep(tilesim.load(GEMV), {"workload.gemv.M": [Scalar(512), Scalar(1024)]})
        self.assertEqual([row["workload.gemv.M"] for row in rows], [512, 1024])

    def test_what_is_set_last_counts(self):
        # The first setting of M stood before the map's, and so did the last.
        scenario = tilesim.load(GEMV, {"workload.gemv.M": 2048})
        gemv = "{M: 512, K: 512, weights: int8, input: int8, accumulate: int16, scale_block: 0}"
        again = scenario.set("workload.gemv", gemv).set("workload.gemv.M", 1024)
        self.assertEqual(again.run()["workload"]["gemv"]["M"], 1024)

    def test_functional_checks_the_product(self):
        result = tilesim.load(GEMV).set({"workload.gemv.M": 512, "workload.gemv.K": 512}).run(
            functional=True)
        self.assertTrue(result["functional"]["match"])

    def test_a_text_is_read_like_a_file(self):
        with open(GEMV) as file:
            text = file.read()
        self.assertEqual(tilesim.parse(text).run()["cycles"], tilesim.run(GEMV)["cycles"])

    def test_what_is_no_text_or_key_is_a_type_error(self):
        scenario = tilesim.load(GEMV)
        for call in (lambda: tilesim.parse(None), lambda: tilesim.parse(b"device: xdna"),
                     lambda: scenario.set({"run.seed": 1}, 2), lambda: scenario.set("run.seed"),
                     lambda: scenario.set({"run.seed": None}), lambda: scenario.set({3: 4}),
                     lambda: scenario.set(3, 4), lambda: tilesim.load(GEMV, [("run.seed", 1)]),
                     lambda: tilesim.load(None), lambda: tilesim.sweep(scenario, None),
                     lambda: tilesim.parse("device: xdna", name=None),
                     lambda: tilesim.sweep(GEMV, {}), lambda: tilesim.sweep(scenario, {}, 3)):
            self.assertRaises(TypeError, call)
        for call in (lambda: tilesim.load("a\0b"), lambda: scenario.run(trace="a\0b"),
                     lambda: scenario.set("run.seed", "5\0 1"),
                     lambda: tilesim.sweep(scenario, {}, jobs=0)):
            self.assertRaises(ValueError, call)

    def test_paths_may_be_of_any_kind_and_name(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "zwölf Punkte 十二.yaml"
            file.write_text(pathlib.Path(GEMV).read_text())
            cycles = tilesim.run(GEMV)["cycles"]
            for path in (file, str(file), os.fsencode(file)):
                self.assertEqual(tilesim.run(path)["cycles"], cycles)
            text = file.read_text()
            self.assertEqual(tilesim.parse(text, name=file).run()["cycles"], cycles)
            with self.assertRaisesRegex(tilesim.ConfigError, "zwölf Punkte 十二.yaml:1:1: "):
                tilesim.parse("devise: xdna", name=file)
            trace = file.with_suffix(".json")
            tilesim.load(os.path.join(tilesim.configs(), "programs", "add_one.yaml")).run(
                trace=trace)
            self.assertTrue(trace.exists())

    def test_a_scenario_is_copied_and_crosses_to_other_processes(self):
        scenario = tilesim.parse("device: ddr5_5600\nworkload: {memory_stream: {requests: 10}}\n",
                                 {"workload.memory_stream.requests": 20})
        for other in (copy.deepcopy(scenario), pickle.loads(pickle.dumps(scenario))):
            self.assertEqual(other.resolved, scenario.resolved)
        self.assertEqual(repr(scenario), "<tilesim scenario: scenario.yaml, "
                                         "workload.memory_stream.requests=20>")
        result = pickle.loads(pickle.dumps(scenario.run()))
        self.assertEqual(result["workload"]["memory_stream"]["requests"], 20)

    def test_runs_in_threads_are_those_of_one(self):
        scenarios = [tilesim.load(file).set("run.functional", False) for file in
                     (os.path.join(SCENARIOS, "xdna_functional.yaml"), GEMV)] * 2
        with ThreadPoolExecutor(4) as pool:
            for scenario, result in zip(scenarios, pool.map(tilesim.Scenario.run, scenarios)):
                self.assertEqual(result["time_ns"], scenario.run()["time_ns"])

    def test_is_interrupted_and_lets_other_threads_go_on(self):
        # In a process of its own: the first run is SystemC's, the second is not.
        script = """
import os, signal, threading, time, tilesim
scenario = tilesim.parse("device: ddr5_5600\\nworkload: {memory_stream: {pattern: random, "
                         "requests: 300000000}}\\n")
for run in range(2):
    threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    try:
        scenario.run()
    except KeyboardInterrupt:
        print("interrupted", time.monotonic() - began < 20)
print(scenario.set("workload.memory_stream.requests", 1).run()["cycles"] > 0)
"""
        ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        self.assertEqual(ran.stdout, "interrupted True\ninterrupted True\nTrue\n", ran.stderr)

    def test_a_process_forked_while_a_run_is_under_way_runs_too(self):
        script = """
import os, threading, tilesim
stream = tilesim.parse("device: ddr5_5600\\nworkload: {memory_stream: {pattern: random}}\\n")
longer = stream.set("workload.memory_stream.requests", 3000000)
thread = threading.Thread(target=longer.run)
thread.start()
threading.Event().wait(0.5)
child = os.fork()
if child == 0:
    os._exit(0 if stream.set("workload.memory_stream.requests", 9).run()["cycles"] > 0 else 1)
print(thread.is_alive(), os.waitpid(child, 0)[1])
"""
        ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                             timeout=60)
        self.assertEqual(ran.stdout, "True 0\n", ran.stderr)

    def test_a_standstill_is_a_result_that_says_who_waits(self):
        result = tilesim.run(DEAD)
        self.assertEqual(result.status, "deadlock")
        self.assertIn("waits", result.deadlock)

    def test_writes_traces(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "t.json")
            tilesim.load(os.path.join(tilesim.configs(), "programs", "add_one.yaml")).run(trace=file)
            with open(file) as trace:
                self.assertIsInstance(json.load(trace), list)

    def test_lowers_and_describes(self):
        program = tilesim.load(os.path.join(SCENARIOS, "xdna_gemm_int8_int8.yaml")).lower()
        self.assertIn("tile", program)
        self.assertIn("GHz", tilesim.describe("xdna2"))


class ErrorTest(unittest.TestCase):
    def test_has_the_text_of_the_command_line(self):
        with self.assertRaises(tilesim.ConfigError) as raised:
            tilesim.load(GEMV, {"workload.gemv.N": 7})
        printed = command_line("run", GEMV, "--set", "workload.gemv.N=7")
        self.assertEqual(printed.returncode, 2)
        self.assertIn(str(raised.exception), printed.stderr)
        self.assertIsInstance(raised.exception, ValueError)

    def test_bytes_that_are_no_text_are_said(self):
        scenario = tilesim.load(GEMV)
        for keys in ({"device.memory.clock": os.fsdecode(b"\xff")}, {os.fsdecode(b"a\xff"): 1}):
            with self.assertRaises(tilesim.ConfigError) as raised:
                scenario.set(keys)
            self.assertIn("must be UTF-8 text", str(raised.exception))
            self.assertIn("\\udcff", str(raised.exception))
        self.assertRaises(TypeError, scenario.set, "run.seed", b"1")
        with self.assertRaises(tilesim.ConfigError) as raised:
            tilesim.parse("device: " + os.fsdecode(b"\xff"), name="s.yaml")
        self.assertEqual(str(raised.exception), "s.yaml: must be UTF-8 text")

    def test_nothing_is_made_around_the_functions_that_make_it(self):
        # Would be whatever its memory held before.
        for kind in (tilesim._native.Scenario, tilesim._native.Answer):
            self.assertRaises(TypeError, kind.__new__, kind)
            self.assertRaises(TypeError, kind)

    def test_of_a_file_is_an_os_error(self):
        with self.assertRaises(OSError):
            tilesim.load("no_such_file.yaml")


class SweepTest(unittest.TestCase):
    AXES = {"workload.gemv.M": [1024, 2048], "workload.gemv.K": [1024, 2048, 4096]}

    def test_runs_every_combination_the_last_axis_fastest(self):
        seen = []
        rows = tilesim.sweep(tilesim.load(GEMV), self.AXES, callback=seen.append)
        self.assertEqual([(row["workload.gemv.M"], row["workload.gemv.K"]) for row in rows],
                         [(m, k) for m in (1024, 2048) for k in (1024, 2048, 4096)])
        self.assertEqual(seen, rows)

    def test_gives_the_same_in_processes(self):
        scenario = tilesim.load(GEMV)
        alone, shared = (tilesim.sweep(scenario, self.AXES, jobs=jobs) for jobs in (1, 2))
        self.assertEqual([row["cycles"] for row in alone], [row["cycles"] for row in shared])

    def test_a_callback_ends_it(self):
        rows = tilesim.sweep(tilesim.load(GEMV), self.AXES, callback=lambda row: False)
        self.assertEqual(len(rows), 1)

    def test_in_processes_ends_at_once_when_it_is_interrupted(self):
        # As a notebook's stop button does it: no signal goes to the processes of the points.
        script = """
import os, signal, sys, threading, time, tilesim
scenario = tilesim.parse("device: ddr5_5600\\nworkload: {memory_stream: {pattern: random, "
                         "requests: 1000000000}}\\n")
if __name__ == "__main__":
    quick = scenario.set("workload.memory_stream.requests", 9)
    for axes, callback in (({"run.seed": [1, 2, 3]}, None),
                           ({"workload.memory_stream.requests": [9, 1000000000]},
                            lambda row: False)):
        timer = threading.Timer(5, os.kill, (os.getpid(), signal.SIGINT))
        began = time.monotonic()
        timer.start()
        try:
            print(len(tilesim.sweep(scenario, axes, callback, jobs=2)))
        except KeyboardInterrupt:
            print("interrupted")
        timer.cancel()
        print(time.monotonic() - began < 30)
    print(len(tilesim.sweep(quick, {"run.seed": [1, 2]}, jobs=2)))
"""
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "script.py")
            with open(file, "w") as out:
                out.write(script)
            ran = subprocess.run([sys.executable, file], capture_output=True, text=True,
                                 timeout=120)
        self.assertEqual(ran.stdout, "interrupted\nTrue\n1\nTrue\n2\n", ran.stderr)
        self.assertEqual(ran.stderr, "")

    def test_an_axis_is_a_list_of_values(self):
        for values in (64, "abc", {512: 1}):
            with self.assertRaisesRegex(TypeError, "axis 'workload.gemv.M' must be a list of values"):
                tilesim.sweep(tilesim.load(GEMV), {"workload.gemv.M": values})

    def test_axes_are_refused_as_in_a_sweep_file(self):
        gemv = "{M: 512, K: 512, weights: int8, input: int8, accumulate: int16, scale_block: 0}"
        axes = ({"workload.gemv.M": []}, {"workload.gemv.M": [512, 1024, "0x200"]},
                {"device.memory.controller.refresh": [True, False, "on"]},
                {"workload.gemv.M": [512, 1024], "workload.gemv": [gemv]},
                {"workload.gemv.M": [512], "workload.gemv.MM": [512]})
        said = ("workload.gemv.M: must list at least one value",
                "value 3 is value 1 again: '0x200' and '512'",
                "value 3 is value 1 again: 'on' and 'on'",
                "'workload.gemv.M' is set twice: a value of 'workload.gemv' holds it, too",
                "'workload.gemv.MM': unknown key; did you mean 'M'?")
        for each, message in zip(axes, said):
            with self.assertRaises(tilesim.ConfigError) as raised:
                tilesim.sweep(tilesim.load(GEMV), each)
            self.assertIn(message, str(raised.exception))
            self.assertNotIn("\n", str(raised.exception))

    def test_names_the_point_that_cannot_be(self):
        rows = tilesim.sweep(tilesim.load(GEMV), {"workload.gemv.M": [1024, -1]})
        self.assertEqual([row["status"] for row in rows], ["ok", "invalid"])
        self.assertIn("M", rows[1]["error"])

    @unittest.skipIf(pandas is None, "no pandas")
    def test_pandas_takes_the_rows(self):
        frame = pandas.DataFrame(tilesim.sweep(tilesim.load(GEMV), self.AXES))
        self.assertEqual(len(frame), 6)
        self.assertGreater(frame["time_ns"].max(), frame["time_ns"].min())


class LeakTest(unittest.TestCase):
    def test_a_thousand_runs_need_the_memory_of_a_hundred(self):
        scenario = tilesim.load(GEMV, {"workload.gemv.M": 256, "workload.gemv.K": 256})

        def peak_kib_after(runs):
            for _ in range(runs):
                scenario.run()
            gc.collect()
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        first = peak_kib_after(100)
        self.assertLess(peak_kib_after(900) - first, 1024)


if __name__ == "__main__":
    unittest.main()
