"""Second names of arguments, those that other packages use: ``paddle.sum(input=x, dim=0)``.

Paddle 3.3.1 takes some of them, function by function; the table has exactly those
(``tests/paddle/record_second_names.py`` found them by trying). A function takes its second names
where it is asked for by its public name; gradtool itself calls it without them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from gradtool.engine.core.errors import ArgumentTypeError
from gradtool.engine.core.value import AnyTensor

from . import _lazy
from ._remembered import called_directly

ROWS: tuple[tuple[str, str, str, str], ...] = (
    (
        "gradtool.paddle",
        "input",
        "x",
        (
            "abs acos acosh add all amax amin any argmax argmin argsort asin atanh bitwise_or bmm broadcast_to "
            "bucketize ceil chunk clamp clip cos cosh cumprod cumsum diagonal diff div divide dot empty_like eq equal "
            "exp expand expand_as expm1 flatten floor floor_divide floor_mod frac full_like gcd ge ger greater "
            "greater_equal greater_than gt index_add index_put index_select is_complex isclose isfinite isinf isnan "
            "lcm le less less_equal less_than log log10 log1p log2 logical_and logical_not logical_or logical_xor "
            "logsumexp lt masked_select matmul maximum mean median minimum mod mul multinomial multiply ne nonzero "
            "norm not_equal ones_like outer pow prod quantile randn_like remainder repeat_interleave reshape roll "
            "round rsqrt sigmoid sign sin sinh sqrt squeeze sub subtract sum swapaxes swapdims tanh tensor_split tile "
            "topk trace transpose tril triu unflatten unique_consecutive unsqueeze var where zeros_like"
        ),
    ),
    (
        "gradtool.paddle",
        "other",
        "y",
        (
            "add bitwise_or div divide eq equal expand_as floor_divide floor_mod gcd ge greater greater_equal "
            "greater_than gt isclose lcm le less less_equal less_than logical_and logical_or logical_xor lt matmul "
            "maximum minimum mod mul multiply ne not_equal remainder sub subtract where"
        ),
    ),
    (
        "gradtool.paddle",
        "dim",
        "axis",
        (
            "all amax amin any argmax argmin argsort cat chunk concat cross cumsum diff index_add index_select "
            "logsumexp mean norm prod quantile repeat_interleave squeeze stack sum take_along_axis take_along_dim "
            "tensor_split topk unbind unflatten unique_consecutive unsqueeze var"
        ),
    ),
    ("gradtool.paddle", "size", "shape", "broadcast_to empty expand full normal ones rand randn zeros"),
    ("gradtool.paddle", "tensors", "x", "cat concat concatenate stack"),
    ("gradtool.paddle", "input", "arr", "take_along_axis take_along_dim"),
    ("gradtool.paddle", "keepdims", "keepdim", "argmax argmin"),
    ("gradtool.paddle", "vec2", "y", "ger outer"),
    ("gradtool.paddle", "A", "x", "norm"),
    ("gradtool.paddle", "dim1", "axis1", "diagonal"),
    ("gradtool.paddle", "dim2", "axis2", "diagonal"),
    ("gradtool.paddle", "dims", "axis", "roll"),
    ("gradtool.paddle", "dims", "repeat_times", "tile"),
    ("gradtool.paddle", "end", "stop", "linspace"),
    ("gradtool.paddle", "end_dim", "stop_axis", "flatten"),
    ("gradtool.paddle", "exponent", "y", "pow"),
    ("gradtool.paddle", "mat2", "y", "bmm"),
    ("gradtool.paddle", "n", "num_rows", "eye"),
    ("gradtool.paddle", "ord", "p", "norm"),
    ("gradtool.paddle", "sizes", "shape", "unflatten"),
    ("gradtool.paddle", "source", "value", "index_add"),
    ("gradtool.paddle", "start_dim", "start_axis", "flatten"),
    ("gradtool.paddle", "steps", "num", "linspace"),
    ("gradtool.paddle", "values", "value", "index_put"),
    (
        "gradtool.paddle.nn.functional",
        "input",
        "x",
        (
            "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_max_pool1d adaptive_max_pool2d conv1d conv2d conv3d "
            "dropout embedding fold gelu glu grid_sample group_norm hardshrink interpolate layer_norm log_sigmoid "
            "lp_pool2d normalize one_hot pad sigmoid silu softmax softplus softshrink tanh"
        ),
    ),
    ("gradtool.paddle.nn.functional", "dim", "axis", "cosine_similarity glu normalize softmax"),
    ("gradtool.paddle.nn.functional", "target", "label", "cross_entropy"),
    ("gradtool.paddle.linalg", "dim", "axis", "cross norm vector_norm"),
    ("gradtool.paddle.linalg", "A", "x", "norm solve"),
    ("gradtool.paddle.linalg", "ord", "p", "norm vector_norm"),
    ("gradtool.paddle.linalg", "B", "y", "solve"),
    ("gradtool.paddle.linalg", "input", "x", "norm"),
    (
        "gradtool.paddle.fft",
        "input",
        "x",
        (
            "fft fft2 fftn fftshift hfft hfft2 hfftn ifft ifft2 ifftn ifftshift ihfft ihfft2 ihfftn irfft irfft2 "
            "irfftn rfft rfft2 rfftn"
        ),
    ),
    (
        "gradtool.paddle.fft",
        "dim",
        "axes",
        "fft2 fftn hfft2 hfftn ifft2 ifftn ihfft2 ihfftn irfft2 irfftn rfft2 rfftn",
    ),
    ("gradtool.paddle.fft", "dim", "axis", "fft hfft ifft ihfft irfft rfft"),
)
"""Package, second name, first name, and the functions that take it."""


def _by_function() -> dict[tuple[str, str], dict[str, str]]:
    """By package and name of a function: second name -> first name."""
    table: dict[tuple[str, str], dict[str, str]] = {}
    for package, second, first, names in ROWS:
        for name in names.split():
            table.setdefault((package, name), {})[second] = first
    return table


BY_FUNCTION = _by_function()


Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def _gathering(first: int) -> Callable[[tuple[Any, ...], dict[str, Any]], Arguments]:
    """Return what makes a list of sizes that come one by one, from place *first* on: ``paddle.reshape(x, 2, 8)``."""

    def gather(args: tuple[Any, ...], named: dict[str, Any]) -> Arguments:
        if len(args) > first and all(map(_is_size, args[first:])):
            return (*args[:first], [*args[first:]]), named
        return args, named

    return gather


def _is_size(value: Any) -> bool:
    return type(value) is int or (isinstance(value, AnyTensor) and value.ndim == 0)


def _exchanging(args: tuple[Any, ...], named: dict[str, Any]) -> Arguments:
    """Take two dimensions that change places, ``paddle.transpose(x, 0, 1)``, as an order of all of them."""
    places: list[Any] = [
        named.get(f"dim{i}", named.get(f"axis{i}", args[i + 1] if len(args) > i + 1 else None)) for i in (0, 1)
    ]
    if not all(type(place) is int for place in places):
        return args, named
    x: Any = args[0] if args else named.get("x", named.get("input"))
    order = [*range(x.ndim)]
    order[places[0]], order[places[1]] = order[places[1]], order[places[0]]
    return (x, order), {key: value for key, value in named.items() if key == "name"}


SIZES: dict[str, Callable[[tuple[Any, ...], dict[str, Any]], Arguments]] = {
    **dict.fromkeys(("expand", "reshape"), _gathering(1)),
    **dict.fromkeys(("empty", "ones", "rand", "randn", "zeros"), _gathering(0)),
    "transpose": _exchanging,
}
"""Functions of ``paddle`` that take numbers one by one in place of a list, and what makes the list of them."""

_taking: dict[Callable[..., Any], Callable[..., Any]] = {}
"""By function, what takes its second names: one object, whichever of its public names is asked for."""


def taking(package: str, module: str, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """*function*, which *module* defines for *package*, with its second names, if it has any."""
    second = BY_FUNCTION.get((_home(package, module, name), name))
    if second is None:
        return function
    if function in _taking:
        return _taking[function]
    others = frozenset(second)
    sizes = SIZES.get(name)

    def call(*args: Any, **named: Any) -> Any:
        if sizes is not None:
            args, named = sizes(args, named)
        if named and not others.isdisjoint(named):
            named = _first_names(name, function, len(args), named, second)
        return function(*args, **named)

    _named_as(call, function)
    direct = called_directly.get(function)
    taker = call if direct is None else _named_as(direct(call), function)
    _taking[function] = _taking[taker] = taker
    return taker


def _named_as(call: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """*call* as *function* to whoever looks at it."""
    for attribute in functools.WRAPPER_ASSIGNMENTS:
        setattr(call, attribute, getattr(function, attribute))
    call.__wrapped__ = function  # type: ignore[attr-defined]
    return call


def _home(package: str, module: str, name: str) -> str:
    """The package that the table knows the function by: the same ones stand in several."""
    if package.startswith("gradtool.paddle.nn.functional"):
        return "gradtool.paddle.nn.functional"
    return "gradtool.paddle" if _lazy.sources("gradtool.paddle").get(name) == module else package


@functools.cache
def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of what a function takes, in order."""
    import inspect

    return tuple(inspect.signature(function).parameters)


def _first_names(
    name: str, function: Callable[..., Any], given: int, named: Mapping[str, Any], second: Mapping[str, str]
) -> dict[str, Any]:
    """*named* arguments under their first names.

    Raises:
        ArgumentTypeError: an argument comes under both names (a ValueError and a TypeError, as Paddle raises either).
    """
    positional = _parameters(function)[:given]
    renamed: dict[str, Any] = {}
    for key, value in named.items():
        first = second.get(key, key)
        if first != key and (first in named or first in positional):
            raise ArgumentTypeError(
                f"Cannot specify both '{first}' and its alias '{key}' in {name}().", hint=f"leave {key}= out"
            )
        renamed[first] = value
    return renamed
