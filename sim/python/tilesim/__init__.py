"""tilesim from Python: load a scenario, change it, run it, sweep it.

    import tilesim

    scenario = tilesim.load("configs/scenarios/xdna2_gemm_int8_int8.yaml")
    result = scenario.set("mapping.output_stationary.k_mt", 864).run()
    print(result.time_us, result["bottleneck"])

    rows = tilesim.sweep(scenario, {"device.npu.clock": ["1 GHz", "1.8 GHz"]})
    pandas.DataFrame(rows)

What is wrong with an input is raised with the text the command line prints: ConfigError (a
ValueError: the input), IoError (an OSError: a file), ProgramFault (a RuntimeError: what the
hardware does not survive).
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, Union

from . import _native
from ._native import ConfigError, IoError, ProgramFault

__all__ = ["ConfigError", "IoError", "ProgramFault", "Result", "Scenario", "configs", "describe",
           "load", "parse", "run", "sweep"]
__version__: str = _native.version

Path = Union[str, "os.PathLike[str]"]
Value = Union[str, int, float, bool]


def _text(value: Value) -> str:
    """A value as YAML writes it."""
    if getattr(value, "ndim", None) == 0:  # a scalar of numpy, whose bool is none of Python's
        value = value.item()  # type: ignore[union-attr]
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def _is_half_a_character(text: str) -> bool:
    """Whether it holds a surrogate: what Python makes of bytes that are no UTF-8."""
    return any("\ud800" <= character <= "\udfff" for character in text)


def _checked(overrides: Mapping[str, Value]) -> Mapping[str, Value]:
    """Keys to change: texts, each with a value."""
    if not isinstance(overrides, Mapping):
        raise TypeError(f"keys to change must be a dict, got {overrides!r}")
    for key, value in overrides.items():
        if not isinstance(key, str):
            raise TypeError(f"a key to change must be a text, got {key!r}")
        if value is None:
            raise TypeError(f"{key}: a key needs a value")
        if isinstance(value, bytes):
            raise TypeError(f"{key}: a value must be a text, a number or a bool, got {value!r}")
        if any(_is_half_a_character(text) or "\0" in text for text in (key, _text(value))):
            raise ConfigError(f"--set {key!a}: must be UTF-8 text, got {_text(value)!a}")
    return overrides


def _pairs(overrides: Mapping[str, Value]) -> list[tuple[str, str]]:
    return [(key, _text(value)) for key, value in overrides.items()]


class Result(Mapping[str, Any]):
    """What a run gave: the object of `--format json`, read like a dict."""

    def __init__(self, text: str, deadlock: str = "") -> None:
        self._values: dict[str, Any] = json.loads(text)
        self.deadlock = deadlock
        """Who waits for whom; empty unless `status` is "deadlock"."""

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"<tilesim result: {self['device']}, {self.status}, {self.time_us:.3f} us>"

    @property
    def status(self) -> str:
        """ok, mismatch, deadlock or time_limit."""
        return self._values["status"]

    @property
    def time_us(self) -> float:
        return self._values["time_ns"] / 1e3

    def row(self) -> dict[str, Any]:
        """The result as one flat row, nested keys joined by dots; lists are left out."""
        return dict(_flat("", self._values))


def _flat(prefix: str, values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _flat(f"{prefix}{key}.", value)
        elif not isinstance(value, list):
            yield prefix + key, value


class Scenario:
    """A scenario file, or a text, and what was changed of it. Never changes itself."""

    def __init__(self, text: str | None, file: str, overrides: Mapping[str, Value]) -> None:
        self._text = text
        self._file = file
        self._overrides = dict(overrides)
        if text is None:
            self._native = _native.load(file, _pairs(overrides))
        else:
            self._native = _native.parse(text, file, _pairs(overrides))

    def __reduce__(self) -> tuple[Any, ...]:
        """Crosses to other processes, and is copied, as what it was made of."""
        return Scenario, (self._text, self._file, self._overrides)

    def __repr__(self) -> str:
        changed = "".join(f", {key}={_text(value)}" for key, value in self._overrides.items())
        return f"<tilesim scenario: {self._file}{changed}>"

    def set(self, key: str | Mapping[str, Value], value: Value | None = None) -> Scenario:
        """The scenario with a key, or several, changed: set("run.seed", 7), set({"a": 1, "b": 2})."""
        if isinstance(key, str):
            if value is None:
                raise TypeError("set: a key needs a value")
            key = {key: value}
        elif value is not None:
            raise TypeError("set: several keys have their values with them")
        return Scenario(self._text, self._file, self._with(_checked(key)))

    def _with(self, changed: Mapping[str, Value]) -> dict[str, Value]:
        # What is set again is set last: a map set meanwhile held the key, too.
        kept = {name: old for name, old in self._overrides.items() if name not in changed}
        return {**kept, **changed}

    def run(self, *, functional: bool = False, trace: Path = "", vcd: Path = "") -> Result:
        """Simulates it. functional: move real bytes and check the product; trace, vcd: files."""
        native = self.set("run.functional", True)._native if functional else self._native
        answer = _native.run(native, _path(trace), _path(vcd))
        return Result(answer.result, answer.deadlock)

    def lower(self) -> str:
        """The physical program, as `tilesim lower` prints it."""
        return _native.lower(self._native)

    @property
    def resolved(self) -> str:
        """The scenario as YAML, with everything that was changed."""
        return self._native.resolved()


def _path(file: Path) -> str:
    """A file's name as a text; ValueError for what no system takes as one."""
    text = os.fsdecode(file)
    if "\0" in text:
        raise ValueError(f"a file's name must be without a NUL, got {text!r}")
    return text


def load(file: Path, overrides: Mapping[str, Value] | None = None) -> Scenario:
    """Reads a scenario or a design (.mlir)."""
    return Scenario(None, _path(file), _checked({} if overrides is None else overrides))


def parse(text: str, overrides: Mapping[str, Value] | None = None,
          name: Path = "scenario.yaml") -> Scenario:
    """Reads a scenario from a text. `name`: what errors call it; files it names are beside that."""
    if not isinstance(text, str):
        raise TypeError(f"parse: must be a text, got {text!r}")
    if _is_half_a_character(text):
        raise ConfigError(f"{_path(name)}: must be UTF-8 text")
    return Scenario(text, _path(name), _checked({} if overrides is None else overrides))


def run(file: Path, overrides: Mapping[str, Value] | None = None, **options: Any) -> Result:
    """load(...).run(...)"""
    return load(file, overrides).run(**options)


def describe(device: Path, overrides: Mapping[str, Value] | None = None) -> str:
    """Every parameter of a device or scenario: value, unit, source."""
    return _native.describe(_path(device), _pairs(_checked({} if overrides is None else overrides)))


def configs() -> str:
    """The folder of the shipped devices, scenarios, sweeps, programs and models."""
    return _native.configs_folder()


def _listed(axes: Mapping[str, Sequence[Value]]) -> dict[str, list[Value]]:
    """The axes with their values; an error for what a sweep file may not hold either."""
    if not isinstance(axes, Mapping):
        raise TypeError(f"sweep: axes must be a dict of lists, got {axes!r}")
    listed = {}
    for key, values in axes.items():
        wanted = f"sweep: axis '{key}' must be a list of values, got {values!r}"
        if isinstance(values, (str, bytes, Mapping)):
            raise TypeError(wanted)
        try:
            listed[key] = list(values)
        except TypeError:
            raise TypeError(wanted) from None
        for value in listed[key]:
            _checked({key: value})
    problem = _native.problem_of([(key, [_text(value) for value in values])
                                  for key, values in listed.items()])
    if problem:
        raise ConfigError(f"sweep: axis {problem}")
    return listed


def _refuse_unknown_keys(scenario: Scenario, point: dict[str, Value]) -> None:
    """What no point can be is no matter of each: a key the scenario does not have."""
    unknown = _native.unknown_key(scenario._text, scenario._file, _pairs(scenario._with(point)),
                                  list(point))
    if unknown:
        raise ConfigError(f"sweep: axis {unknown}")


def _run_point(scenario: Scenario, point: dict[str, Value]) -> dict[str, Any]:
    try:
        row = scenario.set(point).run().row()
    except (ConfigError, ProgramFault) as error:
        row = {"status": "invalid", "error": str(error)}
    return {**point, **row}


def sweep(scenario: Scenario, axes: Mapping[str, Sequence[Value]],
          callback: Callable[[dict[str, Any]], object] | None = None,
          jobs: int = 1) -> list[dict[str, Any]]:
    """Runs every combination of the axes' values, the last axis fastest.

    Returns a flat row a point, in that order: the axes' values, then the result
    (pandas.DataFrame takes the list as it is). A point that cannot be run has the status "invalid"
    and its error. ConfigError for axes that a sweep file may not hold: an empty one, a value given
    twice, a key the scenario does not have. callback: called with each row as soon as it and all before it are there; False
    ends the sweep. jobs: processes to run in, each of which imports the calling script: what it
    does stands below `if __name__ == "__main__":`.
    """
    if not isinstance(scenario, Scenario):
        raise TypeError(f"sweep: must be a Scenario, as `load` gives it, got {scenario!r}")
    if callback is not None and not callable(callback):
        raise TypeError(f"sweep: callback must be a function, got {callback!r}")
    if not isinstance(jobs, int) or jobs < 1:
        raise ValueError(f"sweep: jobs must be a number of at least 1, got {jobs!r}")
    listed = _listed(axes)
    points = [dict(zip(listed, values)) for values in itertools.product(*listed.values())]
    _refuse_unknown_keys(scenario, points[0])
    if jobs == 1:
        return _collect((_run_point(scenario, point) for point in points), callback)
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(_run_point, scenario, point) for point in points]
        try:
            return _collect((future.result() for future in futures), callback)
        finally:
            if not all(future.done() for future in futures):
                # Nobody waits for them any more: Ctrl-C, a callback that has seen enough.
                workers = list(pool._processes.values())
                pool.shutdown(wait=False, cancel_futures=True)
                for worker in workers:
                    worker.terminate()


def _collect(rows: Iterator[dict[str, Any]],
             callback: Callable[[dict[str, Any]], object] | None) -> list[dict[str, Any]]:
    collected = []
    for row in rows:
        collected.append(row)
        if callback is not None and callback(row) is False:
            break
    return collected
