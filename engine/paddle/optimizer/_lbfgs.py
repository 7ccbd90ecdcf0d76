"""Optimisation with an estimate of the curvature, from the gradients of the last steps (L-BFGS)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import numpy as np

from gradtool.engine.core import state, watch
from gradtool.engine.core.errors import ArgumentTypeError, UsageError
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.eager.mode import enable_grad, no_grad

from ._base import Optimizer
from ._line_search import LinePoint, LineSearch


class NoSearch(UsageError, RuntimeError):
    """A line search that there is not (Paddle raises RuntimeError)."""


class NoGraph(UsageError, NotImplementedError):
    """A loss where a function is wanted (Paddle raises NotImplementedError)."""


class LBFGS(Optimizer):
    """Newton's method with a curvature that the last steps tell (Liu & Nocedal 1989); dynamic mode only.

    ``step`` takes a function that clears the gradients, computes the loss, calls ``backward`` and returns the loss.

    Args:
        learning_rate: the length of a step, or with a line search of the first one that is tried.
        max_iter: how many steps one call of ``step`` takes at most.
        max_eval: how often it computes the loss, about; a quarter more than *max_iter* by default.
        tolerance_grad: ends where no element of the gradient is larger.
        tolerance_change: ends where no parameter, or the loss, changes by more.
        history_size: how many steps tell the curvature.
        line_search_fn: ``strong_wolfe``, or None.
        weight_decay, grad_clip: taken for the sake of existing code; nothing decays and no gradient is clipped.

    >>> from gradtool import paddle
    >>> x = paddle.create_parameter([2], "float64", default_initializer=paddle.nn.initializer.Constant(3.0))
    >>> lbfgs = paddle.optimizer.LBFGS(line_search_fn="strong_wolfe", parameters=[x])
    >>> def closure():
    ...     lbfgs.clear_grad()
    ...     loss = ((x - 1) ** 4).sum()
    ...     loss.backward()
    ...     return loss
    >>> float(lbfgs.step(closure))
    32.0
    >>> bool((abs(x - 1) < 0.05).all())
    True
    """

    def __init__(
        self,
        learning_rate: float = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
        parameters: Iterable[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        if isinstance(parameters, AnyTensor):
            raise ArgumentTypeError(
                "parameters argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                f"{type(parameters).__name__}"
            )
        super().__init__(1.0, parameters, weight_decay, grad_clip, name)
        self.learning_rate, self.max_iter = learning_rate, max_iter
        self.max_eval = max_iter * 5 // 4 if max_eval is None else max_eval
        self.tolerance_grad, self.tolerance_change = tolerance_grad, tolerance_change
        self.history_size, self.line_search_fn = history_size, line_search_fn
        self.state: dict[str, Any] = {"func_evals": 0, "n_iter": 0, "old_yk": [], "old_sk": [], "H_diag": 1.0}

    def state_dict(self) -> dict[str, Any]:
        """Return the memory of earlier steps: their differences, the last direction and gradient."""
        return {"state": dict(self.state)}

    def set_state_dict(self, state_dict: Any) -> None:
        """Take over what :meth:`state_dict` gave."""
        self.state.update(state_dict["state"])

    def minimize(
        self, loss: Any, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> NoReturn:
        """``step`` with a function does this.

        Raises:
            NoGraph: always (a NotImplementedError).
        """
        raise NoGraph("LBFGS optimizer does not use this way to minimize loss; call step(closure).")

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Take up to ``max_iter`` steps, and return the loss before them.

        Args:
            closure: computes the loss and its gradients.

        Raises:
            NoSearch: another line search than ``strong_wolfe`` (a RuntimeError).
            ModeError: static mode is on (an AssertionError).
        """
        self._dynamic("step")
        if self.line_search_fn not in (None, "strong_wolfe"):
            raise NoSearch(f"only 'strong_wolfe' is supported, not {self.line_search_fn!r}")
        with no_grad():
            first, gradient = self._evaluated(closure)
            loss, calls = float(first), 1
            before = loss
            self.state["func_evals"] += 1
            if np.abs(gradient).max() <= self.tolerance_grad:
                return first
            for taken in range(1, self.max_iter + 1):
                before = loss
                direction, slope, length = self._direction(gradient)
                if slope > -self.tolerance_change:
                    break
                start = LinePoint(0.0, loss, gradient, slope)
                end, evaluations = self._moved(closure, start, direction, length, taken == self.max_iter)
                loss, gradient = end.loss, end.gradient
                calls += evaluations
                self.state["func_evals"] += evaluations
                self.state["alpha"] = end.step
                moved = np.abs(direction * end.step).max()
                small = moved <= self.tolerance_change or abs(loss - before) < self.tolerance_change
                if small or np.abs(gradient).max() <= self.tolerance_grad or calls >= self.max_eval:
                    break
            self.state["prev_loss"] = before
        return first

    # -- parameters as one vector -----------------------------------------------------------------------------------

    def _evaluated(self, closure: Callable[[], Any]) -> tuple[Any, Any]:
        """The loss, and the gradients one after the other."""
        with enable_grad():
            loss = closure()
        if watch.noting:
            watch.note(watch.GradRead(tuple(self._all)))
        parts = [
            np.zeros(p.array.size, p.array.dtype) if p.grad is None else p.grad.array.reshape(-1) for p in self._all
        ]
        return loss, np.concatenate(parts)

    @property
    def _all(self) -> list[Any]:
        return self._parameters or []

    def _move(self, origin: list[Any], shift: Any) -> None:
        """Put the parameters where they were at *origin*, plus *shift*."""
        at = 0
        state.updating.note(self._all)
        if watch.noting:
            watch.note(watch.Updating(tuple(self._all), type(self).__name__, self.get_lr()))
        for p, values in zip(self._all, origin, strict=True):
            p.write(values + shift[at : at + values.size].reshape(values.shape), "lbfgs")
            at += values.size
        if watch.noting:
            watch.note(watch.Updated())

    # -- one step ---------------------------------------------------------------------------------------------------

    def _direction(self, gradient: Any) -> tuple[Any, float, float]:
        """Return the direction, the slope of the loss along it, and the length of the first step."""
        state = self.state
        state["n_iter"] += 1
        length = self.learning_rate
        if state["n_iter"] == 1:
            direction = -gradient
            length *= min(1.0, 1.0 / float(np.abs(gradient).sum()))
        else:
            self._remember(gradient - state["prev_flat_grad"], state["d"] * state["alpha"])
            direction = -self._scaled(gradient)
        state["d"], state["prev_flat_grad"] = direction, gradient
        return direction, float(gradient @ direction), length

    def _remember(self, turn: Any, way: Any) -> None:
        """Keep how the gradient changed along the last step, if the loss curves upwards there."""
        curvature = turn @ way
        if curvature <= 1e-10:
            return
        for kept, new in (("old_yk", turn), ("old_sk", way)):
            self.state[kept] = [*self.state[kept], new][-self.history_size :]
        self.state["H_diag"] = curvature / (turn @ turn)

    def _scaled(self, gradient: Any) -> Any:
        """The gradient times the inverse of the curvature, by two loops over the steps that are kept."""
        pairs = list(zip(self.state["old_yk"], self.state["old_sk"], strict=True))
        rest, parts = gradient, []
        for turn, way in reversed(pairs):
            parts.append((way @ rest) / (turn @ way))
            rest = rest - parts[-1] * turn
        rest = rest * self.state["H_diag"]
        for (turn, way), part in zip(pairs, reversed(parts), strict=True):
            rest = rest + way * (part - (turn @ rest) / (turn @ way))
        return rest

    def _moved(
        self, closure: Callable[[], Any], start: LinePoint, direction: Any, length: float, last: bool
    ) -> tuple[LinePoint, int]:
        """Go along *direction*; where that led, and how often the loss was computed.

        Without a search the *last* step of a call leaves the loss as it was: nobody asks for it.
        """
        origin = [p.array.copy() for p in self._all]

        def there(step: float) -> LinePoint:
            self._move(origin, direction * step)
            loss, gradient = self._evaluated(closure)
            return LinePoint(step, float(loss), gradient, float(gradient @ direction))

        if self.line_search_fn is not None:
            search = LineSearch(there, start, float(np.abs(direction).max()))
            end = search.run(length)
            self._move(origin, direction * end.step)
            return end, search.calls
        if last:
            self._move(origin, direction * length)
            return start._replace(step=length), 0
        return there(length), 1
