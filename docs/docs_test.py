"""Runs every command the documents show and compares what they show of its output, and finds what
a device, a scenario or a key may be called in them.

A block of ```console holds commands, `$ tilesim ...`, each followed by what it prints. A line of
three dots stands for any number of lines, three dots within a line for any text. A command without
output shown must only succeed. Commands of a document run in one folder, in order, beside configs/
and docs/. A block ```console no-test is for people only: what needs a network, hardware or minutes.
A picture docs/images/FOLDER/PLOT.svg is what a command of its document wrote to FOLDER/PLOT.svg.

    python3 docs/docs_test.py --update docs/tutorials/tile-shape.md

writes what the commands print now into a document, where output is shown without dots, and its
pictures beside it; into docs/results.md also the tables of a result's keys.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = pathlib.Path(os.environ.get("TILESIM", ROOT / "build" / "tilesim"))
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(text):
    """(line number, lines) of each ```console block."""
    for match in re.finditer(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        yield text.count("\n", 0, match.start()) + 2, match.group(1).splitlines()


def goes_on(command):
    """After a back-slash, and up to the END of a here-document."""
    here = "<< 'END'" in command and not command.endswith("\nEND")
    return here or command.endswith("\\")


def commands(first, lines):
    """(line number, command, shown lines) of a block."""
    number, command, shown = 0, "", []
    for at, line in enumerate(lines, first):
        if command and not shown and goes_on(command):
            command += "\n" + line
        elif line.startswith("$ "):
            if command:
                yield number, command, shown
            number, command, shown = at, line[2:], []
        else:
            shown.append(line)
    if command:
        yield number, command, shown


def pattern(shown):
    """A regular expression of the lines shown."""
    parts = []
    for line in shown:
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(".*".join(re.escape(part.rstrip()) for part in line.split("...")) + r" *\n")
    return "".join(parts)


def pictures(document):
    """(the file in docs/images, where the document's commands wrote it) of each plot shown."""
    for match in re.finditer(r"\]\(([^)]*\bimages/([\w-]+/[\w-]+\.svg))\)", document.read_text()):
        yield (document.parent / match.group(1)).resolve(), match.group(2)


class Folder:
    """Where the commands of a document run."""

    def __init__(self):
        self.temporary = tempfile.TemporaryDirectory()
        for name in ("configs", "docs", "validation"):
            os.symlink(ROOT / name, pathlib.Path(self.temporary.name) / name)
        self.environment = {**os.environ, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}",
                            "PYTHONPATH": str(PROGRAM.parent / "python")}

    def run(self, command):
        """(exit code, what it printed)"""
        done = subprocess.run(["bash", "-c", command], cwd=self.temporary.name,
                              env=self.environment, text=True, timeout=300,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        ended = done.stdout.endswith("\n") or not done.stdout
        return done.returncode, done.stdout if ended else done.stdout + "\n"

    def picture(self, written):
        """What a command drew into the file."""
        return (pathlib.Path(self.temporary.name) / written).read_bytes()


class DocumentTest(unittest.TestCase):
    def check(self, document):
        folder = Folder()
        for first, lines in blocks(document.read_text()):
            for number, command, shown in commands(first, lines):
                code, output = folder.run(command)
                place = f"{document.relative_to(ROOT)}:{number}: {command}"
                if not shown:
                    self.assertEqual(code, 0, f"{place}\n{output}")
                elif not re.fullmatch(pattern(shown), output):
                    self.fail(f"{place}\nprints\n{output}\nand not\n" + "\n".join(shown))
        for stored, written in pictures(document):
            self.assertTrue(stored.read_bytes() == folder.picture(written),
                            f"{document.relative_to(ROOT)}: {stored.name} is not what is drawn now")


def choices(schema):
    """What keys may be, where that is one of several names."""
    if isinstance(schema, list):
        return set().union(*map(choices, schema))
    if not isinstance(schema, dict):
        return set()
    own = {name for name in schema.get("enum", []) if isinstance(name, str)}
    return own.union(*map(choices, schema.values()))


class ParagraphTest(unittest.TestCase):
    # Characters. What is longer is several facts: a list or a table.
    LONGEST = 800

    def test_no_paragraph_is_a_wall(self):
        walls = [f"{each.relative_to(ROOT)}:{number}: {len(line)} characters"
                 for each in DOCUMENTS
                 for number, line in enumerate(each.read_text().splitlines(), 1)
                 if len(line) > self.LONGEST]
        self.assertEqual(walls, [])


RESULTS = ROOT / "docs" / "results.md"


def result_keys(schema, path=""):
    """(path, schema, whether it is always there) of every key of a result."""
    for name, key in schema.get("properties", {}).items():
        yield f"{path}{name}", key, name in schema.get("required", [])
        if "items" in key:
            yield from result_keys(key["items"], f"{path}{name}[].")
        yield from result_keys(key, f"{path}{name}.")
    others = schema.get("additionalProperties")
    if isinstance(others, dict):
        if "type" in others and "properties" not in others:
            yield f"{path}*", others, False
        yield from result_keys(others, f"{path}*.")


def result_row(path, key, always):
    types = key["type"] if isinstance(key["type"], str) else " or ".join(key["type"])
    cells = (f"`{path}`", types, key.get("unit", ""), "all" if always else "some",
             key.get("description", ""))
    return "| " + " | ".join(cells) + " |\n"


def with_result_tables(text):
    """The document of results with a row for each key."""
    schema = json.loads(subprocess.run([PROGRAM, "schema", "--result"], check=True,
                                       stdout=subprocess.PIPE).stdout)
    rows = [result_row(*key) for key in result_keys(schema)]
    details = [row for row in rows if row.startswith("| `details.")]
    for head, part in (("key", [row for row in rows if row not in details]),
                       ("key of `details`",
                        [row.replace("`details.", "`", 1) for row in details])):
        head = f"| {head} | type | unit | in | meaning |\n| --- | --- | --- | --- | --- |\n"
        before, _, after = text.partition(head)
        after = re.sub(r"\A(\|.*\n)*", "", after)
        text = before + head + "".join(part) + after
    return text


class ResultsTest(unittest.TestCase):
    def test_every_key_of_a_result_is_explained(self):
        self.assertEqual(with_result_tables(RESULTS.read_text()), RESULTS.read_text())


class NamesTest(unittest.TestCase):
    def test_each_choice_of_a_key_is_explained(self):
        schema = subprocess.run([PROGRAM, "schema"], check=True, stdout=subprocess.PIPE).stdout
        words = set().union(*(re.findall(r"\w+", each.read_text()) for each in DOCUMENTS))
        self.assertEqual(sorted(choices(json.loads(schema)) - words), [])

    def test_each_device_is_listed(self):
        listed = set(re.findall(r"`(\w+)`", (ROOT / "docs" / "adding-a-device.md").read_text()))
        shipped = {each.stem for each in (ROOT / "configs" / "devices").glob("*.yaml")}
        self.assertEqual(sorted(shipped - listed), [])


def update(document):
    """Replaces the output shown in a document by what its commands print now."""
    folder = Folder()
    text = document.read_text()

    def updated(match):
        lines = []
        for _, command, shown in commands(0, match.group(1).splitlines()):
            _, output = folder.run(command)
            lines.append("$ " + command)
            keep = not shown or any("..." in line for line in shown)
            lines.extend(shown if keep else output.splitlines())
        return "```console\n" + "\n".join(lines) + "\n```"

    text = re.sub(r"^```console\n(.*?)^```", updated, text, flags=re.DOTALL | re.MULTILINE)
    document.write_text(with_result_tables(text) if document == RESULTS else text)
    for stored, written in pictures(document):
        stored.parent.mkdir(exist_ok=True)
        stored.write_bytes(folder.picture(written))


def add_tests():
    for document in DOCUMENTS:
        name = re.sub(r"\W", "_", str(document.relative_to(ROOT)))
        setattr(DocumentTest, f"test_{name}", lambda self, path=document: self.check(path))


add_tests()
if __name__ == "__main__":
    if sys.argv[1:2] == ["--update"]:
        for name in sys.argv[2:]:
            update(pathlib.Path(name).resolve())
    else:
        unittest.main()
