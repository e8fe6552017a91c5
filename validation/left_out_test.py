"""What each suite of the arrays is without the numbers its own calibrate rows set.

    python3 validation/left_out_test.py --update

writes validation/left_out/table.csv, a line a group of rows: the error of its validate rows as the
device files are, and with what would stand there had the suite never been seen. The table of the
modelling guide is made of it, too. The test does the shortest lines again.
"""

import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "validation" / "left_out" / "table.csv"
GUIDE = ROOT / "docs" / "modelling.md"
HEAD = "| suite | numbers set by its calibrate rows | with them | put in their place | without |"
PROGRAM = os.environ.get("TILESIM", str(ROOT / "build" / "tilesim"))
DESIGNS = "validation/npu_designs/designs.csv"


def on_devices(**keys):
    """Changes of keys that stand once in the arrays' device files; `key: value` of one or of both."""
    return [(f"configs/devices/{device}.yaml", rf"(?m)^( *{key}: )[^#\n]*", rf"\g<1>{value} ")
            for key, values in keys.items() for device, value in values.items()]


def both(value):
    return {"xdna": value, "xdna2": value}


def timing_model(design):
    """The kernel takes what the timing model says."""
    return [(DESIGNS, rf"(?m)^(\w+,{design}),\d+", r"\1,1000")]


WORDS = on_devices(descriptor_cycles=both("840 cycle"), task_start=both("0 cycle"))
WORDS_TOLD = "words of a descriptor, 840 cycles, no `task_start`"
KERNEL_TOLD = "the timing model's kernel"

LINES = [  # suite, its rows that hold a text, their group; what is told of them; changes of files
    ("npu", "whole_array", "whole_array", "`npu`, whole array", "`link_clock`, `page_walk`",
     "a link of 160 GB/s, which does not bind, no walks",
     on_devices(link_clock=both("10 GHz"), page_walk=both("0 ns"))),
    ("npu_ablations", "row_major_kept", "ablations", "`npu_ablations`, row-major",
     "`request_interval`, `block_interval`", "17.8 ns (256 B at 8 B a cycle of XDNA2), no blocks",
     on_devices(request_interval=both("17.8 ns"), block_interval=both("0 ns"))),
    ("npu_ablations", "sequential", "ablations", "`npu_ablations`, sequential",
     "none of its own; `descriptor_cycles` from `npu_micro`", WORDS_TOLD, WORDS),
    ("npu_micro", "", "micro_long", "`npu_micro`, 1024 words and more",
     "`task_start`, `descriptor_cycles`", "the same", WORDS),
    ("npu_micro", "", "micro_gaps", "`npu_micro`, gaps", "`descriptor_cycles`", "the same", WORDS),
    ("npu_micro", "", "micro_short", "`npu_micro`, shorter transfers", "`task_start`", "the same",
     WORDS),
    ("npu_aries", "", "aries", "`npu_aries`", "dispatch of `aries_phoenix`", "-", []),
    ("npu_designs", "iron_gemv/", "iron_gemv", "`npu_designs`, IRON GEMV", "`data_fifo`",
     "64 KiB, which does not bind", on_devices(data_fifo=both("65536 B"))),
    ("npu_designs", "mlir_air_gemv", "gemv", "`npu_designs`, mlir-air GEMV",
     "the link of `air_strix`", "-", []),
    ("npu_designs", "iron_gemm", "gemm_iron_gemm", "`npu_designs`, IRON GEMM",
     "one kernel constant a device", KERNEL_TOLD, timing_model("iron_gemm")),
    ("npu_designs", "mlir_air_external", "gemm_mlir_air_external",
     "`npu_designs`, mlir-air GEMM: external", "none", "-", []),
    ("npu_designs", "mlir_air_drain", "gemm_mlir_air_drain", "drain", "none", "-", []),
    ("npu_designs", "mlir_air_fused_cast", "gemm_mlir_air_fused_cast", "fused cast", "none", "-",
     []),
    ("npu_designs", "mlir_air_direct", "gemm_mlir_air_direct", "direct", "a kernel constant",
     KERNEL_TOLD, timing_model("mlir_air_direct")),
]
REPEATED = [2, 3, 4, 5]  # of the lines, by the test: they take seconds


def errors(suite, rows, group, share=None):
    """Mean and worst of the group's validate rows, in percent."""
    environment = dict(os.environ, **({"TILESIM_SHARE": str(share)} if share else {}))
    # The status is 1 beyond a bound, as rows without their numbers are.
    printed = subprocess.run([PROGRAM, "validate", suite, *(["--rows", rows] if rows else [])],
                             text=True, env=environment, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL).stdout
    found = re.search(rf"(?m)^{group}, validate rows: MAPE ([\d.]+) %, worst ([\d.]+) %", printed)
    if found is None:
        raise ValueError(f"no validate rows of {group} in what {suite} prints")
    return found[1], found[2]


def changed(changes, folder):
    """A copy of the device files and rows with the changes made, each in one place."""
    for part in ("configs", "validation"):
        shutil.copytree(ROOT / part, folder / part)
    for name, pattern, value in changes:
        file = folder / name
        text, times = re.subn(pattern, value, file.read_text())
        if times == 0 or (times > 1 and name != DESIGNS):
            raise ValueError(f"{name}: {pattern} is there {times} times")
        file.write_text(text)
    return folder


def row_of(line):
    suite, rows, group, *_, changes = line
    mean, worst = errors(suite, rows, group)
    row = {"suite": suite, "rows": rows, "group": group, "mean": mean, "worst": worst,
           "mean_without": "", "worst_without": ""}
    if changes:
        with tempfile.TemporaryDirectory() as folder:
            share = changed(changes, pathlib.Path(folder))
            row["mean_without"], row["worst_without"] = errors(suite, rows, group, share)
    return row


def guide_line(line, row):
    """As the guide's table tells it."""
    *_, told, numbers, instead, changes = line
    without = f"{row['mean_without']} / {row['worst_without']} %"
    if not changes:
        without = "no kernel constant is set"
    return f"| {told} | {numbers} | {row['mean']} / {row['worst']} % | {instead} | {without} |"


def guide_table(rows):
    return "\n".join([HEAD, "| --- | --- | --- | --- | --- |",
                      *(guide_line(line, row) for line, row in zip(LINES, rows, strict=True))])


def stored():
    with TABLE.open() as lines:
        return list(csv.DictReader(lines))


def update():
    rows = [row_of(line) for line in LINES]
    TABLE.parent.mkdir(exist_ok=True)
    with TABLE.open("w", newline="") as file:
        out = csv.DictWriter(file, rows[0], lineterminator="\n")
        out.writeheader()
        out.writerows(rows)
    before, _, after = GUIDE.read_text().partition(HEAD)
    GUIDE.write_text(before + guide_table(rows) + after[after.index("\n\n"):])


class LeftOutTest(unittest.TestCase):
    def test_the_guide_shows_the_table(self):
        self.assertIn(guide_table(stored()), GUIDE.read_text())

    def test_a_few_lines_again(self):
        rows = stored()
        for number in REPEATED:
            with self.subTest(line=LINES[number][3]):
                self.assertEqual(row_of(LINES[number]), rows[number])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--update"]:
        update()
    else:
        unittest.main()
