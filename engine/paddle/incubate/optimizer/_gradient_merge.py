"""Gradients of several runs, added up before an update, in static programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gradtool import paddle
from gradtool.engine.core.errors import ModeError, UsageError
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ir import default, roles
from gradtool.engine.ir.marking import mark
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.variable import Variable
from gradtool.paddle import _parameters
from gradtool.paddle.optimizer._base import Optimizer, Pairs
from gradtool.paddle.static._branches import cond
from gradtool.paddle.utils import unique_name


class MergeError(UsageError, AssertionError):
    """A setting outside its range (Paddle raises AssertionError)."""


class GradientMergeOptimizer:
    """Another optimizer, that updates once in *k_steps* runs of a program, with the gradients of all of them.

    What is not listed here is that of the optimizer inside.

    Args:
        inner_optimizer: the optimizer that updates.
        k_steps: how many runs.
        avg: their mean; otherwise their sum.

    Raises:
        MergeError: no optimizer, or a number below 1 (an AssertionError).
    """

    def __init__(self, inner_optimizer: Optimizer, k_steps: int = 1, avg: bool = True) -> None:
        if inner_optimizer is None:
            raise MergeError("inner optimizer can not be None")
        if not (isinstance(k_steps, int) and k_steps > 0):
            raise MergeError("k_steps should be a positive integer")
        self.inner_optimizer, self.k_steps, self.avg, self.type = inner_optimizer, k_steps, avg, "gradient_merge"

    def __getattr__(self, name: str) -> Any:
        if name == "inner_optimizer":  # not made yet: a copy that is being built
            raise AttributeError(name)
        return getattr(self.inner_optimizer, name)

    def _set_k_steps(self, k_steps: int) -> None:
        self.k_steps = k_steps

    def _set_avg(self, avg: bool) -> None:
        self.avg = avg

    def minimize(
        self,
        loss: Any,
        startup_program: Program | None = None,
        parameter_list: Sequence[Variable | str] | None = None,
        no_grad_set: Iterable[Variable | str] | None = None,
    ) -> tuple[list[Any], Pairs]:
        """Append the backward part, what adds up gradients, and the update in a branch.

        Raises:
            ModeError: *loss* is a tensor of dynamic mode (an AssertionError).
        """
        if isinstance(loss, Tensor):
            raise ModeError(
                "GradientMergeOptimizer works on static programs, and the loss is a tensor of dynamic mode.",
                hint="call loss.backward() several times before optimizer.step()",
            )
        startup = startup_program or default.default_startup_program()
        with default.program_guard(loss.block.program, startup):
            pairs = self.inner_optimizer.backward(loss, startup, parameter_list, no_grad_set)
            return self.apply_gradients(pairs), pairs

    def apply_gradients(self, params_grads: Pairs) -> list[Any]:
        """Append what adds up gradients, and the update in a branch."""
        if self.k_steps == 1:
            return self.inner_optimizer.apply_gradients(params_grads)
        block = default.current_block()
        first = len(block.ops)
        with mark(block, roles.OPTIMIZE), default.name_scope("gradient_merge"):
            count = _parameters.create_global_var(
                [1], 0, "int32", persistable=True, name=unique_name.generate("gradient_merge_step")
            )
            paddle.increment(count)
            sums = []
            for p, g in params_grads:
                name = unique_name.generate(f"{p.name}@GRAD@GradientMerge")
                total = _parameters.create_global_var(p.shape, 0.0, p.dtype, persistable=True, name=name)
                paddle.assign(total + g, total)
                sums.append((p, total))
            due = paddle.equal(count, paddle.full([1], self.k_steps, "int32"))
            cond(due, lambda: self._update(count, sums))
        return block.ops[first:]

    def _update(self, count: Any, sums: Pairs) -> None:
        """Update from the sums, and begin anew."""
        scale = 1.0 / self.k_steps if self.avg else 1.0
        pairs = [(p, total * scale) for p, total in sums]
        self.inner_optimizer.apply_gradients(pairs)
        for _, total in sums:
            paddle.assign(paddle.zeros(total.shape, total.dtype), total)
        paddle.assign(paddle.zeros([1], "int32"), count)
