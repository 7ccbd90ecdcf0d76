"""Two sets of weights: one that an optimizer moves, and one that follows it every few steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import UsageError
from gradtool.engine.eager.mode import no_grad
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ir import default, roles
from gradtool.engine.ir.marking import mark
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.variable import Variable
from gradtool.paddle import _parameters
from gradtool.paddle.optimizer._base import Optimizer
from gradtool.paddle.utils import unique_name


class LookAheadError(UsageError, AssertionError):
    """A setting outside its range (Paddle raises AssertionError)."""


class LookAhead:
    """Another optimizer, whose parameters go a part of the way only (Zhang et al. 2019).

    Slow weights start as the parameters are after the first step. After every *k* steps they go *alpha* of the way to
    the parameters, which then take their place. What is not listed here is that of the optimizer inside.

    Args:
        inner_optimizer: the optimizer that moves the parameters.
        alpha: from 0 to 1.
        k: how many steps.

    Raises:
        LookAheadError: no optimizer, or a number outside its range (an AssertionError).

    >>> from gradtool import paddle
    >>> x = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(4.0))
    >>> ahead = paddle.incubate.LookAhead(paddle.optimizer.SGD(0.25, parameters=[x]), alpha=0.5, k=2)
    >>> for _ in range(2):
    ...     (x * x).sum().backward()
    ...     ahead.step()
    ...     ahead.clear_grad()
    >>> x.tolist()
    [1.5]
    """

    _slow_str = "slow"

    def __init__(self, inner_optimizer: Optimizer, alpha: float = 0.5, k: int = 5, name: str | None = None) -> None:
        if inner_optimizer is None:
            raise LookAheadError("inner optimizer can not be None")
        if not 0.0 <= alpha <= 1.0:
            raise LookAheadError("alpha should be larger or equal to 0.0, and less or equal than 1.0")
        if not (isinstance(k, int) and k > 0):
            raise LookAheadError("k should be a positive integer")
        self.inner_optimizer = inner_optimizer
        self.alpha, self.k, self.type = alpha, k, "lookahead"
        self._name = name
        self._steps = 0
        self._slow: dict[Any, Any] = {}

    def __getattr__(self, name: str) -> Any:
        if name == "inner_optimizer":  # not made yet: a copy that is being built
            raise AttributeError(name)
        return getattr(self.inner_optimizer, name)

    def step(self) -> None:
        """Update the parameters, and after every *k* calls the slow weights."""
        self.inner_optimizer.step()
        self._follow()

    def _follow(self) -> None:
        self._steps += 1
        with no_grad():
            for p in self.inner_optimizer._parameters or ():
                if self._steps == 1:
                    self._slow[p] = p.clone().detach()
                if self._steps % self.k == 0:
                    slow = self._slow[p]
                    slow = slow + (p - slow) * self.alpha
                    self._slow[p] = slow.detach()
                    p.set_value(slow)

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Clear the gradients."""
        self.inner_optimizer.clear_grad(set_to_zero)

    def minimize(
        self,
        loss: Any,
        startup_program: Program | None = None,
        parameters: Sequence[Variable | str] | None = None,
        no_grad_set: Iterable[Variable | str] | None = None,
    ) -> Any:
        """As ``minimize`` of the optimizer inside; in static mode the slow weights follow in the program."""
        result = self.inner_optimizer.minimize(loss, startup_program, parameters, no_grad_set)
        if isinstance(loss, Tensor):
            self._follow()
            return result
        startup = startup_program or default.default_startup_program()
        with default.program_guard(loss.block.program, startup):
            self._append(loss.block.program, [p for p, _ in result[1]])
        return result

    def _append(self, program: Program, parameters: list[Any]) -> None:
        """Append what makes the slow weights follow."""
        with mark(program.current_block(), roles.OPTIMIZE), default.name_scope("lookahead"):
            count = _parameters.create_global_var(
                [1], 0, "int32", persistable=True, name=unique_name.generate("lookahead_step")
            )
            paddle.increment(count)
            first = paddle.equal(count, paddle.full([1], 1, "int32"))
            due = paddle.equal(paddle.mod(count, paddle.full([1], self.k, "int32")), paddle.full([1], 0, "int32"))
            for p in parameters:
                name = unique_name.generate(f"{p.name}_{self._slow_str}")
                slow = _parameters.create_global_var(p.shape, 0.0, p.dtype, persistable=True, name=name)
                start = paddle.where(_like(first, p), p, slow)
                followed = start + (p - start) * self.alpha
                paddle.assign(paddle.where(_like(due, p), followed, start), slow)
                paddle.assign(paddle.where(_like(due, p), followed, p), p)

    def state_dict(self) -> dict[str, Any]:
        """The state of the optimizer inside, the slow weights and the number of steps."""
        state = self.inner_optimizer.state_dict()
        state |= {f"{p.name}_{self._slow_str}_0": value for p, value in self._slow.items()}
        return {**state, "lookahead_step": self._steps}

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a state."""
        own = dict(state_dict)
        self._steps = int(own.pop("lookahead_step", 0))
        for p in self.inner_optimizer._parameters or ():
            if (value := own.pop(f"{p.name}_{self._slow_str}_0", None)) is not None:
                self._slow[p] = paddle.to_tensor(value).detach()
        self.inner_optimizer.set_state_dict(own)


def _like(condition: Any, value: Any) -> Any:
    """A condition of one element for every element of *value*."""
    return paddle.expand(paddle.reshape(condition, [1] * len(value.shape)), value.shape)


class LookaheadOptimizer(LookAhead):
    """:class:`LookAhead` as ``fluid.optimizer`` has it."""
