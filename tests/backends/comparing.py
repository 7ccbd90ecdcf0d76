"""One random program on several backends: values and gradients as NumPy has them."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np

import gradtool
from gradtool import paddle
from gradtool.engine.kernels.choice import use_backend
from tests.differential.comparing import Difference, compared_refusals, first, function, last_call, line_of
from tests.differential.driver import Run

BACKENDS = ("numba", "onednn", "jax")
RUNS = 3
"""How often a program is run: Numba's groups are compiled after the first time, and judged in the second."""


class Repeated(Run):
    """A program that is run a few times, of which the last counts."""

    def run(self, main: Any, startup: Any, scope: Any) -> None:
        self.runs = max(self.runs, RUNS)
        super().run(main, startup, scope)


def on(name: str, text: str) -> dict[str, Any]:
    """What the program *text* gives on a backend."""
    try:
        with use_backend(name), _every_group(name), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return Repeated(paddle, text).lead()
    finally:
        gradtool.paddle.disable_static()


@contextlib.contextmanager
def _every_group(name: str) -> Iterator[None]:
    """Have Numba compile groups that are too small to pay, as those of random programs are."""
    if name != "numba":
        yield
        return
    from gradtool.engine.kernels.numba import groups

    with mock.patch.object(groups, "worthwhile", return_value=True):
        yield


def difference(text: str, expected: dict[str, Any], came: dict[str, Any]) -> Difference | None:
    """The first difference of a backend's answer from NumPy's."""
    refused = compared_refusals(came, expected)
    if refused is not None:
        kind, at = refused
        return Difference(kind, function(last_call(text)), str(at), str(came["refused"]), str(expected["refused"]))
    for part in ("values", "grads"):
        gap = first(came.get(part, {}), expected.get(part, {}), loose=True)
        if gap is not None:
            kind, name, ours, theirs = gap
            return Difference(f"{part} {kind}", function(line_of(text, name, part)), name, ours, theirs)
    return None
