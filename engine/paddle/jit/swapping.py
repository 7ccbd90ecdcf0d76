"""Layers and other objects while a function is traced: they hold variables, and afterwards what they held before."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gradtool.engine.core.errors import UnsupportedError
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ir.variable import Variable
from gradtool.paddle import _creation
from gradtool.paddle.nn.layer import Layer

from ...engine.core.identity import identity
from .conversion.containers import Containers

if TYPE_CHECKING:
    from .tracing import Trace


class Swapped:
    """Contents of objects before a trace, and during it.

    Whatever a function assigns to attributes of layers, or puts into lists and dicts that they hold, is undone when the
    trace ends: asking for a program changes nothing.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._fields: dict[int, tuple[Any, dict[str, Any]]] = {}
        self._containers: list[Containers] = []

    @contextmanager
    def all(self, roots: Iterable[Any]) -> Iterator[None]:
        """Swap inside what *roots* hold; other layers follow when they are called."""
        try:
            for root in roots:
                if isinstance(root, Layer):
                    self.add(root)
                elif hasattr(root, "__dict__") and not isinstance(root, type):
                    self._keep(root)
            yield
        finally:
            for owner, fields in self._fields.values():
                owner.__dict__.clear()
                owner.__dict__.update(fields)
            for containers in self._containers:
                containers.restore()

    def owners(self) -> list[Any]:
        """Those that are swapped."""
        return [owner for owner, _ in self._fields.values()]

    def add(self, layer: Layer) -> None:
        """Let *layer*, and all layers below it, hold variables."""
        if identity(layer) in self._fields:
            return
        for part in layer.sublayers(include_self=True):
            if identity(part) in self._fields:
                continue
            fields = part.__dict__
            self._keep(part)
            for what in ("_parameters", "_buffers"):
                fields[what] = OrderedDict((n, self._variable(v)) for n, v in fields[what].items())
            for what in ("_sub_layers", "_non_persistable_buffer_names_set"):
                fields[what] = fields[what].copy()

    def _keep(self, owner: Any) -> None:
        fields = dict(owner.__dict__)
        self._fields[identity(owner)] = owner, fields
        self._containers.append(Containers(fields.values()))

    def _variable(self, value: Any) -> Any:
        return self._trace.captured(value) if isinstance(value, Tensor) else value

    def write_back(self) -> None:
        """Let the program keep what the function assigned to buffers, as the layers would.

        An attribute that holds a tensor is a buffer as well; one that the program never reads is none of its state.
        """
        read = {v for block in self._trace.program.blocks for op in block.ops for v in op.input_variables()}
        for owner, fields in self._fields.values():
            if not isinstance(owner, Layer):
                continue
            for name, before in fields["_buffers"].items():
                now = owner.__dict__["_buffers"].get(name)
                if not isinstance(before, Tensor) or not isinstance(now, Variable):
                    continue
                passing = name in fields["_non_persistable_buffer_names_set"]
                if not passing or self._trace.captured(before) in read:
                    self._write(before, now, name)

    def _write(self, before: Tensor, now: Variable, name: str) -> None:
        home = self._trace.captured(before)
        if now is home:
            return
        if now.dtype is not home.dtype or now.shape != home.shape:
            raise UnsupportedError(
                f"the function assigns a {now.dtype.name} tensor of shape {list(now.shape)} to the buffer '{name}', "
                f"which is {home.dtype.name} of shape {list(home.shape)}: a program cannot keep it.",
                hint="give the buffer the shape and type that it is to have",
            )
        made = now.made_at
        _creation.assign(now, home)
        assert home.op is not None
        home.op.loc = made  # the line that computes it, not the one that asks for the program
