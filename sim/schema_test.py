"""What an editor says with the schema: nothing of the shipped files, something of wrong ones."""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

try:
    import jsonschema
    import yaml
except ImportError as error:
    print(f"{error}: the schema is not tried")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONFIGS = ROOT / "configs"
SCHEMA = json.loads(subprocess.run([os.environ["TILESIM"], "schema"], check=True, text=True,
                                   stdout=subprocess.PIPE).stdout)

GEMM = """
device: xdna
workload: {gemm: {M: 128, K: 64, N: 128, a: int8, b: int8, c: int32}}
mapping: {output_stationary: {m_ct: 32, k_ct: 32, n_ct: 32}}
"""
SWEEP = "base: s.yaml\naxes: [{key: run.seed, values: [1, 2]}]\n"
MODEL = "name: m\nlayers: 2\nhidden: 64\nheads: 4\nfeed_forward: 256\nvocabulary: 300\n"
PROGRAM = (CONFIGS / "programs" / "add_one.yaml").read_text()
DEVICE = (CONFIGS / "devices" / "xdna.yaml").read_text()
MEMORY = (CONFIGS / "devices" / "ddr5_5600.yaml").read_text()

# A file, what is replaced in it, by what, and a word of what an editor says.
WRONG = [
    ("", "", "", "object"),
    ("- 1\n", "", "", "object"),
    ("device: xdna\n", "", "", "not valid under any"),
    (GEMM, "device: xdna\n", "", "device"),
    (GEMM, "workload", "worklod", "worklod"),
    (GEMM, "M: 128", "M: 0", "minimum"),
    (GEMM, "M: 128", "M: 128.5", "integer"),
    (GEMM, "M: 128", "M: many", "integer"),
    (GEMM, "M: 128, ", "", "'M' is a required"),
    (GEMM, "a: int8", "a: int9", "int9"),
    (GEMM, "c: int32", "c: int32, d: int8", "'d' was unexpected"),
    (GEMM, "{gemm:", "{gemv: {M: 1, K: 1}, gemm:", "valid under each of"),
    (GEMM, "m_ct: 32", "m_tc: 32", "m_tc"),
    (GEMM, "output_stationary", "output_stationery", "output_stationery"),
    (GEMM, "mapping", "run: {max_time: 5}\nmapping", "string"),
    (GEMM, "mapping", "run: {max_time: 5 parsec}\nmapping", "match"),
    (GEMM, "mapping", "run: {seed: -1}\nmapping", "minimum"),
    (GEMM, "mapping", "run: {functional: perhaps}\nmapping", "perhaps"),
    (GEMM, "mapping", "run: [functional]\nmapping", "object"),
    (DEVICE, "kind: npu", "kind: npx", "npx"),
    (DEVICE, "name: xdna", "", "'name' is a required"),
    (DEVICE, "request_latency: 75 ns", "request_latency: 75", "string"),
    (DEVICE, "request_latency", "request_latncy", "request_latncy"),
    (DEVICE, "link_width: 16 B/cycle", "link_width: 16 B", "match"),
    (MEMORY, "kind: memory", "kind: npu", "is not of type 'string'"),
    (SWEEP, "base: s.yaml\n", "", "not valid under any"),
    (SWEEP, "key: run.seed, ", "", "not valid under any"),
    (SWEEP, "values: [1, 2]", "values: 1", "array"),
    (SWEEP, "values: [1, 2]", "range: {from: 1, to: 4, points: 0}", "minimum"),
    (MODEL, "heads: 4\n", "", "'heads' is a required"),
    (MODEL, "layers: 2", "layers: two", "integer"),
    (PROGRAM, "external_buffers", "external_bufers", "external_bufers"),
    (PROGRAM, "- acquire:", "- aquire:", "'aquire' was unexpected"),
    (PROGRAM, "push:", "pish:", "'pish' was unexpected"),
    (PROGRAM, "values: counting", "values: countng", "countng"),
    ("kernels: {scale: 140}\n", "", "", "string"),
    ("default_kernel: 4 cycle\nkernels: {scale: 140 cycle}\nelse: 1\n", "", "", "else"),
]


class Loader(yaml.SafeLoader):
    """YAML 1.2, as editors and the program read it: `on` is a word."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(true|false)$"), "tf")


def complaints(text):
    validator = jsonschema.Draft202012Validator(SCHEMA)
    return [error.message for error in validator.iter_errors(yaml.load(text, Loader))]


def described(schema, path=""):
    """(path, schema) of every key below."""
    for key, value in schema.get("properties", {}).items():
        yield f"{path}.{key}", value
        yield from described(value, f"{path}.{key}")
        yield from described(value.get("items", {}), f"{path}.{key}[]")


class SchemaTest(unittest.TestCase):
    def test_is_a_schema(self):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)

    def test_shipped_files_are_right(self):
        files = [*CONFIGS.rglob("*.yaml")]
        self.assertGreater(len(files), 100)
        for file in files:
            with self.subTest(file=str(file.relative_to(ROOT))):
                self.assertEqual(complaints(file.read_text()), [])

    def test_wrong_files_are_wrong(self):
        for text, old, new, said in WRONG:
            with self.subTest(old=old, new=new):
                self.assertIn(old, text)
                found = complaints(text.replace(old, new, 1))
                self.assertTrue(any(said in each for each in found), f"{said!r} in {found}")

    def test_every_key_says_what_it_is(self):
        count = 0
        for name, schema in SCHEMA["$defs"].items():
            for path, key in described(schema, name):
                if "$ref" not in key and path != "device.kind":
                    self.assertTrue(key.get("description"), path)
                    self.assertTrue("type" in key or "enum" in key, path)
                    count += 1
        self.assertGreater(count, 500)


if __name__ == "__main__":
    unittest.main()
