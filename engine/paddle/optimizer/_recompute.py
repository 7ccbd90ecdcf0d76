"""``RecomputeOptimizer``: an optimizer whose backward part computes values again instead of keeping them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from gradtool.engine.autodiff.checkpoints import AUTO
from gradtool.engine.core.errors import ModeError, UnsupportedError, UsageError, expect_type
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.variable import Variable

from ._around import OptimizerAround
from ._base import Optimizer


class CheckpointsError(UsageError, AssertionError):
    """Checkpoints that are missing or of a wrong type (Paddle raises AssertionError)."""


class RecomputeOptimizer(OptimizerAround):
    """Another optimizer, with recomputation: see ``append_backward(checkpoints=...)``.

    Whatever is not listed here is that of the optimizer inside (``get_lr``, ``state_dict``, …).

    Args:
        optimizer: the optimizer that updates.

    >>> from gradtool import paddle
    >>> paddle.enable_static()
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     h = paddle.static.nn.fc(paddle.static.data("x", [4, 3]), 3, activation="relu")
    ...     loss = paddle.mean(paddle.static.nn.fc(h, 3, activation="relu"))
    ...     sgd = paddle.incubate.optimizer.RecomputeOptimizer(paddle.optimizer.SGD(0.1))
    ...     sgd._set_checkpoints([h])
    ...     updates, pairs = sgd.minimize(loss)
    >>> len(updates), len(pairs)
    (4, 4)
    """

    def __init__(self, optimizer: Optimizer) -> None:
        expect_type(optimizer, Optimizer, "optimizer", "paddle.incubate.optimizer.RecomputeOptimizer")
        super().__init__(optimizer)
        self._checkpoints: Any = None

    def _set_checkpoints(self, checkpoints: Sequence[Variable | str] | str) -> None:
        """Set what backward keeps: a list of variables or their names, or ``"auto"``.

        Raises:
            CheckpointsError: something else (an AssertionError).
        """
        listed = isinstance(checkpoints, list) and all(isinstance(c, (Variable, str)) for c in checkpoints)
        if not listed and not (isinstance(checkpoints, str) and checkpoints == AUTO):
            raise CheckpointsError(
                "_checkpoints should be a list of Variable or a list of String.", hint=f"or {AUTO!r}: chosen for you"
            )
        self._checkpoints = checkpoints

    def minimize(
        self,
        loss: Variable,
        startup_program: Program | None = None,
        parameter_list: Sequence[Variable | str] | None = None,
        no_grad_set: Iterable[Variable | str] | None = None,
    ) -> Any:
        """As ``minimize`` of the optimizer, with recomputation.

        Raises:
            CheckpointsError: no checkpoints were set (an AssertionError).
            ModeError: *loss* is a tensor of dynamic mode (an AssertionError).
        """
        with self._recomputing(loss):
            return self._optimizer.minimize(loss, startup_program, parameter_list, no_grad_set)

    def backward(
        self,
        loss: Variable,
        startup_program: Program | None = None,
        parameter_list: Sequence[Variable | str] | None = None,
        no_grad_set: Iterable[Variable | str] | None = None,
        callbacks: Sequence[Callable[..., Any]] | None = None,
    ) -> Any:
        """The first half of :meth:`minimize`."""
        with self._recomputing(loss):
            return self._optimizer.backward(loss, startup_program, parameter_list, no_grad_set, callbacks)

    def load(self, state_dict: Any) -> None:
        """Not possible, as in Paddle.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError(
            "load function is not supported by Recompute Optimizer.", hint="use that of the optimizer inside"
        )

    @contextmanager
    def _recomputing(self, loss: Any) -> Iterator[None]:
        if isinstance(loss, Tensor):
            raise ModeError(
                "RecomputeOptimizer works on static programs, and the loss is a tensor of dynamic mode.",
                hint="call parts of the model through paddle.distributed.fleet.utils.recompute",
            )
        if self._checkpoints is None:
            raise CheckpointsError("You should call _set_checkpoints first")
        self._optimizer._checkpoints = self._checkpoints
        try:
            yield
        finally:
            self._optimizer._checkpoints = None
