"""Public functions at ties and kinks: drawn calls whose numbers are few and whole."""

from __future__ import annotations

import random
import re
import warnings
from typing import Any

import numpy as np

import gradtool
from gradtool import paddle
from tests.differential.drawing import Draw
from tests.differential.driver import Run
from tests.differential.programs import ROWS, call
from tests.kinks.judging import Vector
from tests.kinks.known import FIXED

TIED = (0.0, 0.0, 1.0, 1.0, 1.0, -1.0, 0.5, 2.0)
"""What operands are made of."""
ELSEWHERE = re.compile(
    r"train\(|_\(|rand|dropout|normal|uniform|bernoulli|exponential|geometric|RReLU|rrelu|shuffle|gumbel"
)
"""Calls that write in place, train, or draw random numbers."""


class Tied(Draw):
    """Draws operands of float64 from a few numbers."""

    def dtype(self, kind: str) -> str:
        drawn = super().dtype(kind)
        return "float64" if drawn.startswith(("float", "complex")) else drawn

    def element(self, dtype: str, values: str, special: bool) -> str:
        if dtype != "float64" or values.startswith("index"):
            return super().element(dtype, values, False)
        if values == "unit":
            return self.of("0.5", "0.25", "0.5")
        number = self.of(*TIED)
        return repr(abs(number) if values == "positive" else number)


def drawn(name: str, seed: int) -> str | None:
    """A call of the function *name*, with its operands; None where there is none to be differentiated."""
    row = ROWS[name]
    if "eager" not in row.modes or not row.chains:
        return None
    draw = Tied(random.Random(f"{name} {seed}"), False)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if not call(draw, [row], "v0", []) or not draw.leaves:
            return None
    text = "\n".join(draw.lines)
    return None if ELSEWHERE.search(text) or "complex" in text else text


class Called:
    """A drawn call as a function of the operands that have gradients.

    Args:
        fixed: leave out operands whose gradient is None.
    """

    def __init__(self, text: str, fixed: bool = False) -> None:
        self.text = text
        self.moved: set[str] = set()
        run = self.run_at(None)
        self.moved = {*run.leaves}
        if fixed:
            results, seeds = self.roots(run)
            if results:
                gradients = self._pulled(run, results, seeds, False)
                self.moved = {n for n, g in zip(run.leaves, gradients, strict=True) if g is not None}
        moved = self.leaves(run)
        self.shapes = [tuple(t.shape) for t in moved]
        self.point = np.concatenate([t.numpy().reshape(-1) for t in moved] or [np.zeros(0)])

    def leaves(self, run: Run) -> list[Any]:
        """The operands that are moved."""
        return [t for n, t in run.leaves.items() if n in self.moved]

    def run_at(self, at: Vector | None) -> Run:
        """The call, carried out with other numbers."""
        run = Run(paddle, f"# eager\n{self.text}")
        if at is not None:
            numbers = iter(np.split(at, np.cumsum([int(np.prod(s)) for s in self.shapes])[:-1]))
            plain = run.tensor

            def tensor(dtype: str, shape: list[int], values: list[Any], grad: bool = False) -> Any:
                return plain(dtype, shape, next(numbers).tolist() if run.target in self.moved else values, grad)

            run.names["tensor"] = tensor
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            if not run.build():
                raise ValueError("refused")
        return run

    def roots(self, run: Run) -> tuple[list[Any], list[Any]]:
        """The results that can be differentiated, and what weighs them."""
        results, rng = run.chosen(["v0"]), np.random.default_rng(3)
        return results, [
            gradtool.paddle.to_tensor(rng.uniform(0.5, 1.5, tuple(r.shape)).astype(r.numpy().dtype)) for r in results
        ]

    def value(self, at: Vector) -> float:
        results, weights = self.roots(self.run_at(at))
        return float(sum(np.sum(r.numpy() * w.numpy()) for r, w in zip(results, weights, strict=True)))

    def gradient(self, at: Vector) -> Vector:
        run = self.run_at(at)
        results, seeds = self.roots(run)
        return self._flat(self._pulled(run, results, seeds, False)) if results else None

    def second(self, at: Vector, weights: Vector) -> Vector:
        run = self.run_at(at)
        results, seeds = self.roots(run)
        gradients = self._pulled(run, results, seeds, True)
        numbers = np.split(weights, np.cumsum([int(np.prod(s)) for s in self.shapes])[:-1])
        kept = [(g, n) for g, n in zip(gradients, numbers, strict=True) if g is not None and not g.stop_gradient]
        if not kept:
            return np.zeros(len(at))
        starts = [gradtool.paddle.to_tensor(n.reshape(g.shape)) for g, n in kept]
        return self._flat(self._pulled(run, [g for g, _ in kept], starts, False))

    def _pulled(self, run: Run, roots: list[Any], seeds: list[Any], again: bool) -> list[Any]:
        leaves = self.leaves(run)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return gradtool.paddle.grad(roots, leaves, seeds, create_graph=again, allow_unused=True)  # type: ignore[no-any-return]

    def _flat(self, gradients: list[Any]) -> Vector:
        parts = [np.zeros(s) if g is None else g.numpy() for s, g in zip(self.shapes, gradients, strict=True)]
        return np.concatenate([p.reshape(-1) for p in parts])


def subject(name: str, seed: int) -> Called | None:
    """A drawn call of one function; None where there is none to be differentiated, or it is refused."""
    text = drawn(name, seed)
    try:
        return None if text is None else Called(text, name in FIXED)
    except ValueError:
        return None
