"""Calls of PyTorch's operators on other values, computed by PyTorch itself where it is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import _disable_current_modes

from ...core.errors import UnsupportedError
from ..recorded.matching import Again, Entry, Made

_NARROW = {"bfloat16": (np.int16, torch.bfloat16)}
_WIDE = {torch.float32: torch.float64, torch.complex64: torch.complex128}


@cache
def find(overload: str) -> Any:
    """Return the operator that PyTorch calls ``aten::add.Tensor``; None where it has none, or where it always draws."""
    name, _, kind = overload.partition(".")
    namespace, _, name = name.partition("::")
    packet = getattr(getattr(torch.ops, namespace, None), name, None)
    func = getattr(packet, kind or "default", None)
    if func is None or (_draws(func) and all(a.name != _DROPPING for a in func._schema.arguments)):
        return None
    return func


_DROPPING = "dropout_p"
"""The argument of operators that draw where it is not 0, as those of attention do."""


def _draws(func: Any) -> bool:
    return torch.Tag.nondeterministic_seeded in func.tags


@cache
def find_computation(
    overload: str,
    inputs: tuple[Entry, ...],
    plain: frozenset[str],
    sized: tuple[tuple[int, ...], str] | None = None,
) -> TorchComputation | None:
    """Return an operator as it is called on other operands; None where PyTorch cannot compute it from those alone.

    Args:
        overload: the operator, as ``aten::add.Tensor``.
        inputs: of each tensor that it reads the argument, and the place there if that is a list.
        plain: the names of its other arguments; a number may stand in the place of a tensor.
        sized: the shape and the type of its result, where it read the size of a tensor alone.
    """
    func = find(overload)
    if func is None:
        return None
    given = {name for name, _ in inputs} | plain
    missing = [a.name for a in func._schema.arguments if str(a.type) == "Tensor" and a.name not in given]
    if missing and (sized is None or inputs or "empty" in func._schema.name):
        return None
    return TorchComputation(func, inputs, dict.fromkeys(missing, sized))


class TorchComputation:
    """An operator as it is called on other operands, which are arrays.

    Args:
        func: of ``torch.ops``.
        inputs: as of :func:`find_computation`.
        sizes: by tensor argument that it reads the size of alone, a shape and a type.
    """

    def __init__(self, func: Any, inputs: Sequence[Entry], sizes: Mapping[str, Any]) -> None:
        self._func, self._inputs, self._sizes = func, inputs, sizes
        self._schema = {a.name: a for a in func._schema.arguments}
        self._written = [n for n, a in self._schema.items() if a.alias_info is not None and a.alias_info.is_write]
        self.name = func._schema.name.partition("::")[2]

    def prepare(self, operands: Sequence[Any], attrs: Mapping[str, Any]) -> Callable[[], list[Any]]:
        """Return what calls it once inside :meth:`aside`, and returns tensors."""
        self._expect_nothing_drawn(attrs)
        tensors = [_tensor(o) for o in operands]
        call, arguments = self._resolve(tensors, attrs)

        def run() -> list[Any]:
            return self._results(call(**arguments), arguments)

        return run

    @staticmethod
    @contextmanager
    def aside() -> Iterator[None]:
        """Inside, PyTorch computes without a graph, and nobody watches."""
        with _aside(), torch.no_grad():
            yield

    @staticmethod
    def read(results: Sequence[Any]) -> list[Any]:
        """Return tensors as arrays, None in place of what is none."""
        return [_array(t) if isinstance(t, torch.Tensor) else None for t in results]

    def gradients(
        self, operands: Sequence[Any], attrs: Mapping[str, Any], arriving: Sequence[Any], wanted: Sequence[int]
    ) -> list[Any]:
        """Return the gradients of the operands *wanted*; zeros where none arrives.

        Args:
            arriving: the gradient of each result, None where none arrives.
            wanted: places among *operands*.

        Raises:
            UnsupportedError: PyTorch refuses the call, or has no gradient of it.
        """
        self._expect_nothing_drawn(attrs)
        try:
            with _aside(), torch.enable_grad():
                tensors = [_tensor(o) for o in operands]
                for place in wanted:
                    tensors[place].requires_grad_()
                own = [t.clone() if t.requires_grad and self._written else t for t in tensors]
                call, arguments = self._resolve(own, attrs)
                results = self._results(call(**arguments), arguments)
                pairs = [
                    (t, _tensor(g).to(t.dtype))
                    for t, g in zip(results, arriving, strict=False)
                    if g is not None and isinstance(t, torch.Tensor) and t.requires_grad
                ]
                given = _pull(pairs, [tensors[place] for place in wanted])
        except _REFUSED as error:
            raise self._refusal(error) from error
        return [
            np.zeros(operands[place].shape, operands[place].dtype) if g is None else _array(g)
            for place, g in zip(wanted, given, strict=True)
        ]

    def __call__(self, operands: Sequence[Any], attrs: Mapping[str, Any]) -> list[Any]:
        """Return the results on other operands.

        Raises:
            UnsupportedError: PyTorch refuses the call.
        """
        try:
            with self.aside():
                return self.read(self.prepare(operands, attrs)())
        except _REFUSED as error:
            raise self._refusal(error) from error

    def _resolve(self, tensors: Sequence[Any], attrs: Mapping[str, Any]) -> tuple[Callable[..., Any], dict[str, Any]]:
        """Return what computes it in the precision of *tensors*, and its arguments by name."""
        is_double = any(t.dtype in (torch.float64, torch.complex128) for t in tensors)
        schema = self._schema
        arguments: dict[str, Any] = {a.name: None for a in schema.values() if not a.has_default_value()}
        arguments |= {n: _plain(v, schema[n], is_double) for n, v in attrs.items() if n in schema}
        arguments |= self._make_sized()
        for (argument, place), tensor in zip(self._inputs, tensors, strict=True):
            if place is None:
                arguments[argument] = tensor
                continue
            entries = arguments[argument] = list(arguments.get(argument) or ())
            entries += [None] * (place + 1 - len(entries))
            entries[place] = tensor
        return _IN_DOUBLE[self.name] if is_double and self.name in _IN_DOUBLE else self._func, arguments

    def _make_sized(self) -> dict[str, Any]:
        """Return tensors for the arguments that nothing but the size is read of."""
        return {n: torch.zeros(shape, dtype=getattr(torch, dtype)) for n, (shape, dtype) in self._sizes.items()}

    def _results(self, returned: Any, arguments: Mapping[str, Any]) -> list[Any]:
        results = list(returned) if isinstance(returned, (tuple, list)) else [returned] * (returned is not None)
        if self._written and not isinstance(returned, torch.Tensor):
            written = chain.from_iterable(v if isinstance(v, list) else [v] for v in map(arguments.get, self._written))
            results += [t for t in written if isinstance(t, torch.Tensor)]
        return results

    def _expect_nothing_drawn(self, attrs: Mapping[str, Any]) -> None:
        if _draws(self._func) and attrs.get(_DROPPING, 0.0):
            raise UnsupportedError(f"{self.name} cannot run again: it draws random numbers.", op=self.name)

    def _refusal(self, error: Exception) -> UnsupportedError:
        why = str(error).partition("\n")[0]
        return UnsupportedError(f"{self.name} cannot run again on other values: {why}", op=self.name)


_REFUSED = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError)


def _pull(pairs: Sequence[tuple[Any, Any]], tensors: Sequence[Any]) -> Sequence[Any]:
    """Return the gradients of *tensors* by PyTorch's engine itself: its functions may be watched."""
    if not pairs:
        return [None] * len(tensors)
    engine = torch.autograd.Variable._execution_engine
    return engine.run_backward(  # type: ignore[no-any-return]
        tuple([t for t, _ in pairs]),
        tuple([g for _, g in pairs]),
        False,
        False,
        tuple(tensors),
        allow_unreachable=True,
        accumulate_grad=False,
    )


def again(
    overload: str,
    inputs: Sequence[Entry],
    plain: Sequence[str],
    made: Made,
    outputs: int,
) -> Again | None:
    """Return what computes a call of an operator again; None where PyTorch cannot.

    Args:
        overload, inputs, plain: as of :func:`find_computation`.
        made: the shape and the type of each result.
        outputs: how many results are wanted: those that there are not are None.
    """
    computation = find_computation(overload, tuple(inputs), frozenset(plain), made[0] if len(made) == 1 else None)
    if computation is None:
        return None
    called = computation

    def compute(operands: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
        arrays = called(operands, attrs)
        return arrays[0] if outputs == 1 else [*arrays, *[None] * outputs][:outputs]

    compute.gradients = called.gradients  # type: ignore[attr-defined]
    return compute


@contextmanager
def _aside() -> Iterator[None]:
    """Compute without autocast, or anybody who watches PyTorch's calls."""
    with ExitStack() as stack:
        if torch._C._len_torch_dispatch_stack():  # to find that there is none takes as long as an operator
            stack.enter_context(_disable_current_modes())
        stack.enter_context(torch._C.DisableTorchFunction())
        stack.enter_context(torch._C._DisableAutocast())
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


def _torch_attribute(text: str) -> Any:
    return getattr(torch, text.removeprefix("torch."), None)


_READ: Mapping[str, Callable[[str], Any]] = {
    "ScalarType": _torch_attribute,
    "Layout": _torch_attribute,
    "MemoryFormat": _torch_attribute,
    "Device": lambda text: "cpu",
    "Generator": lambda text: None,
    "number": complex,
}
"""What reads an argument that was recorded as text, by the type that the operator's schema gives it."""
