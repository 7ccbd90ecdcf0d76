"""Optimizers that Paddle 3 added: their update operators have slots in small letters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradtool.engine.core.errors import UsageError
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ir import roles
from gradtool.engine.ir.marking import mark
from gradtool.engine.ir.program import Block
from gradtool.engine.ir.variable import Variable
from gradtool.engine.ops.opdef import OpDef
from gradtool.paddle import _creation
from gradtool.paddle._dispatch import apply
from gradtool.paddle._gather import gather_nd, index_put
from gradtool.paddle._manipulation import unsqueeze

from ._base import Accumulator, Optimizer, home_of


def _checked(learning_rate: Any, **settings: Any) -> None:
    """Refuse a negative rate or size, and decay rates outside of [0, 1)."""
    if isinstance(learning_rate, (float, int)) and learning_rate < 0:
        raise UsageError(f"Invalid learning rate: {learning_rate}, expect learning_rate >= 0.")
    for name, value in settings.items():
        if name.startswith("beta"):
            if not 0.0 <= value < 1.0:
                raise UsageError(f"Invalid {name}: {value}, expect 0. <= {name} < 1.0.")
        elif not value >= 0.0:
            raise UsageError(f"Invalid {name} value: {value}, expect {name} >= 0.")


class _Lower(Optimizer):
    """An optimizer whose operator calls what it works on ``param``, ``grad`` and ``learning_rate``."""

    def _operands(self, op: OpDef, param: Any, grad: Any, rate: Any) -> dict[str, Any]:
        states = {k.slot: self._state(param, k) for k in self._accumulators()}
        return {"param": param, "grad": grad, "learning_rate": rate, **states}


class _Moments(_Lower):
    def __init__(self, learning_rate: Any, parameters: Any, weight_decay: Any, grad_clip: Any, name: Any, **fixed: Any):
        _checked(learning_rate, **fixed)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._fixed = {setting: float(value) for setting, value in fixed.items()}

    def _settings(self, param: Any) -> dict[str, Any]:
        return self._fixed


class RAdam(_Moments):
    """Adam whose steps are as long as the variance of their sizes allows (Liu et al. 2020).

    Args:
        beta1, beta2: decay rates of the mean of the gradients and of their squares.
        epsilon: keeps the division away from 0.

    Raises:
        UsageError: a negative rate or epsilon, decay rates outside of [0, 1) (a ValueError).
    """

    op_type = "radam"

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1.0e-8,
        parameters: Iterable[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        common = learning_rate, parameters, weight_decay, grad_clip, name
        super().__init__(*common, beta1=beta1, beta2=beta2, epsilon=epsilon)

    def _accumulators(self) -> Sequence[Accumulator]:
        powers = tuple(Accumulator(name, name, 1.0) for name in ("beta1_pow", "beta2_pow", "rho"))
        return (*powers, Accumulator("moment1", "moment1"), Accumulator("moment2", "moment2"))


class NAdam(_Moments):
    """Adam that looks one step ahead along its momentum (Dozat 2016).

    Args:
        beta1, beta2: decay rates of the mean of the gradients and of their squares.
        epsilon: keeps the division away from 0.
        momentum_decay: how fast the momentum grows from half of *beta1* to all of it.

    Raises:
        UsageError: a negative rate, epsilon or decay, decay rates outside of [0, 1) (a ValueError).
    """

    op_type = "nadam"

    def __init__(
        self,
        learning_rate: Any = 0.002,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1.0e-8,
        momentum_decay: float = 0.004,
        parameters: Iterable[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        common = learning_rate, parameters, weight_decay, grad_clip, name
        super().__init__(*common, beta1=beta1, beta2=beta2, epsilon=epsilon, momentum_decay=momentum_decay)

    def _accumulators(self) -> Sequence[Accumulator]:
        powers = tuple(Accumulator(name, name, 1.0) for name in ("momentum_decay_pow", "beta2_pow", "mu_product"))
        return (*powers, Accumulator("moment1", "moment1"), Accumulator("moment2", "moment2"))


class Rprop(_Lower):
    """Steps against the signs of gradients, of sizes that grow while a sign stays (Riedmiller & Braun 1993).

    It is for gradients of all the data, not of batches.

    Args:
        learning_rate: the size of the first steps.
        learning_rate_range: the smallest and the largest size.
        etas: what a size is multiplied by where the sign changes, and where it stays.

    Raises:
        UsageError: a rate outside of its range, factors that do not shrink and grow (a ValueError).
    """

    op_type = "rprop"

    def __init__(
        self,
        learning_rate: Any = 0.001,
        learning_rate_range: tuple[float, float] = (1e-5, 50),
        parameters: Iterable[Any] | None = None,
        etas: tuple[float, float] = (0.5, 1.2),
        grad_clip: Any = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        if learning_rate is None:
            raise UsageError("learning_rate is not set")
        if not 0.0 < learning_rate_range[0] <= learning_rate <= learning_rate_range[1]:
            raise UsageError(
                "'0.0 < learning_rate_range[0] <= learning_rate <= learning_rate_range[1]' must be true, but they are "
                f"{learning_rate} and {learning_rate_range}"
            )
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise UsageError(f"'0.0 < etas[0] < 1.0 < etas[1]' must be true, but etas are {etas}")
        super().__init__(learning_rate, parameters, None, grad_clip, name)
        self._multi_precision = multi_precision
        self._first = float(learning_rate)
        self._constants = {"learning_rate_range": [*learning_rate_range], "etas": [*etas]}

    def _accumulators(self) -> Sequence[Accumulator]:
        return (Accumulator("prev", "prevs"), Accumulator("learning_rate", "learning_rates", self._first))

    def _operands(self, op: OpDef, param: Any, grad: Any, rate: Any) -> dict[str, Any]:
        constants = {slot: _constant(param, grad, values) for slot, values in self._constants.items()}
        return {**super()._operands(op, param, grad, rate), **constants}


def _constant(param: Any, grad: Any, values: Sequence[float]) -> Any:
    """Numbers that the operator reads as a tensor of the parameter's type."""
    if isinstance(param, Tensor):
        return Tensor(np.array([values], param.array.dtype))
    with mark(grad.block, roles.OPTIMIZE, (param.name, grad.name)):
        attrs = {"shape": (1, len(values)), "dtype": param.dtype.code, "values": tuple(float(v) for v in values)}
        return apply("assign_value", attrs=attrs)


class ASGD(_Lower):
    """Steps along the mean of the last gradients of each of several batches (Schmidt et al. 2017).

    Args:
        batch_num: after how many steps a batch comes again.

    Raises:
        UsageError: no rate, or *batch_num* below 1 (a ValueError).
    """

    op_type = "asgd"

    def __init__(
        self,
        learning_rate: Any = 0.001,
        batch_num: int = 1,
        parameters: Iterable[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        if learning_rate is None:
            raise UsageError("learning_rate should not be none")
        if batch_num is None or batch_num < 1:
            raise UsageError(f"batch_num should be greater than 0, but is {batch_num}")
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._multi_precision = multi_precision
        self._batches = batch_num

    def _accumulators(self) -> Sequence[Accumulator]:
        return (
            Accumulator("d", "d"),
            Accumulator("y", "y", many=self._batches),
            Accumulator("m", "m", single=True, dtype="int64"),
        )

    def _operands(self, op: OpDef, param: Any, grad: Any, rate: Any) -> dict[str, Any]:
        operands = super()._operands(op, param, grad, rate)
        step = int(operands["m"].array[0])
        count = min(step + 1, self._batches)
        operands["y"] = Tensor(operands["y"].array[step % self._batches])
        operands["n"] = Tensor(np.array([count], param.array.dtype))
        return operands

    def _append_update(self, param: Any, grad: Any, rate: Variable) -> None:
        total, rows, count = (self._state(param, accumulator) for accumulator in self._accumulators())
        block = home_of(param.block.program)
        with _appending_to(block), mark(block, roles.OPTIMIZE, (param.name, grad.name)):
            batches = _creation.assign(np.array([self._batches], "int64"))
            place = apply("elementwise_mod", count, batches, direct=True)
            last = _creation.assign(gather_nd(rows, unsqueeze(place, -1)))
            apply("elementwise_add", count, _creation.assign(np.array([1], "int64")), outputs={"Out": count})
            last = last[0]
            many = apply("elementwise_fmin", count, batches, direct=True)
            operands = (param, grad, rate, total, last, many)
            written = {"param_out": param, "d_out": total, "y_out": last}
            apply("asgd", *operands, attrs={"multi_precision": self._multi_precision}, outputs=written)
            _creation.assign(index_put(rows, [place], last), rows)

    def _update(self, param: Any, grad: Tensor, rate: float) -> None:
        super()._update(param, grad, rate)
        _, last, count = (self._state(param, accumulator) for accumulator in self._accumulators())
        rows = last.array.copy()
        rows[int(count.array[0]) % self._batches] = grad.array
        last.write(rows, self.op_type)
        count.write(count.array + 1, self.op_type)


@contextmanager
def _appending_to(block: Block) -> Iterator[None]:
    """Have public functions append to *block*."""
    program = block.program
    before, program.current_block_idx = program.current_block_idx, block.idx
    try:
        yield
    finally:
        program.current_block_idx = before
