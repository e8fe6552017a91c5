"""Results of every kind of run hold what `tilesim schema --result` says, and nothing else."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

try:
    import jsonschema
except ImportError as error:
    print(f"{error}: the schema is not tried")
    sys.exit(77)

CONFIGS = pathlib.Path(__file__).resolve().parent.parent / "configs"
# What names end in where they have a unit.
UNITS = {"_ns": "ns", "_nj": "nJ", "_s": "s", "_bytes": "B", "_cycles": "cycle", "_cycle": "cycle",
         "_percent": "%", "_ghz": "GHz", "gb_per_s": "GB/s", "tokens_per_s": "1/s",
         "_per_cycle": "1/cycle"}

# One at least of each machine, of each kind of work, and of each way a run may end.
RUNS = [
    "scenarios/agents_npu_and_cpu.yaml",
    "scenarios/amx_gemm_int8.yaml",
    "scenarios/ddr4_energy.yaml",
    "scenarios/gpt2_step_xdna.yaml",
    "scenarios/pim_gemv.yaml",
    "scenarios/pim_gemv_with_traffic.yaml",
    "scenarios/pim_llama_8b.yaml",
    "scenarios/pim_opt_6.7b_npu_prompt.yaml",
    "scenarios/vck190_core_kernel.yaml",
    "scenarios/vck190_gotoblas.yaml",
    "scenarios/xdna2_rms_norm.yaml",
    "scenarios/xdna2_gemv_int4.yaml",
    "scenarios/xdna_core_kernel.yaml",
    "scenarios/xdna_functional.yaml",
    "programs/deadlock_livelock.yaml",
    "programs/deadlock_lock_order.yaml",
    "programs/pim_loop.yaml",
    "programs/queue_overflow.yaml",
    "programs/scale.mlir",
    "scenarios/xdna2_gemm_int8_int8.yaml --sampled",
    "scenarios/xdna_functional.yaml --set run.max_time=1us",
    "scenarios/xdna2_auto_mapping.yaml --set device=lpddr5x_pim --set workload.gemm.M=4",
    # Where two parts must be faster together.
    "scenarios/xdna2_silu.yaml --set device=xdna --set workload.elementwise.operation=add "
    "--set mapping.elementwise.columns=1 --set mapping.elementwise.cores=1 "
    "--set mapping.elementwise.elements_per_call=2048",
]


def output(*arguments):
    done = subprocess.run([os.environ["TILESIM"], *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
    return done.stdout


SCHEMA = json.loads(output("schema", "--result"))


def keys_of(schema, path=()):
    """(path, schema) of every key below; "*" is any name."""
    for name, below in schema.get("properties", {}).items():
        yield (*path, name), below
        yield from keys_of(below, (*path, name))
    others = schema.get("additionalProperties")
    if isinstance(others, dict):
        yield (*path, "*"), others
        yield from keys_of(others, (*path, "*"))
    yield from keys_of(schema["items"], (*path, "[]")) if "items" in schema else ()


def values_at(value, path):
    if not path:
        yield value
    elif path[0] == "[]":
        for each in value if isinstance(value, list) else ():
            yield from values_at(each, path[1:])
    elif isinstance(value, dict):
        for name, each in value.items():
            if path[0] in ("*", name):
                yield from values_at(each, path[1:])


class ResultSchemaTest(unittest.TestCase):
    def test_results_are_as_it_says_and_have_every_key(self):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)
        validator = jsonschema.Draft202012Validator(SCHEMA)
        results = []
        for run in RUNS:
            file, *options = run.split()
            with self.subTest(run=run):
                text = output("run", str(CONFIGS / file), "--format", "json", *options)
                results.append(json.loads(text))
                found = [f"{'.'.join(map(str, error.absolute_path))}: {error.message}"
                         for error in validator.iter_errors(results[-1])]
                self.assertEqual(found, [])
        for path, _ in keys_of(SCHEMA):
            with self.subTest(key=".".join(path)):
                self.assertTrue(any(True for result in results for _ in values_at(result, path)))
        self.assertEqual({result["status"] for result in results},
                         {"ok", "deadlock", "time_limit"})

    def test_names_and_units_agree(self):
        for path, key in keys_of(SCHEMA):
            name = path[-2] if path[-1] == "*" else path[-1]
            end = max((end for end in UNITS if name.endswith(end)), key=len, default=None)
            unit = UNITS.get(end)
            if unit and ("number" in key["type"] or "integer" in key["type"]):
                self.assertEqual(key.get("unit"), unit, ".".join(path))

    def test_what_is_not_a_result_is_refused(self):
        validator = jsonschema.Draft202012Validator(SCHEMA)
        good = json.loads(output("run", str(CONFIGS / "scenarios/ddr4_energy.yaml"), "--format",
                                 "json"))
        for change in ({"time_ns": "1"}, {"else": 1}, {"schema": "tilesim-result-0"},
                       {"details": {"else": 1}}, {"memory": {"bytes": 1}}):
            self.assertFalse(validator.is_valid({**good, **change}), change)
        self.assertFalse(validator.is_valid({key: good[key] for key in good if key != "status"}))


if __name__ == "__main__":
    unittest.main()
