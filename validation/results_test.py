"""Says which predictions of reference rows moved since the newest file of validation/results.

    python3 validation/results_test.py --update

writes the predictions of this version: a file a version, a line a row. The suites are those that
take seconds. A row that moved is printed, not an error: `validate` has the bounds; a row that is no
longer predicted is one.
"""

import csv
import io
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "validation" / "results"
PROGRAM = os.environ.get("TILESIM", str(ROOT / "build" / "tilesim"))
SUITES = ["npu_micro", "memory", "pim_designs", "amx", "versal"]
MOVED = 0.05  # points of a percent


def version_of(file):
    return tuple(int(part) for part in file.stem.split("."))


def predicted():
    """{(suite, id): (use, error in percent)} as the program has it now."""
    rows = {}
    for suite in SUITES:
        text = subprocess.run([PROGRAM, "validate", suite, "--format", "csv"], text=True,
                              stdout=subprocess.PIPE).stdout
        for row in csv.DictReader(io.StringIO(text)):
            rows[suite, row["id"]] = row["use"], float(row["error_percent"])
    return rows


def stored(file):
    with file.open() as lines:
        return {(row["suite"], row["id"]): (row["use"], float(row["error_percent"]))
                for row in csv.DictReader(lines)}


def changes(before, now):
    """Lines about rows that moved, came or went."""
    for key, (use, error) in now.items():
        name = f"{key[0]} {key[1]} ({use})"
        if key not in before:
            yield f"{name}: new, {error:+.2f} %"
        elif abs(error - before[key][1]) > MOVED:
            yield f"{name}: {before[key][1]:+.2f} % -> {error:+.2f} %"
    for key in before:
        if key not in now:
            yield f"{key[0]} {key[1]}: gone"


def update():
    version = subprocess.run([PROGRAM, "--version"], text=True,
                             stdout=subprocess.PIPE).stdout.split()[1]
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / f"{version}.csv").open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["suite", "id", "use", "error_percent"])
        for (suite, name), (use, error) in predicted().items():
            out.writerow([suite, name, use, f"{error:.3f}"])


class ResultsTest(unittest.TestCase):
    def test_changes_are_named(self):
        before = {("s", "same"): ("validate", 1.0), ("s", "moved"): ("validate", 1.0),
                  ("s", "lost"): ("validate", 1.0)}
        now = {("s", "same"): ("validate", 1.01), ("s", "moved"): ("validate", -2.0),
               ("s", "found"): ("calibrate", 3.0)}
        self.assertEqual(list(changes(before, now)),
                         ["s moved (validate): +1.00 % -> -2.00 %",
                          "s found (calibrate): new, +3.00 %", "s lost: gone"])

    def test_no_row_is_lost_and_what_moved_is_said(self):
        newest = max(RESULTS.glob("*.csv"), key=version_of)
        moved = list(changes(stored(newest), predicted()))
        print(f"{len(moved)} rows moved since {newest.stem}", *moved, sep="\n  ")
        self.assertFalse([line for line in moved if line.endswith("gone")])


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        update()
    else:
        unittest.main()
