"""``paddle.static.amp.bf16``: static programs that compute in bfloat16 where it is safe, as Paddle has it on a CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradtool.engine.core.errors import ArgumentTypeError, UnsupportedError, UsageError, expect_type
from gradtool.engine.core.spec import bfloat16, float32
from gradtool.engine.ir import default
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.transaction import restore_on_failure
from gradtool.engine.ir.variable import Variable
from gradtool.paddle import _creation, _lazy
from gradtool.paddle.optimizer._around import OptimizerAround

from .._amp_lists import BLACK, GRAY, WHITE
from .._narrowing import narrowed

__all__ = [
    "AutoMixedPrecisionListsBF16",
    "bf16_guard",
    "cast_model_to_bf16",
    "cast_parameters_to_bf16",
    "convert_float_to_uint16",
    "decorate_bf16",
    "rewrite_program_bf16",
]

_QUANTIZING = "fake_quantize_dequantize_abs_max fake_quantize_dequantize_moving_average_abs_max"
_ELSEWHERE = f"fused_attention fused_feedforward {_QUANTIZING}"
"""Types that float16 computes narrow, and bfloat16 does not."""
_UNLISTED = (
    "bicubic_interp_v2 bilinear_interp_v2 layer_norm linear_interp_v2 lookup_table lookup_table_v2 nearest_interp_v2 "
    "scatter trilinear_interp_v2"
)


class AutoMixedPrecisionListsBF16:
    """Operators by type: computed in bfloat16, in float32, or (gray) as what they read. Others read float32.

    Args:
        custom_bf16_list, custom_fp32_list: types that go to these lists, whatever Paddle has them in.
        custom_fp32_varnames: names of variables whose readers are computed in float32.

    Raises:
        UsageError: a type in both lists (a ValueError).
    """

    def __init__(
        self,
        custom_bf16_list: Iterable[str] | None = None,
        custom_fp32_list: Iterable[str] | None = None,
        custom_fp32_varnames: Iterable[str] | None = None,
    ) -> None:
        narrow, wide = set(custom_bf16_list or ()), set(custom_fp32_list or ())
        if narrow & wide:
            raise UsageError(f"Custom bf16 list overlap custom fp32 list: {sorted(narrow & wide)[0]} is in both.")
        self.bf16_list = ({*WHITE.split()} - {*_ELSEWHERE.split()} - wide) | narrow
        self.fp32_list = (({*BLACK.split()} - {*_UNLISTED.split()}) | {*_QUANTIZING.split()}) - narrow | wide
        self.gray_list = {*GRAY.split()} - narrow - wide
        self.fp32_varnames = custom_fp32_varnames


@contextmanager
def bf16_guard() -> Iterator[None]:
    """Mark the operators of pure bfloat16 training, which is not here; others do not go by it."""
    yield


def rewrite_program_bf16(main_prog: Program, amp_lists: AutoMixedPrecisionListsBF16 | None = None) -> None:
    """Let operators of *main_prog*, which has no backward part yet, compute in bfloat16 as the lists say.

    Casts are put between the two types; parameters stay in float32.

    Raises:
        ArgumentTypeError: *main_prog* is no Program (a TypeError).

    >>> from gradtool import paddle
    >>> paddle.enable_static()
    >>> main = paddle.static.Program()
    >>> with paddle.static.program_guard(main):
    ...     y = paddle.static.nn.fc(paddle.static.data("x", [4, 3]), 2)
    >>> paddle.static.amp.bf16.rewrite_program_bf16(main)
    >>> [op.type for op in main.global_block().ops], y.dtype
    (['cast', 'cast', 'mul', 'cast', 'elementwise_add'], paddle.bfloat16)
    >>> paddle.disable_static()
    """
    expect_type(main_prog, Program, "main_prog", "paddle.static.amp.bf16.rewrite_program_bf16")
    lists = amp_lists or AutoMixedPrecisionListsBF16()
    with restore_on_failure(main_prog):
        narrowed(main_prog, lists.bf16_list, lists.gray_list, set(lists.fp32_varnames or ()))


class OptimizerWithMixedPrecision(OptimizerAround):
    """An optimizer whose program computes in bfloat16 as lists say; made by :func:`decorate_bf16`."""

    def __init__(self, optimizer: Any, amp_lists: AutoMixedPrecisionListsBF16) -> None:
        super().__init__(optimizer)
        self._amp_lists = amp_lists

    def amp_init(self, place: Any, scope: Any = None, test_program: Any = None, use_bf16_test: bool = False) -> None:
        """Parameters stay in float32, so there is nothing to make narrow; *test_program* is rewritten if asked."""
        if use_bf16_test and test_program is not None:
            rewrite_program_bf16(test_program, self._amp_lists)

    def backward(
        self,
        loss: Variable,
        startup_program: Program | None = None,
        parameter_list: Sequence[Variable | str] | None = None,
        no_grad_set: Iterable[Variable | str] | None = None,
        callbacks: Sequence[Callable[..., Any]] | None = None,
    ) -> list[tuple[Any, Any]]:
        """Rewrite the program and append the backward part of *loss*, in float32."""
        if not isinstance(loss, Variable):
            raise ArgumentTypeError(f"minimize: loss must be a Variable, but received {type(loss).__name__}.")
        main = loss.block.program
        with default.program_guard(main, startup_program or default.default_startup_program()):
            rewrite_program_bf16(main, self._amp_lists)
            if loss.dtype is bfloat16:
                loss = _creation.cast(loss, float32)  # type: ignore[assignment]
            return list(self._optimizer.backward(loss, startup_program, parameter_list, no_grad_set, callbacks))

    def minimize(
        self,
        loss: Variable,
        startup_program: Program | None = None,
        parameter_list: Sequence[Variable | str] | None = None,
        no_grad_set: Iterable[Variable | str] | None = None,
    ) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """Rewrite the program, append the backward part and the updates; see ``Optimizer.minimize``."""
        pairs = self.backward(loss, startup_program, parameter_list, no_grad_set)
        with default.program_guard(loss.block.program, startup_program or default.default_startup_program()):
            return list(self._optimizer.apply_gradients(pairs)), pairs


def decorate_bf16(
    optimizer: Any,
    amp_lists: AutoMixedPrecisionListsBF16 | None = None,
    use_pure_bf16: bool = False,
    use_bf16_guard: bool | None = None,
) -> OptimizerWithMixedPrecision:
    """*optimizer*, whose ``minimize`` lets the program compute in bfloat16 as the lists say.

    Raises:
        UnsupportedError: *use_pure_bf16*, parameters in bfloat16 (a ValueError).
    """
    if use_pure_bf16:
        raise _pure("decorate_bf16(use_pure_bf16=True)")
    return OptimizerWithMixedPrecision(optimizer, amp_lists or AutoMixedPrecisionListsBF16())


def _pure(what: str) -> UnsupportedError:
    return UnsupportedError(
        f"paddle.static.amp.bf16.{what}: parameters of programs in bfloat16 are not part of this version of gradtool.",
        hint="leave parameters in float32: decorate_bf16(optimizer), or rewrite_program_bf16(program)",
    )


def cast_model_to_bf16(
    program: Program, startup_prog: Program | None = None, amp_lists: Any = None, use_bf16_guard: bool = True
) -> set[str]:
    """Not here: it would let parameters be bfloat16.

    Raises:
        UnsupportedError: always (a ValueError).
    """
    raise _pure("cast_model_to_bf16")


def cast_parameters_to_bf16(
    place: Any, program: Program, scope: Any = None, to_bf16_var_names: set[str] | None = None
) -> None:
    """Not here, as :func:`cast_model_to_bf16`.

    Raises:
        UnsupportedError: always (a ValueError).
    """
    raise _pure("cast_parameters_to_bf16")


def convert_float_to_uint16(in_list: Any) -> np.ndarray[Any, Any]:
    """The bits of numbers in bfloat16, as Paddle's arrays of that type hold them.

    >>> convert_float_to_uint16(np.array([1.0, -2.5], "float32"))
    array([16256, 49184], dtype=uint16)
    """
    return np.asarray(in_list, "float32").astype(bfloat16.numpy).view(np.uint16)


__path__: list[str] = []  # there are modules below it, of those that are recorded
__getattr__ = _lazy.refuse(__name__, globals())
