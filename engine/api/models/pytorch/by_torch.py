"""Calls of PyTorch's operators on other values, computed by PyTorch itself where it is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import _disable_current_modes

from gradtool.engine.core.errors import UnsupportedError

from ..recorded.matching import Again, Entry

_NARROW = {"bfloat16": (np.int16, torch.bfloat16)}
_WIDE = {torch.float32: torch.float64, torch.complex64: torch.complex128}


@cache
def find(overload: str) -> Any:
    """Return the operator that PyTorch calls ``aten::add.Tensor``; None where it has none, or where it draws."""
    name, _, kind = overload.partition(".")
    namespace, _, name = name.partition("::")
    packet = getattr(getattr(torch.ops, namespace, None), name, None)
    func = getattr(packet, kind or "default", None)
    if func is None or torch.Tag.nondeterministic_seeded in func.tags:
        return None
    return func


def again(overload: str, inputs: Sequence[Entry], outputs: int) -> Again | None:
    """Return what computes a call of an operator again; None where PyTorch cannot.

    Args:
        overload: the operator, as ``aten::add.Tensor``.
        inputs: of each tensor that it reads the argument, and the place there if that is a list.
        outputs: how many results are wanted: those that there are not are None.
    """
    func = find(overload)
    if func is None:
        return None
    schema = {a.name: a for a in func._schema.arguments}
    read = {name for name, _ in inputs}
    if any(str(a.type) == "Tensor" and name not in read for name, a in schema.items()):
        return None  # it read the size of a tensor alone, which was not recorded
    written = [a.name for a in func._schema.arguments if a.alias_info is not None and a.alias_info.is_write]
    name = func._schema.name.partition("::")[2]

    def compute(operands: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
        is_double = any(np.asarray(o).dtype in (np.float64, np.complex128) for o in operands)
        arguments: dict[str, Any] = {a.name: None for a in schema.values() if not a.has_default_value()}
        arguments |= {n: _plain(v, schema[n], is_double) for n, v in attrs.items() if n in schema}
        for (argument, place), array in zip(inputs, operands, strict=True):
            tensor = _tensor(array)
            if place is None:
                arguments[argument] = tensor
                continue
            entries = arguments[argument] = list(arguments.get(argument) or ())
            entries += [None] * (place + 1 - len(entries))
            entries[place] = tensor
        call = func
        if is_double and name in _IN_DOUBLE:
            call = _IN_DOUBLE[name]
        try:
            with _aside():
                returned = call(**arguments)
        except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError) as error:
            why = str(error).partition("\n")[0]
            raise UnsupportedError(f"{name} cannot run again on other values: {why}", op=name) from error
        results = list(returned) if isinstance(returned, (tuple, list)) else [returned] * (returned is not None)
        if written and not isinstance(returned, torch.Tensor):
            results += [arguments[n] for n in written if isinstance(arguments.get(n), torch.Tensor)]
        arrays = [_array(t) if isinstance(t, torch.Tensor) else None for t in results]
        return arrays[0] if outputs == 1 else [*arrays, *[None] * outputs][:outputs]

    return compute


@contextmanager
def _aside() -> Iterator[None]:
    """Compute without autograd, autocast, or anybody who watches PyTorch's calls."""
    with ExitStack() as stack:
        stack.enter_context(_disable_current_modes())
        stack.enter_context(torch._C.DisableTorchFunction())
        stack.enter_context(torch._C._DisableAutocast())
        stack.enter_context(torch.no_grad())
        yield


def _tensor(array: Any) -> Any:
    """Return a tensor of its own with the values of an array: operators may write it."""
    array = np.asarray(array)
    narrow = _NARROW.get(array.dtype.name)
    if narrow is not None:
        return torch.from_numpy(array.view(narrow[0]).copy()).view(narrow[1])
    return torch.from_numpy(array.copy())


def _array(tensor: Any) -> Any:
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if tensor.layout is not torch.strided:
        tensor = tensor.to_dense()
    if tensor.dtype is torch.bfloat16:
        import ml_dtypes

        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def _plain(value: Any, argument: Any, is_double: bool) -> Any:
    """Return a plain argument as it was given: what is neither number nor text was recorded as text."""
    if isinstance(value, (list, tuple)):
        return [_plain(v, argument, is_double) for v in value]
    if not isinstance(value, str):
        return value
    read = _READ.get(str(argument.real_type).removeprefix("Optional[").removesuffix("]"))
    if read is None:
        return value
    found = read(value)
    return _WIDE.get(found, found) if is_double else found


def _lstm(**named: Any) -> tuple[Any, ...]:
    """Compute one direction of one layer of an LSTM, which oneDNN has in single precision only."""
    x, backwards = named["input"], named["reverse"]
    states = [named[n].reshape(1, x.shape[1], -1) for n in ("hx_", "cx_")]
    weights = [named[f"weight{i}"] for i in range(4)]
    if named["mode"] != 2 or named["batch_sizes"]:
        raise NotImplementedError("only LSTM layers of one length are computed in double precision")
    sides = x.flip(0) if backwards else x
    out, hidden, cell = torch.lstm(sides, states, weights, True, 1, 0.0, False, False, False)
    return out.flip(0) if backwards else out, hidden.view_as(named["hx_"]), cell.view_as(named["cx_"]), None


_IN_DOUBLE: Mapping[str, Callable[..., Any]] = {"mkldnn_rnn_layer": _lstm}
"""What computes operators in double precision that PyTorch has in single precision only."""


def _of_torch(text: str) -> Any:
    return getattr(torch, text.removeprefix("torch."), None)


_READ: Mapping[str, Callable[[str], Any]] = {
    "ScalarType": _of_torch,
    "Layout": _of_torch,
    "MemoryFormat": _of_torch,
    "Device": lambda text: "cpu",
    "Generator": lambda text: None,
    "number": complex,
}
"""What reads an argument that was recorded as text, by the type that the operator's schema gives it."""
