"""What was recorded: reading it, writing it anew, and arrays as text.

``values.jsonl`` has a line for each call: its label, the sum of its operands (so that a sample that has changed shows),
what Paddle refused, or its outputs, declared specs, gradients and gradient operators. Of a long array some elements
stand for all, and two sums.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import tempfile
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from . import calls, record

FILE = Path(__file__).with_name("values.jsonl")
WHOLE = 12
"""The elements of an array that is written as it is."""


def read() -> dict[str, dict[str, Any]]:
    """By label, what was recorded."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return dict(map(json.loads, lines))


def renew(python: str, types: Collection[str] = ()) -> None:
    """Record the registry and every call with that interpreter, or only the calls of some types."""
    peer = {**os.environ, "FLAGS_enable_pir_api": "0"}
    if not types:
        subprocess.run([python, record.__file__], check=True, env=peer, stderr=subprocess.DEVNULL)
    known = calls.calls()
    every = {label: call for label, call in known.items() if not types or label.partition("/")[0] in types}
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "calls"), Path(folder, "told")
        source.write_bytes(pickle.dumps(every))
        command = [python, record.__file__, str(source), str(target)]
        subprocess.run(command, check=True, env=peer, stderr=subprocess.DEVNULL)
        told = pickle.loads(target.read_bytes())
    kept = {label: line for label, line in read().items() if types and label in known and label not in every}
    kept |= {label: summary(call, told[label]) for label, call in every.items()}
    lines = [json.dumps([label, kept[label]], separators=(",", ":")) for label in known if label in kept]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def checksum(call: Any) -> int:
    """A number that tells calls apart by what they are given."""
    _, inputs, attrs, *rest = call
    said = repr((sorted(attrs.items()), rest)).encode()
    for slot in sorted(inputs):
        for array in inputs[slot]:
            rounded = np.round(array, 4) + 0 if array.dtype.kind in "fc" else array
            said += slot.encode() + repr((array.shape, str(array.dtype), rounded.tolist())).encode()
    return zlib.crc32(said)


def summary(call: Any, told: dict[str, Any]) -> dict[str, Any]:
    """What is kept of what one call did."""
    if "error" in told:
        return {"given": checksum(call), "error": told["error"]}
    kept = {"given": checksum(call), "shapes": told["shapes"]}
    for part in ("out", "grad"):
        kept[part] = {name: digest(value) for name, value in told.get(part, {}).items() if value is not None}
    kept["ops"] = told.get("ops", [])
    return kept


def digest(value: Any) -> list[Any]:
    """An array as JSON: its type, its shape, numbers."""
    array = np.asarray(value)
    return [str(array.dtype), list(array.shape), [float(f"{v:.6g}") for v in numbers(array)]]


def numbers(array: np.ndarray) -> list[float]:
    """All elements of a small array; some of a large one, the sum of their sizes, and one with weights."""
    flat = array.ravel()
    if flat.dtype.kind == "c":
        flat = np.stack([flat.real, flat.imag], -1).ravel()
    flat = flat.astype("float64")
    if flat.size <= WHOLE:
        return [float(v) for v in flat]
    some = flat[np.linspace(0, flat.size - 1, WHOLE - 2).astype(int)]
    return [*map(float, some), float(np.abs(flat).sum()), float(flat @ np.cos(np.arange(flat.size)))]
