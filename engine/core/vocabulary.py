"""Words of the framework whose program is looked at: what texts call its settings, calls and operators.

A text is written once, with the names of terms in braces: ``say("call {retain} on it before backward")``. Terms are the
fields of :class:`Vocabulary`, and each framework has one with all of them. Words stay those of one framework inside
:func:`use_vocabulary`, and from :func:`speak` on until the block around it ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields

from .records import dataclass


@dataclass(frozen=True)
class Vocabulary:
    """The words of one framework; each field is a term.

    Attributes:
        framework: what people call it.
        package: what Python imports, and what stands before its functions.
        stopped: the setting that ends gradients, as a reason in a table.
        stops: the setting of a tensor that takes no gradient.
        takes: the setting of a tensor that takes one.
        taking: an assignment or a call that lets ``{name}`` take one.
        making: what lets a tensor take one where it is made.
        taking_argument: an argument of a factory that does.
        frozen: the setting of a parameter that is not trained.
        listed: the place where an optimizer is given its parameters.
        layer_list: the container of layers that parameters() looks into.
        clear: a call that clears gradients.
        retain: a call that keeps the gradient of a result.
        gradient_of: the function that gives gradients of chosen tensors.
        own_function: what a user derives an operator from whose gradient is his own.
        from_copies: what lets gradients of a loss of changed values reach the values that they were changed from.
        assign: a call that writes other values into a parameter, without its name.
        sync_batch_norm, all_reduce, data_parallel, seed_each: calls of programs with several processes.
        value, result: the beginnings of names that tensors and results of operators get that have none.
    """

    framework: str
    package: str
    stopped: str
    stops: str
    takes: str
    taking: str
    making: str
    taking_argument: str
    frozen: str
    listed: str
    layer_list: str
    clear: str
    retain: str
    gradient_of: str
    own_function: str
    from_copies: str
    assign: str
    sync_batch_norm: str
    all_reduce: str
    data_parallel: str
    seed_each: str
    value: str
    result: str


PADDLE = Vocabulary(
    framework="PaddlePaddle",
    package="paddle",
    stopped="stop_gradient",
    stops="stop_gradient=True",
    takes="stop_gradient=False",
    taking="{name}.stop_gradient = False",
    making="set stop_gradient=False where it is made",
    taking_argument="stop_gradient=False",
    frozen="trainable=False",
    listed="parameter_list",
    layer_list="nn.LayerList",
    clear="clear_grad()",
    retain="retain_grads()",
    gradient_of="paddle.grad",
    own_function="PyLayer",
    from_copies="compute the loss with it",
    assign="set_value(…)",
    sync_batch_norm="paddle.nn.SyncBatchNorm.convert_sync_batchnorm(model)",
    all_reduce="paddle.distributed.all_reduce(parameter.grad)",
    data_parallel="paddle.DataParallel(model)",
    seed_each="paddle.seed(seed + paddle.distributed.get_rank())",
    value="generated_tensor",
    result="eager_tmp",
)

TORCH = Vocabulary(
    framework="PyTorch",
    package="torch",
    stopped="requires_grad=False",
    stops="requires_grad=False",
    takes="requires_grad=True",
    taking="{name}.requires_grad_(True)",
    making="make it with requires_grad=True, or call requires_grad_(True) on it before it is used",
    taking_argument="requires_grad=True",
    frozen="requires_grad=False",
    listed="an optimizer",
    layer_list="nn.ModuleList",
    clear="optimizer.zero_grad()",
    retain="retain_grad()",
    gradient_of="torch.autograd.grad",
    own_function="torch.autograd.Function",
    from_copies="compute the loss with it, or by torch.func.functional_call with parameters that are computed from it",
    assign="copy_(…)",
    sync_batch_norm="torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)",
    all_reduce="torch.distributed.all_reduce(parameter.grad)",
    data_parallel="torch.nn.parallel.DistributedDataParallel(model)",
    seed_each="torch.manual_seed(seed + torch.distributed.get_rank())",
    value="tensor",
    result="result",
)

_current: ContextVar[Vocabulary] = ContextVar("gradtool_vocabulary", default=PADDLE)

current = _current.get
"""The words that texts are written in now."""


def speak(vocabulary: Vocabulary) -> None:
    """Use these words until the innermost :func:`use_vocabulary` ends."""
    _current.set(vocabulary)


@contextmanager
def use_vocabulary(vocabulary: Vocabulary | None = None) -> Iterator[None]:
    """Use these words inside, or those in use; give back the words that were in use before."""
    before = _current.get()
    if vocabulary is not None:
        _current.set(vocabulary)
    try:
        yield
    finally:
        _current.set(before)  # no token: a notebook may leave in another context than it entered


def say(text: str, **names: object) -> str:
    """Return *text* with the words in use for the terms in braces, and *names* for others.

    >>> say("call {retain} on it before backward")
    'call retain_grads() on it before backward'
    >>> with use_vocabulary(TORCH):
    ...     say("{taking}", name="h")
    'h.requires_grad_(True)'
    """
    terms = {f.name: getattr(_current.get(), f.name) for f in fields(Vocabulary)}
    terms["taking"] = str(terms["taking"]).replace("{name}", str(names.get("name", "it")))
    return text.format(**terms, **names)


class Titled(str):
    """The type of an operator, with another name in texts: ``matmul_v2`` that its framework calls ``mm``.

    It is compared, stored and looked up as the type that it is; what formats it writes the title.

    >>> kind = Titled("matmul_v2", "mm")
    >>> kind == "matmul_v2", f"{kind} gives no gradient"
    (True, 'mm gives no gradient')

    Attributes:
        shown: what people call it.
    """

    __slots__ = ("shown",)
    shown: str

    def __new__(cls, type_: str, title: str) -> Titled:
        made = super().__new__(cls, type_)
        made.shown = title
        return made

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return str.__str__(self), self.shown

    def __format__(self, form: str) -> str:
        return format(self.shown, form)


def title(type_: str) -> str:
    """Return what people call an operator of this type."""
    return type_.shown if isinstance(type_, Titled) else type_


def add_suffix(type_: str, suffix: str) -> str:
    """Return the type of an operator made from another one, such as its gradient's, with a title of its own."""
    if isinstance(type_, Titled):
        return Titled(type_ + suffix, type_.shown + suffix)
    return type_ + suffix
