"""What operators compute on JAX against what they compute on NumPy."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import jax
import numpy as np

from gradtool.engine.kernels.choice import backend
from gradtool.engine.kernels.jax.host_operators import WANTS_VALUES
from gradtool.engine.ops import registry
from gradtool.engine.ops.opdef import OpDef, Trait
from gradtool.engine.ops.refusals import collect_refusals
from tests.isolation import clean
from tests.jax.host import SOMETIMES
from tests.jax.orders import Computation, Inputs
from tests.jax.refusing import REFUSING
from tests.ops.cases import BY_HAND, Case, arrays, is_float, labelled
from tests.sampling import sampled

JAX = backend("jax")

ULPS = (64, 64, 512)
"""How far a number may be from NumPy's, in units of the last place of the largest number of that order, by order."""

HALVES = ("bfloat16", "float16")
TYPES = ("float64", "float32", "complex128", "complex64", *HALVES)


def operators() -> list[OpDef]:
    """Every operator that a backend which compiles is asked to compute."""
    host = Trait.VALUES | Trait.EFFECT
    return [op for op in registry.all_ops() if op.infers and op.type not in BY_HAND and not op.trait & host]


def differences(op: OpDef) -> Iterator[tuple[str, Exception]]:
    """Yield how *op* differs on JAX in its first case: values in float64 and complex128, and specs in other types.

    One of these is drawn by the operator; ``--whole`` takes all.
    """
    checks = [
        (label, check, case)
        for check, dtypes in ((compare, ("float64", "complex128")), (compare_specs, ("float32", "bfloat16")))
        for dtype in dtypes
        for label, case in itertools.islice(cases_in(op, dtype), 1)
    ]
    for label, check, case in sampled(checks, lambda entry: entry[0], one_in=4):
        yield from failures(check, [(label, case)])


def all_differences(op: OpDef, specs: bool = False) -> Iterator[tuple[str, Exception]]:
    """How *op* differs on JAX in all its cases, in each type: values, or only *specs*."""
    for dtype in TYPES:
        yield from failures(compare_specs if specs else compare, cases_in(op, dtype))


def cases_in(op: OpDef, dtype: str) -> Iterator[tuple[str, Case]]:
    """The cases of *op* in that type, each with its name; there are no complex numbers of 16 bits."""
    whole = set()
    if dtype in HALVES:
        plain = labelled(op, TYPES[:1])
        whole = {_sample(label) for label, case in plain if any(a.dtype.kind == "c" for a in arrays(case.operands))}
    for label, case in labelled(op, (dtype,)):
        if _sample(label) not in whole:
            yield label, case


def _sample(label: str) -> str:
    return label.rpartition("-")[0]


def failures(check: Callable[[Case], None], cases: Iterable[tuple[str, Case]]) -> Iterator[tuple[str, Exception]]:
    """Those of the *cases* that do not pass."""
    for label, case in cases:
        try:
            with clean(), warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                check(case)
        except Exception as error:
            if not (isinstance(error, WANTS_VALUES) and case.op.type in SOMETIMES):
                yield label, error


def compare(case: Case) -> None:
    """Raise AssertionError unless *case* is on JAX, compiled, what it is on NumPy."""
    computation = Computation(case)
    traced = Traced(computation)
    got, refused = jax.jit(traced)(*traced.leaves)
    assert not any(refused), f"refused: {refused}"
    assert not refused or case.op.type in REFUSING, "it refuses values: tests/jax/refusing.py"
    for order, (expected, here) in enumerate(zip(computation.expected, got, strict=True)):
        alike(expected, here, f"order {order}", ULPS[order] * largest(expected or []))


def compare_specs(case: Case) -> None:
    """Raise AssertionError unless what *case* gives on JAX has the shapes and types that NumPy gives; it is not run."""
    computation = Computation(case)
    traced = Traced(computation)
    got, _ = jax.eval_shape(traced, *traced.leaves)
    for order, (expected, here) in enumerate(zip(computation.expected, got, strict=True)):
        alike(expected, here, f"order {order}", None)


class Traced:
    """A computation over JAX's arrays.

    Attributes:
        leaves: the arrays that it is a function of. What shapes depend on is none of them: it is a constant.
    """

    def __init__(self, computation: Computation) -> None:
        self._computation = computation
        op, attrs, inputs = computation.op, computation.attrs, computation.inputs
        places = op.size_places(attrs)
        self._fixed = {i: v for i, v in enumerate(inputs.operands) if i in places}
        given = inputs._replace(operands=[None if i in places else v for i, v in enumerate(inputs.operands)])
        self.leaves, self._tree = jax.tree_util.tree_flatten(given)

    def __call__(self, *leaves: Any) -> tuple[Any, list[Any]]:
        """The orders, and which refusals hold."""
        inputs: Inputs = jax.tree_util.tree_unflatten(self._tree, leaves)
        operands = [self._fixed.get(i, v) for i, v in enumerate(inputs.operands)]
        with collect_refusals() as noted:
            orders = self._computation.on(JAX)(inputs._replace(operands=operands))
        return tuple(orders), [r.wrong.any() for r in noted]


def largest(values: Any) -> float:
    """The size of the largest finite number among arrays."""
    sizes = [np.abs(a.astype(_wide(a))) for a in arrays(values) if is_float(a)]
    return max([s[np.isfinite(s)].max(initial=0.0) for s in sizes], default=0.0)


def _wide(a: np.ndarray[Any, Any]) -> Any:
    return np.complex128 if a.dtype.kind == "c" else np.float64


def alike(expected: Any, here: Any, where: str, apart: float | None) -> None:
    """Raise AssertionError unless arrays, in any nesting, have the same specs and nearly the same values.

    Args:
        apart: how far numbers may be apart, in units of the last place of 1; None where only the specs are compared.
    """
    if expected is None or here is None:
        assert expected is None, f"{where}: nothing, but NumPy gives {expected}"
        assert here is None, f"{where}: {here}, but NumPy gives nothing"
        return
    if isinstance(expected, (list, tuple)):
        assert len(expected) == len(here), f"{where}: {len(here)} tensors for {len(expected)}"
        for i, (a, b) in enumerate(zip(expected, here, strict=True)):
            alike(a, b, f"{where}, {i}", apart)
        return
    a = np.asarray(expected)
    assert (a.dtype, a.shape) == (here.dtype, here.shape), f"{where}: {here.dtype}{here.shape} for {a.dtype}{a.shape}"
    if apart is None:
        return
    b = np.asarray(here)
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
