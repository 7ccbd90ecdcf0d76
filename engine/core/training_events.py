"""Events of a training: layers, optimizers, scales of the loss, schedules and data; :mod:`.watch` has the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .records import dataclass

# Events are reported in the terms of modules above this one: hence ``Any``.
Tensor = Any


@dataclass(slots=True, eq=False, repr=False)
class Replaced:
    """Parameters of a layer were replaced by others, or let go of, as something else was assigned to an attribute.

    Attributes:
        before, after: the parameters by their path from the attribute.
    """

    before: Mapping[str, Tensor]
    after: Mapping[str, Tensor]


@dataclass(slots=True, eq=False, repr=False)
class Switched:
    """Layers work as in training from now on, or as in evaluation.

    Attributes:
        tensors: the parameters of these layers.
    """

    tensors: tuple[Tensor, ...]
    training: bool


@dataclass(slots=True, eq=False, repr=False)
class Listed:
    """An optimizer was made for *tensors*."""

    tensors: tuple[Tensor, ...]


@dataclass(slots=True, eq=False, repr=False)
class Labelled:
    """A layer was given an attribute that freezes tensors and does nothing to a layer.

    Attributes:
        tensors: its parameters.
        text: the assignment, ``Linear.stop_gradient = True``.
    """

    tensors: tuple[Tensor, ...]
    text: str


@dataclass(slots=True, eq=False, repr=False)
class Awaited:
    """Processes wait in each backward pass for each other's gradients of *tensors*; one without any stops all."""

    tensors: tuple[Tensor, ...]


@dataclass(slots=True, eq=False, repr=False)
class GradRead:
    """An optimizer has read the gradients of *tensors*, and only then decides where it goes, if anywhere."""

    tensors: tuple[Tensor, ...]


@dataclass(slots=True, eq=False, repr=False)
class Updating:
    """An optimizer begins to update *tensors*.

    Attributes:
        by: its class.
        rate: its learning rate.
        fixed: whether nothing but the script itself changes that rate, as a scheduler would.
    """

    tensors: tuple[Tensor, ...]
    by: str = ""
    rate: float | None = None
    fixed: bool = False


@dataclass(slots=True, eq=False, repr=False)
class Clipped:
    """The optimizer that began last has clipped gradients.

    Attributes:
        pairs: tensors and their gradients.
        clipped: the same, clipped.
    """

    pairs: Sequence[tuple[Tensor, Tensor]]
    clipped: Sequence[tuple[Tensor, Tensor]]


@dataclass(slots=True, eq=False, repr=False)
class Limited:
    """The gradients of *tensors* are about to be clipped by a call that is no optimizer's.

    Attributes:
        by: the function.
    """

    tensors: tuple[Tensor, ...]
    by: str


class Scaled:
    """A loss was multiplied, so that small gradients do not vanish in narrow numbers.

    Attributes:
        loss, scaled: before and after.
        scale: by how much.
    """

    __slots__ = ("loss", "scale", "scaled")

    def __init__(self, loss: Tensor, scaled: Tensor, scale: float) -> None:
        self.loss = loss
        self.scaled = scaled
        self.scale = scale


class Unscaled:
    """The gradients of *tensors* were divided by the loss scale.

    Attributes:
        scale: it.
        finite: whether all of them were finite; if not, the update is left out.
    """

    __slots__ = ("finite", "scale", "tensors")

    def __init__(self, tensors: tuple[Tensor, ...], scale: float, finite: bool) -> None:
        self.tensors = tensors
        self.scale = scale
        self.finite = finite


@dataclass(slots=True, eq=False, repr=False)
class Updated:
    """The optimizer that began last is done."""


@dataclass(slots=True, eq=False, repr=False)
class Scheduled:
    """A schedule sets the learning rate of an optimizer from now on.

    Attributes:
        schedule: stands for it: a number, or the schedule itself.
        by: its class.
        tensors: what the optimizer holds.
        length: after how many steps of its own it has run once; None where it has no end, or that is not known.
        parts: what stands for the schedules that it steps by itself.
        rate: the learning rate that it begins with.
        base: the rate that the optimizer was made with.
    """

    schedule: Any
    by: str
    tensors: tuple[Tensor, ...]
    length: int | None = None
    parts: tuple[Any, ...] = ()
    rate: float | None = None
    base: float | None = None


@dataclass(slots=True, eq=False, repr=False)
class Advanced:
    """A schedule went on to its next step.

    Attributes:
        rate: the learning rate from now on.
        jumped: whether the program said which step that is.
    """

    schedule: Any
    rate: float | None
    jumped: bool = False


@dataclass(slots=True, eq=False, repr=False)
class DataBegan:
    """The program begins to go through its data; *data* stands for what it takes it from."""

    data: Any
