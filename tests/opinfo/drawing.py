"""What PyTorch's sample generators draw for an operator, and what PyTorch computes of it.

Run by ``python -m tests.opinfo`` with an interpreter that has ``torch==2.13.0``, expecttest and NumPy; it reads names
of operators from its input and writes a message for each sample, then None.
"""

from __future__ import annotations

import os
import sys
import warnings
import zlib
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

from tests.opinfo import wire
from tests.opinfo.measures import MEASURES, PREPARED, as_they_are

TYPES = ("float64", "complex128", "float32", "int64", "int32", "bool")
LARGE = 600
"""Elements of the operands of a call up to which gradients of second order are asked for."""
MOST = 150
"""Samples of one operator and type; evenly spaced ones where there are more."""


def told(value: Any) -> Any:
    """An argument for the other side."""
    if isinstance(value, torch.Tensor):
        if value.dtype == torch.bfloat16 or value.layout != torch.strided:
            return wire.Foreign(str(value.dtype))
        return wire.Array(array(value), value.requires_grad)
    if isinstance(value, torch.dtype):
        return wire.Dtype(str(value).removeprefix("torch."))
    if isinstance(value, (list, tuple)):
        return (list if isinstance(value, list) else tuple)(told(v) for v in value)
    if isinstance(value, dict):
        return {k: told(v) for k, v in value.items()}
    if (
        isinstance(value, slice)
        or value is None
        or value is Ellipsis
        or isinstance(value, (bool, int, float, complex, str))
    ):
        return value
    return wire.Foreign(str(value))


def known(arguments: Any) -> bool:
    """Can NumPy hold the arguments?"""
    return all(t.dim() <= 32 for t in flat(arguments) if isinstance(t, torch.Tensor))


def array(tensor: Any) -> Any:
    return tensor.detach().resolve_conj().resolve_neg().cpu().contiguous().numpy().copy()


def flat(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [e for v in value for e in flat(v)]
    if isinstance(value, dict):
        return [e for v in value.values() for e in flat(v)]
    return [value]


def result(value: Any) -> Any:
    if value is None or value.__class__ is type(NotImplemented):
        return None
    if isinstance(value, torch.Tensor):
        value = value.to_dense() if value.layout != torch.strided else value
        return array(value)
    made = np.asarray(value)
    if made.dtype.kind not in "biufc":
        raise TypeError(f"the result is a {type(value).__name__}")
    return made


def weights(rng: Any, like: Any) -> Any:
    """Numbers of one shape and type."""
    drawn = rng.uniform(-1, 1, tuple(like.shape))
    if like.is_complex():
        drawn = drawn + 1j * rng.uniform(-1, 1, tuple(like.shape))
    return torch.tensor(drawn).to(like.dtype)


def computed(name: str, op: Any, sample: Any, rng: Any, order: int) -> dict[str, Any]:
    """Results and gradients up to *order*."""
    value = op(*PREPARED.get(name, as_they_are)(sample.input, *sample.args), **sample.kwargs)
    if name in MEASURES:
        value = MEASURES[name](value)
    results = flat(value)
    answer: dict[str, Any] = {"results": [result(r) for r in results]}
    operands = [t for t in flat([sample.input, sample.args, sample.kwargs]) if isinstance(t, torch.Tensor)]
    leaves = [t for t in operands if t.requires_grad]
    roots = [r for r in results if isinstance(r, torch.Tensor) and r.requires_grad]
    if not roots or not leaves or not order:
        return answer
    starts = [weights(rng, r) for r in roots]
    twice = order > 1 and sum(t.numel() for t in operands) <= LARGE
    first = torch.autograd.grad(roots, leaves, starts, create_graph=twice, retain_graph=True, allow_unused=True)
    answer |= {"starts": [array(s) for s in starts], "first": [None if g is None else result(g) for g in first]}
    if not twice:
        return answer
    again = [(i, g) for i, g in enumerate(first) if g is not None and g.requires_grad]
    if not again:
        return answer
    along = [weights(rng, g) for _, g in again]
    try:
        second = torch.autograd.grad([g for _, g in again], leaves, along, allow_unused=True)
    except (RuntimeError, NotImplementedError):
        return answer
    return answer | {
        "again": [i for i, _ in again],
        "along": [array(a) for a in along],
        "second": [None if g is None else result(g) for g in second],
    }


def spaced(samples: list[Any], most: int) -> list[tuple[int, Any]]:
    """At most so many of them, the first and the last among them."""
    if len(samples) <= most:
        return [*enumerate(samples)]
    places = sorted({round(p) for p in np.linspace(0, len(samples) - 1, most)})
    return [(p, samples[p]) for p in places]


def samples(key: str, most: int) -> Iterator[dict[str, Any]]:
    """The calls of one operator, with what came of them."""
    for op in op_db:
        if key != (f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name):
            continue
        for type_ in TYPES:
            dtype = getattr(torch, type_)
            if dtype not in op.dtypes:
                continue
            wanted = type_ in ("float64", "complex128") and op.supports_autograd
            order = (2 if op.supports_gradgrad else 1) if wanted else 0
            torch.manual_seed(zlib.crc32(f"{key} {type_}".encode()))
            try:
                drawn = list(islice(op.sample_inputs("cpu", dtype, requires_grad=wanted), 2000))
            except Exception as error:  # a generator that fails for this type
                print(key, type_, error, file=sys.stderr)
                continue
            for index, sample in spaced(drawn, most if type_ in ("float64", "complex128") else most // 4):
                if known([sample.input, sample.args, sample.kwargs]):
                    yield one(key, op, sample, type_, index, order)
        yield from errors(key, op)


def one(key: str, op: Any, sample: Any, type_: str, index: int, order: int) -> dict[str, Any]:
    """One sample."""
    head = {"op": key, "type": type_, "index": index}
    head["args"] = told([sample.input, *sample.args])
    head["kwargs"] = told(sample.kwargs)
    rng = np.random.default_rng(zlib.crc32(f"{key} {type_} {index}".encode()))
    for turn in range(order, -1, -1):
        try:
            return head | {"answer": computed(key, op, sample, rng, turn), "order": turn}
        except Exception as error:  # no derivative of this order, or no such call in this build
            head["failed"] = f"{type(error).__name__}: {str(error)[:300]}"
    return head | {"answer": None}


def errors(key: str, op: Any) -> Iterator[dict[str, Any]]:
    """The calls that PyTorch says are mistakes."""
    try:
        drawn = list(islice(op.error_inputs("cpu"), 60))
    except Exception:  # an operator without a generator of them raises whatever it likes
        return
    for index, error in enumerate(drawn):
        sample = error.sample_input
        if not known([sample.input, sample.args, sample.kwargs]):
            continue
        try:
            op(sample.input, *sample.args, **sample.kwargs)
        except Exception as raised:
            yield {
                "op": key,
                "type": "error",
                "index": index,
                "args": told([sample.input, *sample.args]),
                "kwargs": told(sample.kwargs),
                "answer": None,
                "error": f"{type(raised).__name__}: {str(raised)[:300]}",
            }


def main() -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    most = int(sys.argv[1]) if len(sys.argv) > 1 else MOST
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    for line in sys.stdin:
        for message in samples(line.strip(), most):
            wire.send(out, message)
        wire.send(out, "end")


if __name__ == "__main__":
    main()
