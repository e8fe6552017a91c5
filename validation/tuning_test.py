"""Compares `tune` and the default mapping with the best of all mappings, each simulated whole, or of
2,000 that are evenly spread over them where there are more.

    python3 validation/tuning_test.py --update [JOBS [SIZE ...]]

writes validation/tuning/table.csv, a line a size, or those lines of it: machines, dataflows and
types. `tune` never takes longer than a plain run's mapping;
how far each is from the best stands in the table. The test does the shortest lines again.
"""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "validation" / "tuning" / "table.csv"
PROGRAM = os.environ.get("TILESIM", str(ROOT / "build" / "tilesim"))
MOST_MAPPINGS = 2000  # simulated whole
TUNED_WITHIN = 2.0     # percent of the best
DEFAULT_WITHIN = 5.0
MOST_SECONDS = 60.0    # of a search


def gemm(m, k, n, a, c, b=None, more=""):
    return f"{{gemm: {{M: {m}, K: {k}, N: {n}, a: {a}, b: {b or a}, c: {c}{more}}}}}"


def gemv(m, k):
    return f"{{gemv: {{M: {m}, K: {k}}}}}"


REPEATED = [13, 14, 22, 23]  # of the sizes, by the test: their mappings take seconds

SIZES = [  # device, workload
    ("xdna", gemm(64, 64, 64, "int8", "int32")),
    ("xdna", gemm(128, 128, 128, "int8", "int32")),
    ("xdna", gemm(1024, 96, 64, "int8", "int8")),
    ("xdna", gemm(128, 128, 128, "bf16", "bf16")),
    ("xdna", gemm(64, 256, 128, "int16", "int16")),
    ("xdna", gemm(512, 64, 256, "int8", "int16")),
    ("xdna2", gemm(128, 128, 128, "int8", "int32")),
    ("xdna2", gemm(64, 512, 256, "int8", "int16")),
    ("xdna2", gemm(128, 128, 256, "bf16", "f32")),
    ("xdna2", gemm(128, 256, 128, "int16", "int16")),
    ("xdna2", gemm(2048, 96, 128, "int8", "int8")),
    ("xdna2", gemm(256, 64, 512, "bf16", "bf16")),
    ("xdna2", gemv(2048, 2048)),
    ("xdna", gemv(2048, 1024)),
    ("vck190", gemm(256, 256, 256, "int16", "int16")),
    ("vck190", gemm(512, 256, 512, "int8", "int8")),
    ("lpddr5x_pim", gemv(4096, 4096)),
    ("lpddr5x_pim", gemv(12288, 2048)),
    ("sapphire_rapids", gemm(256, 256, 256, "int8", "int32")),
    ("sapphire_rapids", gemm(16, 256, 1024, "bf16", "f32")),
    ("sapphire_rapids", gemm(64, 192, 128, "int8", "int32")),
    ("sapphire_rapids", gemm(96, 128, 64, "bf16", "f32")),
    ("lpddr5x_pim", gemv(4160, 4096)),  # no tile of more than four rows divides them
    ("sapphire_rapids", gemm(64, 64, 64, "int8", "int32")),  # its best layout shows last
]


def scenario(device, workload):
    return f"device: {device}\nworkload: {workload}\n"


def call(command, text, *arguments):
    """What the command prints, as JSON, and the seconds it took."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        began = time.monotonic()
        printed = subprocess.run([PROGRAM, command, file.name, "--format", "json", *arguments],
                                 text=True, check=True, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL).stdout
    return json.loads(printed), time.monotonic() - began


def inner(mapping):
    """What a mapping says, in short."""
    name, keys = next(iter(mapping.items()))
    shown = " ".join(f"{key}={value}" for key, value in keys.items()
                     if key in ("m_ct", "k_ct", "n_ct", "k_mt", "c_buffers", "reduction", "reach",
                                "rows_per_call", "path", "m_r", "n_r", "k_c", "m_acc", "n_acc",
                                "order", "b_layout", "input_registers", "cr_degree", "split_k"))
    return f"{name}: {shown}"


def row_of(size, jobs):
    text = scenario(*size)
    run, run_s = call("run", text)
    tuned, tune_s = call("tune", text, "--jobs", str(jobs))
    few = tuned["mappings"] <= MOST_MAPPINGS
    which = ["--all"] if few else ["--spread", str(MOST_MAPPINGS)]
    every, _ = call("tune", text, *which, "--jobs", str(jobs))
    best = every["trials"][0]
    found = tuned["trials"][0]
    least = min(best["time_ns"], found["time_ns"])
    return {
        "device": size[0], "workload": size[1], "mappings": every["mappings"],
        "tried": min(every["mappings"], MOST_MAPPINGS),
        "best_us": f"{best['time_ns'] / 1e3:.3f}", "best": inner(best["mapping"]),
        "tune_us": f"{found['time_ns'] / 1e3:.3f}", "tune_s": f"{tune_s:.1f}",
        "tune_percent": f"{100 * (found['time_ns'] / least - 1):.2f}",
        "default_us": f"{run['time_ns'] / 1e3:.3f}", "default_s": f"{run_s:.1f}",
        "default_percent": f"{100 * (run['time_ns'] / least - 1):.2f}",
        "default": inner(run["mapping"]),
    }


def stored():
    with TABLE.open() as lines:
        return list(csv.DictReader(lines))


def size_of(row):
    return row["device"], row["workload"]


def update(jobs, only):
    """Measures the sizes numbered, or all; a line is written when it is known, the others stay."""
    rows = {size_of(row): row for row in stored()}
    for number in only or range(len(SIZES)):
        rows[SIZES[number]] = row_of(SIZES[number], jobs)
        known = [rows[size] for size in SIZES if size in rows]
        with TABLE.open("w", newline="") as file:
            out = csv.DictWriter(file, known[0], lineterminator="\n")
            out.writeheader()
            out.writerows(known)


class TuningTest(unittest.TestCase):
    def test_the_table_reaches_what_it_should(self):
        for row in stored():
            with self.subTest(device=row["device"], workload=row["workload"]):
                self.assertLessEqual(float(row["tune_us"]), float(row["default_us"]))
                self.assertLessEqual(float(row["tune_s"]), MOST_SECONDS)
                self.assertLessEqual(float(row["tune_percent"]), TUNED_WITHIN)
                self.assertLessEqual(float(row["default_percent"]), DEFAULT_WITHIN)

    def test_a_few_lines_again(self):
        for size in [SIZES[number] for number in REPEATED]:
            with self.subTest(size=size):
                row = row_of(size, 2)
                self.assertLessEqual(float(row["tune_us"]), float(row["default_us"]))
                self.assertLessEqual(float(row["tune_percent"]), TUNED_WITHIN)
                self.assertLessEqual(float(row["default_percent"]), DEFAULT_WITHIN)


class LongTuningTest(unittest.TestCase):  # .ci/full runs it
    def test_the_fastest_simulated_whole_is_varied_beside_the_extrapolated(self):
        text = scenario("ve2802", gemm(672, 64, 32, "int8", "int16",
                                       more=", b_layout: column_major"))
        best, _ = call("run", text, "--set", "mapping={output_stationary: {m_ct: 28, k_ct: 32, "
                       "n_ct: 32, k_mt: 32, c_buffers: 2, columns: 1, rows: 4, a_buffers: 3, "
                       "b_buffers: 2, reach: block_row}}")
        tuned, _ = call("tune", text, "--jobs", "2", "--set",
                        "mapping={output_stationary: {m_ct: 28, k_mt: 32}}")
        self.assertLessEqual(tuned["trials"][0]["time_ns"],
                             (1 + TUNED_WITHIN / 100) * best["time_ns"])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--update"]:
        update(int(sys.argv[2]) if len(sys.argv) > 2 else 1, [int(x) for x in sys.argv[3:]])
    else:
        unittest.main()
