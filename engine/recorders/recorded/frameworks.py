"""The frameworks whose programs are recorded, a row each: what their files are called, how their calls read."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...core import vocabulary
from ...core.records import dataclass
from ...core.vocabulary import Vocabulary
from ...eager.tensor import Tensor
from ...script import endings

if TYPE_CHECKING:
    from .matching import Again, Entry, Made, Match
    from .repetition import Computation, Finding

Computing = Callable[[str, str, Sequence["Entry"], Sequence[str], "Made", int], "Again | None"]
"""What computes calls of an operator of the framework's on other operands.

It takes its name, that of its overload, its inputs, the names of its plain arguments, the shape and the type of each
result, and how many results its kernel is to give.
"""

Matching = Callable[[str, Mapping[str, Any], Sequence["Tensor"]], "Match | None"]
"""A call of the framework as one of gradtool's operators, see :mod:`.matching`."""


@dataclass(frozen=True)
class Framework:
    """A framework that a recorder can run inside.

    Attributes:
        vocabulary: its words, which answers about its programs use.
        package: what Python imports.
        title: what people call it.
        ending: what the names of files with recorded runs end with.
        form: what such a file says of itself.
        prefix: what stands before its name of an operator where gradtool has another of that name.
        load: gives the matching of its calls.
        again: gives what computes calls that match none, or None.
        live: gives what finds operators of the framework itself, to repeat calls that match one; None where it is not
            installed, or None.
        titled: gives what people call an operator of its own; None where they call it as gradtool does.
        sized: whether an operator of its own, with these arguments, reads the size of its operand and no element.
        draws: whether an operator of its own draws random numbers.
        views: whether a node is one that it makes of tensors and views that were written.
    """

    package: str
    title: str
    ending: str
    form: str
    prefix: str
    vocabulary: Vocabulary
    load: Callable[[], Matching]
    again: Callable[[], Computing] | None = None
    sized: Callable[[str, Mapping[str, Any]], bool] = lambda name, named: False
    titled: Callable[[str], str] | None = None
    draws: Callable[[str], bool] = lambda name: False
    views: Callable[[str], bool] = lambda name: False
    live: Callable[[], Finding | None] | None = None


def _torch_matching() -> Matching:
    from ..pytorch.operators import match

    return match


def _again_of_torch() -> Computing:
    from ..pytorch.operator_calls import again

    return again


def _live_torch() -> Finding | None:
    if importlib.util.find_spec("torch") is None:
        return None

    def find(overload: str, inputs: tuple[Entry, ...], plain: frozenset[str]) -> Computation | None:
        from ..pytorch.operator_calls import load_by_torch

        by_torch = load_by_torch()
        return None if by_torch is None else by_torch.find_computation(overload, inputs, plain)

    return find


def _paddle_matching() -> Matching:
    from ..real_paddle.operators import match

    return match


_LIKE = ("empty", "zeros", "ones", "full", "rand", "randn", "randint")
_NEW = ("empty", "empty_strided", "zeros", "ones", "full")
_SIZES_ALONE = frozenset({f"{n}_like" for n in _LIKE} | {f"new_{n}" for n in _NEW} | {"zero", "fill", "uniform"})


def _takes_size(name: str, named: Mapping[str, Any]) -> bool:
    # ``bernoulli_`` fills its operand with a probability that it is told; ``bernoulli`` reads one for each element.
    # So do ``normal_``, which has an operand beside the mean and the deviation, and ``normal``.
    fills = (name == "bernoulli" and isinstance(named.get("p"), float)) or (name == "normal" and "self" in named)
    return name in _SIZES_ALONE or fills


_TITLES = {
    "_to_copy": "to",
    "_unsafe_view": "view",
    "nll_loss_forward": "nll_loss",
    "nll_loss2d_forward": "nll_loss",
    "mul_by_mask": "dropout",
}


def _title_in_torch(name: str) -> str:
    """Return the name by which people call an operator of ``torch.ops.aten``: its own, without what is internal."""
    return _TITLES.get(name) or name.removeprefix("_").removeprefix("native_")


_DRAWING = (
    *("bernoulli", "binomial", "cauchy", "dropout", "exponential", "geometric", "log_normal", "multinomial", "normal"),
    *("poisson", "rand", "randint", "random", "randperm", "rrelu_with_noise", "uniform"),
)


def _draws_in_torch(name: str) -> bool:
    return name.removesuffix("_").removesuffix("_like").removesuffix("n") in _DRAWING or "dropout" in name


_VIEWING = (
    *("CopySlices", "AsStrided", "View", "UnsafeView", "ReshapeAlias", "Select", "Slice", "Transpose", "TBackward"),
    *("Permute", "Unsqueeze", "Squeeze", "Expand", "Diagonal", "Unbind", "Split", "Alias", "Unfold"),
)


def _views_in_torch(name: str) -> bool:
    return name.rpartition("::")[2].startswith(_VIEWING)


TORCH = Framework(
    "torch",
    "PyTorch",
    endings.TORCH,
    "gradtool-torch-run-1",
    "aten.",
    vocabulary.TORCH,
    _torch_matching,
    _again_of_torch,
    _takes_size,
    _title_in_torch,
    _draws_in_torch,
    _views_in_torch,
    _live_torch,
)
PADDLE = Framework(
    "paddle", "PaddlePaddle", endings.PADDLE, "gradtool-paddle-run-1", "pd_op.", vocabulary.PADDLE, _paddle_matching
)

FRAMEWORKS = (TORCH, PADDLE)


def find_framework(form: object) -> Framework | None:
    """The framework whose runs say that of themselves."""
    return next((framework for framework in FRAMEWORKS if framework.form == form), None)
