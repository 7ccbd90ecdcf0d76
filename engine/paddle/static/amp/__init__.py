"""``paddle.static.amp``: mixed precision of static programs, as Paddle has it on a CPU."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gradtool.engine.core.errors import UsageError, expect_type
from gradtool.engine.ir.program import Program
from gradtool.paddle import _lazy

from .._amp_lists import AutoMixedPrecisionLists, narrow
from .._amp_optimizer import decorate

__all__ = [
    "AutoMixedPrecisionLists",
    "CustomOpLists",
    "cast_model_to_fp16",
    "cast_parameters_to_fp16",
    "decorate",
    "fp16_guard",
]

CustomOpLists = AutoMixedPrecisionLists


@contextmanager
def fp16_guard() -> Iterator[None]:
    """Mark the operators that may become narrow; on the CPU none does, as in Paddle."""
    yield


def cast_model_to_fp16(
    program: Program,
    amp_lists: AutoMixedPrecisionLists | None = None,
    use_fp16_guard: bool = True,
    dest_type: Any = "float16",
    level: str = "O2",
    use_promote: bool = False,
) -> set[str]:
    """The names of the parameters that became narrow: none on the CPU, and *program* stays as it is, as in Paddle.

    Raises:
        ArgumentTypeError: *program* is no Program (a TypeError).
        UsageError: an unknown level or type (a ValueError).
    """
    expect_type(program, Program, "program", "paddle.static.amp.cast_model_to_fp16")
    narrow(dest_type)
    if level not in ("O1", "O2"):
        raise UsageError(f"cast_model_to_fp16: level must be 'O1' or 'O2', not {level!r}.")
    return set()


def cast_parameters_to_fp16(
    place: Any,
    program: Program,
    scope: Any = None,
    to_fp16_var_names: set[str] | None = None,
    dest_type: Any = "float16",
    rewrite_master_weight: bool = False,
    master_weights: dict[str, Any] | None = None,
) -> None:
    """Make values in *scope* narrow: those that :func:`cast_model_to_fp16` named, which are none.

    Raises:
        ArgumentTypeError: *program* is no Program (a TypeError).
        UsageError: names are given: their variables in the program are still wide (a ValueError).
    """
    expect_type(program, Program, "program", "paddle.static.amp.cast_parameters_to_fp16")
    narrow(dest_type)
    if to_fp16_var_names:
        raise UsageError(
            f"cast_parameters_to_fp16: {sorted(to_fp16_var_names)[0]!r} is not narrow in the program.",
            hint="give what cast_model_to_fp16 returned: on the CPU that is an empty set",
        )


def __getattr__(name: str) -> Any:
    if name == "bf16":
        return importlib.import_module(f"{__name__}.bf16")
    return _refused(name)


def __dir__() -> list[str]:
    return sorted({*globals(), "bf16"})


_refused = _lazy.refuse(__name__, globals())
