"""Looking for NaN and infinity while a script runs."""

from __future__ import annotations

import enum
import functools
import os
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from gradtool import paddle
from gradtool.engine.core import watch
from gradtool.engine.core.errors import ArgumentTypeError, GradtoolError, UsageError
from gradtool.engine.core.spec import dtype as convert
from gradtool.engine.eager.tensor import Tensor
from gradtool.paddle.nn import Layer


class NumericsError(GradtoolError, RuntimeError):
    """NaN or infinity, where that is to end the run (Paddle raises RuntimeError)."""

    code = "GT-E308"


class StepError(UsageError, AssertionError):
    """Steps that are no interval (Paddle raises AssertionError)."""


class DebugMode(enum.Enum):
    """Mode of the checker: report, or stop."""

    CHECK_NAN_INF_AND_ABORT = 0
    """NaN or infinity is printed and raises an error."""
    CHECK_NAN_INF = 1
    """NaN or infinity is printed."""
    CHECK_ALL_FOR_OVERFLOW = 2
    """Numbers of float32 that float16 does not reach are printed as well."""
    CHECK_ALL = 3
    """All tensors are printed."""


SHORT = {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64"}
LARGEST = 65504.0
"""The largest number of float16."""


def check_numerics(
    tensor: Any, op_type: str, var_name: str, debug_mode: DebugMode = DebugMode.CHECK_NAN_INF_AND_ABORT
) -> tuple[Tensor, Tensor]:
    """Look at the numbers of a tensor.

    Args:
        op_type, var_name: what to call it.

    Returns:
        How many are NaN, infinite and zero, and the largest, the smallest and the mean.

    Raises:
        NumericsError: NaN or infinity, where *debug_mode* says so (a RuntimeError).
        ArgumentTypeError: no tensor, or one of whole numbers (a TypeError).
    """
    if not isinstance(tensor, Tensor):
        raise ArgumentTypeError(f"check_numerics(): argument 'tensor' must be Tensor, but got {type(tensor).__name__}")
    if not tensor.dtype.is_floating:
        raise ArgumentTypeError(f"check_numerics() takes floating-point numbers, but got {tensor.dtype.name}")
    counts, extremes = _looked(np.asarray(tensor.array), op_type, var_name, debug_mode, print)
    return Tensor(counts), Tensor(extremes)


def _looked(
    array: Any, op_type: str, var_name: str, mode: DebugMode, say: Callable[[str], None]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Counts and extremes of an array; says what is to be said of it, or raises."""
    short = SHORT[convert(array.dtype).name]
    wide = array.astype("float32") if array.dtype.itemsize < 4 else array
    nan, inf, zero = (int(f(wide).sum()) for f in (np.isnan, np.isinf, lambda a: a == 0))
    # NaN is left out of the extremes, and decides the mean
    rest = wide[~np.isnan(wide)]
    with np.errstate(all="ignore"):
        top, low = (float(rest.max()), float(rest.min())) if rest.size else (float("nan"), float("nan"))
        mean = float(wide.mean(dtype="float64")) if wide.size else float("nan")
    where = f"[device=cpu, op={op_type}, tensor={var_name}, dtype={short}]"
    numbers = f"max={top:e}, min={low:e}, mean={mean:e}"
    if nan or inf:
        say(
            f"[PRECISION] [ERROR] in {where}, numel={wide.size}, num_nan={nan}, num_inf={inf}, num_zero={zero}, "
            f"{numbers}"
        )
        if mode is DebugMode.CHECK_NAN_INF_AND_ABORT:
            raise NumericsError(
                f"There are NAN or INF (num_nan={nan}, num_inf={inf}, num_zero={zero}) in {where}.",
                hint="gradtool nan MODEL names the operator and the line where the first of them was born",
            )
    elif mode is DebugMode.CHECK_ALL or (
        mode is DebugMode.CHECK_ALL_FOR_OVERFLOW
        and short == "fp32"
        and wide.size
        and float(np.abs(wide).max()) > LARGEST
    ):
        say(f"[PRECISION] in {where}, numel={wide.size}, num_zero={zero}, {numbers}")
    return np.array([nan, inf, zero], "int64"), np.array([top, low, mean], "float32")


class TensorCheckerConfig:
    """Settings of :func:`enable_tensor_checker`.

    Args:
        enable: False looks at nothing.
        debug_mode: what is done about a result that is not finite.
        output_dir: the folder to write to, ``worker_0.log``, instead of printing.
        checked_op_list: types of operators; the results of these alone are looked at.
        skipped_op_list: those that are not looked at.
        debug_step: the first step and the one after the last; each :func:`enable_tensor_checker` begins a step.
        stack_height_limit: accepted for compatibility; ``gradtool nan`` gives lines.

    Raises:
        StepError: steps that are no interval (an AssertionError).
        ArgumentTypeError: *debug_mode* is none (a TypeError).
    """

    current_step_id = 0

    def __init__(
        self,
        enable: bool,
        debug_mode: DebugMode = DebugMode.CHECK_NAN_INF_AND_ABORT,
        output_dir: str | None = None,
        checked_op_list: Sequence[str] | None = None,
        skipped_op_list: Sequence[str] | None = None,
        debug_step: Sequence[int] | None = None,
        stack_height_limit: int = 1,
    ) -> None:
        if not isinstance(debug_mode, DebugMode):
            raise ArgumentTypeError(f"debug_mode must be a DebugMode, but received {type(debug_mode).__name__}.")
        if debug_step is not None and not (len(debug_step) == 2 and 0 <= debug_step[0] < debug_step[1]):
            raise StepError(f"debug_step must be the first step and the one after the last, but is {list(debug_step)}.")
        self.enable = enable
        self.debug_mode = debug_mode
        self.output_dir = output_dir
        self.checked_op_list = None if checked_op_list is None else frozenset(checked_op_list)
        self.skipped_op_list = frozenset(skipped_op_list or ())
        self.debug_step = debug_step
        self.stack_height_limit = stack_height_limit

    def update_and_check_step_id(self) -> bool:
        """Count a step; whether it is looked at."""
        if not self.enable or self.debug_step is None:
            return self.enable
        step, TensorCheckerConfig.current_step_id = self.current_step_id, self.current_step_id + 1
        return self.debug_step[0] <= step < self.debug_step[1]

    def looks_at(self, op_type: str) -> bool:
        """Return whether the checker reads the results of that operator, or of its gradient."""
        names = {op_type, op_type.removesuffix("_grad")}
        wanted = self.checked_op_list is None or bool(names & self.checked_op_list)
        return wanted and not names & self.skipped_op_list

    def say(self, line: str) -> None:
        """Print a line, or write it to the folder."""
        if self.output_dir is None:
            print(line)
            return
        os.makedirs(self.output_dir, exist_ok=True)
        with open(os.path.join(self.output_dir, "worker_0.log"), "a", encoding="utf-8") as file:
            file.write(line + "\n")


_checking = ExitStack()


def enable_tensor_checker(checker_config: TensorCheckerConfig) -> None:
    """Look at the results of operators and of their gradients from now on.

    Random numbers begin anew with seed 123, as in Paddle, so that a second run computes the same.
    """
    disable_tensor_checker()
    if not checker_config.update_and_check_step_id():
        return
    print("AMP Debugging TensorCheckerConfig: seed  123")
    paddle.seed(123)
    np.random.seed(123)
    random.seed(123)
    _checking.enter_context(watch.watch(by=functools.partial(_check, checker_config)))


def disable_tensor_checker() -> None:
    """End what :func:`enable_tensor_checker` began."""
    _checking.close()


def _check(config: TensorCheckerConfig, event: Any) -> None:
    if isinstance(event, watch.Computed):
        op_type, values = event.op.type, event.outputs
    elif isinstance(event, watch.Pulled):
        op_type, values = f"{event.node.op.type}_grad", tuple(event.gradients)
    else:
        return
    if config.looks_at(op_type):
        for array in _floating(values):
            _looked(array, op_type, "", config.debug_mode, config.say)


def _floating(values: Any) -> Iterator[Any]:
    """The arrays of floating-point numbers."""
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _floating(value)
            continue
        array = value.array if isinstance(value, Tensor) else value
        if isinstance(array, np.ndarray) and array.size and convert(array.dtype).is_floating:
            yield array


def check_layer_numerics(func: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates the ``forward`` of a layer: what it is given and gives is printed if it is not finite."""

    @functools.wraps(func)
    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        name = self.full_name() if isinstance(self, Layer) else type(self).__name__
        _look("input", name, (args, list(kwargs.values())))
        result = func(self, *args, **kwargs)
        _look("output", name, (result,))
        return result

    return forward


def _look(what: str, layer: str, values: Any) -> None:
    for number, array in enumerate(_floating(values)):
        _looked(array, layer, f"{what}_{number}", DebugMode.CHECK_NAN_INF, print)
