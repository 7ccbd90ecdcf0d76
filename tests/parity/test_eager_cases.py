"""Every recorded case of dynamic mode: what gradtool computes against what Paddle computed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gradtool
from gradtool import _alias
from gradtool.engine.eager.tensor import Tensor

from . import replay

DECIDED = {
    "e031_leaf_inplace_error": "an in-place method that is refused leaves its tensor as it was; Paddle's has written",
}
"""Cases in which gradtool differs on purpose; a test below asserts what it gives instead."""


@pytest.fixture(autouse=True)
def paddle_is_gradtool() -> Iterator[None]:
    gradtool.disable_static()
    with _alias.active(), gradtool.utils.unique_name.guard(), warnings.catch_warnings():
        # Backward from a tensor without a graph does nothing in Paddle; that we say so is tested elsewhere.
        warnings.simplefilter("ignore", UserWarning)
        yield


def differences(ours: Any, recorded: Any, path: str = "") -> list[str]:
    """Where *ours* differs from the record: in structure, values, or the class of an error."""
    if isinstance(recorded, dict) and "data" in recorded:
        if not isinstance(ours, (Tensor, np.ndarray)):
            return [f"{path}: {ours!r} is no tensor"]
        why = replay.close(np.asarray(ours), replay.array(recorded))
        return [] if why is None else [f"{path}: {why}"]
    if isinstance(recorded, dict):
        if set(ours) != set(recorded):
            return [f"{path}: {sorted(ours)} instead of {sorted(recorded)}"]
        return [d for key, value in recorded.items() for d in differences(ours[key], value, f"{path}/{key}")]
    if isinstance(recorded, list):
        if len(ours) != len(recorded):
            return [f"{path}: {ours} instead of {recorded}"]
        pairs = zip(ours, recorded, strict=True)
        return [d for i, (a, b) in enumerate(pairs) for d in differences(a, b, f"{path}/{i}")]
    if isinstance(recorded, str) and isinstance(ours, str):
        # Names of an exception's class and its bases: the recorded class is among ours.
        return [] if recorded.split()[0] in ours.split() else [f"{path}: {ours!r} instead of {recorded!r}"]
    if isinstance(recorded, float):
        return [] if ours == pytest.approx(recorded, rel=1e-4, abs=1e-6) else [f"{path}: {ours} instead of {recorded}"]
    return [] if ours == recorded and type(ours) is type(recorded) else [f"{path}: {ours!r} instead of {recorded!r}"]


@pytest.mark.parametrize("name", [n for n in replay.names("e") if n not in DECIDED])
def test_case(name: str) -> None:
    namespace, record = replay.load(name)
    assert differences(namespace["run"](), record["returns"]) == []


def test_an_in_place_method_that_is_refused_changes_nothing() -> None:
    namespace, record = replay.load("e031_leaf_inplace_error")
    found = differences(namespace["run"](), record["returns"])
    assert [d.split(":")[0] for d in found] == ["/a"]
    assert namespace["run"]()["a"].tolist() == [2.0, 3.0]
