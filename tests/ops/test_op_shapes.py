"""Shape rules where dimensions are not known: what they say must hold for the tensors that come."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradtool.engine.core.errors import ShapeError
from gradtool.engine.core.spec import UNKNOWN, TensorSpec
from gradtool.engine.ops.opdef import specs_of
from tests.ops.cases import NEEDS_KNOWN, Case, each_case


def _unknown_ones(specs: list[Any]) -> Iterator[tuple[str, list[Any]]]:
    """*specs* with one dimension made unknown, for each of them, then with all of them unknown."""
    for i, spec in enumerate(specs):
        entries = spec if isinstance(spec, tuple) else (spec,)
        for j, entry in enumerate(entries):
            for d in range(entry.ndim if entry is not None else 0):
                shape = tuple(UNKNOWN if e == d else n for e, n in enumerate(entry.shape))
                changed = (*entries[:j], entry.replace_shape(shape), *entries[j + 1 :])
                yield (
                    f"input {i}.{j}, dimension {d}",
                    [
                        *specs[:i],
                        changed if isinstance(spec, tuple) else changed[0],
                        *specs[i + 1 :],
                    ],
                )

    def blank(spec: Any) -> Any:
        return spec if spec is None else spec.replace_shape((UNKNOWN,) * spec.ndim)

    yield "all", [tuple(map(blank, s)) if isinstance(s, tuple) else blank(s) for s in specs]


def _agrees(inferred: Any, actual: Any) -> bool:
    if isinstance(actual, tuple):
        return len(inferred) == len(actual) and all(map(_agrees, inferred, actual))
    if actual is None:
        return inferred is None
    assert isinstance(inferred, TensorSpec)
    return (
        inferred.dtype is actual.dtype
        and inferred.ndim == actual.ndim
        and all(m in (UNKNOWN, n) for m, n in zip(inferred.shape, actual.shape, strict=True))
    )


@each_case("float64")
def test_unknown_dimensions(case: Case) -> None:
    specs = specs_of(case.operands)
    actual = case.op.infer_specs(specs, case.attrs)
    for what, changed in _unknown_ones(specs):
        try:
            inferred = case.op.infer_specs(changed, case.attrs)
        except ShapeError:
            assert case.op.type in NEEDS_KNOWN, f"refuses unknown dimensions: {what}"
            continue
        agrees = _agrees(inferred, actual) or case.op.type in NEEDS_KNOWN
        assert agrees, f"{what} unknown: {inferred} inferred, {actual} comes"
