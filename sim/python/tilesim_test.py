"""The package against the command line: same results, same errors, no leak."""

import copy
import gc
import json
import os
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
                     lambda: tilesim.load(None), lambda: tilesim.sweep(scenario, None)):
            self.assertRaises(TypeError, call)

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

    def test_an_axis_is_a_list_of_values(self):
        for values in (64, "abc"):
            with self.assertRaisesRegex(TypeError, "axis 'workload.gemv.M' must be a list of values"):
                tilesim.sweep(tilesim.load(GEMV), {"workload.gemv.M": values})

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
