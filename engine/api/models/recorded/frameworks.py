"""The frameworks whose programs are recorded, a row each: what their files are called, how their calls read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradtool.engine.eager.tensor import Tensor

    from .matching import Again, Entry, Match

Computing = Callable[[str, Sequence["Entry"], Sequence[tuple[tuple[int, ...], str]], int], "Again | None"]
"""What computes calls of an operator of the framework's on other operands.

It takes its name, its inputs, the shape and the type of each result, and how many results its kernel is to give.
"""

Matching = Callable[[str, Mapping[str, Any], Sequence["Tensor"]], "Match | None"]
"""A call of the framework as one of gradtool's operators, see :mod:`.matching`."""


@dataclass(frozen=True)
class Framework:
    """A framework that a recorder can run inside.

    Attributes:
        package: what Python imports.
        title: what people call it.
        ending: what the names of files with recorded runs end with.
        form: what such a file says of itself.
        prefix: what stands before its name of an operator where gradtool has another of that name.
        load: gives the matching of its calls.
        again: gives what computes calls that match none, or None.
        sized: whether an operator of its own, with these arguments, reads the size of its operand and no element.
    """

    package: str
    title: str
    ending: str
    form: str
    prefix: str
    load: Callable[[], Matching]
    again: Callable[[], Computing] | None = None
    sized: Callable[[str, Mapping[str, Any]], bool] = lambda name, named: False


def _of_torch() -> Matching:
    from ..pytorch.operators import match

    return match


def _again_of_torch() -> Computing:
    from ..pytorch.again import again

    return again


def _of_paddle() -> Matching:
    from ..real_paddle.operators import match

    return match


_LIKE = ("empty", "zeros", "ones", "full", "rand", "randn", "randint")
_NEW = ("empty", "empty_strided", "zeros", "ones", "full")
_SIZES_ALONE = frozenset({f"{n}_like" for n in _LIKE} | {f"new_{n}" for n in _NEW} | {"zero", "fill", "uniform"})


def _sized_in_torch(name: str, named: Mapping[str, Any]) -> bool:
    # ``bernoulli_`` fills its operand with a probability that it is told; ``bernoulli`` reads one for each element.
    # So do ``normal_``, which has an operand beside the mean and the deviation, and ``normal``.
    fills = (name == "bernoulli" and isinstance(named.get("p"), float)) or (name == "normal" and "self" in named)
    return name in _SIZES_ALONE or fills


TORCH = Framework(
    "torch", "PyTorch", ".torchrun", "gradtool-torch-run-1", "aten.", _of_torch, _again_of_torch, _sized_in_torch
)
PADDLE = Framework("paddle", "PaddlePaddle", ".paddlerun", "gradtool-paddle-run-1", "pd_op.", _of_paddle)

FRAMEWORKS = (TORCH, PADDLE)
ENDINGS = tuple([framework.ending for framework in FRAMEWORKS])
"""What the names of files with recorded runs end with."""


def of_form(form: object) -> Framework | None:
    """The framework whose runs say that of themselves."""
    return next((framework for framework in FRAMEWORKS if framework.form == form), None)
