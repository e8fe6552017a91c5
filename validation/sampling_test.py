"""Compares sampled runs with whole ones: how far they are off, and how often what they state holds.

    python3 validation/sampling_test.py --update [JOBS]

draws 200 points from a fixed seed (arrays, dataflows, types, tiles, sizes, clocks, columns), runs
each sampled and whole, and writes validation/sampling/points.csv, a line a point. A point that is
not sampled (too few rounds, or the mapping does not fit) is drawn anew. The test draws a dozen small
ones.
"""

import concurrent.futures
import csv
import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
POINTS = ROOT / "validation" / "sampling" / "points.csv"
PROGRAM = os.environ.get("TILESIM", str(ROOT / "build" / "tilesim"))
COUNT = 200
SEED = 20  # 19 set what the sampler adds for what comes about later only
REPEATED = 12        # points the test draws
MOVED = "bytes_read", "bytes_written"
SMALL_MACS = 1e9     # of them
MOST_ROUNDS = 150    # whole runs of more take long
MOST_MACS = 5e10

TYPES = {
    "xdna": [("int8", "int8", "int8"), ("int8", "int8", "int16"), ("int8", "int8", "int32"),
             ("int16", "int16", "int16"), ("bf16", "bf16", "bf16"), ("bf16", "bf16", "f32")],
    "xdna2": [("int8", "int8", "int8"), ("int8", "int8", "int16"), ("int8", "int8", "int32"),
              ("int16", "int16", "int16"), ("bf16", "bf16", "bf16"), ("bf16", "bf16", "f32")],
    "ve2802": [("int8", "int8", "int8"), ("int8", "int8", "int32"), ("bf16", "bf16", "f32")],
    "vck190": [("int8", "int8", "int8"), ("int16", "int16", "int16")],
}


def gotoblas(rng):
    return {"gotoblas": {"m_r": rng.choice([8, 16]), "n_r": rng.choice([4, 8]),
                         "m_c": rng.choice([256, 512, 1024]), "n_c": rng.choice([256, 512]),
                         "k_c": rng.choice([64, 128, 256])}}


def output_stationary(rng):
    k_ct = 8 * rng.randint(4, 18)
    return {"output_stationary": {
        "m_ct": 16 * rng.randint(2, 8), "k_ct": k_ct, "n_ct": 16 * rng.randint(2, 8),
        "k_mt": k_ct * rng.choice([1, 2, 3, 4, 6, 8]), "c_buffers": rng.choice([1, 2]),
        "columns": rng.choice([0, 0, 2, 4]), "in_flight": rng.choice([0, 0, 1, 2])}}


def weight_stationary(rng, k):
    return {"weight_stationary": {
        "m_ct": 16 * rng.randint(2, 8), "k_ct": -(-k // 4 // 8) * 8, "n_ct": 16 * rng.randint(1, 6),
        "reduction": rng.choice(["cascade", "memory_tile"])}}


def point(rng):
    """A scenario as text: device, problem, mapping; and keys of the device."""
    device = rng.choices(["xdna2", "xdna", "ve2802", "vck190"], [50, 35, 5, 10])[0]
    a, b, c = rng.choice(TYPES[device])
    m, k, n = (64 * rng.randint(4, 64) for _ in range(3))
    gemm = {"M": m, "K": k, "N": n, "a": a, "b": b, "c": c}
    keys = {}
    if device == "vck190":
        mapping = gotoblas(rng)
    else:
        if rng.random() < 0.2:
            mapping = weight_stationary(rng, k)
        else:
            mapping = output_stationary(rng)
        gemm["b_layout"] = rng.choice(["column_major", "column_major", "row_major"])
        keys["device.npu.clock"] = f"{rng.choice([0.8, 1.0, 1.3, 1.6, 2.0])} GHz"
        keys["device.npu.shim.outstanding_bursts"] = rng.choice([4, 8, 16, 32])
    text = json.dumps({"device": device, "workload": {"gemm": gemm}, "mapping": mapping})
    return text, keys, m * k * n


def run(text, keys, *more):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        settings = [word for key, value in keys.items() for word in ("--set", f"{key}={value}")]
        done = subprocess.run([PROGRAM, "run", file.name, "--format", "json", *settings, *more],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(done.stdout) if done.returncode == 0 else None


def off_by(short, whole, key):
    return 100 * (short["memory"][key] / whole["memory"][key] - 1) if whole["memory"][key] else 0


def row_of(number, text, keys):
    """The point run both ways; nothing: it is not sampled."""
    short = run(text, keys, "--sampled")
    if short is None or "sampled" not in short or short["sampled"]["rounds"] > MOST_ROUNDS:
        return None
    whole = run(text, keys)
    return {
        "point": number, "scenario": text, "keys": json.dumps(keys),
        "rounds": int(short["sampled"]["rounds"]),
        "simulated": f"{short['sampled']['simulated']:.2f}",
        "error_percent": f"{100 * (short['time_ns'] / whole['time_ns'] - 1):.3f}",
        "stated_percent": f"{short['sampled']['error_percent']:.3f}",
        "whole_us": f"{whole['time_ns'] / 1e3:.3f}",
        "activates_percent": f"{off_by(short, whole, 'activates'):.3f}",
        "activates_stated_percent": f"{short['sampled']['activates_error_percent']:.3f}",
        "bytes_percent": f"{max(abs(off_by(short, whole, key)) for key in MOVED):.3f}",
        "bytes_stated_percent": f"{short['sampled']['memory_error_percent']:.3f}",
    }


def drawn(rng):
    for number in itertools.count():
        text, keys, macs = point(rng)
        if macs <= MOST_MACS:
            yield number, text, keys


def holds(row, what="error_percent", stated="stated_percent"):
    return abs(float(row[what])) <= float(row[stated])


def held_of(rows, what):
    return sum(holds(row, f"{what}_percent", f"{what}_stated_percent") for row in rows)


def update(jobs):
    rows = []
    points = drawn(random.Random(SEED))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        while len(rows) < COUNT:
            more = itertools.islice(points, 8 * jobs)
            rows += filter(None, pool.map(lambda each: row_of(*each), more))
            print(f"{len(rows)} of {COUNT}", file=sys.stderr)
    rows = rows[:COUNT]
    POINTS.parent.mkdir(exist_ok=True)
    with POINTS.open("w", newline="") as file:
        out = csv.DictWriter(file, rows[0], lineterminator="\n")
        out.writeheader()
        out.writerows(rows)
    errors = sorted(abs(float(row["error_percent"])) for row in rows)
    print(f"{sum(map(holds, rows))} of {COUNT} within what they state; "
          f"median {errors[COUNT // 2]:.2f} %, worst {errors[-1]:.2f} %; of bytes "
          f"{held_of(rows, 'bytes')}, of activates {held_of(rows, 'activates')}")


class SamplingTest(unittest.TestCase):
    def test_what_is_stated_holds_of_small_points(self):
        rng = random.Random(SEED)
        small = ((number, text, keys) for number, (text, keys, macs) in
                 ((i, point(rng)) for i in itertools.count()) if macs <= SMALL_MACS)
        rows = list(itertools.islice(filter(None, (row_of(*each) for each in small)), REPEATED))
        held = sum(map(holds, rows))
        self.assertGreaterEqual(held, REPEATED - 1, rows)
        for what in "bytes", "activates":
            self.assertGreaterEqual(held_of(rows, what), REPEATED - 2, rows)

    def test_a_round_is_what_a_task_moves(self):
        """Three output tiles a task, whose like are programmed too late: tiles alone look alike."""
        text = json.dumps({
            "device": "xdna2",
            "workload": {"gemm": {"M": 1120, "K": 320, "N": 736,
                                  "a": "int8", "b": "int8", "c": "int16"}},
            "mapping": {"output_stationary": {
                "m_ct": 56, "k_ct": 80, "n_ct": 64, "k_mt": 320, "c_buffers": 2,
                "columns": 4, "rows": 2, "reach": "block_row"}}})
        row = row_of(0, text, {})
        self.assertEqual(row["rounds"], 10)
        self.assertTrue(holds(row), row)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--update"]:
        update(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    else:
        unittest.main()
