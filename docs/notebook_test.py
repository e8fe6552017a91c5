"""Runs the notebooks of docs/ cell by cell and compares what they print with what they hold.

    python3 docs/notebook_test.py --update

writes what the cells print now into the notebooks. A notebook's cells run in one namespace, in
order, where configs/ lies; no Jupyter is needed.
"""

import contextlib
import io
import json
import os
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "docs").rglob("*.ipynb"))


def executed(notebook):
    """(cell, what it printed) of each cell of code."""
    names = {"__name__": "__main__"}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile("".join(cell["source"]), "cell", "exec"), names)
            yield cell, printed.getvalue()


def shown(cell):
    return "".join(line for output in cell["outputs"] for line in output["text"])


class NotebookTest(unittest.TestCase):
    def test_cells_print_what_is_shown(self):
        self.assertTrue(NOTEBOOKS)
        for file in NOTEBOOKS:
            for cell, printed in executed(json.loads(file.read_text())):
                self.assertEqual(printed, shown(cell), file.name)


def update(file):
    notebook = json.loads(file.read_text())
    number = 0
    for cell, printed in executed(notebook):
        number += 1
        cell["execution_count"] = number
        cell["outputs"] = [{"name": "stdout", "output_type": "stream",
                            "text": printed.splitlines(keepends=True)}] if printed else []
    file.write_text(json.dumps(notebook, indent=1) + "\n")


if __name__ == "__main__":
    os.chdir(ROOT)
    if sys.argv[1:] == ["--update"]:
        for each in NOTEBOOKS:
            update(each)
    else:
        unittest.main()
