"""``paddle.amp.auto_cast`` and ``decorate``: computing with narrow floating-point numbers.

Paddle does so on accelerators alone, and says on a CPU that it has no effect. A script is written for the accelerator
that it is going to run on, and what it computes there is what a debugger is asked about; so here it has the effect
everywhere. Lists, levels and types are those of Paddle 3.3.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from gradtool.engine.core.differences import meet
from gradtool.engine.core.errors import ArgumentTypeError, UnsupportedError, UsageError
from gradtool.engine.core.spec import bfloat16, float16
from gradtool.engine.core.spec import dtype as convert
from gradtool.engine.core.state import in_static_mode
from gradtool.engine.eager import mode
from gradtool.engine.eager.mixed_precision import Casting

from ._lists import black_list, white_list

NARROW = (float16, bfloat16)

_last = ["float32"]
"""The type that was asked for last: loss scales are for float16 alone."""

_states: list[dict[str, Any]] = []
"""The arguments of each :func:`auto_cast` that is entered, the innermost last."""


def amp_state() -> dict[str, Any] | None:
    """Return the arguments of the :func:`auto_cast` around the call; None outside.

    >>> with auto_cast(level="O1"):
    ...     state = amp_state()
    >>> state["level"], amp_state()
    ('O1', None)
    """
    return _states[-1] if _states else None


def last_dtype() -> str:
    """The type that :func:`auto_cast` was asked for last; ``"float32"`` where it never was."""
    return _last[0]


@contextmanager
def auto_cast(
    enable: bool = True,
    custom_white_list: Iterable[str] | None = None,
    custom_black_list: Iterable[str] | None = None,
    level: str = "O1",
    dtype: Any = "float16",
    use_promote: bool = True,
) -> Iterator[None]:
    """Inside, operators are given narrow numbers where they stand on a list; in dynamic mode.

    Args:
        enable: False: nothing is cast inside.
        custom_white_list: types of operators that compute in *dtype* besides.
        custom_black_list: those that compute in float32 besides.
        level: ``"O1"``: the white list computes in *dtype*, the black list in float32, anything else in float32 where
            an operand is float32. ``"O2"``: with a shorter black list, for networks that :func:`decorate` made narrow.
            ``"OD"``: what is not on the white list computes in float32. ``"O0"``: nothing is cast.
        use_promote: of level O2: False lets what is on no list compute in *dtype* whatever its operands are.

    Raises:
        UsageError: a level, a dtype or lists that Paddle refuses as well (a ValueError).
        UnsupportedError: static mode is on (a NotImplementedError).

    >>> from gradtool import paddle
    >>> x = paddle.ones([2, 2])
    >>> with paddle.amp.auto_cast():
    ...     product, total = x @ x, (x @ x).sum()
    >>> product.dtype, total.dtype
    (paddle.float16, paddle.float32)
    """
    asked = dict(locals())
    if level not in ("O0", "OD", "O1", "O2"):
        raise UsageError("level should be O0, OD, O1 or O2.")
    if enable and convert(dtype) not in NARROW:
        raise UsageError("If enable amp, dtype should be 'float16' or 'bfloat16'.")
    white, black = _names(custom_white_list, "custom_white_list"), _names(custom_black_list, "custom_black_list")
    if white & black:
        raise UsageError("Custom white list overlap custom black list")
    active = enable and level != "O0"
    if active:
        meet("mixed precision")
    if active and in_static_mode():
        raise UnsupportedError(
            "paddle.amp.auto_cast works in dynamic mode, and static mode is on.",
            hint="paddle.static.amp.decorate(optimizer) narrows a program",
        )
    kind = convert(dtype)
    _last[0] = kind.name
    how = None
    if active:
        usual, never = white_list()[kind.name][level], black_list()[kind.name][level]
        how = Casting(
            level, kind, frozenset((usual | white) - black), frozenset((never - white) | black), bool(use_promote)
        )
    _states.append(asked)
    try:
        with mode.cast_by(how):
            yield
    finally:
        _states.pop()


def _names(operators: Iterable[str] | None, what: str) -> set[str]:
    if isinstance(operators, str):
        raise ArgumentTypeError(
            f"{what} must be a list of types of operators, but is {operators!r}.", hint=f"[{operators!r}]"
        )
    return {*(operators or ())}


amp_guard = auto_cast


def autocast(
    device_type: str | None, dtype: Any = "float16", enabled: bool = True, cache_enabled: bool = True
) -> AbstractContextManager[None]:
    """:func:`auto_cast` with other arguments."""
    return auto_cast(enabled, dtype=dtype)


def is_autocast_enabled(device_type: Any = None) -> bool:
    """Return whether operands are cast now."""
    return mode.casting is not None


def get_autocast_dtype(device_type: Any = None) -> str:
    """Return the type that :func:`auto_cast` computes with now, and would where it is off: ``"float16"``."""
    return "float16" if mode.casting is None else str(mode.casting.dtype.name)


get_autocast_cpu_dtype = get_autocast_gpu_dtype = get_autocast_dtype


def is_float16_supported(device: str | None = None) -> bool:
    """True: tensors of float16 can be computed with."""
    return True


def is_bfloat16_supported(device: str | None = None) -> bool:
    """True: tensors of bfloat16 can be computed with."""
    return True
