"""Is the answer to a sample right?"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.opinfo.decided import reason
from tests.opinfo.wire import Array

PARTS = ("results", "first", "second")


def verdict(message: dict[str, Any], ours: dict[str, Any]) -> tuple[str, str]:
    """One of right, lacks, differs, refused, wrong, raised, not raised, alone, and the words for it."""
    theirs = message["answer"]
    for word in ("lacks", "differs"):
        if word in ours:
            return word, ours[word]
    if message["type"] == "error":
        return ("raised", ours["refused"]) if "refused" in ours else ("not raised", message["error"])
    if theirs is None:
        return ("lacks", "PyTorch itself fails") if "refused" in ours else ("alone", "")
    if "refused" in ours:
        return "refused", ours["refused"]
    words = difference(ours, theirs, single(message))
    if words and (why := reason(message["op"], words)):
        return "differs", why
    return ("wrong", words) if words else ("right", "")


def single(message: dict[str, Any]) -> bool:
    """Is one of the operands a number of 32 bits?"""
    arrays = [v.value for v in flat([message["args"], [*message["kwargs"].values()]]) if isinstance(v, Array)]
    return any(a.dtype.name in ("float32", "complex64") for a in arrays)


def flat(value: Any) -> list[Any]:
    return [e for v in value for e in flat(v)] if isinstance(value, (list, tuple)) else [value]


def difference(ours: dict[str, Any], theirs: dict[str, Any], single: bool = False) -> str:
    """How *ours* differs first; empty where it does not. What *theirs* has not is not compared."""
    for part in PARTS:
        if not isinstance(theirs.get(part), list):
            continue
        mine, wanted = ours.get(part), theirs[part]
        if not isinstance(mine, list):
            return f"{part}: {mine}"
        if len(mine) != len(wanted):
            return f"{part}: {len(mine)} tensors, not {len(wanted)}"
        for place, (a, b) in enumerate(zip(mine, wanted, strict=True)):
            words = gap(a, b, part == "results", 2e-4 if single else 1e-7 if part == "results" else 1e-6)
            if words:
                return f"{part}[{place}] {words}"
    return ""


def gap(a: Any, b: Any, dtypes: bool, rtol: float) -> str:
    """How one array differs from another; None stands for zeros."""
    if a is None or b is None:
        there = b if a is None else a
        return "" if there is None or not np.any(there) else "values: one is no gradient, the other not zero"
    if a.shape != b.shape:
        return f"shape: {list(a.shape)}, not {list(b.shape)}"
    if dtypes and a.dtype != b.dtype:
        return f"dtype: {a.dtype}, not {b.dtype}"
    if a.size == 0:
        return ""
    if "float32" in (a.dtype.name, b.dtype.name) or "complex64" in (a.dtype.name, b.dtype.name):
        rtol = 2e-4
    if "float16" in (a.dtype.name, b.dtype.name):
        rtol = 1e-2
    a, b = (v.astype("complex128" if v.dtype.kind == "c" else "float64") for v in (a, b))
    finite = np.isfinite(b)
    scale = np.max(np.abs(b[finite]), initial=0.0) if finite.any() else 0.0
    with np.errstate(all="ignore"):
        if np.allclose(a, b, rtol=rtol, atol=rtol * max(scale * 1e-2, 1e-2), equal_nan=True):
            return ""
        off = ~np.isclose(a, b, rtol=rtol, atol=rtol * max(scale * 1e-2, 1e-2), equal_nan=True)
    place = tuple(int(i) for i in np.argwhere(off)[0])
    return f"values: {a[place]}, not {b[place]} at {list(place)} of {list(a.shape)} ({int(off.sum())} places)"
