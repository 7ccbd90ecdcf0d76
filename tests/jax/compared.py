"""What operators compute on JAX against what they compute on NumPy."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from gradtool.engine.kernels.choice import backend
from gradtool.engine.ops import registry
from gradtool.engine.ops.opdef import OpDef, Trait
from gradtool.engine.ops.refusals import collecting
from tests.isolation import clean
from tests.jax.orders import Computation, Inputs
from tests.ops.cases import BY_HAND, Case, arrays, is_float, labelled

JAX = backend("jax")

ULPS = (64, 64, 512)
"""How far a number may be from NumPy's, in units of the last place of the largest number of that order, by order."""

TYPES = ("float64", "float32", "complex128", "complex64", "bfloat16", "float16")


def operators() -> list[OpDef]:
    """Every operator that a backend which compiles is asked to compute."""
    host = Trait.VALUES | Trait.EFFECT
    return [op for op in registry.all_ops() if op.infers and op.type not in BY_HAND and not op.trait & host]


def cases(op: OpDef, every: bool) -> Iterator[tuple[str, Case]]:
    """The first case of *op*, or every one of them."""
    found = labelled(op, TYPES if every else TYPES[:1])
    yield from found if every else itertools.islice(found, 1)


def differences(op: OpDef, every: bool = False) -> Iterator[tuple[str, Exception]]:
    """The cases in which *op* computes something else on JAX, or nothing, and how."""
    for label, case in cases(op, every):
        try:
            with clean(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compare(case)
        except Exception as error:
            yield label, error


def compare(case: Case) -> None:
    """Raise AssertionError unless *case* is on JAX, compiled, what it is on NumPy."""
    computation = Computation(case)
    inputs = computation.inputs
    places = case.op.sized_places(case.attrs)
    # What shapes depend on are constants of the program.
    given = [None if i in places else v for i, v in enumerate(inputs.operands)]
    fixed = [v if i in places else None for i, v in enumerate(inputs.operands)]
    got, refused = compiled(computation, inputs._replace(operands=given), fixed)
    assert not any(refused), f"refused: {refused}"
    for order, (expected, here) in enumerate(zip(computation.expected, got, strict=True)):
        alike(expected, here, f"order {order}", ULPS[order] * largest(expected or []))


def compiled(computation: Computation, inputs: Inputs, fixed: list[Any]) -> tuple[Any, list[Any]]:
    """What the computation gives compiled, and which refusals hold."""
    leaves, tree = jax.tree_util.tree_flatten(inputs)

    @jax.jit
    def run(*leaves: Any) -> tuple[Any, list[Any]]:
        inputs = jax.tree_util.tree_unflatten(tree, leaves)
        operands = [f if f is not None else v for v, f in zip(inputs.operands, fixed, strict=True)]
        with collecting() as noted:
            orders = computation.on(JAX)(inputs._replace(operands=operands))
        return tuple(orders), [r.wrong for r in noted]

    result: tuple[Any, list[Any]] = run(*leaves)
    return result


def largest(values: Any) -> float:
    """The size of the largest finite number among arrays."""
    sizes = [np.abs(a.astype(_wide(a))) for a in arrays(values) if is_float(a)]
    return max([s[np.isfinite(s)].max(initial=0.0) for s in sizes], default=0.0)


def _wide(a: np.ndarray[Any, Any]) -> Any:
    return np.complex128 if a.dtype.kind == "c" else np.float64


def alike(expected: Any, here: Any, where: str, apart: float) -> None:
    """Raise AssertionError unless arrays, in any nesting, have the same specs and nearly the same values."""
    if expected is None or here is None:
        assert expected is None, f"{where}: nothing, but NumPy gives {expected}"
        assert here is None, f"{where}: {here}, but NumPy gives nothing"
        return
    if isinstance(expected, (list, tuple)):
        assert len(expected) == len(here), f"{where}: {len(here)} tensors for {len(expected)}"
        for i, (a, b) in enumerate(zip(expected, here, strict=True)):
            alike(a, b, f"{where}, {i}", apart)
        return
    a, b = np.asarray(expected), np.asarray(here)
    assert (a.dtype, a.shape) == (b.dtype, b.shape), f"{where}: {b.dtype}{b.shape} for {a.dtype}{a.shape}"
    if a.dtype.kind in "biu":
        assert np.array_equal(a, b), f"{where}: {b} for {a}"
        return
    unit = float(jax.numpy.finfo(a.dtype).eps)
    a, b = a.astype(_wide(a)), b.astype(_wide(a))
    special = ~np.isfinite(a)
    assert np.array_equal(special, ~np.isfinite(b)), f"{where}: {b} for {a}"
    assert np.array_equal(a[special], b[special], equal_nan=True), f"{where}: {b} for {a}"
    distance = np.abs(a - b)[~special].max(initial=0.0)
    assert distance <= apart * unit, f"{where}: {distance} apart, more than {apart * unit}: {b} for {a}"
