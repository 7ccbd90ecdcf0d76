"""Events in the life of tensors; :mod:`.watch` has the table."""

from __future__ import annotations

from typing import Any

from .records import dataclass
from .source import Location

# Events are reported in the terms of modules above this one: hence ``Any``.
OpDef = Any
GradNode = Any
Tensor = Any


@dataclass(slots=True, eq=False, repr=False)
class Made:
    """A tensor was made of plain values: no operator computed it."""

    tensor: Tensor


@dataclass(slots=True, eq=False, repr=False)
class Called:
    """An operator was called on tensors.

    Attributes:
        operands: one per slot: a tensor, a list of them, or None; slots at the end may be left out.
        results: likewise, one per output.
    """

    op: OpDef
    operands: tuple[Any, ...]
    results: tuple[Any, ...]


@dataclass(slots=True, eq=False, repr=False)
class Applied:
    """A PyLayer was called and stands on the tape; its results have not got their places there yet.

    Attributes:
        inputs: the tensors among its arguments.
        outputs: the tensors that it gave.
        taken: for each of these, whether gradients come back through it.
    """

    node: GradNode
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    taken: tuple[bool, ...]


@dataclass(slots=True, eq=False, repr=False)
class Copied:
    """*made* got the values of the *given* tensors without a way back."""

    how: str
    given: tuple[Tensor, ...]
    made: Tensor


@dataclass(slots=True, eq=False, repr=False)
class Differentiated:
    """Gradients of *tensors* were computed that have a graph themselves."""

    tensors: tuple[Tensor, ...]


@dataclass(slots=True, eq=False, repr=False)
class SetAside:
    """*copy* stands for *tensor* in a graph that was freed."""

    tensor: Tensor
    copy: Tensor


@dataclass(slots=True, eq=False, repr=False)
class Chosen:
    """A tensor is what it is by a setting of the layer that made it.

    Attributes:
        loc: where the setting was given.
    """

    tensor: Tensor
    loc: Location


@dataclass(slots=True, eq=False, repr=False)
class Left:
    """The values of a tensor left for Python.

    Attributes:
        how: the method.
        into: the tensor that took them, where they went straight into one.
    """

    how: str
    tensor: Tensor
    into: Tensor | None = None


@dataclass(slots=True, eq=False, repr=False)
class Lent:
    """Others have the memory of a tensor from now on, and may write it unheard.

    Attributes:
        how: the method that gave it to them; empty where they had it before.
    """

    tensor: Tensor
    how: str


@dataclass(slots=True, eq=False, repr=False)
class Written:
    """The values of a tensor were overwritten by those of an array."""

    tensor: Tensor
    array: Any
    writer: str


@dataclass(slots=True, eq=False, repr=False)
class Unfilled:
    """The gradient of a result of an operator was read, and no pass keeps one there."""

    tensor: Tensor


@dataclass(slots=True, eq=False, repr=False)
class Initialised:
    """A parameter was filled with values that read nothing."""

    tensor: Tensor
    writer: str


@dataclass(slots=True, eq=False, repr=False)
class Cutting:
    """Gradients are about to be cut off. If a watcher's answer is true, nothing is cut.

    Attributes:
        how: ``detach``, ``no_grad``, or the attribute that is set: ``stop_gradient``, ``trainable``; or the public
            name of a function that sets ``stop_gradient`` on what it is given.
        tensor: the tensor that it happens to; None for a call under ``no_grad``.
    """

    how: str
    tensor: Tensor | None = None


@dataclass(slots=True, eq=False, repr=False)
class Enclosure:
    """A call that runs the user's code without recording it, since no tensor among its arguments needs a gradient.

    Attributes:
        kind: ``recompute`` or ``PyLayer``.
        name: what the user calls it by: ``recompute``, or the class of the PyLayer.
        tensors: the tensors among its arguments.
    """

    kind: str
    name: str
    tensors: tuple[Tensor, ...]


@dataclass(slots=True, eq=False, repr=False)
class Guarding:
    """Recording is switched off or on from here.

    Attributes:
        enabled: whether what follows is recorded.
        site: of a decorator, where the user's file has it; None for whoever calls now.
        enclosure: the call that switched it off by itself; None where the program did, with ``no_grad`` and its like.
    """

    enabled: bool
    site: Any = None
    enclosure: Enclosure | None = None


@dataclass(slots=True, eq=False, repr=False)
class Guarded:
    """End of the last :class:`Guarding` that began."""


@dataclass(slots=True, eq=False, repr=False)
class Released:
    """``stop_gradient = False`` was set on a tensor that no recorded operator made: it is a leaf from now on."""

    tensor: Tensor


@dataclass(slots=True, eq=False, repr=False)
class Added:
    """Backward is about to add to the ``.grad`` of a leaf.

    Attributes:
        root: the first of the tensors that the pass started from; None outside of a pass.
    """

    leaf: Any
    root: Tensor | None = None


@dataclass(slots=True, eq=False, repr=False)
class Filled:
    """A backward pass has added all its gradients to the ``.grad`` of *leaves*."""

    leaves: tuple[Any, ...]


@dataclass(slots=True, eq=False, repr=False)
class Given:
    """``paddle.grad`` computed the gradients of *inputs*, None for one that does not matter."""

    inputs: tuple[Tensor, ...]
    gradients: tuple[Tensor | None, ...]


@dataclass(slots=True, eq=False, repr=False)
class Cleared:
    """The ``.grad`` of a tensor was set to zeros or removed."""

    how: str
    tensor: Tensor


@dataclass(slots=True, eq=False, repr=False)
class DeepCopied:
    """*made* is a deep copy of *tensor*: a leaf of its own with the same values."""

    tensor: Tensor
    made: Tensor


@dataclass(slots=True, eq=False, repr=False)
class GradientMoved:
    """The ``.grad`` of *tensor* lies in other memory now, with the same values."""

    tensor: Tensor


@dataclass(slots=True, eq=False, repr=False)
class Reused:
    """A value was handed out that *by* keeps from an earlier call."""

    tensor: Tensor
    by: str
